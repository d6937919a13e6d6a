"""Verification of intent (seed 4.8, WebSub 5.3)."""

from collections.abc import Callable
from typing import Any

import pytest
from twisted.logger import capturedLogs, formatEvent

from reviewsd.config.hub_schema import Callbacks
from reviewsd.config.hub_schema import HubConfig as Settings
from reviewsd.store.upkeep import EXPIRY_SECONDS
from reviewsd.websub.rate_limits import FIRST_BACKOFF, MAX_FAILURES
from reviewsd.websub.scheduler import BATCH_SECONDS
from reviewsd.websub.slots import FIRST_SHARE
from tests.support.hub import (
    BASE_URL,
    CALLBACK,
    FEED,
    GENEROUS,
    OPEN,
    Answer,
    Behavior,
    Exchange,
    HubProcess,
    Outcome,
    good,
    hanging,
    hub_process,
    lost,
)

HOST = "subscriber.example.org"


def subscriptions(process: HubProcess) -> list[tuple[Any, ...]]:
    return process.store.rows("SELECT * FROM subscription")


def pending(process: HubProcess) -> int:
    return len(process.store.rows("SELECT id FROM verification"))


def refuse(_exchange: Exchange) -> Outcome | None:
    return Answer(404)


# The request ------------------------------------------------------------------------------------


def test_get_has_mode_topic_challenge_and_lease(process: HubProcess) -> None:
    """The topic is as it was requested; an unsubscribe has no lease (W11, W25)."""
    process.post(topic=f"{BASE_URL}{FEED}", lease_seconds="1")
    process.post(mode="unsubscribe", lease_seconds="77")

    subscribe, unsubscribe = [exchange.query for exchange in process.callbacks.gets]
    challenges = subscribe.pop("hub.challenge"), unsubscribe.pop("hub.challenge")
    expected = {"id": "1", "hub.topic": f"{BASE_URL}{FEED}"}
    assert {**expected, "hub.mode": "subscribe", "hub.lease_seconds": "300"} == subscribe
    assert {**expected, "hub.topic": FEED, "hub.mode": "unsubscribe"} == unsubscribe
    assert 2 == len(set(challenges))


def test_verify_token_is_returned_and_never_logged() -> None:
    """Subscribers of PubSubHubbub 0.3 compare it, and it is their secret (W4, W11)."""
    with hub_process() as process, capturedLogs() as events:
        process.post(verify_token="t\u00f6ken&=\0")
        process.post(mode="unsubscribe", verify_token="other")
        process.post()
        tokens = [exchange.query.get("hub.verify_token") for exchange in process.callbacks.gets]
        assert ["t\u00f6ken&=\0", "other", None] == tokens
        assert "t\u00f6ken" not in str(events)


@pytest.mark.parametrize(
    ("target", "beginning"),
    [
        ("/cb", "/cb?hub.mode="),
        ("/cb?q=%7e+%2F&hub.mode=mine", "/cb?q=%7e+%2F&hub.mode=mine&hub.mode="),
    ],
)
def test_query_of_the_callback_is_kept(process: HubProcess, target: str, beginning: str) -> None:
    """Byte for byte (W6)."""
    process.callbacks.behavior = hanging
    process.post(f"https://{HOST}{target}")
    (exchange,) = process.callbacks.gets
    assert beginning == exchange.callback.target[: len(beginning)]
    assert 1 == exchange.callback.target.count("hub.mode=subscribe")


# The response ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 201, 202, 299])
def test_exact_challenge_with_any_2xx_confirms(process: HubProcess, status: int) -> None:
    process.callbacks.behavior = lambda exchange: Answer(
        status, exchange.query["hub.challenge"].encode()
    )
    process.post()
    assert 1 == len(subscriptions(process))
    assert 0 == pending(process)
    assert {"verification_total confirmed": 1} == process.context.counters.counts()


