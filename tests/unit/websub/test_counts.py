"""What the hub counts of what happens to it (O9)."""

import pytest

from reviewsd.config.schema import Deliveries, HubLimitsConfig
from reviewsd.config.schema import HubConfig as Settings
from reviewsd.domain.callback import Refusal
from reviewsd.websub import subscribe
from reviewsd.websub.outbound.outcomes import AttemptOutcome
from tests.support.hub import (
    CALLBACK,
    UNANSWERED,
    Behaviour,
    Exchange,
    HubProcess,
    answered,
    good,
    hanging,
    living,
)


def counted(process: HubProcess, name: str) -> dict[str, float]:
    """What was counted under a name, by the value of its label."""
    counts = process.endpoint._context.counters.counts()
    return {
        key.partition(" ")[2]: number for key, number in counts.items() if key.split(" ")[0] == name
    }


def lost(exchange: Exchange) -> AttemptOutcome | None:
    return UNANSWERED


@pytest.mark.parametrize(
    ("callback", "refusal"),
    [
        ("http://subscriber.example.org/", Refusal.NOT_HTTPS),
        ("https://127.0.0.1/", Refusal.IP_LITERAL),
        ("https://subscriber.example.org:22/", Refusal.PORT_NOT_ALLOWED),
        ("https://localhost.internal/", Refusal.SPECIAL_USE_DOMAIN),
    ],
)
def test_a_refused_callback_is_counted_by_its_reason(callback: str, refusal: Refusal) -> None:
    with living() as process:
        process.post(callback)
        assert {refusal.value: 1} == counted(process, "callback_refused_total")


def test_what_is_wrong_with_the_rest_of_a_request_is_no_refused_callback() -> None:
    with living() as process:
        assert 400 == process.post(mode="publish").status
        assert {} == counted(process, "callback_refused_total")


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (HubLimitsConfig(requests_per_minute=1), "requests-per-minute"),
        (HubLimitsConfig(requests_per_minute_and_host=1), "requests-per-minute-and-host"),
        (HubLimitsConfig(active=1), "active"),
        (HubLimitsConfig(active_per_host=1), "active-per-host"),
        (HubLimitsConfig(pending=1), "pending"),
    ],
)
def test_a_request_over_a_limit_is_counted_by_the_limit(
    limits: HubLimitsConfig, limit: str
) -> None:
    with living(Settings(limits=limits)) as process:
        process.callbacks.behaviour = hanging if limit == "pending" else good
        statuses = [process.post(f"{CALLBACK}/{number}").status for number in range(2)]
        assert [202, 429] == statuses
        assert {limit: 1} == counted(process, "ratelimited_total")
        assert limit in subscribe.LIMITS


@pytest.mark.parametrize(
    ("behaviour", "result"),
    [
        (good, "confirmed"),
        (lambda _: answered(404), "not-confirmed"),
        (lambda _: answered(200, b"no"), "not-confirmed"),
        (lost, "unreachable"),
    ],
)
def test_a_verification_is_counted_by_its_result(behaviour: Behaviour, result: str) -> None:
    with living() as process:
        process.callbacks.behaviour = behaviour
        process.post()
        assert {result: 1} == counted(process, "verification_total")


@pytest.mark.parametrize(
    ("behaviour", "result"),
    [
        (lambda _: answered(204), "delivered"),
        (lambda _: answered(500), "failed"),
        (lost, "failed"),
        (lambda _: answered(410), "gone"),
    ],
)
def test_a_delivery_is_counted_by_its_result(behaviour: Behaviour, result: str) -> None:
    with living(Settings(delivery=Deliveries(jitter=0.0))) as process:
        process.callbacks.behaviour = good
        process.post()
        process.time.go(10.0)
        process.callbacks.behaviour = behaviour
        process.publish("second")
        assert {result: 1} == counted(process, "delivery_attempts_total")
