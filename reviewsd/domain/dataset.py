"""The bytes of the data directory become a Dataset, or a DataError that names every fault.

The happy path decodes each review once, typed, and keeps where it stands in the file (``records``); what
it looks like when served is decided in ``publish.documents``. Sources: data-model.md 1, 2, 3 and 5;
contract 1.
"""

import datetime
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, chain, count
from typing import NamedTuple

import msgspec
from msgspec import Raw

from reviewsd.domain import times
from reviewsd.domain.corrected import Withheld, correct
from reviewsd.domain.corrections import Overlay
from reviewsd.domain.corrections import load as load_corrections
from reviewsd.domain.data_errors import member, show
from reviewsd.domain.insights_file import INSIGHTS_FILE, InsightsFile, load_insights
from reviewsd.domain.json_file import Findings, JsonFile, PartType
from reviewsd.domain.records import KnownRuns, Progress, Records, RecordText, RunFacts, digest
from reviewsd.domain.reviews import AggregateRating, Business, RemovedReview, Review, Timestamp
from reviewsd.domain.withheld_words import remove_words

REVIEWS_FILE = "reviews.json"
SETTINGS_FILE = "insights.yaml"
"""What the owner says of how insights are made (insights.md 3)."""

_STEP = 10_000  # records between two calls of Progress
_RUN, _MAX_RUN = 256, 1024  # reviews that are looked up together: on average, at most
_BETWEEN = re.compile(rb"[\s,]*")  # two items of an array
_SHORT = 64  # bytes of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The parsed and valid content of the data directory."""

    business: Business
    members: Mapping[str, Raw]
    """The top-level members of reviews.json as given, ``reviews`` left out."""
    records: Records
    """Newest first: date descending, then id descending (contract 3)."""
    stars: Mapping[int, int]
    """Number of reviews for each rating that occurs."""
    latest: datetime.date | None
    """The latest review or reply date."""
    insights: InsightsFile | None
    withheld: Withheld = field(default_factory=Withheld)
    """What the owner has hidden."""
    removed: tuple[RemovedReview, ...] = ()
    """The reviews that are gone, newest first: those that the file names, and those that are hidden."""

    @property
    def updated_at(self) -> datetime.datetime | None:
        """When a review changed last (``domain.times``), or a correction; None where there are none."""
        moments = [] if self.withheld.latest is None else [self.withheld.latest]
        if self.records:
            moments.append(times.from_microseconds(max(self.records.updated)))
        return max(moments, default=None)


def load(
    reviews: RecordText,
    insights: RecordText | None,
    progress: Progress = lambda *_: None,
    known: KnownRuns | None = None,
    corrections: RecordText | None = None,
) -> Dataset:
    """Validate the files as one unit, and correct the reviews.

    Args:
        reviews: Content of reviews.json, UTF-8, a leading BOM tolerated.
        insights: Content of insights.json, or None where there is none.
        progress: Told how far validation is.
        known: Runs of reviews that need not be validated again.
        corrections: Content of corrections.json, or None where there is none.

    Raises:
        DataError: One of them must not be published; carries the first findings of all.
    """
    findings = Findings()
    dataset = _load_reviews(JsonFile(REVIEWS_FILE, findings), reviews, progress, known)
    if corrections is not None:
        overlay = load_corrections(corrections, findings)
        if dataset is not None and overlay is not None:
            dataset = _corrected(dataset, Overlay(overlay), progress)
    extra = None
    if insights is not None:
        places = {} if dataset is None else dataset.records.places
        extra = load_insights(JsonFile(INSIGHTS_FILE, findings), insights, places, progress)
    if dataset is None or findings:
        raise findings.error()
    if insights is not None and (dataset.withheld.ids or dataset.withheld.names):
        texts = partial(_texts, dataset.records)
        cleaned = remove_words(bytes(insights), dataset.withheld, texts)
        extra = load_insights(JsonFile(INSIGHTS_FILE, findings), cleaned, places, progress)
    return replace(dataset, insights=extra, removed=_removed(dataset))


def _corrected(dataset: Dataset, overlay: Overlay, progress: Progress) -> Dataset:
    corrected = correct(dataset.records, overlay, progress)
    return replace(
        dataset,
        records=corrected.records,
        stars=corrected.stars,
        latest=corrected.latest,
        withheld=corrected.withheld,
    )


def _removed(dataset: Dataset) -> tuple[RemovedReview, ...]:
    """The reviews that are gone, newest first."""
    named = _REMOVED.decoder.decode(dataset.members.get("removed", Raw(b"[]")))
    removed = {each.id: each for each in named}
    for review_id, at in dataset.withheld.hidden.items():
        removed[review_id] = RemovedReview(id=review_id, at=at)
    for review_id in removed.keys() & dataset.records.ids:  # it came back
        del removed[review_id]
    return tuple(sorted(removed.values(), key=lambda each: (each.at, each.id), reverse=True))


def _texts(records: Records) -> Iterator[str]:
    """The texts of all reviews."""
    for raw in records.raws(0, len(records)):
        yield _REVIEW.decoder.decode(raw).text or ""


_BUSINESS: PartType[Business] = PartType(Business)
_REVIEW: PartType[Review] = PartType(Review, identified=True)
_ANYTHING: PartType[Raw] = PartType(Raw)
_LIST: PartType[list[Raw]] = PartType(list[Raw])
_OTHER_MEMBERS: dict[str, PartType[object]] = {
    "aggregate_rating": PartType(AggregateRating),
    "updated_at": PartType(Timestamp | None),
    "removed": PartType(tuple[RemovedReview, ...]),
}
_REMOVED: PartType[tuple[RemovedReview, ...]] = PartType(tuple[RemovedReview, ...])


