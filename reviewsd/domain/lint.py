"""What is odd about valid reviews: never a reason to refuse them (data-model.md 5, second table).

Found by ``reviewsd --check`` only, after ``dataset`` has accepted the files: it may take its time.
"""

import datetime
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.domain import times
from reviewsd.domain.corrections import CORRECTIONS_FILE
from reviewsd.domain.data_errors import member, show
from reviewsd.domain.dataset import REVIEWS_FILE, Dataset
from reviewsd.domain.lint_insights import insight_doubts
from reviewsd.domain.records import Progress
from reviewsd.domain.reviews import AggregateRating, Business, Distribution, Review, is_blank

STAGE: Final = "comparing"
"""What ``Progress`` is told."""

EXAMPLE: Final = "example"
"""The ``source`` of the reviews that ``reviewsctl init`` writes: nobody may take them for real ones."""

_STEP: Final = 10_000  # records between two calls of Progress
_LATEST_ZONE: Final = datetime.timezone(datetime.timedelta(hours=14))
"""Where on earth a day begins first, so that no review of today counts as one of tomorrow."""
_BOM: Final = b"\xef\xbb\xbf"
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
_TOP: Final = (
    "business",
    "aggregate_rating",
    "updated_at",
    "removed",
)  # reviews are there, or it is refused


class _Records(msgspec.Struct):
    reviews: list[Raw]


_RECORDS: Final = msgspec.json.Decoder(_Records)
_REVIEW: Final = msgspec.json.Decoder(Review)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])


def doubts(
    reviews: bytes, dataset: Dataset, now: datetime.datetime, progress: Progress = lambda *_: None
) -> Iterator[Diagnostic]:
    """Everything odd, in the order of the files.

    Args:
        reviews: Content of reviews.json, which names the positions.
        dataset: What ``dataset.load`` made of it.
        now: The time; nothing in the files should be later.
        progress: Told how far it is.
    """
    for path, reason in _unknown(dataset.members, _TOP, "$"):
        yield _finding(path, reason)
    business = _MEMBERS.decode(dataset.members["business"])
    for path, reason in _unknown(business, Business.__struct_fields__, "$.business"):
        yield _finding(path, reason)
    for path, reason in _aggregate(dataset):
        yield _finding(path, reason)
    if (selection := dataset.withheld.selection(dataset.stars)) is not None:
        yield Diagnostic(file=CORRECTIONS_FILE, path="$.reviews", reason=selection)
    given = msgspec.json.decode(dataset.members.get("updated_at", b"null"), type=_Moment)
    if given is not None and given > now:
        yield _finding("$.updated_at", _ahead(times.spelled(given)))
    yield from _records(reviews.removeprefix(_BOM), now, progress)
    if dataset.insights is not None:
        identifiers = set(dataset.records.ids)
        newest = datetime.date.fromordinal(dataset.records.days[0]) if dataset.records else None
        yield from insight_doubts(dataset.insights, identifiers, newest)


def mean(dataset: Dataset) -> float | None:
    """The average rating, two decimals, half up (data-model.md 1.2)."""
    count = sum(dataset.stars.values())
    total = sum(stars * number for stars, number in dataset.stars.items())
    return (200 * total + count) // (2 * count) / 100 if count else None


_Moment: TypeAlias = datetime.datetime | None

_UNSTAMPED: Final = (
    "later than added_at and changed_at, so feeds and changed_since miss the reply; set changed_at"
)


def _ahead(when: datetime.date | str) -> str:
    return f"in the future, got {show(str(when))}"


def _finding(path: str, reason: str, review_id: str | None = None) -> Diagnostic:
    return Diagnostic(file=REVIEWS_FILE, path=path, reason=reason, id=review_id)


def _records(text: bytes, now: datetime.datetime, progress: Progress) -> Iterator[Diagnostic]:
    items = _RECORDS.decode(text).reviews
    first: dict[int, int] = {}
    for index, item in enumerate(items):
        if index % _STEP == 0:
            progress(STAGE, index, len(items))
        review = _REVIEW.decode(item)
        path = f"$.reviews[{index}]"
        for where, reason in (*_record(review, path), *_times(review, path, now)):
            yield _finding(where, reason, review.id)
        for where, reason in _unknown(_MEMBERS.decode(item), Review.__struct_fields__, path):
            yield _finding(where, reason, review.id)
        if review.text:
            same = first.setdefault(hash((review.author, review.date, review.text)), index)
            if same != index:
                reason = f"same author, date and text as $.reviews[{same}]"
                yield _finding(path, reason, review.id)
    progress(STAGE, len(items), len(items))


def _record(review: Review, path: str) -> Iterator[tuple[str, str]]:
    if review.source == EXAMPLE:
        yield path, "an example of reviewsctl init; import your reviews, or take it out"
    if _ULID.fullmatch(review.id) is None:
        yield f"{path}.id", f"not a ULID, got {show(review.id)}"
    if is_blank(review.author):
        yield f"{path}.author", f"blank, got {show(review.author)}"


def _times(review: Review, path: str, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    """Days and times that lie ahead, or of which no feed will tell."""
    today = now.astimezone(_LATEST_ZONE).date()
    if review.date > today:
        yield f"{path}.date", _ahead(review.date)
    stamps = times.stamps(review)
    for name, stamp in stamps.items():
        if stamp > now:
            yield f"{path}.{name}", _ahead(times.spelled(stamp))
    reply = review.owner_reply
    if reply is None:
        return
    where = f"{path}.owner_reply.date"
    if reply.date < review.date:
        yield where, f"before the review of {review.date}, got {show(str(reply.date))}"
    elif reply.date > today:
        yield where, _ahead(reply.date)
    elif stamps and reply.date > max(stamps.values()).astimezone(_LATEST_ZONE).date():
        yield where, _UNSTAMPED


def _aggregate(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Where the aggregate that the file gives differs from its reviews."""
    raw = dataset.members.get("aggregate_rating")
    if raw is None:
        return
    given = msgspec.json.decode(raw, type=AggregateRating)
    path = "$.aggregate_rating"
    pairs: list[tuple[str, float | None, float | None]] = [
        (f"{path}.rating_value", given.rating_value, mean(dataset)),
        (f"{path}.review_count", given.review_count, len(dataset.records)),
    ]
    distribution = given.distribution or Distribution()
    for stars, field in enumerate(Distribution.__struct_fields__, 1):
        where = member(f"{path}.distribution", str(stars))
        pairs.append((where, getattr(distribution, field), dataset.stars.get(stars, 0)))
    for where, said, found in pairs:
        if said is not None and said != found:
            yield where, f"the reviews give {show(found)}, got {show(said)}"


def _unknown(
    members: Mapping[str, Raw], known: Collection[str], path: str
) -> Iterator[tuple[str, str]]:
    """Members that are probably known ones with a slip of the keyboard."""
    for name in members:
        meant = None if name in known else _meant(name, tuple(known))
        if meant is not None and meant not in members:
            yield member(path, name), f"unknown member; did you mean {show(meant)}?"


@cache
def _meant(name: str, known: tuple[str, ...]) -> str | None:
    return next((other for other in known if _one_slip(name, other)), None)


def _one_slip(one: str, other: str) -> bool:
    """Whether one letter more, less or other, or two swapped, makes one word of the other."""
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    start = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), None)
    if start is None:
        return len(long) > len(short)
    if len(long) > len(short):
        return short[start:] == long[start + 1 :]
    swapped = short[start : start + 2][::-1] == long[start : start + 2]
    return short[start + 1 :] == long[start + 1 :] or (
        swapped and short[start + 2 :] == long[start + 2 :]
    )
