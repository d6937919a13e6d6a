"""What a fixed page becomes: a document of the snapshot, with header fields of its own (pages.md 2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

HTML = "text/html; charset=utf-8"
MARKDOWN = "text/markdown; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
SVG = "image/svg+xml"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedDocument:
    """A document with an address of its own, as it is published."""

    path: str
    media_type: str
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header fields that take the place of the usual ones, by their usual spelling: ``Link``,
    ``Content-Security-Policy``, ``Cache-Control``."""
    others: Mapping[str, str] = field(default_factory=dict)
    """By media type: the path of the document that is answered here to an ``Accept`` that prefers it."""
