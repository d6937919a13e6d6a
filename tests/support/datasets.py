"""Data sets of every shape, any way to spell them, and how they are served (data-model.md 1).

``expected_of`` reads the data model a second time, plainly: what ``publish.documents`` makes of the
operator's bytes must be the same. Numbers keep their spelling here too.
"""

import json
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.support.broken import Document


@dataclass(frozen=True)
class Number:
    """A JSON number as it is spelled."""

    spelling: str


_ABSENT = object()
"""The default of a member that is served only where it is given."""

_STAMPS = {
    "2026-11-24T09:12:00Z": "2026-11-24T09:12:00Z",
    "2024-03-01T00:30:00+01:00": "2024-02-29T23:30:00Z",
    "2025-06-01t04:00:00.5z": "2025-06-01T04:00:00.500000Z",
}
"""Times as they may be given, and as they are served."""

_SHAPES: dict[str, Document] = {
    "$": {"business": None, "aggregate_rating": {}, "updated_at": None, "reviews": []},
    "business": dict.fromkeys(("id", "name", "description", "category", "url", "phone", "email"))
    | {"address": None, "geo": None, "hours": [], "service_areas": [], "social_urls": []}
    | {"logo_url": None, "language": "en", "verification_statement": None, "reports": None}
    | {"legal_notice_url": None, "privacy_url": None, "review_urls": {}},
    "address": dict.fromkeys(("street", "city", "region", "postal_code", "country")),
    "geo": dict.fromkeys(("latitude", "longitude")),
    "hours": dict.fromkeys(("day", "opens", "closes")),
    "aggregate_rating": dict.fromkeys(("rating_value", "review_count", "best_rating"))
    | {"worst_rating": None, "distribution": None},
    "distribution": dict.fromkeys("12345"),
    "reviews": dict.fromkeys(("id", "author", "author_avatar_url", "rating", "date", "text"))
    | dict.fromkeys(("source", "source_url", "owner_reply", "verified"))
    | dict.fromkeys(("added_at", "changed_at"), _ABSENT),
    "owner_reply": dict.fromkeys(("text", "date")),
}
"""The members of each object in order, with their defaults."""


def filled(value: object, shape: Document) -> object:
    """Known members first, in order and with defaults, then the unknown ones by name."""
    if isinstance(value, list):
        return [filled(part, shape) for part in value]
    if not isinstance(value, dict):
        return value
    members = {name: value.get(name, shape[name]) for name in shape}
    members = {
        name: filled(part, _SHAPES.get(name, {}))
        for name, part in members.items()
        if part is not _ABSENT
    }
    return members | {
        name: filled(value[name], {}) for name in sorted(value.keys() - members.keys())
    }


def over(computed: Document, published: Document | None) -> Document:
    """Return the published values; nulls and missing ones are replaced by the computed ones."""
    chosen = (published or {}).items()
    return computed | {k: v for k, v in chosen if v is not None or k not in computed}


def expected_of(dataset: Document) -> object:
    """``/reviews.json`` for a data set."""
    reviews = sorted(
        dataset["reviews"], key=lambda review: (review["date"], review["id"]), reverse=True
    )
    reviews = [review | {"text": review.get("text") or None} for review in reviews]
    ratings = [int(review["rating"].spelling) for review in reviews]
    mean = Decimal(sum(ratings)) / max(len(ratings), 1)
    rounded = Number(str(float(mean.quantize(Decimal("0.01"), ROUND_HALF_UP))))
    aggregate: Document = {"rating_value": rounded if ratings else None}
    aggregate |= {"review_count": len(ratings), "best_rating": 5, "worst_rating": 1}
    aggregate = over(aggregate | {"distribution": {}}, dataset.get("aggregate_rating"))
    counts = {str(stars): ratings.count(stars) for stars in (1, 2, 3, 4, 5)}
    aggregate["distribution"] = over(counts, aggregate["distribution"])
    for review in reviews:
        review.update(
            (name, _STAMPS[review[name]]) for name in ("added_at", "changed_at") if review.get(name)
        )
    latest = {"updated_at": max(map(_updated, reviews), default=None)}
    computed = {"reviews": reviews, "aggregate_rating": aggregate}
    return filled(over(latest, dataset) | computed, _SHAPES["$"])


