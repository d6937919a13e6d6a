"""What an export is, by its content: each file's head is shown to the formats in turn."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from reviewsctl.importing.bounds import MAX_SAMPLE
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.format import (
    FORCED,
    RECOGNIZED,
    Fields,
    Format,
    Head,
    Row,
    Shape,
    names_of,
)
from reviewsctl.importing.platforms import any_csv, google, google_tools, own, shops, sites
from reviewsctl.importing.platforms.columns import has_columns, listed
from reviewsctl.importing.publicity.signs import is_withheld_name
from reviewsctl.importing.readers import csv_file, foreign, spreadsheet
from reviewsctl.importing.readers.json_file import EACH, LINES, Document, Layout
from reviewsctl.importing.readers.json_lists import layouts_of
from reviewsctl.importing.readers.parts import Part
from reviewsctl.importing.values import members, shown
from reviewsctl.terminal.escaping import printable

FORMATS: Sequence[Format] = (
    google.API,
    google.TAKEOUT,
    google.BATCH,
    google.MAPS,
    google_tools.PLACES,
    google_tools.LEGACY_PLACES,
    google_tools.OUTSCRAPER,
    sites.TRUSTPILOT_OUTSCRAPER,
    google_tools.SERPAPI,
    google_tools.APIFY,
    sites.FACEBOOK_GRAPH,
    sites.FACEBOOK_APIFY,
    sites.TRIPADVISOR_API,
    sites.TRIPADVISOR_APIFY,
    sites.TRUSTPILOT_EXPORT,
    sites.TRUSTPILOT_API,
    shops.PODIUM,
    shops.BIRDEYE,
    shops.YOTPO_API,
    shops.YOTPO_CSV,
    shops.JUDGEME_API,
    shops.JUDGEME_CSV,
    shops.STAMPED_API,
    sites.YELP,
    own.FORMAT,
    any_csv.FORMAT,
    any_csv.JSON,
)
"""In the order in which they are tried: the generic ones come last."""

AUTO = "auto"

_SAMPLE = 2000  # rows that guesses look at
_SAMPLE_JSON = 1024 * 1024  # characters of them, of JSON, where a folder may have a thousand files
_KEPT = 20  # rows of a file of JSON that is recognized
_ALIKE = 0.7  # share of a format's names that makes it worth a mention
_CELL = 100  # bytes that a cell takes beside its text
_SHOWN = 12  # names in a message
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
    left: Sequence[str] = ()
    """What of it is not read, and why."""


def source_of(part: Part) -> Source:
    """Opens a file.

    Raises:
        ImportRefusedError: It is nothing that has rows.
    """
    with part.open() as file:
        begins = file.read(_PEEKED)
    foreign.refuse(part.name, begins)
    if begins.startswith(foreign.WORKBOOKS):
        return _spreadsheet(part)
    if begins.lstrip(foreign.BLANK_OR_BOM)[:1] in (b"{", b"["):
        return _json(part)
    dialect = csv_file.dialect_of(part)
    return _table(part, lambda each: csv_file.rows(each, dialect), str(dialect))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognized:
    """What an export is."""

    format: Format
    sources: list[Source]
    ignored: list[str]
    """Files of it that are something else."""
    second: Format | None
    """What it looks like too."""


def chosen(parts: Sequence[Part], wanted: str, *, mapped: bool = False) -> Recognized:
    """The format of an export, what to read of it, and the files of it that are something else.

    Args:
        parts: Its files.
        wanted: What ``--from`` says.
        mapped: Whether the operator names columns, so that it is a table of nobody in particular.

    Raises:
        ImportRefusedError: It is none that can be imported.
        SayMoreError: It could be several.
    """
    formats = [each for each in FORMATS if wanted in (AUTO, each.name)]
    if not formats:
        names = ", ".join(each.name for each in FORMATS)
        raise SayMoreError(
            f'--from: there is no format "{printable(wanted)}"', f"There are: auto, {names}"
        )
    if mapped and wanted == AUTO:
        formats = [each for each in FORMATS if each.generic]
    enough = RECOGNIZED if wanted == AUTO else FORCED
    found: list[tuple[Format, Source]] = []
    ignored: list[str] = []
    seen: Source | None = None
    for part in parts:
        if len(parts) > 1 and any(map(is_withheld_name, part.name.split("/"))):
            ignored.append(part.name)
            continue
        try:
            source = source_of(part)
        except ImportRefusedError:
            if len(parts) == 1 or part.place:  # a page of Takeout is not left out without a word
                raise
            ignored.append(part.name)
            continue
        seen = seen or source
        recognized = _likeliest(formats, source.head, enough)
        if recognized is None:
            ignored.append(part.name)
        else:
            # dates of a table are guessed by all of them; of many files of JSON they would be a lot
            whole = recognized.generic or source.head.shape == "table"
            kept = source.head.sample if whole else source.head.sample[:_KEPT]
            found.append((recognized, replace(source, head=replace(source.head, sample=kept))))
    if not found:
        raise _unknown(seen, wanted)
    kinds = {each.name: each for each, _ in found}
    if len(kinds) > 1:
        titles = ", ".join(f"{each.name} ({each.title})" for each in kinds.values())
        raise SayMoreError(
            f"it holds several kinds of exports: {titles}",
            "Name the files one by one, or say --from NAME",
        )
    kind = found[0][0]
    assert seen is not None  # noqa: S101  # something was found
    return Recognized(
        format=kind,
        sources=[source for _, source in found],
        ignored=ignored,
        second=_second(kind, found[0][1].head) if len(formats) == len(FORMATS) else None,
    )


def _likeliest(formats: Sequence[Format], head: Head, enough: float) -> Format | None:
    """The first format that a file looks like enough."""
    if all(each.generic for each in formats):  # the operator says so; columns are their matter
        shaped = any_csv.FORMAT if head.shape == "table" else any_csv.JSON
        return shaped if shaped in formats else None
    return next((each for each in formats if each.likeness(head) >= enough), None)


def _second(kind: Format, head: Head) -> Format | None:
    """The other format that a file looks like most, if it does."""
    others = [each for each in FORMATS if each is not kind and not each.generic]
    best = max(others, key=lambda each: each.likeness(head))
    return best if best.likeness(head) >= _ALIKE else None


def _spreadsheet(part: Part) -> Source:
    """The sheet that is recognized, else the first with a table: covers and notes may lie before.

    Those with the same columns, as one for each year, are read too.
    """
    part = spreadsheet.converted(part)
    sheets = spreadsheet.sheets(part)
    found = [each for each in sheets if not (each.hidden or is_withheld_name(each.name))]
    if sheets and not found:
        name = shown(sheets[0].name)
        if sheets[0].hidden:
            raise ImportRefusedError(
                f"{part.name}: sheet {name} is hidden, and no other one has a table",
                "If its reviews are public, unhide it.",
            )
        raise ImportRefusedError(
            f"{part.name}: sheet {name} is called after reviews that are held back",
            "If they are public at their platform, give the sheet another name.",
        )
    sheet = next((each for each in found if _has_reviews("table", each.sample)), None)
    if sheet is None:
        sheet = found[0] if found else None
    if sheet is None:
        return _table(part, spreadsheet.rows, "spreadsheet")
    taken = [each for each in found if each is sheet or _columns(each) == _columns(sheet)]
    left = [f"sheet {shown(each.name)} ({_reason(each)})" for each in sheets if each not in taken]
    names = listed([shown(each.name) for each in taken])
    writing = f"spreadsheet, sheet {names}, header in row {sheet.header:,}"
    source = _table(part, lambda each: spreadsheet.rows(each, taken), writing)
    return replace(source, left=left)


def _reason(sheet: spreadsheet.Sheet) -> str:
    """Return why a sheet is not read."""
    if sheet.hidden:
        return "hidden"
    return "by its name not public" if is_withheld_name(sheet.name) else "other columns"


def _columns(sheet: spreadsheet.Sheet) -> frozenset[str]:
    return frozenset(name.casefold() for fields in sheet.sample[:1] for name in fields)


def _has_reviews(shape: Shape, sample: Sequence[Fields]) -> bool:
    """Return whether a table, or a list of JSON, that begins so holds reviews."""
    head = Head(shape=shape, sample=sample, around={}, names=names_of(sample))
    known = (each for each in FORMATS if not each.generic)
    return any(each.likeness(head) >= RECOGNIZED for each in known) or has_columns(head)


def _table(
    part: Part, numbered: Callable[[Part], Iterator[tuple[object, Fields]]], writing: str
) -> Source:
    sample: list[Fields] = []
    room = MAX_SAMPLE
    for _, fields in itertools.islice(numbered(part), _SAMPLE):
        if csv_file.TOO_MANY in fields:
            continue
        sample.append(fields)
        room -= sum(_CELL + len(str(value)) for value in fields.values())
        if room < 0:
            break

    def rows(watched: Part) -> Iterator[tuple[str, Row]]:
        for number, fields in numbered(watched):
            extra = fields.get(csv_file.TOO_MANY)
            fault = "" if extra is None else f"more cells than columns: {shown(extra)}"
            yield f"row {number}", Row(fields, "", fault)

    head = Head(
        shape="table",
        sample=sample,
        around={},
        place=part.place,
        title=part.title,
        listing=part.listing,
        names=names_of(sample),
    )
    return Source(part=part, head=head, rows=rows, writing=writing)


def _json(part: Part) -> Source:
    with part.open() as file:
        found = layouts_of(Document(file, part.name), partial(_has_reviews, "json"))
    layouts = [each for each in found if not any(map(is_withheld_name, each))]
    if not layouts:
        raise ImportRefusedError(
            f"{part.name}: list {shown(_path(found[0]))} is called after reviews that are held back",
            "If they are public at their platform, give the list another name.",
        )
    left = [
        f"list {shown(_path(each))} (by its name not public)"
        for each in found
        if each not in layouts
    ]
    with part.open() as file:
        document = Document(file, part.name)
        first = _first_rows(document, layouts)
    # without a list in it, what was read is what would be around the rows
    sample, around = (first, document.around) if layouts != [()] else ([], dict(first[0]))
    head = Head(
        shape="json",
        sample=sample,
        around=around,
        place=part.place,
        title=part.title,
        listing=part.listing,
        names=names_of(sample),
    )

    def rows(watched: Part) -> Iterator[tuple[str, Row]]:
        if layouts == [()]:
            return
        with watched.open() as file:
            document = Document(file, part.name)
            document.around = head.around
            counts: Counter[str] = Counter()
            for piece in document.rows(*layouts):
                name = document.list_name
                where = (
                    f"line {counts[name] + 1}"
                    if layouts == [(LINES,)]
                    else f"{name}[{counts[name]}]"
                )
                counts[name] += 1
                # what is no object has no members: every format refuses it
                yield where, Row(members(piece.value), piece.text, group=document.group)
            document.end()

    return Source(part=part, head=head, rows=rows, writing="", left=left)


def _path(layout: Layout) -> str:
    return ".".join(each for each in layout if each != EACH)


def _first_rows(document: Document, layouts: Sequence[Layout]) -> list[Fields]:
    """The first rows; where one of them is broken, those before it: it is refused when it is read."""
    first: list[Fields] = []
    room = _SAMPLE_JSON
    try:
        for piece in itertools.islice(document.rows(*layouts), _SAMPLE):
            first.append(members(piece.value))
            room -= len(piece.text)
            if room < 0:
                break
    except ImportRefusedError:
        if not first:
            raise
    return first


def _unknown(seen: Source | None, wanted: str) -> ImportRefusedError:
    known = ", ".join(each.name for each in FORMATS if each is not google.MAPS)
    table = (
        "A table, or JSON, with a rating and a date can always be imported: "
        "reviewsctl import FILE --map rating=COLUMN --map date=COLUMN"
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
            f"{seen.part.name}: not recognized; it is {what} {names}", f"Known: {known}. {table}"
        )
    return ImportRefusedError(
        f"{seen.part.name}: this is not {wanted}; it is {what} {names}",
        "Leave --from out to have it recognized.",
    )
