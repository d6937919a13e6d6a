"""Compares an export with earlier imports: whether it is older than the last one.

An export says nowhere when it was made, but the newest time in its rows is near to it. That of the last
import is in the import log; without it, the newest day of the reviews in the file takes its place.
"""

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from reviewsctl.importing.import_log import Age, ImportLog, PastImport
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.reviews_file import reviews_of
from reviewsctl.importing.staging import Place
from reviewsctl.importing.values import members

_HOUR: Final = 3_600_000  # milliseconds
_DAY: Final = 24 * _HOUR
_EARLIEST, _LATEST = -14 * _HOUR, 36 * _HOUR  # of a day anywhere on earth, from its midnight in UTC
_MAX_PLACES: Final = 1_000  # locations of an import that are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """An export beside earlier imports."""

    here: Mapping[Place, Age]
    """Its age, for each location."""
    there: Mapping[Place, Age]
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
            for other, age in ages.items()
            if other.source == place.source and not (other.name and place.name)
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


def past_import(
    now: datetime.datetime,
    places: Collection[Place],
    fingerprint: str,
    takeouts: Mapping[str, Collection[int]],
) -> PastImport:
    """Return the entry of an import in the log."""
    return PastImport(
        at=now.replace(microsecond=0),
        places=tuple((place.source, place.name) for place in list(places)[:_MAX_PLACES]),
        fingerprint=fingerprint,
        takeouts={takeout: tuple(sorted(parts)) for takeout, parts in takeouts.items()},
    )
