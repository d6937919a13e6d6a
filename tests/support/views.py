"""The views of reviewsctl as the text of a terminal."""

from collections.abc import Iterable

from rich.text import Text

from reviewsctl.terminal.columns import fields
from reviewsctl.terminal.hub_views import Field


def uncolored(text: str) -> str:
    """Return a text without its colors."""
    return Text.from_ansi(text).plain


def text(view: Iterable[Field], *, color: bool = False) -> str:
    """Return names with their values, a line each."""
    output = "\n".join(line.rstrip() for line in fields(view))
    return output if color else uncolored(output)
