"""The one interface of all export formats: a small file each, with one Format in it.

Where rows come from (zip, folder, JSON, CSV, spreadsheet) is none of its business: it sees a row as
a mapping of the export's own names.
"""

import dataclasses
import datetime
import functools
from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from reviewsctl.importing.ids import stable_id
from reviewsctl.importing.publicity.judge import Publicity, Verdict
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.review import (
    BITS,
    Entry,
    Found,
    Imported,
    OwnerReply,
    Reply,
    RowRefusedError,
    RowSkippedError,
    RowWithdrawnError,
    alike,
)
from reviewsctl.importing.signature import Shape
from reviewsctl.importing.times import Reading, milliseconds, moment
from reviewsctl.importing.values import display_name, nobody, short_name, word, words
from reviewsd.api.review_ids import merge_key

Fields = Mapping[str, object]
"""A row by the export's own names."""

_encoder = msgspec.json.Encoder()


class Row(NamedTuple):
    """One row of an export."""

    fields: Fields
    text: str
    """The JSON it was, empty where it was a row of a table."""
    fault: str = ""
    """Why it is none, where that shows before anybody reads it."""
    group: Fields | None = None
    """Of JSON, words and flags of the object in whose list it is, as far as they come before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file: what a format is recognised by."""

    shape: Shape
    sample: Sequence[Fields]
    """The first rows: what formats are recognised by, and guesses look at."""
    around: dict[str, object]
    """What JSON has beside its rows. Grows while they are read."""
    place: str = ""
    """Of Google Takeout: the id of the location whose folder it lies in."""
    title: str = ""
    """Of Google Takeout: what that location is called."""
    listing: Fields = field(default_factory=dict)
    """Of Google Takeout: the location, as its data.json has it."""
    names: frozenset[str] = frozenset()
    """Those of the first rows in lower case; the members of their objects too, as ``a.b``."""

    def with_place(self, fields: Fields, identifier: str) -> Fields:
        """A row with what stands around it, where that is the place of many."""
        if identifier not in self.around:
            return fields
        return ChainMap(fields, self.around)  # type: ignore[arg-type]  # it is only read

    def has(self, *names: str) -> bool:
        """Whether the first rows have all of these names."""
        return {name.casefold() for name in names} <= self.names


def names_of(sample: Sequence[Fields]) -> frozenset[str]:
    """What ``Head.names`` has of these rows."""
    return frozenset(name for fields in sample[:_NAMED] for name in _names(fields, "", _LEVELS))


def _names(fields: Fields, prefix: str, levels: int) -> Iterator[str]:
    for name, value in fields.items():
        own = f"{prefix}{name.strip().casefold().replace('/', '.')}"
        yield own
        if isinstance(value, dict) and levels > 1:
            yield from _names(value, f"{own}.", levels - 1)


