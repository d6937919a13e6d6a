"""Tables, whose columns are as wide as their texts, and lists of names with values.

rich measures, wraps and colors each cell by itself, which takes 13 s for 20,000 rows; this takes a
fraction of a second.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import typer

from reviewsctl.terminal.output import colored

GAP: Final = "  "
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")  # ``printable`` leaves no escape in foreign text


def show_fields(rows: Iterable[tuple[str, str]]) -> None:
    """Print names with their values."""
    typer.echo("\n".join(fields(rows)))


def fields(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield names with their values."""
    pairs = list(rows)
    indent = max(len(name) for name, _ in pairs) + len(GAP)
    for name, value in pairs:
        yield colored(f"{name:<{indent}}", "dim") + value


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, headings first; texts of its rows may be ``colored``."""
    texts = [[colored(heading, "dim") for heading in headings], *rows]
    widths = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        cells = (
            text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True)
        )
        yield GAP.join(cells).rstrip()


def _width(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    text = _COLOR.sub("", text)
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # 40 ms, seldom needed

    return cell_len(text)
