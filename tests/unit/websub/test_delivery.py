"""Distribution of content (seed 6, WebSub 7; H8 to H10, H14, W14 to W16, W19, D2 to D6, D9)."""

import hashlib
import hmac
import random
from collections import Counter
from dataclasses import replace
from typing import Any, Literal

import pytest
from twisted.logger import capturedLogs, formatEvent

from reviewsd.config.schema import Deliveries, HubLimitsConfig
from reviewsd.config.schema import HubConfig as Settings
from reviewsd.websub import denial as denials
from reviewsd.websub.delivery import SIGNED_AT_ONCE, contents
from reviewsd.websub.hub import SETTLE_SECONDS, SWEEP_SECONDS
from reviewsd.websub.outbound.outcomes import AttemptOutcome, Unanswered
from reviewsd.websub.slots import FIRST_SHARE, IDLE_PER_PLACE, NEW_SECONDS
from tests.support.hub import (
    BASE_URL,
    CALLBACK,
    FEED,
    JSON_FEED,
    MEDIA_TYPES,
    REVIEWS,
    UNANSWERED,
    Behaviour,
    Exchange,
    HubProcess,
    again,
    answered,
    confirming,
    content,
    good,
    hanging,
    living,
    snapshot,
)

OPEN = HubLimitsConfig(
    requests_per_minute=10_000,
    requests_per_minute_and_host=10_000,
    active_per_host=10_000,
    pending_per_client=10_000,
)
GENEROUS = Settings(limits=OPEN)
STEADY = Settings(delivery=Deliveries(jitter=0.0))
DAY = 86_400.0


def refuse(exchange: Exchange) -> AttemptOutcome | None:
    return answered(500)


def lost(exchange: Exchange) -> AttemptOutcome | None:
    return UNANSWERED


def row(process: HubProcess, columns: str) -> Any:  # noqa: ANN401 - one value, or some
    """The one subscription."""
    ((*values,),) = process.store.rows(f"SELECT {columns} FROM subscription")
    return values[0] if len(values) == 1 else tuple(values)


def count(process: HubProcess) -> int:
    return len(process.store.rows("SELECT id FROM subscription"))


def moments(process: HubProcess) -> list[float]:
    """When something was sent."""
    return [exchange.at for exchange in process.callbacks.sent]


# What is sent -------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", [FEED, JSON_FEED, REVIEWS])
def test_the_whole_content_is_sent_as_a_get_has_it(topic: str) -> None:
    """W14, W15, I10."""
    with living() as process:
        process.post(topic=topic)
        process.time.go(10.0)
        process.publish("second")

        (exchange,) = process.callbacks.sent
        assert exchange.push is not None
        body = content(topic, "second")
        etag = hashlib.sha256(body).hexdigest()[:22]
        assert body == exchange.body
        assert exchange.push.signature is None
        assert CALLBACK == exchange.callback.url
        assert exchange.push.headers.decode().split("\r\n") == [
            f"Content-Type: {MEDIA_TYPES[topic].decode()}",
            f"Content-Length: {len(body)}",
            f'Link: <{BASE_URL}{topic}>; rel="self", <{BASE_URL}/api/websub/hub>; rel="hub"',
            f'ETag: "{etag}"',
            "",
        ]


def test_the_digests_are_those_of_the_bytes() -> None:
    """I10: what the store compares is what is sent."""
    made = contents(snapshot("x"), BASE_URL)

    assert {path: hashlib.sha256(content(path, "x")).hexdigest() for path in made} == {
        path: each.sha256 for path, each in made.items()
    }


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_with_a_secret_the_content_is_signed(
    method: Literal["sha1", "sha256", "sha384", "sha512"],
) -> None:
    """W19: whoever has the secret can verify it."""
    with living(Settings(signature_method=method)) as process:
        process.post(secret="käse")
        process.time.go(10.0)
        process.publish("second")

        (exchange,) = process.callbacks.sent
        assert exchange.push is not None
        expected = hmac.new("käse".encode(), exchange.body, method).hexdigest()
        assert f"{method}={expected}".encode() == exchange.push.signature


def test_large_content_is_signed_in_a_thread() -> None:
    with living() as process:
        process.post(secret="s")
        process.time.go(10.0)
        text = "x" * SIGNED_AT_ONCE
        process.publish(text)
        process.time.go(0.0)

        (exchange,) = process.callbacks.sent
        assert exchange.push is not None
        expected = hmac.new(b"s", content(FEED, text), "sha256").hexdigest()
        assert f"sha256={expected}".encode() == exchange.push.signature


