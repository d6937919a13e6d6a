"""Lengths, transfer codings, chunks and limits of bodies (S2, S3; RFC 9112 6, 7).

The hub and MCP answer a body without a Content-Type with 415 when they have read it. So 415 and an open connection
show that the body was framed right.
"""

from tests.wire_corpus.rows import (
    CHUNKED,
    END,
    EXPECT,
    HEALTH,
    HUB,
    MCP,
    READ,
    Act,
    Row,
    broken,
    chunked,
    fine,
    post,
    request,
    row,
    sized,
)

READ_WHOLE = 415

LENGTHS: tuple[Row, ...] = (
    *(
        broken(f"length {length!r}", post(HUB, b"Content-Length: " + length, body=b"abc"))
        for length in (
            *(b"", b"+3", b"3, 3", b"0x3", b"\xb3", 5_000 * b"1"),
        )
    ),
    broken("length twice", post(HUB, *2 * (b"Content-Length: 3",), body=b"abc")),
    broken(
        "two lengths", post(HUB, b"Content-Length: 3", b"Content-Length: 30", body=27 * b"abc")
    ),
    broken(
        "two lengths, the first is zero",
        post(HUB, b"Content-Length: 0", b"content-length: 3", body=b"abc"),
    ),
    broken("two lengths of GET", request(HEALTH, *2 * (b"Content-Length: 0",))),
    broken("a blank before the colon", post(HUB, b"Content-Length : 3", body=b"abc")),
    broken("a folded length", post(HUB, b"Content-Length:", b" 3", body=b"abc")),
    broken("a NUL in the name", post(HUB, b"Content-Length\0: 3", body=b"abc")),
    broken("a NUL before the name", post(HUB, b"\0Content-Length: 3", body=b"abc")),
    fine("length 16 zeros", post(HUB, b"Content-Length: " + 16 * b"0"), READ_WHOLE),
    fine("length 003", post(HUB, b"Content-Length: 003", body=b"abc"), READ_WHOLE),
    fine("length with blanks around", post(HUB, b"Content-Length: \t3 \t", body=b"abc"), READ_WHOLE),
    fine("length in capitals", post(HUB, b"CONTENT-LENGTH: 3", body=b"abc"), READ_WHOLE),
    fine("no length", post(HUB), READ_WHOLE),
    fine("no length at MCP", post(MCP), READ_WHOLE),
    fine("GET with no bytes", request(HEALTH, b"Content-Length: 0")),
    fine("another field's name", post(HUB, b"Content_Length: 5", b"X-Content-Length: 7"), READ_WHOLE),
    row("a body that is cut off", post(HUB, b"Content-Length: 9", body=b"abc"), Act.END),
    row("a body, and a wait", post(HUB, b"Content-Length: 9", body=b"abc"), status=408),
    row("chunks, and a wait", chunked(b"3\r\nabc\r\n"), status=408),
)  # fmt: skip

_ONE = b"3\r\nabc\r\n0\r\n\r\n"

