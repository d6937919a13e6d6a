"""Catalogs of the API and the MCP server for agents and crawlers (mcp.md 8, RFC 9727, RFC 9264).

The server card is that of SEP-2127, the AI catalog a superset of the existing drafts.
"""

from typing import Final

import msgspec

from reviewsd.domain.insights import named
from reviewsd.domain.reviews import Address, OpeningHours
from reviewsd.http1 import urls
from reviewsd.pages.site import Site
from reviewsd.pages.text import line, shortened

LINKSET: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
SERVER_CARD: Final = "application/mcp-server-card+json"
AI_CATALOG: Final = "application/ai-catalog+json"
OPENAPI: Final = "application/vnd.oai.openapi+json"

REVISIONS: Final = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""Revisions of MCP, oldest first; ``mcp.revisions``, on a higher floor, implements them."""

_CARD_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
_MAX_TITLE: Final = 100  # characters; so has the schema of the card
_MAX_DESCRIPTION: Final = 100
_MAX_QUERY: Final = 120

_DAYS: Final = {
    "monday": "Mo",
    "tuesday": "Tu",
    "wednesday": "We",
    "thursday": "Th",
    "friday": "Fr",
    "saturday": "Sa",
    "sunday": "Su",
}

_encode = msgspec.json.Encoder().encode


def server_title(name: str) -> str:
    """Return the title of the MCP server, for itself and its card (mcp.md 8)."""
    kind = " reviews"
    return shortened(name, _MAX_TITLE - len(kind)) + kind


def api_catalog(site: Site) -> bytes:
    """Return the linkset of both interfaces, HTTP and MCP (RFC 9727 4)."""
    url = site.url
    html = {"type": "text/html"}
    meta = {"service-meta": [{"href": url(urls.SERVER_CARD), "type": SERVER_CARD}]}
    return _encode(
        {
            "linkset": [
                {
                    "anchor": url(urls.API_CATALOG),
                    "item": [{"href": url("/")}, {"href": url(urls.MCP)}],
                },
                {
                    "anchor": url("/"),
                    "service-desc": [{"href": url(urls.OPENAPI), "type": f"{OPENAPI};version=3.1"}],
                    "service-doc": [{"href": url(urls.DEVELOPERS), **html}],
                    "status": [{"href": url(urls.HEALTH), "type": "application/json"}],
                },
                {
                    "anchor": url(urls.MCP),
                    **meta,
                    "service-doc": [{"href": url(urls.DEVELOPERS_MCP), **html}],
                },
            ]
        }
    )


def server_card(site: Site, version: str, revisions: tuple[str, ...]) -> bytes:
    """Return the card of the MCP server.

    Args:
        site: The site of the server.
        version: Version of the program.
        revisions: Served revisions of MCP.
    """
    name = site.business.name
    description = f"Customer reviews of {name}: search, ratings, insights."
    return _encode(
        {
            "$schema": _CARD_SCHEMA,
            "name": f"{_backwards(site.host)}/reviews",
            "version": version,
            "title": server_title(name),
            "description": shortened(description, _MAX_DESCRIPTION),
            "websiteUrl": site.base_url,
            "remotes": [
                {
                    "type": "streamable-http",
                    "url": site.url(urls.MCP),
                    "supportedProtocolVersions": revisions,
                }
            ],
        }
    )


def ai_catalog(site: Site, version: str) -> bytes:
    """Return the catalog for agents, with the MCP server as its one entry."""
    name = line(site.business.name)
    return _encode(
        {
            "specVersion": "1.0",
            "host": {
                "displayName": name,
                "identifier": f"did:web:{_token(site.host)}",
                "documentationUrl": site.url(urls.DEVELOPERS),
            },
            "entries": [
                {
                    "identifier": f"urn:air:{_token(site.host)}:mcp:reviews",
                    "displayName": f"{name} reviews",
                    "type": SERVER_CARD,
                    "mediaType": SERVER_CARD,
                    "url": site.url(urls.SERVER_CARD),
                    "description": f"Customer reviews of {name} and what they say: ratings, search, "
                    "aspects, questions and answers. Read-only, without a key.",
                    "tags": ["reviews", "local-business"],
                    "representativeQueries": _queries(site),
                    "version": version,
                    "metadata": _metadata(site),
                }
            ],
        }
    )


def _backwards(host: str) -> str:
    """Return the labels of a domain name in reverse, or an address as it is."""
    labels = host.rstrip(".").split(".")
    is_name = not labels[-1].isdigit() and ":" not in host
    return ".".join(reversed(labels)) if is_name else _token(host)


def _token(host: str) -> str:
    """Return a host for URNs and names, an IPv6 address with hyphens."""
    return host.replace(":", "-")


def _queries(site: Site) -> tuple[str, ...]:
    """Return two to five questions that the tools can answer."""
    name = site.business.name
    queries = [f"what do customers say about {name}", f"which ratings does {name} have"]
    if site.insights is not None:
        labels = (
            f"how do customers of {name} judge {aspect.label}"
            for aspect in map(named, site.insights.aspects[:3])
        )
        queries += labels
    return tuple(shortened(query, _MAX_QUERY) for query in queries)


def _metadata(site: Site) -> dict[str, str]:
    """Return facts about the business as texts, which the catalog requires."""
    business = site.business
    values = {
        "schemaOrgType": business.category,
        "address": _address(business.address),
        "telephone": business.phone,
        "areaServed": ", ".join(business.service_areas),
        "openingHours": _hours(business.hours),
    }
    lines = {name: line(value or "") for name, value in values.items()}
    return {name: value for name, value in lines.items() if value}


def _address(address: Address | None) -> str:
    if address is None:
        return ""
    parts = (address.street, address.city, address.region, address.postal_code, address.country)
    return ", ".join(filter(None, parts))


def _hours(hours: tuple[OpeningHours, ...]) -> str:
    """Return opening hours in the form of schema.org's ``openingHours``."""
    return ", ".join(f"{_DAYS[opening.day]} {opening.opens}-{opening.closes}" for opening in hours)
