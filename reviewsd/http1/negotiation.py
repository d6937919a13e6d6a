"""Chooses the media type and the coding of a response (RFC 9110 12.5)."""

import re
from functools import lru_cache

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

PROBLEMS = ("application/json", "application/problem+json")
"""The media types of an error; the first is the default."""

HTML = "text/html"

MAX_PREFERENCES = 256
"""Bytes of Accept or Accept-Encoding that are read; browsers send 140. A longer field counts as absent, because
each of its ranges would take 10 microseconds (S10, RFC 9110 12.1)."""

JSON_RANGES = (b"application/json", b"application/*", b"*/*")
"""Media ranges that include JSON, the most specific first: the first of them that Accept has decides
(RFC 9110 12.5.1)."""

EVENT_RANGES = (b"text/event-stream", b"text/*", b"*/*")
"""Media ranges that include server-sent events, the most specific first."""

_QUALITY = re.compile(rb"[01](\.[0-9]*)?")


@lru_cache(maxsize=64)
def best_type(accept: tuple[bytes, ...], offered: tuple[str, ...]) -> int:
    """Return the index of the preferred media type; 0 if none is acceptable, or there is no Accept.

    Args:
        accept: The values of the Accept fields.
        offered: The media types to choose from, without parameters.
    """
    ranges = parse_accept_header(_joined(accept).decode("latin-1"), MIMEAccept)
    match = ranges.best_match(offered)
    return 0 if match is None else offered.index(match)


@lru_cache(maxsize=64)
def accepts(accept: tuple[bytes, ...], ranges: tuple[bytes, ...]) -> bool:
    """Return whether Accept includes a media type.

    Args:
        accept: The values of the Accept fields; without any, everything is accepted.
        ranges: The media ranges that include the media type, the most specific first.
    """
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
    """Return the weight in a parameter of a media range; 1 if it is not a valid weight."""
    name, _, value = parameter.partition(b"=")
    return float(value) if name == b"q" and _QUALITY.fullmatch(value) else 1.0


@lru_cache(maxsize=64)
def accepted_codings(lines: tuple[bytes, ...]) -> tuple[bool, bool]:
    """Return whether gzip is preferred to identity or equal to it, and whether identity is accepted.

    Args:
        lines: The values of the Accept-Encoding fields.
    """
    codings = parse_accept_header(_joined(lines).decode("latin-1"))
    # The codings come with the best first, so the best of equal names remains
    weights = {coding.lower(): weight for coding, weight in reversed(list(codings))}
    gzip = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0)))
    # An unlisted identity is accepted, but ranks below every accepted coding (RFC 9110 12.5.3)
    accepts_identity = weights.get("identity", weights.get("*", 1)) > 0
    return gzip > 0 and gzip >= weights.get("identity", 0), accepts_identity


def _joined(lines: tuple[bytes, ...]) -> bytes:
    """Join the values of a field; the text is empty if they are too long."""
    return b", ".join(lines) if sum(map(len, lines)) <= MAX_PREFERENCES else b""
