"""One review by its id (contract 3)."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from reviewsd.http1 import urls
from tests.support.columns import review
from tests.support.pages import Place

IDS = ["01J9ZK3V5Q8R2N7M4T6W1X0YAB", "a/b?c#d", "..", ".", "%2e", "x.json", "~", "search", "since"]
REVIEWS = [
    review(review_id, text=f"Text <{review_id}>") | {"added_at": "2026-11-24T08:30:00Z"}
    for review_id in IDS
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.publish(REVIEWS)
    return place


def test_review_is_as_in_the_dataset(place: Place) -> None:
    served = {item["id"]: item for item in place.get(urls.REVIEWS).json()["reviews"]}
    for review_id in IDS[:-2]:
        answer = place.get(urls.review(review_id))
        assert (200, "application/json") == (answer.status, *answer.values("Content-Type"))
        assert served[review_id] == answer.json()


def test_review_has_the_bytes_of_the_lists(place: Place) -> None:
    """A client that has read a list need not read the review again."""
    path = urls.review(IDS[0])
    answer = place.get(path)
    lists = (urls.REVIEWS, urls.SEARCH, f"{urls.SINCE}2025-01-01")
    assert [1, 1, 1] == [place.get(target).body.count(answer.body) for target in lists]
    assert ["*"] == answer.values("Access-Control-Allow-Origin")
    head = place.get(path, method="HEAD")
    assert (200, b"", *answer.values("ETag")) == (head.status, head.body, *head.values("ETag"))


def test_withheld_review_is_410(place: Place) -> None:
    """Clients with a copy are told to delete it, as by `removed` and the page."""
    hidden = {IDS[0]: {"action": "hide", "reason": "spam", "at": "2026-11-24T09:00:00Z"}}
    corrections = {"version": 1, "reviews": hidden, "key": "k", "erased": {}}
    (place.directories.data / "corrections.json").write_text(json.dumps(corrections))
    place.again()
    answer = place.get(urls.review(IDS[0]))
    assert (410, "application/json") == (answer.status, *answer.values("Content-Type"))
    problem = answer.json()
    assert "https://reviews.example/developers/errors#review-removed" == problem["type"]
    assert 410 == place.get(f"/r/{IDS[0]}").status
    for review_id, status in ((IDS[0], 410), ("unknown", 404)):
        twin, api = place.get(f"/r/{review_id}.md"), place.get(urls.review(review_id))
        assert (status, "application/json") == (twin.status, *twin.values("Content-Type"))
        assert api.json()["type"] == twin.json()["type"]


def test_search_and_since_are_not_ids(place: Place) -> None:
    """A review with such an id has a page, but no address in the API."""
    assert len(IDS) == place.get(f"{urls.SEARCH}").json()["matched"]
    assert 404 == place.get("/api/reviews/since").status
    assert 404 == place.get("/api/reviews/since/").status
    assert 404 == place.get("/api/reviews/s%69nce").status
    assert 200 == place.get(urls.permalink("since")).status


@pytest.mark.parametrize("segment", ["nobody", "", "a/b", "since/2025-01-01/x", "a%2Fb", "é"])
def test_unknown_review_is_404(place: Place, segment: str) -> None:
    answer = place.get(f"/api/reviews/{quote(segment, safe='/%')}")
    assert (404, "application/json") == (answer.status, *answer.values("Content-Type"))
    assert 404 == answer.json()["status"]


def test_tag_of_a_review_is_kept_when_others_change(place: Place) -> None:
    path = urls.review(IDS[0])
    before = place.get(path)
    (tag,) = before.values("ETag")
    assert 304 == place.get(path, f"If-None-Match: {tag}").status
    place.publish([REVIEWS[0], review("new")])
    assert 304 == place.get(path, f"If-None-Match: {tag}").status
    place.publish([{**REVIEWS[0], "rating": 1}])
    assert 200 == place.get(path, f"If-None-Match: {tag}").status
