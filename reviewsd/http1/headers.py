"""Header fields that many answers have, and their bytes."""

from collections.abc import Iterable
from typing import Final

Header = tuple[bytes, bytes]

SECURITY: Final[tuple[Header, ...]] = (
    (b"X-Content-Type-Options", b"nosniff"),
    (b"Referrer-Policy", b"no-referrer"),
    (b"Content-Security-Policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"Cross-Origin-Resource-Policy", b"cross-origin"),
)
"""Of every answer."""

CORS: Final[tuple[Header, ...]] = (
    (b"Access-Control-Allow-Origin", b"*"),
    (b"Access-Control-Expose-Headers", b"ETag, Last-Modified, Link, Retry-After"),
)
"""Of answers that pages of any origin may read."""

PREFLIGHT: Final[tuple[Header, ...]] = (
    (b"Access-Control-Allow-Headers", b"*, Authorization, If-None-Match, If-Modified-Since"),
    (b"Access-Control-Max-Age", b"86400"),
)
"""Of answers to a browser that asks before it sends."""


def encoded(headers: Iterable[Header]) -> bytes:
    """Header fields as they stand in an answer, each with its line end."""
    return b"".join(b"%b: %b\r\n" % header for header in headers)
