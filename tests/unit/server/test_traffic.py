"""Answers of the public site, counted (O9): no stranger makes a new number."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1 import problems, urls
from reviewsd.http1.request import METHODS, Request
from reviewsd.server.traffic import OTHER, Traffic
from tests.support import routes
from tests.support.connections import MemoryListener, ask

LABELS = {OTHER, *(route.path for route in routes.ROUTES)}


def count(path: bytes, method: bytes = b"GET", status: int = 200, ago: float = 0.0) -> list[str]:
    """Under which names an answer is counted."""
    traffic = Traffic(routes.find)
    traffic.answered(Request(method, path), status, perf_counter() - ago)
    counts = traffic.counts()
    return [name for name, number in counts.items() if number == 1 and "requests_total" in name]


@pytest.mark.parametrize(
    ("path", "route"),
    [
        (b"/reviews.json", "/reviews.json"),
        (b"/reviews%2Ejson", "/reviews.json"),
        (b"/api/reviews/search", "/api/reviews/search"),
        (b"/api/reviews/since/2025-01-31", "/api/reviews/since/{date}"),
        (b"/api/reviews/since/%32025-01-31", "/api/reviews/since/{date}"),
        (b"/api/reviews/since/", OTHER),
        (b"/api/reviews/since", "/api/reviews/{id}"),
        (b"/mcp", "/mcp"),
        (b"/mcp/", "/mcp"),
        (b"/api/websub/hub", "/api/websub/hub"),
        (b"/healthz", "/healthz"),
        (b"/readyz", "/readyz"),
        (b"/reviews.json/", OTHER),
        (b"/", "/"),
        (b"/r/a%2Fb", "/r/{id}"),
        (b"*", OTHER),
        (b"", OTHER),
        (b"/%ff", OTHER),
    ],
)
def test_an_answer_is_counted_under_its_route(path: bytes, route: str) -> None:
    assert [f"requests_total {route} GET 200"] == count(path)


@pytest.mark.parametrize(
    ("method", "name"), [(b"HEAD", "HEAD"), (b"QUERY", "QUERY"), (b"BREW", OTHER), (b"get", OTHER)]
)
def test_an_unknown_method_is_another(method: bytes, name: str) -> None:
    assert [f"requests_total /mcp {name} 405"] == count(b"/mcp", method, 405)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.binary(max_size=12), st.sampled_from([path.encode() for path in LABELS])),
            st.one_of(st.binary(max_size=6), st.sampled_from(sorted(METHODS))),
        ),
        max_size=60,
    )
)
def test_whatever_is_asked_the_numbers_are_bounded_and_none_is_lost(
    asked: list[tuple[bytes, bytes]],
) -> None:
    traffic = Traffic(routes.find)
    for path, method in asked:
        traffic.answered(Request(method, path), 404, perf_counter())
    counts = traffic.counts()
    answers = {name: each for name, each in counts.items() if name.startswith("requests_total")}
    assert len(asked) == sum(answers.values())
    for name in answers:
        _, route, method_name, status = name.split(" ")
        assert route in LABELS
        assert method_name.encode() in METHODS or method_name == OTHER
        assert "404" == status
    all_of_them = [number for name, number in counts.items() if name.endswith(" +Inf")]
    assert len(asked) == sum(all_of_them)


@pytest.mark.parametrize(("ago", "quick"), [(0.0, 1), (0.1, 0)])
def test_how_long_it_took_is_counted_by_route(ago: float, quick: int) -> None:
    traffic = Traffic(routes.find)
    traffic.answered(Request(b"GET", urls.REVIEWS.encode()), 200, perf_counter() - ago)
    counts = traffic.counts()
    name = f"request_duration_seconds_bucket {urls.REVIEWS}"
    assert (quick, 1) == (counts[f"{name} 0.001"], counts[f"{name} 10.0"])
    assert ago <= counts[f"request_duration_seconds_sum {urls.REVIEWS}"] < ago + 1


def test_the_methods_and_statuses_of_a_route_share_its_durations() -> None:
    traffic = Traffic(routes.find)
    for method, status in ((b"GET", 200), (b"GET", 304), (b"HEAD", 200)):
        traffic.answered(Request(method, b"/feed.xml"), status, perf_counter())
    assert 3 == traffic.counts()["request_duration_seconds_bucket /feed.xml +Inf"]


# through the connection


def numbers(listener: MemoryListener, *names: str) -> list[float]:
    counts = listener.server.counts()
    return [counts.get(name, 0) for name in names]


GOT = "requests_total other GET 200"


def test_every_answer_is_counted_once_however_it_was_made() -> None:
    listener = MemoryListener()
    client = listener.connect()
    client.send(ask("/now"), ask("/now") + ask("/soon") + ask("/now", method="HEAD"))
    client.send(ask("/later"))
    assert [3, 1] == numbers(listener, GOT, "inflight")
    listener.routes.waiting[0].answer()
    assert [4, 0] == numbers(listener, GOT, "inflight")
    assert [1] == numbers(listener, "requests_total other HEAD 200")
    listener.close()


def test_what_is_refused_was_no_request() -> None:
    listener = MemoryListener()
    listener.connect().send(b"GARBAGE\r\n\r\n")
    listener.connect().send(ask("/now"), b"GET /now HTTP/1.1\r\n\r\n")
    assert [1, 2] == numbers(listener, GOT, "rejected_total bad-request")
    counts = listener.server.counts()
    assert 1 == sum(each for name, each in counts.items() if name.startswith("requests_total"))
    listener.close()


def test_a_connection_too_many_is_refused_and_counted() -> None:
    listener = MemoryListener(per_client=1)
    listener.connect()
    listener.connect()
    assert [1] == numbers(listener, f"rejected_total {problems.TOO_MANY_CONNECTIONS.kind}")
    listener.close()


def test_a_client_that_left_has_got_no_answer() -> None:
    listener = MemoryListener()
    client = listener.connect()
    client.send(ask("/later"))
    client.line.leave()
    assert [0, 0, 0] == numbers(listener, GOT, "inflight", "connections")
    listener.close()


def test_open_connections_are_told() -> None:
    listener = MemoryListener()
    listener.connect()
    client = listener.connect()
    assert [2] == numbers(listener, "connections")
    client.line.leave()
    assert [1] == numbers(listener, "connections")
    listener.close()