@pytest.mark.parametrize(
    ("status", "body", "difference"),
    [
        (200, b"{}\n", "200 with a line break after the challenge"),
        (200, b"{}\r\n", "200 with a line break after the challenge"),
        (200, b"\xef\xbb\xbf{}", "200 with a byte order mark before the challenge"),
        (
            200,
            b"\xef\xbb\xbf{}\n",
            "200 with a byte order mark before and a line break after the challenge",
        ),
        (200, b" {}", "200 with white space before the challenge"),
        (200, b"{}" + b" " * 1024, "200 with white space after the challenge"),
        (200, b'"{}"', "200 with a quotation mark before and a quotation mark after the challenge"),
        (200, b"<p>{}</p>\n", "200 with other text before and other text after the challenge"),
        (200, b"{}\0", "200 with other text after the challenge"),
        (200, b"{}x", "200 with other text after the challenge"),
        (200, b"", "200 without a body"),
        (200, b"OK", "200 without the challenge"),
        (300, b"{}", "300"),
        (302, b"{}", "302"),
        (404, b"{}", "404"),
        (500, b"{}", "500"),
    ],
)
def test_other_body_or_status_ends_the_intent_and_is_logged(
    status: int, body: bytes, difference: str
) -> None:
    """Nothing is trimmed, and no redirect is followed (H12, W12); a browser shows no line break at the end."""
    with hub_process() as process, capturedLogs() as events:
        process.callbacks.behavior = lambda exchange: Answer(
            status, body.replace(b"{}", exchange.query["hub.challenge"].encode())
        )
        process.post()
        process.time.advance(300.0)

        assert [] == subscriptions(process)
        assert 0 == pending(process)
        assert 1 == len(process.callbacks.gets)
        assert {"verification_total not-confirmed": 1} == process.context.counters.counts()
    lines = [formatEvent(event) for event in events]
    assert f"subscribe at {HOST}: answered {difference}" in lines


@pytest.mark.parametrize("change", [str.upper, lambda text: text[:-1]])
def test_part_of_the_challenge_does_not_confirm(
    process: HubProcess, change: Callable[[str], str]
) -> None:
    """Nor does another spelling."""
    process.callbacks.behavior = lambda exchange: Answer(
        200, change(exchange.query["hub.challenge"]).encode()
    )
    process.post()
    assert [] == subscriptions(process)


def test_challenge_of_an_earlier_request_does_not_confirm(process: HubProcess) -> None:
    process.callbacks.behavior = hanging
    process.post()
    first = process.callbacks.gets[0].query["hub.challenge"].encode()
    process.post()
    process.callbacks.gets[1].outcome.callback(Answer(200, first))
    assert [] == subscriptions(process)


# Retries --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("behavior", "second"), [(lost, 30.0), (hanging, 45.0)])
def test_missing_response_is_retried_once_after_30_s(
    process: HubProcess, behavior: Behavior, second: float
) -> None:
    process.callbacks.behavior = behavior
    process.post()
    process.time.advance(600.0)
    assert [0.0, second] == [exchange.at for exchange in process.callbacks.gets]
    assert 0 == pending(process)
    assert {"verification_total unreachable": 2} == process.context.counters.counts()


def test_newer_request_replaces_the_older_one(process: HubProcess) -> None:
    """The result of the older attempt changes nothing (H4)."""
    process.callbacks.behavior = hanging
    process.post(lease_seconds="1000")
    process.post(lease_seconds="2000")
    older, newer = process.callbacks.gets

    older.outcome.callback(Answer(404))
    assert 1 == pending(process)
    newer.outcome.callback(good(newer))
    process.time.advance(BATCH_SECONDS)

    assert [(2000,)] == process.store.rows("SELECT lease_seconds FROM subscription")


def test_unconfirmed_request_is_removed_when_expired_on_two_looks(process: HubProcess) -> None:
    """It expires after ten minutes (H5), here because the hub is paused."""
    process.callbacks.behavior = lost
    process.post()
    process.wait(process.operator.pause())
    process.time.advance(599.0)
    assert 1 == pending(process)
    process.time.advance(2 * EXPIRY_SECONDS)
    assert 0 == pending(process)


