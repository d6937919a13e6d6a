"""The counters of the hub (O9)."""

import pytest

from reviewsd.config.hub_schema import HubConfig as Settings
from reviewsd.config.hub_schema import HubLimitsConfig
from reviewsd.domain.callback import Refusal
from reviewsd.domain.subscription import CAPS, Caps
from reviewsd.websub import requests
from reviewsd.websub.hub import HubLimits
from tests.support.hub import (
    CALLBACK,
    Answer,
    Behavior,
    HubProcess,
    good,
    hanging,
    hub_process,
    lost,
)


def counted(process: HubProcess, name: str) -> dict[str, float]:
    """Return the counts of a name by the value of their label."""
    counts = process.context.counters.counts()
    return {
        key.partition(" ")[2]: number for key, number in counts.items() if key.split(" ")[0] == name
    }


@pytest.mark.parametrize(
    ("callback", "refusal"),
    [
        ("http://subscriber.example.org/", Refusal.NOT_HTTPS),
        ("https://127.0.0.1/", Refusal.IP_LITERAL),
        ("https://subscriber.example.org:22/", Refusal.PORT_NOT_ALLOWED),
        ("https://localhost.internal/", Refusal.SPECIAL_USE_DOMAIN),
    ],
)
def test_refused_callback_is_counted_by_reason(callback: str, refusal: Refusal) -> None:
    with hub_process() as process:
        process.post(callback)
        assert {refusal.value: 1} == counted(process, "callback_refused_total")


@pytest.mark.parametrize(
    ("configured", "caps", "limit"),
    [
        (HubLimitsConfig(requests_per_minute=1), CAPS, "requests-per-minute"),
        (HubLimitsConfig(), Caps(active=1), "active"),
        (HubLimitsConfig(active_per_host=1), CAPS, "active-per-host"),
        (HubLimitsConfig(), Caps(pending=1), "pending"),
    ],
)
def test_request_over_a_limit_is_counted_by_limit(
    configured: HubLimitsConfig, caps: Caps, limit: str
) -> None:
    with hub_process(Settings(limits=configured), limits=HubLimits(caps=caps)) as process:
        process.callbacks.behavior = hanging if limit == "pending" else good
        statuses = [process.post(f"{CALLBACK}/{number}").status for number in range(2)]
        assert [202, 429] == statuses
        assert {limit: 1} == counted(process, "ratelimited_total")
        assert limit in requests.LIMITS


def test_request_over_the_limit_of_its_host_is_counted() -> None:
    with hub_process(Settings(limits=HubLimitsConfig(requests_per_minute=1))) as process:
        for number in range(2):
            process.post(f"{CALLBACK}/{number}", client=f"192.0.2.{number}/32")
        assert {"requests-per-minute-and-host": 1} == counted(process, "ratelimited_total")


@pytest.mark.parametrize(
    ("behavior", "result"),
    [
        (good, "confirmed"),
        (lambda _: Answer(404), "not-confirmed"),
        (lambda _: Answer(200, b"no"), "not-confirmed"),
        (lost, "unreachable"),
    ],
)
def test_verification_is_counted_by_result(behavior: Behavior, result: str) -> None:
    with hub_process() as process:
        process.callbacks.behavior = behavior
        process.post()
        assert {result: 1} == counted(process, "verification_total")


@pytest.mark.parametrize(
    ("behavior", "result"),
    [
        (lambda _: Answer(204), "delivered"),
        (lambda _: Answer(500), "failed"),
        (lost, "failed"),
        (lambda _: Answer(410), "gone"),
    ],
)
def test_delivery_is_counted_by_result(behavior: Behavior, result: str) -> None:
    with hub_process() as process:
        process.callbacks.behavior = good
        process.post()
        process.time.advance(10.0)
        process.callbacks.behavior = behavior
        process.publish("second")
        assert {result: 1} == counted(process, "delivery_attempts_total")
