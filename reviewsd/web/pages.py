"""Pages that are made for a request: ``/r/{id}``, and ``/reviews`` with parameters (pages.md 1, 2).

The frames of the pages are rendered at publication, and the reviews are filled in for the request. The entity tag of
``/r/{id}`` depends on its frame and its review, so changes of other reviews leave it as it is.
"""

import hashlib
from collections.abc import Generator
from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec
from werkzeug.exceptions import NotFound

from reviewsd.domain.issues import InvalidParametersError
from reviewsd.domain.parameters import read_query
from reviewsd.domain.search_query import SearchQuery
from reviewsd.http1 import urls
from reviewsd.http1.negotiation import best_type
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.pages.document import HTML, MARKDOWN
from reviewsd.pages.embed_pages import EmbedPages
from reviewsd.pages.frames import Frames, decode
from reviewsd.pages.request_pages import RequestPages, ReviewsFound
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.web.app import Answer, PublicApp
from reviewsd.web.reads import Reads, entity_tag

_TWIN = ".md"
_KINDS = ("text/html", "text/markdown")


class SnapshotPages:
    """The frames of a snapshot's pages, with their header fields and digests."""

    def __init__(self, snapshot: Snapshot, frames: Frames, responses: Responses) -> None:
        self.snapshot, self.pages, self.embeds = snapshot, RequestPages(frames), EmbedPages(frames)
        self.digest = _digest(frames)
        common = (frames.words, frames.templates, frames.business)
        # Of a page, and of an embed, without their reviews
        self.review_digest = _digest(
            (frames.review, *common, frames.headers, frames.jsonld_reviews)
        )
        self.embed_digest = _digest((frames.embed, *common, frames.base_url))
        self._headers, self._responses = frames.headers, responses
        no_store = {"Cache-Control": "no-store"}
        self.error_block = responses.header_block({**frames.headers, **no_store})
        self._invalid_block = self.error_block + b"Vary: Accept\r\n"

    def block(self, link: str, *, negotiated: bool, twin: bool) -> bytes:
        """Return the header fields of a page, with one more link.

        Args:
            link: The link.
            negotiated: Whether the address has the page as HTML and as Markdown.
            twin: Whether this is the Markdown.
        """
        headers = {**self._headers, "Link": f"{self._headers['Link']}, {link}"}
        if negotiated:
            headers["Vary"] = "Accept"
            if twin:  # a cache that ignores Vary would serve it to browsers
                headers["Cache-Control"] = self._responses.private
        return self._responses.header_block(headers)

    def error(self, status: int, page: str) -> Response:
        """Return a page about an error."""
        return self._responses.page_error(status, self.error_block, page.encode())

    def invalid(self, query: bytes, error: InvalidParametersError) -> Response:
        """Return the page about invalid parameters."""
        content = self.pages.invalid(query, error.issues)
        return self._responses.page_error(400, self._invalid_block, content)


