"""The log of earlier imports: ``.reviewsctl/imports.json`` beside reviews.json.

By it an import notices that an export is older than the last one, that it was imported before, that a part
of a Takeout is missing, and which edits by hand it would overwrite. It holds digests, times and names of exports, and
neither names of people nor texts. Without it an import still works, and knows less.
"""

import base64
import contextlib
import datetime
import os
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, BinaryIO, Final, NamedTuple

import msgspec

from reviewsctl.files.folders import Draft, Folder
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.reviews_file import reviews_of
from reviewsctl.importing.staging import Place
from reviewsctl.importing.values import members
from reviewsctl.importing.written import Written, WrittenRows, unpacked
from reviewsd.api.places import KEPT_FOLDER

FILE: Final = "imports.json"
VERSION: Final = 1

MAX_IMPORTS: Final = 50
"""Imports that are remembered."""

_Milliseconds = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]

_decode_row: Final = msgspec.json.Decoder(tuple[_Milliseconds, _Milliseconds, bytes]).decode

_MODE: Final = 0o600
_MAX_AGES: Final = 10_000  # locations


class PastImport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One import that wrote, or found that nothing was to be written."""

    at: datetime.datetime
    places: tuple[tuple[str, str], ...]
    """Its locations, each with its source before."""
    fingerprint: str
    """A digest of the rows of its exports."""
    takeouts: Mapping[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    """The numbers of the parts of each Google Takeout, by what their names have in common."""
    files: tuple[str, ...] = ()
    """The names of the first exports; of a sync the name of the source."""
    synced: bool = False
    new: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def changes(self) -> int:
        """How many reviews it changed."""
        return self.new + self.changed + self.removed


class Age(NamedTuple):
    """The age of the last import of a location, in POSIX milliseconds."""

    newest: int
    """The newest time in its rows."""
    file_at: int = 0
    """When its file was last written; 0 where unknown."""


class _Location(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    location: str
    newest: _Milliseconds
    file_at: _Milliseconds


class _File(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    imports: tuple[PastImport, ...]
    places: list[_Location]
    reviews: dict[str, msgspec.Raw]


@dataclass(frozen=True, slots=True)
class ImportLog:
    """The log of earlier imports, without its rows of single reviews."""

    imports: tuple[PastImport, ...] = ()
    """The oldest first."""
    ages: Mapping[Place, Age] = field(default_factory=dict)
    """Those of the last import of each location."""
    fault: str = ""
    """Why the log could not be read, for the operator."""


def load(folder: Folder, rows: WrittenRows) -> ImportLog:
    """Read the log of a data folder; an empty one where there is none, or none that can be read.

    Args:
        folder: The folder of reviews.json.
        rows: Takes the rows of single reviews.
    """
    try:
        with folder.folder(KEPT_FOLDER) as own_folder, own_folder.open(FILE) as file:
            return _read(file, rows)
    except FileNotFoundError:
        return ImportLog()
    except (OSError, msgspec.MsgspecError, ValueError, struct.error) as fault:
        rows.clear()
        reason = getattr(fault, "strerror", None) or fault
        return ImportLog(fault=f"{KEPT_FOLDER}/{FILE} cannot be read: {reason}")


def last_import(file: BinaryIO) -> PastImport | None:
    """Return the last import of a log that changed a review; None if it has none, or cannot be read."""
    try:
        imports = msgspec.json.decode(file.read(), type=_File).imports
    except (msgspec.MsgspecError, ValueError):
        return None
    changing = (past for past in reversed(imports) if past.changes)
    return next(changing, imports[-1] if imports else None)


def _read(file: BinaryIO, rows: WrittenRows) -> ImportLog:
    log = msgspec.json.decode(file.read(), type=_File)
    if log.version != VERSION:
        raise ValueError("another version of reviewsctl wrote it")
    rows.load(map(_row, log.reviews.items()))
    by_place = {
        Place(location.source, location.location): Age(location.newest, location.file_at)
        for location in log.places
    }
    return ImportLog(imports=log.imports, ages=by_place)


def _row(member: tuple[str, msgspec.Raw]) -> tuple[str, Written]:
    key, raw = member
    return key, unpacked(*_decode_row(raw))


@contextlib.contextmanager
def draft(
    own_folder: Folder, log: ImportLog, rows: Iterable[tuple[str, Written]]
) -> Iterator[Draft]:
    """Write a new log for the block; without ``put`` the old one stays."""
    with own_folder.draft(FILE) as new:
        out = new.file
        imports = [msgspec.json.encode(entry) for entry in log.imports[-MAX_IMPORTS:]]
        ages = [
            msgspec.json.encode(
                _Location(
                    source=place.source, location=place.name, newest=age.newest, file_at=age.file_at
                )
            )
            for place, age in list(log.ages.items())[-_MAX_AGES:]
        ]
        out.write(b'{"version": %d,\n"imports": [\n' % VERSION)
        out.write(b",\n".join(imports) + b'\n],\n"places": [\n' + b",\n".join(ages))
        out.write(b'\n],\n"reviews": {')
        between = b"\n"
        for key, row in rows:
            text = base64.b64encode(row.pack()).decode()
            value = msgspec.json.encode((row.edited, row.replied, text))
            out.write(between + msgspec.json.encode(key) + b": " + value)
            between = b",\n"
        out.write(b"\n}}\n")
        out.flush()  # what can fail for want of room has failed now
        yield new


def put(new: Draft, reviews: os.stat_result | None) -> None:
    """Put a new log in place, with the owner and mode of reviews.json."""
    if reviews is not None:
        new.give(reviews.st_uid, reviews.st_gid)
    new.put(_MODE if reviews is None else reviews.st_mode & 0o777)


_HOUR: Final = 3_600_000  # milliseconds
_DAY: Final = 24 * _HOUR
_EARLIEST, _LATEST = -14 * _HOUR, 36 * _HOUR  # of a day anywhere on earth, from its midnight in UTC
MAX_PLACES: Final = 1_000
"""Locations of an import that are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """An export beside earlier imports."""

    here: Mapping[Place, Age] = field(default_factory=dict)
    """Its age, for each location."""
    there: Mapping[Place, Age] = field(default_factory=dict)
    """The age of the last import; a location without one is absent."""
    older: frozenset[Place] = field(default_factory=frozenset)
    """The locations of which the export is older than the last import."""
    imported_at: datetime.datetime | None = None
    """When the same export was imported, if others of its locations were since."""


