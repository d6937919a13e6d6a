"""The operator's view and orders (H7, interfaces.md 1.1)."""

from collections.abc import Sequence

import pytest
from twisted.internet.defer import CancelledError, Deferred

from reviewsd.api.hub import Listing
from reviewsd.api.jobs import PushResult, Step
from reviewsd.store.transactions import StoreError
from reviewsd.websub.operator import PUSH_POLL_SECONDS
from tests.support.hub import (
    BASE_URL,
    FEED,
    GENEROUS,
    JSON_FEED,
    Answer,
    HubProcess,
    confirming,
    good,
    hanging,
    hub_process,
    restart,
)

HOST = "subscriber.example.org"


def entries(process: HubProcess) -> Sequence[Listing]:
    """Return all subscriptions and pending requests."""
    return process.wait(process.operator.listing(None, None, None, None, 100))


def pushing(
    process: HubProcess, chosen: list[str] | None = None, topic: str | None = None
) -> tuple[list[Step], list[PushResult]]:
    """Begin a push; return the lists of its steps and results."""
    steps: list[Step] = []
    results: list[PushResult] = []
    push = Deferred.fromCoroutine(process.operator.push(chosen, topic, steps.append))
    push.addCallback(results.append)
    return steps, results


# Listing ------------------------------------------------------------------------------------------


def test_last_failure_is_kept_after_a_success() -> None:
    with hub_process(GENEROUS) as process:
        process.post()
        process.callbacks.behavior = confirming(lambda _: Answer(503))
        process.time.advance(10.0)
        process.publish("second")
        process.callbacks.behavior = good
        process.time.advance(61.0)
        entry = process.wait(process.operator.find("1"))

        assert entry is not None
        assert (200, None, "answered 503", 0) == (
            entry.last_status,
            entry.last_error,
            entry.last_failure,
            entry.consecutive_failures,
        )
        assert entry.last_success_at == entry.last_attempt_at
        assert entry.next_attempt_at is None


@pytest.mark.parametrize(
    ("mode", "state"), [("subscribe", "active (renewing)"), ("unsubscribe", "removal pending")]
)
def test_request_of_an_active_pair_is_listed_with_it(
    process: HubProcess, mode: str, state: str
) -> None:
    process.post()
    process.callbacks.behavior = hanging
    process.post(mode=mode)
    (entry,) = entries(process)
    assert ("1", state) == (entry.id, entry.state)
    assert entry.pending is not None
    assert (mode, None) == (entry.pending.mode, entry.pending.next_attempt_at)


@pytest.mark.parametrize("identifier", ["", "p", "x", "-1", "1.0", "9", "p9", "٣", "1" * 40])
def test_other_ids_have_no_entry(process: HubProcess, identifier: str) -> None:
    process.post()
    assert process.wait(process.operator.find(identifier)) is None
    assert not process.wait(process.operator.remove(identifier, ""))


# Removals and blocks ----------------------------------------------------------------------------------


def test_removed_subscriber_is_notified(process: HubProcess) -> None:
    """W10."""
    process.post()
    assert process.wait(process.operator.remove("1", "spam & more"))

    assert [] == entries(process)
    assert {
        "id": "1",
        "hub.mode": "denied",
        "hub.topic": BASE_URL + FEED,
        "hub.reason": "spam & more",
    } == process.callbacks.gets[-1].query
    assert [("removed by the operator: spam & more",)] == process.store.rows(
        "SELECT reason FROM ended"
    )


def test_removed_request_is_not_confirmed_afterwards(process: HubProcess) -> None:
    process.callbacks.behavior = hanging
    process.post()
    (exchange,) = process.callbacks.gets
    assert process.wait(process.operator.remove("p1", "spam"))
    exchange.outcome.callback(good(exchange))
    assert [] == entries(process)
    assert [exchange] == process.callbacks.gets


def test_late_result_of_a_removed_subscription_changes_nothing(process: HubProcess) -> None:
    process.post()
    process.callbacks.behavior = confirming(hanging)
    process.time.advance(10.0)
    process.publish("second")
    (exchange,) = process.callbacks.posts
    process.wait(process.operator.remove("1", "spam"))
    process.callbacks.behavior = good
    process.post()
    exchange.outcome.callback(Answer(500))

    (entry,) = entries(process)
    assert ("2", 0, None) == (entry.id, entry.consecutive_failures, entry.last_attempt_at)


