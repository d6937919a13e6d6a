"""With the quick look-up and without it the bytes are the same.

Requests as they should be, and for what is not there, put to two daemons of the same data, keys and
age: in a row, which is where a look-up could remember too much, before and after the data changes; with
the first data also one by one, at once, and in pieces, which have nothing to do with what is served.
What is no proper request at all is in ``tests/wire_corpus`` (performance.md 2).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from typing import Any

import pytest

from tests.support.daemon import Daemon
from tests.support.raw import Wire, exchange, lasting, responses
from tests.wire_corpus.rows import bytewise
from tests.wire_corpus.twins import Twins, twins

pytestmark = pytest.mark.processes

FIXED = ["/reviews.json", "/insights.json", "/api/feed.json", "/feed.xml"]
FIXED += ["/.well-known/openapi.json"]
SEARCH = "/api/reviews/search"
SINCE = "/api/reviews/since/"
HUB = "/api/websub/hub"
READS = (*FIXED, f"{SEARCH}?limit=3", f"{SINCE}2025-01-01", "/healthz")
MODERN = "2026-07-28"
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asking:
    """A request, but for what it says of its connection."""

    method: str
    target: str
    fields: tuple[str, ...] = ()
    body: bytes = b""
    version: str = "1.1"
    host: str = "localhost"

    def data(self, *, closing: bool = False) -> bytes:
        """As bytes.

        Args:
            closing: Whether the connection shall end with it.
        """
        lines = [f"{self.method} {self.target} HTTP/{self.version}", f"Host: {self.host}"]
        lines += self.fields
        if self.body:
            lines.append(f"Content-Length: {len(self.body)}")
        if closing:
            lines.append("Connection: close")
        return "\r\n".join((*lines, "", "")).encode("latin-1") + self.body


def get(target: str, *fields: str) -> Asking:
    return Asking("GET", target, fields)


def both(target: str, *fields: str) -> tuple[Asking, Asking]:
    return get(target, *fields), Asking("HEAD", target, fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a client of the twins knows by now."""

    tags: Mapping[str, tuple[str, str]]
    """Of each read, its entity tag plain and packed."""
    dates: Mapping[str, int]
    """When each was changed, or asked for; POSIX seconds."""
    following: str
    """The address of the second page of a search."""
    session: str


def learn(daemon: Daemon) -> Known:
    tags, dates = {}, {}
    for path in READS:
        plain, packed = daemon.get(path), daemon.get(path, {"Accept-Encoding": "gzip"})
        tags[path] = (plain.headers["ETag"] or '"x"', packed.headers["ETag"] or '"y"')
        date = plain.headers["Last-Modified"] or plain.headers["Date"]
        dates[path] = int(parsedate_to_datetime(date).timestamp())
    link = daemon.get(f"{SEARCH}?limit=2").headers["Link"]
    (following,) = (part for part in link.split(", ") if part.endswith('rel="next"'))
    begun = daemon.request("POST", "/mcp", {"Content-Type": JSON}, initialize())
    return Known(
        tags=tags,
        dates=dates,
        following="/" + following[1:].partition(">")[0].split("/", 3)[3],
        session=begun.headers["Mcp-Session-Id"],
    )


# What is asked ------------------------------------------------------------------------------------


def methods(_: Known) -> Iterator[Asking]:
    """Every method everywhere."""
    everywhere = (*READS, "/mcp", HUB, "/nope", "/", f"{SEARCH}?limit=x", f"{SINCE}x", "/%ff")
    for method in [
        "GET",
        "HEAD",
        "OPTIONS",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "TRACE",
        "QUERY",
        "FOO",
        "PROPFIND",
    ]:
        for path in everywhere:
            yield Asking(method, path)
        yield Asking(
            method, "/reviews.json", ("Content-Type: text/plain",), b"abc" * (method in _TAKE)
        )
        yield Asking(method, "http://localhost/feed.xml")
    yield Asking("OPTIONS", "*")
    for field in ("Origin: https://a.example", "Access-Control-Request-Method: GET"):
        yield from (Asking("OPTIONS", path, (field,)) for path in everywhere)


