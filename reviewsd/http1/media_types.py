"""Which media type a client prefers, of those there are (RFC 9110 12.5.1)."""

from functools import lru_cache

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

PROBLEMS = ("application/json", "application/problem+json")
"""An error as JSON; the second only where Accept prefers it."""

HTML = "text/html"


@lru_cache(maxsize=64)
def best(accept: tuple[bytes, ...], offered: tuple[str, ...]) -> int:
    """The place of the one that is preferred; 0 where none is acceptable, or nothing is said.

    Args:
        accept: The lines of the field.
        offered: The media types there are, without parameters.
    """
    if not accept:
        return 0
    accepted = parse_accept_header(b", ".join(accept).decode("latin-1"), MIMEAccept)
    found = accepted.best_match(offered)
    return 0 if found is None else offered.index(found)
