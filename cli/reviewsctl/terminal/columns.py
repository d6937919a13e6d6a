"""Tables, whose columns are as wide as their texts, and lists of names with values.

rich measures, wraps and colors each cell by itself, which takes 13 s for 20,000 rows; this takes a
fraction of a second. The widths of a page are never smaller than those of the page before it.
"""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import typer

from reviewsctl.terminal.output import colored

GAP: Final = "  "
MIN_WIDTH: Final = 8  # columns of a folded text; a narrower terminal wraps by itself


class Colored(NamedTuple):
    """A text in a color."""

    text: str
    color: str
    """The name of a color for ``colored``."""


Cell = str | Colored
Row = Sequence[Cell]


def fields(rows: Iterable[tuple[str, Cell]], width: int | None) -> Iterator[str]:
    """Yield lines of names with their values, which are folded to the width of a terminal."""
    pairs = list(rows)
    indent = max(len(name) for name, _ in pairs) + len(GAP)
    for name, cell in pairs:
        value, parts = _text(cell), [_text(cell)]
        if width is not None and indent + _width(value) > width:
            parts = textwrap.wrap(value, max(MIN_WIDTH, width - indent), break_on_hyphens=False)
        for begin, part in zip([name, *[""] * len(parts)], parts, strict=False):
            yield colored(f"{begin:<{indent}}", "dim") + _styled(cell, part)


def screen_width() -> int | None:
    """Return the columns of the terminal of stdout; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def show_fields(rows: Iterable[tuple[str, Cell]]) -> None:
    """Print names with their values."""
    typer.echo("\n".join(fields(rows, screen_width())))


class Columns:
    """A table.

    Args:
        headings: The heading of each column.
        fold: The index of the column that is folded on a narrow screen.
        width: Columns of the terminal; None where there is none, and rows are not folded.
    """

    def __init__(self, headings: Sequence[str], fold: int, width: int | None) -> None:
        self._headings = headings
        self._fold = fold
        self._width = width
        self._widths = [len(heading) for heading in headings]

    def lines(self, rows: Sequence[Row], *, heading: bool) -> Iterator[str]:
        """Yield the lines of a page of rows.

        Args:
            rows: Rows with a cell for each column.
            heading: Whether the headings come first.
        """
        for at, column in enumerate(zip(*rows, strict=True)):
            self._widths[at] = max(self._widths[at], *map(_width, map(_text, column)))
        widths = self._fitted()
        if heading:
            cells = [Colored(heading, "dim") for heading in self._headings]
            yield self._line(cells, widths)
        for row in rows:
            yield from self._folded(row, widths)

    def _fitted(self) -> Sequence[int]:
        """Return the widths, with that of the folded column fitted to the screen."""
        total = sum(self._widths) + len(GAP) * (len(self._widths) - 1)
        if self._width is None or total <= self._width:
            return self._widths
        widths = list(self._widths)
        widths[self._fold] = max(MIN_WIDTH, widths[self._fold] - total + self._width)
        return widths

    def _folded(self, row: Row, widths: Sequence[int]) -> Iterator[str]:
        text, width = _text(row[self._fold]), widths[self._fold]
        if _width(text) <= width:
            yield self._line(row, widths)
            return
        blank = [""] * len(row)
        for begin in range(0, len(text), width):
            cells = list(row if begin == 0 else blank)
            cells[self._fold] = text[begin : begin + width]
            yield self._line(cells, widths)

    @staticmethod
    def _line(cells: Row, widths: Sequence[int]) -> str:
        parts = [
            _styled(cell, _text(cell)) + " " * (width - _width(_text(cell)))
            for cell, width in zip(cells, widths, strict=True)
        ]
        return GAP.join(parts).rstrip()


def _styled(cell: Cell, text: str) -> str:
    return text if isinstance(cell, str) else colored(text, cell.color)


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _width(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # 40 ms, seldom needed

    return cell_len(text)
