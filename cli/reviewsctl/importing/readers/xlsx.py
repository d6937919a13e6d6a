"""The sheets of a spreadsheet (XLSX), streamed (interfaces.md 2).

Values only: shared strings, inline strings, numbers, booleans. Dates are numbers there, which
``times.moment`` reads. The shared strings may be as large as the sheet, so they go to a file. No tree
is made of the XML: one row or string is in memory, and has an end.
"""

import array
import contextlib
import itertools
import posixpath
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final, NamedTuple
from xml.parsers import expat

from reviewsctl.importing.bounds import MAX_COLUMNS, MAX_DEPTH, MAX_RECORD
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.format import Fields
from reviewsctl.importing.readers.archive import DAMAGED, opened
from reviewsctl.importing.readers.csv_file import distinct
from reviewsctl.importing.readers.parts import Part
from reviewsctl.terminal.escaping import printable

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
_RELATION: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships id"
_LINK: Final = "http://schemas.openxmlformats.org/package/2006/relationships Relationship"
_BOOK: Final = "xl/workbook.xml"
_LINKS: Final = "xl/_rels/workbook.xml.rels"
_STRINGS: Final = "xl/sharedStrings.xml"
_CELL: Final = re.compile("([A-Z]{1,3})[0-9]*")
_MAX_SHEETS: Final = 50  # that are looked at
_LOOKED_AT: Final = 40  # rows in which the header of a sheet is
_CHUNK: Final = 256 * 1024  # bytes
_SHOWN: Final = 200  # characters of a fault, which may quote a cell
_REMEDY: Final = 'Open it and "save as CSV", then import that.'

Attributes = Mapping[str, str]


class _Reader:
    """Parses one XML document; subclasses are called when its elements begin and end.

    The text of ``t`` and ``v`` is collected; pronunciations (``rPh``) are none of it.
    """

    def __init__(self) -> None:
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._texts: list[str] = []
        self._collects = False
        self._depth = 0
        self._phonetic = 0  # pronunciations that are open
        self._room = MAX_RECORD  # characters and elements until the end of the row or string
        self._pending = 0  # bytes since the parser called back

    def feed(self, source: IO[bytes]) -> Iterator[None]:
        """Parse it; yields after each chunk.

        Raises:
            expat.ExpatError: It is no XML.
            ValueError: It has what a spreadsheet has not.
        """
        while chunk := source.read(_CHUNK):
            self._pending += len(chunk)
            self._parser.Parse(chunk)
            if self._pending > MAX_RECORD:
                raise ValueError(f"a tag of more than {MAX_RECORD:,} bytes")
            yield
        self._parser.Parse(b"", True)  # noqa: FBT003  # expat takes no keywords
        yield

    def read(self, archive: zipfile.ZipFile, member: str) -> None:
        """Parse a member; raises what ``feed`` does, and KeyError where there is none."""
        with archive.open(member) as source:
            for _ in self.feed(source):
                pass

    def begin(self, name: str, attributes: Attributes) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self) -> str:
        """What was collected since the last time."""
        text = "".join(self._texts)
        self._texts.clear()
        return text

    def _begin(self, name: str, attributes: Attributes) -> None:
        self._spend(1)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        name = name.removeprefix(_MAIN)
        self._phonetic += name == "rPh"
        self._collects = name in {"t", "v"} and not self._phonetic
        self.begin(name, attributes)

    def _end(self, name: str) -> None:
        self._pending = 0
        self._depth -= 1
        name = name.removeprefix(_MAIN)
        self._phonetic -= name == "rPh"
        self._collects = False
        self.end(name)

    def _characters(self, text: str) -> None:
        self._spend(len(text))
        if self._collects:
            self._texts.append(text)

    def _spend(self, size: int) -> None:
        self._pending = 0
        self._room -= size
        if self._room < 0:
            raise ValueError(f"a row or string of more than {MAX_RECORD:,} characters")

    def _forget(self) -> None:
        """Begin anew after a row or string."""
        self._texts.clear()
        self._room = MAX_RECORD

    def _refuse(self, *_: object) -> None:
        raise ValueError("it has a document type, which may define entities")


