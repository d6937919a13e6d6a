"""Documents as they were rendered at publication."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

Buffer = Union[bytes, "memoryview[int]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A resource with a fixed address in all its codings (RFC 9110 3.2)."""

    body: Buffer
    """Perhaps a mapped file of hundreds of megabytes: slice it, do not copy it."""
    gzip: Buffer | None = None
    media_type: bytes
    etag: bytes
    """Strong, with its quotes; that of the gzip form has a suffix (S10)."""
    last_modified: int | None = None
    """POSIX seconds; None if they are not known."""
    quoted: Buffer | None = None
    """The body as a JSON string; only of a resource of MCP that is small enough to be read there."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header fields that replace the usual ones."""
    others: Mapping[str, str] = field(default_factory=dict)
    """By media type: the path of the resource for clients that prefer it."""