_NAMED, _LEVELS = 20, 3  # rows and levels of objects that names are looked for in


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the operator says of "any CSV"."""

    mapped: Mapping[str, str] = field(default_factory=dict)
    """Our name to that of the column, or to nothing for none (``--map``)."""
    date_format: str | None = None
    source: str | None = None
    """Where reviews were written, when no column says."""


@dataclass(slots=True, kw_only=True)
class Rules:
    """What is the same for all formats: how a row of the platform becomes ours."""

    zone: datetime.tzinfo
    """The business's: it decides on which day a review was written."""
    short_names: bool
    verified: bool | None = None
    """What the operator says of reviews of which the export says nothing."""
    scale: Scale = field(default_factory=Scale)
    columns: Columns = field(default_factory=Columns)
    publicity: Publicity = field(default_factory=Publicity)
    """Decides which rows are public at their platform."""
    counts: Counter[str] = field(default_factory=Counter)
    """What the result has to mention, with counts."""
    today: datetime.date = datetime.date.max
    """The business's; reviews of a later day are mentioned."""
    places: dict[str, str] = field(default_factory=dict)
    """The locations that occur, with their titles."""

    def place(self, identifier: object, title: object = None) -> str:
        """Notes the location that a row belongs to, and what it is called."""
        place = str(whole(words(identifier) or ""))
        if not self.places.get(place):
            self.places[place] = words(title) or ""
        return place

    def entry(self, found: Found) -> Entry:
        """A review of ours.

        Raises:
            RowRefusedError: Its day is outside of the calendar.
        """
        day = self._day(found.created)
        if day > self.today:
            self.counts["future"] += 1
        key = found.key
        if key is None:
            self.counts["no-id"] += 1
            author = words(found.author) or ""
            key = f"{author}\0{found.created.isoformat()}\0{found.rating}\0{found.text or ''}"
        review = Imported(
            id=stable_id(found.source, key, found.created),
            author=self._name(found),
            author_avatar_url=found.avatar_url,
            rating=found.rating,
            date=day,
            text=found.text,
            source=found.source,
            source_url=found.source_url,
            owner_reply=self._answer(found.reply, day),
            verified=self._verified(found.verified),
            location=found.place or UNSET,
        )
        edited, replied = milliseconds(found.edited), milliseconds(_answered(found.reply))
        return Entry(
            key=merge_key(review.id),
            source=str(whole(review.source)),
            edited=edited,
            place=found.place,
            alike=alike(review.source, review.author, day.isoformat(), review.rating),
            record=encoded(review),
            day=day.isoformat(),
            blank=self._blank(found),
            weak=self._weak(found),
            newest=max(milliseconds(found.created), edited, replied),
            replied=replied,
        )

    def _blank(self, found: Found) -> int:
        """Return the members of a review for which the export has nothing, as a ``mask``."""
        is_named = display_name(found.author) is not None or found.anonymous
        return (
            (found.text is None) * BITS["text"]
            | (found.source_url is None) * BITS["source_url"]
            | (found.reply is None and not found.reply_withheld) * BITS["owner_reply"]
            | (found.verified is self.verified is None) * BITS["verified"]
            | (not is_named) * BITS["author"]
            | (found.avatar_url is None and not found.anonymous) * BITS["author_avatar_url"]
        )

    def _weak(self, found: Found) -> int:
        """Return the members of a review that the export has in part only, as a ``mask``."""
        is_undated = isinstance(found.reply, tuple) and found.reply[1] is None
        is_declared = found.verified is None and self.verified is not None
        return is_undated * BITS["owner_reply"] | is_declared * BITS["verified"]

    def _verified(self, said: bool | None) -> bool:  # noqa: FBT001  # a member of the row
        if said is not None:
            return said
        if self.verified is None:
            self.counts["unsaid"] += 1
        return self.verified or False

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
            self.counts["undated-reply"] += 1
        return OwnerReply(text=text, date=day if when is None else self._day(when))

    def _day(self, when: datetime.datetime) -> datetime.date:
        """The calendar day in the business's zone; of a time without a zone, the day as written."""
        try:
            return (when if when.tzinfo is None else when.astimezone(self.zone)).date()
        except OverflowError:
            raise RowRefusedError("the date is outside of the calendar") from None


def _answered(reply: Reply | UnsetType | None) -> datetime.datetime | None:
    return reply[1] if isinstance(reply, tuple) else None


def reply_of(text: str | None, when: object, reading: Reading = moment) -> Reply | None:
    """An owner's answer, and when it was given, if that is there.

    Raises:
        RowRefusedError: It is there and not understood; no other is made up for it.
    """
    if text is None:
        return None
    if word(when) is None:
        return text, None
    try:
        return text, reading(when)
    except RowRefusedError as refusal:
        raise RowRefusedError(f"reply's {refusal}") from None


def encoded(value: object) -> bytes:
    """A review, or any JSON, as JSON, ``whole``."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(whole(msgspec.to_builtins(value)))


def whole(value: object) -> object:
    """A value without half characters, which UTF-8 cannot hold: they become U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole(each) for each in value]
    if isinstance(value, dict):
        return {whole(name): whole(each) for name, each in value.items()}
    return value


Parser = Callable[[Row], Found | Entry]
"""Parses a row; raises RowRefusedError or RowSkippedError. Reviews of our own are entries already."""

Reader = Callable[[Row], Entry]
"""Turns a row into an Entry; raises RowRefusedError or RowSkippedError."""


def _nothing(around: Fields, count: int) -> Sequence[str]:  # noqa: ARG001  # a seam
    return ()


def _all_here(heads: Sequence[Head], count: int) -> str:  # noqa: ARG001  # a seam
    return ""


def _no_total(heads: Sequence[Head]) -> int | None:  # noqa: ARG001  # a seam
    return None


def _nothing_said(head: Head) -> Fields:  # noqa: ARG001  # a seam
    return {}