def compare(
    log: ImportLog, here: Mapping[Place, Age], fingerprint: str, ages: Mapping[Place, Age]
) -> Past:
    """Compare an export with earlier imports.

    Args:
        log: The import log.
        here: How old the export is.
        fingerprint: A digest of its rows.
        ages: What takes the place of the log for locations that it does not have.
    """
    there = {**ages, **log.ages}
    for place in here.keys() - there.keys():
        if (age := _last(log.ages, place)) is not None:
            there[place] = age
    imported_at = _imported_at(log, here.keys(), fingerprint)
    older = (
        place for place, age in here.items() if place in there and _is_older(age, there[place])
    )
    return Past(
        here=here,
        there=there,
        older=frozenset(older if imported_at is None else here),
        imported_at=imported_at,
    )


def _last(ages: Mapping[Place, Age], place: Place) -> Age | None:
    """Return the age of the last import of a source, of which one of both does not name its location."""
    return max(
        (
            age
            for logged, age in ages.items()
            if logged.source == place.source and not (logged.name and place.name)
        ),
        default=None,
    )


def _is_older(age: Age, last: Age) -> bool:
    if age.newest == last.newest:
        return 0 < age.file_at < last.file_at
    is_day, was_day = age.newest % _DAY == 0, last.newest % _DAY == 0
    if is_day == was_day:
        return age.newest < last.newest
    # midnight is a day without a clock, in the time zone of the business
    return age.newest + is_day * _LATEST < last.newest + was_day * _EARLIEST


def _imported_at(
    log: ImportLog, places: Collection[Place], fingerprint: str
) -> datetime.datetime | None:
    since = False
    for past in reversed(log.imports):
        if past.fingerprint == fingerprint:
            return past.at if since else None
        since |= any(Place(*place) in places for place in past.places)
    return None


def newest_days(document: Document, now: datetime.datetime) -> dict[Place, Age]:
    """Return the newest day of each location's reviews and replies; days that are not yet do not count."""
    newest: dict[Place, str] = {}
    for review in reviews_of(document):
        place = Place.of(review)
        if place is None:
            continue
        for day in (review.get("date"), members(review.get("owner_reply")).get("date")):
            if isinstance(day, str) and newest.get(place, "") < day <= now.date().isoformat():
                newest[place] = day
    return {place: Age(midnight) for place, day in newest.items() if (midnight := _midnight(day))}


def _midnight(day: str) -> int:
    try:
        when = datetime.datetime.fromisoformat(day)
    except ValueError:
        return 0
    return int(when.replace(tzinfo=datetime.UTC).timestamp() * 1000)


def recorded(
    log: ImportLog, past: Past, *, current: PastImport, agreed: Collection[Place]
) -> ImportLog:
    """Return the log with one more import.

    Args:
        log: The log before.
        past: The export beside earlier imports.
        current: The import.
        agreed: The locations of which an older export was taken on request.
    """
    ages = dict(log.ages)
    for place, age in past.here.items():
        last = ages.pop(place, past.there.get(place, Age(0)))
        ages[place] = age if place in agreed else max(age, last)
    return replace(log, imports=(*log.imports, current), ages=ages)
