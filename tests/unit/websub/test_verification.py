"""Verification of intent (seed 4.8, WebSub 5.3; H2 to H4, H12, H13, W5, W6, W11)."""

from collections.abc import Callable
from typing import Any

import pytest
from twisted.logger import capturedLogs, formatEvent

from reviewsd.config.schema import Callbacks, Deliveries, HubLimitsConfig
from reviewsd.config.schema import HubConfig as Settings
from reviewsd.websub.outbound.outcomes import AttemptOutcome
from reviewsd.websub.rate_limits import FIRST_BACKOFF, MAX_FAILURES
from reviewsd.websub.scheduler import BATCH_SECONDS
from reviewsd.websub.slots import FIRST_SHARE
from tests.support.hub import (
    BASE_URL,
    CALLBACK,
    FEED,
    UNANSWERED,
    Behaviour,
    Exchange,
    HubProcess,
    answered,
    good,
    hanging,
    living,
)

OPEN = HubLimitsConfig(
    requests_per_minute=10_000,
    requests_per_minute_and_host=10_000,
    active_per_host=10_000,
    pending_per_client=10_000,
)
GENEROUS = Settings(limits=OPEN)
HOST = "subscriber.example.org"


def subscriptions(process: HubProcess) -> list[tuple[Any, ...]]:
    return process.store.rows("SELECT * FROM subscription")


def pending(process: HubProcess) -> int:
    return len(process.store.rows("SELECT id FROM verification"))


def refuse(exchange: Exchange) -> AttemptOutcome | None:
    return answered(404)


def unreachable(exchange: Exchange) -> AttemptOutcome | None:
    return UNANSWERED


# What is asked ------------------------------------------------------------------------------------


def test_the_callback_is_asked_with_mode_topic_challenge_and_lease() -> None:
    """W11, W25: the topic as it was given; of unsubscribe no lease."""
    with living() as process:
        process.post(topic=f"{BASE_URL}{FEED}", lease_seconds="1")
        process.post(mode="unsubscribe", lease_seconds="77")

        subscribe, unsubscribe = [exchange.question for exchange in process.callbacks.asked]
        challenges = subscribe.pop("hub.challenge"), unsubscribe.pop("hub.challenge")
        given = {"id": "1", "hub.topic": f"{BASE_URL}{FEED}"}
        assert {**given, "hub.mode": "subscribe", "hub.lease_seconds": "300"} == subscribe
        assert {**given, "hub.topic": FEED, "hub.mode": "unsubscribe"} == unsubscribe
        assert 2 == len(set(challenges))


def test_verify_token_is_given_back_and_never_logged() -> None:
    """W4, W11: subscribers of PubSubHubbub 0.3 compare it, and it is a secret of theirs."""
    with living() as process, capturedLogs() as events:
        process.post(verify_token="t\u00f6ken&=\0")
        process.post(mode="unsubscribe", verify_token="other")
        process.post()

        tokens = [each.question.get("hub.verify_token") for each in process.callbacks.asked]
        assert ["t\u00f6ken&=\0", "other", None] == tokens
        assert "t\u00f6ken" not in str(events)


def test_verify_token_comes_with_the_second_try_too() -> None:
    with living() as process:
        process.callbacks.behaviour = unreachable
        process.post(verify_token="token")
        process.time.go(600.0)

        assert 2 * ["token"] == [
            each.question["hub.verify_token"] for each in process.callbacks.asked
        ]


@pytest.mark.parametrize(
    ("target", "begins"),
    [
        ("/cb", "/cb?hub.mode="),
        ("/cb?", "/cb?hub.mode="),
        ("/cb?b=2&a=1", "/cb?b=2&a=1&hub.mode="),
        ("/cb?q=%7e+%2F", "/cb?q=%7e+%2F&hub.mode="),
        ("/cb?hub.mode=mine", "/cb?hub.mode=mine&hub.mode="),
    ],
)
def test_the_callbacks_own_query_is_kept(target: str, begins: str) -> None:
    """W6, byte for byte."""
    with living() as process:
        process.callbacks.behaviour = hanging
        process.post(f"https://{HOST}{target}")

        (exchange,) = process.callbacks.asked
        assert begins == exchange.callback.target[: len(begins)]
        assert 1 == exchange.callback.target.count("hub.mode=subscribe")


