"""The old addresses of reviews that were edited in a table without ids (corrections.md C35)."""

import json
from pathlib import Path

import pytest

from tests.support.pages import Place, review

AT, LATER = "2026-11-24T09:00:00Z", "2026-11-25T09:00:00Z"
ONCE = {"id": "first", "at": AT, "successor": "second"}
TWICE = {"id": "second", "at": LATER, "successor": "third"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def publish(
    place: Place, *removed: object, corrections: object = None, ids: tuple[str, ...] = ("third",)
) -> None:
    content = {
        "business": {"name": "Acme"},
        "reviews": [*map(review, ids)],
        "removed": removed,
    }
    if corrections is not None:
        file = {"version": 1, "reviews": corrections, "key": "k", "erased": {}}
        (place.directories.data / "corrections.json").write_text(json.dumps(file))
    (place.directories.data / "reviews.json").write_text(json.dumps(content))
    place.again()


def redirect(place: Place, path: str) -> tuple[int, list[str]]:
    answer = place.get(path)
    return answer.status, answer.values("Location")


def test_old_address_redirects_with_its_query(place: Place) -> None:
    publish(place, TWICE)
    assert (308, ["/r/third"]) == redirect(place, "/r/second")
    assert (308, ["/r/third.md"]) == redirect(place, "/r/second.md")
    assert (308, ["/r/third?utm=1"]) == redirect(place, "/r/second?utm=1")


def test_review_that_was_edited_twice_has_one_redirect(place: Place) -> None:
    publish(place, ONCE, TWICE)
    assert (308, ["/r/third"]) == redirect(place, "/r/first")


def test_review_that_came_back_has_its_own_page(place: Place) -> None:
    publish(place, ONCE, TWICE, {**ONCE, "id": "third", "successor": "first"}, ids=("first",))
    assert 200 == place.get("/r/first").status
    assert (308, ["/r/first"]) == redirect(place, "/r/third")


@pytest.mark.parametrize("hidden", ["first", "second", "third"])
def test_withheld_review_is_not_redirected(place: Place, hidden: str) -> None:
    """Neither its own address nor a later one of it is told."""
    correction = {"action": "hide", "reason": "spam", "at": LATER}
    publish(place, ONCE, TWICE, corrections={hidden: correction})
    statuses = {name: place.get(f"/r/{name}").status for name in ("first", "second")}
    assert 410 == statuses["first"]
    assert (308 if hidden == "first" else 410) == statuses["second"]


def test_api_says_that_the_old_id_is_gone(place: Place) -> None:
    """A copy under the old id is to be deleted, and the list has the new one."""
    publish(place, TWICE)
    assert 410 == place.get("/api/reviews/second").status
    assert [{"id": "second", "at": LATER}] == place.get("/reviews.json").json()["removed"]


@pytest.mark.parametrize("ids", [("a", "b"), ("b", "a")])
def test_edits_of_one_moment_are_one_chain(place: Place, ids: tuple[str, str]) -> None:
    """Two imports within a second; the times say nothing of their order."""
    first, second = ids
    entries = (
        {"id": first, "at": AT, "successor": second},
        {"id": second, "at": AT, "successor": "third"},
    )
    publish(place, *entries)
    assert (308, ["/r/third"]) == redirect(place, f"/r/{first}")


def test_address_of_a_shown_review_is_never_an_old_one(place: Place) -> None:
    publish(place, {**TWICE, "id": "page"}, ids=("third", "page.md"))
    assert 200 == place.get("/r/page.md").status
    assert (308, ["/r/third"]) == redirect(place, "/r/page")
