"""The addresses under ``base_url`` (seed 2 and 4, pages.md 1)."""

from urllib.parse import quote

REVIEWS = "/reviews.json"
INSIGHTS = "/insights.json"
JSON_FEED = "/api/feed.json"
JSON_FEED_PAGE = "/api/feed/<cursor>.json"
ATOM_FEED = "/feed.xml"
ATOM_FEED_PAGE = "/feed/<cursor>.xml"
SEARCH = "/api/reviews/search"
SINCE = "/api/reviews/since/"
"""Followed by the date."""
API_REVIEW = "/api/reviews/"
"""Followed by the id (``review``)."""
OPENAPI = "/.well-known/openapi.json"
HUB = "/api/websub/hub"
MCP = "/mcp"
HEALTH = "/healthz"
READY = "/readyz"

HOME = "/"
HOME_MARKDOWN = "/index.md"
HOME_INDEX = "/index.json"
LIST = "/reviews"
LIST_MARKDOWN = "/reviews.md"
REVIEW = "/r/"
"""Followed by the id (``permalink``)."""
LOCATION = "/l/"
"""Followed by the id (``location``)."""
SUMMARY = "/summary"
SUMMARY_MARKDOWN = "/summary.md"
ABOUT = "/about-reviews"
ABOUT_MARKDOWN = "/about-reviews.md"
REVIEW_US = "/review-us"
REVIEW_US_MARKDOWN = "/review-us.md"
EMBED = "/embed"
EMBED_SCRIPT = "/embed.js"
BADGE = "/badge.svg"
ICON = "/favicon.svg"
ICON_ICO = "/favicon.ico"
TOUCH_ICON = "/apple-touch-icon.png"
CARD = "/og.png"
FONT = "/headings.woff2"
LOGO = "/logo"
"""The owner's logo, whatever its media type is."""

DEVELOPERS = "/developers"
DEVELOPERS_EMBED = "/developers/embed"
DEVELOPERS_API = "/developers/api"
DEVELOPERS_AUTHENTICATION = "/developers/authentication"
DEVELOPERS_ERRORS = "/developers/errors"
DEVELOPERS_MCP = "/developers/mcp"
DEVELOPERS_TOOLS = "/developers/mcp/tools"
DEVELOPERS_WEBHOOKS = "/developers/webhooks"
DATA_BUSINESS = "/developers/data-model/business"
DATA_REVIEWS = "/developers/data-model/reviews"
DATA_INSIGHTS = "/developers/data-model/insights"
DOCUMENTATION = (
    DEVELOPERS,
    DEVELOPERS_API,
    DATA_BUSINESS,
    DATA_REVIEWS,
    DATA_INSIGHTS,
    DEVELOPERS_ERRORS,
    DEVELOPERS_AUTHENTICATION,
    DEVELOPERS_WEBHOOKS,
    DEVELOPERS_MCP,
    DEVELOPERS_TOOLS,
)

LLMS = "/llms.txt"
LLMS_FULL = "/llms-full.txt"
ROBOTS = "/robots.txt"
SITEMAP = "/sitemap.xml"
SITEMAP_PART = "/sitemap-"
"""Followed by ``{number}.xml``, where there is more than one."""
OPENSEARCH = "/opensearch.xml"
API_CATALOG = "/.well-known/api-catalog"
AI_CATALOG = "/.well-known/ai-catalog.json"
SERVER_CARD = "/mcp/server-card"
SERVER_CARD_ALIAS = "/.well-known/mcp/server-card.json"
"""The address that crawlers expect."""
SKILLS = "/.well-known/agent-skills/index.json"
SKILL = "/.well-known/agent-skills/customer-reviews/SKILL.md"
SECURITY = "/.well-known/security.txt"
REGISTRY_AUTH = "/.well-known/mcp-registry-auth"

RESOURCES = (JSON_FEED, ATOM_FEED, INSIGHTS, REVIEWS)
"""The resources of MCP, in the order of their list (mcp.md 5.6)."""

MAIN = (
    *(REVIEWS, INSIGHTS, JSON_FEED, ATOM_FEED, SEARCH, f"{SINCE}{{date}}"),
    *(HUB, MCP, OPENAPI),
)
"""The addresses that a 404, the demo and the documentation list, as OpenAPI has them."""

TOPICS = (ATOM_FEED, JSON_FEED, REVIEWS)
"""The topics of the hub (seed 4.8)."""

SEGMENT = "!$&'()*+,;=:@"
"""Characters that need no escape in a path segment, beside the unreserved ones (RFC 3986 3.3)."""


def twin(path: str) -> str:
    """Return the path of a page as Markdown."""
    return f"{path}.md"


PAGES = (
    *(
        HOME,
        HOME_MARKDOWN,
        HOME_INDEX,
        SUMMARY,
        SUMMARY_MARKDOWN,
        ABOUT,
        ABOUT_MARKDOWN,
        REVIEW_US,
        REVIEW_US_MARKDOWN,
    ),
    *(EMBED_SCRIPT, twin(DEVELOPERS_EMBED), ICON, ICON_ICO, TOUCH_ICON, CARD, LOGO, FONT),
    *DOCUMENTATION,
    *map(twin, DOCUMENTATION),
    *(LLMS, LLMS_FULL, ROBOTS, SITEMAP, OPENSEARCH),
    *(API_CATALOG, AI_CATALOG, SERVER_CARD, SERVER_CARD_ALIAS),
    *(SKILLS, SKILL, SECURITY, REGISTRY_AUTH),
)
"""Pages for people and documents for crawlers and agents that are rendered at publication (pages.md 1)."""


def json_page(cursor: str | None) -> str:
    """Return the path of a page of the JSON Feed; the first page has no cursor."""
    return JSON_FEED if cursor is None else JSON_FEED_PAGE.replace("<cursor>", cursor)


def atom_page(cursor: str | None) -> str:
    """Return the path of a page of the Atom feed; the first page has no cursor."""
    return ATOM_FEED if cursor is None else ATOM_FEED_PAGE.replace("<cursor>", cursor)


def permalink(review_id: str) -> str:
    """Return the path of a review's page."""
    return REVIEW + _segment(review_id)


def location(location_id: str) -> str:
    """Return the path of a location's page; its id needs no escape."""
    return LOCATION + location_id


def review(review_id: str) -> str:
    """Return the path of a review in the API."""
    return API_REVIEW + _segment(review_id)


def _segment(review_id: str) -> str:
    """Return an id as a path segment.

    Browsers read ``.`` and ``..`` as folders, escaped or not (RFC 3986 5.2.4, WHATWG URL). So a blank follows
    them, which no id has.
    """
    if review_id.isalnum():
        return review_id
    blank = "%20" if review_id in {".", ".."} else ""
    return quote(review_id, safe=SEGMENT) + blank
