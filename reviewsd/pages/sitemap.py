"""Sitemaps: the addresses of all pages, and the days of their changes (sitemaps.org 0.9, pages.md 5).

Reviews come oldest first, in files counted from the oldest of all: a new review changes
the last file of reviews and none before it.
"""

import datetime
import html
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from reviewsd.http1 import urls

PER_FILE: Final = 50_000
"""Addresses in one file, at most (sitemaps.org)."""

_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"


class SitemapEntry(NamedTuple):
    """One address."""

    url: str
    changed: datetime.date | None
    """Day of the last change; None if unknown."""


def path_of(number: int) -> str:
    """Return the path of one of several files, numbered from 1."""
    return f"{urls.SITEMAP_PART}{number}.xml"


def render(
    base_url: str,
    pages: Sequence[SitemapEntry],
    reviews: Iterable[SitemapEntry],
    first: int = 0,
    per_file: int = PER_FILE,
) -> Iterator[tuple[str, bytes]]:
    """Render the files with their paths; the one at ``/sitemap.xml`` comes last.

    Args:
        base_url: Origin of the addresses, without a slash at its end.
        pages: Entries of the fixed pages.
        reviews: Entries of reviews, oldest first.
        first: Number of older reviews that are not listed.
        per_file: Addresses in a file.

    Yields:
        One ``urlset`` if everything fits into it, else several and the ``sitemapindex`` that names them.
    """
    numbered = enumerate(reviews, first)
    chunks = groupby(numbered, lambda entry: entry[0] // per_file + 1)
    entries: list[SitemapEntry] = []
    listed: list[SitemapEntry] = []
    number = 0
    for next_number, chunk in chunks:
        if number:
            yield _listed(base_url, number, entries, listed)
        number, entries = next_number, [entry for _, entry in chunk]
    if not listed and len(entries) + len(pages) <= per_file:
        yield urls.SITEMAP, _document("urlset", "url", (*entries, *pages))
        return
    yield _listed(base_url, number, entries, listed)
    yield _listed(base_url, number + 1, pages, listed)
    yield urls.SITEMAP, _document("sitemapindex", "sitemap", listed)


def _listed(
    base_url: str, number: int, entries: Sequence[SitemapEntry], listed: list[SitemapEntry]
) -> tuple[str, bytes]:
    """Return one of several files, and add it to those for the index."""
    path = path_of(number)
    days = [entry.changed for entry in entries if entry.changed is not None]
    listed.append(SitemapEntry(base_url + path, max(days, default=None)))
    return path, _document("urlset", "url", entries)


def _document(root: str, item: str, entries: Iterable[SitemapEntry]) -> bytes:
    parts = [f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{_NAMESPACE}">\n']
    for url, changed in entries:
        day = "" if changed is None else f"<lastmod>{changed}</lastmod>"
        parts.append(f"<{item}><loc>{html.escape(url, quote=False)}</loc>{day}</{item}>\n")
    parts.append(f"</{root}>\n")
    return "".join(parts).encode()
