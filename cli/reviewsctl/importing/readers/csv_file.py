"""CSV as spreadsheets and platforms write it: encoding and delimiter are found, rows are streamed."""

import codecs
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reviewsctl.importing.bounds import MAX_COLUMNS, MAX_RECORD
from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError
from reviewsctl.importing.format import Fields
from reviewsctl.importing.readers.parts import Part
from reviewsctl.importing.values import listed, shown

EMPTY = (
    "Perhaps the export was empty: export it again, for the time and the places of your reviews, or name "
    "the file that has them."
)
"""The remedy of an export without reviews."""

_DELIMITERS = ",;\t"
_BREAK = re.compile("\r\n|\r|\n")
_CHUNK = 1024 * 1024
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MARK = "\N{REPLACEMENT CHARACTER}"
_MAC = "mac_roman"
_USUAL = "àáâãäåæçèéêëìíîïñòóôõöøùúûüßœ\u2018\u2019\u201c\u201d\u201e\u2013…€"
_ODD = re.compile("[a-z][À-ÞŸŽŠ]")  # a capital within a word
_HEADER = 64 * 1024  # characters in which the first line of a file ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The encoding and the delimiter of a file."""

    encoding: str
    delimiter: str
    skipped: int
    """Lines before the header: Excel's ``sep=;``."""

    def __str__(self) -> str:
        """For the operator."""
        names = {",": "commas", ";": "semicolons", "\t": "tabs"}
        return f"{self.encoding.removesuffix('-sig')}, {names[self.delimiter]}"


def dialect_of(part: Part) -> Dialect:
    """Return the dialect of a file.

    UTF-8 if all or most of it is, else what Windows, Macs or DOS write in the west.

    Raises:
        ImportRefusedError: It is no table of two columns or more.
    """
    encoding = _encoding(part)
    with _text(part, encoding) as text:
        lines = text.read(_HEADER)
    is_cut = len(lines) == _HEADER
    first, *rest = _BREAK.split(lines, maxsplit=1)
    announced = first.strip().lower().removeprefix("sep=")
    if first.lower().startswith("sep=") and announced in _DELIMITERS:
        check_rows(part.name, *_BREAK.split("".join(rest), maxsplit=1), is_cut=is_cut)
        return Dialect(encoding=encoding, delimiter=announced or "\t", skipped=1)
    if not lines.strip():
        raise ImportRefusedError(f"{part.name} is empty", EMPTY)
    widths = {delimiter: _width(lines, delimiter) for delimiter in _DELIMITERS}
    best = max(widths, key=lambda delimiter: widths[delimiter])
    if "\0" in first or first.lstrip().startswith("<") or widths[best] <= 1:  # of XML and HTML
        raise ImportRefusedError(
            f"{part.name}: neither JSON, nor a spreadsheet (XLSX, XLS, ODS), nor a table with a header line",
            "Export the reviews as CSV or JSON; or open it, save it as CSV or XLSX, and import that.",
        )
    check_rows(part.name, first, *rest, is_cut=is_cut)
    return Dialect(encoding=encoding, delimiter=best, skipped=0)


def check_rows(name: str, header: str, below: str = "", *, is_cut: bool = False) -> None:
    """Check that a table has rows.

    Args:
        name: The name of the file.
        header: Its first line.
        below: What stands below it.
        is_cut: Whether more stands below it.

    Raises:
        NoReviewsError: There are only blanks and delimiters below the first line.
        ImportRefusedError: There is no first line.
    """
    if not header.strip():
        raise ImportRefusedError(f"{name} is empty", EMPTY)
    if not is_cut and not below.strip(f'{_DELIMITERS}" \r\n'):
        detail = f"{name}: a table without rows; its first line is {shown(header.strip())}"
        raise NoReviewsError(detail, EMPTY)


TOO_MANY = "\0"
"""In a row, the cells that no column is for, as a message shows them: a text with a comma that is not in quotes."""