def test_a_renewal_without_a_secret_ends_signing() -> None:
    """W5."""
    with living() as process:
        process.post(secret="s")
        process.post()
        process.time.go(10.0)
        process.publish("second")

        (exchange,) = process.callbacks.sent
        assert exchange.push is not None
        assert exchange.push.signature is None


def test_a_secret_whose_key_is_gone_is_a_failure_that_the_operator_sees() -> None:
    with living() as process:
        process.post(secret="s")
        process.store.connection.execute("UPDATE subscription SET secret_sealed = x'00'")
        process.time.go(10.0)
        process.publish("second")

        assert [] == process.callbacks.sent
        assert (1, "its secret was sealed with a key that is gone") == row(
            process, "consecutive_failures, last_error"
        )


# When ---------------------------------------------------------------------------------------------


def test_each_change_is_sent_once() -> None:
    """D3, D4, I6."""
    with living() as process:
        process.post()
        for text in ("second", "third", "fourth"):
            process.time.go(600.0)
            process.publish(text)
        process.time.go(86_400.0)

        assert [content(FEED, text) for text in ("second", "third", "fourth")] == (
            process.callbacks.bodies()
        )


def test_the_log_has_one_line_for_those_who_were_sent_the_same() -> None:
    with capturedLogs() as events, living(GENEROUS) as process:
        subscribe(process, "a.example.org", 3)
        subscribe(process, "b.example.org", 1)
        process.time.go(10.0)
        process.publish("second")
        process.time.go(10.0)
    lines = [formatEvent(event) for event in events]
    assert [f"delivered {FEED} version 2 to 4 subscribers"] == [
        line for line in lines if line.startswith("delivered")
    ]


def test_only_topics_that_have_changed_are_sent() -> None:
    with living() as process:
        process.post(topic=FEED)
        process.post(topic=REVIEWS)
        process.time.go(10.0)
        process.publish("first", {REVIEWS: "second"})
        process.time.go(100.0)

        assert [REVIEWS] == [exchange.topic for exchange in process.callbacks.sent]


def test_the_same_bytes_are_not_sent() -> None:
    """H10: 20 restarts, files touched, rewritten."""
    with living() as process:
        process.post()
        after = process
        for _ in range(20):
            after.time.go(60.0)
            after.publish("first")
            after = again(after, text="first")
        after.time.go(3600.0)

        assert [] == process.callbacks.sent
        assert [(1,)] * 3 == process.store.rows("SELECT version FROM topic")


def test_what_has_not_changed_is_not_waited_for() -> None:
    """H9 is about two versions: the start waits for the hub, which has none to make."""
    with living() as process:
        process.time.go(60.0)
        process.publish("second")
        process.time.go(0.0)
        same = again(process, text="second")
        assert same.hub.announced.called

        other = again(same, text="third")
        assert not other.hub.announced.called
        other.time.go(5.0)
        assert other.hub.announced.called


def test_1000_changes_in_10_seconds_are_three_deliveries() -> None:
    """H9: the first goes out at once, the last has the final content."""
    with living() as process:
        process.post()
        process.time.go(60.0)
        for number in range(1000):
            process.publish(f"change {number}")
            process.time.go(0.01)
        process.time.go(60.0)

        bodies = process.callbacks.bodies()
        assert len(bodies) <= 3
        assert content(FEED, "change 0") == bodies[0]
        assert content(FEED, "change 999") == bodies[-1]
        assert 60.0 == moments(process)[0]


def test_changes_during_a_delivery_become_one() -> None:
    """Contract 5, I4: never two at once, the next one is current."""
    with living() as process:
        process.post()
        process.callbacks.behaviour = confirming(hanging)
        process.time.go(10.0)
        process.publish("second")
        for number in range(4):
            process.time.go(6.0)
            process.publish(f"later {number}")
        (exchange,) = process.callbacks.sent
        exchange.ended.callback(answered(200))

        assert [content(FEED, "second"), content(FEED, "later 3")] == process.callbacks.bodies()


def test_a_change_back_to_what_he_has_is_a_change() -> None:
    """Versions are never used again: he is told what he has, and knows."""
    with living() as process:
        process.post()
        for text in ("second", "first"):
            process.time.go(10.0)
            process.publish(text)

        assert [content(FEED, text) for text in ("second", "first")] == process.callbacks.bodies()


