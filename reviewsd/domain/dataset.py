"""The bytes of the data directory become a Dataset, or a DataError that names every fault.

The happy path decodes each review once, typed. Records stay the operator's own bytes (``Raw`` views
into the file), so a million of them cost no copy; what they look like when served is decided in
``formats.documents``. Sources: data-model.md 1, 2, 3 and 5; contract 1.
"""

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar, get_type_hints

import msgspec
from msgspec import Raw

from reviewsd.domain import strict_json as strictness
from reviewsd.domain.findings import MAX_FINDINGS, DataError, Finding, explain, member, show
from reviewsd.domain.insights import Entities, Entity, Insights, PerReview, named
from reviewsd.domain.reviews import AggregateRating, Business, Review, ReviewId, Timestamp

REVIEWS_FILE = "reviews.json"
INSIGHTS_FILE = "insights.json"

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total) now and then during long work."""

_STEP = 10_000  # records between two calls of Progress
_MIB = 1 << 20
_CONTINUATION = range(0x80, 0xC0)  # bytes within a UTF-8 character, at most three in a row
_BOM = b"\xef\xbb\xbf"
_MAX_DIGITS = 4000  # of an integer shown in a finding; Python itself refuses more than 4,300

T = TypeVar("T")


class Record(NamedTuple):
    """One valid review as it stands in the file; the newest is the greatest."""

    day: int
    """Proleptic ordinal of its date."""
    id: str
    raw: Raw


class Mentions(NamedTuple):
    """The technicians and services that one review names, as the file spells them."""

    technicians: tuple[str, ...]
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsFile:
    """The insights, as given and typed."""

    members: Mapping[str, Raw]
    """The top-level members as given."""
    typed: Insights
    """All but ``per_review``, which may be as large as the reviews."""
    mentions: Mapping[str, Mentions]
    """From ``per_review``: by review id, where a review names anybody or anything."""
    analysed: int
    """Number of entries of ``per_review``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The parsed and valid content of the data directory."""

    business: Business
    members: Mapping[str, Raw]
    """The top-level members of reviews.json as given, ``reviews`` left out."""
    records: list[Record]
    """Newest first: date descending, then id descending (contract 3)."""
    stars: Mapping[int, int]
    """Number of reviews for each rating that occurs."""
    latest: datetime.date | None
    """The latest review or reply date."""
    insights: InsightsFile | None


def load(reviews: bytes, insights: bytes | None, progress: Progress = lambda *_: None) -> Dataset:
    """Validate both files as one unit.

    Args:
        reviews: Content of reviews.json, UTF-8, a leading BOM tolerated.
        insights: Content of insights.json, or None where there is none.
        progress: Told how far validation is.

    Raises:
        DataError: One of them must not be published; carries the first findings of both.
    """
    findings = _Findings()
    dataset = _load_reviews(_File(REVIEWS_FILE, findings), reviews, progress)
    extra = None
    if insights is not None:
        extra = _load_insights(_File(INSIGHTS_FILE, findings), insights)
    if dataset is None or findings.total:
        raise DataError(tuple(findings.first), findings.total)
    return replace(dataset, insights=extra)


class _Findings:
    """Counts every finding and keeps the first ones."""

    def __init__(self) -> None:
        self.first: list[Finding] = []
        self.total = 0

    def add(self, finding: Finding) -> None:
        self.total += 1
        if len(self.first) < MAX_FINDINGS:
            self.first.append(finding)


class _Kind(Generic[T]):
    """A type that a part of a file must have, with its decoder."""

    def __init__(self, kind: object) -> None:
        self.kind = kind
        self.decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)


class _File:
    """One file being taken apart: what is refused is left out and leaves a finding."""

    def __init__(self, name: str, findings: _Findings) -> None:
        self._name = name
        self._findings = findings

    def refuse(self, path: str, reason: str, review_id: str | None = None) -> None:
        self._findings.add(Finding(file=self._name, path=path, reason=reason, review_id=review_id))

    def refuse_type(self, path: str, text: bytes | Raw, kind: object) -> None:
        """Refuse JSON of another type than this object or array; what it contains does not count."""
        text = bytes(text).lstrip()
        hollow: dict[bytes, object] = {b"{": {}, b"[": []}
        value = hollow[text[:1]] if text[:1] in hollow else _loose(text)
        for where, reason in explain(value, kind, path):
            self.refuse(where, reason)

    def split(self, text: bytes) -> dict[str, Raw] | None:
        """The members of the file's one object."""
        skipped = len(_BOM) if text.startswith(_BOM) else 0
        text = text[skipped:] if skipped else text
        if (offset := _first_not_utf8(text)) is not None:
            self.refuse("", f"not UTF-8 at byte {offset + skipped}")
            return None
        try:
            members = strictness.split(text)
        except strictness.NotJsonError as error:
            line = text.count(b"\n", 0, error.offset) + 1
            column = error.offset - text.rfind(b"\n", 0, error.offset)
            where = f"{self._name}:{line}:{column}"
            self._findings.add(Finding(file=where, path="", reason=f"invalid JSON: {error.reason}"))
            return None
        except strictness.UnfitError as unfit:
            self.refuse("$", str(unfit))
            return None
        except msgspec.ValidationError:
            self.refuse_type("$", text, dict[str, object])
            return None
        if (reason := strictness.name_twice(text, members)) is not None:
            self.refuse("$", reason)
        return members

    def decode(self, raw: Raw, kind: _Kind[T], path: str, depth: int = 1) -> T | None:
        """One part, strict and typed, or None with every fault found."""
        if (reason := strictness.fault(raw, depth)) is not None:
            self.refuse(path, reason, _review_id(raw, kind))
            return None
        try:
            return kind.decoder.decode(raw)
        except msgspec.ValidationError as refusal:
            review_id = _review_id(raw, kind)
            for where, why in list(explain(_loose(raw), kind.kind, path)) or [(path, str(refusal))]:
                self.refuse(where, why, review_id)
            return None