class _Strings(_Reader):
    """The shared strings, in a file of their own.

    Args:
        archive: The spreadsheet.
        file: Holds them.
        room: Bytes of strings that its cells may have together: each may be in every one of them.
    """

    def __init__(self, archive: zipfile.ZipFile, file: IO[bytes], room: int) -> None:
        super().__init__()
        self._file = file
        self._left = room
        self._ends = array.array("Q", [0])
        if _STRINGS in archive.namelist():
            self.read(archive, _STRINGS)

    def begin(self, name: str, attributes: Attributes) -> None:  # noqa: ARG002
        if name == "si":
            self._texts.clear()

    def end(self, name: str) -> None:
        if name == "si":
            text = self.text().encode("utf-8", "replace")
            self._file.write(text)
            self._ends.append(self._ends[-1] + len(text))
            self._forget()

    def __getitem__(self, index: int) -> str:
        if index < 0:
            raise IndexError(index)
        start, end = self._ends[index], self._ends[index + 1]
        self._left -= end - start
        if self._left < 0:
            raise ValueError("its cells repeat too much text")
        self._file.seek(start)
        return self._file.read(end - start).decode()


class _Sheet(_Reader):
    """The rows of a sheet, each with its number there and its cells by column."""

    def __init__(self, strings: _Strings) -> None:
        super().__init__()
        self.rows: list[tuple[int, dict[int, object]]] = []
        self._strings = strings
        self._count = 0
        self._number = 0
        self._cells: dict[int, object] | None = None  # of the row that is open
        self._column = 0
        self._kind = "n"
        self._value: str | None = None

    def begin(self, name: str, attributes: Attributes) -> None:
        if name == "row":
            self._count += 1
            self._number = int(attributes.get("r") or self._count)
            self._cells, self._column = {}, -1
        elif name == "c":
            place = _CELL.fullmatch(attributes.get("r", ""))
            self._column = self._column + 1 if place is None else _column(place[1])
            if self._column >= MAX_COLUMNS:
                raise ValueError(f"more than {MAX_COLUMNS:,} columns")
            self._kind = attributes.get("t", "n")
            self._value = None
            self._texts.clear()
        elif name == "v":
            self._texts.clear()

    def end(self, name: str) -> None:
        if self._cells is None:
            self._forget()  # nothing of what is beside the rows is kept
        elif name == "v" or (name == "is" and self._kind == "inlineStr"):
            self._value = self.text()
        elif name == "c":
            value = self._read()
            if value is not None and value != "":
                self._cells[self._column] = value
        elif name == "row":
            self.rows.append((self._number, self._cells))
            self._cells = None
            self._forget()

    def _read(self) -> object:
        text = self._value
        if text is None:
            return None
        match self._kind:
            case "e":
                return None
            case "s":
                shared = self._strings[int(text)]
                self._spend(len(shared))
                return shared
            case "b":
                return "true" if text == "1" else "false"
            case "n":
                return float(text)
            case _:
                return text