def test_a_change_while_the_daemon_was_down_is_sent() -> None:
    """D2."""
    with living() as process:
        process.post()
        after = again(process, text="second")
        after.time.go(10.0)

        assert [content(FEED, "second")] == after.callbacks.bodies()


def test_what_was_under_way_when_the_daemon_was_killed_is_sent_again() -> None:
    """D6, D7: claims of an earlier process are void."""
    with living() as process:
        process.post()
        process.callbacks.behaviour = confirming(hanging)
        process.time.go(10.0)
        process.publish("second")
        process.callbacks.behaviour = good
        after = again(process, text="second")
        after.time.go(6.0)

        assert 2 * [content(FEED, "second")] == after.callbacks.bodies()


def test_nothing_is_sent_after_the_lease_is_over() -> None:
    """I9, W13: at once, though the row goes with the next sweep."""
    with living() as process:
        process.post(lease_seconds="300")
        process.time.go(299.0)
        process.publish("second")
        assert 1 == len(process.callbacks.sent)
        process.callbacks.behaviour = confirming(refuse)
        process.time.go(0.5)
        process.publish("third")
        process.time.go(0.5)
        process.publish("fourth")
        process.time.go(600.0)

        assert [299.0] == moments(process)
        assert [("the lease is over",)] == process.store.rows("SELECT reason FROM ended")


def test_a_clock_set_back_ends_no_lease_and_delays_no_delivery() -> None:
    """D13."""
    with living() as process:
        process.post()
        process.time.go(100.0)
        process.time.jump(-86_400.0)
        process.publish("second")
        process.time.go(10.0)

        assert 1 == len(process.callbacks.sent)
        assert 1 == count(process)


def test_a_delivery_that_waits_waits_no_longer_than_the_clock_was_set_back() -> None:
    """D13."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(refuse)
        process.time.go(10.0)
        process.publish("second")
        process.callbacks.behaviour = good
        process.time.jump(-1000.0)
        process.time.go(1061.0)

        assert 2 == len(process.callbacks.sent)


def test_a_wait_that_a_jump_has_made_endless_is_put_right() -> None:
    """D13: the clock was set back while no daemon ran; an hour is the longest wait of all."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(refuse)
        process.time.go(10.0)
        process.publish("second")
        process.callbacks.behaviour = good
        process.kill()
        process.time.jump(-30 * DAY)
        after = again(process, STEADY, text="second")
        after.time.go(3_600.0 + SWEEP_SECONDS)

        assert 2 == len(after.callbacks.sent)


def test_nothing_is_ended_in_the_first_minutes_after_a_start() -> None:
    """D13: a clock that is wrong then is set right meanwhile."""
    with living() as process:
        process.post()
        process.kill()
        process.time.jump(30 * DAY)
        after = again(process, text="second")
        after.time.go(SETTLE_SECONDS - 1)
        assert 1 == count(after)
        after.time.jump(-30 * DAY)
        after.time.go(SWEEP_SECONDS)
        assert [content(FEED, "second")] == after.callbacks.bodies()
        after.time.jump(30 * DAY)
        after.time.go(SWEEP_SECONDS)
        assert 0 == count(after)


# Failures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("behaviour", [refuse, lost, lambda _: answered(302), hanging])
def test_the_third_failure_in_a_row_removes_the_subscription(behaviour: Behaviour) -> None:
    """Seed 3, 7; H14: after 60 s and 30 min."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(behaviour)
        process.time.go(10.0)
        process.publish("second")
        process.time.go(7_200.0)

        first, second, third = moments(process)
        timeout = 30.0 if behaviour is hanging else 0.0
        assert 10.0 == first
        assert pytest.approx(60.0 + timeout, abs=0.01) == second - first
        assert pytest.approx(1800.0 + timeout, abs=0.01) == third - second
        assert 0 == count(process)
        ((reason,),) = process.store.rows("SELECT reason FROM ended")
        assert reason.startswith("3 deliveries in a row failed, the last: ")


def test_who_is_removed_for_failing_is_told() -> None:
    """W10."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(refuse)
        process.time.go(10.0)
        process.publish("second")
        process.time.go(7_200.0)

        denial = process.callbacks.asked[-1].question
        assert {
            "id": "1",
            "hub.mode": "denied",
            "hub.topic": BASE_URL + FEED,
            "hub.reason": denials.FAILED,
        } == denial


