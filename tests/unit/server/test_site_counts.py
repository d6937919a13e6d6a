"""The counts of the site (O9): no client can make a new row."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1 import problems, urls
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.request import METHODS, Request
from reviewsd.server.site import OTHER, PublicSite
from tests.support import routes
from tests.support.connections import BASE_URL, REPLIES, FakeRoutes, MemoryListener, ask

LABELS = {OTHER, *(route.path for route in routes.ROUTES)}


def new_site() -> PublicSite:
    return PublicSite(FakeRoutes(), REPLIES, Hosts(BASE_URL))


def labels(path: bytes, method: bytes = b"GET", status: int = 200) -> list[str]:
    """Return the rows of requests under which one response is counted."""
    site = new_site()
    site.count(Request(method, path), status, perf_counter())
    return [
        name for name, number in site.counts().items() if number == 1 and "requests_total" in name
    ]


@pytest.mark.parametrize(
    ("path", "route"),
    [
        (b"/reviews%2Ejson", "/reviews.json"),
        (b"/api/reviews/since/2025-01-31", "/api/reviews/since/{date}"),
        (b"/mcp/", "/mcp"),
        (b"/readyz", "/readyz"),
        (b"/nothing", OTHER),
    ],
)
def test_response_is_counted_under_its_route(path: bytes, route: str) -> None:
    """All spellings are in tests/unit/web/test_routes."""
    assert [f"requests_total {route} GET 200"] == labels(path)


@pytest.mark.parametrize(
    ("method", "name"), [(b"HEAD", "HEAD"), (b"QUERY", "QUERY"), (b"BREW", OTHER), (b"get", OTHER)]
)
def test_unknown_method_is_counted_as_other(method: bytes, name: str) -> None:
    assert [f"requests_total /mcp {name} 405"] == labels(b"/mcp", method, 405)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.binary(max_size=12), st.sampled_from([path.encode() for path in LABELS])),
            st.one_of(st.binary(max_size=6), st.sampled_from(sorted(METHODS))),
        ),
        max_size=60,
    )
)
def test_any_requests_are_all_counted_in_known_rows(requests: list[tuple[bytes, bytes]]) -> None:
    site = new_site()
    for path, method in requests:
        site.count(Request(method, path), 404, perf_counter())
    counts = site.counts()
    rows = {name: number for name, number in counts.items() if name.startswith("requests_total")}
    assert len(requests) == sum(rows.values())
    for name in rows:
        _, route, method_name, status = name.split(" ")
        assert route in LABELS
        assert method_name.encode() in METHODS or method_name == OTHER
        assert "404" == status
    assert len(requests) == sum(number for name, number in counts.items() if name.endswith(" +Inf"))


@pytest.mark.parametrize(("ago", "quick"), [(0.0, 1), (0.1, 0)])
def test_duration_is_counted_by_route(ago: float, quick: int) -> None:
    site = new_site()
    site.count(Request(b"GET", urls.REVIEWS.encode()), 200, perf_counter() - ago)
    counts = site.counts()
    name = f"request_duration_seconds_bucket {urls.REVIEWS}"
    assert (quick, 1) == (counts[f"{name} 0.001"], counts[f"{name} 10.0"])
    assert ago <= counts[f"request_duration_seconds_sum {urls.REVIEWS}"] < ago + 1


def test_methods_and_statuses_of_a_route_share_its_durations() -> None:
    site = new_site()
    for method, status in ((b"GET", 200), (b"GET", 304), (b"HEAD", 200)):
        site.count(Request(method, b"/feed.xml"), status, perf_counter())
    assert 3 == site.counts()["request_duration_seconds_bucket /feed.xml +Inf"]


# Through a connection


def numbers(listener: MemoryListener, *names: str) -> list[float]:
    counts = listener.connections.counts() | listener.server.site.counts()
    return [counts.get(name, 0) for name in names]


GET_200 = "requests_total other GET 200"


def test_each_response_is_counted_once(listener: MemoryListener) -> None:
    client = listener.sent(ask("/now"), ask("/now") + ask("/soon") + ask("/now", method="HEAD"))
    client.send(ask("/later"))
    assert [3, 1] == numbers(listener, GET_200, "inflight")
    listener.routes.waiting[0].answer()
    assert [4, 0] == numbers(listener, GET_200, "inflight")
    assert [1] == numbers(listener, "requests_total other HEAD 200")


def test_refused_bytes_are_not_counted_as_a_request(listener: MemoryListener) -> None:
    listener.sent(b"GARBAGE\r\n\r\n")
    listener.sent(ask("/now"), b"GET /now HTTP/1.1\r\n\r\n")
    assert [1, 2] == numbers(listener, GET_200, "rejected_total bad-request")
    counts = listener.server.site.counts()
    assert 1 == sum(number for name, number in counts.items() if name.startswith("requests_total"))


def test_refused_connection_is_counted() -> None:
    listener = MemoryListener(per_client=1)
    listener.connect()
    listener.connect()
    assert [1] == numbers(listener, f"rejected_total {problems.TOO_MANY_CONNECTIONS.kind}")
    listener.close()


def test_response_to_a_client_that_left_is_not_counted(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later"))
    client.line.leave()
    assert [0, 0, 0] == numbers(listener, GET_200, "inflight", "connections")


def test_open_connections_are_counted(listener: MemoryListener) -> None:
    listener.connect()
    client = listener.connect()
    assert [2] == numbers(listener, "connections")
    client.line.leave()
    assert [1] == numbers(listener, "connections")