# What confirms ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 201, 202, 299])
def test_the_exact_challenge_with_any_2xx_confirms(status: int) -> None:
    """H12."""
    with living() as process:
        process.callbacks.behaviour = lambda exchange: answered(
            status, exchange.question["hub.challenge"].encode()
        )
        process.post()

        assert 1 == len(subscriptions(process))
        assert 0 == pending(process)


@pytest.mark.parametrize(
    ("status", "before", "after"),
    [
        (200, b"", b"\n"),
        (200, b" ", b""),
        (200, b"\xef\xbb\xbf", b""),
        (200, b"", b"x"),
        (200, b"<p>", b"</p>"),
        (200, b"", b" " * 1024),
        (199, b"", b""),
        (300, b"", b""),
        (302, b"", b""),
        (404, b"", b""),
        (500, b"", b""),
    ],
)
def test_what_is_not_exactly_the_challenge_refuses(
    status: int, before: bytes, after: bytes
) -> None:
    """H12, W12."""
    with living() as process:
        process.callbacks.behaviour = lambda exchange: answered(
            status, before + exchange.question["hub.challenge"].encode() + after
        )
        process.post()
        process.time.go(300.0)

        assert [] == subscriptions(process)
        assert 0 == pending(process)
        assert 1 == len(process.callbacks.asked)


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        (b"", b"\n", "it has a line break after it"),
        (b"", b"\r\n", "it has a line break after it"),
        (b"\xef\xbb\xbf", b"", "it has a byte order mark before it"),
        (b"\xef\xbb\xbf", b"\n", "it has a byte order mark before and a line break after it"),
        (b" ", b"", "it has a blank before it"),
        (b'"', b'"', "it has a quotation mark before and a quotation mark after it"),
        (b"<p>", b"</p>\n", "it has other text before and other text after it"),
        (b"", b"\0", "it has other text after it"),
    ],
)
def test_log_says_what_differs_from_the_challenge(
    before: bytes, after: bytes, difference: str
) -> None:
    """A template that ends with a line break cannot be seen in a browser."""
    with living() as process, capturedLogs() as events:
        process.callbacks.behaviour = lambda exchange: answered(
            200, before + exchange.question["hub.challenge"].encode() + after
        )
        process.post()

    texts = [formatEvent(event) for event in events]
    assert f"subscribe at {HOST}: answered 200 with the challenge, but {difference}" in texts


@pytest.mark.parametrize(
    ("body", "difference"),
    [
        (b"", "answered 200 without a body"),
        (b"OK", "answered 200 without the challenge"),
    ],
)
def test_log_says_that_the_challenge_is_missing(body: bytes, difference: str) -> None:
    with living() as process, capturedLogs() as events:
        process.callbacks.behaviour = lambda _: answered(200, body)
        process.post()

    assert f"subscribe at {HOST}: {difference}" in [formatEvent(event) for event in events]


@pytest.mark.parametrize("change", [str.upper, lambda text: text[:-1], lambda _: ""])
def test_no_part_and_no_other_spelling_of_the_challenge_will_do(
    change: Callable[[str], str],
) -> None:
    """H12; an empty body is what a 204 has."""
    with living() as process:
        process.callbacks.behaviour = lambda exchange: answered(
            204, change(exchange.question["hub.challenge"]).encode()
        )
        process.post()

        assert [] == subscriptions(process)


def test_a_challenge_is_good_for_one_request() -> None:
    """H12: an answer with an older challenge confirms nothing."""
    with living() as process:
        process.callbacks.behaviour = hanging
        process.post()
        first = process.callbacks.asked[0].question["hub.challenge"].encode()
        process.post()
        process.callbacks.asked[1].ended.callback(answered(200, first))

        assert [] == subscriptions(process)


