"""Counts in words, and lines that end between words."""

import os
import sys
from typing import Final

_LEAST: Final = 20  # columns that text has at least, beside its indent


def counted(count: int, noun: str) -> str:
    """``1 review``, ``1,204 reviews``: nouns here have a plural in -s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def folded(text: str, *, indent: int = 0, begun: int = 0, err: bool = False) -> str:
    """Text whose lines a terminal would break anywhere, broken between words; in a pipe as it is.

    Args:
        text: One line.
        indent: Blanks before each further line.
        begun: Columns of the first line that are taken already.
        err: It goes to stderr.
    """
    try:
        width = os.get_terminal_size((sys.stderr if err else sys.stdout).fileno()).columns
    except (OSError, ValueError):  # no terminal
        return text
    width = int(os.environ.get("COLUMNS") or width)
    if width <= 0 or begun + len(text) <= width:
        return text
    import textwrap  # see main

    lines = textwrap.wrap(
        "x" * begun + text,
        max(width, indent + _LEAST),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    return "\n".join(lines)[begun:]