_TAKE = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def conditions(known: Known) -> Iterator[Asking]:
    """Preconditions and their combinations, of both codings (RFC 9110 13)."""
    for path in READS:
        plain, packed = known.tags[path]
        at = known.dates[path]
        same, before, after = (formatdate(at + n, usegmt=True) for n in (0, -1, 1))
        tags = (
            plain,
            packed,
            f"W/{plain}",
            f'"x", {plain}',
            f'"x",W/{packed},',
            "*",
            '"x"',
            plain[1:],
        )
        for tag in (*tags, plain[:-1], "", f"{plain}, x", f"*, {plain}"):
            yield from both(path, f"If-None-Match: {tag}")
            yield get(path, f"If-None-Match: {tag}", "Accept-Encoding: gzip")
            yield get(path, f"If-Match: {tag}")
        for date in (same, before, after, "x", "", "Thu, 01 Jan 2099 00:00:00 GMT"):
            yield from both(path, f"If-Modified-Since: {date}")
            yield get(path, f"If-Unmodified-Since: {date}")
            yield get(path, f"If-Modified-Since: {date}", 'If-None-Match: "x"')
            yield get(path, f"If-Unmodified-Since: {date}", f"If-Match: {plain}")
        yield get(path, 'If-None-Match: "x"', f"If-None-Match: {plain}")
        yield get(path, f"If-None-Match: {plain}", f"if-none-match: {packed}")
        yield get(path, f"IF-NONE-MATCH:{plain}")
        yield get(path, f"If-None-Match:\t {plain} \t")
        yield get(path, f"If-Match: {plain}", f"If-None-Match: {plain}")
        yield get(path, 'If-Match: "x"', f"If-None-Match: {plain}", f"If-Modified-Since: {same}")
        yield get(path, f"If-Modified-Since: {same}", f"If-Modified-Since: {before}")
        yield get(path, f"If-Unmodified-Since: {before}", f"If-None-Match: {plain}")
        yield get(path, "Range: bytes=0-1", f"If-Range: {plain}")
        yield Asking("POST", path, ("If-Match: *", "If-None-Match: *"))


def codings(known: Known) -> Iterator[Asking]:
    """Accept-Encoding in every spelling (RFC 9110 12.5.3)."""
    for path in READS:
        for accepted in (
            *("", "identity", "gzip", "GZIP", "x-gzip", "br", "*", "gzip, deflate, br, zstd"),
            *("gzip;q=0", "gzip;q=0.001", "*;q=0", "identity;q=0", "identity;q=0, gzip;q=0"),
            *("gzip;q=0.5, identity", "gzip ; q=0.5", "gzip;Q=0", "*;q=0, gzip", "gzip;q=1.001"),
            *("gzip;q=", "gzip;q=x", ";;,=", "gzip,gzip;q=0", "gzipped", "\xff", "gzip\t,\tbr"),
        ):
            yield from both(path, f"Accept-Encoding: {accepted}")
        yield get(path, "Accept-Encoding: br", "Accept-Encoding: gzip")
        yield get(path, "Accept-Encoding: identity;q=0", "Accept-Encoding: br", "Accept: x/y")
        yield get(path, f"If-None-Match: {known.tags[path][1]}", "Accept-Encoding: *;q=0")


def accepts(_: Known) -> Iterator[Asking]:
    """Errors in the type that is preferred."""
    problem = "application/problem+json"
    for path in ("/nope", f"{SEARCH}?limit=x", "/%zz", f"{SINCE}x", "/feed.xml", "/mcp", "/a//b"):
        for accept in (
            *(
                "*/*",
                JSON,
                problem,
                f"{problem};q=0.5, {JSON}",
                f"{problem}, */*;q=0.1",
                "text/html",
            ),
            *("", ";;;", "application/*", f"{problem.upper()}", f"{problem};q=0", "\xff"),
        ):
            yield from both(path, f"Accept: {accept}")
        yield get(path, "Accept: text/html", f"Accept: {problem}")
        yield Asking("PUT", path, (f"Accept: {problem}",))