# An active subscription ------------------------------------------------------------------


def test_renewal_counts_once_it_is_confirmed(process: HubProcess) -> None:
    """Then with its lease, and its secret or none (W5)."""
    process.post(secret="old", lease_seconds="1000")
    before = subscriptions(process)
    process.time.advance(100.0)
    process.callbacks.behavior = hanging
    process.post(lease_seconds="5000")
    assert before == subscriptions(process)

    exchange = process.callbacks.gets[-1]
    process.time.advance(5.0)
    exchange.outcome.callback(good(exchange))

    now = process.time.now()
    assert [(None, 5000, now + 5_000_000, now)] == process.store.rows(
        "SELECT secret_sealed, lease_seconds, lease_expires_at, verified_at FROM subscription"
    )


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
@pytest.mark.parametrize("behavior", [refuse, lost, hanging])
def test_failed_verification_leaves_the_row_unchanged(
    process: HubProcess, mode: str, behavior: Behavior
) -> None:
    """WebSub 5.1 (H13, I8)."""
    process.post(secret="old", lease_seconds="5000")
    before = subscriptions(process)
    process.callbacks.behavior = behavior
    process.post(mode=mode, lease_seconds="1000")
    process.time.advance(200.0)
    assert before == subscriptions(process)
    assert 0 == pending(process)


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
def test_deliveries_continue_during_a_verification(process: HubProcess, mode: str) -> None:
    process.post()
    process.callbacks.behavior = lambda exchange: (hanging if not exchange.is_delivery else good)(
        exchange
    )
    process.post(mode=mode)
    process.time.advance(10.0)
    process.publish("second")

    assert [b"/feed.xml second"] == process.callbacks.bodies()
    assert 1 == pending(process)


def test_change_during_the_verification_is_delivered_after_it(process: HubProcess) -> None:
    process.callbacks.behavior = hanging
    process.post()
    process.time.advance(10.0)
    process.publish("second")
    process.callbacks.behavior = good
    (exchange,) = process.callbacks.gets
    exchange.outcome.callback(good(exchange))
    assert [b"/feed.xml second"] == process.callbacks.bodies()


# Limits ---------------------------------------------------------------------------------------------


def test_silent_host_gets_few_of_300_verifications() -> None:
    """Few at a time, and at most 28 before its back-off (H2, H3)."""
    with hub_process(GENEROUS) as process:
        process.callbacks.behavior = hanging
        for number in range(300):
            process.post(f"{CALLBACK}{number}", client=f"10.{number // 256}.{number % 256}.1/32")
        assert FIRST_SHARE == len(process.callbacks.gets)
        process.time.advance(90.0)
        assert FIRST_SHARE == process.callbacks.peak[HOST]
        assert MAX_FAILURES <= len(process.callbacks.gets) <= MAX_FAILURES + 8


def test_verification_counts_for_its_requester(process: HubProcess) -> None:
    """Its names hold no threads of other requesters while their servers are silent."""
    for client in ("192.0.2.1/32", "192.0.2.2/32"):
        process.post(client=client)
    assert ["192.0.2.1/32", "192.0.2.2/32"] == process.callbacks.requesters


def back_off(process: HubProcess) -> None:
    """Let verifications of the host fail until it is backed off."""
    before, process.callbacks.behavior = process.callbacks.behavior, refuse
    for number in range(MAX_FAILURES):
        process.post(f"{CALLBACK}failing{number}")
    process.callbacks.behavior = before


def test_failing_host_is_not_called_for_a_minute() -> None:
    with hub_process(GENEROUS) as process:
        back_off(process)
        count = len(process.callbacks.gets)

        response = process.post()

        assert (429, FIRST_BACKOFF) == (response.status, response.retry_after)
        assert count == len(process.callbacks.gets)
        assert 202 == process.post("https://other.example.org/").status
        process.time.advance(60.0)
        assert 202 == process.post().status
        assert 2 == len(subscriptions(process))