class _Identified(msgspec.Struct):
    """Of a review its id, where that is one."""

    id: ReviewId


_BUSINESS: _Kind[Business] = _Kind(Business)
_REVIEW: _Kind[Review] = _Kind(Review)
_PER_REVIEW: _Kind[PerReview] = _Kind(PerReview)
_IDENTIFIED: _Kind[_Identified] = _Kind(_Identified)
_ANYTHING: _Kind[Raw] = _Kind(Raw)
_LIST: _Kind[list[Raw]] = _Kind(list[Raw])
_OTHER_MEMBERS: dict[str, _Kind[object]] = {
    "aggregate_rating": _Kind(AggregateRating),
    "updated_at": _Kind(Timestamp | None),
}


def _load_reviews(file: _File, text: bytes, progress: Progress) -> Dataset | None:
    members = file.split(text)
    if members is None:
        return None
    reviews = members.pop("reviews", None)
    business = None
    for name, raw in members.items():
        path = member("$", name)
        if name == "business":
            business = file.decode(raw, _BUSINESS, path)
        elif name in _OTHER_MEMBERS:
            value = file.decode(raw, _OTHER_MEMBERS[name], path)
            if isinstance(value, datetime.datetime) and not _fits_utc(value):
                file.refuse(path, f"not in the years 1..9999 UTC, got {show(_loose(raw))}")
        else:
            file.decode(raw, _ANYTHING, path)
    if "business" not in members:
        file.refuse("$.business", "missing")
    if reviews is None:
        file.refuse("$.reviews", "missing")
        return None
    records: list[Record] = []
    stars: Counter[int] = Counter()
    latest = None
    for record, review in _load_records(file, reviews, progress):
        records.append(record)
        stars[review.rating] += 1
        replied = review.date if review.owner_reply is None else review.owner_reply.date
        day = max(review.date, replied)
        latest = day if latest is None or day > latest else latest
    if business is None:
        return None
    records.sort(reverse=True)
    return Dataset(
        business=business,
        members=members,
        records=records,
        stars=stars,
        latest=latest,
        insights=None,
    )


def _load_records(file: _File, raw: Raw, progress: Progress) -> Iterator[tuple[Record, Review]]:
    """Each review that is valid by itself."""
    items = _items(file, raw, "$.reviews")
    positions: dict[str, int] = {}
    for index, item in enumerate(items):
        if index % _STEP == 0:
            progress("validating", index, len(items))
        path = f"$.reviews[{index}]"
        review = file.decode(item, _REVIEW, path, depth=2)
        if review is None:
            continue
        first = positions.setdefault(review.id, index)
        if first != index:
            file.refuse(f"{path}.id", f"duplicate of $.reviews[{first}].id", review.id)
            continue
        yield Record(review.date.toordinal(), review.id, item), review
    progress("validating", len(items), len(items))