def searches(known: Known) -> Iterator[Asking]:
    """Parameters right and wrong."""
    yield from both(known.following)
    yield from both(SEARCH)
    yield from both(f"{SEARCH}?")
    for query in (
        *("query=great", "query=GREAT", "query=a&limit=2", "query=%F0%9F%98%80", "query=zzzz"),
        *("query=", "query=a+b", "query=a%20b", "query=%ff", "query=%", "query=" + 201 * "a"),
        *("rating=5", "rating=5.0", "rating=6", "rating=", "rating=x", "rating=5&rating=5"),
        *("min_rating=4", "min_rating=4.5", "min_rating=1e0", "min_rating=nan", "min_rating=0"),
        *("since=2025-01-01", "since=2025-02-30", "until=2025-12-31", "until=x", "since=&until="),
        *("since=2025-06-01&until=2025-01-01", "limit=1", "limit=100", "limit=101", "limit=0"),
        *("limit=x", "limit=1e2", "limit=20.00", "cursor=x", "cursor=", "cursor=" + 500 * "A"),
        *("mentions_technician=Mike", "mentions_technician=mike", "mentions_service=ac-repair"),
        *("mentions_service=", "rating=5&min_rating=2&query=e&limit=3", "utm_source=x", "&&&=&"),
        *("%6cimit=2", "limit=2&limit=3", "limit=2%23", "x=%ff", "query=a&query=b", "?limit=1"),
        "rating=9&limit=x&since=y&until=z&min_rating=0&cursor=!",
        "query=" + "%61" * 200,
    ):
        yield from both(f"{SEARCH}?{query}")
    yield get(f"{SEARCH}?limit=1", "Accept-Encoding: gzip", "If-None-Match: *")


def dates(_: Known) -> Iterator[Asking]:
    """Dates, and what is none."""
    for date in (
        *("2025-01-01", "2026-01-01", "0001-01-01", "9999-12-31", "2024-02-29", "2025-02-29"),
        *("2025-1-1", "20250101", "2025-01-01T00:00", "yesterday", "%32025-01-01", "2025-01-0%31"),
        *("2025-01-01/", "2025-01-01%2F", "2025-01-01?x=1", "2025-01-01?", "", "2025%2D01%2D01"),
        *("%00", "%ff", "2025-01-01%20", "%EF%BC%92025-01-01", "....-..-..", "2025-01-3"),
        *("2025-00-10", "2025-13-01", "2025/01/01", "----------", "//////////", "2025-01-01;v=1"),
    ):
        yield from both(f"{SINCE}{date}")


def addresses(_: Known) -> Iterator[Asking]:
    """Paths that are spelled in more than one way, or are none (S8)."""
    for path in (
        *(
            "/%72eviews.json",
            "/reviews%2Ejson",
            "/reviews%2ejson",
            "/api%2Ffeed.json",
            "/REVIEWS.JSON",
        ),
        *("/reviews.json?", "/reviews.json?x=y", "/reviews.json/", "//reviews.json", "/./feed.xml"),
        *(
            "/x/../feed.xml",
            "/%2e/feed.xml",
            "/feed.xml%00",
            "/feed.xml;v=1",
            "/%",
            "/%zz",
            "/%C3%BC",
        ),
        *("/api/reviews/search/", "/api/reviews/%73earch?limit=1", "/api/reviews/since", "/*", "/"),
        *("/%6dcp", "/mcp/", "/MCP", "/mcp?x", "/mcp%2F", "/healthz/", "/healthz?x", "/%68ealthz"),
        *("/api/websub/hub/", "/api/websub/%68ub", "/api//feed.json", "/<script>", '/"', "/a|b"),
        *("http://localhost/reviews.json", "http://localhost", "http://localhost?limit=1"),
        *(
            "https://reviews.example.com/feed.xml",
            "http://evil.example/feed.xml",
            "HTTP://[::1]/feed.xml",
        ),
    ):
        yield from both(path)
        yield get(path, "Accept-Encoding: gzip")
        yield Asking("OPTIONS", path)


