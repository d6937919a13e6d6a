"""The first sheet of a spreadsheet (XLSX), streamed (interfaces.md 2).

Values only: shared strings, inline strings, numbers, booleans. Dates are numbers there, which
``times.moment`` reads. The shared strings may be as large as the sheet, so they go to a file.
"""

import array
import itertools
import posixpath
import re
import tempfile
import zipfile
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree as ET

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.format import Fields
from reviewsctl.importing.readers.parts import Part

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOK = "xl/workbook.xml"
_LINKS = "xl/_rels/workbook.xml.rels"
_STRINGS = "xl/sharedStrings.xml"
_COLUMN = re.compile("[A-Z]+")
_REMEDY = 'Open it and "save as CSV", then import that.'


class _Strings:
    """The shared strings, in a file of their own."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the sheet is read
        self._ends = array.array("Q", [0])
        if _STRINGS not in archive.namelist():
            return
        with archive.open(_STRINGS) as source:
            for item in _each(source, f"{_MAIN}si"):
                text = "".join(_texts(item)).encode("utf-8", "replace")
                self._file.write(text)
                self._ends.append(self._ends[-1] + len(text))
        self._file.flush()

    def __getitem__(self, index: int) -> str:
        start = self._ends[index]
        self._file.seek(start)
        return self._file.read(self._ends[index + 1] - start).decode()

    def close(self) -> None:
        self._file.close()


def rows(part: Part) -> Iterator[tuple[int, Fields]]:
    """The rows below the header of the first sheet, each with its number there.

    Raises:
        ImportRefusedError: It is not readable this way.
    """
    try:
        with part.open() as file, zipfile.ZipFile(file) as archive:
            strings = _Strings(archive)
            try:
                yield from _rows(archive, strings)
            finally:
                strings.close()
    except (zipfile.BadZipFile, ET.ParseError, KeyError, IndexError, ValueError) as fault:
        raise ImportRefusedError(f"{part.name}: cannot be read ({fault})", _REMEDY) from fault


def _rows(archive: zipfile.ZipFile, strings: _Strings) -> Iterator[tuple[int, Fields]]:
    header: dict[int, str] = {}
    with archive.open(_first_sheet(archive)) as sheet:
        for position, row in enumerate(_each(sheet, f"{_MAIN}row"), start=1):
            cells = dict(_cells(row, strings))
            if not header:
                header = {column: str(name).strip() for column, name in cells.items()}
            elif cells:
                fields = {name: cells.get(column, "") for column, name in header.items()}
                yield int(row.get("r") or position), fields


def _first_sheet(archive: zipfile.ZipFile) -> str:
    book = ET.fromstring(archive.read(_BOOK))  # noqa: S314  # expat bounds entity expansion itself
    sheet = book.find(f"{_MAIN}sheets/{_MAIN}sheet")
    if sheet is None:
        raise ValueError("no sheet in it")
    links = ET.fromstring(archive.read(_LINKS))  # noqa: S314  # the same
    target = {link.get("Id"): link.get("Target", "") for link in links}[sheet.get(_RELATION)]
    return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")


def _cells(row: ET.Element, strings: _Strings) -> Iterator[tuple[int, object]]:
    columns = itertools.count()
    for cell in row.iter(f"{_MAIN}c"):
        place = _COLUMN.match(cell.get("r", ""))
        column = next(columns) if place is None else _number(place[0])
        value = _value(cell, strings)
        if value is not None and value != "":
            yield column, value


def _value(cell: ET.Element, strings: _Strings) -> object:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_texts(cell))
    text = cell.findtext(f"{_MAIN}v")
    if text is None or kind == "e":
        return None
    match kind:
        case "s":
            return strings[int(text)]
        case "b":
            return "true" if text == "1" else "false"
        case "n":
            return float(text)
        case _:
            return text


def _texts(element: ET.Element) -> Iterator[str]:
    """The runs of a text; pronunciations (``rPh``) are none of it."""
    for child in element:
        if child.tag == f"{_MAIN}t":
            yield child.text or ""
        elif child.tag in (f"{_MAIN}r", f"{_MAIN}is"):
            yield from _texts(child)


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _each(source: IO[bytes], tag: str) -> Iterator[ET.Element]:
    """The elements of this name, forgotten when the next one is asked for."""
    ancestors: list[ET.Element] = []
    for event, element in ET.iterparse(source, events=("start", "end")):  # noqa: S314  # the same
        if event == "start":
            ancestors.append(element)
            continue
        ancestors.pop()
        if element.tag == tag:
            yield element
            ancestors[-1].clear()  # a parent would keep all of them
