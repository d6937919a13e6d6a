"""Requests to the hub: what is stored, what is refused (H1, H2, H5, H18, E14, D1, D9)."""

from collections.abc import Callable

import pytest

from reviewsd.config.hub_schema import HubConfig as Settings
from reviewsd.config.hub_schema import HubLimitsConfig
from reviewsd.domain.subscription import Caps
from reviewsd.store.transactions import StoreError
from reviewsd.websub import requests
from reviewsd.websub.hub import HubLimits
from reviewsd.websub.requests import HubResponse
from tests.support.hub import (
    BASE_URL,
    CALLBACK,
    FEED,
    REVIEWS,
    Answer,
    HubProcess,
    good,
    hanging,
    hub_process,
    lost,
    result_of,
)

COUNT = "SELECT COUNT(*) FROM verification"
ACTIVE = "SELECT callback, topic_id FROM subscription"


def host(number: int) -> str:
    return f"https://s{number}.example.org/cb"


def ratelimited(process: HubProcess) -> dict[str, float]:
    """Return the number of requests over each limit (O9)."""
    counts = process.context.counters.counts()
    return {
        key.partition(" ")[2]: number
        for key, number in counts.items()
        if key.startswith("ratelimited_total ")
    }


def test_request_is_stored_before_its_response() -> None:
    """D1, W8."""
    with hub_process() as process:
        process.callbacks.behavior = hanging
        response = process.post(secret="s", lease_seconds="5")

        assert 202 == response.status
        assert [(CALLBACK, "subscribe", "subscriber.example.org", 300, FEED, "192.0.2.7/32")] == (
            process.store.rows(
                "SELECT callback, mode, callback_host, lease_seconds, topic_given, requester"
                " FROM verification"
            )
        )


def test_failing_store_accepts_no_request(process: HubProcess) -> None:
    """The route responses 503 (D9)."""
    process.store.fault = lambda: "before"
    with pytest.raises(StoreError):
        process.post()
    process.store.fault = lambda: None
    assert [(0,)] == process.store.rows(COUNT)
    assert 202 == process.post().status


def test_secret_is_sealed_in_the_store(process: HubProcess) -> None:
    """H11."""
    process.post(secret="canary")
    assert b"canary" not in process.store.connection.serialize()
    ((sealed,),) = process.store.rows("SELECT secret_sealed FROM subscription")
    assert b"canary" == process.secrets.unseal(sealed, CALLBACK, FEED)


def test_response_reveals_nothing_about_the_callback() -> None:
    """It is the same for known and unknown pairs, and all kinds of callbacks (E14)."""
    responses: set[HubResponse] = set()
    with hub_process() as process:
        behaviors = (good, hanging, lost, lambda _: Answer(404))
        for number, behavior in enumerate(behaviors):
            process.callbacks.behavior = behavior
            for mode in ("subscribe", "unsubscribe", "subscribe", "unsubscribe"):
                responses.add(process.post(host(number), mode))
                process.time.advance(61.0)

    assert {202} == {response.status for response in responses}
    assert 1 == len(responses)


def test_unsubscribe_of_an_unknown_pair_calls_no_callback(process: HubProcess) -> None:
    """A pending request stays (contract 5)."""
    assert 202 == process.post(mode="unsubscribe").status
    assert [] == process.callbacks.gets
    process.callbacks.behavior = hanging
    process.post()
    assert 202 == process.post(mode="unsubscribe").status
    assert [("subscribe",)] == process.store.rows("SELECT mode FROM verification")
    assert 1 == len(process.callbacks.gets)


def test_hub_without_data_returns_503() -> None:
    with hub_process(text=None) as process:
        response = process.post()
        assert (503, 5) == (response.status, response.retry_after)


def test_30_of_150_requests_of_a_network_are_refused(process: HubProcess) -> None:
    """Another network is served meanwhile (H1)."""
    responses = [process.post(host(number)) for number in range(150)]
    assert 120 * [202] + 30 * [429] == [response.status for response in responses]
    assert 1 == responses[-1].retry_after
    assert {"requests-per-minute": 30} == ratelimited(process)
    assert 202 == process.post(client="192.0.2.8/32").status