# Again --------------------------------------------------------------------------------------------


def test_no_answer_at_all_is_asked_once_more_after_30_seconds() -> None:
    """H4."""
    with living() as process:
        process.callbacks.behaviour = unreachable
        process.post()
        process.time.go(600.0)

        assert [0.0, 30.0] == [exchange.at for exchange in process.callbacks.asked]
        assert 0 == pending(process)


def test_a_callback_that_hangs_is_asked_once_more_30_seconds_after_the_timeout() -> None:
    with living() as process:
        process.callbacks.behaviour = hanging
        process.post()
        process.time.go(600.0)

        assert [0.0, 45.0] == [exchange.at for exchange in process.callbacks.asked]
        assert 0 == pending(process)


def test_the_second_try_may_confirm() -> None:
    with living() as process:
        process.callbacks.behaviour = unreachable
        process.post()
        process.callbacks.behaviour = good
        process.time.go(29.0)
        assert [] == subscriptions(process)
        process.time.go(1.0)
        assert 1 == len(subscriptions(process))


def test_a_newer_request_takes_the_place_of_the_older_one() -> None:
    """H4: what comes of the older one's attempt changes nothing."""
    with living() as process:
        process.callbacks.behaviour = hanging
        process.post(lease_seconds="1000")
        process.post(lease_seconds="2000")
        older, newer = process.callbacks.asked

        older.ended.callback(answered(404))
        assert 1 == pending(process)
        newer.ended.callback(good(newer))
        process.time.go(BATCH_SECONDS)

        assert [(2000,)] == process.store.rows("SELECT lease_seconds FROM subscription")


def test_a_request_that_nobody_confirms_is_forgotten_after_ten_minutes() -> None:
    """H5: here the hub is paused."""
    with living() as process:
        process.callbacks.behaviour = unreachable
        process.post()
        process.wait(process.operator.pause())
        process.time.go(599.0)
        assert 1 == pending(process)
        process.time.go(61.0)
        assert 0 == pending(process)


# An active subscription meanwhile ------------------------------------------------------------------


def test_a_renewal_counts_only_once_it_is_confirmed() -> None:
    """W5: then with its lease and secret, or none."""
    with living() as process:
        process.post(secret="old", lease_seconds="1000")
        before = subscriptions(process)
        process.time.go(100.0)
        process.callbacks.behaviour = hanging
        process.post(lease_seconds="5000")
        assert before == subscriptions(process)

        exchange = process.callbacks.asked[-1]
        process.time.go(5.0)
        exchange.ended.callback(good(exchange))

        now = process.time.now()
        assert [(None, 5000, now + 5_000_000, now)] == process.store.rows(
            "SELECT secret_sealed, lease_seconds, lease_expires_at, verified_at FROM subscription"
        )


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
@pytest.mark.parametrize("behaviour", [refuse, unreachable, hanging])
def test_who_does_not_confirm_leaves_the_row_as_it_was(mode: str, behaviour: Behaviour) -> None:
    """H13, I8, WebSub 5.1."""
    with living() as process:
        process.post(secret="old", lease_seconds="5000")
        before = subscriptions(process)
        process.callbacks.behaviour = behaviour
        process.post(mode=mode, lease_seconds="1000")
        process.time.go(200.0)

        assert before == subscriptions(process)
        assert 0 == pending(process)


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
def test_deliveries_go_on_while_the_callback_is_asked(mode: str) -> None:
    """H13, W23."""
    with living() as process:
        process.post()
        process.callbacks.behaviour = lambda exchange: (hanging if exchange.push is None else good)(
            exchange
        )
        process.post(mode=mode)
        process.time.go(10.0)
        process.publish("second")

        assert [b"/feed.xml second"] == process.callbacks.bodies()
        assert 1 == pending(process)


