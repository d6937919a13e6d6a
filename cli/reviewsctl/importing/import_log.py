"""The log of earlier imports: ``.reviewsctl/imports.json`` beside reviews.json.

By it an import notices that an export is older than the last one, and which edits by hand it would overwrite, and an
undo names versions. It holds digests, times and names of exports, and neither names of people nor texts. The digest of a member is a checksum, as its
values are not forged. Without the log an import still works, and knows less.
"""

import contextlib
import datetime
import json
import os
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Final, Literal, NamedTuple

import msgspec

from reviewsctl.files.folders import Draft, Folder
from reviewsctl.importing.review import MEMBERS
from reviewsctl.importing.staging import Place
from reviewsd.api.places import KEPT_FOLDER

_SIZE: Final = 4  # bytes of a digest
_PLACES: Final = {name: _SIZE * number for number, name in enumerate(MEMBERS)}
_encoder = msgspec.json.Encoder(order="sorted")

UNKNOWN: Final = bytes(_SIZE)
"""The digest of a member that no import has written."""


Milliseconds = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
"""A POSIX time."""

_Digests = Annotated[
    bytes, msgspec.Meta(min_length=_SIZE * len(MEMBERS), max_length=_SIZE * len(MEMBERS))
]


class Written(NamedTuple):
    """The values that imports last wrote of one review."""

    edited: Milliseconds
    """When the platform says that it was edited; 0 where unknown."""
    replied: Milliseconds
    """When the owner replied; 0 where unknown."""
    digests: _Digests
    """The ``digest`` of each of ``MEMBERS``."""
    has_own_id: bool = False
    """Whether its id is known not to be made of its content."""

    def digest(self, name: str) -> bytes:
        """Return the digest of one of ``MEMBERS``."""
        return self.digests[_PLACES[name] : _PLACES[name] + _SIZE]

    def has(self, name: str, value: object) -> bool:
        """Return whether this value of a member is the one that an import wrote."""
        return name in _PLACES and self.digest(name) == digest(value)

    def differs(self, name: str, value: object) -> bool:
        """Return whether an import wrote another value, so that this one is an edit by hand."""
        return name in _PLACES and self.digest(name) not in (UNKNOWN, digest(value))


NOTHING: Final = Written(0, 0, UNKNOWN * len(MEMBERS))
"""A review of which no import is known."""


def digest(value: object) -> bytes:
    """Return a checksum of a member; an absent one counts as null."""
    try:
        text = _encoder.encode(value)
    except UnicodeEncodeError:  # half characters
        text = json.dumps(value, sort_keys=True).encode()
    return (zlib.crc32(text) or 1).to_bytes(_SIZE, "little")


def digests(review: Mapping[str, object]) -> bytes:
    """Return the checksums of all ``MEMBERS`` of a review."""
    return b"".join(digest(review.get(name)) for name in MEMBERS)


FILE: Final = "imports.json"

_MODE: Final = 0o600


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of reviews.json, which names the version that it made."""

    at: datetime.datetime
    text: str
    """What it was, as a noun: the import of a file, a reply."""
    source: str = ""
    """The source whose sync it was."""


class _Location(msgspec.Struct, frozen=True):
    source: str
    location: str
    newest_day: str = ""  # of a log of before
    """The newest day of the reviews of its last import."""


class ImportLog(msgspec.Struct, frozen=True, kw_only=True):
    """The log of earlier imports."""

    version: Literal[1] = 1
    change: Change | None = None
    """The last change of reviews.json; None where it is not known."""
    places: tuple[_Location, ...] = ()
    reviews: Mapping[str, Written] = {}
    """The values that imports last wrote of each review, by its merge key."""
    timezone: str = ""
    """The time zone that an import said last."""
    short_names: tuple[str, ...] = ()
    """The sources of which imports shorten names, until one takes them in full."""
    ids: Mapping[str, str] = {}
    """The ids of reviews to which a table has given ids of its own later, by the merge keys of those."""

    def of(self, key: str) -> Written:
        """Return what imports last wrote of a review, by its merge key."""
        return self.reviews.get(key, NOTHING)

    @property
    def newest(self) -> dict[Place, str]:
        """The newest day in the rows of the last import of each location."""
        return {Place(place.source, place.location): place.newest_day for place in self.places}


def load(folder: Folder) -> tuple[ImportLog, list[str]]:
    """Read the log of a data folder; an empty one where there is none, or none that can be read.

    Returns:
        The log, and why it could not be read, for the operator.
    """
    try:
        with folder.folder(KEPT_FOLDER) as own_folder, own_folder.open(FILE) as file:
            return msgspec.json.decode(file.read(), type=ImportLog), []
    except FileNotFoundError:
        return ImportLog(), []
    except (OSError, msgspec.MsgspecError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        return ImportLog(), [f"{KEPT_FOLDER}/{FILE} cannot be read: {reason}"]


def parsed(log: bytes) -> ImportLog:
    """Return a log that is kept; an empty one if it cannot be read."""
    try:
        return msgspec.json.decode(log, type=ImportLog)
    except (msgspec.MsgspecError, ValueError):
        return ImportLog()


@contextlib.contextmanager
def draft(own_folder: Folder, log: ImportLog) -> Iterator[Draft]:
    """Write a new log for the block; without ``put`` the old one stays."""
    with own_folder.draft(FILE) as new:
        new.file.write(msgspec.json.encode(log))
        new.file.flush()  # what can fail for want of room has failed now
        yield new


def put(new: Draft, reviews: os.stat_result | None) -> None:
    """Put a new log in place, with the owner and mode of reviews.json."""
    if reviews is not None:
        new.give(reviews.st_uid, reviews.st_gid)
    new.put(_MODE if reviews is None else reviews.st_mode & 0o777)


def older_than(newest: Mapping[Place, str], log: ImportLog) -> frozenset[Place]:
    """Return the locations of the sources of which an export is older than the last import.

    Those of one source have one age, as the rows of a table may have got other locations.
    """
    last = {place: day for place, day in log.newest.items() if place in newest}
    now, before = _latest(newest), _latest(last)
    return frozenset(place for place in last if now[place.source] < before[place.source])


def _latest(days: Mapping[Place, str]) -> dict[str, str]:
    """Return the latest day of each source."""
    latest: dict[str, str] = {}
    for place, day in days.items():
        latest[place.source] = max(day, latest.get(place.source, ""))
    return latest


def recorded(log: ImportLog, newest: Mapping[Place, str], agreed: Collection[Place]) -> ImportLog:
    """Return the log with the newest days of one more import.

    Of the locations in ``agreed`` an older export was taken on request.
    """
    days = log.newest
    for place, day in newest.items():
        days[place] = day if place in agreed else max(day, days.get(place, ""))
    places = tuple(_Location(*place, day) for place, day in days.items())
    return msgspec.structs.replace(log, places=places)
