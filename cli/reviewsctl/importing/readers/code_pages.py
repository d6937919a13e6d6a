"""Finds the code page of a table of western Europe, by the places where its letters and signs stand.

Excel saves "CSV (Macintosh)" as Mac Roman and "CSV (MS-DOS)" as code page 850. Read as Windows' 1252,
"Müller" is "MŸller", with a capital within a word.
"""

import re
from collections.abc import Iterable
from typing import Final

WINDOWS: Final = "cp1252"
_MAC: Final = "mac_roman"
_DOS: Final = "cp850"
_ENOUGH: Final = 20_000  # characters that decide
_PIECE: Final = 64 * 1024  # bytes that are searched at once

_HIGH: Final = re.compile(rb"([\x00-\xff])?([\x80-\xff])(?=([\x00-\xff])?)", re.DOTALL)

_LETTERS: Final = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüßœ")
_CAPITALS: Final = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜŒ")
_APOSTROPHE: Final = "\N{RIGHT SINGLE QUOTATION MARK}"
_OPENING: Final = frozenset("\u2018\u201c\u201e\u00ab¿¡")
_CLOSING: Final = frozenset("\u201d\u00bb")
_SIGNS: Final = frozenset("\u2013\u2014…€£°§©®™•½²³\u00a0")


def likeliest(chunks: Iterable[bytes]) -> str:
    """Return the code page in which most characters stand where such characters do."""
    scores = dict.fromkeys((WINDOWS, _MAC, _DOS), 0.0)
    counted, carriages, feeds = 0, 0, 0
    for chunk in chunks:
        carriages += chunk.count(b"\r")
        feeds += chunk.count(b"\n")
        for start in range(0, len(chunk), _PIECE):
            characters = _HIGH.findall(chunk[start : start + _PIECE])
            counted += len(characters)
            for around in characters:
                for page in scores:
                    before, character, after = (byte.decode(page, "replace") for byte in around)
                    scores[page] += _score(before or " ", character, after or " ")
            if counted > _ENOUGH:
                break
        if counted > _ENOUGH:
            break
    if carriages and not feeds:
        scores[_MAC] += 0.5  # only Macs end lines so
    return max(scores, key=lambda page: scores[page])


def _score(before: str, character: str, after: str) -> float:
    """Return how much a character is where it would be written, from -1 to 1."""
    follows, precedes = before.isalpha(), after.isalpha()
    if character in _LETTERS:
        return 1 if (follows or precedes) and not before.isupper() else 0.5
    if character in _CAPITALS:
        return -1 if before.islower() else 1 if precedes or before.isupper() else 0
    if character == _APOSTROPHE:
        return 1 if follows and precedes else 0.5 if follows else 0
    if character in _OPENING:
        return 1 if precedes and not follows else -0.5
    if character in _CLOSING:
        return 1 if not precedes and not before.isspace() else -0.5
    if character in _SIGNS:
        return -1 if follows and precedes else 0.25
    return -1