def _load_reviews(
    file: JsonFile, text: RecordText, progress: Progress, known: KnownRuns | None
) -> Dataset | None:
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
    stars, latest = _load_records(file, records, reviews, begins.get("reviews", 0), progress, known)
    if business is None:
        return None
    records.sort()
    return Dataset(
        business=business,
        members=members,
        records=records,
        stars=stars,
        latest=latest,
        insights=None,
    )


def _load_records(
    file: JsonFile,
    records: Records,
    raw: Raw,
    begin: int,
    progress: Progress,
    known: KnownRuns | None,
) -> tuple[Mapping[int, int], datetime.date | None]:
    """Collect each review that is valid by itself; returns the stars of all, and the latest date."""
    items = _items(file, raw, "$.reviews")
    total = len(items)
    stars: Counter[int] = Counter()
    numbers: dict[str, int] = {}  # of the items, by id
    latest = 0
    for run in _runs(items, records.text, begin + 1, progress):
        key = b"" if known is None else run.key(records.text)
        facts = None if known is None else known.find(key)
        if facts is not None and numbers.keys().isdisjoint(facts.ids):
            numbers.update(zip(facts.ids, count(run.first), strict=False))
            records.extend(facts, run.begins, map(len, run.items))
        else:
            facts = _checked(file, records, numbers, run)
        if known is not None and not file.faulty:
            known.keep(key, facts)
        stars.update(facts.stars)
        latest = max(latest, facts.latest)
    progress("validating", total, total)
    return stars, datetime.date.fromordinal(latest) if latest else None


class _Run(NamedTuple):
    """Neighbouring items of ``reviews``."""

    first: int
    """The number of the first."""
    items: list[Raw]
    begins: "array[int]"
    """Where each begins in the file."""

    def key(self, text: RecordText) -> bytes:
        """The digest of its text."""
        return digest(memoryview(text)[self.begins[0] : self.begins[-1] + len(self.items[-1])])


def _runs(items: list[Raw], text: RecordText, end: int, progress: Progress) -> Iterator[_Run]:
    """All items, taken out of their list. Their own bytes say where a run ends, so it is found again."""
    items.reverse()  # so that each goes when it has been looked at
    total = len(items)
    first, run = 0, []
    for index in range(0, total, _STEP):
        progress("validating", index, total)
        some = items[: -_STEP - 1 : -1]
        del items[-_STEP:]
        for item, checksum in zip(some, map(zlib.crc32, some), strict=True):
            run.append(item)
            if not checksum % _RUN or len(run) == _MAX_RUN:
                begins = _begins(run, text, end)
                yield _Run(first, run, begins)
                end = begins[-1] + len(item)
                first += len(run)
                run = []
    if run:
        yield _Run(first, run, _begins(run, text, end))


def _begins(items: list[Raw], text: RecordText, end: int) -> "array[int]":
    """Where neighbouring items begin, from where the item before them ends."""
    begin = _end_of(_BETWEEN, text, end)
    # As a rule the same stands between any two items. An item does not begin with what may stand there.
    after = begin + len(items[0])
    between = text[after : _end_of(_BETWEEN, text, after)]
    joined = between.join(items) if len(between) <= _SHORT else b""
    if joined and text[begin : begin + len(joined)] == joined:
        sizes = map(len(between).__add__, map(len, items))
        return array("Q", accumulate(chain([begin], sizes)))[:-1]
    begins = array("Q")
    for item in items:
        begin = _end_of(_BETWEEN, text, end)
        begins.append(begin)
        end = begin + len(item)
    return begins


def _checked(file: JsonFile, records: Records, numbers: dict[str, int], run: _Run) -> RunFacts:
    """Collect those reviews of a run that are valid."""
    ids, days, begins, sizes, digests = [], [], [], [], []
    updated = array("q")
    stars: Counter[int] = Counter()
    latest = 0
    for index, begin, item in zip(count(run.first), run.begins, run.items, strict=False):
        path = f"$.reviews[{index}]"
        review = file.decode(item, _REVIEW, path, depth=2)
        if review is None:
            continue
        if review.added_at or review.changed_at:
            _refuse_outside_utc(file, path, review, item)
        first = numbers.setdefault(review.id, index)
        if first != index:
            file.refuse(f"{path}.id", f"duplicate of $.reviews[{first}].id", review.id)
            continue
        ids.append(review.id)
        days.append(review.date.toordinal())
        begins.append(begin)
        sizes.append(len(item))
        digests.append(digest(item))
        stars[review.rating] += 1
        replied = review.date if review.owner_reply is None else review.owner_reply.date
        last = max(days[-1], replied.toordinal())
        latest = max(latest, last)
        updated.append(times.updated_microseconds(review, last))
    facts = RunFacts(ids, days, updated.tobytes(), stars, latest, b"".join(digests))
    records.extend(facts, begins, sizes)
    return facts


def _items(file: JsonFile, raw: Raw, path: str) -> list[Raw]:
    try:
        return _LIST.decoder.decode(raw)
    except msgspec.ValidationError:
        file.refuse_type(path, raw, list[object])
        return []


def _refuse_outside_utc(file: JsonFile, path: str, review: Review, item: Raw) -> None:
    """Refuse stamps that cannot be served in UTC."""
    for name, stamp in times.stamps(review).items():
        if not times.fits_utc(stamp):
            given = msgspec.json.decode(item, type=dict[str, object])[name]
            file.refuse(f"{path}.{name}", f"{times.OUTSIDE_UTC}, got {show(given)}", review.id)


def _end_of(pattern: re.Pattern[bytes], text: RecordText, start: int) -> int:
    """Where a pattern that matches even nothing ends."""
    match = pattern.match(text, start)
    assert match is not None  # noqa: S101  it matches the empty string
    return match.end()