def test_an_unsubscription_counts_once_it_is_confirmed() -> None:
    """W23."""
    with living() as process:
        process.post()
        process.post(mode="unsubscribe")
        process.time.go(10.0)
        process.publish("second")
        process.time.go(10.0)

        assert [] == subscriptions(process)
        assert [] == process.callbacks.sent
        assert [(CALLBACK, FEED, "unsubscribed")] == process.store.rows(
            "SELECT callback, topic, reason FROM ended"
        )


def test_a_change_during_the_verification_is_delivered_after_it() -> None:
    with living() as process:
        process.callbacks.behaviour = hanging
        process.post()
        process.time.go(10.0)
        process.publish("second")
        process.callbacks.behaviour = good
        (exchange,) = process.callbacks.asked
        exchange.ended.callback(good(exchange))

        assert [b"/feed.xml second"] == process.callbacks.bodies()


def test_what_a_new_subscriber_could_read_when_he_asked_is_not_sent() -> None:
    with living() as process:
        process.post()
        process.time.go(300.0)

        assert [] == process.callbacks.sent


# Many ---------------------------------------------------------------------------------------------


def test_1000_requests_for_a_silent_host_are_few_requests_to_it() -> None:
    """H2, H3: few at once, and 28 at most before it is left in peace."""
    with living(GENEROUS) as process:
        process.callbacks.behaviour = hanging
        for number in range(1000):
            process.post(f"{CALLBACK}{number}", client=f"10.{number // 256}.{number % 256}.1/32")
        assert FIRST_SHARE == len(process.callbacks.asked)
        process.time.go(90.0)

        assert FIRST_SHARE == process.callbacks.most[HOST]
        assert MAX_FAILURES <= len(process.callbacks.asked) <= MAX_FAILURES + 8


def test_a_verification_is_made_for_who_asked_for_it() -> None:
    """So that his names, if nobody answers for them, keep threads from nobody else."""
    with living() as process:
        for client in ("192.0.2.1/32", "192.0.2.2/32"):
            process.post(client=client)

        assert ["192.0.2.1/32", "192.0.2.2/32"] == process.callbacks.requesters


def strike(process: HubProcess) -> None:
    """Have the host left in peace."""
    before, process.callbacks.behaviour = process.callbacks.behaviour, refuse
    for number in range(MAX_FAILURES):
        process.post(f"{CALLBACK}strike{number}")
    process.callbacks.behaviour = before


def test_a_host_that_keeps_failing_is_left_in_peace_for_a_minute() -> None:
    """H3."""
    with living(GENEROUS) as process:
        strike(process)
        count = len(process.callbacks.asked)

        answer = process.post()

        assert (429, FIRST_BACKOFF) == (answer.status, answer.retry_after)
        assert count == len(process.callbacks.asked)
        assert 202 == process.post("https://other.example.org/").status
        process.time.go(60.0)
        assert 202 == process.post().status
        assert 2 == len(subscriptions(process))


def test_after_that_it_is_asked_one_thing_at_a_time_until_it_confirms() -> None:
    """H3."""
    with living(GENEROUS) as process:
        strike(process)
        process.time.go(60.0)
        process.callbacks.latency = 1.0
        count = len(process.callbacks.asked)
        for number in range(20):
            process.post(f"{CALLBACK}{number}")
        assert count + 1 == len(process.callbacks.asked)

        process.time.go(60.0)
        assert 20 == len(subscriptions(process))
        assert 8 == process.callbacks.most[HOST]


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
def test_who_is_active_is_asked_although_his_host_is_left_in_peace(mode: str) -> None:
    """H3: "a renewal during back-off succeeds"."""
    with living(GENEROUS) as process:
        process.post(lease_seconds="1000")
        strike(process)
        process.time.go(1.0)

        assert 202 == process.post(mode=mode, lease_seconds="2000").status

        assert ([(2000,)] if mode == "subscribe" else []) == process.store.rows(
            "SELECT lease_seconds FROM subscription"
        )


