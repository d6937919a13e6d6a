"""How answers leave: headers, conditional requests, codings, bodies of any size, and errors.

Everything that all reads have in common is here, so a route only says which representation it
answers with (contract 2). Headers are set on the request and bytes are returned, because Klein
makes that the one way that also type-checks.
"""

import time
from collections.abc import Callable, Sequence

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPullProducer
from twisted.web.http_headers import Headers
from twisted.web.server import Request
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header
from zope.interface import implementer

from reviewsd.domain.parameters import Issue
from reviewsd.domain.preconditions import Conditions, Outcome, evaluate, http_date
from reviewsd.formats import paths, problems
from reviewsd.formats.problems import Problem
from reviewsd.formats.representation import Buffer, Rendered, Representation

Body = bytes | Deferred[bytes]
"""What a route returns to Klein."""


_PIECE = 65_536
"""Bytes; a larger body is sent in pieces as the client takes them (S5)."""

_SECURITY: list[tuple[bytes, bytes]] = [
    (b"X-Content-Type-Options", b"nosniff"),
    (b"Referrer-Policy", b"no-referrer"),
    (b"Content-Security-Policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"Cross-Origin-Resource-Policy", b"cross-origin"),
    (b"Server", b"reviewsd"),
]

_CORS: list[tuple[bytes, bytes]] = [
    (b"Access-Control-Allow-Origin", b"*"),
    (b"Access-Control-Expose-Headers", b"ETag, Last-Modified, Link, Retry-After"),
]

_PREFLIGHT: list[tuple[bytes, bytes]] = [
    (b"Access-Control-Allow-Headers", b"*, Authorization, If-None-Match, If-Modified-Since"),
    (b"Access-Control-Max-Age", b"86400"),
]


class Replies:
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
        hsts = [(b"Strict-Transport-Security", b"max-age=31536000")]
        self._secured = _SECURITY + (hsts if base_url.startswith("https:") else [])
        self._always = self._secured + _CORS
        self._data = [
            *self._always,
            (b"Cache-Control", cache_control.encode()),
            (b"Accept-Ranges", b"none"),
        ]
        self._errors = [
            *self._always,
            (b"Cache-Control", b"no-store"),
            (b"Vary", b"Accept"),
        ]
        self._unkept = [*self._secured, (b"Cache-Control", b"no-store")]
        self._plain = [*self._unkept, (b"Content-Type", b"text/plain; charset=utf-8")]
        self._service_desc = f'<{base_url}{paths.OPENAPI}>; rel="service-desc"'

    def link(self, path: str | None = None, following: str | None = None) -> bytes:
        """The Link header of a read.

        Args:
            path: The path of a fixed resource; topics name their hub and themselves.
            following: The path and query of the next page.
        """
        links = [self._service_desc]
        if path in paths.TOPICS:
            links += (
                f'<{self._base_url}{paths.HUB}>; rel="hub"',
                f'<{self._base_url}{path}>; rel="self"',
            )
        if following is not None:
            links.append(f'<{self._base_url}{following}>; rel="next"')
        return ", ".join(links).encode()

    def rendered(self, request: Request, resource: Rendered, link: bytes) -> Body:
        """Answer with the coding that the client prefers (S10)."""
        chosen = _negotiated(request, resource)
        if chosen is None:
            extra = ((b"Vary", b"Accept, Accept-Encoding"),)
            return self.problem(request, problems.NOT_ACCEPTABLE, extra)
        varies = () if resource.gzip is None else ((b"Vary", b"Accept-Encoding"),)
        return self.data(request, chosen, link, varies)

    def data(
        self,
        request: Request,
        chosen: Representation,
        link: bytes,
        extra: Sequence[tuple[bytes, bytes]] = (),
    ) -> Body:
        """Answer with a representation, or that the client has it already (RFC 9110 13)."""
        now = int(self._now())
        outcome = evaluate(
            _conditions(request.requestHeaders),
            safe=True,
            etag=chosen.etag,
            last_modified=chosen.last_modified,
            now=now,
        )
        if outcome is Outcome.PRECONDITION_FAILED:
            return self.problem(request, problems.PRECONDITION_FAILED)
        headers = [*self._data, (b"ETag", chosen.etag), (b"Link", link), *extra]
        if chosen.last_modified is not None:
            headers.append((b"Last-Modified", http_date(chosen.last_modified)))
        if outcome is Outcome.NOT_MODIFIED:
            return _reply(request, 304, headers)
        headers.append((b"Content-Type", chosen.media_type))
        if chosen.gzipped:
            headers.append((b"Content-Encoding", b"gzip"))
        return _reply(request, 200, headers, *chosen.parts)

    def unstored(self, request: Request, body: bytes) -> Body:
        """Answer with JSON that is true at this moment only."""
        headers = [
            *self._always,
            (b"Cache-Control", b"no-store"),
            (b"Content-Type", b"application/json"),
        ]
        return _reply(request, 200, headers, body)

    def invalid(self, request: Request, issues: Sequence[Issue]) -> Body:
        """Answer that parameters are wrong, and which."""
        return self.problem(request, problems.invalid_parameters(issues), issues=issues)

    def problem(
        self,
        request: Request,
        problem: Problem,
        extra: Sequence[tuple[bytes, bytes]] = (),
        issues: Sequence[Issue] = (),
    ) -> Body:
        """Answer with an error."""
        accept = b", ".join(request.requestHeaders.getRawHeaders(b"Accept", []))
        media_type = _problem_type(accept.decode("latin-1"))
        headers = [*self._errors, *extra, (b"Content-Type", media_type)]
        body = problems.render(self._base_url, problem, issues)
        return _reply(request, problem.status, headers, body)

    def options(self, request: Request, methods: Sequence[str], *, cors: bool = True) -> Body:
        """Answer what may be asked, also to a browser's preflight, which fails without ``cors``."""
        allow = ", ".join(methods).encode()
        headers = [*self._secured, (b"Allow", allow)]
        if cors:
            headers += [*_CORS, *_PREFLIGHT, (b"Access-Control-Allow-Methods", allow)]
        return _reply(request, 204, headers)

    def plain(
        self, request: Request, status: int, text: str, extra: Sequence[tuple[bytes, bytes]] = ()
    ) -> Body:
        """Answer with text that is true at this moment only, and not for other sites' scripts.

        Args:
            request: What is answered.
            status: Of HTTP.
            text: Lines, the last without its end.
            extra: Further headers.
        """
        return _reply(request, status, [*self._plain, *extra], f"{text}\n".encode())

    def unkept(
        self,
        request: Request,
        status: int,
        headers: Sequence[tuple[bytes, bytes]],
        body: Sequence[Buffer] = (),
    ) -> Body:
        """Answer with what no cache may keep, and what the caller says about it.

        Args:
            request: What is answered.
            status: Of HTTP.
            headers: Further ones; the body's type too, where there is one.
            body: The parts of it.
        """
        return _reply(request, status, [*self._unkept, *headers], *body)

    def refusal(self, problem: Problem) -> bytes:
        """A whole response to what never became a request; the connection closes after it."""
        if problem.plain:
            body, headers = f"{problem.detail}\n".encode(), self._plain
        else:
            body = problems.render(self._base_url, problem)
            headers = [*self._errors, (b"Content-Type", b"application/json")]
        headers = [
            *headers,
            (b"Date", http_date(int(self._now()))),
            (b"Content-Length", b"%d" % len(body)),
            (b"Connection", b"close"),
        ]
        head = [b"HTTP/1.1 %d %s" % (problem.status, problem.title.encode())]
        head += (b"%s: %s" % header for header in headers)
        return b"\r\n".join((*head, b"", body))


def _reply(
    request: Request, status: int, headers: Sequence[tuple[bytes, bytes]], *body: Buffer
) -> Body:
    request.setResponseCode(status, _REASONS.get(status))
    # HTML is never correct here, but it is Twisted's default
    request.defaultContentType = None
    for name, value in headers:
        request.responseHeaders.setRawHeaders(name, [value])
    size = sum(map(len, body))
    if status not in _BODILESS:
        request.responseHeaders.setRawHeaders(b"Content-Length", [b"%d" % size])
    if request.method == b"HEAD":
        return b""
    return b"".join(body) if size <= _PIECE else _Pulled(request, body).finished


_BODILESS = frozenset({204, 304})
_REASONS = {421: b"Misdirected Request"}  # phrases that Twisted does not know


@implementer(IPullProducer)
class _Pulled:
    """Sends a large body in pieces, as fast as the client takes them."""

    def __init__(self, request: Request, body: Sequence[Buffer]) -> None:
        self._request = request
        self._pieces = (
            bytes(part[at : at + _PIECE]) for part in body for at in range(0, len(part), _PIECE)
        )
        self.finished: Deferred[bytes] = Deferred()
        request.registerProducer(self, False)  # noqa: FBT003  pulled, not streaming

    def resumeProducing(self) -> None:
        """Send the next piece."""
        piece = next(self._pieces, None)
        if piece is not None:
            self._request.write(piece)
        else:
            self._request.unregisterProducer()
            self.finished.callback(b"")

    def stopProducing(self) -> None:
        """The client has gone; Klein cancels ``finished``."""


def _conditions(headers: Headers) -> Conditions:
    lines = headers.getRawHeaders
    return Conditions(
        if_match=tuple(lines(b"If-Match", ())),
        if_none_match=tuple(lines(b"If-None-Match", ())),
        if_modified_since=tuple(lines(b"If-Modified-Since", ())),
        if_unmodified_since=tuple(lines(b"If-Unmodified-Since", ())),
    )


def _negotiated(request: Request, resource: Rendered) -> Representation | None:
    """The representation for the request's Accept-Encoding; None when all are refused."""
    given = request.requestHeaders.getRawHeaders(b"Accept-Encoding")
    if given is None:
        return resource.identity
    accepted = parse_accept_header(b", ".join(given).decode("latin-1"))
    weights = {coding.lower(): weight for coding, weight in reversed(list(accepted))}
    anything = weights.get("*", 0)
    gzip = weights.get("gzip", weights.get("x-gzip", anything))
    # not named, identity is acceptable, but less than any coding that is (RFC 9110 12.5.3)
    refused = weights.get("identity", 1 if "*" not in weights else anything) == 0
    if resource.gzip is not None and gzip > 0 and gzip >= weights.get("identity", 0):
        return resource.gzip
    return None if refused else resource.identity


def _problem_type(accept: str) -> bytes:
    """``application/problem+json`` only when Accept prefers it."""
    accepted = parse_accept_header(accept, MIMEAccept)
    offered = ("application/json", "application/problem+json")
    return (accepted.best_match(offered) or offered[0]).encode()
