"""Documents for crawlers and agents, in the order in which they are published (pages.md 1 and 5)."""

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from reviewsd.http1 import urls
from reviewsd.pages import catalogs, llms, robots, sitemap, skill
from reviewsd.pages.document import MARKDOWN, TEXT, FixedDocument
from reviewsd.pages.settings import MachineSettings, SecurityContact
from reviewsd.pages.site import Site
from reviewsd.pages.text import shortened

XML: Final = "application/xml"
JSON: Final = "application/json"
OPENSEARCH: Final = "application/opensearchdescription+xml"

SITEMAP_REVIEWS: Final = 50_000

_OPENSEARCH_NAMESPACE: Final = "http://a9.com/-/spec/opensearch/1.1/"
_MAX_SHORT_NAME, _MAX_LONG_NAME = 16, 48  # characters (OpenSearch 1.1)

ChangedDays = Callable[[int], Iterable[tuple[str, datetime.date]]]
"""Returns the given number of newest reviews, oldest first: id, and the day of the last change."""


def absent(settings: MachineSettings) -> frozenset[str]:
    """Return the paths of documents that the operator has switched off."""
    return frozenset([urls.SITEMAP] if settings.crawlers == "none" else [])


def policies(base_url: str, settings: MachineSettings, *, pages: bool) -> Iterator[FixedDocument]:
    """Render robots.txt, security.txt and the proof for the registry, which need no pages.

    Args:
        base_url: Origin of all addresses.
        settings: The operator's settings.
        pages: Whether pages are published, and so a sitemap.
    """
    if pages or settings.crawlers != "all":  # which no robots.txt means as well
        content = robots.render(base_url, settings.crawlers, sitemap=pages)
        yield FixedDocument(path=urls.ROBOTS, media_type=TEXT, content=content)
    if settings.security is not None:
        content = security_txt(base_url, settings.security)
        yield FixedDocument(path=urls.SECURITY, media_type=TEXT, content=content)
    if settings.registry_auth is not None:
        content = f"{settings.registry_auth}\n".encode()
        yield FixedDocument(path=urls.REGISTRY_AUTH, media_type=TEXT, content=content)


def documents(
    site: Site,
    settings: MachineSettings,
    revisions: tuple[str, ...],
    pages: Sequence[str],
    changes: ChangedDays,
) -> Iterator[FixedDocument]:
    """Render the documents that lead crawlers and agents to the pages and the interfaces.

    Args:
        site: The site.
        settings: The operator's settings.
        revisions: Served revisions of MCP.
        pages: Paths of the pages for search engines.
        changes: Returns the reviews for the sitemap.
    """
    description = skill.render(site)
    for path, media_type, content in (
        (urls.LLMS, TEXT, llms.render(site)),
        (urls.LLMS_FULL, TEXT, llms.render_full(site)),
        (urls.OPENSEARCH, OPENSEARCH, opensearch(site)),
        (urls.SKILL, MARKDOWN, description),
        (urls.SKILLS, JSON, skill.index(site, description)),
    ):
        yield FixedDocument(path=path, media_type=media_type, content=content)
    yield FixedDocument(
        path=urls.API_CATALOG,
        media_type=catalogs.LINKSET,
        content=catalogs.api_catalog(site),
        # The answer to HEAD needs it too (RFC 9727 2).
        headers={"Link": f'<{site.url(urls.API_CATALOG)}>; rel="api-catalog"'},
    )
    yield from _cards(site, settings, revisions)
    if urls.SITEMAP not in site.absent:
        yield from _sitemaps(site, pages, changes)


def _cards(
    site: Site, settings: MachineSettings, revisions: tuple[str, ...]
) -> Iterator[FixedDocument]:
    card = catalogs.server_card(site, settings.version, revisions)
    for path, media_type, content in (
        (urls.SERVER_CARD, catalogs.SERVER_CARD, card),
        (urls.SERVER_CARD_ALIAS, catalogs.SERVER_CARD, card),
        (urls.AI_CATALOG, catalogs.AI_CATALOG, catalogs.ai_catalog(site, settings.version)),
    ):
        yield FixedDocument(
            path=path,
            media_type=media_type,
            content=content,
            headers={"Cache-Control": "public, max-age=3600"},  # mcp.md 8
        )


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


def security_txt(base_url: str, security: SecurityContact) -> bytes:
    """Return the contact for vulnerabilities in the operator's words (RFC 9116 2.5)."""
    moment = security.expires.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = [
        *(f"Contact: {contact}" for contact in security.contact),
        f"Expires: {moment}",
        f"Canonical: {base_url}{urls.SECURITY}",
    ]
    return "".join(f"{field}\n" for field in fields).encode()


def opensearch(site: Site) -> bytes:
    """Return the OpenSearch description: browsers can search the reviews (OpenSearch 1.1)."""
    name = site.business.name
    root = Element("OpenSearchDescription", {"xmlns": _OPENSEARCH_NAMESPACE})
    _add(root, "ShortName", shortened(name, _MAX_SHORT_NAME))
    _add(root, "LongName", shortened(f"{name} reviews", _MAX_LONG_NAME))
    _add(root, "Description", shortened(f"Search the customer reviews of {name}.", 1024))
    _add(root, "InputEncoding", "UTF-8")
    _add(root, "OutputEncoding", "UTF-8")
    _add(root, "Image", site.url("/favicon.svg"), height="16", width="16", type="image/svg+xml")
    for kind, path in (("text/html", "/reviews"), ("application/json", urls.SEARCH)):
        _add(root, "Url", type=kind, template=f"{site.url(path)}?query={{searchTerms}}")
    content: bytes = tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + content + b"\n"


def _add(parent: Element, name: str, text: str | None = None, /, **attributes: str) -> None:
    SubElement(parent, name, attributes).text = text
