"""Finds texts that were saved or read in a wrong encoding, before they take the place of good ones."""

import itertools
import re
from collections.abc import Mapping
from typing import Final

from reviewsctl.importing.values import members

_ENCODINGS: Final = ("utf-8", "cp1252", "mac_roman", "cp850")
_MISREAD: Final = ("Ã", "Â", "â€", "ðŸ")  # UTF-8 as Windows reads it: "Ã¶" is "ö"
_WINDOWS: Final = {
    ord(bytes([byte]).decode("cp1252", "replace")): byte for byte in range(0x80, 0xA0)
}
del _WINDOWS[0xFFFD]
_BLANKS: Final = re.compile(r"[ \t\r\n]+")
_MARKS: Final = ".,;:!?()\N{HORIZONTAL ELLIPSIS}"
_UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"


def damaged(old: Mapping[str, object], values: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the members whose new value a wrong encoding has damaged; ``old`` is empty for a new review."""
    return tuple(
        name
        for name in ("author", "text", "owner_reply")
        if is_damaged(_text(values.get(name)), _text(old.get(name)), is_name=name == "author")
    )


def _text(value: object) -> str:
    text = members(value).get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def is_damaged(text: str, there: str = "", *, is_name: bool = False) -> bool:
    """Return whether a text was saved or read in a wrong encoding.

    Args:
        text: The text.
        there: The text in the file, or "".
        is_name: Whether it is a name: there, "?" before a letter is damage even without a known text.
    """
    if any(map(_is_misread, _bare_words(text) - _bare_words(there))):
        return True
    marks = "?" if is_name or not there.isascii() else ""
    if _holes(text, marks) > _holes(there, marks):
        return True
    if not there or there.isascii():
        return False
    if text.count(_UNKNOWN) > there.count(_UNKNOWN):
        return True
    if _plain(text) == _plain(there) and _foreign(text) < _foreign(there):
        return text.count("?") > there.count("?")
    return any(
        _recoded(text, written, read) == there
        for written, read in itertools.permutations(_ENCODINGS, 2)
    )


def _words(text: str) -> list[str]:
    """Return the words of a text, without addresses; a no-break space may be half of a misread letter."""
    return [word for word in _BLANKS.split(text) if "://" not in word]


def _bare_words(text: str) -> set[str]:
    """Return the words without marks around them; "AMANHÃ…" is good Portuguese."""
    return {word.strip(_MARKS) for word in _words(text)}


def _is_misread(word: str) -> bool:
    """Return whether a word is one of UTF-8 that was read as Windows-1252."""
    if not any(lead in word for lead in _MISREAD):
        return False
    try:
        word.translate(_WINDOWS).encode("latin-1").decode()
    except UnicodeError:
        return False
    return True


def _recoded(text: str, written: str, read: str) -> str | None:
    try:
        return text.encode(written).decode(read)
    except UnicodeError:
        return None


def _holes(text: str, marks: str) -> int:
    """Return how many letters inside words were replaced by one of ``marks`` or by U+FFFD."""
    pairs = itertools.chain.from_iterable(map(itertools.pairwise, _words(text)))
    return sum(one in marks + _UNKNOWN and next_.isalpha() for one, next_ in pairs)


def _plain(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isalnum())


def _foreign(text: str) -> int:
    return sum(not letter.isascii() for letter in text)
