"""server.read_limit at the door of a real daemon (S14), and what status tells of unknown parameters."""

import json
from pathlib import Path

import pytest

from reviewsd.monitoring.unknown_parameters import MAX_NAMES, OTHERS, UnknownParameters, named
from reviewsd.websub.rate_limits import TokenBuckets
from tests.support.daemon import Answer, Daemon

pytestmark = pytest.mark.processes

# slow enough that nothing is gained while the test runs
LIMIT = "server: {read_limit: {per_second: 0.001, burst: 20}}\n"
SEARCH = "/api/reviews/search"
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def left(answer: Answer) -> int:
    return int(answer.headers["RateLimit"].split("r=")[1].split(";")[0])


def posted(daemon: Daemon, document: object, **headers: str) -> Answer:
    return daemon.request("POST", "/mcp", {**JSON, **headers}, json.dumps(document).encode())


def test_a_network_may_read_so_often(tmp_path: Path) -> None:
    with Daemon(tmp_path, LIMIT) as daemon:
        first = daemon.get("/reviews.json", {"X-Forwarded-For": "198.51.100.1"})
        assert (200, 19) == (first.status, left(first))
        assert '"default";q=20;w=20000' == first.headers["RateLimit-Policy"]
        assert "RateLimit, RateLimit-Policy" in first.headers.get_all(
            "Access-Control-Expose-Headers", []
        )
        one = {"X-Forwarded-For": "198.51.100.1"}
        assert [14, 9, 4] == [left(daemon.get(SEARCH, one)) for _ in range(3)]
        assert 4 == left(daemon.get("/feed.xml", one)) + 1
        refused = daemon.get(SEARCH, one)
        assert (429, "too-many-requests") == (
            refused.status,
            refused.json()["type"].rpartition("#")[2],
        )
        assert 1_000 < int(refused.headers["Retry-After"]) <= 2_000
        assert "*" == refused.headers["Access-Control-Allow-Origin"]
        # others may, health is free, and what the hub is asked counts there
        assert 200 == daemon.get(SEARCH, {"X-Forwarded-For": "198.51.100.2"}).status
        assert 200 == daemon.get("/healthz", one).status
        assert "RateLimit" not in daemon.get("/healthz", one).headers
        assert 415 == daemon.request("POST", "/api/websub/hub", one).status
        assert 'reviewsd_ratelimited_total{limit="reads"} 1.0' in daemon.ctl("metrics").stdout


def test_the_same_request_on_one_connection_counts_each_time(tmp_path: Path) -> None:
    """What a connection remembers is not given past the limit (decision 46)."""
    with Daemon(tmp_path, LIMIT) as daemon:
        request = b"GET /reviews.json HTTP/1.1\r\nHost: reviews.example.com\r\n\r\n"
        last = request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        answers = daemon.raw(request * 21 + last, seconds=20)
    assert (20, 2) == (answers.count(b"HTTP/1.1 200 "), answers.count(b"HTTP/1.1 429 "))


def test_a_batch_counts_by_its_members(tmp_path: Path) -> None:
    with Daemon(tmp_path, LIMIT) as daemon:
        hello = {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        begun = posted(daemon, {**PING, "method": "initialize", "params": hello})
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        assert (200, 15) == (begun.status, left(begun))
        assert (200, 5) == ((pair := posted(daemon, [PING] * 2, **session)).status, left(pair))
        refused = posted(daemon, [PING] * 2, **session)
        assert (429, 5) == (refused.status, left(refused))
        assert "server.read_limit" in refused.json()["error"]["message"]
        assert int(refused.headers["Retry-After"]) > 1_000
        assert 200 == posted(daemon, PING, **session).status


def test_without_a_limit_nothing_is_said_of_one(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        assert "RateLimit" not in daemon.get(SEARCH).headers
        for _ in range(2):
            daemon.get(f"{SEARCH}?ratng=5&%C3%BC=1&limit=1&utm_source=x")
        daemon.get(f"{SEARCH}?ratng=5&limit=x")
        known = {"%C3%BC": 2, "ratng": 3, "utm_source": 2}
        assert known == daemon.status()["unknown_parameters"]
        said = "search parameters that do not exist: ratng (3), %C3%BC (2), utm_source (2)\n"
        assert f"\nignored    {said}" in daemon.ctl("status").stdout


def test_many_names_are_one() -> None:
    """Strangers invent them."""
    counted = UnknownParameters()
    for index in range(100):
        counted.count(b"x" * 30 + b"%d" % index)
    counted.count(b"y" * 1_000)
    found = named(counted.counts())
    assert (MAX_NAMES + 1, 101) == (len(found), sum(found.values()))
    assert [OTHERS] == list(found)[:1]


def test_tokens_are_taken_several_at_once() -> None:
    buckets = TokenBuckets(10, 10.0)
    assert (10.0, 0.0) == buckets.available("a", 0.0)
    assert 0.0 == buckets.take("a", 0.0, 8)
    assert (2.0, 8.0) == buckets.available("a", 0.0)
    assert 3.0 == buckets.take("a", 0.0, 5)
    assert 0.0 == buckets.take("a", 3.0, 5)
    assert (0.0, 10.0) == buckets.available("a", 3.0)
