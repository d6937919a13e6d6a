"""Warnings about valid data, for ``reviewsd --check`` (data-model.md 5, second table)."""

import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from reviewsd.api.files import Diagnostic
from reviewsd.api.spelling import nearest_location
from reviewsd.api.texts import counted, first_of
from reviewsd.domain import times
from reviewsd.domain.corrections import CORRECTIONS_FILE
from reviewsd.domain.data_errors import show
from reviewsd.domain.dataset import REVIEWS_FILE, Dataset
from reviewsd.domain.json_file import BOM
from reviewsd.domain.lint_business import business_warnings, misnamed
from reviewsd.domain.lint_insights import insight_warnings
from reviewsd.domain.locations import several
from reviewsd.domain.naming import mention_key
from reviewsd.domain.records import Progress, reported
from reviewsd.domain.reviews import Business, Review, is_blank

EXAMPLE: Final = "example"
"""The ``source`` of the sample reviews of ``reviewsctl init``."""

_NAMED: Final = 3  # locations in a warning
_LATEST_ZONE: Final = datetime.timezone(datetime.timedelta(hours=14))
"""The time zone in which each day begins first; only later days are in the future everywhere."""
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)


class _Records(msgspec.Struct):
    reviews: list[Raw]


_RECORDS: Final = msgspec.json.Decoder(_Records)
_REVIEW: Final = msgspec.json.Decoder(Review)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])


def doubts(
    reviews: bytes, dataset: Dataset, now: datetime.datetime, progress: Progress = lambda *_: None
) -> Iterator[Diagnostic]:
    """Yield all warnings, in the order of the files.

    Args:
        reviews: Content of reviews.json.
        dataset: The dataset of the files.
        now: The current time; later times are reported.
        progress: Called with the number of reviews checked so far.
    """
    for path, reason in business_warnings(dataset):
        yield _finding(path, reason)
    selection = dataset.withheld.selection(dataset.stars)
    if selection is not None and len(dataset.withheld.stars) > 1:  # decision 538
        yield Diagnostic(file=CORRECTIONS_FILE, path="$.reviews", reason=selection)
    updated_at = msgspec.json.decode(dataset.members.get("updated_at", b"null"), type=_Moment)
    if updated_at is not None and updated_at > now:
        yield _finding("$.updated_at", _in_future(times.spelled(updated_at)))
    counts = Counter[tuple[str, str]]()
    hidden = dataset.withheld.hidden.keys()
    yield from _records(reviews.removeprefix(BOM), now, progress, counts, hidden)
    if several(dataset.business):
        yield from _without_location(counts)
    places = dict.fromkeys(place for _, place in counts if place)
    if len(places) > 1 and not dataset.business.locations:
        names = first_of(map(show, places), _NAMED, ", ")
        remedy = "declare one of them, and import again, which adds the others by their titles"
        reason = f"missing: reviews name {len(places):,} locations ({names}), which have no pages and no filter; {remedy}"
        yield _finding("$.business.locations", reason)
    yield from _unused_locations(dataset.business, places)
    if dataset.insights is not None:
        identifiers = set(dataset.records.ids)
        newest = datetime.date.fromordinal(dataset.records.days[0]) if dataset.records else None
        yield from insight_warnings(dataset.insights, identifiers, newest)


def _without_location(counts: Mapping[tuple[str, str], int]) -> Iterator[Diagnostic]:
    """Yield warnings about sources of which no review names a location; one that does not is of the business."""
    located = {source for source, place in counts if place}
    for (source, _), count in counts.items():
        if source not in located and source != EXAMPLE:
            reason = f"{counted(count, 'review')} of {show(source)} without a location, on the page of none; an import with --set location=ID gives them one"
            yield _finding("$.business.locations", reason)


def _unused_locations(business: Business, places: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield warnings about locations without reviews that may be other ones, mistyped in a table once."""
    used = {*map(mention_key, places)}
    names = [location.name for location in business.locations or ()]
    for index, location in enumerate(business.locations or ()):
        if used.isdisjoint(map(mention_key, (location.id, *location.aliases))):
            others = [*names[:index], *names[index + 1 :]]
            if hint := nearest_location(location.name, others):
                reason = (
                    f"no review is of {show(location.name)}{hint} If so, take this location out"
                )
                yield _finding(f"$.business.locations[{index}]", reason)


_Moment: TypeAlias = datetime.datetime | None

_UNSTAMPED: Final = (
    "later than added_at and changed_at, so feeds and changed_since miss the reply; set changed_at"
)


def _in_future(when: datetime.date | str) -> str:
    return f"in the future, got {show(str(when))}"


def _finding(path: str, reason: str, review_id: str | None = None) -> Diagnostic:
    return Diagnostic(file=REVIEWS_FILE, path=path, reason=reason, id=review_id)


def _records(
    text: bytes,
    now: datetime.datetime,
    progress: Progress,
    counts: Counter[tuple[str, str]],
    hidden: Collection[str],
) -> Iterator[Diagnostic]:
    """Yield the warnings about reviews, and count them in ``counts`` by source and location, "" for none."""
    items = _RECORDS.decode(text).reviews
    by_text: dict[int, str] = {}  # ids
    for index, item in enumerate(reported(items, len(items), "comparing", progress)):
        review = _REVIEW.decode(item)
        path = f"$.reviews[{index}]"
        counts[review.source or "", review.location or ""] += 1
        for where, reason in (*_record(review, path), *_times(review, path, now)):
            yield _finding(where, reason, review.id)
        for where, reason in misnamed(_MEMBERS.decode(item), Review.__struct_fields__, path):
            yield _finding(where, reason, review.id)
        if not review.text or review.id in hidden:
            continue
        alike = hash((review.author, review.date, review.text))
        if (first := by_text.setdefault(alike, review.id)) != review.id:
            hide = f"reviewsctl reviews hide {review.id} --reason duplicate"
            reason = f"same author, date and text as {first}; if it is the same review: {hide}"
            yield _finding(path, reason, review.id)


def _record(review: Review, path: str) -> Iterator[tuple[str, str]]:
    if review.source == EXAMPLE:
        yield path, "an example of reviewsctl init; import your reviews, or take it out"
    if _ULID.fullmatch(review.id) is None:
        yield f"{path}.id", f"not a ULID, got {show(review.id)}"
    if is_blank(review.author):
        yield f"{path}.author", f"blank, got {show(review.author)}"


def _times(review: Review, path: str, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    """Yield warnings about times in the future, and about replies that feeds miss."""
    today = now.astimezone(_LATEST_ZONE).date()
    if review.date > today:
        yield f"{path}.date", _in_future(review.date)
    stamps = times.stamps(review)
    for name, stamp in stamps.items():
        if stamp > now:
            yield f"{path}.{name}", _in_future(times.spelled(stamp))
    reply = review.owner_reply
    if reply is None:
        return
    where = f"{path}.owner_reply.date"
    if reply.date < review.date:
        yield where, f"before the review of {review.date}, got {show(str(reply.date))}"
    elif reply.date > today:
        yield where, _in_future(reply.date)
    elif stamps and reply.date > max(stamps.values()).astimezone(_LATEST_ZONE).date():
        yield where, _UNSTAMPED