@pytest.mark.parametrize("internal", ["10.77.12.5 is refused: private", "no connection: EMFILE"])
def test_what_went_wrong_here_is_told_to_the_operator_alone(internal: str) -> None:
    """E14: the reason for the subscriber is the same, whatever the last attempt came to."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(lambda _: Unanswered(internal, None))
        process.time.go(10.0)
        process.publish("second")
        process.time.go(7_200.0)

        assert denials.FAILED == process.callbacks.asked[-1].question["hub.reason"]
        ((reason,),) = process.store.rows("SELECT reason FROM ended")
        assert internal in reason


@pytest.mark.parametrize("failures", [1, 2])
def test_a_success_forgives_all_failures(failures: int) -> None:
    """H14."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(refuse)
        process.time.go(10.0)
        process.publish("second")
        process.time.go(60.0 * (failures - 1))
        assert failures == row(process, "consecutive_failures")
        process.callbacks.behaviour = good
        process.time.go(1800.0)

        assert (0, 0, 2) == row(process, "consecutive_failures, next_attempt_at, delivered_version")
        assert failures + 1 == len(process.callbacks.sent)


def test_the_waits_vary_by_a_fifth() -> None:
    """H14."""
    with living() as process:
        process.post()
        process.distribution._context = replace(process.distribution._context, chance=lambda: 1.0)
        process.callbacks.behaviour = confirming(refuse)
        process.time.go(10.0)
        process.publish("second")
        process.time.go(7_200.0)

        first, second, third = moments(process)
        assert pytest.approx(72.0, abs=0.01) == second - first
        assert pytest.approx(2160.0, abs=0.01) == third - second


