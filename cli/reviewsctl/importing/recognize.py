"""What an export is, by its content: each file's head is shown to the formats in turn."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reviewsctl.importing.bounds import MAX_SAMPLE
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.format import Fields, Format, Head, Row
from reviewsctl.importing.platforms import (
    any_csv,
    apify,
    google,
    maps,
    outscraper,
    own,
    places,
    podium,
    trustpilot,
    yelp,
)
from reviewsctl.importing.readers import csv_file, xlsx
from reviewsctl.importing.readers.json_file import EACH, LINES, Document, Layout
from reviewsctl.importing.readers.parts import Part
from reviewsctl.importing.values import members, shown

FORMATS: Sequence[Format] = (
    google.API,
    google.TAKEOUT,
    maps.FORMAT,
    places.FORMAT,
    outscraper.FORMAT,
    apify.FORMAT,
    trustpilot.EXPORT,
    trustpilot.API,
    podium.FORMAT,
    yelp.FORMAT,
    own.FORMAT,
    any_csv.FORMAT,
)
"""In the order they are asked: any table is the last resort."""

AUTO = "auto"

_SAMPLE = 2000  # rows of a table that guesses look at
_CELL = 100  # bytes that a cell takes beside its text
_SHOWN = 12  # names in a message
_BLANK_OR_BOM = b" \t\r\n\xef\xbb\xbf"
_PEEKED = 4096  # bytes

Rows = Callable[[Part], Iterator[tuple[str, Row]]]
"""The rows of a file, each with its position; the file is given again, so it may be watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file, opened far enough to know how to read it."""

    part: Part
    head: Head
    rows: Rows
    writing: str
    """How it is written, for the operator: ``utf-8, commas``; empty when there is no doubt."""


def source_of(part: Part) -> Source:
    """Opens a file.

    Raises:
        ImportRefusedError: It is nothing that has rows.
    """
    with part.open() as file:
        begins = file.read(_PEEKED)
    if begins.startswith(b"PK"):
        return _table(part, xlsx.rows, "spreadsheet, first sheet")
    if begins.lstrip(_BLANK_OR_BOM)[:1] in (b"{", b"["):
        return _json(part)
    dialect = csv_file.dialect_of(part)
    return _table(part, lambda each: csv_file.rows(each, dialect), str(dialect))


def chosen(parts: Sequence[Part], wanted: str) -> tuple[Format, list[Source], list[str]]:
    """The format of an export, what to read of it, and the files of it that are something else.

    Args:
        parts: Its files.
        wanted: What ``--from`` says.

    Raises:
        ImportRefusedError: It is none that can be imported.
        SayMoreError: It could be several.
    """
    formats = [each for each in FORMATS if wanted in (AUTO, each.name)]
    if not formats:
        names = ", ".join(each.name for each in FORMATS)
        raise SayMoreError(f'--from: there is no format "{wanted}"', f"There are: auto, {names}")
    found: list[tuple[Format, Source]] = []
    ignored: list[str] = []
    seen: Source | None = None
    for part in parts:
        try:
            source = source_of(part)
        except ImportRefusedError:
            if len(parts) == 1:
                raise
            ignored.append(part.name)
            continue
        seen = seen or source
        recognised = next((each for each in formats if each.recognises(source.head)), None)
        if recognised is None:
            ignored.append(part.name)
        else:
            found.append((recognised, source))
    if not found:
        raise _unknown(seen, wanted)
    kinds = {each.name: each for each, _ in found}
    if len(kinds) > 1:
        titles = ", ".join(f"{each.name} ({each.title})" for each in kinds.values())
        raise SayMoreError(
            f"it holds several kinds of exports: {titles}",
            "Import one at a time: name the file, or say --from NAME",
        )
    return found[0][0], [source for _, source in found], ignored


def _table(
    part: Part, numbered: Callable[[Part], Iterator[tuple[int, Fields]]], writing: str
) -> Source:
    sample: list[Fields] = []
    room = MAX_SAMPLE
    for _, fields in itertools.islice(numbered(part), _SAMPLE):
        sample.append(fields)
        room -= sum(_CELL + len(str(value)) for value in fields.values())
        if room < 0:
            break

    def rows(watched: Part) -> Iterator[tuple[str, Row]]:
        for number, fields in numbered(watched):
            yield f"row {number}", Row(fields, "")

    head = Head(shape="table", sample=sample, around={}, place=part.place, title=part.title)
    return Source(part=part, head=head, rows=rows, writing=writing)


def _json(part: Part) -> Source:
    with part.open() as file:
        layout = Document(file, part.name).layout()
    with part.open() as file:
        document = Document(file, part.name)
        first = [members(piece.value) for piece in itertools.islice(document.rows(layout), 1)]
    # without a list in it, what was read is what would be around the rows
    sample, around = (first, document.around) if layout else ([], dict(first[0]))
    head = Head(shape="json", sample=sample, around=around, place=part.place, title=part.title)
    label = next((step for step in reversed(layout) if step not in (EACH, LINES)), "$")

    def rows(watched: Part) -> Iterator[tuple[str, Row]]:
        if not layout:
            return
        with watched.open() as file:
            document = Document(file, part.name)
            document.around = head.around
            for index, piece in enumerate(document.rows(layout)):
                where = _where(layout, label, index)
                # what is no object has no members: every format refuses it
                yield where, Row(members(piece.value), piece.text)
            document.end()

    return Source(part=part, head=head, rows=rows, writing="")


def _where(layout: Layout, label: str, index: int) -> str:
    return f"line {index + 1}" if layout == (LINES,) else f"{label}[{index}]"


def _unknown(seen: Source | None, wanted: str) -> ImportRefusedError:
    known = ", ".join(each.name for each in FORMATS if each is not maps.FORMAT)
    table = (
        "A table (CSV) with a column for the rating and one for the date can always be imported: "
        "reviewsctl import FILE.csv --map rating=COLUMN --map date=COLUMN --unverified"
    )
    if seen is None:
        return ImportRefusedError("nothing in it can be read", f"Known: {known}. {table}")
    first = seen.head.sample[0] if seen.head.sample else seen.head.around
    names = ", ".join(shown(name) for name in itertools.islice(first, _SHOWN))
    what = "a table with the columns" if seen.head.shape == "table" else "JSON with the members"
    if not seen.head.sample and "reviews" not in seen.head.around and not first:
        return ImportRefusedError(f"{seen.part.name} holds no reviews")
    if wanted == AUTO:
        return ImportRefusedError(
            f"{seen.part.name}: not recognised; it is {what} {names}", f"Known: {known}. {table}"
        )
    return ImportRefusedError(
        f"{seen.part.name}: this is not {wanted}; it is {what} {names}",
        "Leave --from out to have it recognised.",
    )
