"""Which coding of a content a client takes (RFC 9110 12.5.3)."""

from functools import lru_cache

from werkzeug.http import parse_accept_header


@lru_cache(maxsize=64)
def accepted(given: tuple[bytes, ...]) -> tuple[bool, bool]:
    """Whether gzip is accepted, and wanted at least as much as identity; whether identity is.

    Args:
        given: The values of Accept-Encoding.
    """
    parsed = parse_accept_header(b", ".join(given).decode("latin-1"))
    weights = {coding.lower(): weight for coding, weight in reversed(list(parsed))}
    anything = weights.get("*", 0)
    gzip = weights.get("gzip", weights.get("x-gzip", anything))
    # not named, identity is acceptable, but less than any coding that is (RFC 9110 12.5.3)
    refused = weights.get("identity", 1 if "*" not in weights else anything) == 0
    return gzip > 0 and gzip >= weights.get("identity", 0), not refused
