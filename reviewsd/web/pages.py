"""Pages that are made for a request: ``/r/{id}``, and ``/reviews`` with parameters (pages.md 1, 2).

Everything about them was rendered when the snapshot was published, but for the reviews that are asked for. The
entity tag of ``/r/{id}`` is made of its frame and of that review: it survives the changes of others.
"""

import hashlib
from collections.abc import Generator
from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec
from werkzeug.exceptions import NotFound

from reviewsd.domain.parameters import InvalidParametersError, read_query
from reviewsd.domain.reviews import Review
from reviewsd.domain.search_query import SearchQuery
from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.pages.document import HTML, MARKDOWN
from reviewsd.pages.frames import Frames, decode
from reviewsd.pages.reviews import RequestPages, ReviewsFound
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.web.app import Answer, PublicApp
from reviewsd.web.reads import Reads, entity_tag

_TWIN = ".md"
_review = msgspec.json.Decoder(Review)


class _SnapshotPages:
    """What the pages of a snapshot are made of."""

    def __init__(self, snapshot: Snapshot, made: Frames, responses: Responses) -> None:
        self.snapshot = snapshot
        self.pages = RequestPages(made)
        self.digest = _digest(made)
        stable = (made.review, made.words, made.templates, made.business, made.headers)
        self.review_digest = _digest((*stable, made.jsonld_reviews))
        """Of all that the page of a review is made of, but for the review."""
        self.link = made.headers["Link"]
        self._headers = made.headers
        self._responses = responses
        self.failed = responses.header_block({**made.headers, "Cache-Control": "no-store"})
        self.gone = made.gone.encode()

    def block(self, link: str) -> bytes:
        """The header fields of a page, with one more link."""
        joined = f"{self.link}, {link}" if link else self.link
        return self._responses.header_block({**self._headers, "Link": joined})


class PageReads:
    """Answers for pages that are made for a request.

    Args:
        reads: Answers with fixed documents; what it answers with is told which page says that there is
            nothing.
    """

    app: Final = PublicApp()

    def __init__(self, reads: Reads) -> None:
        self._responses = reads.responses
        self._reads = reads
        self._published: _SnapshotPages | None = None
        reads.snapshots.observe(self._use)

    def _use(self, snapshot: Snapshot) -> None:
        content = snapshot.pages
        if content is None:
            self._published = None
            self._responses.not_found_page = None
            return
        made = decode(content)
        published = _SnapshotPages(snapshot, made, self._responses)
        self._published = published
        self._responses.not_found_page = (published.failed, made.nothing.encode())

    def _now(self) -> _SnapshotPages:
        """Return the pages of the current snapshot.

        Raises:
            SnapshotError: Nothing is published yet.
            NotFound: Pages are switched off.
        """
        if self._published is None:
            _ = self._reads.snapshots.current
            raise NotFound
        return self._published

    @app.route(f"{urls.REVIEW}<path:id>", page=True)
    def review(self, request: Request, id: str) -> Response:  # noqa: A002  as in the API
        """The page of one review, as HTML or, with ``.md`` after its id, as Markdown."""
        published = self._now()
        snapshot, twin = published.snapshot, False
        position = snapshot.position(id)
        if position is None and id.endswith(_TWIN):
            position, twin = snapshot.position(id.removesuffix(_TWIN)), True
        if position is None:
            return self._responses.page_error(404, published.failed, published.gone)
        review = _review.decode(snapshot.records.at(position))
        own = urls.permalink(review.id)
        pages = published.pages
        tag = entity_tag(published.review_digest + b"md" * twin, snapshot.digests.of((position,)))
        if twin:
            link = f'<{pages.frames.base_url}{own}>; rel="canonical"'
            return self._responses.page(
                request,
                published.block(link),
                tag,
                MARKDOWN,
                lambda: pages.review_markdown(review),
            )
        link = f'<{own}{_TWIN}>; rel="alternate"; type="text/markdown"'
        return self._responses.page(
            request, published.block(link), tag, HTML, lambda: pages.review(review)
        )

    @app.pages(urls.LIST, urls.LIST_MARKDOWN)
    def reviews(self, request: Request) -> Answer:
        """A page of all reviews, or of those that match the parameters; HTML or Markdown.

        Raises:
            InvalidParametersError: What is wrong is told in Markdown's place as the API tells it.
        """
        published = self._now()
        twin = unquote_to_bytes(request.path).endswith(_TWIN.encode())
        given = _without_blanks(request.query)
        if not given:
            return self._reads.document(request)
        try:
            query = read_query(given)
        except InvalidParametersError as error:
            if twin:
                raise
            return self._invalid(published, given, error)
        if query == SearchQuery():
            return self._reads.document(request)
        return self._reads.time.run(request, self._search(request, query, published, twin))

    def _search(
        self,
        request: Request,
        query: SearchQuery,
        published: _SnapshotPages,
        twin: bool,  # noqa: FBT001
    ) -> Generator[None, None, Response]:
        snapshot, pages = published.snapshot, published.pages
        try:
            hits = yield from snapshot.search(query)
        except InvalidParametersError as error:  # a name that fits several
            if twin:
                raise
            return self._invalid(published, query.canonical().encode(), error)
        found = hits.positions
        cursor = snapshot.cursor(hits, query.sort)
        canonical, path, other = query.canonical(), urls.LIST, urls.LIST_MARKDOWN
        link = f'<{other}?{canonical}>; rel="alternate"; type="text/markdown"'
        if twin:
            path, other = other, path
            link = f'<{pages.frames.base_url}{other}?{canonical}>; rel="canonical"'
        following = None
        if cursor is not None:
            first = query.first_page()
            following = f"{path}?{first}{'&' if first else ''}cursor={cursor.encode()}"
            link = f'{link}, <{following}>; rel="next"'
        facts = b"%b %d %d %d %b " % (
            published.digest,
            twin,
            hits.matched,
            hits.more,
            canonical.encode(),
        )

        def body() -> bytes:
            reviews = [_review.decode(snapshot.records.at(each)) for each in found]
            listed = ReviewsFound(matched=hits.matched, reviews=reviews, following=following)
            return (pages.listed_markdown if twin else pages.listed)(query, listed)

        response = self._responses.page(
            request,
            published.block(link),
            entity_tag(facts, snapshot.digests.of(found)),
            MARKDOWN if twin else HTML,
            body,
        )
        return self._reads.memory.admit(request, response)

    def _invalid(
        self, published: _SnapshotPages, query: bytes, error: InvalidParametersError
    ) -> Response:
        content = published.pages.invalid(query, error.issues)
        return self._responses.page_error(400, published.failed, content)


def _without_blanks(query: bytes) -> bytes:
    """A query string without what was left blank in a form."""
    return b"&".join(part for part in query.split(b"&") if part.partition(b"=")[2])


def _digest(of: object) -> bytes:
    return hashlib.sha256(msgspec.json.encode(of)).digest()
