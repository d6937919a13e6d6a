"""Validates the files of the data directory, and makes one Dataset of them.

Each review is decoded once, typed, and only its place in the file is kept (``records``);
``publish.documents`` decides how it is served. Sources: data-model.md 1, 2, 3 and 5; contract 1.
"""

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from reviewsd.domain import times
from reviewsd.domain.corrected import Withheld, correct
from reviewsd.domain.corrections import Overlay
from reviewsd.domain.corrections import load as load_corrections
from reviewsd.domain.data_errors import member, show
from reviewsd.domain.insights_file import INSIGHTS_FILE, InsightsFile, load_insights
from reviewsd.domain.json_file import Findings, JsonFile
from reviewsd.domain.locations import Locations, faults
from reviewsd.domain.records import Progress, Records, RecordText, reported
from reviewsd.domain.reviews import AggregateRating, Business, RemovedReview, Review, Timestamp
from reviewsd.domain.withheld_words import remove_words

REVIEWS_FILE = "reviews.json"
SETTINGS_FILE = "insights.yaml"
"""The owner's settings for the analysis (insights.md 3)."""

_SEPARATOR = re.compile(rb"[\s,]*")  # between two items of an array


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The parsed and valid content of the data directory."""

    business: Business
    members: Mapping[str, Raw]
    """The top-level members of reviews.json, unchanged and without ``reviews``."""
    records: Records
    """Newest first: date descending, then id descending (contract 3)."""
    insights: InsightsFile | None
    withheld: Withheld = field(default_factory=Withheld)
    """The reviews that the owner withholds."""
    removed: tuple[RemovedReview, ...] = ()
    """The removed reviews, newest first: those that the file names and those that are hidden."""

    @property
    def stars(self) -> Mapping[int, int]:
        """Number of reviews for each rating that occurs."""
        return self.records.stars

    @property
    def updated_at(self) -> datetime.datetime | None:
        """The time of the last change of a review (``domain.times``) or of the corrections."""
        moments = [] if self.withheld.latest is None else [self.withheld.latest]
        if self.records:
            moments.append(times.from_microseconds(max(self.records.updated)))
        return max(moments, default=None)


def load(
    reviews: RecordText,
    insights: RecordText | None,
    progress: Progress = lambda *_: None,
    corrections: RecordText | None = None,
) -> Dataset:
    """Validate the files as one unit, and apply the corrections.

    Args:
        reviews: Content of reviews.json, UTF-8 with or without a BOM.
        insights: Content of insights.json, or None without the file.
        progress: Called with the number of reviews validated so far.
        corrections: Content of corrections.json, or None without the file.

    Raises:
        DataError: A file is invalid; has the first findings of all files.
    """
    findings = Findings()
    dataset = _load_reviews(JsonFile(REVIEWS_FILE, findings), reviews, progress)
    if corrections is not None:
        overlay = load_corrections(corrections, findings)
        if dataset is not None and overlay is not None:
            records, withheld = correct(dataset.records, Overlay(overlay), progress)
            dataset = replace(dataset, records=records, withheld=withheld)
    insights_file = None
    if insights is not None:
        places = {} if dataset is None else dataset.records.places
        insights_file = load_insights(JsonFile(INSIGHTS_FILE, findings), insights, places, progress)
    if dataset is None or findings:
        raise findings.error()
    if insights is not None and (dataset.withheld.ids or dataset.withheld.names):
        texts = partial(texts_of, dataset.records)
        clean = remove_words(bytes(insights), dataset.withheld, texts)
        insights_file = load_insights(JsonFile(INSIGHTS_FILE, findings), clean, places, progress)
    return replace(dataset, insights=insights_file, removed=_removed(dataset))


def _removed(dataset: Dataset) -> tuple[RemovedReview, ...]:
    listed = _REMOVED.decode(dataset.members.get("removed", Raw(b"[]")))
    removed = {review.id: review for review in listed}
    for review_id, at in dataset.withheld.hidden.items():
        removed[review_id] = RemovedReview(id=review_id, at=at)
    for review_id in removed.keys() & dataset.records.ids:  # it came back
        del removed[review_id]
    return tuple(sorted(removed.values(), key=lambda review: (review.at, review.id), reverse=True))


def texts_of(records: Records) -> Iterator[str]:
    """Yield the texts of all reviews."""
    for raw in records:
        yield _REVIEW.decode(raw).text or ""


_BUSINESS = Decoder(Business)
_REVIEW = Decoder(Review)
_ANYTHING = Decoder(Raw)
_LIST = Decoder(list[Raw])
_REMOVED = Decoder(tuple[RemovedReview, ...])
_OTHER_MEMBERS: dict[str, Decoder[object]] = {
    "aggregate_rating": Decoder(AggregateRating),
    "updated_at": Decoder(Timestamp | None),
    "removed": Decoder(tuple[RemovedReview, ...]),
}


def _load_reviews(file: JsonFile, text: RecordText, progress: Progress) -> Dataset | None:
    parts = file.split(text)
    if parts is None:
        return None
    members, begins = parts
    reviews = members.pop("reviews", None)
    business = None
    for name, raw in members.items():
        path = member("$", name)
        if name == "business":
            business = file.decode(raw, _BUSINESS, path)
        elif name in _OTHER_MEMBERS:
            value = file.decode(raw, _OTHER_MEMBERS[name], path)
            if isinstance(value, datetime.datetime) and not times.fits_utc(value):
                file.refuse(path, f"{times.OUTSIDE_UTC}, got {show(msgspec.json.decode(raw))}")
        else:
            file.decode(raw, _ANYTHING, path)
    if "business" not in members:
        file.refuse("$.business", "missing")
    if reviews is None:
        file.refuse("$.reviews", "missing")
        return None
    records = Records(text)
    begin, locations = begins.get("reviews", 0), _locations(file, business)
    _load_records(file, records, reviews, begin, locations, progress)
    if business is None:
        return None
    records.sort()
    return Dataset(business=business, members=members, records=records, insights=None)


def _locations(file: JsonFile, business: Business | None) -> Locations:
    """Return the locations that reviews may name, after adding the findings about them."""
    if business is None:
        return Locations()
    for path, reason in faults(business):
        file.refuse(path, reason)
    return Locations.of(business)


def _load_records(
    file: JsonFile,
    records: Records,
    raw: Raw,
    begin: int,
    locations: Locations,
    progress: Progress,
) -> None:
    """Collect the valid reviews.

    Args:
        file: The file.
        records: Receives the reviews.
        raw: The array of reviews.
        begin: The offset of the array in the file.
        locations: The locations that a review may name; without any it may name each.
        progress: Called with the number of reviews validated so far.
    """
    items = _list_items(file, raw)
    items.reverse()  # pop() frees each item after it was decoded
    total = len(items)
    indexes: dict[str, int] = {}
    unknown: set[str] = set()  # locations
    end = begin + 1
    for index in reported(range(total), total, "validating", progress):
        item = items.pop()
        begin = _skip_separator(records.text, end)
        end = begin + len(item)
        path = f"$.reviews[{index}]"
        review = file.decode(item, _REVIEW, path, depth=2)
        if review is None:
            continue
        if review.added_at or review.changed_at:
            _refuse_outside_utc(file, path, review, item)
        if locations.by_id and review.location and locations.find(review.location) is None:
            if review.location not in unknown:  # each once: it may be that of all reviews
                reason = "" if file.full else locations.explain(review.location)
                file.refuse(f"{path}.location", reason, review.id)
            unknown.add(review.location)
        first = indexes.setdefault(review.id, index)
        if first != index:
            file.refuse(f"{path}.id", f"duplicate of $.reviews[{first}].id", review.id)
            continue
        day, updated = review.date.toordinal(), times.updated_microseconds(review)
        records.append(review.id, day, updated, review.rating, begin, item)


def _list_items(file: JsonFile, raw: Raw) -> list[Raw]:
    try:
        return _LIST.decode(raw)
    except msgspec.ValidationError:
        file.refuse_type("$.reviews", raw, list[object])
        return []


def _refuse_outside_utc(file: JsonFile, path: str, review: Review, item: Raw) -> None:
    """Refuse stamps that cannot be served in UTC."""
    for name, stamp in times.stamps(review).items():
        if not times.fits_utc(stamp):
            value = msgspec.json.decode(item, type=dict[str, object])[name]
            file.refuse(f"{path}.{name}", f"{times.OUTSIDE_UTC}, got {show(value)}", review.id)


def _skip_separator(text: RecordText, start: int) -> int:
    match = _SEPARATOR.match(text, start)
    assert match is not None  # noqa: S101  it matches the empty string
    return match.end()
