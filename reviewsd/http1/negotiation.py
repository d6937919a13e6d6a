"""Which media type and coding of a response a client prefers (RFC 9110 12.5)."""

from functools import lru_cache

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

PROBLEMS = ("application/json", "application/problem+json")
"""An error as JSON; the second only if Accept prefers it."""

HTML = "text/html"


@lru_cache(maxsize=64)
def best_type(accept: tuple[bytes, ...], offered: tuple[str, ...]) -> int:
    """Return the index of the preferred media type; 0 if none is acceptable, or there is no Accept.

    Args:
        accept: The lines of Accept.
        offered: The media types to choose from, without parameters.
    """
    if not accept:
        return 0
    ranges = parse_accept_header(b", ".join(accept).decode("latin-1"), MIMEAccept)
    match = ranges.best_match(offered)
    return 0 if match is None else offered.index(match)


@lru_cache(maxsize=64)
def accepted_codings(lines: tuple[bytes, ...]) -> tuple[bool, bool]:
    """Return whether gzip is preferred to identity or equal to it, and whether identity is accepted.

    Args:
        lines: The lines of Accept-Encoding.
    """
    codings = parse_accept_header(b", ".join(lines).decode("latin-1"))
    weights = {coding.lower(): weight for coding, weight in reversed(list(codings))}
    other = weights.get("*", 0)
    gzip = weights.get("gzip", weights.get("x-gzip", other))
    # without a weight, identity is accepted, but less than any coding that is (RFC 9110 12.5.3)
    is_refused = weights.get("identity", 1 if "*" not in weights else other) == 0
    return gzip > 0 and gzip >= weights.get("identity", 0), not is_refused