def test_failures_of_who_is_active_hurt_nobody() -> None:
    """H3."""
    with living(GENEROUS) as process:
        process.post()
        process.callbacks.behaviour = refuse
        for _ in range(2 * MAX_FAILURES):
            process.post()

        assert 202 == process.post(f"{CALLBACK}new").status


def test_failures_in_an_opened_network_hurt_no_third_party() -> None:
    """H3, E9."""
    opened = Settings(limits=OPEN, callbacks=Callbacks(allow_networks=("10.0.0.0/8",)))
    with living(opened) as process:
        process.callbacks.addresses[HOST] = "10.1.2.3"
        strike(process)

        assert 202 == process.post().status


def test_what_waited_while_its_host_was_left_in_peace_is_asked_after_it() -> None:
    with living(GENEROUS) as process:
        process.callbacks.behaviour = hanging
        for number in range(60):
            process.post(f"{CALLBACK}{number}")
        process.time.go(50.0)
        count = len(process.callbacks.asked)
        process.callbacks.behaviour = good
        process.time.go(300.0)

        assert count < len(process.callbacks.asked)
        assert 60 - count <= len(subscriptions(process))


def test_network_never_sees_more_verifications_than_its_limit() -> None:
    """16 at a time, however many names an attacker has for its victim, and whether they hang (H2)."""
    with living(GENEROUS) as process:
        process.callbacks.behaviour = hanging
        for number in range(100):
            host = f"h{number}.example.org"
            process.callbacks.addresses[host] = f"11.1.1.{number}"
            process.post(f"https://{host}/", client=f"192.0.2.{number}/32")
        assert 0 < process.callbacks.turned_away
        for _ in range(20):
            assert 16 == len(process.callbacks.underway)
            process.time.go(0.1)

        process.callbacks.behaviour = good
        process.time.go(60.0)
        assert 100 == len(subscriptions(process))


def test_verification_in_a_full_network_waits_for_a_place() -> None:
    """Nothing was attempted, so nothing counts as an attempt (H8)."""
    with living(GENEROUS) as process:
        process.callbacks.behaviour = hanging
        for number in range(16):
            process.callbacks.addresses[f"h{number}.example.org"] = "11.1.1.1"
            process.post(f"https://h{number}.example.org/")
        process.callbacks.addresses[HOST] = "11.1.1.2"
        process.callbacks.hosts[HOST] = good
        process.post(client="192.0.2.99/32")
        assert 1 == process.callbacks.turned_away
        assert [(0,)] == process.store.rows(
            "SELECT attempts FROM verification WHERE callback_host = ?", HOST
        )

        process.time.go(1.0)
        assert [] == subscriptions(process)
        process.callbacks.underway[0].ended.callback(answered(404))
        process.time.go(2 * BATCH_SECONDS)
        assert 1 == len(subscriptions(process))
        assert 1 == process.callbacks.turned_away


def test_a_host_that_hangs_delays_no_other() -> None:
    """H2."""
    with living(Settings(limits=OPEN, delivery=Deliveries())) as process:
        process.callbacks.hosts[HOST] = hanging
        for number in range(100):
            process.post(f"{CALLBACK}{number}")
        process.post("https://healthy.example.net/")
        process.time.go(2 * BATCH_SECONDS)

        assert 1 == len(subscriptions(process))


def test_answers_and_secrets_are_not_in_the_log() -> None:
    """O8: never a callback's path or query, never a challenge."""
    with capturedLogs() as events, living() as process:
        for behaviour in (good, refuse, unreachable):
            process.callbacks.behaviour = behaviour
            process.post(f"https://{HOST}/path-canary?canary", secret="canary")
            process.time.go(100.0)
            process.publish(str(behaviour))

    logged = [str(formatEvent(event)) for event in events]
    assert any("subscribe at subscriber.example.org: confirmed" in line for line in logged)
    assert [] == [line for line in logged if "canary" in line or "token-" in line]
