"""Request lines, hosts and header fields (S3, S7, S8; RFC 9112 2 to 5; RFC 9110 5, 7.2)."""

from tests.wire_corpus.rows import END, HEALTH, HOST, READ, Act, Row, broken, fine, request, row

NO_END = request()[: -len(END)]
"""A head of which the empty line is missing."""


def line(text: bytes) -> bytes:
    """A request with this request line."""
    return text + b"\r\n" + HOST + END


REQUEST_LINES: tuple[Row, ...] = (
    broken("one word", b"GARBAGE\r\n\r\n"),
    broken("nothing but colons", b":::\r\n\r\n"),
    broken("the beginning of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    broken("SSH", b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
    broken("SMTP", b"EHLO example.org\r\n\r\n"),
    broken("PROXY protocol", b"PROXY TCP4 192.0.2.1 192.0.2.2 5 80\r\n" + request()),
    broken("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    broken("a response", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    broken("HTTP/0.9", b"GET /healthz\r\n"),
    broken("HTTP/0.9, only the method", b"GET\r\n\r\n"),
    *(
        broken(f"version {version!r}", line(b"GET /healthz " + version))
        for version in (*(b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.10", b"http/1.1"),)
    ),
    broken("two blanks after the method", line(b"GET  /healthz HTTP/1.1")),
    broken("a tab before the version", line(b"GET /healthz\tHTTP/1.1")),
    broken("a CR before the end", line(b"GET /healthz HTTP/1.1\r")),
    broken("a NUL in front", line(b"\0GET /healthz HTTP/1.1")),
    broken("a byte order mark", b"\xef\xbb\xbf" + request()),
    fine("an empty line before it", b"\r\n" + request()),
    fine("two empty lines before it", b"\r\n\r\n" + request()),
    broken("ten empty lines before it", 10 * b"\r\n" + request()),
    broken("a bare LF before it", b"\n" + request()),
    broken("a bare CR before it", b"\r" + request()),
    row("20 kB without an end", 20_000 * b"A", status=414),
    row("20 kB without an end, in pieces", *20 * (1_000 * b"A",), status=414),
    row("a method of 20 kB", line(20_000 * b"A" + b" / HTTP/1.1"), status=414),
)

METHODS: tuple[Row, ...] = (
    *(
        broken(f"method {method!r}", request(method=method))
        for method in (*(b"get", b"G3T", b"M-SEARCH", b"GET\0", b"\xc7ET"),)
    ),
    *(
        row(f"method {method!r}", request(READ, method=method), status=501, closed=None)
        for method in (b"FOO", b"BREW", b"PROPFIND", b"GETX", b"GE", b"PRI", b"HTTP")
    ),
    row("unknown method, unknown path", request(b"/x", method=b"FOO"), status=501, closed=None),
    row(
        "unknown method with a body",
        request(READ, b"Content-Length: 3", method=b"FOO", body=b"abc"),
        status=501,
        closed=None,
    ),
    broken("CONNECT", request(b"localhost:443", method=b"CONNECT")),
    broken("CONNECT to a path", request(HEALTH, method=b"CONNECT")),
    broken("CONNECT in absolute form", request(b"http://localhost/", method=b"CONNECT")),
    *(
        fine(method.decode(), request(READ, method=method), 405)
        for method in (b"TRACE", b"PUT", b"PATCH", b"DELETE", b"POST")
    ),
    fine("TRACE tells nothing", request(READ, b"Cookie: secret", method=b"TRACE"), 405),
    fine("OPTIONS *", request(b"*", method=b"OPTIONS"), 204),
    fine("OPTIONS of a path", request(READ, method=b"OPTIONS"), 204),
    broken("OPTIONS *?x", request(b"*?x", method=b"OPTIONS")),
    row("HEAD", request(method=b"HEAD"), status=200, closed=False, heads=(0,)),
    row("HEAD of nothing", request(b"/x", method=b"HEAD"), status=404, closed=False, heads=(0,)),
    row(
        "HEAD, a wrong parameter",
        request(b"/api/reviews/search?limit=x", method=b"HEAD"),
        status=400,
        closed=False,
        heads=(0,),
    ),
    row("HEAD, a broken field", request(HEALTH, b"A b: c", method=b"HEAD"), status=400, heads=(0,)),
)

TARGETS: tuple[Row, ...] = (
    *(
        broken(f"target {target!r}", request(target))
        for target in (
            *(b"healthz", b"/healthz#x", b"/a b", b"/a\0b", b"/a\rb", b"/\xff", b"**"),
            *(b"file:///etc/passwd", b"http://", b"http://user@localhost/healthz"),
        )
    ),
    *(
        fine(f"target {target!r}", request(target), status)
        for target, status in (
            (b"/%", 400),
            (b"/%zz", 400),
            (b"/%ff", 400),
            (b"/%00", 404),
            (b"//healthz", 404),
            (b"//localhost/healthz", 404),
            (b"/healthz/", 308),
            (b"/healthz//", 404),
            (b"//healthz/", 404),
            (b"/./healthz/", 404),
            (b"/./healthz", 404),
            (b"/x/../healthz", 404),
            (b"/%2e%2e/healthz", 404),
            (b"/x%2F..%2Fhealthz", 404),
            (b"/http://localhost/healthz", 404),
            (b"/" + 8_000 * b"a", 404),
            (b"/healthz?" + 8_000 * b"a", 200),
            (b"http://localhost/healthz", 200),
            (b"HTTP://LOCALHOST:8080/healthz", 200),
            (b"https://reviews.example.com/reviews.json", 200),
            (b"http://[::1]/healthz", 200),
            (b"http://localhost", 200),
            (b"http://localhost?x", 200),
            (b"http://localhost//healthz", 404),
        )
    ),
    row("GET *", request(b"*"), status=(400, 404), closed=None),
    row("a target of 16 KiB", request(b"/" + 16_384 * b"a"), status=414),
    row("a query of 16 KiB", request(b"/healthz?" + 16_384 * b"a"), status=414),
    row("a target of 200 kB", request(b"/" + 200_000 * b"a"), status=414),
)


def hosted(*hosts: bytes, target: bytes = READ, version: bytes = b"HTTP/1.1") -> bytes:
    """A request with these Host fields."""
    fields = b"".join(b"Host: " + host + b"\r\n" for host in hosts)
    return request(target, host=fields, version=version)


HOSTS: tuple[Row, ...] = (
    broken("no Host", hosted(target=HEALTH)),
    broken("two Hosts", hosted(b"localhost", b"evil.example", target=HEALTH)),
    broken("two Hosts, the same", hosted(b"localhost", b"localhost", target=HEALTH)),
    broken("two Hosts, spelled differently", request(HEALTH, b"hOsT: localhost")),
    broken("two Hosts, one is empty", hosted(b"", b"localhost", target=HEALTH)),
    broken("two Hosts in HTTP/1.0", hosted(b"localhost", b"localhost", version=b"HTTP/1.0")),
    *(
        broken(f"Host {host!r}", hosted(host, target=HEALTH))
        for host in (
            *(b"a b<script>", b"localhost, localhost", b"user@localhost", b"localhost:80:80"),
            *(b"[::1", b"\xff", b"a\0b"),
        )
    ),
    *(
        row(f"Host {host!r}", hosted(host), status=(400, 421), closed=None)
        for host in (b"", b":", b":80", b"%zz", b"%", b"%6cocalhost")
    ),
    *(
        fine(f"Host {host!r}", hosted(host))
        for host in (
            *(b"localhost", b"LocalHost", b"localhost:8080", b"127.0.0.1", b"127.0.0.1:1"),
            *(b"[::1]", b"[::1]:8080", b"reviews.example.com", b"REVIEWS.example.com:443"),
            *(b"\tlocalhost\t ", b"localhost:"),
        )
    ),
    *(
        row(f"Host {host!r}", hosted(host), status=421, closed=None)
        for host in (
            *(b"evil.example", b"evil.example:443", b"localhost.evil.example", b"xlocalhost"),
            *(b"reviews.example.com.evil.example", b"example.com", b"192.0.2.1", b"[2001:db8::1]"),
            *(b"a..b", b"127.0.0.1.evil.example", 70 * b"a" + b".example"),
        )
    ),
    row("an address that is none of ours", hosted(b"evil.example", target=b"/x"), status=421, closed=None),
    row("MCP by a foreign name", hosted(b"evil.example", target=b"/mcp"), status=421, closed=None),
    row(
        "the hub by a foreign name",
        hosted(b"evil.example", target=b"/api/websub/hub"),
        status=421,
        closed=None,
    ),
    row(
        "a foreign name in HTTP/1.0",
        hosted(b"evil.example", version=b"HTTP/1.0"),
        status=421,
    ),
    fine("health by a foreign name", hosted(b"evil.example", target=HEALTH)),
    row(
        "a foreign name in the target counts",
        request(b"http://evil.example/reviews.json"),
        status=421,
        closed=None,
    ),
    fine(
        "a foreign name beside the target does not",
        hosted(b"evil.example", target=b"http://localhost/reviews.json"),
    ),
    row(
        "a foreign name where health comes first",
        hosted(b"evil.example", target=HEALTH) + hosted(b"evil.example"),
        statuses=(200, 421),
        closed=None,
    ),
    row(
        "a foreign name where MCP comes first",
        hosted(b"evil.example", target=b"/mcp") + hosted(b"evil.example"),
        statuses=(421, 421),
        closed=None,
    ),
    row(
        "a foreign name where a good one comes first",
        hosted(b"localhost") + hosted(b"evil.example"),
        statuses=(200, 421),
        closed=None,
    ),
    row(
        "a good name where a foreign one comes first",
        hosted(b"evil.example", target=HEALTH) + hosted(b"localhost"),
        statuses=(200, 200),
        closed=False,
    ),
    broken("absolute form without Host", request(b"http://localhost/healthz", host=b"")),
)  # fmt: skip

_NAMES = (b"", b"A b", b"A(b)", b"A\xff", b"A\0")

FIELDS: tuple[Row, ...] = (
    *(broken(f"field name {name!r}", request(HEALTH, name + b": c")) for name in _NAMES),
    *(
        broken(f"field value {value!r}", request(HEALTH, b"A: " + value))
        for value in (b"b\0c", b"b\rc", b"b\r", b"b\nc", b"b\x7fc")
    ),
    *(
        fine(f"field value {value!r}", request(HEALTH, b"A:" + value))
        for value in (b"", b" ", b"\t b\t", b"b", b" \xff\xfe", b" b\tc", b" :", 300 * b" " + b"b")
    ),
    broken("no colon", request(HEALTH, b"abc")),
    broken("a blank before the colon", request(HEALTH, b"A : b")),
    broken("a tab before the colon", request(HEALTH, b"A\t: b")),
    broken("a blank before the colon of Host", request(host=b"Host : localhost\r\n")),
    broken("a folded line", request(HEALTH, b"A: b", b" c")),
    broken("a line folded with a tab", request(HEALTH, b"A: b", b"\tc")),
    broken("a folded line that looks like a field", request(HEALTH, b"A: b", b" B: c")),
    broken("a folded Host", request(host=b"Host: local\r\n host\r\n")),
    broken("a first line that is folded", request(host=b" A: b\r\n" + HOST)),
    broken("a line of blanks", request(HEALTH, b"  ")),
    broken("LF after the request line", b"GET /healthz HTTP/1.1\n" + HOST + END),
    broken("LF after a field", b"GET /healthz HTTP/1.1\r\nHost: localhost\n\r\n"),
    broken("LF at all ends", b"GET /healthz HTTP/1.1\nHost: localhost\n\n"),
    broken("LF as the last end", NO_END + b"\n" + request()),
    broken("CR at all ends", b"GET /healthz HTTP/1.1\rHost: localhost\r\r" + END + END),
    broken("CR CR LF", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\r\n\r\n"),
    row("a field of 16 KiB", request(HEALTH, b"A: " + 16_384 * b"b"), status=431),
    row("a field without an end", NO_END + b"A: " + 20_000 * b"b", status=431),
    row("a field name without an end", NO_END + 20_000 * b"A", status=431),
    row("501 fields", request(HEALTH, *500 * (b"A: b",)), status=431),
    row("600 fields without an end", NO_END + 600 * b"A: b\r\n", status=(408, 431)),
    row("18 kB of fields", request(HEALTH, *20 * (b"A: " + 900 * b"b",)), status=431),
    row("200 kB of fields", request(HEALTH, *200 * (b"A: " + 1_000 * b"b",)), status=431),
    fine("450 fields", request(HEALTH, *450 * (b"A: b",))),
    fine("a field of 8 kB", request(HEALTH, b"A: " + 8_000 * b"b")),
    row("nothing", Act.END),
    row("half a request line", b"GET /heal", Act.END),
    row("half a head", NO_END, Act.END),
    row("an empty line", b"\r\n", Act.END),
    row("a request, and an end", request(), Act.END, status=200),
    row("half a head, and a wait", NO_END, status=408),
)  # fmt: skip