def test_a_change_during_the_wait_waits_too_and_is_what_is_sent_then() -> None:
    """H14."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(refuse)
        process.time.go(10.0)
        process.publish("second")
        process.callbacks.behaviour = good
        process.time.go(20.0)
        process.publish("third")
        process.time.go(600.0)

        assert [content(FEED, text) for text in ("second", "third")] == process.callbacks.bodies()
        assert pytest.approx(60.0, abs=0.01) == moments(process)[1] - moments(process)[0]


@pytest.mark.parametrize(
    ("status", "asked", "wait"),
    [
        (503, b"120", 120.0),
        (429, b"120", 120.0),
        (503, b"5", 60.0),
        (503, b"86400", 3600.0),
        (503, b"soon", 60.0),
        (500, b"120", 60.0),
        (503, b"Thu, 09 Oct 2025 08:55:30 GMT", 120.0),
    ],
)
def test_a_callback_may_ask_for_more_patience(status: int, asked: bytes, wait: float) -> None:
    """H14: never for less, never for more than an hour."""
    with living(STEADY) as process:
        process.post()
        process.callbacks.behaviour = confirming(lambda _: answered(status, retry_after=asked))
        process.time.go(10.0)
        process.publish("second")
        process.callbacks.behaviour = good
        process.time.go(7_200.0)

        first, second = moments(process)
        assert pytest.approx(wait, abs=0.01) == second - first


def test_a_410_removes_at_once_and_nobody_is_told() -> None:
    """H14, W16."""
    with living() as process:
        process.post()
        process.callbacks.behaviour = confirming(lambda _: answered(410))
        asked = len(process.callbacks.asked)
        process.time.go(10.0)
        process.publish("second")

        assert 0 == count(process)
        assert [("the callback answered 410 Gone",)] == process.store.rows(
            "SELECT reason FROM ended"
        )
        assert asked == len(process.callbacks.asked)


def test_who_is_removed_while_he_renews_is_a_new_subscriber_when_he_confirms() -> None:
    with living() as process:
        process.post()
        process.callbacks.behaviour = lambda exchange: (
            None if exchange.push is None else answered(410)
        )
        process.time.go(10.0)
        process.post()
        process.publish("second")
        assert 0 == count(process)
        process.callbacks.behaviour = good
        exchange = process.callbacks.asked[-1]
        exchange.ended.callback(good(exchange))
        process.time.go(10.0)

        assert 1 == count(process)
        assert 2 == row(process, "delivered_version")


# Many ---------------------------------------------------------------------------------------------


def subscribe(process: HubProcess, host: str, number: int) -> None:
    for each in range(number):
        assert 202 == process.post(f"https://{host}/{each}").status


def test_a_host_with_100_hanging_subscriptions_delays_no_healthy_one() -> None:
    """H8: below two seconds; and few at the one host, of which none comes back."""
    with living(GENEROUS) as process:
        subscribe(process, "hanging.example.org", 100)
        subscribe(process, "healthy.example.org", 3)
        process.callbacks.hosts["hanging.example.org"] = confirming(hanging)
        process.time.go(10.0)
        process.publish("second")
        process.time.go(2.0)

        sent = [exchange.callback.host for exchange in process.callbacks.sent]
        assert 3 == sent.count("healthy.example.org")
        assert FIRST_SHARE == process.callbacks.most["hanging.example.org"]


def test_a_change_reaches_the_healthy_while_another_host_hangs() -> None:
    """H8, again and again."""
    with living(GENEROUS) as process:
        subscribe(process, "hanging.example.org", 100)
        subscribe(process, "healthy.example.org", 1)
        process.callbacks.hosts["hanging.example.org"] = confirming(hanging)
        changed: list[float] = []
        for number in range(50):
            process.time.go(7.0)
            changed.append(process.time.clock.seconds())
            process.publish(f"change {number}")
        process.time.go(7.0)

        healthy = [
            exchange.at
            for exchange in process.callbacks.sent
            if exchange.callback.host == "healthy.example.org"
        ]
        assert changed == pytest.approx(healthy, abs=2.0)


def test_no_more_than_64_at_once_and_all_in_the_end() -> None:
    """H8; who hangs for longer than that leaves his place (``places``)."""
    with living(GENEROUS) as process:
        for number in range(300):
            process.post(f"https://s{number}.example.org/")
        process.callbacks.latency = 0.1
        process.time.go(10.0)
        process.publish("second")
        most = 0
        for _ in range(100):
            most = max(most, process.delivering.running)
            process.time.go(0.01)

        assert 64 == most
        assert 300 == len(process.callbacks.sent)


def test_what_was_claimed_ahead_when_the_content_changed_is_sent_the_new_one() -> None:
    """Contract 5: the next POST carries the current content."""
    with living(Settings(limits=OPEN, min_interval=0.0)) as process:
        for number in range(100):
            process.post(f"https://s{number}.example.org/")
        process.time.go(10.0)
        process.callbacks.latency = 0.2
        process.publish("second")
        process.time.go(0.1)
        process.publish("third")
        changed = process.time.clock.seconds()
        process.time.go(10.0)

        bodies = process.callbacks.bodies()
        late = [sent.at > changed for sent in process.callbacks.sent].index(True)
        assert [content(FEED, "second")] * 64 == bodies[:late]
        assert [content(FEED, "third")] * 100 == bodies[late:]


def in_one_network(process: HubProcess, name: str, number: int) -> list[str]:
    """Subscribe callbacks at so many hosts in the same /24."""
    hosts = [f"{name}{each}.example.org" for each in range(number)]
    for each, host in enumerate(hosts):
        process.callbacks.addresses[host] = f"11.1.1.{each + 1}"
        subscribe(process, host, 1)
    process.time.go(10.0)
    return hosts


def test_names_that_lead_to_one_network_share_its_places() -> None:
    """H8: who meets a crowd is put back, and it is no failure."""
    with living(GENEROUS) as process:
        in_one_network(process, "h", 40)
        after = again(process, GENEROUS, "first")  # it knows no network yet
        after.callbacks.latency = NEW_SECONDS / 2
        after.time.go(10.0)
        after.publish("second")
        after.time.go(0.0)
        assert 16 == len(after.callbacks.sent)
        after.time.go(1.0)

        assert 40 == len(after.callbacks.sent)
        assert [(0, 40)] == after.store.rows(
            "SELECT consecutive_failures, COUNT(*) FROM subscription GROUP BY 1"
        )


@pytest.mark.parametrize("knows", [False, True])
def test_who_hangs_leaves_his_place_in_the_network_to_others(*, knows: bool) -> None:
    """H8: the healthy ones of an attacker's network are not behind him, first fan-out or not."""
    with living(GENEROUS) as first:
        hanging_ones = in_one_network(first, "hanging", 100)
        healthy = in_one_network(first, "healthy", 5)
        if knows:
            first.publish("nobody hangs yet")
            first.time.go(10.0)
            first.callbacks.sent.clear()
        first.callbacks.hosts |= dict.fromkeys(hanging_ones, confirming(hanging))
        process = first if knows else again(first, GENEROUS, "first")
        process.publish("second")
        process.time.go(2.0)

        sent = Counter(exchange.callback.host for exchange in process.callbacks.sent)
        assert dict.fromkeys(healthy, 1) == {host: sent[host] for host in healthy}
        assert 100 <= len(process.callbacks.underway)


