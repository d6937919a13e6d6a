"""Sentences that commands share, and lines folded between words."""

import os
import sys
from collections.abc import Sequence
from typing import Final

_MIN_WIDTH: Final = 20  # columns of text beside its indent


def unchecked_addresses(targets: Sequence[str]) -> str:
    """Return a sentence about targets of notices whose addresses only the daemon can read."""
    is_one = len(targets) == 1
    addresses = (
        f"the address of {targets[0]} is"
        if is_one
        else f"the addresses of {', '.join(targets)} are"
    )
    return f"{addresses} not checked, as only the daemon can read {'it' if is_one else 'them'}"


def folded(text: str, *, indent: int = 0, begun: int = 0, err: bool = False) -> str:
    """Return a line folded between words to the width of the terminal; unchanged without one.

    Args:
        text: One line.
        indent: Spaces before each further line.
        begun: Columns of the first line that are in use.
        err: Whether it goes to stderr.
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
        max(width, indent + _MIN_WIDTH),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    return "\n".join(lines)[begun:]
