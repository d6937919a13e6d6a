"""A small valid data set, ways to break it, and what ``load`` then says (data-model.md 5)."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import strategies as st

from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import load

Document = dict[str, Any]

REVIEWS: Document = json.loads("""{
  "business": {"id": "acme", "name": "Acme", "language": "en",
    "review_urls": {"google": "https://g.example/r"}, "address": {"city": "Dover"},
    "service_areas": ["NH"], "social_urls": ["https://social.example/acme"],
    "geo": {"latitude": 43.07, "longitude": -70.76}, "logo_url": null,
    "hours": [{"day": "monday", "opens": "08:00", "closes": "24:00"}]},
  "aggregate_rating": {"rating_value": 4, "review_count": 120, "distribution": {"5": 100}},
  "updated_at": "2025-06-01T04:00:00Z", "extra": null,
  "reviews": [
    {"id": "r0", "author": "Jo", "rating": 5, "date": "2025-03-14", "source": "yelp",
     "verified": false, "x": {"id": "r9"}},
    {"id": "r1", "author": "Jane D.", "author_avatar_url": null, "rating": 4, "date": "2025-03-14",
     "text": "Sam fixed the boiler.", "source": "google", "source_url": "https://maps.example/1",
     "owner_reply": {"text": "Thank you!", "date": "2025-03-15"}, "verified": true}]}""")
INSIGHTS: Document = json.loads("""{
  "version": 1, "generated_at": "2025-06-01T04:00:00Z", "model": "lexicon-1", "review_count": 1,
  "date_range": {"earliest": "2025-03-14", "latest": null}, "summary": "Quick.", "more": null,
  "overall_sentiment": {"score": 0.5, "positive_pct": 100},
  "aspects": ["Punctuality", {"id": "pricing", "mention_count": 1, "positive_pct": 100}],
  "entities": {"technicians": [{"name": "Sam", "average_rating": 4.5}], "services": []},
  "topics": ["Boilers"], "temporal": {"monthly": [{"month": "2025-03"}], "trend": "stable"},
  "per_review": {"r1": {"sentiment": "positive", "technicians": ["sam"], "services": []},
                 "r3": {"technicians": [], "services": ["ac-repair"]},
                 "r 2": {"score": -1, "aspects": ["pricing", {"id": "x", "phrase": null}]}},
  "faq": [{"question": "How fast?", "answer": "Very."}]}""")

GONE = ""
"""A marker in place of a value's spelling: the member is left out."""


def encoded(document: object) -> bytes:
    """Return a document as the bytes of its file."""
    return json.dumps(document).encode()


def in_insights(path: str) -> bool:
    """Whether a JSON path leads into insights.json: the two files share no member."""
    return re.split(r"\W+", path)[1] in INSIGHTS


def both(path: str, text: str) -> tuple[bytes, bytes]:
    """Return both files, with this text in place of the value at a JSON path."""
    files = {"$": copy.deepcopy(INSIGHTS if in_insights(path) else REVIEWS)}
    part: Any = files
    key: str | int = "$"
    for index, quoted, name in re.findall(r'\[(\d+)\]|\["(.*)"\]|\.(\w+)', path):
        part, key = part[key], int(index) if index else quoted or name
    part[key] = "@@"
    if text == GONE:
        del part[key]
    broken = encoded(files["$"]).replace(b'"@@"', text.encode())
    return (encoded(REVIEWS), broken) if in_insights(path) else (broken, encoded(INSIGHTS))


def finding(path: str, reason: str, review_id: str | None = None) -> str:
    """The line of a finding."""
    file = "insights.json" if in_insights(path) else "reviews.json"
    identified = f" (id {review_id})" if review_id is not None else ""
    return f"{file}: {path}{identified}: {reason}"


def refused(reviews: bytes, insights: bytes | None = None) -> list[str]:
    """The lines of the refusal."""
    with pytest.raises(DataError) as error:
        load(reviews, insights)
    return error.value.lines()


_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["", "2025-01-01", "2025-03", "https://x", "monday", "24:00", "x" * 201])
    | st.sampled_from([-1, 0, 1, 5, 100, 0.5, "r1", "positive", "stable", "2025-06-01T04:00:00Z"])
)
JSON = st.recursive(
    _LEAVES,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=5,
)
"""Any JSON value, often one that a rule of the data model is about."""


def places(part: object) -> Iterator[tuple[Any, Any]]:
    """Each value within a document, as what contains it and its key there."""
    if isinstance(part, dict | list):
        for key in list(part) if isinstance(part, dict) else range(len(part)):
            yield part, key
            yield from places(part[key])


@st.composite
def nearly(draw: st.DrawFn, document: Document) -> Document:
    """A document with one to three values changed, added or taken out."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(list(places(document)) or [(document, "id")]))
        if isinstance(container, dict):
            key = draw(st.sampled_from([key, key, key, "id", "name"]) | st.text())
        if draw(st.integers(0, 3)):
            container[key] = draw(JSON)
        elif isinstance(container, list) or key in container:
            del container[key]
    return document
