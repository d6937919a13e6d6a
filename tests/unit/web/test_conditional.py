"""Conditional requests and the choice of a coding, at the door (RFC 9110 8.8, 12.5.3, 13; S9, S10).

The evaluator itself is tested in ``tests/unit/http1/test_preconditions.py``: here is what the client gets.
"""

import gzip
from collections.abc import Iterator
from email.utils import formatdate, parsedate_to_datetime

import pytest

from reviewsd.http1.negotiation import MAX_PREFERENCES
from reviewsd.http1.representation import Rendered, Representation
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Responses
from tests.support.daemon import Answer, Daemon

pytestmark = pytest.mark.processes

FIXED = ["/reviews.json", "/insights.json", "/api/feed.json", "/feed.xml"]
FIXED += ["/.well-known/openapi.json"]
SEARCH = "/api/reviews/search?limit=2"
SINCE = "/api/reviews/since/2026-01-01"
READS = [*FIXED, SEARCH, SINCE]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running


def dates(answer: Answer) -> dict[str, str]:
    """Dates around the one of the last change; for a read without one, around now."""
    moment = parsedate_to_datetime(answer.headers["Last-Modified"] or answer.headers["Date"])
    at = int(moment.timestamp())
    return {
        "same": formatdate(at, usegmt=True),
        "before": formatdate(at - 1, usegmt=True),
        "after": formatdate(at + 1, usegmt=True),
        "rfc850": f"{moment:%A, %d-%b-%y %H:%M:%S} GMT",
        "asctime": f"{moment:%a %b} {moment.day:2} {moment:%H:%M:%S %Y}",
    }


