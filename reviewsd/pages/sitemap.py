"""Sitemaps: where all pages are, and when they changed (sitemaps.org 0.9, pages.md 5).

Reviews come oldest first, in files whose bounds are counted from the oldest of all: a new review
changes the last file of reviews and nothing before it.
"""

import datetime
import html
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from reviewsd.http1 import urls

PER_FILE: Final = 50_000
"""Addresses of one file, at most (sitemaps.org)."""

_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"


class SitemapEntry(NamedTuple):
    """One address."""

    url: str
    changed: datetime.date | None
    """None where nobody can say."""


def path_of(number: int) -> str:
    """The path of one of several files, from 1."""
    return f"{urls.SITEMAP_PART}{number}.xml"


def render(
    base_url: str,
    pages: Sequence[SitemapEntry],
    reviews: Iterable[SitemapEntry],
    first: int = 0,
    per_file: int = PER_FILE,
) -> Iterator[tuple[str, bytes]]:
    """The files, each with its path; the one at ``/sitemap.xml`` comes last.

    Args:
        base_url: Origin of the addresses, without a slash at its end.
        pages: Those of the pages that are always there.
        reviews: Those of reviews, oldest first.
        first: How many older reviews there are that are left out.
        per_file: Addresses of a file.

    Yields:
        One ``urlset`` where all fits into it, else several and the ``sitemapindex`` that names them.
    """
    numbered = enumerate(reviews, first)
    chunks = groupby(numbered, lambda each: each[0] // per_file + 1)
    entries: list[SitemapEntry] = []
    listed: list[SitemapEntry] = []
    number = 0
    for following, chunk in chunks:
        if number:
            yield _listed(base_url, number, entries, listed)
        number, entries = following, [entry for _, entry in chunk]
    if not listed and len(entries) + len(pages) <= per_file:
        yield urls.SITEMAP, _document("urlset", "url", (*entries, *pages))
        return
    yield _listed(base_url, number, entries, listed)
    yield _listed(base_url, number + 1, pages, listed)
    yield urls.SITEMAP, _document("sitemapindex", "sitemap", listed)


def _listed(
    base_url: str, number: int, entries: Sequence[SitemapEntry], listed: list[SitemapEntry]
) -> tuple[str, bytes]:
    """One of several files; it is noted for the index."""
    path = path_of(number)
    days = [each.changed for each in entries if each.changed is not None]
    listed.append(SitemapEntry(base_url + path, max(days, default=None)))
    return path, _document("urlset", "url", entries)


def _document(root: str, item: str, entries: Iterable[SitemapEntry]) -> bytes:
    parts = [f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{_NAMESPACE}">\n']
    for url, changed in entries:
        day = "" if changed is None else f"<lastmod>{changed}</lastmod>"
        parts.append(f"<{item}><loc>{html.escape(url, quote=False)}</loc>{day}</{item}>\n")
    parts.append(f"</{root}>\n")
    return "".join(parts).encode()
