"""The log of earlier imports: ``.reviewsctl/imports.json`` beside reviews.json.

By it an import notices that an export is older than the last one, and which edits by hand it would overwrite. It holds
digests, times and names of exports, and neither names of people nor texts. Without it an import still works, and knows
less.
"""

import contextlib
import datetime
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, BinaryIO, Final

import msgspec

from reviewsctl.files.folders import Draft, Folder
from reviewsctl.importing.staging import Place
from reviewsctl.importing.written import NOTHING, Written, WrittenRows
from reviewsd.api.places import KEPT_FOLDER

FILE: Final = "imports.json"
VERSION: Final = 1

MAX_IMPORTS: Final = 50
"""Imports that are remembered."""

_Milliseconds = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]

_decode_row: Final = msgspec.json.Decoder(tuple[_Milliseconds, _Milliseconds, bytes]).decode

_MODE: Final = 0o600
_MAX_LOCATIONS: Final = 10_000


class PastImport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One import that wrote, or found that nothing was to be written."""

    at: datetime.datetime
    places: tuple[tuple[str, str], ...]
    """Its locations, each with its source before."""
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


class _Location(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    location: str
    newest: _Milliseconds


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
    newest: Mapping[Place, int] = field(default_factory=dict)
    """The newest time in the rows of the last import of each location, in POSIX milliseconds."""
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
    except (OSError, msgspec.MsgspecError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        return ImportLog(fault=f"{KEPT_FOLDER}/{FILE} cannot be read: {reason}")


def last_import(log: bytes) -> PastImport | None:
    """Return the last import of a log that changed a review; None if it has none, or cannot be read."""
    try:
        imports = msgspec.json.decode(log, type=_File).imports
    except (msgspec.MsgspecError, ValueError):
        return None
    changing = (past for past in reversed(imports) if past.changes)
    return next(changing, imports[-1] if imports else None)


def _read(file: BinaryIO, rows: WrittenRows) -> ImportLog:
    log = msgspec.json.decode(file.read(), type=_File)
    if log.version != VERSION:
        raise ValueError("another version of reviewsctl wrote it")
    rows.load([*map(_row, log.reviews.items())])  # all of them, or none
    newest = {Place(entry.source, entry.location): entry.newest for entry in log.places}
    return ImportLog(imports=log.imports, newest=newest)


def _row(member: tuple[str, msgspec.Raw]) -> tuple[str, Written]:
    key, raw = member
    row = Written(*_decode_row(raw))
    if len(row.digests) != len(NOTHING.digests):
        raise ValueError("it has digests of other members")
    return key, row


@contextlib.contextmanager
def draft(
    own_folder: Folder, log: ImportLog, rows: Iterable[tuple[str, Written]]
) -> Iterator[Draft]:
    """Write a new log for the block; without ``put`` the old one stays."""
    with own_folder.draft(FILE) as new:
        out = new.file
        imports = [msgspec.json.encode(entry) for entry in log.imports[-MAX_IMPORTS:]]
        places = [
            msgspec.json.encode(_Location(source=place.source, location=place.name, newest=newest))
            for place, newest in list(log.newest.items())[-_MAX_LOCATIONS:]
        ]
        out.write(b'{"version": %d,\n"imports": [\n' % VERSION)
        out.write(b",\n".join(imports) + b'\n],\n"places": [\n' + b",\n".join(places))
        out.write(b'\n],\n"reviews": {')
        between = b"\n"
        for key, row in rows:
            out.write(between + msgspec.json.encode(key) + b": " + msgspec.json.encode(row))
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


def older_than(newest: Mapping[Place, int], log: ImportLog) -> frozenset[Place]:
    """Return the locations of which an export is older than the last import.

    Args:
        newest: The newest time in the rows of each location, in POSIX milliseconds.
        log: The import log.
    """
    return frozenset(
        place
        for place, time in newest.items()
        if place in log.newest and _is_older(time, log.newest[place])
    )


def _is_older(time: int, last: int) -> bool:
    is_day, was_day = time % _DAY == 0, last % _DAY == 0
    if is_day == was_day:
        return time < last
    # midnight is a day without a clock, in the time zone of the business
    return time + is_day * _LATEST < last + was_day * _EARLIEST


def recorded(
    log: ImportLog,
    newest: Mapping[Place, int],
    *,
    current: PastImport,
    agreed: Collection[Place],
) -> ImportLog:
    """Return the log with one more import.

    Args:
        log: The log before.
        newest: The newest time in the rows of each location.
        current: The import.
        agreed: The locations of which an older export was taken on request.
    """
    times = dict(log.newest)
    for place, time in newest.items():
        last = times.pop(place, 0)
        times[place] = time if place in agreed else max(time, last)
    return replace(log, imports=(*log.imports, current), newest=times)
