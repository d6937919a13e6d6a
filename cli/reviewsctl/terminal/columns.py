"""Long tables: rows in columns as wide as their texts, as quick as printing them.

rich measures, wraps and colours each cell by itself, which takes 13 s for 20,000 rows; here it is a
fraction of a second. Widths are those of a page, and never less than those of the pages before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import typer

GAP: Final = "  "
LEAST: Final = 8  # columns to which a text is folded; a terminal narrower than that wraps itself


class Painted(NamedTuple):
    """A text in a colour."""

    text: str
    colour: str
    """One of ANSI's; an empty one is dim."""


Cell = str | Painted
Row = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Screen:
    """Where lines go."""

    width: int | None = None
    """Columns of the terminal; None: it is none, and a row is one line however long."""
    paint: bool = False
    """Whether it is to have colours."""


class Columns:
    """A table.

    Args:
        headings: Of its columns.
        fold: The column whose texts are folded where the screen is too narrow.
        screen: Where it is shown.
    """

    def __init__(self, headings: Sequence[str], fold: int, screen: Screen) -> None:
        self._headings = headings
        self._fold = fold
        self._screen = screen
        self._widths = [len(each) for each in headings]

    def lines(self, rows: Sequence[Row], *, heading: bool) -> Iterator[str]:
        """A page of rows, one or several lines each.

        Args:
            rows: All of one length.
            heading: Whether the headings come first.
        """
        for at, column in enumerate(zip(*rows, strict=True)):
            self._widths[at] = max(self._widths[at], *map(_width, map(_text, column)))
        widths = self._fitted()
        if heading:
            cells = [Painted(each, "") for each in self._headings]
            yield self._line(cells, widths)
        for row in rows:
            yield from self._folded(row, widths)

    def _fitted(self) -> Sequence[int]:
        """The widths, with that of the folded column as the screen wants it."""
        total = sum(self._widths) + len(GAP) * (len(self._widths) - 1)
        if self._screen.width is None or total <= self._screen.width:
            return self._widths
        widths = list(self._widths)
        widths[self._fold] = max(LEAST, widths[self._fold] - total + self._screen.width)
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
            if self._screen.paint and isinstance(cell, Painted):
                style = {"fg": cell.colour} if cell.colour else {"dim": True}
                text = typer.style(text, **style)
            parts.append(text + padding)
        return GAP.join(parts).rstrip()


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _width(text: str) -> int:
    """Columns of a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # 40 ms, seldom needed

    return cell_len(text)
