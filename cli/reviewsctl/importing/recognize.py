"""Recognizes the format of an export by the head of each file, and opens the files far enough to read rows."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from reviewsctl.importing.bounds import MAX_SAMPLE
from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError, SayMoreError
from reviewsctl.importing.format import Fields, Format, Head, Row, Shape
from reviewsctl.importing.platforms.columns import has_columns
from reviewsctl.importing.platforms.tables import FORMATS
from reviewsctl.importing.publicity.signs import is_withheld_name
from reviewsctl.importing.readers import csv_file, spreadsheet
from reviewsctl.importing.readers.json_file import decoded
from reviewsctl.importing.readers.json_lists import (
    EACH,
    USUAL,
    Layout,
    around,
    layouts_of,
    lists_at,
    name_of,
)
from reviewsctl.importing.readers.parts import Part
from reviewsctl.importing.values import listed, members, shown
from reviewsd.api.spelling import nearest

AUTO = "auto"

_MAX_SAMPLE_ROWS = 2000  # on which guesses are based
_CELL_BYTES = 100  # of a cell beside its text
_MAX_NAMES = 12  # in a message
_PEEK_BYTES = 4096
_BLANK_OR_BOM = b" \t\r\n\xef\xbb\xbf"  # may come before the first character of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file of an export, with the way to read its rows."""

    part: Part
    head: Head
    rows: Callable[[], Iterator[tuple[str, Row]]]
    """Iterates over its rows, each with its position."""
    writing: str
    """The encoding and the like, for the operator: ``utf-8, commas``; empty for JSON."""
    unread: Sequence[str] = ()
    """Parts of the file that are not read, each with the reason."""
    empty_list: str | None = None
    """The name of the list in JSON if nothing is in it; empty for one without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One of the files or folders that were named."""

    format: Format
    sources: list[Source]
    """Its files that have rows."""
    ignored: list[str]
    """Files that are something else."""
    name: str = ""
    """Its name in messages."""


def source_of(part: Part) -> Source:
    """Open a file.

    Raises:
        ImportRefusedError: It has no rows.
    """
    with part.open() as file:
        first_bytes = file.read(_PEEK_BYTES)
    if first_bytes.startswith(spreadsheet.WORKBOOKS):
        return _spreadsheet(part)
    if first_bytes.lstrip(_BLANK_OR_BOM)[:1] in (b"{", b"["):
        return _json(part)
    dialect = csv_file.dialect_of(part)
    return _table(part, lambda: csv_file.rows(part, dialect), str(dialect))


def chosen(parts: Sequence[Part], format_name: str, *, mapped: bool = False) -> Export:
    """Return the format of an export, its files that are read, and those that are something else.

    Args:
        parts: The files.
        format_name: The value of ``--from``.
        mapped: Whether the operator names columns, so that what is no known platform's is a table.

    Raises:
        ImportRefusedError: It cannot be imported.
        NoReviewsError: Its list of reviews is empty.
        SayMoreError: It may be of several formats.
    """
    format_name = format_name.casefold()
    formats = _candidates(format_name)
    is_auto = format_name == AUTO
    matches: list[tuple[Format, Source]] = []
    ignored: list[str] = []
    first_source: Source | None = None
    for part in parts:
        source = _opened(part, is_alone=len(parts) == 1)
        if source is None:
            ignored.append(part.name)
            continue
        first_source = first_source or source
        format_ = _recognized(formats, source.head)
        if is_auto and mapped and (format_ is None or format_.generic):
            format_ = _generic(formats, source.head)
        if format_ is None:
            ignored.append(part.name)
        else:
            matches.append((format_, source))
    if not matches:
        raise _unknown(first_source, format_name)
    if all(format_.generic and source.empty_list is not None for format_, source in matches):
        raise NoReviewsError(f"{matches[0][1].part.name} holds no reviews", csv_file.EMPTY)
    titles = {format_.name: format_.title for format_, _ in matches}
    if len(titles) > 1:
        kinds = ", ".join(f"{name} ({title})" for name, title in titles.items())
        raise SayMoreError(
            f"it holds several kinds of exports: {kinds}",
            "Name the files one by one, or say --from NAME",
        )
    return Export(
        format=matches[0][0],
        sources=[source for _, source in matches],
        ignored=ignored,
    )