def _load_insights(file: _File, text: bytes) -> InsightsFile | None:
    members = file.split(text)
    if members is None:
        return None
    typed: dict[str, object] = {}
    mentions: dict[str, Mentions] = {}
    analysed = 0
    for name, raw in members.items():
        path = member("$", name)
        if name == "per_review":
            mentions, analysed = _load_per_review(file, raw, path)
        elif name in _INSIGHTS_MEMBERS:
            value = file.decode(raw, _INSIGHTS_MEMBERS[name], path)
            if value is not None:
                typed[name] = value
        else:
            file.decode(raw, _ANYTHING, path)
    insights = Insights(**typed)  # type: ignore[arg-type]  # each was decoded as its field's type
    _check_named(file, insights)
    return InsightsFile(members=members, typed=insights, mentions=mentions, analysed=analysed)


_INSIGHTS_MEMBERS: dict[str, _Kind[object]] = {
    name: _Kind(kind)
    for name, kind in get_type_hints(Insights, include_extras=True).items()
    if name != "per_review"
}


def _load_per_review(file: _File, raw: Raw, path: str) -> tuple[dict[str, Mentions], int]:
    """Who and what each review mentions, and how many were analysed."""
    try:
        entries = strictness.split(raw)
    except msgspec.ValidationError:
        file.refuse_type(path, raw, dict[str, object])
        return {}, 0
    if (reason := strictness.name_twice(bytes(raw), entries)) is not None:
        file.refuse(path, reason)
    mentions = {}
    shared: dict[Mentions, Mentions] = {}  # a few people and services, a million times
    for review_id, item in entries.items():
        entry = file.decode(item, _PER_REVIEW, member(path, review_id), depth=2)
        if entry is not None and (entry.technicians or entry.services):
            found = Mentions(entry.technicians, entry.services)
            mentions[review_id] = shared.setdefault(found, found)
    return mentions, len(entries)


def _check_named(file: _File, insights: Insights) -> None:
    """Each aspect, entity and topic needs an id, a label or a name (data-model.md 2)."""
    lists: dict[str, tuple[str | Entity, ...]] = {
        "$.aspects": insights.aspects,
        "$.topics": insights.topics,
    }
    for name in Entities.__struct_fields__:
        lists[f"$.entities.{name}"] = getattr(insights.entities, name)
    for path, entries in lists.items():
        for index, entry in enumerate(entries):
            try:
                named(entry)
            except ValueError as error:
                file.refuse(f"{path}[{index}]", str(error))


def _items(file: _File, raw: Raw, path: str) -> list[Raw]:
    try:
        return _LIST.decoder.decode(raw)
    except msgspec.ValidationError:
        file.refuse_type(path, raw, list[object])
        return []


def _review_id(raw: Raw, kind: _Kind[T]) -> str | None:
    """The id for the findings of a review; only one that is fit to be shown on a line."""
    if kind is not _REVIEW:
        return None
    try:
        return _IDENTIFIED.decoder.decode(raw).id
    except msgspec.ValidationError:
        return None


def _loose(raw: bytes | Raw) -> object:
    """Any JSON, decoded to be explained; msgspec refuses numbers that are too great for it."""
    return json.loads(bytes(raw), parse_int=lambda digits: int(digits[:_MAX_DIGITS]))


def _fits_utc(moment: datetime.datetime) -> bool:
    """Whether it is served in UTC as it should be: there is no year 0 and no year 10000."""
    try:
        moment.astimezone(datetime.UTC)
    except OverflowError:
        return False
    return True


def _first_not_utf8(text: bytes) -> int | None:
    """The offset of the first byte that is not UTF-8; in steps, as a str can take four times more."""
    start = 0
    while start < len(text):
        end = min(start + _MIB, len(text))
        while end < min(start + _MIB + 3, len(text)) and text[end] in _CONTINUATION:
            end += 1  # do not cut a character
        try:
            text[start:end].decode()
        except UnicodeDecodeError as error:
            return start + error.start
        start = end
    return None