@pytest.mark.parametrize("client", ["2001:db8:7:{:x}::/64", "192.0.2.{}/32"])
def test_network_of_clients_has_four_times_the_rate(client: str) -> None:
    """Else nine of its 65,536 clients could fill the hub with pending requests (H1)."""
    with hub_process(Settings(limits=HubLimitsConfig(requests_per_minute=5))) as process:
        responses = [
            process.post(host(number), client=client.format(number)) for number in range(25)
        ]
        assert 20 * [202] + 5 * [429] == [response.status for response in responses]
        assert 202 == process.post(client="2001:db8:8::/64").status
        assert 202 == process.post(client="local").status


def test_malformed_requests_count(process: HubProcess) -> None:
    """They cost as much (H1)."""
    responses = [
        result_of(process.requests.receive(b"nonsense", None, "192.0.2.9/32")) for _ in range(121)
    ]
    assert 120 * [415] + [429] == [response.status for response in responses]


def test_requests_for_a_host_are_limited_for_all_clients() -> None:
    """120 a minute (H2)."""
    with hub_process(Settings(limits=HubLimitsConfig(active_per_host=1000))) as process:
        responses = [
            process.post(f"{CALLBACK}{number}", client=f"10.0.0.{number}/32")
            for number in range(125)
        ]
        assert 120 * [202] + 5 * [429] == [response.status for response in responses]
        assert "callback host" in responses[-1].text
        assert {"requests-per-minute-and-host": 5} == ratelimited(process)


def test_active_pair_renews_at_a_crowded_host() -> None:
    """Else strangers could let its lease expire (H5)."""
    with hub_process(Settings(limits=HubLimitsConfig(active_per_host=1000))) as process:
        assert 202 == process.post().status
        for number in range(125):
            process.post(f"{CALLBACK}{number}", client=f"10.0.0.{number}/32")
        assert 429 == process.post(f"{CALLBACK}new").status
        assert 202 == process.post().status
        assert 202 == process.post(mode="unsubscribe").status


def test_paused_hub_returns_503(process: HubProcess) -> None:
    process.wait(process.operator.pause())
    response = process.post()
    assert (503, 300) == (response.status, response.retry_after)
    assert [(0,)] == process.store.rows(COUNT)
    process.wait(process.operator.resume())
    assert 202 == process.post().status


def test_blocked_host_is_refused_with_all_names_below_it(process: HubProcess) -> None:
    """H7."""
    process.wait(process.operator.block("Example.ORG.", "abuse", dry_run=False))
    assert 403 == process.post().status
    assert 403 == process.post("https://example.org/").status
    assert 202 == process.post("https://an-example.org/").status


def test_refused_callback_is_counted_by_its_reason(process: HubProcess) -> None:
    """O9."""
    for callback in ("http://subscriber.example.org/", "https://127.0.0.1/", f"{BASE_URL}/"):
        process.post(callback)
    reasons = ("not-https", "ip-literal", "own-host")
    expected = {f"callback_refused_total {reason}": 1 for reason in reasons}
    assert expected == process.context.counters.counts()


# Caps ---------------------------------------------------------------------------------------------

SETTINGS = Settings(limits=HubLimitsConfig(active_per_host=3, requests_per_minute=1000))
LIMITS = HubLimits(caps=Caps(active=6, pending=3, pending_per_client=2))


def fill_host(process: HubProcess) -> None:
    for number in range(3):
        assert 202 == process.post(f"{CALLBACK}{number}").status


def fill_hub(process: HubProcess) -> None:
    for number in range(6):
        assert 202 == process.post(host(number)).status


def fill_client(process: HubProcess) -> None:
    process.callbacks.behavior = hanging
    for number in range(2):
        assert 202 == process.post(host(number)).status


def fill_pending(process: HubProcess) -> None:
    process.callbacks.behavior = hanging
    for number in range(3):
        assert 202 == process.post(host(number), client=f"192.0.2.{number}/32").status


