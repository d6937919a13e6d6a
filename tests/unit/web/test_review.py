"""One review by its id, whichever way its route is found (contract 3)."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from reviewsd.http1 import urls
from tests.support.columns import review
from tests.support.pages import Place

IDS = ["01J9ZK3V5Q8R2N7M4T6W1X0YAB", "a/b?c#d", "..", ".", "%2e", "x.json", "~", "search", "since"]
REVIEWS = [
    review(each, text=f"Text <{each}>") | {"added_at": "2026-11-24T08:30:00Z"} for each in IDS
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    found.publish(REVIEWS)
    return found


def test_review_is_as_in_the_dataset(place: Place) -> None:
    served = {each["id"]: each for each in json.loads(place.get(urls.REVIEWS).body)["reviews"]}
    for review_id in IDS[:-2]:
        answer = place.get(urls.review(review_id))
        assert (200, "application/json") == (answer.status, *answer.values("Content-Type"))
        assert served[review_id] == json.loads(answer.body)


def test_search_and_since_are_no_ids(place: Place) -> None:
    """Their addresses mean something else, and a review may be called so."""
    assert len(IDS) == json.loads(place.get(f"{urls.SEARCH}").body)["matched"]
    assert 404 == place.get("/api/reviews/since").status
    assert 404 == place.get("/api/reviews/since/").status
    assert 404 == place.get("/api/reviews/s%69nce").status
    assert 200 == place.get(urls.permalink("since")).status


@pytest.mark.parametrize(
    "segment",
    ["nobody", "", "a/b", "since/2025-01-01/x", "a%2Fb", "é"],
)
def test_what_is_no_review_is_a_problem(place: Place, segment: str) -> None:
    answer = place.get(f"/api/reviews/{quote(segment, safe='/%')}")

    assert (404, "application/json") == (answer.status, *answer.values("Content-Type"))
    assert 404 == json.loads(answer.body)["status"]


@pytest.mark.parametrize("path", ["/api/reviews/search/x", "/api/reviews/a/b", "/r/a/b"])
def test_address_with_a_segment_too_many_is_no_route(place: Place, path: str) -> None:
    """There is nothing, whatever the method; a review's id has its slashes escaped."""
    assert [404] * 3 == [place.get(path, method=each).status for each in ("GET", "POST", "PUT")]


def test_tag_of_a_review_outlives_the_changes_of_others(place: Place) -> None:
    path = urls.review(IDS[0])
    before = place.get(path)
    (tag,) = before.values("ETag")
    assert 304 == place.get(path, f"If-None-Match: {tag}").status

    place.publish([REVIEWS[0], review("new")])
    assert 304 == place.get(path, f"If-None-Match: {tag}").status
    place.publish([{**REVIEWS[0], "rating": 1}])
    assert 200 == place.get(path, f"If-None-Match: {tag}").status


@pytest.mark.parametrize("prefix", ["/api/reviews/", "/r/"])
def test_id_that_is_no_utf8_is_refused(place: Place, prefix: str) -> None:
    """A stranger's bytes must not look like our fault."""
    assert 400 == place.get(f"{prefix}%FF").status
