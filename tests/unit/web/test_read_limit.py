"""server.read_limit of a real daemon (S14)."""

import json
from pathlib import Path

import pytest

from reviewsd.web.budgets import COSTLY
from reviewsd.websub.rate_limits import TokenBuckets
from tests.support.daemon import Answer, Daemon

pytestmark = pytest.mark.processes

# slow enough that no token is gained while the test runs
LIMIT = "server: {read_limit: {per_second: 0.001}}\n"
SEARCH = "/api/reviews/search"
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def tokens_left(answer: Answer) -> int:
    return int(answer.headers["RateLimit"].split("r=")[1].split(";")[0])


def post(daemon: Daemon, document: object, **headers: str) -> Answer:
    return daemon.request("POST", "/mcp", {**JSON, **headers}, json.dumps(document).encode())


def spend(daemon: Daemon, tokens: int, headers: dict[str, str] | None = None) -> None:
    """Search until so many tokens are gone."""
    for _ in range(tokens // COSTLY):
        assert 200 == daemon.get(SEARCH, headers or {}).status


def test_network_over_its_limit_gets_429(tmp_path: Path) -> None:
    with Daemon(tmp_path, LIMIT) as daemon:
        first = daemon.get("/reviews.json", {"X-Forwarded-For": "198.51.100.1"})
        assert (200, 99) == (first.status, tokens_left(first))
        assert '"default";q=100;w=100000' == first.headers["RateLimit-Policy"]
        assert "RateLimit, RateLimit-Policy" in first.headers.get_all(
            "Access-Control-Expose-Headers", []
        )
        client = {"X-Forwarded-For": "198.51.100.1"}
        spend(daemon, 80, client)
        assert [14, 9, 4] == [tokens_left(daemon.get(SEARCH, client)) for _ in range(3)]
        assert 4 == tokens_left(daemon.get("/feed.xml", client)) + 1
        refused = daemon.get(SEARCH, client)
        assert (429, "too-many-requests") == (
            refused.status,
            refused.json()["type"].rpartition("#")[2],
        )
        assert 1_000 < int(refused.headers["Retry-After"]) <= 2_000
        assert "*" == refused.headers["Access-Control-Allow-Origin"]
        # other clients are not limited, health is free, and the hub has its own limits
        assert 200 == daemon.get(SEARCH, {"X-Forwarded-For": "198.51.100.2"}).status
        assert 200 == daemon.get("/healthz", client).status
        assert "RateLimit" not in daemon.get("/healthz", client).headers
        assert 415 == daemon.request("POST", "/api/websub/hub", client).status
        assert 'reviewsd_ratelimited_total{limit="reads"} 1.0' in daemon.ctl("metrics").stdout


def test_batch_costs_as_much_as_its_messages(tmp_path: Path) -> None:
    with Daemon(tmp_path, LIMIT) as daemon:
        hello = {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        spend(daemon, 80)
        begun = post(daemon, {**PING, "method": "initialize", "params": hello})
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        assert (200, 15) == (begun.status, tokens_left(begun))
        assert (200, 5) == ((pair := post(daemon, [PING] * 2, **session)).status, tokens_left(pair))
        refused = post(daemon, [PING] * 2, **session)
        assert (429, 5) == (refused.status, tokens_left(refused))
        assert "server.read_limit" in refused.json()["error"]["message"]
        assert int(refused.headers["Retry-After"]) > 1_000
        assert 200 == post(daemon, PING, **session).status


def test_unlimited_reads_have_no_ratelimit_field(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        assert "RateLimit" not in daemon.get(SEARCH).headers


def test_several_tokens_are_taken_at_once() -> None:
    buckets = TokenBuckets(10, 10.0)
    assert (10.0, 0.0) == buckets.available("a", 0.0)
    assert 0.0 == buckets.take("a", 0.0, 8)
    assert (2.0, 8.0) == buckets.available("a", 0.0)
    assert 3.0 == buckets.take("a", 0.0, 5)
    assert 0.0 == buckets.take("a", 3.0, 5)
    assert (0.0, 10.0) == buckets.available("a", 3.0)
