"""Ids and texts of reviews as both programs compare them, and counts and foreign text as both print them."""

import re
from typing import Final

_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_TIME: Final = 10  # characters of a ULID that are its time

# C0, DEL, C1, and the characters that reorder or break lines of a terminal (UAX 9, Zl, Zp).
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def merge_key(review_id: str) -> str:
    """Return what two versions of one review have in common.

    A ULID without its time: some platforms give an edited review a new date, and the edited one
    replaces the old one. Any other id is compared whole.
    """
    return review_id[_TIME:] if _ULID.fullmatch(review_id) else review_id


def plain_text(text: str) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(text.casefold().split())


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, whose plural ends in -s: ``1,204 reviews``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def printable(text: str) -> str:
    r"""Return text on one line that cannot steer a terminal: control characters become ``\u001b``.

    In compact JSON these characters occur only in strings, where this is JSON's own escape, so the
    document keeps its meaning.
    """
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
