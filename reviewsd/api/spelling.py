"""Guesses of both programs at what a mistyped name means."""

import difflib
from collections.abc import Iterable

from reviewsd.api.texts import printable


def nearest(name: str, known_names: Iterable[str]) -> str:
    """Return ``; did you mean "x"?`` with the closest of the known names, in any case, or ""."""
    names = {candidate.casefold(): candidate for candidate in known_names}
    close = difflib.get_close_matches(name.casefold(), names, n=1)
    return f'; did you mean "{printable(names[close[0]])}"?' if close else ""
