"""Answers every read of the specification (seed 4, contract 2 and 3).

A read finds a document that was rendered at publication, or joins slices of it; it encodes no JSON. It reads
``snapshots.current`` once, so a response never mixes two states of the data.
"""

import hashlib
import zlib
from binascii import b2a_base64
from collections.abc import Generator, Iterator
from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote_to_bytes

from werkzeug.exceptions import NotFound

from reviewsd.domain.parameters import read_date, read_query
from reviewsd.domain.search_query import SearchQuery
from reviewsd.http1 import problems, urls
from reviewsd.http1.representation import Buffer
from reviewsd.http1.request import Request
from reviewsd.http1.responses import PreparedDocument, Response, Responses
from reviewsd.publish import documents
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.web.app import Answer, PublicApp
from reviewsd.web.budgets import COSTLY, Budgets, MemoryFullError

MIN_GZIP, MAX_GZIP = 1_024, 1_048_576
"""Bounds in bytes of a computed body that is compressed if the client prefers that, at 7 ns for each byte. A larger
one would take memory, while the records of the plain one are views of a mapped file."""

GZIP_STEP = 65_536
"""Bytes that are compressed in one step of half a millisecond."""

_GZIP = 31  # window bits of zlib, gzip's frame included

COPIED = 16_384
"""Most bytes of a search result that is joined; the records of a larger one stay views of the document, so
that a slow client holds no memory."""


