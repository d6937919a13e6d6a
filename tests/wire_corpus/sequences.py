"""Several requests on a connection: pipelining, persistence, versions, pieces (S1; RFC 9112 9)."""

from tests.wire_corpus.rows import (
    CHUNKED,
    CLOSE,
    HEALTH,
    HUB,
    MCP,
    READ,
    REQUESTS,
    Act,
    Row,
    bytewise,
    chunked,
    fine,
    post,
    request,
    row,
    sized,
)

SEARCH = b"/api/reviews/search"
_BROKEN = b"GET /healthz HTTP/1.1\r\nA b: c\r\n\r\n"
_CLOSING = request(READ, CLOSE.strip())
_OLD = request(HEALTH, version=b"HTTP/1.0")
_KEPT = request(HEALTH, b"Connection: keep-alive", version=b"HTTP/1.0")

PIPELINED: tuple[Row, ...] = (
    row("two", 2 * request(), statuses=(200, 200), closed=False),
    row("ten", 10 * request(READ), statuses=10 * (200,), closed=False),
    row("a hundred", 100 * request(READ), statuses=100 * (200,), closed=False),
    row(
        "in order",
        request(SEARCH + b"?limit=x") + request() + request(b"/x") + request(READ, method=b"PUT"),
        statuses=(400, 200, 404, 405),
        closed=False,
    ),
    row(
        "searches before what is at once",
        request(SEARCH + b"?query=a&limit=100") + request(b"/x") + request(SEARCH + b"?limit=x"),
        statuses=(200, 404, 400),
        closed=False,
    ),
    row(
        "HEAD among GET",
        request() + request(READ, method=b"HEAD") + request() + request(b"/x", method=b"HEAD"),
        statuses=(200, 200, 200, 404),
        heads=(1, 3),
        closed=False,
    ),
    row(
        "not modified, among others",
        request(READ, b"If-None-Match: *") + request() + request(READ, b"If-None-Match: *"),
        statuses=(304, 200, 304),
        closed=False,
    ),
    row(
        "preflights",
        request(READ, method=b"OPTIONS") + request() + request(b"*", method=b"OPTIONS"),
        statuses=(204, 200, 204),
        closed=False,
    ),
    row(
        "a POST to the hub first",
        sized(HUB, b"abc") + request(),
        statuses=(415, 200),
        closed=False,
    ),
    row(
        "a POST to the hub among GET",
        request() + sized(HUB, b"abc") + request(b"/x"),
        statuses=(200, 415, 404),
        closed=False,
    ),
    row(
        "a POST in chunks among GET",
        request() + chunked(b"3\r\nabc\r\n0\r\nA: b\r\n\r\n") + request(b"/x"),
        statuses=(200, 415, 404),
        closed=False,
    ),
    row(
        "a POST to MCP among GET",
        request() + sized(MCP, b"{}") + request(b"/x") + chunked(b"2\r\n{}\r\n0\r\n\r\n", MCP),
        statuses=(200, 415, 404, 415),
        closed=False,
    ),
    row("a broken one after two", 2 * request() + _BROKEN, statuses=(200, 200, 400)),
    row("a broken one between two", request() + _BROKEN + request(), statuses=(200, 400)),
    row("a broken one after a search", request(SEARCH) + _BROKEN, statuses=(200, 400)),
    row("a broken line after HEAD", request(method=b"HEAD") + b"GARBAGE\r\n\r\n", statuses=(200, 400), heads=(0,)),
    row("a long line after HEAD", request(method=b"HEAD") + 20_000 * b"A", statuses=(200, 414), heads=(0,)),
    row("a wait in a line after HEAD", request(method=b"HEAD") + b"GET /hea", statuses=(200, 408), heads=(0,)),
    row("a broken field of HEAD after GET", request() + request(HEALTH, b"A b: c", method=b"HEAD"), statuses=(200, 400), heads=(1,)),
    row("a long one after two", 2 * request() + request(b"/" + 20_000 * b"a"), statuses=(200, 200, 414)),
    row("many fields after two", 2 * request() + request(HEALTH, *600 * (b"A: b",)), statuses=(200, 200, 431)),
    row("a body of GET after two", 2 * request() + request(READ, b"Content-Length: 3", body=b"abc"), statuses=(200, 200, 413)),
    row("too much for the hub after two", 2 * request() + sized(HUB, 9_000 * b"a"), statuses=(200, 200, 413)),
    row("no Host after two", 2 * request() + request(host=b""), statuses=(200, 200, 400)),
    row("CONNECT after one", request() + request(b"a:1", method=b"CONNECT"), statuses=(200, 400)),
    row("TLS after one", request() + b"\x16\x03\x01\x02\x00\x01\r\n\r\n", statuses=(200, 400)),
    row("empty lines between", request() + b"\r\n" + request() + b"\r\n\r\n" + request(), statuses=(200, 200, 200), closed=False),
    row("half of one after two", 2 * request() + b"GET /hea", Act.END, statuses=(200, 200)),
    row("what follows close", _CLOSING + 3 * request(), statuses=(200,)),
    row("what follows close among others", request() + _CLOSING + request(), statuses=(200, 200)),
    row("what is broken after close", _CLOSING + _BROKEN, statuses=(200,)),
    row("what follows close of a search", request(SEARCH, CLOSE.strip()) + request(), statuses=(200,)),
    row("what follows close of a POST", sized(HUB, b"abc", CLOSE.strip()) + request(), statuses=(415,)),
    row("what follows close of an error", request(b"/x", CLOSE.strip()) + request(), statuses=(404,)),
    row("what comes after close", _CLOSING, Act.AWAIT, request(), statuses=(200,)),
    row("as many as a connection may", REQUESTS * request(), statuses=REQUESTS * (200,)),
    row("more than a connection may", (REQUESTS + 50) * request(), statuses=REQUESTS * (200,)),
    row("more searches than a connection may", (REQUESTS + 5) * request(SEARCH + b"?limit=1"), statuses=REQUESTS * (200,)),
    row("one less than a connection may", (REQUESTS - 2) * request(), statuses=(REQUESTS - 2) * (200,), closed=False),
)  # fmt: skip

