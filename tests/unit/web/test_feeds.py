"""Older pages of both feeds, which are made for a request (RFC 5005 3, JSON Feed 1.1, decision 160)."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import feedparser
import pytest

from reviewsd.domain.search_query import Cursor, read_day
from reviewsd.http1 import urls
from reviewsd.publish.feed import MAX_ENTRIES
from tests.support.columns import Review, review
from tests.support.connections import BASE_URL
from tests.support.pages import NO_PAGES, Place

JSON, ATOM = urls.JSON_FEED, urls.ATOM_FEED


def numbered_review(number: int) -> Review:
    return review(
        f"r{number:03}",
        date=f"2025-03-{1 + number // 40:02}",
        rating=1 + number % 5,
        text=f"Text <{number}>.",
    )


REVIEWS = [numbered_review(number) for number in range(120)]
NEWEST_FIRST = [f"r{number:03}" for number in range(119, -1, -1)]
INSIGHTS = {
    "entities": {
        "technicians": [{"id": "sam", "name": "Sam Jones", "label": "Sam"}],
        "services": [{"id": "boiler-repair", "label": "Boiler repair"}],
    },
    "per_review": {
        third["id"]: {"technicians": ["Sam Jones", "sam"], "services": ["Boilers", "boiler repair"]}
        for third in REVIEWS[::3]
    },
}


@pytest.fixture
def site(tmp_path: Path) -> Place:
    site = Place(tmp_path, settings=NO_PAGES)
    site.publish(REVIEWS, insights=INSIGHTS)
    return site


def path_of(address: str) -> str:
    assert address.startswith(BASE_URL)
    return address.removeprefix(BASE_URL)


def json_pages(site: Place) -> Iterator[list[str]]:
    """Yield the ids of each page, following the links."""
    path: str | None = JSON
    while path is not None:
        answer = site.get(path)
        assert (200, "application/json") == (answer.status, answer.header("Content-Type"))
        yield [item["id"] for item in answer.json()["items"]]
        next_url = answer.json().get("next_url")
        path = next_url and path_of(next_url)


def atom_pages(site: Place) -> Iterator[list[str]]:
    path: str | None = ATOM
    while path is not None:
        answer = site.get(path)
        assert "application/atom+xml; charset=utf-8" == answer.header("Content-Type")
        parsed = feedparser.parse(answer.body)
        assert not parsed.bozo
        links = {link.rel: link.href for link in parsed.feed.links}
        assert path == path_of(links["self"])
        yield [entry.id.rpartition(":")[2] for entry in parsed.entries]
        next_url = links.get("next")
        path = next_url and path_of(next_url)


def test_pages_of_a_feed_list_every_review_once(site: Place) -> None:
    """Without older pages, 30 of 80 reviews of one day would be missed."""
    expected = [NEWEST_FIRST[begin : begin + MAX_ENTRIES] for begin in (0, 50, 100)]
    assert expected == list(json_pages(site))
    assert expected == list(atom_pages(site))


@pytest.mark.parametrize("count", [0, 1, MAX_ENTRIES])
def test_feed_that_fits_on_a_page_has_one(tmp_path: Path, count: int) -> None:
    site = Place(tmp_path, settings=NO_PAGES)
    site.publish(REVIEWS[:count])
    assert 1 == len(list(json_pages(site)))
    assert 1 == len(list(atom_pages(site)))


def test_older_page_has_entries_like_those_of_the_first(
    site: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A review that moves to an older page must not look like a changed one."""
    smaller = Place(tmp_path_factory.mktemp("smaller"), settings=NO_PAGES)
    smaller.publish(REVIEWS[:70], insights=INSIGHTS)

    second = site.get(path_of(site.get(JSON).json()["next_url"])).json()["items"]
    assert second == smaller.get(JSON).json()["items"]
    assert ["5-star", "Sam", "Boilers", "Boiler repair"] == second[0]["tags"]

    links = feedparser.parse(site.get(ATOM).body).feed.links
    (older,) = (path_of(link.href) for link in links if link.rel == "next")
    pages = site.get(older).body, smaller.get(ATOM).body
    assert 1 == len({page.partition(b"<entry>")[2] for page in pages})


def test_page_begins_at_its_cursor_after_changes(site: Place) -> None:
    """A slow reader misses and repeats no review when the data changes."""
    path = path_of(site.get(JSON).json()["next_url"])
    before = site.get(path)
    new = review("new", date="2025-03-30")
    site.publish([*REVIEWS[:70], *REVIEWS[71:], new], insights=INSIGHTS)
    assert before.json()["items"] == site.get(path).json()["items"]
    assert before.header("ETag") == site.get(path).header("ETag")


@pytest.mark.parametrize("page", [urls.JSON_FEED_PAGE, urls.ATOM_FEED_PAGE])
def test_page_after_the_last_review_is_empty(site: Place, page: str) -> None:
    """Reviews may have been removed since the page before was read."""
    answer = site.get(page.replace("<cursor>", Cursor(read_day("2025-03-01"), "r000").encode()))
    assert 200 == answer.status
    assert b"r000" not in answer.body
    assert b"next" not in answer.body


@pytest.mark.parametrize("path", [urls.JSON_FEED_PAGE, urls.ATOM_FEED_PAGE])
@pytest.mark.parametrize(
    "cursor", ["x", "MjAyNS0wMy0xNA", "MjAyNS0wMi0zMC9y", "%C3%A9", "x.y", "=" * 300]
)
def test_malformed_cursor_is_refused(site: Place, path: str, cursor: str) -> None:
    answer = site.get(path.replace("<cursor>", cursor))
    assert 400 == answer.status
    (issue,) = answer.json()["issues"]
    assert (["cursor"], "invalid_format") == (issue["path"], issue["code"])


@pytest.mark.parametrize("page", ["json", "atom"])
def test_page_has_an_entity_tag_for_each_coding(site: Place, page: str) -> None:
    cursor = Cursor(read_day("2025-03-02"), "r070").encode()
    path = urls.json_page(cursor) if page == "json" else urls.atom_page(cursor)
    plain, packed = site.get(path), site.get(path, "Accept-Encoding: gzip")

    assert plain.body == gzip.decompress(packed.body)
    assert plain.header("ETag")[:-1] + '-gzip"' == packed.header("ETag")
    assert "Accept-Encoding" == plain.header("Vary")
    assert "hub" not in plain.header("Link")
    for answer, fields in ((plain, ()), (packed, ("Accept-Encoding: gzip",))):
        unchanged = site.get(path, *fields, f"If-None-Match: {answer.header('ETag')}")
        assert (304, b"") == (unchanged.status, unchanged.body)
        assert answer.header("ETag") == unchanged.header("ETag")


def test_tag_of_a_page_changes_with_labels(site: Place) -> None:
    """The name of a technician changes, and the reviews do not."""
    path = path_of(site.get(JSON).json()["next_url"])
    before = site.get(path).header("ETag")
    changed = {
        **INSIGHTS,
        "entities": {"technicians": [{"id": "sam", "name": "sam jones", "label": "S."}]},
    }
    site.publish(REVIEWS, insights=changed)
    assert before != site.get(path).header("ETag")