def _candidates(format_name: str) -> Sequence[Format]:
    """Return the formats of a name in lower case; all of them for ``auto``."""
    if format_name == AUTO:
        return FORMATS
    formats = [format_ for format_ in FORMATS if format_.name == format_name]
    if not formats:
        names = [AUTO, *(format_.name for format_ in FORMATS)]
        raise SayMoreError(
            f"--from: there is no format {shown(format_name)}{nearest(format_name, names)}",
            f"There are: {', '.join(names)}",
        )
    return formats


def _opened(part: Part, *, is_alone: bool) -> Source | None:
    """Open a file of an export; return None if it is something else.

    A page of Takeout is not ignored silently.
    """
    if not is_alone and any(map(is_withheld_name, part.name.split("/"))):
        return None
    try:
        return source_of(part)
    except ImportRefusedError:
        if is_alone or part.location.id:
            raise
        return None


def _recognized(formats: Sequence[Format], head: Head) -> Format | None:
    """Return the first format that a file is of."""
    if all(format_.generic for format_ in formats):  # the operator says so
        return _generic(formats, head)
    return next((format_ for format_ in formats if format_.recognizes(head)), None)


def _generic(formats: Iterable[Format], head: Head) -> Format | None:
    """Return the format for a file of this shape from no known platform."""
    return next(
        (format_ for format_ in formats if format_.generic and format_.shape == head.shape), None
    )


def _spreadsheet(part: Part) -> Source:
    """Open the sheet that is recognized, else the first with a table: covers and notes may come before.

    Sheets with the same columns, as one for each year, are read too.
    """
    part = spreadsheet.converted(part)
    sheets = spreadsheet.sheets(part)
    public = [sheet for sheet in sheets if not (sheet.hidden or is_withheld_name(sheet.name))]
    if sheets and not public:
        raise ImportRefusedError(
            f"{part.name}: sheet {shown(sheets[0].name)} is {_reason(sheets[0])}, and there is no other table",
            "If its reviews are public, unhide it, or give it another name.",
        )
    if not public:
        csv_file.check_rows(part.name, *(spreadsheet.first_rows(part) or [""]))
        return _table(part, lambda: spreadsheet.rows(part), "spreadsheet")
    main = next((sheet for sheet in public if _has_reviews("table", sheet.sample)), public[0])
    alike = [sheet for sheet in public if sheet is main or _columns(sheet) == _columns(main)]
    unread = [
        f"sheet {shown(sheet.name)} ({_reason(sheet)})" for sheet in sheets if sheet not in alike
    ]
    names = listed([shown(sheet.name) for sheet in alike])
    writing = f"spreadsheet, sheet {names}, header in row {main.header:,}"
    source = _table(part, lambda: spreadsheet.rows(part, alike), writing)
    return replace(source, unread=unread)


def _reason(sheet: spreadsheet.Sheet) -> str:
    """Return the reason why a sheet is not read."""
    if sheet.hidden:
        return "hidden"
    return "by its name not public" if is_withheld_name(sheet.name) else "other columns"


def _columns(sheet: spreadsheet.Sheet) -> frozenset[str]:
    return frozenset(name.casefold() for fields in sheet.sample[:1] for name in fields)


def _has_reviews(shape: Shape, sample: Sequence[Fields]) -> bool:
    """Return whether a table, or a list of JSON, with these first rows has reviews."""
    head = Head(shape=shape, sample=sample, around={})
    platforms = (format_ for format_ in FORMATS if not format_.generic)
    return any(format_.recognizes(head) for format_ in platforms) or has_columns(head)


