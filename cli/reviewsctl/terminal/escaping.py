"""Text of others on the operator's terminal."""

import re

# C0, DEL, C1, and the characters that reorder or break lines of a terminal (UAX 9, Zl, Zp).
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Text that cannot steer a terminal: control characters appear as ``\u001b``.

    In compact JSON such characters occur in strings only, where the same spelling is JSON's own
    escape: the document keeps its meaning.
    """
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def printable_lines(text: str) -> str:
    """The same of each line."""
    return "\n".join(map(printable, text.split("\n")))
