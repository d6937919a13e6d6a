"""The interface of all export formats: how one is recognized, and how its rows become entries.

Where rows come from (zip, folder, JSON, CSV, spreadsheet) is none of its concern: a row is a mapping of the
export's own names.
"""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from msgspec.structs import replace

from reviewsctl.importing.errors import RowRefusedError, RowSkippedError, RowWithdrawnError
from reviewsctl.importing.publicity.judge import Verdict
from reviewsctl.importing.readers.parts import Location
from reviewsctl.importing.review import Entry, PlatformReview, entry_of
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.values import display_name

Fields = Mapping[str, object]
"""A row by the export's own names."""

Shape = Literal["table", "json"]

_MAX_SAMPLE_ROWS, _MAX_LEVELS = 20, 3  # rows and levels of objects that names are taken from


class Row(NamedTuple):
    """One row of an export."""

    fields: Fields
    fault: str = ""
    """The reason why it is refused before it is parsed."""
    group: Fields = MappingProxyType({})
    """The object of JSON that has the list of rows."""

    def with_place(self, identifier: str) -> Fields:
        """Return the members with those of the place that has its reviews in it, by the name of its id."""
        return {**self.group, **self.fields} if identifier in self.group else self.fields


@dataclass(frozen=True, kw_only=True)
class Head:
    """The beginning of a file, by which its format is recognized."""

    shape: Shape
    sample: Sequence[Fields]
    """The first rows, on which guesses are based."""
    around: Fields
    """The members of JSON beside its rows."""
    location: Location = field(default_factory=Location)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The names of the first rows in lower case; the members of their objects too, as ``a.b``."""
        rows = self.sample[:_MAX_SAMPLE_ROWS]
        return frozenset(name for fields in rows for name in _names(fields, "", _MAX_LEVELS))

    def has(self, names: str) -> bool:
        """Return whether the first rows have one of these names, ``a|b``; ``^a`` is a member beside the rows."""
        return any(
            name[1:] in self.around if name.startswith("^") else name.casefold() in self.names
            for name in names.split("|")
        )


def _names(fields: Fields, prefix: str, levels: int) -> Iterator[str]:
    for name, value in fields.items():
        path = f"{prefix}{name.strip().casefold().replace('/', '.')}"
        yield path
        if isinstance(value, dict) and levels > 1:
            yield from _names(value, f"{path}.", levels - 1)


@dataclass(frozen=True, slots=True)
class Signature:
    """Names that only the rows of one format have together; ``a.b`` is the member b of the object a.

    Called with a head, it returns whether all of the names are there, and none that only another format has.
    """

    needs: tuple[str, ...]
    """Each has to be there, as ``Head.has`` takes it."""
    lacks: tuple[str, ...] = ()
    """Names of another format that has all of these too."""

    def __call__(self, head: Head) -> bool:
        """Return whether a file is of the format."""
        return all(map(head.has, self.needs)) and not any(map(head.has, self.lacks))


Parser = Callable[[Row], PlatformReview | Entry]
"""Parses a row; raises RowRefusedError or RowSkippedError. Reviews of our own are entries already."""

Reader = Callable[[Row], Entry]
"""Turns a row into an entry; raises RowRefusedError or RowSkippedError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of export."""

    name: str
    """The value of ``--from``."""
    title: str
    shape: Shape | None = None
    """That of its files; None where both occur."""
    signature: Callable[[Head], bool]
    """Returns whether a file of this shape is of it (``Signature``)."""
    parser: Callable[[Head, Settings], Parser]
    """Returns the parser of a file's rows; called through ``reader`` only."""
    incomplete: Callable[[Sequence[Head], int], str] = lambda _heads, _count: ""
    """Returns why these files, with so many rows, lack pages; empty where nothing says so. Called when all
    rows are read, with all files of one import that have the same function."""
    certain: Collection[str] = ()
    """Members that the platform has none of where a row is without, as it documents. Of all others a row
    that is without says nothing, and a merge leaves those of the file."""
    total: Callable[[Sequence[Head]], int | None] = lambda _: None
    """Returns how many reviews the platform has, where the export says so: with as many rows it is complete."""
    partial: str = ""
    """The reason why an export of it is never all the reviews there are, so that nothing may be replaced by it."""
    terms: str = ""
    """The terms of a platform that forbid to keep its reviews."""
    generic: bool = False
    """Whether it is of no known platform: columns are guessed, and ratings may have any scale."""
    describe_columns: Callable[[Head, Settings], tuple[list[str], list[str]]] | None = None
    """Returns how the columns were understood, and notes on those left over; None where they are not guessed."""
    names_source: Callable[[Head, Settings], bool] = lambda _head, _settings: True
    """Returns whether it is known where the reviews of a file were written."""

    @property
    def tabular(self) -> bool:
        """Whether its columns are known by their names, so that ``--map`` may correct them."""
        return self.describe_columns is not None

    def recognizes(self, head: Head) -> bool:
        """Return whether a file is of the format."""
        return self.shape in (None, head.shape) and self.signature(head)

    def reader(self, head: Head, settings: Settings) -> Reader:
        """Return what makes entries of a file's rows, or of those that are public at the platform.

        Raises:
            ImportRefusedError: The file cannot be imported.
            SayMoreError: The operator has to decide something first.
        """
        parse = self.parser(head, settings)
        sample = head.sample if self.generic else ()
        judge = settings.publicity.judging(self.name, settings.columns, sample)

        def read(row: Row) -> Entry:
            try:
                if row.group:
                    beside = row.group.items()
                    judge({name: value for name, value in beside if isinstance(value, str | bool)})
                verdict = judge(row.fields)
            except RowWithdrawnError as withdrawn:
                withdrawn.key = _key_of(row, parse, settings)
                raise
            review = parse(
                row if verdict.fields is row.fields else row._replace(fields=verdict.fields)
            )
            if verdict.unknown:
                has_reply = isinstance(review, Entry) or isinstance(review.reply, tuple)
                settings.publicity.note(verdict, has_reply=has_reply)
            return replace(_public_entry(review, verdict, settings), certain=self.certain)

        return read


def _key_of(row: Row, parse: Parser, settings: Settings) -> str:
    """Return the merge key of a row; it is empty where the row cannot be read."""
    try:
        review = parse(row)
        entry = review if isinstance(review, Entry) else entry_of(review, settings)
    except (RowRefusedError, RowSkippedError):
        return ""
    return entry.key


def _public_entry(review: PlatformReview | Entry, verdict: Verdict, settings: Settings) -> Entry:
    """Return the entry of a review without its members that are not public."""
    if isinstance(review, Entry):
        if not (verdict.shows_reply and verdict.shows_name):
            raise RowRefusedError("it says that its reply or its author's name is not public")
        return review
    if not verdict.shows_reply:
        notes = ("withheld-reply",) if isinstance(review.reply, tuple) else ()
        review = replace(review, reply=None, reply_withheld=True, notes=review.notes + notes)
    if not verdict.shows_name:
        notes = ("withheld-name",) if display_name(review.author) is not None else ()
        review = replace(
            review, author=None, avatar_url=None, anonymous=True, notes=review.notes + notes
        )
    return entry_of(review, settings)
