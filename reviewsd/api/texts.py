"""Ids and texts of reviews as both programs compare them, and counts and foreign text as both print them."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from reviewsd.api.names import short_name

ANONYMOUS: Final = "Anonymous"
"""The author of a review that was anonymized, or whose platform names none."""

RUN: Final = 4
"""Number of consecutive words that identify a text (corrections.md C20, C23)."""

_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_TIME: Final = 10  # characters of a ULID that are its time

MANY: Final = 8
"""Number of words from which on two customers do not write the same text (corrections.md C23, C28)."""

_nameless = re.compile(r"(?:|anonymous|google user|a [^\W\d_]+ user)")  # "A Google user" in imports
_word = re.compile(r"\w+")

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


def is_nameless(author: str) -> bool:
    """Return whether an author has no name of a person; reviews of many people may have it."""
    return _nameless.fullmatch(plain_text(author)) is not None


def author_key(author: str) -> str:
    """Return what a name and its short form share: ``jane d`` of "Jane Doe" and "Jane D."; "" of no name."""
    if is_nameless(author):
        return ""
    short = short_name(unicodedata.normalize("NFKC", author))
    return plain_text(short).removesuffix(".")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _word.findall(text.casefold())


def runs_of(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Return all runs of ``RUN`` words."""
    return set(zip(*(words[start:] for start in range(RUN)), strict=False))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, whose plural ends in -s: ``1,204 reviews``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def first_of(texts: Iterable[str], most: int, separator: str = "; ") -> str:
    """Return the first texts for a message; those left out are ``...``."""
    first = [*islice(texts, most + 1)]
    return separator.join([*first[:most], *["..."] * (len(first) > most)])


def printable(text: str) -> str:
    r"""Return text on one line that cannot steer a terminal: control characters become ``\u001b``.

    In compact JSON these characters occur only in strings, where this is JSON's own escape, so the
    document keeps its meaning.
    """
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
