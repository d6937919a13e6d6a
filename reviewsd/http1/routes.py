"""Every route of the public site, once (seed 2 and 4, contract 2 to 5).

Klein's rules, the quick look-up, the methods, what may come in a body, the metrics' labels, what the 404
names and the demo's guide are all made from this table. Whoever adds a read
adds its address to ``http1.urls``, a line here, and its documentation to ``publish/openapi/openapi.yaml``; a fixed
document is rendered in ``publish.compiler``, what is computed has a method in ``web.reads`` and a line in
``web.answerers``.
"""

from dataclasses import dataclass
from enum import Enum
from urllib.parse import unquote_to_bytes

from reviewsd.http1 import urls


class BodyRule(Enum):
    """What may come in the body of a request."""

    IGNORED = "read past, so that a POST is answered for what it is"
    FORM = "a form of the hub"
    JSON = "a JSON-RPC message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One address, and what it answers."""

    path: str
    """As OpenAPI has it: ``{date}`` stands for one segment."""
    answerer: str
    """Its name in ``web.answerers``."""
    methods: tuple[str, ...] | None = ("GET",)
    """The methods that are answered, HEAD and OPTIONS aside; None: the answerer decides."""
    body: BodyRule = BodyRule.IGNORED
    whole: bool = False
    """Whether the open segment may hold any escapes, those of slashes too: the answerer reads it from
    the path."""
    quick: bool = False
    """Whether the quick look-up knows it; Klein knows all."""
    any_host: bool = False
    """Whether it is answered whatever name the client asks by: probes know none, and MCP refuses
    with an error of its own."""
    listed: bool = True
    """Whether people are told of it."""
    page: bool = False
    """Whether it is a page for people, or a document for crawlers and agents: no part of the API."""
    example: str = ""
    """What follows the fixed part of the address in the demo's guide."""

    @property
    def prefix(self) -> str:
        """The fixed part of the address: all of it, or what comes before a ``{``."""
        return self.path.partition("{")[0]

    @property
    def spellings(self) -> tuple[str, ...]:
        """The paths that are answered: what takes a POST has a second one, with a slash at its end.

        Clients that are redirected repeat a POST as a GET, or give up.
        """
        return (self.path,) if self.methods else (self.path, f"{self.path}/")

    @property
    def open(self) -> str:
        """The name of the segment that is open; empty where all of the address is fixed."""
        return self.path.partition("{")[2].partition("}")[0]

    @property
    def suffix(self) -> str:
        """What follows the open segment."""
        return self.path.partition("}")[2]


def _pages(*paths: str, answerer: str = "document") -> tuple[Route, ...]:
    """Pages (pages.md 1)."""
    return tuple(
        Route(path=path, answerer=answerer, quick=True, listed=False, page=True) for path in paths
    )


ROUTES = (
    Route(path=urls.REVIEWS, answerer="document", quick=True),
    Route(path=urls.INSIGHTS, answerer="document", quick=True),
    Route(path=urls.JSON_FEED, answerer="document", quick=True),
    Route(path=urls.ATOM_FEED, answerer="document", quick=True),
    Route(path=urls.JSON_FEED_PAGE, answerer="json_page", quick=True, listed=False),
    Route(path=urls.ATOM_FEED_PAGE, answerer="atom_page", quick=True, listed=False),
    Route(path=urls.SEARCH, answerer="search", quick=True, example="?query=boiler&min_rating=4"),
    Route(path=f"{urls.SINCE}{{date}}", answerer="since", quick=True, example="2026-01-01"),
    Route(path=f"{urls.API_REVIEW}{{id}}", answerer="review", whole=True, quick=True, listed=False),
    Route(path=urls.HUB, answerer="hub", methods=None, body=BodyRule.FORM),
    Route(
        path=urls.MCP,
        answerer="mcp",
        methods=None,
        body=BodyRule.JSON,
        any_host=True,
    ),
    Route(path=urls.OPENAPI, answerer="document", quick=True),
    Route(path=urls.HEALTH, answerer="health", quick=True, any_host=True, listed=False),
    Route(path=urls.READY, answerer="ready", any_host=True, listed=False),
    *_pages(urls.HOME, urls.HOME_MARKDOWN, urls.HOME_INDEX),
    *_pages(urls.SUMMARY, urls.SUMMARY_MARKDOWN, urls.EMBED, urls.BADGE),
    *_pages(urls.ICON, urls.ICON_ICO, urls.CARD),
    *_pages(urls.LIST, urls.LIST_MARKDOWN, answerer="reviews_page"),
    Route(
        path=f"{urls.REVIEW}{{id}}",
        answerer="review_page",
        whole=True,
        quick=True,
        listed=False,
        page=True,
    ),
    *_pages(*urls.DOCUMENTATION, *map(urls.twin, urls.DOCUMENTATION)),
    *_pages(urls.LLMS, urls.LLMS_FULL, urls.ROBOTS, urls.SITEMAP, urls.OPENSEARCH),
    *_pages(urls.API_CATALOG, urls.AI_CATALOG, urls.SERVER_CARD, urls.SERVER_CARD_ALIAS),
    *_pages(urls.SKILLS, urls.SKILL, urls.SECURITY, urls.REGISTRY_AUTH),
    *_pages(f"{urls.SITEMAP_PART}{{part}}"),
)

LISTED = tuple(route for route in ROUTES if route.listed)
"""In the order in which people are told of them."""

_READ = 256
"""Bytes of a path, escapes and all; routes are far shorter."""

_FIXED = {path.encode(): route for route in ROUTES if not route.open for path in route.spellings}
_OPEN = tuple(
    (route.prefix.encode(), route.suffix.encode(), route) for route in ROUTES if route.open
)

ANY_HOST = frozenset(path for path, route in _FIXED.items() if route.any_host)
"""The paths that are answered whatever name the client asks by."""


def route_of(path: bytes) -> Route | None:
    """The route of a path, escapes and all; None where there is none."""
    route = _FIXED.get(path)
    if route is None and b"%" in path:
        path = unquote_to_bytes(path[:_READ])
        route = _FIXED.get(path)
    if route is None:
        for prefix, suffix, each in _OPEN:
            fits = path.startswith(prefix) and path.endswith(suffix)
            if fits and (each.whole or b"/" not in path[len(prefix) :]):
                return each
    return route


def without_slash(path: bytes) -> bytes | None:
    """Return the address of a read that was spelled with a slash at its end; None where it is none."""
    if not path.endswith(b"/") or path.endswith(b"//"):
        return None
    exact, own = path[:-1], route_of(path)
    route = route_of(exact)
    if route is None or route.methods is None or not (own is None or own.whole):
        return None
    segment = exact[len(route.prefix) :]
    return exact if not route.open or (segment and b"/" not in segment) else None