def test_block_covers_requests_under_way(process: HubProcess) -> None:
    """A request that is accepted during its transaction would outlive it."""
    process.store.latency = 0.1
    blocked = Deferred.fromCoroutine(process.operator.block(HOST, "", False))
    process.time.advance(0.05)
    assert 403 == process.post().status
    process.time.advance(60.0)
    assert blocked.called

    assert [] == entries(process)
    assert [] == process.callbacks.gets
    process.store.latency = None


# Pause --------------------------------------------------------------------------------------------


def test_attempts_under_way_end_normally_in_a_pause(process: HubProcess) -> None:
    process.post()
    process.callbacks.latency = 5.0
    process.time.advance(10.0)
    process.publish("second")
    process.wait(process.operator.pause())
    process.time.advance(10.0)
    assert [(2,)] == process.store.rows("SELECT delivered_version FROM subscription")


def test_pause_with_a_lost_result_begins_with_the_restart(process: HubProcess) -> None:
    """Requests and deliveries must agree on it."""
    process.post()
    process.store.fault = lambda: "after"
    with pytest.raises(StoreError):
        process.wait(process.operator.pause())
    process.store.fault = lambda: None
    process.wait(process.operator.block("other.example.net", "", False))

    assert not process.requests.paused
    assert 202 == process.post().status
    assert restart(process).requests.paused


# Pushes ---------------------------------------------------------------------------------------------


def subscribe(process: HubProcess, number: int) -> None:
    for path in range(number):
        process.post(f"https://{HOST}/{path}", topic=(FEED, JSON_FEED)[path % 2])


def test_push_can_be_for_a_topic_or_for_some_ids() -> None:
    with hub_process(GENEROUS) as process:
        subscribe(process, 4)
        pushing(process, None, JSON_FEED)
        assert [JSON_FEED] * 2 == [exchange.topic for exchange in process.callbacks.posts]
        _, results = pushing(process, ["1", "3", "p1", "99", "x"], None)
        process.time.advance(PUSH_POLL_SECONDS)
        assert [2] == [result.total for result in results]
        assert ["/0", "/2"] == [
            exchange.callback.target for exchange in process.callbacks.posts[2:]
        ]


def test_push_without_subscriptions_ends_at_once(process: HubProcess) -> None:
    assert [PushResult(total=0, delivered=0, failed=0, removed=0)] == pushing(process)[1]


def test_push_does_not_wait_for_a_retry() -> None:
    """A push is one attempt, and does not wait for the delay of a failure."""
    with hub_process(GENEROUS) as process:
        subscribe(process, 3)
        process.callbacks.behavior = confirming(
            lambda exchange: Answer(410 if exchange.callback.target == "/1" else 500)
        )
        process.time.advance(10.0)
        _, results = pushing(process)
        process.time.advance(PUSH_POLL_SECONDS)
        assert [PushResult(total=3, delivered=0, failed=2, removed=1)] == results

        process.callbacks.behavior = good
        _, results = pushing(process)
        process.time.advance(PUSH_POLL_SECONDS)
        assert [PushResult(total=2, delivered=2, failed=0, removed=0)] == results


def test_push_counts_subscriptions_that_are_removed_meanwhile() -> None:
    with hub_process(GENEROUS) as process:
        subscribe(process, 2)
        process.callbacks.behavior = confirming(hanging)
        _, results = pushing(process)
        process.wait(process.operator.remove("1", ""))
        process.callbacks.posts[1].outcome.callback(Answer(200))
        process.time.advance(10.0)
        assert [PushResult(total=2, delivered=1, failed=0, removed=1)] == results


def test_push_waits_while_the_hub_is_paused_or_the_store_fails() -> None:
    with hub_process(GENEROUS) as process:
        subscribe(process, 2)
        process.wait(process.operator.pause())
        _, results = pushing(process)
        process.time.advance(30.0)
        assert [] == results
        process.store.fault = lambda: "before"
        process.time.advance(30.0)
        process.store.fault = lambda: None
        process.wait(process.operator.resume())
        process.time.advance(5.0)

        assert [2] == [result.delivered for result in results]


def test_cancelled_push_leaves_nothing_behind() -> None:
    """The client is gone; the deliveries go on."""
    with hub_process(GENEROUS) as process:
        subscribe(process, 1)
        process.callbacks.behavior = confirming(hanging)
        push = Deferred.fromCoroutine(process.operator.push(None, None, lambda _: None))
        push.addErrback(lambda failure: failure.trap(CancelledError))
        push.cancel()
        process.callbacks.posts[0].outcome.callback(Answer(200))
        assert [(1,)] == process.store.rows("SELECT delivered_version FROM subscription")
