"""The sheets of a workbook (XLSX, XLS, ODS), which a process of its own reads (interfaces.md 2)."""

import io
import itertools
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from reviewsctl.importing.bounds import SHEET_MEMORY
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.format import Fields
from reviewsctl.importing.readers.csv_file import distinct
from reviewsctl.importing.readers.parts import DAMAGED, Part, checked
from reviewsd.api.texts import printable

_COMMAND: Final = (sys.executable, "-P", "-m", "reviewsctl.importing.readers.sheet_process")
_SECONDS: Final = 25.0  # the process has 20 of CPU
_HEADER_ROWS: Final = 40  # rows in which the header of a sheet is looked for
_SHOWN: Final = 200  # characters of a fault, which may quote a cell
_UNKNOWN: Final = "it is damaged, has a password, or is no workbook"
_REMEDY: Final = 'Open it and "save as CSV", then import that.'

WORKBOOKS: Final = (b"PK", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""The first bytes of workbooks: archives (XLSX, ODS), and XLS."""

Cells = Mapping[int, str | float | None]
"""A row: its cells that are not empty, by column; None for a number that is not finite."""

_decode_names: Final = msgspec.json.Decoder(list[tuple[str, bool]]).decode
_decode_row: Final = msgspec.json.Decoder(tuple[int, int, dict[int, str | float | None]]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A sheet that may hold a table, and where in it."""

    index: int
    name: str = ""
    hidden: bool = False
    header: int = 0
    """The number of the row with the names of the columns; 0 for the first that has cells."""
    sample: Sequence[Fields] = ()
    """The first rows below it."""


def converted(part: Part) -> Part:
    """Return a part that has the cells of a workbook as ``sheet_process`` prints them.

    Raises:
        ImportRefusedError: It is not readable this way.
    """
    with part.open() as file:
        book = file.read()
    if book.startswith(b"PK"):
        try:  # an archive, which may unpack to too much
            checked(io.BytesIO(book), part.name, part.room)
        except DAMAGED as fault:
            raise _refusal(part.name, str(fault)) from fault
    # each shared string may be in every cell: twice what the archive may unpack to is enough
    cells = _cells(part.name, book, 2 * part.room)
    return replace(part, open=lambda: io.BytesIO(cells), size=len(cells))


def _cells(name: str, book: bytes, room: int) -> bytes:
    command = [*_COMMAND, str(room)]
    try:
        process = subprocess.run(  # noqa: S603  # our own program
            command, input=book, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as expired:
        raise _refusal(name, f"it takes more than {_SECONDS:.0f} seconds") from expired
    if process.returncode == -signal.SIGABRT:
        megabytes = SHEET_MEMORY // 1024**2
        raise _refusal(
            name,
            f"its cells take more than {megabytes} MB of memory; one may stand far from the others",
        )
    if process.returncode < 0:
        raise _refusal(name, "it takes too much time")
    if process.returncode:
        last = process.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise _refusal(name, _UNKNOWN if last == "Cannot detect file format" else last)
    return process.stdout


def _refusal(name: str, reason: str) -> ImportRefusedError:
    return ImportRefusedError(f"{name}: cannot be read ({printable(reason[:_SHOWN])})", _REMEDY)


def sheets(part: Part) -> list[Sheet]:
    """Return the sheets that have rows of a converted workbook, each with its likeliest header.

    Titles may stand above it. It is the row with the most texts, the first of these.
    """
    tables = []
    with part.open() as file:
        names = _decode_names(file.readline())
        for index, lines in itertools.groupby(file, _sheet_of):
            first = [_decode_row(line) for line in itertools.islice(lines, _HEADER_ROWS)]
            texts = [len({cell for cell in row[2].values() if _is_name(cell)}) for row in first]
            if len(first) < 2 or max(texts) < 2:  # noqa: PLR2004  # a header and a row; two columns
                continue
            header = texts.index(max(texts))
            columns = _columns(first[header][2])
            sample = [_fields(columns, cells) for _, _, cells in first[header + 1 :]]
            name, hidden = names[index]
            tables.append(
                Sheet(index=index, name=name, hidden=hidden, header=first[header][1], sample=sample)
            )
    return tables


def first_rows(part: Part) -> list[str]:
    """Return the first two rows with cells of a converted workbook, each as a line.

    There may be fewer.
    """
    with part.open() as file:
        file.readline()
        first = [_decode_row(line)[2].values() for line in itertools.islice(file, 2)]
    return [", ".join(map(str, cells)) for cells in first]


def rows(part: Part, sheets: Sequence[Sheet] = ()) -> Iterator[tuple[object, Fields]]:
    """Iterate over the rows below the header of some sheets, each with its number, and the sheet's name.

    Args:
        part: A workbook that is ``converted``.
        sheets: Which; the first one, with its first row, if none. One alone is not named.
    """
    tables = {sheet.index: sheet for sheet in sheets or [Sheet(index=0)]}
    with part.open() as file:
        file.readline()
        for index, lines in itertools.groupby(file, _sheet_of):
            if (sheet := tables.get(index)) is None:
                continue
            columns: Mapping[int, str] = {}
            suffix = f" of sheet {printable(sheet.name[:_SHOWN])}" if len(sheets) > 1 else ""
            for _, number, cells in map(_decode_row, lines):
                if number < sheet.header:
                    continue
                if columns:
                    yield f"{number}{suffix}" if suffix else number, _fields(columns, cells)
                else:
                    columns = _columns(cells)


def _sheet_of(line: bytes) -> int:
    """Return the index of the sheet that a printed row is of."""
    return int(line[1 : line.index(b",")])


def _columns(cells: Cells) -> dict[int, str]:
    """Return the names in a header, by column."""
    names = distinct([str(name).strip() for name in cells.values()])
    return dict(zip(cells, names, strict=True))


def _fields(columns: Mapping[int, str], cells: Cells) -> Fields:
    """Return a row by the names of all columns."""
    fields: dict[str, object] = dict.fromkeys(columns.values(), "")
    fields.update((columns[place], cells[place]) for place in cells if place in columns)
    return fields


def _is_name(cell: object) -> bool:
    return isinstance(cell, str) and not cell.replace(".", "").isdigit()
