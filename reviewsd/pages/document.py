"""Documents with fixed addresses, as pages hand them to the snapshot (pages.md 2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

HTML = "text/html; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
SVG = "image/svg+xml"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedDocument:
    """A published document with an address of its own."""

    path: str
    media_type: str
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header fields that replace the default ones: ``Link``, ``Content-Security-Policy``,
    ``Cache-Control``."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Paths of the documents that are served here if ``Accept`` prefers another media type, by type."""