def surroundings(known: Known) -> Iterator[Asking]:
    """Fields that change nothing, or a little; names of the service; versions."""
    for path in (
        "/reviews.json",
        f"{SEARCH}?limit=1",
        f"{SINCE}2026-01-01",
        "/healthz",
        "/nope",
        HUB,
    ):
        for field in (
            *(
                "Cookie: a=b",
                "Authorization: Bearer x",
                "Range: bytes=0-1",
                "Origin: null",
                "TE: gzip",
            ),
            *("Connection: keep-alive", "Connection: TE", "Upgrade: h2c", "Expect: 100-continue"),
            *("X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: evil.example", "Forwarded: host=a"),
            *("Cache-Control: no-cache", "Pragma: no-cache", "User-Agent: \xfc", "A:", "Accept:"),
            *("X-HTTP-Method-Override: DELETE", "Content-Type: text/plain", "Content-Length: 0"),
            *("Max-Forwards: 0", "Via: 1.0 x", "DNT: 1", "A: " + 7_000 * "a", "Referer: /<script>"),
        ):
            yield get(path, field)
        yield get(path, *(f"X-{n}: {n}" for n in range(200)))
        for host in (
            "127.0.0.1:1",
            "LOCALHOST",
            "[::1]",
            "reviews.example.com",
            "evil.example",
            "a..b",
        ):
            yield Asking("GET", path, host=host)
            yield Asking("POST", path, host=host)
            yield Asking("OPTIONS", path, host=host)
    yield get("/feed.xml", f"If-None-Match: {known.tags['/feed.xml'][0]}", "Range: bytes=0-1")


def hub(_: Known) -> Iterator[Asking]:
    """The hub, by those who ask wrongly: nothing is stored, and nobody called."""
    typed = f"Content-Type: {FORM}"
    yield from both(HUB)
    yield from both(f"{HUB}?hub.mode=subscribe")
    for body in (
        *(
            b"",
            b"hub.mode=publish",
            b"hub.mode=subscribe",
            b"hub.mode=subscribe&hub.topic=/feed.xml",
        ),
        *(b"\xff", b"a=%ff", b"hub.mode=subscribe&hub.mode=unsubscribe", b"=&=&", 8_192 * b"a"),
        b"hub.mode=subscribe&hub.topic=/nope&hub.callback=https://a.example.org/",
        b"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback=http://a.example.org/",
        b"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback=https://127.0.0.1/",
        b"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback=https://reviews.example.com/",
    ):
        for fields in ((), (typed,), (f"{typed}; charset=utf-8",), ("Content-Type: text/plain",)):
            yield Asking("POST", HUB, fields, body)
        yield Asking("POST", HUB, (typed, typed), body)
        yield Asking("POST", HUB, (typed, "X-Forwarded-For: 192.0.2.1"), body)


def message(method: str, request_id: object = 1, **params: object) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    ).encode()


def initialize(version: str = "2025-06-18") -> bytes:
    client = {"name": "lanes", "version": "1"}
    return message("initialize", protocolVersion=version, capabilities={}, clientInfo=client)


def modern(method: str, **params: object) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return message(method, _meta=meta, **params)


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_reviews", {"limit": 2}),
    ("search_reviews", {"query": "great", "min_rating": 4}),
    ("search_reviews", {"rating": 9, "stars": 1}),
    ("get_business", {}),
    ("get_summary", {}),
    ("get_reviews_since", {"date": "2026-01-01"}),
    ("get_reviews_since", {"date": "x"}),
    ("get_review", {"id": "nope"}),
    ("get_technician", {"name": "nobody"}),
    ("no_such_tool", {}),
)


def messages() -> Iterator[bytes]:
    """What is posted in a session."""
    yield from (message(name) for name in ("ping", "tools/list", "resources/list", "nope", ""))
    yield from (message("tools/call", name=name, arguments=given) for name, given in CALLS)
    yield message("resources/read", uri="reviews://nope")
    yield from (message("ping", each) for each in ("a", 2**70, None, "\u2028\ud800", "<script>"))
    yield json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    yield b"[" + message("ping") + b"," + message("tools/list", 2) + b"]"
    yield from (b"", b"{}", b"[]", b"null", b"{", b"\xff", b'{"a":1,"a":2}', b"NaN", b"[" * 5_000)
    yield message("tools/call", name="search_reviews", arguments={"query": "x" * 5_000})


