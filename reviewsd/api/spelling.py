"""Guesses of both programs at what a mistyped name means."""

import difflib
from collections.abc import Iterable

from reviewsd.api.texts import printable


def nearest(name: str, known_names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ``; did you mean "x"?`` with the closest of the known names, in any case, or "".

    Args:
        name: The mistyped name.
        known_names: The names that exist.
        cutoff: How alike the two must be, from 0 to 1.
    """
    names = {candidate.casefold(): candidate for candidate in known_names}
    close = difflib.get_close_matches(name.casefold(), names, n=1, cutoff=cutoff)
    return f'; did you mean "{printable(names[close[0]])}"?' if close else ""
