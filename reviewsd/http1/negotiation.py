"""Chooses the media type and the coding of a response (RFC 9110 12.5)."""

import re
from functools import lru_cache

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

PROBLEMS = ("application/json", "application/problem+json")
"""An error as JSON; the second only if Accept prefers it."""

HTML = "text/html"

MAX_PREFERENCES = 256
"""Bytes of Accept or Accept-Encoding that are read; browsers send 140. A longer field counts as absent: it has
room for thousands of ranges, which take 10 microseconds each (S10, RFC 9110 12.1)."""

JSON_RANGES = (b"application/json", b"application/*", b"*/*")
"""Media ranges that include JSON; the first one in Accept counts (RFC 9110 12.5.1)."""

EVENT_RANGES = (b"text/event-stream", b"text/*", b"*/*")
"""Media ranges that include server-sent events."""

_QUALITY = re.compile(rb"[01](\.[0-9]*)?")


@lru_cache(maxsize=64)
def best_type(accept: tuple[bytes, ...], offered: tuple[str, ...]) -> int:
    """Return the index of the preferred media type; 0 if none is acceptable, or there is no Accept.

    Args:
        accept: The lines of Accept.
        offered: The media types to choose from, without parameters.
    """
    ranges = parse_accept_header(_joined(accept).decode("latin-1"), MIMEAccept)
    match = ranges.best_match(offered)
    return 0 if match is None else offered.index(match)


@lru_cache(maxsize=64)
def accepts(accept: tuple[bytes, ...], ranges: tuple[bytes, ...]) -> bool:
    """Return whether Accept includes a media type by one of its ranges; without one everything is accepted."""
    qualities: dict[bytes, float] = {}
    for part in _joined(accept).lower().split(b","):
        media_range, *parameters = (piece.strip(b" \t") for piece in part.split(b";"))
        if media_range:
            quality = min(map(_quality, parameters), default=1.0)
            qualities[media_range] = max(quality, qualities.get(media_range, 0.0))
    if not qualities:
        return True
    return next((qualities[name] > 0 for name in ranges if name in qualities), False)


def _quality(parameter: bytes) -> float:
    """Return the weight in a parameter of a media range; 1 if it is another parameter."""
    name, _, value = parameter.partition(b"=")
    return float(value) if name == b"q" and _QUALITY.fullmatch(value) else 1.0


@lru_cache(maxsize=64)
def accepted_codings(lines: tuple[bytes, ...]) -> tuple[bool, bool]:
    """Return whether gzip is preferred to identity or equal to it, and whether identity is accepted.

    Args:
        lines: The lines of Accept-Encoding.
    """
    codings = parse_accept_header(_joined(lines).decode("latin-1"))
    weights = {coding.lower(): weight for coding, weight in reversed(list(codings))}
    default = weights.get("*", 0)
    gzip = weights.get("gzip", weights.get("x-gzip", default))
    # without a weight, identity is accepted, but less than any coding that is (RFC 9110 12.5.3)
    is_refused = weights.get("identity", 1 if "*" not in weights else default) == 0
    return gzip > 0 and gzip >= weights.get("identity", 0), not is_refused


def _joined(lines: tuple[bytes, ...]) -> bytes:
    """Return a field with preferences as one line; an empty one if it is too long."""
    return b", ".join(lines) if sum(map(len, lines)) <= MAX_PREFERENCES else b""