CODINGS: tuple[Row, ...] = (
    *(
        broken(f"coding {coding!r}", post(HUB, b"Transfer-Encoding: " + coding, body=_ONE))
        for coding in (
            *(b"", b"identity", b"gzip, chunked", b"chunked, gzip", b"xchunked", b"\x0bchunked"),
            b"chun\xe2\x84\xaaed",
        )
    ),
    broken("chunked twice", post(HUB, *2 * (CHUNKED.strip(),), body=_ONE)),
    *(
        broken(f"lines {first.decode()} and {second.decode()}", post(HUB, first, second, body=_ONE))
        for first, second in (
            (b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"),
            (b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked"),
            (b"Transfer-Encoding: x", b"Transfer-Encoding: chunked"),
            (b"Transfer-Encoding: chunked", b"Transfer-Encoding:"),
            (b"Transfer-Encoding: chunked", b"Content-Length: 13"),
            (b"Content-Length: 13", b"Transfer-Encoding: chunked"),
            (b"Content-Length: 0", b"Transfer-Encoding: chunked"),
            (b"Content-Length: 13", b"transfer-encoding: ChUnKeD"),
            (b"Content-Length: 13", b"Transfer-Encoding: identity"),
        )
    ),
    broken("a blank before the colon of a coding", post(HUB, b"Transfer-Encoding : chunked", body=_ONE)),
    broken("a tab before the colon of a coding", post(HUB, b"Transfer-Encoding\t: chunked", body=_ONE)),
    broken("a folded coding", post(HUB, b"Transfer-Encoding:", b" chunked", body=_ONE)),
    broken("a coding on a folded line", post(HUB, b"A: b", b" Transfer-Encoding: chunked", body=_ONE)),
    broken("a coding behind a CR", post(HUB, b"A: b\rTransfer-Encoding: chunked", body=_ONE)),
    broken("a coding behind an LF", post(HUB, b"A: b\nTransfer-Encoding: chunked", body=_ONE)),
    broken(
        "chunks in HTTP/1.0",
        request(HUB, CHUNKED.strip(), method=b"POST", version=b"HTTP/1.0", body=_ONE),
    ),
    broken("an empty coding with GET", request(HEALTH, b"Transfer-Encoding:")),
    fine("Chunked", post(HUB, b"Transfer-Encoding: Chunked", body=_ONE), READ_WHOLE),
    fine("CHUNKED in capitals", post(HUB, b"TRANSFER-ENCODING: CHUNKED", body=_ONE), READ_WHOLE),
    fine("blanks around chunked", post(HUB, b"Transfer-Encoding:\t chunked \t", body=_ONE), READ_WHOLE),
    fine("no blank before chunked", post(HUB, b"Transfer-Encoding:chunked", body=_ONE), READ_WHOLE),
    fine("a field of another name", post(HUB, b"Transfer_Encoding: chunked", b"Content-Length: 13", body=_ONE), READ_WHOLE),
    fine("what TE says is no coding", request(HEALTH, b"TE: trailers, chunked")),
)  # fmt: skip

CHUNKS: tuple[Row, ...] = (
    *(
        broken(f"chunk size {size!r}", chunked(size + b"\r\nabc\r\n0\r\n\r\n"))
        for size in (
            *(b"", b"0x3", b"+3", b"3 ", b"\xb3", 17 * b"1", 500 * b"f"),
        )
    ),
    *(
        fine(f"chunks {chunks!r}", chunked(chunks), READ_WHOLE)
        for chunks in (
            *(b"0\r\n\r\n", b"000\r\n\r\n", b"003\r\nabc\r\n0\r\n\r\n", _ONE),
            *(b"A\r\n0123456789\r\n0\r\n\r\n", b"a\r\n0123456789\r\n0\r\n\r\n"),
            *(b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", b"2\r\n\r\n\r\n0\r\n\r\n"),
            *(b"3;a=b\r\nabc\r\n0\r\n\r\n", b'3;a="b c";d\r\nabc\r\n0;e\r\n\r\n'),
        )
    ),
    fine("chunks to MCP", chunked(_ONE, MCP), READ_WHOLE),
    broken("LF after the size", chunked(b"3\nabc\r\n0\r\n\r\n")),
    broken("LF after the data", chunked(b"3\r\nabc\n0\r\n\r\n")),
    broken("LF at all ends of chunks", chunked(b"3\nabc\n0\n\n")),
    broken("LF after the last size", chunked(b"3\r\nabc\r\n0\n\r\n")),
    broken("LF as the last end of chunks", chunked(b"3\r\nabc\r\n0\r\n\n") + request()),
    broken("CR after the size", chunked(b"3\rabc\r\n0\r\n\r\n")),
    broken("a chunk that is too long", chunked(b"3\r\nabcd\r\n0\r\n\r\n")),
    broken("a chunk that is too short", chunked(b"3\r\nab\r\n0\r\n\r\n")),
    broken("no end after the data", chunked(b"3\r\nabc0\r\n\r\n")),
    broken("LF in an extension", chunked(b"3;a\nb\r\nabc\r\n0\r\n\r\n")),
    broken("CR in an extension", chunked(b"3;a\rb\r\nabc\r\n0\r\n\r\n")),
    broken("NUL in an extension", chunked(b"3;a\0b\r\nabc\r\n0\r\n\r\n")),
    row("an extension of 20 kB", chunked(b"3;" + 20_000 * b"a" + b"\r\nabc\r\n0\r\n\r\n"), status=(400, 413, 431)),
    row("an extension without an end", chunked(b"3;" + 200_000 * b"a"), status=(400, 413, 431)),
    row("a size without an end", chunked(20_000 * b"0"), status=(400, 413, 431)),
    fine("a trailer", chunked(b"3\r\nabc\r\n0\r\nA: b\r\n\r\n"), READ_WHOLE),
    row("a trailer of 20 kB", chunked(b"0\r\nA: " + 20_000 * b"b" + b"\r\n\r\n"), status=(400, 413, 431)),
    row("20 kB of trailers", chunked(b"0\r\n" + 20 * (b"A: " + 1_000 * b"b" + b"\r\n") + END), status=(400, 413, 431)),
    row("5,000 trailers", chunked(b"0\r\n" + 5_000 * b"A: b\r\n" + END), status=(400, 413, 431)),
    row("a trailer without an end", chunked(b"0\r\n" + 200_000 * b"A"), status=(400, 413, 431)),
    row("a trailer that frames", chunked(b"0\r\nContent-Length: 50\r\n\r\n"), status=(400, 415), closed=None),
    row("a trailer that frames again", chunked(b"0\r\nTransfer-Encoding: chunked\r\n\r\n"), status=(400, 415), closed=None),
    broken("a trailer without a colon", chunked(b"0\r\nabc\r\n\r\n")),
    broken("a blank before a trailer's colon", chunked(b"0\r\nA : b\r\n\r\n")),
    broken("a NUL in a trailer", chunked(b"0\r\nA: \0\r\n\r\n")),
    broken("a folded trailer", chunked(b"0\r\nA: b\r\n c\r\n\r\n")),
    broken("a request in place of the last end", chunked(b"3\r\nabc\r\n0\r\n") + request()),
    row("the last end is missing", chunked(b"3\r\nabc\r\n0\r\n"), Act.END),
    row("chunks that are cut off", chunked(b"3\r\na"), Act.END),
)  # fmt: skip

BODIES: tuple[Row, ...] = (
    row("GET", request(HEALTH, b"Content-Length: 3", body=b"abc"), status=413),
    row("GET, announced only", request(HEALTH, b"Content-Length: 3"), status=413),
    row("GET, in chunks", request(HEALTH, CHUNKED.strip(), body=_ONE), status=413),
    fine("GET, no chunks", request(HEALTH, CHUNKED.strip(), body=b"0\r\n\r\n")),
    fine("GET, no chunks but a trailer", request(HEALTH, CHUNKED.strip(), body=b"0;a\r\nA: b\r\n\r\n")),
    row("HEAD, no chunks", request(READ, CHUNKED.strip(), method=b"HEAD", body=b"0\r\n\r\n"), status=200, closed=False, heads=(0,)),
    fine("GET of the hub, no chunks", request(HUB, CHUNKED.strip(), body=b"0\r\n\r\n")),
    row("GET of the hub, in chunks", request(HUB, CHUNKED.strip(), body=_ONE), status=413),
    row("GET, no chunks, and a wait", request(HEALTH, CHUNKED.strip()), status=408),
    row("GET, a chunk that is announced", request(HEALTH, CHUNKED.strip(), body=b"FFFFFFFF\r\na"), status=413),
    row("GET, trailers without an end", request(HEALTH, CHUNKED.strip(), body=b"0\r\n" + 5_000 * b"A: b\r\n"), status=(400, 413)),
    fine("OPTIONS, no chunks", request(READ, CHUNKED.strip(), method=b"OPTIONS", body=b"0\r\n\r\n"), 204),
    row("GET of the hub", request(HUB, b"Content-Length: 3", body=b"abc"), status=413),
    row(
        "HEAD",
        request(READ, b"Content-Length: 3", method=b"HEAD", body=b"abc"),
        status=413,
        heads=(0,),
    ),
    row("a GET in a GET", request(READ, b"Content-Length: %d" % len(request()), body=request()), status=413),
    row(
        "a GET in a GET, in chunks",
        request(READ, CHUNKED.strip(), body=b"%x\r\n" % len(request()) + request() + b"\r\n0\r\n\r\n"),
        status=413,
    ),
    fine("POST to a read", sized(READ, b"abc"), 405),
    fine("POST to nothing", sized(b"/x", b"abc"), 404),
    fine("POST to health", sized(HEALTH, b"abc"), 405),
    fine("DELETE of a read", request(READ, b"Content-Length: 3", method=b"DELETE", body=b"abc"), 405),
    row("a GET in a POST to a read", sized(READ, request()), status=405, closed=False),
    fine("POST to a read, in chunks", post(READ, CHUNKED.strip(), body=_ONE), 405),
    row("POST to a read, endless", post(READ, CHUNKED.strip(), body=5 * (b"4000\r\n" + 16_384 * b"a" + b"\r\n")), status=413),
    row("POST to a read, 200 MB", post(READ, b"Content-Length: 200000000", body=9_000 * b"a"), status=413),
    row("POST to a read, 16 digits", post(READ, b"Content-Length: " + 16 * b"9"), status=413),
    fine("the hub, 8 KiB", sized(HUB, 8_192 * b"a"), READ_WHOLE),
    row("the hub, a byte more", sized(HUB, 8_193 * b"a"), status=413),
    row("the hub, a byte more in a chunk", chunked(b"2001\r\n" + 8_193 * b"a" + b"\r\n0\r\n\r\n"), status=413),
    row("the hub, a byte more in chunks", chunked(b"1000\r\n" + 4_096 * b"a" + b"\r\n1000\r\n" + 4_096 * b"a" + b"\r\n1\r\na\r\n0\r\n\r\n"), status=413),
    row("the hub, a great chunk", chunked(b"FFFFFFFF\r\n" + 9_000 * b"a"), status=413),
    row("the hub, the greatest chunk", chunked(16 * b"F" + b"\r\n" + 9_000 * b"a"), status=(400, 413)),
    row("the hub, one byte at a time", chunked(9_000 * b"1\r\na\r\n"), status=413),
    row("the hub, announced", post(HUB, b"Content-Length: 10000"), status=413),
    row("the hub, in pieces", post(HUB, b"Content-Length: 10000"), *10 * (1_000 * b"a",), status=413),
    row("MCP, a byte too many", post(MCP, b"Content-Type: application/json", b"Content-Length: 65537", body=65_537 * b" "), status=413),
    row("MCP, announced", post(MCP, b"Content-Type: application/json", b"Content-Length: 65537"), status=413),
    row("MCP, in chunks", post(MCP, b"Content-Type: application/json", CHUNKED.strip(), body=b"10001\r\n" + 65_537 * b" " + b"\r\n"), status=413),
    fine("MCP, 64 KiB", post(MCP, b"Content-Length: 65536", body=65_536 * b" "), READ_WHOLE),
    row("Expect at the hub", post(HUB, b"Content-Length: 3", EXPECT.strip()), Act.AWAIT, b"abc", statuses=(100, READ_WHOLE), closed=False),
    row("Expect at MCP", post(MCP, b"Content-Length: 2", EXPECT.strip()), Act.AWAIT, b"{}", statuses=(100, READ_WHOLE), closed=False),
    row("Expect in capitals", post(HUB, b"Content-Length: 3", b"EXPECT: 100-CONTINUE"), Act.AWAIT, b"abc", statuses=(100, READ_WHOLE), closed=False),
    row("Expect, in chunks", post(HUB, CHUNKED.strip(), EXPECT.strip()), Act.AWAIT, _ONE, statuses=(100, READ_WHOLE), closed=False),
    row("Expect, too large", post(HUB, b"Content-Length: 10000", EXPECT.strip()), Act.AWAIT, statuses=(413,)),
    row("Expect, too large for MCP", post(MCP, b"Content-Type: application/json", b"Content-Length: 99999", EXPECT.strip()), Act.AWAIT, statuses=(413,)),
    row("Expect with GET and a body", request(READ, b"Content-Length: 3", EXPECT.strip()), Act.AWAIT, statuses=(413,)),
    row("Expect with broken chunks", post(HUB, CHUNKED.strip(), EXPECT.strip()), Act.AWAIT, b"x\r\n", statuses=(100, 400)),
    fine("Expect, and the body with it", post(HUB, b"Content-Length: 3", EXPECT.strip(), body=b"abc"), READ_WHOLE),
    fine("Expect with GET", request(HEALTH, EXPECT.strip())),
    fine("Expect and no bytes", post(HUB, b"Content-Length: 0", EXPECT.strip()), READ_WHOLE),
    fine("another Expect", post(HUB, b"Content-Length: 3", b"Expect: 200-ok", body=b"abc"), READ_WHOLE),
    fine("another Expect with GET", request(HEALTH, b"Expect: tea")),
    row(
        "Expect in HTTP/1.0",
        request(HUB, b"Content-Length: 3", EXPECT.strip(), method=b"POST", version=b"HTTP/1.0", body=b"abc"),
        status=READ_WHOLE,
        closed=None,
    ),
)  # fmt: skip

_INNER = request(READ)

SMUGGLING: tuple[Row, ...] = (
    broken("CL.TE", post(HUB, b"Content-Length: 6", CHUNKED.strip(), body=b"0\r\n\r\nG") + request()),
    broken("TE.CL", post(HUB, CHUNKED.strip(), b"Content-Length: 4", body=b"%x\r\n" % len(_INNER) + _INNER + b"\r\n0\r\n\r\n")),
    broken("TE.TE, a strange one first", post(HUB, b"Transfer-Encoding: cow", CHUNKED.strip(), body=b"0\r\n\r\n") + _INNER),
    broken("TE.TE, a strange one last", post(HUB, CHUNKED.strip(), b"Transfer-Encoding: cow", body=b"0\r\n\r\n") + _INNER),
    broken("TE.TE, a blank before the colon", post(HUB, b"Content-Length: 5", b"Transfer-Encoding : chunked", body=b"0\r\n\r\n") + _INNER),
    broken("TE.TE, a vertical tab", post(HUB, b"Content-Length: 5", b"Transfer-Encoding:\x0bchunked", body=b"0\r\n\r\n") + _INNER),
    broken("TE.TE, xchunked", post(HUB, b"Content-Length: 5", b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n") + _INNER),
    broken("0.CL, a folded length", request(HEALTH, b"A: b", b" Content-Length: %d" % len(_INNER)) + _INNER),
    broken("0.CL, a blank before the colon", request(HEALTH, b"Content-Length : %d" % len(_INNER)) + _INNER),
    broken("0.CL, a bare LF", request(HEALTH, b"A: b\nContent-Length: %d" % len(_INNER)) + _INNER),
    broken("a head that ends early for some", request(HEALTH, b"A: b\n\nGET /reviews.json HTTP/1.1")),
    broken("a head that ends early for others", request(HEALTH, b"A: b\r\r" + _INNER.strip())),
    row("CL.0 to a read", sized(READ, _INNER), status=405, closed=False),
    row("CL.0 to the hub", sized(HUB, _INNER), status=READ_WHOLE, closed=False),
    row("CL.0 to MCP", sized(MCP, _INNER), status=READ_WHOLE, closed=False),
    row("CL.0 to nothing", sized(b"/x", _INNER), status=404, closed=False),
    row("CL.0 by OPTIONS", request(READ, b"Content-Length: %d" % len(_INNER), method=b"OPTIONS", body=_INNER), status=(204, 413), closed=None),
    row("more than was announced", post(HUB, b"Content-Length: 3", body=b"abc" + request(b"/x")), statuses=(READ_WHOLE, 404), closed=False),
    row("garbage after what was announced", post(HUB, b"Content-Length: 3", body=b"abcxyz") + request(), statuses=(READ_WHOLE, 400)),
    row("a request in a chunk", chunked(b"%x\r\n" % len(_INNER) + _INNER + b"\r\n0\r\n\r\n"), status=READ_WHOLE, closed=False),
    row("a request in a trailer", chunked(b"0\r\nA: GET /reviews.json HTTP/1.1\r\n\r\n"), status=READ_WHOLE, closed=False),
    row("garbage after the chunks", chunked(_ONE + b"xyz") + request(), statuses=(READ_WHOLE, 400)),
    row("a refused body that is a request", post(HUB, b"Content-Length: 10000", body=100 * _INNER), status=413),
    row("a refused body that comes as requests", post(HUB, b"Content-Length: 10000"), *5 * (_INNER,), status=413),
    row("a refused body at MCP that is a request", post(MCP, b"Content-Type: application/json", b"Content-Length: 99999", body=_INNER), status=413),
    row("requests after a broken one", b"GET /healthz HTTP/1.1\r\nA b: c\r\n\r\n" + 3 * request(), status=400),
    row("requests after a long one", request(b"/" + 20_000 * b"a") + 3 * request(), status=414),
)  # fmt: skip
