"""Search in the order of change, by which a client keeps a copy of all reviews (field.md, Feeds and times)."""

import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1 import urls
from tests.support.columns import Review, review
from tests.support.connections import BASE_URL
from tests.support.examples import examples
from tests.support.pages import NO_PAGES, Place
from tests.support.publishing import in_memory

OLD = [review(f"old{number}", date=f"2024-01-{number:02}") for number in range(1, 6)]
LATE = [
    review(f"late{number}", date="2019-05-01") | {"added_at": "2026-11-24T08:30:00Z"}
    for number in range(30)
]
EDITED = OLD[2] | {"changed_at": "2026-11-24T09:00:00Z", "text": "Edited."}


@pytest.fixture
def site(tmp_path: Path) -> Place:
    site = Place(tmp_path, settings=NO_PAGES)
    site.publish([*OLD[:2], EDITED, *OLD[3:], *LATE])
    return site


def search(site: Place, **query: object) -> Any:
    answer = site.get(f"{urls.SEARCH}?{urlencode(query)}")
    assert 200 == answer.status, answer.body
    return answer.json()


def ids_of(page: Any) -> list[str]:
    return [item["id"] for item in page["reviews"]]


def test_late_imports_and_edits_come_first(site: Place) -> None:
    """Old reviews that are imported today are neither in a feed nor in ``since`` of today."""
    ids = ids_of(search(site, sort="changed", limit=100))
    late = sorted((imported["id"] for imported in LATE), reverse=True)
    assert ["old3", *late, "old5", "old4", "old2", "old1"] == ids


def test_next_page_is_in_the_same_order(site: Place) -> None:
    path = f"{urls.SEARCH}?sort=changed&limit=20&changed_since=2026-11-24"
    first = site.get(path)
    link = first.header("Link").rpartition("<")[2].partition(">")[0]
    second = site.get(link.removeprefix(BASE_URL))
    assert 31 == first.json()["matched"] == second.json()["matched"]
    ids = [*ids_of(first.json()), *ids_of(second.json())]
    assert 31 == len(set(ids)) == len(ids)
    assert second.json()["next_cursor"] is None


class Copy:
    """A client that keeps a copy, as docs/examples/copy.py does."""

    def __init__(self) -> None:
        self.reviews: dict[str, Any] = {}

    def update(self, site: Place, between: "list[list[Review]]") -> None:
        """Read the changes, while the data changes between two pages."""
        query: dict[str, object] = {"sort": "changed", "limit": 2}
        if self.reviews:
            last = max(map(_changed_on, self.reviews.values()))
            query["changed_since"] = last - datetime.timedelta(days=2)
        while True:
            page = search(site, **query)
            self.reviews |= by_id(page)
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]
            if between:
                site.publish(between.pop())


def by_id(page: Any) -> dict[str, Any]:
    return {item["id"]: item for item in page["reviews"]}


def _changed_on(item: dict[str, Any]) -> datetime.date:
    moment = item.get("changed_at") or item.get("added_at") or item["date"]
    return datetime.date.fromisoformat(moment[:10])


_DAYS = st.dates(datetime.date(2024, 1, 1), datetime.date(2026, 11, 30)).map(str)
_EDITS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), _DAYS, st.integers(1, 5)), min_size=1, max_size=4
)


@given(st.lists(_EDITS, min_size=2, max_size=6), st.data())
@examples(12)
def test_client_that_follows_changes_has_a_complete_copy(
    editions: list[list[tuple[str, str, int]]], choices: st.DataObject
) -> None:
    """Imports add and change reviews of any age while the client reads."""
    reviews: dict[str, Review] = {}
    states: list[list[Review]] = []
    for day, edits in enumerate(editions):
        now = f"2026-11-{2 * day + 10}T09:00:00Z"
        for name, date, rating in edits:
            edited = review(name, date=date, rating=rating)
            edited["added_at"] = reviews[name]["added_at"] if name in reviews else now
            if name in reviews:
                edited["changed_at"] = now
            reviews[name] = edited
        states.append([*reviews.values()])
    with in_memory() as place:
        site, copy = Place(place, settings=NO_PAGES), Copy()
        while states:
            site.publish(states.pop(0))
            during = choices.draw(st.integers(0, min(2, max(0, len(states) - 1))))
            copy.update(site, [states.pop(0) for _ in range(during)][::-1])
        copy.update(site, [])

        assert by_id(site.get(urls.REVIEWS).json()) == copy.reviews
