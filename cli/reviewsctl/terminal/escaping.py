"""Escapes foreign text for the operator's terminal."""

import re

# C0, DEL, C1, and the characters that reorder or break lines of a terminal (UAX 9, Zl, Zp).
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return a text whose control characters are escaped as ``\u001b``.

    In compact JSON such characters occur only in strings, where this is JSON's own escape, so the
    document keeps its meaning.
    """
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printable_lines(text: str) -> str:
    """Return a text with each of its lines printable."""
    return "\n".join(map(printable, text.split("\n")))
