"""Facts about the MCP server and its business, for the catalogs of agents and crawlers (mcp.md 8).

The catalogs are templates in ``templates/machines``: the linkset of RFC 9727 and RFC 9264, the server card of SEP-2127,
and the AI catalog, a superset of the existing drafts.
"""

from typing import Final

from reviewsd.domain.reviews import OpeningHours
from reviewsd.pages.contact import address_parts
from reviewsd.pages.site import Site
from reviewsd.pages.text import line, shortened

REVISIONS: Final = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""Revisions of MCP, oldest first; ``mcp.revisions``, on a higher floor, implements them."""

_MAX_TITLE: Final = 100  # characters; so has the schema of the card


def server_title(name: str) -> str:
    """Return the title of the MCP server, for itself and its card (mcp.md 8)."""
    kind = " reviews"
    return shortened(name, _MAX_TITLE - len(kind)) + kind


def reverse_domain(host: str) -> str:
    """Return a domain name with its labels reversed, or the ``host_identifier`` of an IP address."""
    labels = host.rstrip(".").split(".")
    is_name = not labels[-1].isdigit() and ":" not in host
    return ".".join(reversed(labels)) if is_name else host_identifier(host)


def host_identifier(host: str) -> str:
    """Return a host for URNs and names, an IPv6 address with hyphens."""
    return host.replace(":", "-")


def metadata(site: Site) -> dict[str, str]:
    """Return facts about the business as texts, which the catalog requires."""
    business = site.business
    values = {
        "schemaOrgType": business.category,
        "address": ", ".join(address_parts(business)),
        "telephone": business.phone,
        "areaServed": ", ".join(business.service_areas),
        "openingHours": _hours(business.hours),
    }
    lines = {name: line(value or "") for name, value in values.items()}
    return {name: value for name, value in lines.items() if value}


def _hours(hours: tuple[OpeningHours, ...]) -> str:
    """Return opening hours in the form of schema.org's ``openingHours``."""
    return " ".join(
        f"{opening.day[:2].capitalize()} {opening.opens}-{opening.closes}" for opening in hours
    )