PERSISTENCE: tuple[Row, ...] = (
    *(
        fine(f"Connection: {value.decode()}", request(HEALTH, b"Connection: " + value))
        for value in (b"keep-alive", b"Keep-Alive", b"", b"x", b"Host", b"upgrade", b"closed", b"TE")
    ),
    *(
        row(f"Connection: {value.decode()}", request(HEALTH, b"Connection: " + value), status=200)
        for value in (b"close", b"Close", b"CLOSE", b"keep-alive, close", b"close, TE", b"x,close", b"\tclose ,")
    ),
    row("close on a second line", request(HEALTH, b"Connection: x", b"Connection: close"), status=200),
    row("close of nothing", request(b"/x", CLOSE.strip()), status=404),
    row("close of HEAD", request(HEALTH, CLOSE.strip(), method=b"HEAD"), status=200, heads=(0,)),
    row("close of OPTIONS", request(READ, CLOSE.strip(), method=b"OPTIONS"), status=204),
    row("close, not modified", request(READ, CLOSE.strip(), b"If-None-Match: *"), status=304),
    fine("Proxy-Connection: close", request(HEALTH, b"Proxy-Connection: close")),
    fine("Keep-Alive: timeout=1", request(HEALTH, b"Keep-Alive: timeout=1, max=1")),
    row("HTTP/1.0", _OLD, status=200),
    row("HTTP/1.0 without Host", request(READ, host=b"", version=b"HTTP/1.0"), status=200),
    row("HTTP/1.0, two", 2 * _OLD, status=200),
    row("HTTP/1.0, close", request(HEALTH, CLOSE.strip(), version=b"HTTP/1.0"), status=200),
    row("HTTP/1.0, keep-alive", _KEPT, status=200, closed=None),
    row("HTTP/1.0, HEAD", request(HEALTH, method=b"HEAD", version=b"HTTP/1.0"), status=200, heads=(0,)),
    row("HTTP/1.0, nothing", request(b"/x", version=b"HTTP/1.0"), status=404),
    row("HTTP/1.0, a body", request(HUB, b"Content-Length: 3", method=b"POST", version=b"HTTP/1.0", body=b"abc"), status=415),
    row("HTTP/1.0 after HTTP/1.1", request() + _OLD + request(), statuses=(200, 200)),
    row("HTTP/1.0, broken", request(HEALTH, b"A b: c", version=b"HTTP/1.0"), status=400),
    fine("upgrade to h2c", request(HEALTH, b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__")),
    fine("upgrade to websocket", request(HEALTH, b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")),
    fine("upgrade to TLS", request(b"*", b"Connection: Upgrade", b"Upgrade: TLS/1.0", method=b"OPTIONS"), 204),
    row("upgrade with a body", sized(HUB, b"abc", b"Connection: Upgrade", b"Upgrade: h2c"), status=415, closed=False),
    row("upgrade, and HTTP/2", request(HEALTH, b"Connection: Upgrade", b"Upgrade: h2c") + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", statuses=(200, 400)),
)  # fmt: skip

_WORDY = request(READ, b"Accept: */*", b"If-None-Match: *", b"Accept-Encoding: gzip")

PIECES: tuple[Row, ...] = (
    row("GET, every byte", *bytewise(_WORDY), status=304, closed=False),
    row("two GET, every byte", *bytewise(request() + request(b"/x")), statuses=(200, 404), closed=False),
    row("a search, every byte", *bytewise(request(SEARCH + b"?limit=1")), status=200, closed=False),
    row("POST, every byte", *bytewise(sized(HUB, b"abc")), status=415, closed=False),
    row("chunks, every byte", *bytewise(chunked(b"3;a=b\r\nabc\r\n0\r\nA: b\r\n\r\n", MCP) + request()), statuses=(415, 200), closed=False),
    row("empty lines, every byte", *bytewise(b"\r\n\r\n" + request()), status=200, closed=False),
    row("a broken field, every byte", *bytewise(_BROKEN), status=400),
    row("a bare LF, every byte", *bytewise(b"GET /healthz HTTP/1.1\nHost: localhost\r\n\r\n"), status=400),
    row("a broken chunk, every byte", *bytewise(chunked(b"3\nabc\r\n0\r\n\r\n")), status=400),
    row("two lengths, every byte", *bytewise(post(HUB, b"Content-Length: 3", b"Content-Length: 4", body=b"abc")), status=400),
    row("length and chunks, every byte", *bytewise(post(HUB, b"Content-Length: 3", CHUNKED.strip(), body=b"0\r\n\r\n")), status=400),
    *(
        row(f"GET, in two at {at}", _WORDY[:at], _WORDY[at:], status=304, closed=False)
        for at in (1, 3, 4, 18, 19, 27, 28, 29, len(_WORDY) - 3, len(_WORDY) - 2, len(_WORDY) - 1)
    ),
    row("an end, and the next", request()[:-1], b"\n" + request(), statuses=(200, 200), closed=False),
    row("one and a half", request() + request()[:20], request()[20:], statuses=(200, 200), closed=False),
    row("a head, then a body", post(HUB, b"Content-Length: 3"), b"abc", status=415, closed=False),
    row("a head and half a body", post(HUB, b"Content-Length: 3", body=b"a"), b"bc" + request(), statuses=(415, 200), closed=False),
)  # fmt: skip


def _with_head(before: bytes) -> bytes:
    """Return a piece that ends with the head of a POST with a body of the same size."""
    return before + post(
        HUB, b"Content-Length: %d" % (len(before) + len(post(HUB, b"Content-Length: 100")))
    )


_WITH_HEAD = _with_head(request(READ))
_BODY = post(HUB, b"Content-Length: %d" % len(request()))

REPEATS: tuple[Row, ...] = (
    row("a read again and again", request(), Act.AWAIT, request(), Act.AWAIT, 2 * request(), statuses=4 * (200,), closed=False),
    row("a body that is the piece with its head", _WITH_HEAD, Act.AWAIT, _WITH_HEAD, Act.AWAIT, statuses=(200, 415), closed=False),
    row("that, after the read alone", request(READ), Act.AWAIT, _WITH_HEAD, Act.AWAIT, _WITH_HEAD, Act.AWAIT, statuses=(200, 200, 415), closed=False),
    row("that, and the piece as pieces again", _WITH_HEAD, Act.AWAIT, 2 * _WITH_HEAD, _WITH_HEAD, statuses=(200, 415, 200, 415), closed=False),
    row("a body that is the read before it", request(), Act.AWAIT, _BODY, request(), statuses=(200, 415), closed=False),
    row("that, with its head behind the read", request() + _BODY, Act.AWAIT, request(), Act.AWAIT, statuses=(200, 415), closed=False),
    row("that, and the read again", request(), Act.AWAIT, _BODY, request(), Act.AWAIT, request(), statuses=(200, 415, 200), closed=False),
    row("a chunk that is the read before it", request(), Act.AWAIT, chunked(b"%x\r\n" % len(request())), request(), b"\r\n0\r\n\r\n", statuses=(200, 415), closed=False),
    row("a read with a body that is the read", request(), Act.AWAIT, request(HEALTH, b"Content-Length: %d" % len(request())), request(), statuses=(200, 413)),
    row("the end of a read, and the read", request()[:9], request()[9:], Act.AWAIT, request()[9:], statuses=(200, 400)),
)  # fmt: skip

LEAVING: tuple[Row, ...] = (
    row("a POST, and an end", sized(HUB, b"abc"), Act.END, status=415),
    row("chunks, and an end", chunked(b"3\r\nabc\r\n0\r\n\r\n", MCP), Act.END, status=415),
    row("a search and a POST, and an end", request(SEARCH) + sized(HUB, b"abc"), Act.END, statuses=(200, 415)),
    row("a hundred and a half, and an end", 100 * request() + b"GET", Act.END, statuses=100 * (200,)),
    row("a broken one, and an end", request() + _BROKEN, Act.END, statuses=(200, 400)),
    row("what asks for a close, and an end", _CLOSING, Act.END, status=200),
)  # fmt: skip
