"""The operator's settings of pages and of documents for machines.

They are apart from what renders, so that the daemon reads them without the templates' engines.
"""

import datetime
from typing import Literal

from msgspec import Struct

DEFAULT_ACCENT = "#0b6e6e"

Crawlers = Literal["all", "no-training", "no-ai", "none"]
"""Policies for crawlers (``crawlers``)."""


class PageSettings(Struct, frozen=True, kw_only=True):
    """Settings of the pages (``pages.*``)."""

    enabled: bool = True
    accent: str = DEFAULT_ACCENT
    """``#rrggbb``, for light backgrounds."""
    jsonld_reviews: bool = True
    """Whether the structured data has ratings and reviews."""


class SecurityContact(Struct, frozen=True, kw_only=True):
    """The contact for vulnerabilities (``security.*``, RFC 9116)."""

    contact: tuple[str, ...]
    expires: datetime.datetime


class MachineSettings(Struct, frozen=True, kw_only=True):
    """The operator's settings of documents for machines, and facts about the program."""

    crawlers: Crawlers = "all"
    security: SecurityContact | None = None
    registry_auth: str | None = None
    """Proof of the domain for the MCP registry (``mcp.registry_auth``)."""
    version: str = "0.0.0"
    """Version of the program."""
    tools: str = '{"tools":[]}'
    """The result of ``tools/list``."""
