"""Conditional requests and codings of a real daemon (RFC 9110 8.8, 12.5.3, 13; S9, S10).

All cases are in ``tests/unit/http1``, ``test_preconditions`` and ``test_negotiation``.
"""

import pytest

from reviewsd.http1.representation import Rendered
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Responses
from tests.support.daemon import Daemon

pytestmark = pytest.mark.processes

SEARCH = "/api/reviews/search?limit=2"
SINCE = "/api/reviews/since/2026-01-01"
READS = ["/reviews.json", "/insights.json", "/api/feed.json", "/feed.xml", SEARCH, SINCE]
READS += ["/.well-known/openapi.json"]


CONDITIONS = [
    ("the tag", {"If-None-Match": '"{tag}"'}, 304),
    ("a list of tags", {"If-None-Match": '"x", W/"{tag}"'}, 304),
    ("another tag", {"If-None-Match": '"x"', "If-Modified-Since": "{date}"}, 200),
    ("the date", {"If-Modified-Since": "{date}"}, 304),
    ("another tag required", {"If-Match": '"x"', "If-None-Match": '"{tag}"'}, 412),
    ("an earlier date required", {"If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}, 412),
]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("fields", "status"), [row[1:] for row in CONDITIONS], ids=[row[0] for row in CONDITIONS]
)
def test_status_of_a_conditional_read(
    daemon: Daemon, method: str, fields: dict[str, str], status: int
) -> None:
    for path in ("/reviews.json", "/feed.xml", SEARCH, SINCE):
        plain = daemon.get(path)
        date = plain.headers["Last-Modified"]
        if date is None and "Since" in str(fields):  # a search has no date
            continue
        tag = plain.headers["ETag"].strip('"')
        headers = {name: value.format(tag=tag, date=date) for name, value in fields.items()}
        answer = daemon.request(method, path, headers)

        assert status == answer.status
        if status == 200:
            assert plain.headers["ETag"] == answer.headers["ETag"]
            assert (plain.body if method == "GET" else b"") == answer.body
        if status == 412:
            assert "no-store" == answer.headers["Cache-Control"]
            assert "*" == answer.headers["Access-Control-Allow-Origin"]
            assert method == "HEAD" or 412 == answer.json()["status"]


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("accepted", ["identity", "gzip"])
def test_304_has_the_headers_of_the_200_without_those_of_a_body(
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


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("GET", "/api/reviews/search?limit=x", 400),
        ("OPTIONS", "/feed.xml", 204),
        ("PUT", "/feed.xml", 405),
    ],
)
def test_only_success_is_conditional(daemon: Daemon, method: str, path: str, status: int) -> None:
    """RFC 9110 13.2.1."""
    any_tag = {"If-None-Match": "*", "If-Match": '"x"'}
    assert status == daemon.request(method, path, any_tag).status


# Codings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/reviews.json", "/feed.xml"])
def test_document_is_406_if_every_coding_is_refused(daemon: Daemon, path: str) -> None:
    answer = daemon.get(path, {"Accept-Encoding": "*;q=0"})
    assert (406, 406) == (answer.status, answer.json()["status"])
    assert "Accept, Accept-Encoding" == answer.headers["Vary"]
    assert "*" == answer.headers["Access-Control-Allow-Origin"]


@pytest.mark.parametrize("path", [SEARCH, SINCE])
@pytest.mark.parametrize("accepted", ["*;q=0", "identity;q=0", "br"])
def test_computed_answer_ignores_refused_identity(daemon: Daemon, path: str, accepted: str) -> None:
    """RFC 9110 12.5.3: a server may disregard the field."""
    answer = daemon.get(path, {"Accept-Encoding": accepted})
    assert 200 == answer.status
    assert "Content-Encoding" not in answer.headers


# Dates ----------------------------------------------------------------------------------------------


def test_last_modified_is_never_in_the_future() -> None:
    """RFC 9110 8.8.2.1: the clock may have been set back since the publication (D13)."""
    replies = Responses("https://r.example.com", "public", lambda: 1_000.5)
    page = Rendered(body=b"x", media_type=b"text/x", etag=b'"x"', last_modified=2_000)
    prepared = replies.prepare("/x", page).identity
    computed = replies.computed(Request(b"GET", b"/x"), (b"x",), b'"x"', 2_000)
    for block in (prepared.full.block, prepared.unmodified.block, computed.block):
        assert b"\r\nLast-Modified: Thu, 01 Jan 1970 00:16:40 GMT\r\n" in block
    assert 2_000 == prepared.last_modified
