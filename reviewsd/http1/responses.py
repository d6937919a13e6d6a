"""Responses: status, header block and body; conditional requests, codings and errors.

This has everything that reads have in common, so that a route only chooses the representation (contract 2). A
response is a value, which the connection sends. Header blocks of documents are made at publication.
"""

import gzip
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from msgspec import Struct

from reviewsd.domain.issues import Issue
from reviewsd.http1 import problems, urls
from reviewsd.http1.events import EventSource
from reviewsd.http1.negotiation import HTML, PROBLEMS, accepted_codings, best_type
from reviewsd.http1.preconditions import evaluate, http_date
from reviewsd.http1.problems import Problem
from reviewsd.http1.representation import Buffer, Rendered
from reviewsd.http1.request import Request

_OK, _NOT_MODIFIED = 200, 304
_FASTEST = 1  # level of gzip
_BODILESS = frozenset({204, _NOT_MODIFIED})

Header = tuple[bytes, bytes]

_SECURITY: Final[tuple[Header, ...]] = (
    (b"X-Content-Type-Options", b"nosniff"),
    (b"Referrer-Policy", b"no-referrer"),
    (b"Content-Security-Policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"Cross-Origin-Resource-Policy", b"cross-origin"),
)
"""Fields of every response."""

_CORS: Final[tuple[Header, ...]] = (
    (b"Access-Control-Allow-Origin", b"*"),
    (b"Access-Control-Expose-Headers", b"ETag, Last-Modified, Link, Retry-After"),
)
"""Fields of responses that pages of any origin may read."""

_PREFLIGHT: Final[tuple[Header, ...]] = (
    (b"Access-Control-Allow-Headers", b"*, Authorization, If-None-Match, If-Modified-Since"),
    (b"Access-Control-Max-Age", b"86400"),
)
"""Fields of responses to a preflight."""

_EVENT_STREAM: Final[tuple[Header, ...]] = (
    (b"Content-Type", b"text/event-stream"),
    (b"X-Accel-Buffering", b"no"),
)

_date = lru_cache(maxsize=2)(http_date)


class Response(Struct, frozen=True):
    """A response. The connection adds the status line, Server, Date and Connection."""

    status: int
    block: bytes
    """The header fields, each with its line end."""
    body: tuple[Buffer, ...] = ()
    """The parts of the body; the connection leaves them out for HEAD."""
    reserve: Callable[[], Callable[[], None]] | None = None
    """Counts the memory of the body, and returns a function that stops counting; None if it is not counted."""
    events: EventSource | None = None
    """The server-sent events that follow the body."""


class Prepared(Struct, frozen=True, kw_only=True):
    """Both responses to a read of a representation."""

    etag: bytes
    last_modified: int | None
    full: Response
    unmodified: Response


class PreparedDocument(Struct, frozen=True):
    """A resource with a fixed address in all its codings."""

    identity: Prepared
    gzip: Prepared | None
    alternatives: Mapping[str, "PreparedDocument"] = {}
    """The documents at this address by media type, with this one first; empty if there is no other."""


class Responses:
    """Makes the responses of one site.

    Args:
        base_url: Origin of the addresses in headers and errors; never the request's Host.
        cache_control: The value for data; errors are never stored.
        now: The time, POSIX seconds.
    """

    def __init__(
        self, base_url: str, cache_control: str, now: Callable[[], float] = time.time
    ) -> None:
        self._base_url = base_url
        self._now = now
        self.not_found_page: tuple[bytes, bytes] | None = None
        """Header fields and content of the page that a browser gets for 404."""
        hsts = ((b"Strict-Transport-Security", b"max-age=31536000"),)
        secured = (*_SECURITY, *(hsts if base_url.startswith("https:") else ()))
        no_store = ((b"Cache-Control", b"no-store"),)
        self._secured = _encoded(secured)
        self._shared = _encoded((*secured, *_CORS))
        self._usual = {
            **dict((*secured, *_CORS)),
            b"Cache-Control": cache_control.encode(),
            b"Accept-Ranges": b"none",
        }
        self.private = cache_control.replace("public", "private")
        """Cache-Control of what not every client gets at an address."""
        self._data = _encoded(self._usual.items())
        self._unkept = self._secured + _encoded(no_store)
        self._plain = self._unkept + _encoded(((b"Content-Type", b"text/plain; charset=utf-8"),))
        self._origin = base_url.encode()
        self._service_link = f'<{base_url}{urls.OPENAPI}>; rel="service-desc"'.encode()

    def _link(self, path: str) -> bytes:
        """Return the Link header of a fixed resource; a topic names itself and its hub."""
        if path not in urls.TOPICS:
            return self._service_link
        return b'<%b%b>; rel="self", <%b%b>; rel="hub", %b' % (
            *(self._origin, path.encode()),
            *(self._origin, urls.HUB.encode()),
            self._service_link,
        )

    def prepare(
        self, path: str, resource: Rendered, alternatives: Mapping[str, Rendered] | None = None
    ) -> PreparedDocument:
        """Make all responses of a document before it is requested.

        Alternatives at the same address, by media type, are not for shared caches: a cache that ignores Vary would
        serve them to all clients.
        """
        own = {name.encode(): value.encode() for name, value in resource.headers.items()}
        link = self._link(path)
        plain = self._prepared(resource, {b"Link": link, **own}, negotiated=bool(alternatives))
        if not alternatives:
            return plain
        private = {b"Link": link, **own, b"Cache-Control": self.private.encode()}
        media_type, _, _ = resource.media_type.decode().partition(";")
        documents = {media_type: plain}
        for kind, document in alternatives.items():
            documents[kind] = self._prepared(document, private, negotiated=True)
        return PreparedDocument(plain.identity, plain.gzip, documents)

    def _prepared(
        self, resource: Rendered, headers: Mapping[bytes, bytes], *, negotiated: bool
    ) -> PreparedDocument:
        """Return the responses of a document in all its codings."""
        vary = [b"Accept"] if negotiated else []
        vary += [] if resource.gzip is None else [b"Accept-Encoding"]
        block = self._fixed(headers) + (b"Vary: %b\r\n" % b", ".join(vary) if vary else b"")
        changed_at = resource.last_modified

        def prepared(body: Buffer, etag: bytes, coding: bytes) -> Prepared:
            unmodified = block + b"ETag: %b\r\n" % etag
            if changed_at is not None:
                unmodified += b"Last-Modified: %b\r\n" % http_date(self._shown(changed_at))
            content = (resource.media_type, coding, len(body))
            full = unmodified + b"Content-Type: %b\r\n%bContent-Length: %d\r\n" % content
            return Prepared(
                etag=etag,
                last_modified=changed_at,
                full=Response(_OK, full, (body,)),
                unmodified=Response(_NOT_MODIFIED, unmodified),
            )

        gzip = None
        if resource.gzip is not None:
            coding = b"Content-Encoding: gzip\r\n"
            gzip = prepared(resource.gzip, b'%b-gzip"' % resource.etag[:-1], coding)
        return PreparedDocument(prepared(resource.body, resource.etag, b""), gzip)

    def _fixed(self, headers: Mapping[bytes, bytes]) -> bytes:
        """Return the header fields of data; ``headers`` replace the usual ones."""
        return _encoded({**self._usual, **headers}.items())

    def _shown(self, last_modified: int) -> int:
        """Return a time that is not in the future, also after the clock was set back (RFC 9110 8.8.2.1)."""
        return min(last_modified, int(self._now()))

    def rendered(self, request: Request, resource: PreparedDocument) -> Response:
        """Answer with the coding that the client prefers (S10)."""
        if resource.alternatives:
            names = tuple(resource.alternatives)
            resource = resource.alternatives[names[best_type(request.lines(b"accept"), names)]]
        lines = request.fields.values.get(b"accept-encoding")
        if lines is None:
            return self._outcome(request, resource.identity)
        gzip, identity = accepted_codings(lines)
        if resource.gzip is not None and gzip:
            return self._outcome(request, resource.gzip)
        if not identity:
            extra = ((b"Vary", b"Accept, Accept-Encoding"),)
            return self.problem(request, problems.NOT_ACCEPTABLE, extra)
        return self._outcome(request, resource.identity)

    def wants_gzip(self, request: Request) -> bool:
        """Return whether the client prefers gzip to identity."""
        return accepted_codings(request.lines(b"accept-encoding"))[0]

    def computed(
        self,
        request: Request,
        parts: tuple[Buffer, ...],
        etag: bytes,
        last_modified: int | None = None,
        next_page: str | None = None,
        *,
        media_type: bytes = b"application/json",
        gzipped: bool = False,
    ) -> Response:
        """Answer with a body that was made for the request.

        Args:
            request: The request.
            parts: The body.
            etag: Of the body; it depends on the data and the request alone.
            last_modified: POSIX seconds; None if they are not known.
            next_page: The path and query of the next page.
            media_type: Of the body.
            gzipped: Whether the method ``gzipped`` will compress the body of a 200.
        """
        link = self._service_link
        if next_page is not None:
            link = b'%b, <%b%b>; rel="next"' % (link, self._origin, next_page.encode())
        if gzipped:
            etag = b'%b-gzip"' % etag[:-1]
        block = b"%bETag: %b\r\nLink: %b\r\nVary: Accept-Encoding\r\n" % (self._data, etag, link)
        if last_modified is not None:
            block += b"Last-Modified: %b\r\n" % _date(self._shown(last_modified))
        answer = self._without_content(request, block, etag, last_modified)
        if answer is not None:
            return answer
        block += b"Content-Type: %b\r\n" % media_type
        if gzipped:
            return Response(_OK, block, parts)
        size = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
        return Response(_OK, block + b"Content-Length: %d\r\n" % size, parts)

    @staticmethod
    def gzipped(computed: Response, body: bytes) -> Response:
        """Return a 200 of ``computed`` with its body in gzip."""
        coding = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n" % len(body)
        return Response(computed.status, computed.block + coding, (body,))

    def header_block(self, headers: Mapping[str, str]) -> bytes:
        """Return the header fields of pages; ``headers`` replace the usual ones."""
        return self._fixed({name.encode(): value.encode() for name, value in headers.items()})

    def page(
        self,
        request: Request,
        block: bytes,
        etag: bytes,
        media_type: str,
        body: Callable[[], bytes],
        *,
        compressed: bool = False,
    ) -> Response:
        """Answer with a page, which ``body`` makes unless the client has it; ``block`` is of ``header_block``.

        ``compressed``: Whether it is sent in gzip to clients that prefer that.
        """
        coding = b""
        if compressed:
            block += b"Vary: Accept-Encoding\r\n"
            if self.wants_gzip(request):
                etag, coding = b'%b-gzip"' % etag[:-1], b"Content-Encoding: gzip\r\n"
        block += b"ETag: %b\r\n" % etag
        answer = self._without_content(request, block, etag, None)
        if answer is not None:
            return answer
        content = body()
        if coding:
            content = gzip.compress(content, _FASTEST, mtime=0)
        head = b"Content-Type: %b\r\n%bContent-Length: %d\r\n"
        fields = head % (media_type.encode(), coding, len(content))
        return Response(_OK, block + fields, (content,))

    @staticmethod
    def page_error(status: int, block: bytes, content: bytes) -> Response:
        """Answer with a page about an error."""
        head = b"Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n"
        return Response(status, block + head % len(content), (content,))

    def _outcome(self, request: Request, chosen: Prepared) -> Response:
        """Answer with a representation, or with 304 if the client has it (RFC 9110 13)."""
        fields = request.fields
        if not fields.conditional:
            return chosen.full
        if fields.if_none_match == chosen.etag:
            return chosen.unmodified
        unmodified = chosen.unmodified.block
        answer = self._without_content(request, unmodified, chosen.etag, chosen.last_modified)
        return answer or chosen.full

    def _without_content(
        self, request: Request, block: bytes, etag: bytes, last_modified: int | None
    ) -> Response | None:
        """Return the 304 or 412 of a precondition; None if the request proceeds."""
        if not request.fields.conditional:
            return None
        status = evaluate(request, etag, last_modified, int(self._now()))
        if status == _OK:
            return None
        if status == _NOT_MODIFIED:
            return Response(_NOT_MODIFIED, block)
        return self.problem(request, problems.PRECONDITION_FAILED)

    def no_store_json(self, body: bytes, status: int = 200) -> Response:
        """Answer with JSON that no cache may store."""
        headers = ((b"Cache-Control", b"no-store"), (b"Content-Type", b"application/json"))
        return _reply(status, self._shared, headers, (body,))

    def invalid(self, request: Request, issues: Sequence[Issue]) -> Response:
        """Answer 400 with the invalid parameters."""
        return self.problem(request, problems.invalid_parameters(issues), issues=issues)

    def problem(
        self,
        request: Request,
        problem: Problem,
        extra: Sequence[Header] = (),
        issues: Sequence[Issue] = (),
    ) -> Response:
        """Answer with an error; headers in ``extra`` replace the usual ones."""
        accept = request.lines(b"accept")
        if problem.status == problems.NOT_FOUND.status and self.not_found_page is not None:
            block, content = self.not_found_page
            if best_type(accept, (*PROBLEMS, HTML)) == len(PROBLEMS):
                return self.page_error(problem.status, block + b"Vary: Accept\r\n", content)
        media_type = PROBLEMS[best_type(accept, PROBLEMS)].encode()
        named = {b"Cache-Control": b"no-store", b"Vary": b"Accept", **dict(extra)}
        headers = (*named.items(), (b"Content-Type", media_type))
        body = problems.render(self._base_url, problem, issues)
        return _reply(problem.status, self._shared, headers, (body,))

    def options(self, methods: Sequence[str], *, cors: bool = True) -> Response:
        """Answer with the allowed methods; a preflight fails without ``cors``."""
        allow = ", ".join(methods).encode()
        headers: tuple[Header, ...] = ((b"Allow", allow),)
        if cors:
            headers += (*_CORS, *_PREFLIGHT, (b"Access-Control-Allow-Methods", allow))
        return _reply(204, self._secured, headers)

    def moved(
        self, path: bytes, query: bytes, status: int = HTTPStatus.PERMANENT_REDIRECT
    ) -> Response:
        """Redirect to the exact address of a read, under any host name."""
        target = path + b"?" + query if query else path
        return Response(status, b"%bLocation: %b\r\nContent-Length: 0\r\n" % (self._data, target))

    def plain(self, status: int, text: str, extra: Sequence[Header] = ()) -> Response:
        """Answer with text that no cache may store, and no script of another site may read."""
        return _reply(status, self._plain, extra, (f"{text}\n".encode(),))

    def no_store(
        self, status: int, headers: Sequence[Header], body: tuple[Buffer, ...] = ()
    ) -> Response:
        """Answer with a body that no cache may store; ``headers`` have its Content-Type."""
        return _reply(status, self._unkept, headers, body)

    def event_stream(
        self, headers: Sequence[Header], body: tuple[Buffer, ...], events: EventSource
    ) -> Response:
        """Answer with server-sent events, which no cache may store and no proxy may hold back."""
        block = self._unkept + _encoded((*headers, *_EVENT_STREAM))
        return Response(_OK, block, body, events=events)

    def refusal(self, problem: Problem) -> Response:
        """Answer a request that no route answers, or malformed bytes."""
        if problem.plain:
            return self.plain(problem.status, problem.detail)
        return self.problem(Request(b"", b""), problem)


def _encoded(headers: Iterable[Header]) -> bytes:
    """Return header fields as bytes, each with its line end."""
    return b"".join(b"%b: %b\r\n" % header for header in headers)


def _reply(
    status: int, usual: bytes, headers: Sequence[Header], body: tuple[Buffer, ...] = ()
) -> Response:
    block = usual + _encoded(headers)
    if status not in _BODILESS:
        block += b"Content-Length: %d\r\n" % sum(map(len, body))
    return Response(status, block, body)
