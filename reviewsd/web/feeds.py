"""Older pages of the feeds, made for a request (seed 4.3, RFC 5005 3, decision 160).

The first page of a feed is rendered at publication. The others are made by the same code, from records and the
frame that the snapshot keeps.
"""

from collections.abc import Callable, Generator, Iterator
from typing import Final

import msgspec

from reviewsd.domain.parameters import read_cursor
from reviewsd.domain.search_query import Cursor
from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.publish import atom, json_feed
from reviewsd.publish.feed import MAX_ENTRIES, FeedFrame, FeedPage
from reviewsd.snapshot.search import after
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.web.app import Answer, PublicApp
from reviewsd.web.budgets import COSTLY
from reviewsd.web.reads import Reads, entity_tag

_Renderer = Callable[[FeedPage], Iterator[bytes]]


_frame = msgspec.json.Decoder(FeedFrame)


class FeedReads:
    """Answers with pages of the feeds."""

    app: Final = PublicApp()

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._frame: FeedFrame | None = None
        reads.snapshots.observe(self._published)

    def _published(self, _snapshot: Snapshot) -> None:
        self._frame = None

    @app.route(urls.JSON_FEED_PAGE, cost=COSTLY)
    def json_page(self, request: Request, cursor: str) -> Answer:
        """Answer with a page of the JSON Feed."""
        return self._page(request, cursor, json_feed.render, json_feed.MEDIA_TYPE)

    @app.route(urls.ATOM_FEED_PAGE, cost=COSTLY)
    def atom_page(self, request: Request, cursor: str) -> Answer:
        """Answer with a page of the Atom feed."""
        return self._page(request, cursor, atom.render, atom.MEDIA_TYPE)

    def _page(self, request: Request, cursor: str, render: _Renderer, media_type: str) -> Answer:
        page = self._entries(self._reads.snapshots.current, read_cursor(cursor))
        steps = self._steps(request, render(page), media_type.encode())
        return self._reads.time.run(request, steps)

    def _entries(self, snapshot: Snapshot, cursor: Cursor) -> FeedPage:
        """Return the page of reviews that follow a cursor; its review may not exist any more."""
        frame = self._frame
        if frame is None:
            frame = self._frame = _frame.decode(snapshot.feed)
        begin, count = after(snapshot.columns, cursor), snapshot.columns.count
        positions = range(begin, min(begin + MAX_ENTRIES, count))
        last = positions.stop == count
        return FeedPage(
            frame=frame,
            entries=[
                frame.entry(snapshot.records.review_at(position), snapshot.insight(position))
                for position in positions
            ],
            cursor=cursor.encode(),
            next_cursor=None if last else snapshot.records.cursor_at(positions[-1]).encode(),
        )

    def _steps(
        self, request: Request, rendered: Iterator[bytes], media_type: bytes
    ) -> Generator[None, None, Response]:
        parts = []
        for part in rendered:
            parts.append(part)
            yield
        body, reads = b"".join(parts), self._reads
        tag = entity_tag(media_type, body)
        answer = yield from reads.computed(request, (body,), tag, media_type=media_type)
        return reads.memory.admit(request, answer)
