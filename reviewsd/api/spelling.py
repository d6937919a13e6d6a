"""Guesses of both programs at what a mistyped name means."""

import difflib
import unicodedata
from collections.abc import Iterable
from typing import Final

from reviewsd.api.texts import printable

_LIGATURES: Final = str.maketrans(
    {"ß": "ss", "œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "\u0131": "i"}
)
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


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


def nearest_location(name: str, known_names: Iterable[str]) -> str:
    """Return the hint at the known location that a mistyped name most likely means, or "".

    Names with other numbers are of other locations: "Store 101" and "Store 102". "Gmünd" is "Gmuend" and "Gmund".
    """
    alike = {_plain(known): known for known in known_names if _digits(known) == _digits(name)}
    close = difflib.get_close_matches(_plain(name), alike, n=1, cutoff=0.8)
    return f'; did you mean "{printable(alike[close[0]])}"?' if close else ""


def _plain(name: str) -> str:
    """Return a name in letters without accents, umlauts in two."""
    composed = unicodedata.normalize("NFC", name).casefold()
    return without_accents(composed.translate(_UMLAUTS))


def _digits(name: str) -> str:
    return "".join(filter(str.isdigit, name))


def without_accents(word: str) -> str:
    """Return a word in lower case without accents, umlauts and ligatures."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_LIGATURES))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
