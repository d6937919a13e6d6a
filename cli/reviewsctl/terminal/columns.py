"""Long tables, whose columns are as wide as their texts.

rich measures, wraps and colors each cell by itself, which takes 13 s for 20,000 rows; this takes a
fraction of a second. The widths of a page are never smaller than those of the page before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import typer

GAP: Final = "  "
MIN_WIDTH: Final = 8  # columns of a folded text; a narrower terminal wraps by itself


class Colored(NamedTuple):
    """A text in a color."""

    text: str
    color: str
    """The name of an ANSI color, or empty for dim."""


Cell = str | Colored
Row = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Screen:
    """The output of a table."""

    width: int | None = None
    """Columns of the terminal; None where there is none, and rows are not folded."""
    has_colors: bool = False


class Columns:
    """A table.

    Args:
        headings: The heading of each column.
        fold: The index of the column that is folded on a narrow screen.
        screen: The output.
    """

    def __init__(self, headings: Sequence[str], fold: int, screen: Screen) -> None:
        self._headings = headings
        self._fold = fold
        self._screen = screen
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
            cells = [Colored(heading, "") for heading in self._headings]
            yield self._line(cells, widths)
        for row in rows:
            yield from self._folded(row, widths)

    def _fitted(self) -> Sequence[int]:
        """Return the widths, with that of the folded column fitted to the screen."""
        total = sum(self._widths) + len(GAP) * (len(self._widths) - 1)
        if self._screen.width is None or total <= self._screen.width:
            return self._widths
        widths = list(self._widths)
        widths[self._fold] = max(MIN_WIDTH, widths[self._fold] - total + self._screen.width)
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

    def _line(self, cells: Row, widths: Sequence[int]) -> str:
        parts = []
        for cell, width in zip(cells, widths, strict=True):
            text = _text(cell)
            padding = " " * (width - _width(text))
            if self._screen.has_colors and isinstance(cell, Colored):
                style = {"fg": cell.color} if cell.color else {"dim": True}
                text = typer.style(text, **style)
            parts.append(text + padding)
        return GAP.join(parts).rstrip()


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _width(text: str) -> int:
    """Return the width of a text in columns of a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # 40 ms, seldom needed

    return cell_len(text)