# What is sent, and what it comes to: {tag} is the entity tag without its quotes.
# A * after the status: on a read without a Last-Modified, 200.
CONDITIONS = [
    ("none", {}, "200"),
    ("the tag", {"If-None-Match": '"{tag}"'}, "304"),
    ("the tag, weak", {"If-None-Match": 'W/"{tag}"'}, "304"),
    ("any", {"If-None-Match": "*"}, "304"),
    ("another tag", {"If-None-Match": '"x"'}, "200"),
    ("another coding's tag", {"If-None-Match": '"{tag}-gzip"'}, "200"),
    ("a list, first", {"If-None-Match": '"{tag}", "x"'}, "304"),
    ("a list, last", {"If-None-Match": '"x", "y","{tag}"'}, "304"),
    ("a list, weak", {"If-None-Match": '"x",W/"{tag}"'}, "304"),
    ("a list, empty elements", {"If-None-Match": ' , "x",, "{tag}" ,'}, "304"),
    ("a list without it", {"If-None-Match": '"x", W/"y"'}, "200"),
    ("a comma in a tag", {"If-None-Match": '"x,y", "{tag}"'}, "304"),
    ("the tag inside another", {"If-None-Match": '"x{tag}"'}, "200"),
    ("without quotes", {"If-None-Match": "{tag}"}, "200"),
    ("one quote", {"If-None-Match": '"{tag}'}, "200"),
    ("a small w", {"If-None-Match": 'w/"{tag}"'}, "200"),
    ("empty", {"If-None-Match": ""}, "200"),
    ("garbage beside it", {"If-None-Match": '"{tag}", x'}, "200"),
    ("not changed since", {"If-Modified-Since": "{same}"}, "304*"),
    ("not changed since, later", {"If-Modified-Since": "{after}"}, "304*"),
    ("changed since", {"If-Modified-Since": "{before}"}, "200"),
    ("rfc850", {"If-Modified-Since": "{rfc850}"}, "304*"),
    ("asctime", {"If-Modified-Since": "{asctime}"}, "304*"),
    ("the year 2099", {"If-Modified-Since": "Thu, 01 Jan 2099 00:00:00 GMT"}, "304*"),
    ("the year 1994", {"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}, "200"),
    ("no date", {"If-Modified-Since": "yesterday"}, "200"),
    ("no such day", {"If-Modified-Since": "Sat, 30 Feb 2099 00:00:00 GMT"}, "200"),
    ("seconds", {"If-Modified-Since": "4102444800"}, "200"),
    ("tag over date, match", {"If-None-Match": '"{tag}"', "If-Modified-Since": "{before}"}, "304"),
    ("tag over date, none", {"If-None-Match": '"x"', "If-Modified-Since": "{same}"}, "200"),
    ("garbage over date", {"If-None-Match": "x", "If-Modified-Since": "{same}"}, "200"),
    ("must be it", {"If-Match": '"{tag}"'}, "200"),
    ("must be one of", {"If-Match": '"x", "{tag}"'}, "200"),
    ("must be something", {"If-Match": "*"}, "200"),
    ("must be another", {"If-Match": '"x"'}, "412"),
    ("must be it, weak", {"If-Match": 'W/"{tag}"'}, "412"),
    ("must be garbage", {"If-Match": "{tag}"}, "412"),
    ("must be unmodified", {"If-Unmodified-Since": "{same}"}, "200"),
    ("must be unmodified, is not", {"If-Unmodified-Since": "{before}"}, "412*"),
    ("unmodified, no date", {"If-Unmodified-Since": "x"}, "200"),
    ("If-Match over date", {"If-Match": '"{tag}"', "If-Unmodified-Since": "{before}"}, "200"),
    ("must be it, is known", {"If-Match": '"{tag}"', "If-None-Match": '"{tag}"'}, "304"),
    ("must be another, is known", {"If-Match": '"x"', "If-None-Match": '"{tag}"'}, "412"),
    ("a range", {"Range": "bytes=0-1", "If-Range": '"{tag}"'}, "200"),
]


@pytest.mark.parametrize(
    ("sent", "outcome"), [row[1:] for row in CONDITIONS], ids=[row[0] for row in CONDITIONS]
)
def test_a_condition_comes_to(daemon: Daemon, sent: dict[str, str], outcome: str) -> None:
    for path in ("/reviews.json", "/feed.xml", SEARCH, SINCE):
        plain = daemon.get(path)
        for method in ("GET", "HEAD"):
            check_condition(daemon, method, path, plain, sent, outcome)


def check_condition(
    daemon: Daemon, method: str, path: str, plain: Answer, sent: dict[str, str], outcome: str
) -> None:
    tag = plain.headers["ETag"].strip('"')
    headers = {name: value.format(tag=tag, **dates(plain)) for name, value in sent.items()}
    answer = daemon.request(method, path, headers)

    dated = path != SEARCH
    expected = "200" if outcome.endswith("*") and not dated else outcome.rstrip("*")
    assert int(expected) == answer.status
    if expected == "200":
        assert plain.headers["ETag"] == answer.headers["ETag"]
        assert (plain.body if method == "GET" else b"") == answer.body
    if expected == "412":
        assert "no-store" == answer.headers["Cache-Control"]
        assert "*" == answer.headers["Access-Control-Allow-Origin"]
    if expected == "412" and method == "GET":
        assert 412 == answer.json()["status"]


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("accepted", ["identity", "gzip"])
def test_a_304_has_the_headers_of_the_200_but_no_body_and_nothing_about_one(
    daemon: Daemon, path: str, method: str, accepted: str
) -> None:
    """RFC 9110 15.4.5."""
    accept = {"Accept-Encoding": accepted}
    full = daemon.get(path, accept)
    answer = daemon.request(method, path, {"If-None-Match": full.headers["ETag"], **accept})

    about_the_body = {"Content-Type", "Content-Length", "Content-Encoding"}
    assert (304, b"") == (answer.status, answer.body)
    for name in set(full.headers) - about_the_body - {"Date"}:
        assert full.headers[name] == answer.headers[name], name
    assert set(full.headers) - about_the_body == set(answer.headers)


def test_the_connection_lives_on_after_a_304(daemon: Daemon) -> None:
    """A body where none may be would be taken for the next response."""
    asked = b"GET /feed.xml HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\n"
    data = daemon.raw(2 * (asked + b"\r\n") + asked + b"Connection: close\r\n\r\n")

    assert 3 == data.count(b"HTTP/1.1 304 Not Modified\r\n")
    assert 3 == data.count(b"\r\n\r\n")
    assert data.endswith(b"\r\n\r\n")


def test_several_lines_of_tags_are_one_list(daemon: Daemon) -> None:
    tag = daemon.get("/feed.xml").headers["ETag"].encode()
    lines = b'If-None-Match: "x"\r\nIf-None-Match: ' + tag + b"\r\n"
    data = daemon.raw(
        b"GET /feed.xml HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + lines + b"\r\n"
    )

    assert data.startswith(b"HTTP/1.1 304 ")


@pytest.mark.parametrize("path", FIXED)
def test_a_tag_matches_only_with_the_coding_it_is_of(daemon: Daemon, path: str) -> None:
    """RFC 9110 8.8.3.3; the representation that this client would get is what counts."""
    plain = daemon.get(path).headers["ETag"]
    packed = daemon.get(path, {"Accept-Encoding": "gzip"}).headers["ETag"]

    def status(tag: str, accepted: str) -> int:
        return daemon.get(path, {"If-None-Match": tag, "Accept-Encoding": accepted}).status

    assert [304, 200] == [status(plain, "identity"), status(plain, "gzip")]
    assert [200, 304] == [status(packed, "identity"), status(packed, "gzip")]
    assert [304, 304] == [status(f"{plain}, {packed}", each) for each in ("identity", "gzip")]


@pytest.mark.parametrize(
    ("condition", "path"),
    [("If-None-Match", "/nope"), ("If-None-Match", "/api/reviews/search?limit=x")],
)
def test_an_error_is_never_conditional(daemon: Daemon, condition: str, path: str) -> None:
    """RFC 9110 13.2.1."""
    assert daemon.get(path).status == daemon.get(path, {condition: "*"}).status >= 400


def test_neither_is_options_nor_what_is_not_allowed(daemon: Daemon) -> None:
    any_tag = {"If-None-Match": "*", "If-Match": '"x"'}

    assert 204 == daemon.request("OPTIONS", "/feed.xml", any_tag).status
    assert 405 == daemon.request("PUT", "/feed.xml", any_tag).status


# Codings ------------------------------------------------------------------------------------------

IDENTITY, GZIP, NONE = "identity", "gzip", None

CODINGS = [
    (None, IDENTITY),
    ("", IDENTITY),
    ("identity", IDENTITY),
    ("gzip", GZIP),
    ("GZIP", GZIP),
    ("x-gzip", GZIP),
    ("gzip, deflate, br, zstd", GZIP),
    ("br;q=1.0, gzip;q=0.8, *;q=0.1", GZIP),
    ("gzip;q=0.001", GZIP),
    ("gzip;q=0", IDENTITY),
    ("gzip;q=0.0, *", IDENTITY),
    ("gzip;q=0, br", IDENTITY),
    ("x-gzip;q=0", IDENTITY),
    ("br", IDENTITY),
    ("deflate", IDENTITY),
    ("*", GZIP),
    ("*;q=0.5", GZIP),
    ("gzip;q=0.5, identity", IDENTITY),
    ("gzip;q=0.5, identity;q=0.5", GZIP),
    ("identity;q=0.5, gzip;q=0.4", IDENTITY),
    ("identity;q=0.5, *;q=0.1", IDENTITY),
    ("gzip, identity;q=0", GZIP),
    ("gzip, *;q=0", GZIP),
    ("identity, *;q=0", IDENTITY),
    ("*, identity;q=0", GZIP),
    ("*;q=0", NONE),
    ("identity;q=0", NONE),
    ("identity;q=0, br", NONE),
    ("identity;q=0, gzip;q=0", NONE),
    ("*;q=0, gzip;q=0", NONE),
    ("gzip ; q=0.5", GZIP),
    (";;;, =, \xff;q=x", IDENTITY),
    ("gzipped", IDENTITY),
    ("gzip" + MAX_PREFERENCES * ",", IDENTITY),  # too long to be read
    ("identity;q=0" + MAX_PREFERENCES * ",", IDENTITY),
]  # fmt: skip


@pytest.mark.parametrize(("accepted", "chosen"), CODINGS)
@pytest.mark.parametrize("path", ["/reviews.json", "/feed.xml"])
def test_the_coding_is_the_one_the_client_prefers(
    daemon: Daemon, path: str, accepted: str | None, chosen: str | None
) -> None:
    """RFC 9110 12.5.3; among equals gzip, which is less to send."""
    plain = daemon.get(path)
    answer = daemon.get(path, {} if accepted is None else {"Accept-Encoding": accepted})

    if chosen is NONE:
        assert (406, 406) == (answer.status, answer.json()["status"])
        assert "Accept, Accept-Encoding" == answer.headers["Vary"]
        assert "*" == answer.headers["Access-Control-Allow-Origin"]
        return
    coding = answer.headers["Content-Encoding"]
    assert (200, "Accept-Encoding") == (answer.status, answer.headers["Vary"])
    assert (None if chosen == IDENTITY else GZIP) == coding
    assert plain.body == (gzip.decompress(answer.body) if coding else answer.body)
    assert (chosen == GZIP) == answer.headers["ETag"].endswith('-gzip"')


@pytest.mark.parametrize("path", [SEARCH, SINCE])
@pytest.mark.parametrize("accepted", ["*;q=0", "identity;q=0", "br"])
def test_what_has_no_codings_is_sent_as_it_is(daemon: Daemon, path: str, accepted: str) -> None:
    """RFC 9110 12.5.3: a server may disregard the field."""
    answer = daemon.get(path, {"Accept-Encoding": accepted})

    assert 200 == answer.status
    assert "Content-Encoding" not in answer.headers


# Dates ----------------------------------------------------------------------------------------------


def test_nothing_is_said_to_have_changed_in_time_to_come() -> None:
    """RFC 9110 8.8.2.1: as the clock was set back after the publication (D13)."""
    replies = Responses("https://r.example.com", "public", lambda: 1_000.5)
    page = Representation(parts=(b"x",), media_type=b"text/x", etag=b'"x"', last_modified=2_000)
    prepared = replies.prepare("/x", Rendered(identity=page, gzip=None)).identity
    computed = replies.computed(Request(b"GET", b"/x"), (b"x",), b'"x"', 2_000)
    for block in (prepared.full.block, prepared.unmodified.block, computed.block):
        assert b"\r\nLast-Modified: Thu, 01 Jan 1970 00:16:40 GMT\r\n" in block
    assert 2_000 == prepared.last_modified