def _table(
    part: Part, numbered: Callable[[], Iterator[tuple[object, Fields]]], writing: str
) -> Source:
    sample: list[Fields] = []
    remaining = MAX_SAMPLE
    for _, fields in itertools.islice(numbered(), _MAX_SAMPLE_ROWS):
        if csv_file.TOO_MANY in fields:
            continue
        sample.append(fields)
        remaining -= sum(_CELL_BYTES + len(str(value)) for value in fields.values())
        if remaining < 0:
            break

    def rows() -> Iterator[tuple[str, Row]]:
        for number, fields in numbered():
            extra = fields.get(csv_file.TOO_MANY)
            fault = "" if extra is None else f"more cells than columns: {extra}"
            yield f"row {number}", Row(fields, fault)

    head = Head(shape="table", sample=sample, around={}, location=part.location)
    return Source(part=part, head=head, rows=rows, writing=writing)


def _json(part: Part) -> Source:
    document, are_lines = _decoded(part)
    candidates = [(EACH,)] if are_lines else layouts_of(document, partial(_has_reviews, "json"))
    layouts = [layout for layout in candidates if not any(map(is_withheld_name, layout))]
    if candidates and not layouts:
        raise ImportRefusedError(
            f"{part.name}: list {shown(_path(candidates[0]))} is called after reviews that are held back",
            "If they are public at their platform, give the list another name.",
        )
    unread = [
        f"list {shown(_path(layout))} (by its name not public)"
        for layout in candidates
        if layout not in layouts
    ]

    def rows() -> Iterator[tuple[str, Row]]:
        counts: Counter[str] = Counter()
        document, _ = _decoded(part)
        for layout in layouts:
            name = name_of(layout) or "$"
            lists = lists_at(document, layout)
            for value, group in ((value, group) for rows, group in lists for value in rows):
                where = f"line {counts[name] + 1}" if are_lines else f"{name}[{counts[name]}]"
                counts[name] += 1
                # a value that is no object has no members: every format refuses it
                yield where, Row(members(value), group=group)

    first = [row for place in layouts for rows, _ in lists_at(document, place) for row in rows]
    sample = [*map(members, first[:_MAX_SAMPLE_ROWS])]
    beside = around(document, layouts)
    head = Head(shape="json", sample=sample, around=beside, location=part.location)
    empty_list = name_of(layouts[0]) if layouts and not first else None
    return Source(part=part, head=head, rows=rows, writing="", unread=unread, empty_list=empty_list)


def _decoded(part: Part) -> tuple[object, bool]:
    with part.open() as file:
        return decoded(file.read(), part.name)


def _path(layout: Layout) -> str:
    return ".".join(name for name in layout if name != EACH)


def _unknown(source: Source | None, format_name: str) -> ImportRefusedError:
    """Return the refusal of an export that is of no format, described by its first readable file."""
    names = ", ".join(format_.name for format_ in FORMATS if format_.name != "maps")
    remedy = (
        f"Known: {names}. A table, or JSON, with a rating and a date can always be imported: "
        "reviewsctl import FILE --map rating=COLUMN --map date=COLUMN"
    )
    if source is None:
        return ImportRefusedError("nothing in it can be read", remedy)
    head, name = source.head, source.part.name
    fields = head.sample[0] if head.sample else head.around
    if source.empty_list in ("", *USUAL):
        return NoReviewsError(f"{name} holds no reviews", csv_file.EMPTY)
    if not head.sample and "reviews" not in head.around and not fields:
        return ImportRefusedError(f"{name} holds no reviews", csv_file.EMPTY)
    columns = ", ".join(map(shown, itertools.islice(fields, _MAX_NAMES)))
    kind = "a table with the columns" if head.shape == "table" else "JSON with the members"
    if format_name == AUTO:
        return ImportRefusedError(f"{name}: not recognized; it is {kind} {columns}", remedy)
    return ImportRefusedError(
        f"{name}: this is not {format_name}; it is {kind} {columns}",
        "Leave --from out to have it recognized.",
    )