class PageReads:
    """Answers with pages that are made for a request."""

    app: Final = PublicApp()

    def __init__(self, reads: Reads) -> None:
        self._responses = reads.responses
        self.reads = reads
        """Answers with fixed documents, and makes the responses."""
        self._published: SnapshotPages | None = None
        reads.snapshots.observe(self._use)

    def _use(self, snapshot: Snapshot) -> None:
        self._published = self._responses.not_found_page = None
        if snapshot.pages is not None:
            frames = decode(snapshot.pages)
            self._published = SnapshotPages(snapshot, frames, self._responses)
            page = (self._published.error_block, frames.nothing.encode())
            self._responses.not_found_page = page

    def now(self) -> SnapshotPages:
        """Return the pages of the current snapshot.

        Raises:
            SnapshotError: Nothing is published yet.
            NotFound: Pages are switched off.
        """
        if self._published is None:
            _ = self.reads.snapshots.current  # raises if nothing is published
            raise NotFound
        return self._published

    @app.route(f"{urls.REVIEW}<path:id>", page=True)
    def review(self, request: Request, id: str) -> Response:  # noqa: A002  as in the API
        """Answer with the page of one review; as Markdown with ``.md`` after its id, or by Accept."""
        published = self.now()
        snapshot, negotiated = published.snapshot, True
        position = snapshot.position(id)
        if position is None and id.endswith(_TWIN):
            id, negotiated = id.removesuffix(_TWIN), False  # noqa: A001
            position = snapshot.position(id)
        if position is None and not negotiated:  # Markdown has the errors of the API
            return self.reads.no_review(request, id)
        if position is None:
            status = HTTPStatus.GONE if snapshot.is_gone(id) else HTTPStatus.NOT_FOUND
            return published.error(status, published.pages.frames.gone)
        review = snapshot.records.review_at(position)
        own = urls.permalink(review.id)
        pages = published.pages
        twin = not negotiated or _prefers_markdown(request)
        tag = entity_tag(published.review_digest + b"md" * twin, snapshot.digests.of((position,)))
        link = f'<{own}{_TWIN}>; rel="alternate"; type="text/markdown"'
        media_type, body = HTML, partial(pages.review, review)
        if twin:
            link = f'<{pages.frames.base_url}{own}>; rel="canonical"'
            media_type, body = MARKDOWN, partial(pages.review_markdown, review)
        block = published.block(link, negotiated=negotiated, twin=twin)
        return self._responses.page(request, block, tag, media_type, body)

    @app.route(urls.LIST, urls.LIST_MARKDOWN, page=True)
    def reviews(self, request: Request) -> Answer:
        """Answer with a page of the reviews that match the parameters, as HTML or Markdown.

        Fields of a form that were left blank are taken out of the address by a redirect.

        Raises:
            InvalidParametersError: A Markdown page is requested, which has the errors of the API.
        """
        published = self.now()
        negotiated = not unquote_to_bytes(request.path).endswith(_TWIN.encode())
        clean = _without_blanks(request.query)
        if clean != request.query:
            path = urls.LIST if negotiated else urls.LIST_MARKDOWN
            return self._responses.moved(path.encode(), clean, HTTPStatus.SEE_OTHER)
        if not clean:
            return self.reads.document(request)
        twin = not negotiated or _prefers_markdown(request)
        try:
            query = read_query(clean)
        except InvalidParametersError as error:
            if twin:
                raise  # Markdown has the errors of the API
            return published.invalid(clean, error)
        if query == SearchQuery():
            return self.reads.document(request)
        search = self._search(request, query, published, negotiated=negotiated, twin=twin)
        return self.reads.time.run(request, search)

    def _search(
        self,
        request: Request,
        query: SearchQuery,
        published: SnapshotPages,
        *,
        negotiated: bool,
        twin: bool,
    ) -> Generator[None, None, Response]:
        snapshot, pages = published.snapshot, published.pages
        try:
            hits = yield from snapshot.search(query)
        except InvalidParametersError as error:  # a name that fits several
            if twin:
                raise
            return published.invalid(query.canonical().encode(), error)
        positions = hits.positions
        cursor = snapshot.cursor(hits, query.sort)
        canonical, path, alternate = query.canonical(), urls.LIST, urls.LIST_MARKDOWN
        link = f'<{alternate}?{canonical}>; rel="alternate"; type="text/markdown"'
        if twin:
            path, alternate = alternate, path
            link = f'<{pages.frames.base_url}{alternate}?{canonical}>; rel="canonical"'
        next_page = None
        if cursor is not None:
            next_page = f"{path}?{query.page_after(cursor.encode())}"
            link = f'{link}, <{next_page}>; rel="next"'
        figures = (published.digest, twin, hits.matched, hits.more, canonical.encode())
        facts = b"%b %d %d %d %b " % figures

        def body() -> bytes:
            reviews = [*map(snapshot.records.review_at, positions)]
            listed = ReviewsFound(matched=hits.matched, reviews=reviews, following=next_page)
            return (pages.listed_markdown if twin else pages.listed)(query, listed)

        response = self._responses.page(
            request,
            published.block(link, negotiated=negotiated, twin=twin),
            entity_tag(facts, snapshot.digests.of(positions)),
            MARKDOWN if twin else HTML,
            body,
        )
        return self.reads.memory.admit(request, response)


def _prefers_markdown(request: Request) -> bool:
    """Return whether the client prefers Markdown to HTML."""
    return best_type(request.lines(b"accept"), _KINDS) == 1


def _without_blanks(query: bytes) -> bytes:
    """Return a query string without its parameters that have no value."""
    return b"&".join(part for part in query.split(b"&") if part.partition(b"=")[2])


def _digest(value: object) -> bytes:
    return hashlib.sha256(msgspec.json.encode(value)).digest()
