"""The embed with options, the badge in its sizes, and the page that configures them (pages.md 7).

Each is a frame that was rendered at publication and is filled in for the request. Without options it is a document.
"""

from collections.abc import Generator, Sequence
from typing import Final

from reviewsd.domain.embed_options import (
    BADGE,
    BADGE_PARAMETERS,
    EMBED_PARAMETERS,
    BadgeOptions,
    EmbedOptions,
)
from reviewsd.domain.issues import InvalidParametersError
from reviewsd.domain.parameter_rules import SearchParameter
from reviewsd.domain.search_query import SearchQuery
from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.pages.document import HTML, SVG
from reviewsd.pages.embed_pages import EmbedPages
from reviewsd.web.app import Answer, PublicApp
from reviewsd.web.pages import PageReads
from reviewsd.web.reads import entity_tag

_NO_STORE: Final = {"Cache-Control": "no-store"}


class EmbedReads:
    """Answers for what owners put on their own websites; ``pages`` has the frames."""

    app: Final = PublicApp()

    def __init__(self, pages: PageReads) -> None:
        self._pages, self._reads, self._responses = pages, pages.reads, pages.reads.responses

    @app.route(urls.EMBED, page=True)
    def embed(self, request: Request) -> Answer:
        """Answer with reviews for a frame on another site."""
        pages = self._pages.now().embeds
        try:
            options = pages.effective(EmbedOptions.read(request.query))
        except InvalidParametersError as error:
            return self._invalid(pages, error, EMBED_PARAMETERS)
        if options == EmbedOptions():
            return self._reads.document(request)
        return self._reads.time.run(request, self._embed(request, options))

    def _embed(self, request: Request, options: EmbedOptions) -> Generator[None, None, Response]:
        published = self._pages.now()
        snapshot, pages = published.snapshot, published.embeds
        positions: Sequence[int] = ()
        if options.layout != BADGE:
            query = SearchQuery(min_rating=options.min_rating, limit=options.count)
            positions = (yield from snapshot.search(query)).positions

        def body() -> bytes:
            reviews = [*map(snapshot.records.review_at, positions)]
            return pages.embed(options, reviews)

        sheet = pages.sheet(options.theme, options.accent)
        response = self._responses.page(
            request,
            self._responses.header_block(pages.frames.headers_with(sheet.digest)),
            entity_tag(
                published.embed_digest + options.query().encode(), snapshot.digests.of(positions)
            ),
            HTML,
            body,
            compressed=True,
        )
        return self._reads.memory.admit(request, response)

    @app.route(urls.BADGE, page=True)
    def badge(self, request: Request) -> Response:
        """Answer with the badge, in one of its sizes and themes."""
        published = self._pages.now()
        pages = published.embeds
        try:
            options = BadgeOptions.read(request.query)
        except InvalidParametersError as error:
            return self._invalid(pages, error, BADGE_PARAMETERS)
        if options == BadgeOptions():
            return self._reads.document(request)
        picture = pages.frames.picture(options)
        return self._responses.page(
            request,
            self._responses.header_block({}),
            entity_tag(published.embed_digest, options.query().encode()),
            SVG,
            picture.encode,
            compressed=True,
        )

    @app.route(urls.DEVELOPERS_EMBED, page=True)
    def setup(self, request: Request) -> Response:
        """Answer with the page that shows the result of the options, and the lines to copy."""
        published = self._pages.now()
        pages = published.embeds
        headers = pages.frames.setup_headers
        try:
            options = pages.effective(EmbedOptions.read(request.query))
        except InvalidParametersError as error:
            block = self._responses.header_block({**headers, **_NO_STORE})
            content = pages.invalid_setup(request.query, error.issues)
            return self._responses.page_error(400, block, content)
        if options == EmbedOptions():
            return self._reads.document(request)
        return self._responses.page(
            request,
            self._responses.header_block(headers),
            entity_tag(published.embed_digest, b"setup " + options.query().encode()),
            HTML,
            lambda: pages.setup(options),
            compressed=True,
        )

    def _invalid(
        self,
        pages: EmbedPages,
        error: InvalidParametersError,
        parameters: Sequence[SearchParameter],
    ) -> Response:
        sheet = pages.sheet(EmbedOptions().theme, None)
        headers = {**pages.frames.headers_with(sheet.digest), **_NO_STORE}
        block = self._responses.header_block(headers)
        return self._responses.page_error(400, block, pages.invalid(error.issues, parameters))