def rows(part: Part, dialect: Dialect) -> Iterator[tuple[int, Fields]]:
    """Iterate over the rows below the header, each with its number in a spreadsheet (the header is row 1).

    Cells that no column is for are under ``TOO_MANY``.

    Raises:
        ImportRefusedError: It cannot be read to its end.
    """
    csv.field_size_limit(MAX_RECORD)  # Python's own limit is 128 KiB
    with _text(part, dialect.encoding) as text:
        lines = _Lines(text)
        for _ in range(dialect.skipped):
            text.readline(MAX_RECORD)
        reader = csv.reader(lines, delimiter=dialect.delimiter, strict=False)
        header: list[str] | None = None
        for number in itertools.count(1):
            lines.begin_row()
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise ImportRefusedError(f"{part.name}: row {number}: {error}") from error
            if not lines.is_well_quoted(dialect.delimiter):
                raise ImportRefusedError(
                    f"{part.name}: row {number}: a quote is opened and not closed, so that it may have taken "
                    "the rows below",
                    "Close it, or double a quote that is part of a text.",
                )
            if cells is None:
                return
            if header is None:
                header = distinct([name.strip() for name in cells])
                if len(header) > MAX_COLUMNS:
                    raise ImportRefusedError(f"{part.name}: more than {MAX_COLUMNS:,} columns")
            elif any(cells):
                fields: dict[str, object] = dict(zip(header, cells, strict=False))
                if extra := [shown(cell) for cell in cells[len(header) :] if cell]:
                    fields[TOO_MANY] = listed(extra)
                yield number, fields


def distinct(names: Sequence[str]) -> list[str]:
    """Return names of columns of which no two are the same: ``status``, ``status (2)``."""
    counts: Counter[str] = Counter()
    columns = []
    for name in names:
        counts[name] += 1
        columns.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return columns


class _Lines:
    """The lines of a table, of which a row may have many."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._remaining = MAX_RECORD
        self._row: list[str] = []

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(self._remaining + 1):
            if len(line) > self._remaining:
                raise csv.Error(f"more than {MAX_RECORD:,} characters")
            self._remaining -= len(line)
            self._row.append(line)
            yield line

    def begin_row(self) -> None:
        """Restore the limit for the next row."""
        self._remaining = MAX_RECORD
        self._row.clear()

    def is_well_quoted(self, delimiter: str) -> bool:
        """Return whether a row of several lines has all its quotes closed, each before a delimiter."""
        if len(self._row) <= 1:
            return True
        reader = csv.reader(self._row, delimiter=delimiter, strict=True)
        try:
            next(reader, None)
        except csv.Error:
            return False
        return True


def _encoding(part: Part) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with part.open() as file:
        chunk = file.read(_CHUNK)
        for mark, encoding in _MARKS.items():
            if chunk.startswith(mark):
                return encoding
        try:
            while chunk:
                decoder.decode(chunk)
                chunk = file.read(_CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return _likelier(part)
    return "utf-8"


def _likelier(part: Part) -> str:
    """Return how a file is encoded that is not all UTF-8: that, with bytes that are damaged, or older.

    Of the older ones hardly any two bytes are a character of UTF-8. In the right code page most characters are
    letters in lower case, and no capitals within words: read as Windows' 1252, "Müller" of a Mac is "MŸller".
    """
    with part.open() as file:
        content = file.read(16 * _CHUNK)
    text = content.decode("utf-8", "replace")
    damaged = text.count(_MARK)
    if len(text) - len(text.encode("ascii", "ignore")) > 2 * damaged:
        return "utf-8"
    scores = {}
    for page in ("cp1252", _MAC, "cp850"):
        text = content.decode(page, "replace")
        scores[page] = sum(map(text.count, _USUAL)) - len(_ODD.findall(text))
    scores[_MAC] += b"\r" in content and b"\n" not in content
    return max(scores, key=lambda page: scores[page])


def _text(part: Part, encoding: str) -> io.TextIOWrapper:
    # code pages leave bytes undefined: a mark in a text is better than no import
    return io.TextIOWrapper(part.open(), encoding=encoding, errors="replace", newline="")


def _width(lines: str, delimiter: str) -> int:
    """Return the number of columns of the header; 0 if it is none."""
    reader = csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter)
    try:
        return len(next(reader, ()))
    except csv.Error:
        return 0