class Reads:
    """Answers reads from the current snapshot.

    Args:
        snapshots: The data.
        responses: Makes the responses.
        budgets: Time and memory of all clients.
    """

    app: Final = PublicApp()

    def __init__(self, snapshots: Snapshots, responses: Responses, budgets: Budgets) -> None:
        self.snapshots = snapshots
        """The data."""
        self.responses = responses
        """Makes the responses."""
        self.time, self.memory = budgets
        self._documents: dict[bytes, PreparedDocument] = {}
        snapshots.observe(self._published)

    def _published(self, snapshot: Snapshot) -> None:
        self._documents = {
            path.encode(): self.responses.prepare(
                path,
                document,
                {kind: snapshot.documents[name] for kind, name in document.others.items()},
            )
            for path, document in snapshot.documents.items()
        }

    @app.route(urls.REVIEWS, urls.INSIGHTS, urls.JSON_FEED, urls.ATOM_FEED, urls.OPENAPI)
    @app.route(*urls.PAGES, f"{urls.SITEMAP_PART}<part>", f"{urls.LOCATION}<id>", page=True)
    def document(self, request: Request, **_parts: str) -> Response:
        """Answer with a document that was rendered at publication."""
        path = request.path
        prepared = self._documents.get(path)
        if prepared is None and b"%" in path:
            path = unquote_to_bytes(path)
            prepared = self._documents.get(path)
        if prepared is not None:
            return self.responses.rendered(request, prepared)
        _ = self.snapshots.current  # raises if nothing is published
        missing = problems.NOT_PUBLISHED if path == _INSIGHTS else problems.NOT_FOUND
        return self.responses.problem(request, missing)

    @app.route(urls.SEARCH, cost=COSTLY)
    def search(self, request: Request) -> Answer:
        """Answer with a page of the reviews that match all filters."""
        query = read_query(request.query)
        return self.time.run(request, self._search(request, query, self.snapshots.current))

    def _search(
        self, request: Request, query: SearchQuery, snapshot: Snapshot
    ) -> Generator[None, None, Response]:
        hits = yield from snapshot.search(query)
        next_cursor = snapshot.cursor(hits, query.sort)
        cursor = None if next_cursor is None else next_cursor.encode()
        positions = hits.positions
        head, tail = documents.search_ends(hits.matched, len(positions), cursor)
        parts = (head, *snapshot.records.pieces(positions), tail)
        if sum(map(len, parts)) <= COPIED:
            parts = (b"".join(parts),)
        next_page = None
        if cursor is not None:
            next_page = f"{urls.SEARCH}?{query.page_after(cursor)}"
        tag = entity_tag(b"%d %d " % (hits.matched, hits.more), snapshot.digests.of(positions))
        return (yield from self.computed(request, parts, tag, next_page=next_page))

    @app.route(f"{urls.SINCE}<date>")
    def since(self, request: Request, date: str) -> Answer:
        """Answer with all reviews dated on or after a day."""
        day = read_date(date)
        snapshot = self.snapshots.current
        count, records = snapshot.since(day)
        dataset = snapshot.documents[urls.REVIEWS]
        parts = documents.since_result(day, count, records)
        tag = entity_tag(b"since %b " % date.encode(), snapshot.digests.of_newest(count))
        if not self._is_compressed(request, parts):
            return self.responses.computed(request, parts, tag, dataset.last_modified)
        steps = self.computed(request, parts, tag, dataset.last_modified)
        return self.time.run(request, steps)

    @app.route(f"{urls.API_REVIEW}<path:id>")
    def review(self, request: Request, id: str) -> Response:  # noqa: A002  the name in OpenAPI
        """Answer with one review."""
        if id == _SINCE:
            raise NotFound
        snapshot = self.snapshots.current
        position = snapshot.position(id)
        if position is None:
            return self.no_review(request, id)
        tag = entity_tag(b"review ", snapshot.digests.of((position,)))
        return self.responses.computed(request, (snapshot.records.at(position),), tag)

    def no_review(self, request: Request, review_id: str) -> Response:
        """Answer that there is no review of this id now, or that there was one."""
        is_gone = self.snapshots.current.is_gone(review_id)
        return self.responses.problem(
            request, problems.REVIEW_REMOVED if is_gone else problems.NO_REVIEW
        )

    def _is_compressed(self, request: Request, parts: tuple[Buffer, ...]) -> bool:
        """Return whether a computed body is sent in gzip (decision 9)."""
        return self.responses.wants_gzip(request) and MIN_GZIP <= sum(map(len, parts)) <= MAX_GZIP

    def computed(
        self,
        request: Request,
        parts: tuple[Buffer, ...],
        tag: bytes,
        last_modified: int | None = None,
        next_page: str | None = None,
        media_type: bytes = b"application/json",
    ) -> Generator[None, None, Response]:
        """Answer with a computed body, which is compressed in steps if the client prefers that.

        If the compressed body takes too much memory, the plain one is sent.

        Raises:
            MemoryFullError: Both take too much.
        """
        computed = partial(
            self.responses.computed,
            request,
            parts,
            tag,
            last_modified,
            next_page,
            media_type=media_type,
        )
        if not self._is_compressed(request, parts):
            return computed()
        answer = computed(gzipped=True)
        if answer.status != HTTPStatus.OK:
            return answer
        packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
        packed = []
        for piece in _steps(parts):
            packed.append(packer.compress(piece))
            yield
        packed.append(packer.flush())
        try:
            return self.memory.admit(request, self.responses.gzipped(answer, b"".join(packed)))
        except MemoryFullError:
            return self.memory.admit(request, computed())


def _steps(parts: tuple[Buffer, ...]) -> Iterator[Buffer]:
    """Yield the bytes of a body in pieces of one step."""
    if sum(map(len, parts)) <= GZIP_STEP:  # most searches
        yield b"".join(parts)
        return
    for part in parts:
        for begin in range(0, len(part), GZIP_STEP):
            yield part[begin : begin + GZIP_STEP]


_SINCE = "since"  # no id in an address: a date has to follow

_INSIGHTS = urls.INSIGHTS.encode()


def entity_tag(facts: bytes, digest: bytes) -> bytes:
    """Return the entity tag of a computed body: equal for equal bytes, whatever else has changed.

    Args:
        facts: The values beside the reviews on which the body depends.
        digest: Of the reviews.
    """
    tag = b2a_base64(hashlib.sha256(facts + digest).digest(), newline=False)
    return b'"%b"' % tag.translate(_URL_SAFE)[:22]


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
