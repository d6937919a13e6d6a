import datetime
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest

from reviewsd.pages import sitemap
from reviewsd.pages.sitemap import SitemapEntry

BASE = "https://reviews.example.com"
DAY = datetime.date(2026, 11, 10)
PAGES = [SitemapEntry(f"{BASE}/", DAY), SitemapEntry(f"{BASE}/developers", None)]
NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def reviews(first: int, count: int) -> Iterator[SitemapEntry]:
    for number in range(first, first + count):
        yield SitemapEntry(f"{BASE}/r/{number}", DAY + datetime.timedelta(days=number // 50))


def parsed(content: bytes) -> list[tuple[str, str | None]]:
    root = ET.fromstring(content)
    assert root.tag in {f"{NAMESPACE}urlset", f"{NAMESPACE}sitemapindex"}
    return [
        (item.findtext(f"{NAMESPACE}loc", ""), item.findtext(f"{NAMESPACE}lastmod"))
        for item in root
    ]


def test_few_addresses_are_one_file_with_the_oldest_first_and_pages_last() -> None:
    ((path, content),) = sitemap.render(BASE, PAGES, reviews(0, 3), 0)
    assert "/sitemap.xml" == path
    assert [
        (f"{BASE}/r/0", "2026-11-10"),
        (f"{BASE}/r/1", "2026-11-10"),
        (f"{BASE}/r/2", "2026-11-10"),
        (f"{BASE}/", "2026-11-10"),
        (f"{BASE}/developers", None),
    ] == parsed(content)


def test_sitemap_without_reviews_has_the_pages() -> None:
    ((_, content),) = sitemap.render(BASE, PAGES, (), 0)
    assert [item.url for item in PAGES] == [url for url, _ in parsed(content)]


def test_many_addresses_are_split_into_files_with_an_index() -> None:
    files = dict(sitemap.render(BASE, PAGES, reviews(0, 121), per_file=50))
    parts = [f"/sitemap-{number}.xml" for number in (1, 2, 3, 4)]
    assert [*parts, "/sitemap.xml"] == list(files)
    assert [50, 50, 21, 2, 4] == [len(parsed(item)) for item in files.values()]
    assert (f"{BASE}/sitemap-3.xml", "2026-11-12") == parsed(files["/sitemap.xml"])[2]


def test_a_full_file_leaves_no_room_for_the_pages() -> None:
    files = dict(sitemap.render(BASE, PAGES, reviews(0, 49), per_file=50))
    assert [49, 2, 2] == [len(parsed(item)) for item in files.values()]


@pytest.mark.parametrize("count", [100, 101, 149])
def test_new_review_changes_only_the_last_file_of_reviews(count: int) -> None:
    """Crawlers fetch a file of 50,000 addresses again only where it has changed."""
    before = dict(sitemap.render(BASE, PAGES, reviews(0, count), per_file=50))
    after = dict(sitemap.render(BASE, PAGES, reviews(0, count + 1), per_file=50))
    changed = {path for path in before if before[path] != after[path]}
    full = count // 50
    assert {f"/sitemap-{number}.xml" for number in range(1, full + 1)}.isdisjoint(changed)


def test_files_of_a_limited_sitemap_keep_their_bounds() -> None:
    before = dict(sitemap.render(BASE, PAGES, reviews(60, 150), 60, 50))
    after = dict(sitemap.render(BASE, PAGES, reviews(61, 150), 61, 50))
    assert [40, 50, 50, 10, 2, 5] == [len(parsed(item)) for item in before.values()]
    same = {path for path in before if before[path] == after[path]}
    assert {"/sitemap-3.xml", "/sitemap-4.xml"} <= same


def test_an_address_is_escaped() -> None:
    hostile = f"{BASE}/r/a&b'%22%3C"
    ((_, content),) = sitemap.render(BASE, [], [SitemapEntry(hostile, DAY)], 0)
    assert [(hostile, "2026-11-10")] == parsed(content)
