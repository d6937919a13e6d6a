"""Delivery of content (seed 6, WebSub 7; H8 to H10, H14, W14 to W16, W19, D2 to D6, D9)."""

import hmac
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from twisted.logger import capturedLogs, formatEvent

from reviewsd.config.hub_schema import HubConfig as Settings
from reviewsd.store.rows import CLAIM_MILLISECONDS
from reviewsd.store.upkeep import EXPIRY_SECONDS
from reviewsd.websub import delivery, verification
from reviewsd.websub.delivery import MAX_SIGNED_IN_REACTOR
from reviewsd.websub.outbound.agent import CallbackAgent
from reviewsd.websub.outbound.response_parser import NoResponseError
from reviewsd.websub.slots import FIRST_SHARE
from tests.support.hub import (
    FEED,
    GENEROUS,
    OPEN,
    REVIEWS,
    Answer,
    Behavior,
    Exchange,
    HubProcess,
    Outcome,
    confirming,
    content,
    good,
    hanging,
    hub_process,
    lost,
    restart,
)

DAY = 86_400.0


def test_attempts_end_before_their_claims() -> None:
    """Otherwise another process could repeat one that still runs (D5)."""
    seconds = max(delivery.TIMEOUT, verification.TIMEOUT, CallbackAgent.max_lifetime)
    assert 1000 * seconds < CLAIM_MILLISECONDS


def refuse(_exchange: Exchange) -> Outcome | None:
    return Answer(500)


def row(process: HubProcess, columns: str) -> Any:
    """Return columns of the only subscription."""
    ((*values,),) = process.store.rows(f"SELECT {columns} FROM subscription")
    return values[0] if len(values) == 1 else tuple(values)


def count(process: HubProcess) -> int:
    return len(process.store.rows("SELECT id FROM subscription"))


def moments(process: HubProcess) -> list[float]:
    """Return the times of all deliveries."""
    return [exchange.at for exchange in process.callbacks.posts]


@contextmanager
def delivering(behavior: Behavior) -> Iterator[HubProcess]:
    """Run a hub whose only subscriber gets its first delivery after 10 s, and responds in this way."""
    with hub_process() as process:
        process.post()
        process.callbacks.behavior = confirming(behavior)
        process.time.advance(10.0)
        process.publish("second")
        yield process


# Content -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_content_is_signed_by_secret(method: Literal["sha1", "sha256", "sha384", "sha512"]) -> None:
    """W19."""
    with hub_process(Settings(signature_method=method)) as process:
        process.post(secret="käse")
        process.time.advance(10.0)
        process.publish("second")

        (exchange,) = process.callbacks.posts
        expected = hmac.new("käse".encode(), exchange.body, method).hexdigest()
        assert f"{method}={expected}".encode() == exchange.signature


def test_large_content_is_signed_in_a_thread(process: HubProcess) -> None:
    process.post(secret="s")
    process.time.advance(10.0)
    text = "x" * MAX_SIGNED_IN_REACTOR
    process.publish(text)
    process.time.advance(0.0)
    (exchange,) = process.callbacks.posts
    expected = hmac.new(b"s", content(FEED, text), "sha256").hexdigest()
    assert f"sha256={expected}".encode() == exchange.signature


def test_secret_without_its_key_is_a_failed_delivery(process: HubProcess) -> None:
    process.post(secret="s")
    process.store.connection.execute("UPDATE subscription SET secret_sealed = x'00'")
    process.time.advance(10.0)
    process.publish("second")
    assert [] == process.callbacks.posts
    assert (1, "its secret was sealed with a key that is gone") == row(
        process, "consecutive_failures, last_error"
    )


def test_each_change_is_delivered_once(process: HubProcess) -> None:
    """D3, D4, I6."""
    process.post()
    for text in ("second", "third", "fourth"):
        process.time.advance(600.0)
        process.publish(text)
    process.time.advance(86_400.0)

    assert [content(FEED, text) for text in ("second", "third", "fourth")] == (
        process.callbacks.bodies()
    )
    assert 3 == process.context.counters.counts()["delivery_attempts_total delivered"]


# Times ---------------------------------------------------------------------------------------------


def test_log_has_one_line_for_a_version() -> None:
    with capturedLogs() as events, hub_process(GENEROUS) as process:
        subscribe(process, "a.example.org", 3)
        subscribe(process, "b.example.org", 1)
        process.time.advance(10.0)
        process.publish("second")
        process.time.advance(10.0)
    lines = [formatEvent(event) for event in events]
    assert [f"delivered {FEED} version 2 to 4 subscribers"] == [
        line for line in lines if line.startswith("delivered")
    ]


