"""Text of others on a terminal or in a log; ``reviewsctl.terminal.escaping`` says the same of the operator's tool."""

import re
from typing import Final

# C0, DEL, C1, and the characters that reorder or break lines of a terminal (UAX 9, Zl, Zp).
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Text on one line that cannot steer a terminal: control characters appear as ``\u001b``.

    In compact JSON such characters occur in strings only, where the same spelling is JSON's own
    escape: the document keeps its meaning.
    """
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_columns(line: str) -> str:
    """A source line with a caret below it: tabs stay, and each character has a column."""
    return "".join(c if c.isprintable() or c == "\t" else "?" for c in line)