def mcp(known: Known) -> Iterator[Asking]:
    """MCP in both eras, by those who may ask and those who may not."""
    typed = (f"Content-Type: {JSON}", f"Accept: {JSON}, text/event-stream")
    session = f"Mcp-Session-Id: {known.session}"

    def post(body: bytes, *fields: str, target: str = "/mcp") -> Asking:
        return Asking("POST", target, fields, body)

    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN, "x"):
        yield post(initialize(version), *typed)
        yield post(message("ping"), *typed, session, f"MCP-Protocol-Version: {version}")
    for body in messages():
        yield post(body, *typed, session)
        yield post(body, *typed)
        yield post(body, *typed, "Mcp-Session-Id: x")
    yield from (
        post(message("tools/list"), *typed, session, target=each) for each in ("/%6dcp", "/mcp?x")
    )
    for method in ("tools/list", "server/discover", "nope"):
        versioned = (f"MCP-Protocol-Version: {MODERN}", f"Mcp-Method: {method}")
        yield post(modern(method), *typed, *versioned)
        yield post(modern(method), *typed, *versioned[:1])
        yield post(modern(method), *typed)
    for name, given in CALLS:
        named = (f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call", f"Mcp-Name: {name}")
        yield post(modern("tools/call", name=name, arguments=given), *typed, *named)
        yield post(modern("tools/call", name=name, arguments=given), *typed, *named[:2])
    ping = message("ping")
    for fields in (
        (),
        ("Content-Type: text/plain",),
        ("Content-Type: application/json; charset=utf-8",),
        typed[:1] * 2,
        (typed[0], "Accept: text/html"),
        (typed[0], "Accept: application/json;q=0"),
        (typed[0], "Accept: text/event-stream", "Accept: */*"),
        (*typed, session, session),
        (*typed, session, "Origin: http://localhost:6274"),
        (*typed, session, "Origin: https://reviews.example.com"),
        (*typed, session, "Origin: https://evil.example"),
        (*typed, session, "Origin: null"),
        (*typed, session, "Origin: http://localhost", "Origin: http://localhost"),
        (*typed, session, "Expect: x"),
    ):
        yield post(ping, *fields)
        yield Asking("OPTIONS", "/mcp", fields)
        yield Asking("GET", "/mcp", fields)
    for host in ("evil.example", "127.0.0.1:9", "reviews.example.com"):
        yield Asking("POST", "/mcp", (*typed, session), ping, host=host)
    yield Asking("DELETE", "/mcp")
    yield Asking("DELETE", "/mcp", ("Mcp-Session-Id: x",))
    yield Asking("DELETE", "/mcp", (session, "Origin: https://evil.example"))
    yield Asking("DELETE", "/mcp", (session,))
    yield Asking("DELETE", "/mcp", (session,))
    yield post(ping, *typed, session)


Family = Callable[[Known], Iterator[Asking]]
FAMILIES: list[Family] = [methods, conditions, codings, accepts, searches, dates, addresses]
FAMILIES += [surroundings, hub, mcp]

each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
STATES = ["at first", "after a change", "without insights"]
at_first = pytest.mark.parametrize("state", STATES[:1], indirect=True)


# Who is asked -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    with twins(tmp_path_factory.mktemp("twins"), requests=100_000) as running:
        yield running


def another_review(document: Any) -> None:  # noqa: ANN401  JSON
    document["reviews"].append(document["reviews"][0] | {"id": f"n{len(document['reviews'])}"})


@pytest.fixture(scope="module", params=STATES)
def state(request: pytest.FixtureRequest, pair: Twins) -> Twins:
    """The twins with some data; the module's tests are run with one after the other."""
    if request.param == "without insights":
        for each in pair:
            (each.data / "insights.json").unlink()
    if request.param != "at first":
        pair.edit("reviews.json", another_review)
    return pair


def different(
    asked: Sequence[object], fast: Sequence[bytes], plain: Sequence[bytes]
) -> list[object]:
    """What is not answered alike, with both answers."""
    answers = [(lasting(one), lasting(other)) for one, other in zip(fast, plain, strict=True)]
    return [(each, *pair) for each, pair in zip(asked, answers, strict=True) if pair[0] != pair[1]]


def in_a_row(port: int, asked: Sequence[Asking]) -> list[bytes]:
    """The answers to requests that follow each other on one connection."""
    answers = []
    with Wire(port) as wire:
        for each in asked:
            answers.append(wire.ask(each.data(), to_head=each.method == "HEAD"))
            wire.received = b""  # else all of it is copied with each piece
    return answers


@each_family
@at_first
def test_alone(state: Twins, family: Family) -> None:
    asked = list(family(learn(state.fast)))
    fast, plain = ([exchange(each.port, one.data(closing=True)) for one in asked] for each in state)

    assert [] == different(asked, fast, plain)


@each_family
def test_in_a_row(state: Twins, family: Family) -> None:
    """And as alone, but for what is said of the connection."""
    asked = list(family(learn(state.fast)))
    fast, plain = (in_a_row(each.port, asked) for each in state)

    assert [] == different(asked, fast, plain)
    once = asked[:: len(asked) // 20]  # the others have been compared with each other
    alone = [exchange(state.fast.port, each.data(closing=True)) for each in once]
    if family is not mcp:  # whose session has been ended
        again = fast[:: len(asked) // 20]
        assert [] == different(
            once, [one.replace(b"Connection: close\r\n", b"") for one in alone], again
        )


@each_family
@at_first
def test_at_once(state: Twins, family: Family) -> None:
    """Thirty at a time, without waiting for answers."""
    asked = list(family(learn(state.fast)))
    batches = [asked[at : at + 30] for at in range(0, len(asked), 30)]
    sent = [
        b"".join(each.data() for each in batch[:-1]) + batch[-1].data(closing=True)
        for batch in batches
    ]
    fast, plain = ([exchange(each.port, data) for data in sent] for each in state)

    assert [] == different(sent, fast, plain)
    for batch, data in zip(batches, fast, strict=True):
        heads = [n for n, each in enumerate(batch) if each.method == "HEAD"]
        assert len(batch) == len([each for each in responses(data, heads) if not each.interim])


@each_family
@at_first
def test_in_pieces(state: Twins, family: Family) -> None:
    """Some of them, every byte for itself, and the next request behind."""
    asked = [each for each in family(learn(state.fast)) if len(each.data()) < 1_000]
    some = asked[:: len(asked) // 6]
    sent = [each.data() + get("/healthz").data(closing=True) for each in some]
    fast, plain = ([exchange(each.port, *bytewise(data)) for data in sent] for each in state)

    assert [] == different(some, fast, plain)
    assert [] == different(some, [exchange(state.fast.port, data) for data in sent], fast)


def test_a_connection_sees_the_data_change(pair: Twins) -> None:
    """What a connection remembers of its last request must not outlive the snapshot."""
    path = "/reviews.json"
    with Wire(pair.fast.port) as fast, Wire(pair.plain.port) as plain:
        asked = get(path, f"If-None-Match: {pair.fast.get(path).headers['ETag']}").data()
        before = [wire.ask(asked) for wire in (fast, plain)]
        pair.edit("reviews.json", another_review)
        after = [wire.ask(asked) for wire in (fast, plain)]

    assert [304, 304] == [responses(data)[0].status for data in before]
    assert [200, 200] == [responses(data)[0].status for data in after]
    assert [] == different(["before", "after"], *zip(before, after, strict=True))


def test_the_corpus_asks_for_everything(pair: Twins) -> None:
    """Some hundreds of requests, and every status that a read, the hub or MCP has."""
    known = learn(pair.fast)
    asked = [each for family in FAMILIES for each in family(known)]
    statuses = Counter[int]()
    for family in FAMILIES:
        for data in in_a_row(pair.fast.port, list(family(learn(pair.fast)))):
            statuses[int(data[9:12])] += 1

    assert len(asked) > 500
    wanted = {200, 202, 204, 304, 400, 403, 404, 405, 406, 412, 415, 421, 501}
    assert set() == wanted - statuses.keys()
    assert 500 not in statuses