class _Named(_Reader):
    """The attributes of the elements of a name, in a document of some kilobytes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.found: list[Attributes] = []

    def begin(self, name: str, attributes: Attributes) -> None:
        if name == self._name:
            self.found.append(attributes)


class Sheet(NamedTuple):
    """A sheet that may hold a table, and where in it."""

    name: str
    member: str
    """Of the archive."""
    header: int
    """The number of the row with the names of the columns; 0 for the first that has cells."""
    sample: Sequence[Fields]
    """The first rows below it."""


def sheets(part: Part) -> list[Sheet]:
    """The sheets that have rows, with the likeliest header of each: titles may stand above it.

    It is the row with the most texts, the first of these.

    Raises:
        ImportRefusedError: It is not readable this way.
    """
    found = []
    with _opened(part) as (archive, strings):
        for name, member in _members(archive)[:_MAX_SHEETS]:
            first = list(itertools.islice(_cells(archive, member, strings), _LOOKED_AT))
            texts = [len({cell for cell in cells.values() if _is_name(cell)}) for _, cells in first]
            if len(first) < 2 or max(texts) < 2:  # noqa: PLR2004  # a header and a row; two columns
                continue
            at = texts.index(max(texts))
            names = _names(first[at][1])
            below = [_named(names, cells) for _, cells in first[at + 1 :]]
            found.append(Sheet(name, member, first[at][0], below))
    return found


def rows(part: Part, wanted: Sequence[Sheet] = ()) -> Iterator[tuple[object, Fields]]:
    """The rows below the header of some sheets, each with its number there, and the sheet's name.

    Args:
        part: The spreadsheet.
        wanted: Which; the first one, with its first row, if none. One alone is not named.

    Raises:
        ImportRefusedError: It is not readable this way.
    """
    with _opened(part) as (archive, strings):
        for sheet in wanted or [Sheet(*_members(archive)[0], 0, ())]:
            names: Mapping[int, str] = {}
            of = f" of sheet {printable(sheet.name[:_SHOWN])}" if len(wanted) > 1 else ""
            for number, cells in _cells(archive, sheet.member, strings):
                if number < sheet.header or not cells:
                    continue
                if names:
                    yield f"{number}{of}" if of else number, _named(names, cells)
                else:
                    names = _names(cells)


@contextlib.contextmanager
def _opened(part: Part) -> Iterator[tuple[zipfile.ZipFile, _Strings]]:
    try:
        with (
            part.open() as file,
            opened(file, part.name, part.room) as archive,
            tempfile.TemporaryFile() as texts,
        ):
            yield archive, _Strings(archive, texts, part.room)
    except (*DAMAGED, expat.ExpatError, LookupError, ValueError) as fault:
        why = printable(str(fault)[:_SHOWN])
        raise ImportRefusedError(f"{part.name}: cannot be read ({why})", _REMEDY) from fault


def _cells(
    archive: zipfile.ZipFile, member: str, strings: _Strings
) -> Iterator[tuple[int, Mapping[int, object]]]:
    """The rows of a sheet that have cells."""
    sheet = _Sheet(strings)
    with archive.open(member) as source:
        for _ in sheet.feed(source):
            for number, cells in sheet.rows:
                if cells:
                    yield number, cells
            sheet.rows.clear()


def _names(cells: Mapping[int, object]) -> dict[int, str]:
    names = distinct([str(name).strip() for name in cells.values()])
    return dict(zip(cells, names, strict=True))


def _named(names: Mapping[int, str], cells: Mapping[int, object]) -> Fields:
    """A row by the names of its columns, all of them."""
    found: dict[str, object] = dict.fromkeys(names.values(), "")
    found.update((names[place], cells[place]) for place in cells if place in names)
    return found


def _is_name(cell: object) -> bool:
    return isinstance(cell, str) and not cell.replace(".", "").isdigit()


def _members(archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """The sheets in their order: what each is called, and its member."""
    found = _all(archive, _BOOK, "sheet")
    if not found:
        raise ValueError("no sheet in it")
    if any(each.get("date1904") in {"1", "true"} for each in _all(archive, _BOOK, "workbookPr")):
        raise ValueError("it counts days from 1904, so that dates would be four years off")
    links = _all(archive, _LINKS, _LINK)
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    return [
        (
            sheet.get("name", ""),
            posixpath.normpath(posixpath.join("/xl", targets[sheet.get(_RELATION)])).lstrip("/"),
        )
        for sheet in found
    ]


def _all(archive: zipfile.ZipFile, member: str, name: str) -> list[Attributes]:
    reader = _Named(name)
    reader.read(archive, member)
    return reader.found


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
