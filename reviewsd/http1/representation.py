"""Representations of resources: bytes, media type, entity tag, time of the last change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

Buffer = Union[bytes, "memoryview[int]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Representation:
    """One representation of a resource (RFC 9110 3.2)."""

    parts: tuple[Buffer, ...]
    """The body. Parts may be mapped files of hundreds of megabytes: slice them, do not join."""
    media_type: bytes
    etag: bytes
    """Strong, with its quotes; another one for each coding (S10)."""
    last_modified: int | None = None
    """POSIX seconds; None if they are not known."""
    gzipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A resource with a fixed address in all its codings."""

    identity: Representation
    gzip: Representation | None
    quoted: Buffer | None = None
    """The body as a JSON string; only of a resource of MCP that is small enough to be read there."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header fields that replace the usual ones."""
    others: Mapping[str, str] = field(default_factory=dict)
    """By media type: the path of the resource for clients that prefer it."""
