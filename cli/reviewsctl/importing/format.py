"""The one interface of all export formats: a small file each, with one Format in it.

Where rows come from (zip, folder, JSON, CSV, spreadsheet) is none of its business: it sees a row as
a mapping of the export's own names.
"""

import datetime
from collections import ChainMap, Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import msgspec
from msgspec import UnsetType

from reviewsctl.importing.ids import merge_key, stable_id
from reviewsctl.importing.review import (
    Entry,
    Found,
    OwnerReply,
    Reply,
    Review,
    RowRefusedError,
)
from reviewsctl.importing.times import Reading, moment, zoned
from reviewsctl.importing.values import display_name, nobody, short_name, words

Fields = Mapping[str, object]
"""A row by the export's own names."""

_encoder = msgspec.json.Encoder()


class Row(NamedTuple):
    """One row of an export."""

    fields: Fields
    text: str
    """The JSON it was, empty where it was a row of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file: what a format is recognised by."""

    shape: Literal["table", "json"]
    sample: Sequence[Fields]
    """The first rows: many of a table, one of JSON."""
    around: dict[str, object]
    """What JSON has beside its rows. Grows while they are read."""
    place: str = ""
    """Of Google Takeout: the id of the location whose folder it lies in."""
    title: str = ""
    """Of Google Takeout: what the listing is called."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the first row, without regard to case."""
        first = self.sample[0] if self.sample else {}
        return frozenset(name.strip().casefold() for name in first)

    def with_place(self, fields: Fields, identifier: str) -> Fields:
        """A row with what stands around it, where that is the place of many."""
        if identifier not in self.around:
            return fields
        return ChainMap(fields, self.around)  # type: ignore[arg-type]  # it is only read

    def has(self, *names: str) -> bool:
        """Whether the first row has all of these names."""
        return {name.casefold() for name in names} <= self.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the operator says of "any CSV"."""

    mapped: Mapping[str, str] = field(default_factory=dict)
    """Our name to that of the column (``--map``)."""
    date_format: str | None = None
    source: str | None = None
    """Where reviews were written, when no column says."""


@dataclass(slots=True, kw_only=True)
class Rules:
    """What is the same for all formats: how a row of the platform becomes ours."""

    zone: datetime.tzinfo
    """The business's: it decides on which day a review was written."""
    short_names: bool
    verified: bool
    columns: Columns = field(default_factory=Columns)
    tally: Counter[str] = field(default_factory=Counter)
    """What the result has to mention, with counts."""
    places: dict[str, str] = field(default_factory=dict)
    """The locations that occur, with their titles."""

    def place(self, identifier: object, title: object = None) -> str:
        """Notes the location that a row belongs to, and what it is called."""
        place = str(_whole(words(identifier) or ""))
        if not self.places.get(place):
            self.places[place] = words(title) or ""
        return place

    def entry(self, found: Found) -> Entry:
        """A review of ours.

        Raises:
            RowRefusedError: Its day is outside of the calendar.
        """
        day = self._day(found.created)
        key = found.key
        if key is None:
            self.tally["no-id"] += 1
            author = words(found.author) or ""
            key = f"{author}\0{found.created.isoformat()}\0{found.text or ''}"
        review = Review(
            id=stable_id(found.source, key, found.created),
            author=self._name(found),
            author_avatar_url=found.avatar_url,
            rating=found.rating,
            date=day,
            text=found.text,
            source=found.source,
            source_url=found.source_url,
            owner_reply=self._answer(found.reply, day),
            verified=self.verified,
        )
        edited = found.edited
        return Entry(
            key=merge_key(review.id),
            edited=0 if edited is None else int(zoned(edited, datetime.UTC).timestamp() * 1000),
            place=found.place,
            record=encoded(review),
        )

    def _name(self, found: Found) -> str:
        name = display_name(found.author)
        if name is None:
            return nobody(found.source)
        return short_name(name) if self.short_names else name

    def _answer(
        self, reply: Reply | UnsetType | None, day: datetime.date
    ) -> OwnerReply | UnsetType | None:
        if reply is None or isinstance(reply, UnsetType):
            return reply
        text, when = reply
        if when is None:
            self.tally["undated-reply"] += 1
        return OwnerReply(text=text, date=day if when is None else self._day(when))

    def _day(self, when: datetime.datetime) -> datetime.date:
        """The calendar day in the business's zone; of a time without a zone, the day as written."""
        try:
            return (when if when.tzinfo is None else when.astimezone(self.zone)).date()
        except OverflowError:
            raise RowRefusedError("the date is outside of the calendar") from None


def reply_of(text: str | None, when: object, reading: Reading = moment) -> Reply | None:
    """An owner's answer; a time that is not understood is none."""
    if text is None:
        return None
    try:
        return text, reading(when)
    except RowRefusedError:
        return text, None


def encoded(value: object) -> bytes:
    """A review, or any JSON, as JSON; half characters, which UTF-8 cannot hold, become U+FFFD."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_whole(msgspec.to_builtins(value)))


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(each) for name, each in value.items()}
    return value


Reader = Callable[[Row], Entry]
"""Turns a row into an Entry; raises RowRefusedError or RowSkippedError."""


def _nothing(around: Fields, count: int) -> Sequence[str]:  # noqa: ARG001  # a seam
    return ()


def _no_columns(head: Head, columns: Columns) -> Sequence[str]:  # noqa: ARG001  # a seam
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of export."""

    name: str
    """What ``--from`` takes."""
    title: str
    leaves: str
    """What it has and is not taken, for the operator."""
    recognises: Callable[[Head], bool]
    reader: Callable[[Head, Rules], Reader]
    warnings: Callable[[Fields, int], Sequence[str]] = _nothing
    """Of what stands beside the rows and their number, when all are read."""
    by_id: bool = False
    """Whether reviews are merged by their whole id, because they are ours already."""
    says_verified: bool = True
    """Whether it comes from the platform that holds the reviews, so that they are verified."""
    says_columns: Callable[[Head, Columns], Sequence[str]] = _no_columns
    """How the columns were understood, where they were guessed."""
