"""Documents for crawlers and agents, in the order in which they are published (pages.md 1 and 5)."""

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from reviewsd.domain.insights import named
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1 import urls
from reviewsd.pages import catalogs, llms, robots, sitemap
from reviewsd.pages.document import MARKDOWN, TEXT, FixedDocument
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.settings import MachineSettings
from reviewsd.pages.site import Site
from reviewsd.pages.text import shortened

XML: Final = "application/xml"
JSON: Final = "application/json"
OPENSEARCH: Final = "application/opensearchdescription+xml"
LINKSET: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
SERVER_CARD: Final = "application/mcp-server-card+json"
AI_CATALOG: Final = "application/ai-catalog+json"

SKILL_NAME: Final = "customer-reviews"
_MAX_DESCRIPTION: Final = 1024  # characters (Agent Skills discovery 0.2.0)
_MAX_NAME: Final = 200

SITEMAP_REVIEWS: Final = 50_000

ChangedDays = Callable[[int], Iterable[tuple[str, datetime.date]]]
"""Returns the given number of newest reviews, oldest first: id, and the day of the last change."""


def disabled_paths(settings: MachineSettings) -> frozenset[str]:
    """Return the paths of documents that the operator has switched off."""
    return frozenset([urls.SITEMAP] if settings.crawlers == "none" else [])


def policies(base_url: str, settings: MachineSettings, *, pages: bool) -> Iterator[FixedDocument]:
    """Render robots.txt, security.txt and the proof for the registry.

    They need no pages; with ``pages`` there is a sitemap to name.
    """
    if pages or settings.crawlers != "all":  # which no robots.txt means as well
        content = robots.render(base_url, settings.crawlers, sitemap=pages)
        yield _text(urls.ROBOTS, content)
    if settings.security.contact and settings.security.expires is not None:
        yield _text(
            urls.SECURITY,
            security_txt(base_url, settings.security.contact, settings.security.expires),
        )
    if settings.registry_auth is not None:
        yield _text(urls.REGISTRY_AUTH, f"{settings.registry_auth}\n".encode())


def documents(
    renderer: Renderer,
    settings: MachineSettings,
    pages: Sequence[str],
    changes: ChangedDays,
) -> Iterator[FixedDocument]:
    """Render the documents that lead crawlers and agents to the interfaces, and to the pages by their paths."""
    site = renderer.site
    skill_facts = {"skill_name": SKILL_NAME, "description": _description(site)}
    skill = renderer.templates.render(
        "machines/skill.md", parameters=SEARCH_PARAMETERS, **skill_facts
    ).encode()
    digest = f"sha256:{hashlib.sha256(skill).hexdigest()}"
    yield _text(urls.LLMS, llms.render(renderer))
    yield _text(urls.LLMS_FULL, llms.render_full(renderer))
    yield FixedDocument(
        path=urls.OPENSEARCH,
        media_type=OPENSEARCH,
        content=renderer.templates.render("machines/opensearch.xml").encode(),
    )
    yield FixedDocument(path=urls.SKILL, media_type=MARKDOWN, content=skill)
    yield FixedDocument(
        path=urls.SKILLS,
        media_type=JSON,
        content=renderer.json("machines/skills.json", digest=digest, **skill_facts),
    )
    facts = {
        "card_type": SERVER_CARD,
        "host": catalogs.host_identifier(site.host),
        "metadata": catalogs.metadata(site),
        "aspects": [] if site.insights is None else list(map(named, site.insights.aspects[:3])),
        "revisions": catalogs.REVISIONS,
        "server_name": catalogs.reverse_domain(site.host),
        "server_title": catalogs.server_title(site.business.name),
        "version": settings.version,
    }
    # The answer to HEAD needs it too (RFC 9727 2).
    linked = {"Link": f'<{site.url(urls.API_CATALOG)}>; rel="api-catalog"'}
    hourly = {"Cache-Control": "public, max-age=3600"}  # mcp.md 8
    for path, media_type, template, headers in (
        (urls.API_CATALOG, LINKSET, "api_catalog.json", linked),
        (urls.SERVER_CARD, SERVER_CARD, "server_card.json", hourly),
        (urls.SERVER_CARD_ALIAS, SERVER_CARD, "server_card.json", hourly),
        (urls.AI_CATALOG, AI_CATALOG, "ai_catalog.json", hourly),
    ):
        content = renderer.json(f"machines/{template}", **facts)
        yield FixedDocument(path=path, media_type=media_type, content=content, headers=headers)
    if urls.SITEMAP not in site.disabled_paths:
        yield from _sitemaps(site, pages, changes)


def _text(path: str, content: bytes) -> FixedDocument:
    return FixedDocument(path=path, media_type=TEXT, content=content)


def _description(site: Site) -> str:
    """Return when to use the skill."""
    name = shortened(site.business.name, _MAX_NAME)
    text = (
        f"Reads the customer reviews of {name}: ratings, full texts, search by words, stars and dates, "
        "and what reviewers say by aspect, person and service. Use it when somebody asks what "
        f"customers think of {name}, or for a review to quote."
    )
    return shortened(text, _MAX_DESCRIPTION)


def _sitemaps(site: Site, pages: Sequence[str], changes: ChangedDays) -> Iterator[FixedDocument]:
    count = min(SITEMAP_REVIEWS, site.count)
    updated = None if site.updated_at is None else datetime.date.fromisoformat(site.updated_at[:10])
    entries = [
        sitemap.SitemapEntry(site.url(path), None if path in urls.DOCUMENTATION else updated)
        for path in pages
    ]
    reviews = (
        sitemap.SitemapEntry(site.url(urls.permalink(key)), day) for key, day in changes(count)
    )
    for path, content in sitemap.render(site.base_url, entries, reviews, site.count - count):
        yield FixedDocument(path=path, media_type=XML, content=content)


def security_txt(base_url: str, contacts: Iterable[str], expires: datetime.datetime) -> bytes:
    """Return the contact for vulnerabilities in the operator's words (RFC 9116 2.5)."""
    moment = expires.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = [
        *(f"Contact: {contact}" for contact in contacts),
        f"Expires: {moment}",
        f"Canonical: {base_url}{urls.SECURITY}",
    ]
    return "".join(f"{field}\n" for field in fields).encode()