def _no_columns(head: Head, rules: Rules) -> Sequence[str]:  # noqa: ARG001  # a seam
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of export."""

    name: str
    """What ``--from`` takes."""
    title: str
    leaves: str
    """What it has and is not taken, for the operator."""
    likeness: Callable[[Head], float]
    """How much an export looks like it, 0 to 1 (``signature``)."""
    parser: Callable[[Head, Rules], Parser]
    """Returns the parser of a file's rows; called through ``reader`` only."""
    describes: Callable[[Head], Fields] = _nothing_said
    """The business, as ``reviewsctl.importing.business`` spells it; asked when all rows are read."""
    verification: str = ""
    """Where ``verified`` comes from; why it is false where the export does not say."""
    warnings: Callable[[Fields, int], Sequence[str]] = _nothing
    """Of what stands beside the rows and their number, when all are read."""
    incomplete: Callable[[Sequence[Head], int], str] = _all_here
    """Why these files, with so many rows, lack pages; empty where nothing says so. Asked when all rows
    are read, of all files of one import that have the same."""
    certain: Collection[str] = ()
    """Members that the platform has none of where a row is without, as it documents. Of all others a row
    that is without says nothing, and a merge keeps what is in the file."""
    total: Callable[[Sequence[Head]], int | None] = _no_total
    """How many reviews the platform has, where the export says so: with as many rows it is complete."""
    partial: str = ""
    """Why an export of it is never all the reviews there are, so that nothing may be replaced by it."""
    terms: str = ""
    """What the platform's terms forbid to do with an export of it."""
    generic: bool = False
    """Whether it is of nobody in particular: columns are guessed, and ratings may have any scale."""
    says_columns: Callable[[Head, Rules], Sequence[str]] = _no_columns
    """How the columns were understood, where they were guessed."""

    @property
    def tabular(self) -> bool:
        """Whether its columns are known by their names, so that ``--map`` may correct them."""
        return self.says_columns is not _no_columns

    def reader(self, head: Head, rules: Rules) -> Reader:
        """Return what makes entries of a file's rows, or of those that are public at the platform.

        Raises:
            ImportRefusedError: The file cannot be imported.
            SayMoreError: The operator has to decide something first.
        """
        parse = self.parser(head, rules)
        status = rules.columns.mapped.get("status")
        sample = head.sample if self.generic else ()
        judge = rules.publicity.judging(self.name, status, sample)
        key_of_row = self._key_reader(head, rules)

        def read(row: Row) -> Entry:
            try:
                if row.group:
                    judge(row.group)
                verdict = judge(row.fields)
            except RowWithdrawnError as withdrawn:
                withdrawn.key = key_of_row(row)
                raise
            found = parse(
                row if verdict.fields is row.fields else row._replace(fields=verdict.fields)
            )
            if verdict.unknown:
                rules.publicity.note(verdict, has_reply=_has_reply(found))
            return _shown(found, verdict, rules)

        return read

    def _key_reader(self, head: Head, rules: Rules) -> Callable[[Row], str]:
        """Return what makes the merge key of a row; it is empty where the row cannot be read."""
        apart = dataclasses.replace(rules, counts=Counter())
        parser = functools.cache(lambda: self.parser(head, apart))  # most files have no such row

        def key_of_row(row: Row) -> str:
            try:
                found = parser()(row)
                entry = found if isinstance(found, Entry) else apart.entry(found)
            except (RowRefusedError, RowSkippedError):
                return ""
            return entry.key

        return key_of_row


def _has_reply(found: Found | Entry) -> bool:
    return isinstance(found, Entry) or isinstance(found.reply, tuple)


def _shown(found: Found | Entry, verdict: Verdict, rules: Rules) -> Entry:
    """Return the entry of a review without what is not public of it."""
    if isinstance(found, Entry):
        if not (verdict.shows_reply and verdict.shows_name):
            raise RowRefusedError("it says that its reply or its author's name is not public")
        return found
    if not verdict.shows_reply:
        rules.counts["withheld-reply"] += isinstance(found.reply, tuple)
        found = replace(found, reply=None, reply_withheld=True)
    if not verdict.shows_name:
        rules.counts["withheld-name"] += display_name(found.author) is not None
        found = replace(found, author=None, avatar_url=None, anonymous=True)
    return rules.entry(found)