def test_unchanged_topic_is_not_delivered(process: HubProcess) -> None:
    process.post(topic=FEED)
    process.post(topic=REVIEWS)
    process.time.advance(10.0)
    process.publish("first", {REVIEWS: "second"})
    process.time.advance(100.0)
    assert [REVIEWS] == [exchange.topic for exchange in process.callbacks.posts]


def test_unchanged_bytes_are_not_delivered(process: HubProcess) -> None:
    """20 restarts, and files that were touched or rewritten (H10)."""
    process.post()
    after = process
    for _ in range(20):
        after.time.advance(60.0)
        after.publish("first")
        after = restart(after, text="first")
    after.time.advance(3600.0)

    assert [] == process.callbacks.posts
    assert [(1,)] * 3 == process.store.rows("SELECT version FROM topic")


def test_start_does_not_wait_for_the_interval_without_a_change(process: HubProcess) -> None:
    """The interval lies between two versions (H9), and the start waits for the hub."""
    process.time.advance(60.0)
    process.publish("second")
    process.time.advance(0.0)
    unchanged = restart(process, text="second")
    assert unchanged.hub.announced.called

    changed = restart(unchanged, text="third")
    assert not changed.hub.announced.called
    changed.time.advance(5.0)
    assert changed.hub.announced.called


def test_1000_changes_in_10_seconds_are_three_deliveries(process: HubProcess) -> None:
    """The first is delivered at once, the last has the final content (H9)."""
    process.post()
    process.time.advance(60.0)
    for number in range(1000):
        process.publish(f"change {number}")
        process.time.advance(0.01)
    process.time.advance(60.0)

    bodies = process.callbacks.bodies()
    assert len(bodies) <= 3
    assert content(FEED, "change 0") == bodies[0]
    assert content(FEED, "change 999") == bodies[-1]
    assert 60.0 == moments(process)[0]


def test_changes_during_a_delivery_are_delivered_as_one() -> None:
    """Only one runs at a time, and the next one is current (contract 5, I4)."""
    with delivering(hanging) as process:
        for number in range(4):
            process.time.advance(6.0)
            process.publish(f"later {number}")
        (exchange,) = process.callbacks.posts
        exchange.outcome.callback(Answer(200))
        assert [content(FEED, "second"), content(FEED, "later 3")] == process.callbacks.bodies()


def test_change_while_the_daemon_was_down_is_delivered(process: HubProcess) -> None:
    """D2."""
    process.post()
    after = restart(process, text="second")
    after.time.advance(10.0)
    assert [content(FEED, "second")] == after.callbacks.bodies()


def test_delivery_that_was_cut_off_by_a_kill_is_made_again() -> None:
    """Claims of an earlier process are void (D6, D7)."""
    with delivering(hanging) as process:
        process.callbacks.behavior = good
        after = restart(process, text="second")
        after.time.advance(6.0)
        assert 2 * [content(FEED, "second")] == after.callbacks.bodies()


def test_expired_lease_gets_no_delivery(process: HubProcess) -> None:
    """At once, although the row is removed later (I9, W13)."""
    process.post(lease_seconds="300")
    process.time.advance(299.0)
    process.publish("second")
    assert 1 == len(process.callbacks.posts)
    process.callbacks.behavior = confirming(refuse)
    process.time.advance(0.5)
    process.publish("third")
    process.time.advance(0.5)
    process.publish("fourth")
    process.time.advance(2 * EXPIRY_SECONDS)

    assert [299.0] == moments(process)
    assert [("the lease is over",)] == process.store.rows("SELECT reason FROM ended")


def test_clock_that_is_set_back_delays_no_delivery(process: HubProcess) -> None:
    """D13."""
    process.post()
    process.time.advance(100.0)
    process.time.jump(-86_400.0)
    process.publish("second")
    process.time.advance(10.0)
    assert 1 == len(process.callbacks.posts)
    assert 1 == count(process)


def test_retry_waits_no_longer_than_the_clock_was_set_back() -> None:
    """D13."""
    with delivering(refuse) as process:
        process.callbacks.behavior = good
        process.time.jump(-1000.0)
        process.time.advance(1061.0)
        assert 2 == len(process.callbacks.posts)


# Failures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("behavior", [refuse, lost, lambda _: Answer(302), hanging])
def test_third_consecutive_failure_removes_the_subscription(behavior: Behavior) -> None:
    """After 60 s and 30 min (seed 3, 7; H14)."""
    with delivering(behavior) as process:
        process.time.advance(7_200.0)

        first, second, third = moments(process)
        timeout = 30.0 if behavior is hanging else 0.0
        assert 10.0 == first
        assert pytest.approx(60.0 + timeout, abs=0.01) == second - first
        assert pytest.approx(1800.0 + timeout, abs=0.01) == third - second
        assert 0 == count(process)
        ((reason,),) = process.store.rows("SELECT reason FROM ended")
        assert reason.startswith("3 deliveries in a row failed, the last: ")
        counts = {"verification_total confirmed": 1, "delivery_attempts_total failed": 3}
        assert counts == process.context.counters.counts()