@pytest.mark.parametrize(
    ("fill", "limit"),
    [
        (fill_host, "active-per-host"),
        (fill_hub, "active"),
        (fill_client, "pending"),
        (fill_pending, "pending"),
    ],
)
def test_new_pair_at_a_cap_is_refused(fill: Callable[[HubProcess], None], limit: str) -> None:
    """H5."""
    with hub_process(SETTINGS, limits=LIMITS) as process:
        fill(process)
        response = process.post()
        assert (429, 600) == (response.status, response.retry_after)
        assert {limit: 1} == ratelimited(process)
        assert limit in requests.LIMITS


@pytest.mark.parametrize("fill", [fill_host, fill_client, fill_pending])
def test_active_pair_at_a_cap_may_renew_and_unsubscribe(fill: Callable[[HubProcess], None]) -> None:
    """H5."""
    with hub_process(SETTINGS, limits=LIMITS) as process:
        mine = "https://other.example.net/mine"
        process.post(mine)
        if fill is fill_host:
            mine = f"{CALLBACK}0"
        fill(process)
        assert 202 == process.post(mine).status
        assert 202 == process.post(mine, "unsubscribe").status


def test_active_pair_in_a_full_hub_may_renew_and_unsubscribe() -> None:
    """H5."""
    with hub_process(SETTINGS, limits=LIMITS) as process:
        fill_hub(process)
        assert 202 == process.post(host(3)).status
        assert 202 == process.post(host(3), "unsubscribe").status
        assert 5 == len(process.store.rows(ACTIVE))
        assert 202 == process.post(host(7)).status
        assert 429 == process.post(host(8)).status


def test_pending_pair_at_a_cap_may_request_again() -> None:
    """It counts once: the newer request replaces the older (H4)."""
    with hub_process(SETTINGS, limits=LIMITS) as process:
        fill_client(process)
        assert 202 == process.post(host(0), lease_seconds="777").status
        assert [(2,)] == process.store.rows(COUNT)
        assert [(777,)] == process.store.rows(
            "SELECT lease_seconds FROM verification WHERE callback = ?", host(0)
        )


def test_renewal_does_not_count_besides_its_subscription() -> None:
    """A pending pair counts only if it is new (H5)."""
    with hub_process(SETTINGS, limits=LIMITS) as process:
        process.post(f"{CALLBACK}0")
        process.post(f"{CALLBACK}1")
        process.callbacks.behavior = hanging
        process.post(f"{CALLBACK}0")
        assert 202 == process.post(f"{CALLBACK}2", client="192.0.2.8/32").status


def test_pending_pair_counts_as_active() -> None:
    """H5."""
    with hub_process(SETTINGS, limits=LIMITS) as process:
        process.callbacks.behavior = hanging
        for number in range(3):
            client = f"192.0.2.{number}/32"
            assert 202 == process.post(f"{CALLBACK}{number}", client=client).status
        assert "callback host" in process.post(client="192.0.2.9/32").text


def test_20_concurrent_requests_make_one_subscription(process: HubProcess) -> None:
    """H4."""
    process.callbacks.latency = 1.0
    for _ in range(20):
        assert 202 == process.post().status
    process.time.advance(5.0)
    assert 1 == len(process.store.rows(ACTIVE))
    assert [(0,)] == process.store.rows(COUNT)


def test_two_topics_are_two_subscriptions(process: HubProcess) -> None:
    process.post(topic=FEED)
    process.post(topic=BASE_URL + REVIEWS)
    assert [(CALLBACK, 1), (CALLBACK, 3)] == process.store.rows(ACTIVE)


def test_help_has_hub_topics_and_lease(process: HubProcess) -> None:
    """W24."""
    text = process.requests.help_text
    assert {f"{BASE_URL}{FEED}", f"{BASE_URL}{REVIEWS}"} <= set(text.split())
    assert f"{BASE_URL}/api/websub/hub" in text
    assert "864000 seconds" in text
