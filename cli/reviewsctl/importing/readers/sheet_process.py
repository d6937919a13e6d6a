"""Prints the cells of a workbook as JSON lines; runs as a process of its own.

``python-calamine`` allocates memory for every cell between the first and the last one of a sheet, so that a
file of a kilobyte may ask for more memory than there is, which ends the process. This one has limits of
its own, and its parent reports how it ended (``spreadsheet``).

The workbook is standard input. The first line of standard output lists the sheets as ``[name, is_hidden]``. Each
other line is a row that has cells: ``[index of the sheet, number of the row, {column: value}]``.
"""

import datetime
import io
import resource
import sys
from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from reviewsctl.importing.bounds import MAX_COLUMNS, MAX_RECORD, SHEET_CPU_SECONDS, SHEET_MEMORY

_MAX_SHEETS: Final = 50
_EPOCH: Final = datetime.datetime(1899, 12, 30)  # noqa: DTZ001  # a cell has no zone
_PLAIN: Final = (str, float)  # types of most cells, which JSON has too
_DAY: Final = datetime.timedelta(days=1)


def main(room: int) -> None:
    """Print the sheets of the workbook, in at most so many bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    memory = SHEET_MEMORY if hard == resource.RLIM_INFINITY else min(SHEET_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))
    resource.setrlimit(resource.RLIMIT_CPU, (SHEET_CPU_SECONDS, SHEET_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _print(io.BytesIO(sys.stdin.buffer.read()), sys.stdout.buffer, room)
    except (CalamineError, ValueError, OSError) as fault:
        sys.exit(str(fault))
    except MemoryError:
        sys.exit("it takes too much memory")


def _print(file: BinaryIO, output: BinaryIO, room: int) -> None:
    encode = msgspec.json.Encoder().encode
    book = CalamineWorkbook.from_filelike(file)
    if not book.sheets_metadata:
        raise ValueError("no sheet in it")
    sheets = book.sheets_metadata[:_MAX_SHEETS]
    visible = SheetVisibleEnum.Visible
    output.write(encode([(sheet.name, sheet.visible != visible) for sheet in sheets]) + b"\n")
    for index in range(len(sheets)):
        for number, cells in _rows(book.get_sheet_by_index(index)):
            line = encode((index, number, cells))
            room -= len(line)
            if room < 0:
                raise ValueError("its cells repeat too much text")
            output.write(line + b"\n")


def _rows(sheet: CalamineSheet) -> Iterator[tuple[int, dict[int, object]]]:
    """Iterate over the rows that have cells."""
    if sheet.start is None or sheet.end is None:
        return
    column = sheet.start[1]
    if sheet.end[1] >= MAX_COLUMNS:
        raise ValueError(f"more than {MAX_COLUMNS:,} columns")
    for number, values in enumerate(sheet.iter_rows(), start=1):
        cells = {
            place: value if type(value) in _PLAIN else _plain(value)
            for place, value in enumerate(values, start=column)
            if value != ""
        }
        if sum(len(cell) for cell in cells.values() if isinstance(cell, str)) > MAX_RECORD:
            raise ValueError(f"a row or string of more than {MAX_RECORD:,} characters")
        if cells:
            yield number, cells


def _plain(value: object) -> object:
    """Return a cell as JSON has it; a date as the number of its day, which a sheet has too."""
    match value:
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return (value - _EPOCH) / _DAY
        case datetime.date():
            return float((value - _EPOCH.date()).days)
        case datetime.time():
            return (datetime.datetime.combine(_EPOCH, value) - _EPOCH) / _DAY
        case datetime.timedelta():
            return value / _DAY
        case _:
            return value


if __name__ == "__main__":
    main(int(sys.argv[1]))