@pytest.mark.parametrize("internal", ["10.77.12.5 is refused: private", "no connection: EMFILE"])
def test_denial_has_no_internal_reason(internal: str) -> None:
    """It is for the operator alone (E14)."""
    with delivering(lambda _: NoResponseError(internal)) as process:
        process.time.advance(7_200.0)
        assert verification.FAILED == process.callbacks.gets[-1].query["hub.reason"]
        ((reason,),) = process.store.rows("SELECT reason FROM ended")
        assert internal in reason


def test_change_during_a_retry_delay_waits_for_it() -> None:
    """H14."""
    with delivering(refuse) as process:
        process.callbacks.behavior = good
        process.time.advance(20.0)
        process.publish("third")
        process.time.advance(600.0)
        assert [content(FEED, text) for text in ("second", "third")] == process.callbacks.bodies()
        assert pytest.approx(60.0, abs=0.01) == moments(process)[1] - moments(process)[0]


@pytest.mark.parametrize(
    ("status", "retry_after", "wait"),
    [
        (503, b"120", 120.0),
        (429, b"120", 120.0),
        (503, b"5", 60.0),
        (500, b"120", 60.0),
        (503, b"Thu, 09 Oct 2025 08:55:30 GMT", 120.0),
    ],
)
def test_retry_after_lengthens_the_delay(status: int, retry_after: bytes, wait: float) -> None:
    """Never shortens it, and never by more than an hour (H14)."""
    with delivering(lambda _: Answer(status, b"", retry_after)) as process:
        process.callbacks.behavior = good
        process.time.advance(7_200.0)
        first, second = moments(process)
        assert pytest.approx(wait, abs=0.01) == second - first


def test_410_removes_at_once_without_a_denial() -> None:
    """H14, W16."""
    with delivering(lambda _: Answer(410)) as process:
        assert 0 == count(process)
        assert [("the callback answered 410 Gone",)] == process.store.rows(
            "SELECT reason FROM ended"
        )
        assert 1 == len(process.callbacks.gets)  # the verification
        assert 1 == process.context.counters.counts()["delivery_attempts_total gone"]


def test_renewal_of_a_removed_subscription_makes_a_new_one(process: HubProcess) -> None:
    process.post()
    process.callbacks.behavior = lambda exchange: None if not exchange.is_delivery else Answer(410)
    process.time.advance(10.0)
    process.post()
    process.publish("second")
    assert 0 == count(process)
    process.callbacks.behavior = good
    exchange = process.callbacks.gets[-1]
    exchange.outcome.callback(good(exchange))
    process.time.advance(10.0)

    assert 1 == count(process)
    assert 2 == row(process, "delivered_version")


# Limits ---------------------------------------------------------------------------------------------


def subscribe(process: HubProcess, host: str, number: int) -> None:
    for path in range(number):
        assert 202 == process.post(f"https://{host}/{path}").status


def test_hanging_host_does_not_delay_another_in_any_fan_out() -> None:
    """H8."""
    with hub_process(GENEROUS) as process:
        subscribe(process, "hanging.example.org", 100)
        subscribe(process, "healthy.example.org", 1)
        process.callbacks.hosts["hanging.example.org"] = confirming(hanging)
        changed: list[float] = []
        for number in range(50):
            process.time.advance(7.0)
            changed.append(process.time.clock.seconds())
            process.publish(f"change {number}")
        process.time.advance(7.0)

        healthy = [
            exchange.at
            for exchange in process.callbacks.posts
            if exchange.callback.host == "healthy.example.org"
        ]
        assert changed == pytest.approx(healthy, abs=2.0)


def test_claim_made_ahead_delivers_the_new_content() -> None:
    """The next POST carries the current content (contract 5)."""
    with hub_process(Settings(limits=OPEN, min_interval=0.0)) as process:
        for number in range(100):
            process.post(f"https://s{number}.example.org/")
        process.time.advance(10.0)
        process.callbacks.latency = 0.2
        process.publish("second")
        process.time.advance(0.1)
        process.publish("third")
        changed = process.time.clock.seconds()
        process.time.advance(10.0)

        bodies = process.callbacks.bodies()
        late = [post.at > changed for post in process.callbacks.posts].index(True)
        assert [content(FEED, "second")] * 64 == bodies[:late]
        assert [content(FEED, "third")] * 100 == bodies[late:]