def _updated(review: Document) -> str:
    """Return when a review changed last; these spellings sort by time."""
    if stamps := [review[name] for name in ("added_at", "changed_at") if review.get(name)]:
        return str(max(stamps))
    reply = review.get("owner_reply") or {}
    return f"{max(review['date'], reply.get('date', ''))}T12:00:00Z"


def spelled(value: object, random: Random | None = None) -> str:
    """A value as JSON: compact, or any way that means the same."""
    gap = random.choice(["", " ", "\n", "\t \r\n"]) if random else ""
    match value:
        case Number():
            text = value.spelling
        case dict():
            names = list(value)
            if random:
                random.shuffle(names)
            members = (f"{spelled(name, random)}:{spelled(value[name], random)}" for name in names)
            text = f"{{{','.join(members)}{gap}}}"
        case list():
            text = f"[{','.join(spelled(part, random) for part in value)}{gap}]"
        case _:
            text = json.dumps(value, ensure_ascii=random is not None and random.random() < 0.5)
    return f"{gap}{text}{gap}"


_TEXT = st.text()
_NUMBER = st.sampled_from(["0", "-0", "1.10", "1e400", "1E+5", "9" * 30, "9" * 5000]).map(Number)
_UNKNOWN = st.dictionaries(
    st.text(max_size=3).filter(lambda name: name not in {"id", "url", "geo", "day", *"12345"}),
    st.recursive(
        st.none() | st.booleans() | _NUMBER | _TEXT,
        lambda part: st.lists(part, max_size=2) | st.dictionaries(_TEXT, part, max_size=2),
        max_leaves=4,
    ),
    max_size=2,
)
_Values = dict[str, st.SearchStrategy[Any]]


def _members(required: _Values, optional: _Values) -> st.SearchStrategy[Document]:
    known_members = st.fixed_dictionaries(required, optional=optional)
    return st.builds(lambda unknown, members: unknown | members, _UNKNOWN, known_members)


_MAYBE, _URL = st.none() | _TEXT, st.sampled_from(["https://x.example/é", "HTTP://x"])
_WORD, _DAY = st.text(min_size=1, max_size=200), st.dates().map(str)
_COUNT = st.sampled_from(["0", "7", "9" * 30]).map(Number)
_DEGREES = st.sampled_from(["0", "-0.50", "43.070", "9e1"]).map(Number)
_BUSINESS = _members(
    {"name": _WORD},
    {
        "id": _MAYBE,
        "url": st.none() | _URL,
        "address": st.none() | _members({}, {"street": _MAYBE, "country": _MAYBE}),
        "geo": st.none() | _members({"latitude": _DEGREES, "longitude": _DEGREES}, {}),
        "hours": st.lists(
            _members(
                {"day": st.just("monday"), "opens": st.just("08:00"), "closes": st.just("24:00")},
                {},
            ),
            max_size=2,
        ),
        "social_urls": st.lists(_URL, max_size=2),
        "review_urls": st.dictionaries(_WORD, st.just("https://x.example/é"), max_size=2),
        "language": _WORD,
    },
)
_REVIEW = _members(
    {
        "id": st.text('ab\\"', min_size=1, max_size=3),
        "author": _WORD,
        "rating": st.integers(1, 5).map(lambda stars: Number(str(stars))),
        "date": _DAY,
        "source": _WORD,
        "verified": st.booleans(),
    },
    {
        "text": _MAYBE,
        "source_url": st.none() | _URL,
        "owner_reply": st.none() | _members({"text": _TEXT, "date": _DAY}, {}),
        "added_at": st.none() | st.sampled_from([*_STAMPS]),
        "changed_at": st.none() | st.sampled_from([*_STAMPS]),
    },
)
_STARS = _members({}, dict.fromkeys("135", st.none() | _COUNT))
_AGGREGATE = _members(
    {}, {"rating_value": st.none() | st.just(Number("4.50")), "distribution": _STARS}
)
REVIEWS_FILE = _members(
    {
        "business": _BUSINESS,
        "reviews": st.lists(_REVIEW, max_size=4, unique_by=lambda review: review["id"]),
    },
    {"aggregate_rating": _AGGREGATE, "updated_at": st.none() | st.just("2025-06-01T04:00:00Z")},
)