def test_who_is_slow_has_half_of_the_network_at_most() -> None:
    """So that however many there are, others begin at once in the next fan-out."""
    with living(GENEROUS) as process:
        slow = in_one_network(process, "slow", 200)
        process.callbacks.hosts |= dict.fromkeys(slow, confirming(hanging))
        process.publish("second")
        process.time.go(95.0)  # until they are called again
        healthy = in_one_network(process, "healthy", 5)
        assert IDLE_PER_PLACE * 16 // 2 == len(process.callbacks.underway)
        process.callbacks.sent.clear()
        process.publish("third")
        process.time.go(1.0)

        assert set(healthy) == {exchange.callback.host for exchange in process.callbacks.sent}


def test_a_delivery_costs_few_transactions_and_idleness_none() -> None:
    """Each is a sync of the disk; idle, it is a look a minute of each loop, and a sweep."""
    with living(GENEROUS) as process:
        subscribe(process, "healthy.example.org", 100)
        process.callbacks.latency = 0.05
        process.time.go(10.0)
        before = process.store.transactions
        process.publish("second")
        process.time.go(5.0)
        assert 100 == len(process.callbacks.sent)
        assert process.store.transactions - before < 250

        before = process.store.transactions
        process.time.go(3600.0)
        assert process.store.transactions - before <= 3 * 60 + 3


# A store that fails -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_a_store_that_fails_now_and_then_loses_nothing(seed: int) -> None:
    """D9, D3, D5: before and after the commit; in the end everybody has what is current."""
    chance = random.Random(seed)
    with living(GENEROUS) as process:
        subscribe(process, "a.example.org", 5)
        subscribe(process, "b.example.org", 5)
        process.store.latency = 0.01
        process.callbacks.latency = 0.2
        process.store.fault = lambda: chance.choice(["before", "after", None, None])
        for number in range(10):
            process.time.go(6.0)
            process.publish(f"change {number}")
        process.time.go(30.0)
        process.store.fault = lambda: None
        process.time.go(300.0)

        assert [(0, 0, 10)] == process.store.rows(
            "SELECT t.version - s.delivered_version, s.consecutive_failures, COUNT(*)"
            " FROM subscription s JOIN topic t ON t.id = s.topic_id GROUP BY 1, 2"
        )
        for callback in {exchange.callback for exchange in process.callbacks.sent}:
            bodies = [each.body for each in process.callbacks.sent if each.callback == callback]
            numbers = [int(body.rpartition(b" ")[2]) for body in bodies]
            assert sorted(numbers) == numbers
            assert 9 == numbers[-1]
        process.store.latency = None


def test_a_hub_whose_store_fails_at_the_start_begins_when_it_works() -> None:
    """D9."""
    with living() as process:
        process.post()
        process.stop()
        following = again(process)
        following.store.fault = lambda: "before"
        following.publish("second")
        following.time.go(100.0)
        assert [] == following.callbacks.sent
        following.store.fault = lambda: None
        following.time.go(2.0)

        assert [content(FEED, "second")] == following.callbacks.bodies()


# The end ------------------------------------------------------------------------------------------


def test_stopping_lets_deliveries_end_and_begins_no_more() -> None:
    """O4."""
    with living(GENEROUS) as process:
        subscribe(process, "a.example.org", 30)
        process.callbacks.latency = 10.0
        process.time.go(10.0)
        process.publish("second")
        process.stop()

        assert FIRST_SHARE == len(process.callbacks.sent)
        assert [] == process.callbacks.underway
        assert [(FIRST_SHARE,)] == process.store.rows(
            "SELECT COUNT(*) FROM subscription WHERE delivered_version = 2"
        )


def test_stopping_cuts_off_what_hangs_and_counts_it_as_no_failure() -> None:
    """O4: it lapses with its claim, and is sent after the start."""
    with living() as process:
        process.post()
        process.callbacks.behaviour = confirming(hanging)
        process.time.go(10.0)
        process.publish("second")
        process.stop()
        assert [] == process.callbacks.underway
        assert (0, 1) == row(process, "consecutive_failures, delivered_version")

        process.callbacks.behaviour = good
        after = again(process, text="second")
        after.time.go(6.0)
        assert 2 == row(after, "delivered_version")
        after.stop()