def test_host_after_back_off_is_verified_one_at_a_time() -> None:
    with hub_process(GENEROUS) as process:
        back_off(process)
        process.time.advance(60.0)
        process.callbacks.latency = 1.0
        count = len(process.callbacks.gets)
        for number in range(20):
            process.post(f"{CALLBACK}{number}")
        assert count + 1 == len(process.callbacks.gets)

        process.time.advance(60.0)
        assert 20 == len(subscriptions(process))
        assert 8 == process.callbacks.peak[HOST]


@pytest.mark.parametrize("mode", ["subscribe", "unsubscribe"])
def test_active_pair_is_verified_during_back_off(mode: str) -> None:
    with hub_process(GENEROUS) as process:
        process.post(lease_seconds="1000")
        back_off(process)
        process.time.advance(1.0)
        assert 202 == process.post(mode=mode, lease_seconds="2000").status
        assert ([(2000,)] if mode == "subscribe" else []) == process.store.rows(
            "SELECT lease_seconds FROM subscription"
        )


def test_failures_of_an_active_pair_cause_no_back_off() -> None:
    with hub_process(GENEROUS) as process:
        process.post()
        process.callbacks.behavior = refuse
        for _ in range(2 * MAX_FAILURES):
            process.post()
        assert 202 == process.post(f"{CALLBACK}new").status


def test_failures_in_an_opened_network_cause_no_back_off() -> None:
    """They harm no third party (E9)."""
    opened = Settings(limits=OPEN, callbacks=Callbacks(allow_networks=("10.0.0.0/8",)))
    with hub_process(opened) as process:
        process.callbacks.addresses[HOST] = "10.1.2.3"
        back_off(process)
        assert 202 == process.post().status


def test_intents_that_waited_during_back_off_are_verified_after_it() -> None:
    with hub_process(GENEROUS) as process:
        process.callbacks.behavior = hanging
        for number in range(60):
            process.post(f"{CALLBACK}{number}")
        process.time.advance(50.0)
        count = len(process.callbacks.gets)
        process.callbacks.behavior = good
        process.time.advance(300.0)

        assert count < len(process.callbacks.gets)
        assert 60 - count <= len(subscriptions(process))


def test_network_never_sees_more_verifications_than_its_limit() -> None:
    """16 at a time, however many names an attacker has for its victim, and whether they hang (H2)."""
    with hub_process(GENEROUS) as process:
        process.callbacks.behavior = hanging
        for number in range(100):
            host = f"h{number}.example.org"
            process.callbacks.addresses[host] = f"11.1.1.{number}"
            process.post(f"https://{host}/", client=f"192.0.2.{number}/32")
        assert 0 < process.callbacks.turned_away
        for _ in range(20):
            assert 16 == len(process.callbacks.running)
            process.time.advance(0.1)

        process.callbacks.behavior = good
        process.time.advance(60.0)
        assert 100 == len(subscriptions(process))


def test_verification_in_a_full_network_waits_for_a_place() -> None:
    """Nothing was attempted, so nothing counts as an attempt (H8)."""
    with hub_process(GENEROUS) as process:
        process.callbacks.behavior = hanging
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

        process.time.advance(1.0)
        assert [] == subscriptions(process)
        process.callbacks.running[0].outcome.callback(Answer(404))
        process.time.advance(2 * BATCH_SECONDS)
        assert 1 == len(subscriptions(process))
        assert 1 == process.callbacks.turned_away


def test_log_has_no_challenge_secret_or_path() -> None:
    """O8."""
    with capturedLogs() as events, hub_process() as process:
        for behavior in (good, refuse, lost):
            process.callbacks.behavior = behavior
            process.post(f"https://{HOST}/path-canary?canary", secret="canary")
            process.time.advance(100.0)
            process.publish(str(behavior))

    logged = [str(formatEvent(event)) for event in events]
    assert any("subscribe at subscriber.example.org: confirmed" in line for line in logged)
    assert [] == [line for line in logged if "canary" in line or "token-" in line]
