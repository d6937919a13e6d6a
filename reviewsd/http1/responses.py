"""What answers are made of: status, header block, body; conditional requests, codings, errors.

Everything that all reads have in common is here, so a route only says which representation it
answers with (contract 2). An answer is a value: the channel alone sends it, whichever way its request
came. What is known at publication is put together at publication, the header block included.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from reviewsd.domain.parameters import Issue
from reviewsd.http1 import problems, urls
from reviewsd.http1.negotiation import HTML, PROBLEMS, accepted_codings, best_type
from reviewsd.http1.preconditions import http_date, status_of
from reviewsd.http1.problems import Problem
from reviewsd.http1.representation import Buffer, Rendered, Representation
from reviewsd.http1.request import Request

_FOUND, _NOT_MODIFIED = 200, 304
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

_date = lru_cache(maxsize=2)(http_date)


class Response(Struct, frozen=True):
    """An answer. The channel adds the status line, Server, Date and Connection."""

    status: int
    block: bytes
    """The header fields, each with its line end."""
    body: tuple[Buffer, ...] = ()
    """Its parts; also for HEAD, whose answer the channel sends without them."""
    reserve: Callable[[], Callable[[], None]] | None = None
    """Where the body is memory that has to be counted: begins that, and returns what ends it."""


class Prepared(Struct, frozen=True, kw_only=True):
    """Both answers to a read of a representation."""

    etag: bytes
    last_modified: int | None
    found: Response
    unmodified: Response


class PreparedDocument(Struct, frozen=True):
    """A resource with a fixed address in all its codings."""

    identity: Prepared
    gzip: Prepared | None
    others: tuple[tuple[str, "PreparedDocument"], ...] = ()
    """What is answered to an Accept that prefers another media type; this one's comes first."""

    @property
    def names(self) -> tuple[str, ...]:
        """The media types of these."""
        return tuple(name for name, _ in self.others)