def in_one_network(process: HubProcess, name: str, number: int) -> list[str]:
    """Subscribe callbacks at several hosts in the same /24."""
    hosts = [f"{name}{index}.example.org" for index in range(number)]
    for index, host in enumerate(hosts):
        process.callbacks.addresses[host] = f"11.1.1.{index + 1}"
        subscribe(process, host, 1)
    process.time.advance(10.0)
    return hosts


@pytest.mark.parametrize("is_known", [False, True])
def test_hanging_callbacks_do_not_delay_others_of_their_network(*, is_known: bool) -> None:
    """Whether or not the hub knows which hosts are in the network (H8)."""
    with hub_process(GENEROUS) as first:
        hanging_ones = in_one_network(first, "hanging", 100)
        healthy = in_one_network(first, "healthy", 5)
        if is_known:
            first.publish("no callback hangs yet")
            first.time.advance(10.0)
            first.callbacks.posts.clear()
        first.callbacks.hosts |= dict.fromkeys(hanging_ones, confirming(hanging))
        process = first if is_known else restart(first, GENEROUS, "first")
        process.publish("second")
        process.time.advance(2.0)

        posts = Counter(exchange.callback.host for exchange in process.callbacks.posts)
        assert dict.fromkeys(healthy, 1) == {host: posts[host] for host in healthy}
        assert 100 <= len(process.callbacks.running)


def test_delivery_takes_few_transactions_and_an_idle_hub_none() -> None:
    """Each is a sync of the disk. An idle hub makes three a minute, and one more every ten."""
    with hub_process(GENEROUS) as process:
        subscribe(process, "healthy.example.org", 100)
        process.callbacks.latency = 0.05
        process.time.advance(10.0)
        before = process.store.transactions
        process.publish("second")
        process.time.advance(5.0)
        assert 100 == len(process.callbacks.posts)
        assert process.store.transactions - before < 250

        before = process.store.transactions
        process.time.advance(3600.0)
        assert process.store.transactions - before <= 3 * 60 + 6 + 3


# A store that fails -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_store_that_fails_at_times_loses_nothing(seed: int) -> None:
    """It fails before and after commits; all subscribers have the current content at the end (D9)."""
    chance = random.Random(seed)
    with hub_process(GENEROUS) as process:
        subscribe(process, "a.example.org", 5)
        subscribe(process, "b.example.org", 5)
        process.store.latency = 0.01
        process.callbacks.latency = 0.2
        process.store.fault = lambda: chance.choice(["before", "after", None, None])
        for number in range(10):
            process.time.advance(6.0)
            process.publish(f"change {number}")
        process.time.advance(30.0)
        process.store.fault = lambda: None
        process.time.advance(300.0)

        assert [(0, 0, 10)] == process.store.rows(
            "SELECT t.version - s.delivered_version, s.consecutive_failures, COUNT(*)"
            " FROM subscription s JOIN topic t ON t.id = s.topic_id GROUP BY 1, 2"
        )
        for callback in {exchange.callback for exchange in process.callbacks.posts}:
            bodies = [post.body for post in process.callbacks.posts if post.callback == callback]
            numbers = [int(body.rpartition(b" ")[2]) for body in bodies]
            assert sorted(numbers) == numbers
            assert 9 == numbers[-1]
        process.store.latency = None


def test_hub_starts_once_its_store_works(process: HubProcess) -> None:
    """D9."""
    process.post()
    process.stop()
    successor = restart(process)
    successor.store.fault = lambda: "before"
    successor.publish("second")
    successor.time.advance(100.0)
    assert [] == successor.callbacks.posts
    successor.store.fault = lambda: None
    successor.time.advance(2.0)

    assert [content(FEED, "second")] == successor.callbacks.bodies()


# The end ------------------------------------------------------------------------------------------


def test_stop_waits_for_deliveries_under_way() -> None:
    """O4."""
    with hub_process(GENEROUS) as process:
        subscribe(process, "a.example.org", 30)
        process.callbacks.latency = 10.0
        process.time.advance(10.0)
        process.publish("second")
        process.stop()

        assert FIRST_SHARE == len(process.callbacks.posts)
        assert [] == process.callbacks.running
        assert [(FIRST_SHARE,)] == process.store.rows(
            "SELECT COUNT(*) FROM subscription WHERE delivered_version = 2"
        )


def test_delivery_that_a_stop_cuts_off_is_no_failure() -> None:
    """It is made after the next start (O4)."""
    with delivering(hanging) as process:
        process.stop()
        assert [] == process.callbacks.running
        assert (0, 1) == row(process, "consecutive_failures, delivered_version")

        process.callbacks.behavior = good
        after = restart(process, text="second")
        after.time.advance(6.0)
        assert 2 == row(after, "delivered_version")
        after.stop()