class Responses:
    """Makes answers for one site.

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
        """Header fields and content of what is answered to a browser where there is nothing."""
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
        self._private = {b"Cache-Control": cache_control.replace("public", "private").encode()}
        self._data = _encoded(self._usual.items())
        self._unkept = self._secured + _encoded(no_store)
        self._plain = self._unkept + _encoded(((b"Content-Type", b"text/plain; charset=utf-8"),))
        self._origin = base_url.encode()
        self._service_link = f'<{base_url}{urls.OPENAPI}>; rel="service-desc"'.encode()

    def _link(self, path: str) -> bytes:
        """The Link header of a fixed resource; topics name themselves, as deliveries do, and their hub."""
        if path not in urls.TOPICS:
            return self._service_link
        return b'<%b%b>; rel="self", <%b%b>; rel="hub", %b' % (
            *(self._origin, path.encode()),
            *(self._origin, urls.HUB.encode()),
            self._service_link,
        )

    def prepare(
        self, path: str, resource: Rendered, others: Mapping[str, Rendered] | None = None
    ) -> PreparedDocument:
        """Put together all that can be said of a document before anybody asks.

        Args:
            path: Its address.
            resource: What is there.
            others: By media type: what is answered there to an Accept that prefers it. Shared caches do
                not keep it: one that does not look at Vary would serve it to everybody.
        """
        own = {name.encode(): value.encode() for name, value in resource.headers.items()}
        link = self._link(path)
        plain = self._prepared(resource, {b"Link": link, **own}, negotiated=bool(others))
        if not others:
            return plain
        chosen = {b"Link": link, **own, **self._private}
        first, _, _ = resource.identity.media_type.decode().partition(";")
        return PreparedDocument(
            plain.identity,
            plain.gzip,
            (
                (first, plain),
                *(
                    (kind, self._prepared(other, chosen, negotiated=True))
                    for kind, other in others.items()
                ),
            ),
        )

    def _prepared(
        self, resource: Rendered, headers: Mapping[bytes, bytes], *, negotiated: bool
    ) -> PreparedDocument:
        """The codings of one representation."""
        vary = [b"Accept"] if negotiated else []
        vary += [] if resource.gzip is None else [b"Accept-Encoding"]
        block = self._fixed(headers) + (b"Vary: %b\r\n" % b", ".join(vary) if vary else b"")
        gzip = None if resource.gzip is None else self._prepare(resource.gzip, block)
        return PreparedDocument(self._prepare(resource.identity, block), gzip)

    def _fixed(self, headers: Mapping[bytes, bytes]) -> bytes:
        """The header fields of data, with some that take the place of the usual ones."""
        return _encoded({**self._usual, **headers}.items())

    def _prepare(self, of: Representation, block: bytes) -> Prepared:
        block += b"ETag: %b\r\n" % of.etag
        if of.last_modified is not None:
            block += b"Last-Modified: %b\r\n" % http_date(self._shown(of.last_modified))
        coding = b"Content-Encoding: gzip\r\n" if of.gzipped else b""
        size = sum(map(len, of.parts))
        content = b"Content-Type: %b\r\n%bContent-Length: %d\r\n" % (of.media_type, coding, size)
        return Prepared(
            etag=of.etag,
            last_modified=of.last_modified,
            found=Response(_FOUND, block + content, of.parts),
            unmodified=Response(_NOT_MODIFIED, block),
        )

    def _shown(self, last_modified: int) -> int:
        """Never later than now, as a clock that was set back would have it (RFC 9110 8.8.2.1)."""
        return min(last_modified, int(self._now()))

    def rendered(self, request: Request, resource: PreparedDocument) -> Response:
        """Answer with the coding that the client prefers (S10)."""
        if resource.others:
            best = best_type(request.preferences(b"accept"), resource.names)
            resource = resource.others[best][1]
        given = request.preferences(b"accept-encoding")
        if not given:
            return self._outcome(request, resource.identity)
        gzip, identity = accepted_codings(given)
        if resource.gzip is not None and gzip:
            return self._outcome(request, resource.gzip)
        if not identity:
            extra = ((b"Vary", b"Accept, Accept-Encoding"),)
            return self.problem(request, problems.NOT_ACCEPTABLE, extra)
        return self._outcome(request, resource.identity)

    def wants_gzip(self, request: Request) -> bool:
        """Whether the client prefers gzip to the plain bytes."""
        given = request.preferences(b"accept-encoding")
        return bool(given) and accepted_codings(given)[0]

    def computed(
        self,
        request: Request,
        parts: tuple[Buffer, ...],
        etag: bytes,
        last_modified: int | None = None,
        following: str | None = None,
        *,
        media_type: bytes = b"application/json",
        gzipped: bool = False,
    ) -> Response:
        """Answer with a body that was put together for the request.

        Args:
            request: The request.
            parts: The body.
            etag: Of the answer; it depends on the data and the question alone.
            last_modified: POSIX seconds; None where nobody knows.
            following: The path and query of the next page.
            media_type: Of the body.
            gzipped: The parts are still plain, but ``gzipped`` makes a 200 what it says by then.
        """
        link = self._service_link
        if following is not None:
            link = b'%b, <%b%b>; rel="next"' % (link, self._origin, following.encode())
        if gzipped:
            etag = b'%b-gzip"' % etag[:-1]
        block = b"%bETag: %b\r\nLink: %b\r\nVary: Accept-Encoding\r\n" % (self._data, etag, link)
        if last_modified is not None:
            block += b"Last-Modified: %b\r\n" % _date(self._shown(last_modified))
        if request.fields.conditional and (
            answer := self._without_content(request, block, etag, last_modified)
        ):
            return answer
        block += b"Content-Type: %b\r\n" % media_type
        if gzipped:
            return Response(_FOUND, block, parts)
        size = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
        return Response(_FOUND, block + b"Content-Length: %d\r\n" % size, parts)

    @staticmethod
    def gzipped(computed: Response, body: bytes) -> Response:
        """A 200 of ``computed``, with its body in gzip."""
        coding = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n" % len(body)
        return Response(computed.status, computed.block + coding, (body,))

    def header_block(self, headers: Mapping[str, str]) -> bytes:
        """The header fields of pages, with some that take the place of the usual ones."""
        return self._fixed({name.encode(): value.encode() for name, value in headers.items()})

    def page(
        self,
        request: Request,
        block: bytes,
        etag: bytes,
        media_type: str,
        body: Callable[[], bytes],
    ) -> Response:
        """Answer with a page that is put together for the request.

        Args:
            request: The request.
            block: Of ``header_block``.
            etag: Of the page, with its quotes.
            media_type: Of the page.
            body: Makes it; is not asked where the client has it.
        """
        block += b"ETag: %b\r\n" % etag
        if request.fields.conditional and (
            answer := self._without_content(request, block, etag, None)
        ):
            return answer
        content = body()
        head = b"Content-Type: %b\r\nContent-Length: %d\r\n"
        return Response(_FOUND, block + head % (media_type.encode(), len(content)), (content,))

    @staticmethod
    def page_error(status: int, block: bytes, content: bytes) -> Response:
        """Answer that a page is not there, or cannot be made, with a page that says so."""
        head = b"Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n"
        return Response(status, block + head % len(content), (content,))

    def _outcome(self, request: Request, chosen: Prepared) -> Response:
        """Answer with a representation, or that the client has it already (RFC 9110 13)."""
        if not request.fields.conditional:
            return chosen.found
        status = status_of(request, chosen.etag, chosen.last_modified, self._now)
        if status == _NOT_MODIFIED:
            return chosen.unmodified
        if status != _FOUND:
            return self.problem(request, problems.PRECONDITION_FAILED)
        return chosen.found

    def _without_content(
        self, request: Request, block: bytes, etag: bytes, last_modified: int | None
    ) -> Response | None:
        """What a precondition alone answers, with these header fields; None where it lets pass."""
        status = status_of(request, etag, last_modified, self._now)
        if status == _FOUND:
            return None
        if status == _NOT_MODIFIED:
            return Response(status, block)
        return self.problem(request, problems.PRECONDITION_FAILED)

    def no_store_json(self, body: bytes, status: int = 200) -> Response:
        """Answer with JSON that is true at this moment only."""
        headers = ((b"Cache-Control", b"no-store"), (b"Content-Type", b"application/json"))
        return _reply(status, self._shared, headers, (body,))

    def invalid(self, request: Request, issues: Sequence[Issue]) -> Response:
        """Answer that parameters are wrong, and which."""
        return self.problem(request, problems.invalid_parameters(issues), issues=issues)

    def problem(
        self,
        request: Request,
        problem: Problem,
        extra: Sequence[Header] = (),
        issues: Sequence[Issue] = (),
    ) -> Response:
        """Answer with an error; a header in ``extra`` takes the place of the usual one."""
        accept = request.preferences(b"accept")
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
        """Answer what may be asked, also to a browser's preflight, which fails without ``cors``."""
        allow = ", ".join(methods).encode()
        headers: tuple[Header, ...] = ((b"Allow", allow),)
        if cors:
            headers += (*_CORS, *_PREFLIGHT, (b"Access-Control-Allow-Methods", allow))
        return _reply(204, self._secured, headers)

    def moved(self, path: bytes, query: bytes) -> Response:
        """Redirect to the exact address of a read, by whatever name the client asks."""
        target = path + b"?" + query if query else path
        return Response(308, b"%bLocation: %b\r\nContent-Length: 0\r\n" % (self._data, target))

    def plain(self, status: int, text: str, extra: Sequence[Header] = ()) -> Response:
        """Answer with text that is true at this moment only, and not for other sites' scripts.

        Args:
            status: Of HTTP.
            text: Lines, the last without its end.
            extra: Further headers.
        """
        return _reply(status, self._plain, extra, (f"{text}\n".encode(),))

    def no_store(
        self, status: int, headers: Sequence[Header], body: tuple[Buffer, ...] = ()
    ) -> Response:
        """Answer with what no cache may keep, and what the caller says about it.

        Args:
            status: Of HTTP.
            headers: Further ones; the body's type too, where there is one.
            body: The parts of it.
        """
        return _reply(status, self._unkept, headers, body)

    def refusal(self, problem: Problem) -> Response:
        """Answer to what never became a request."""
        if problem.plain:
            return self.plain(problem.status, problem.detail)
        return self.problem(Request(b"", b""), problem)


def _encoded(headers: Iterable[Header]) -> bytes:
    """Return header fields as they stand in a response, each with its line end."""
    return b"".join(b"%b: %b\r\n" % header for header in headers)


def _reply(
    status: int, usual: bytes, headers: Sequence[Header], body: tuple[Buffer, ...] = ()
) -> Response:
    block = usual + _encoded(headers)
    if status not in _BODILESS:
        block += b"Content-Length: %d\r\n" % sum(map(len, body))
    return Response(status, block, body)
