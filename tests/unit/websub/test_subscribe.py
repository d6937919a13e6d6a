"""The hub's door (H1, H2, H5, H18, E14, D1, D9)."""

from collections.abc import Callable

import pytest

from reviewsd.config.schema import HubConfig as Settings
from reviewsd.config.schema import HubLimitsConfig
from reviewsd.store.transactions import StoreError
from reviewsd.websub.form import HubAnswer
from tests.support.hub import (
    BASE_URL,
    CALLBACK,
    FEED,
    REVIEWS,
    UNANSWERED,
    HubProcess,
    answered,
    good,
    hanging,
    living,
    result_of,
)

COUNT = "SELECT COUNT(*) FROM verification"
ACTIVE = "SELECT callback, topic_id FROM subscription"


def host(number: int) -> str:
    return f"https://s{number}.example.org/cb"


def test_a_request_is_on_the_disk_before_it_is_answered() -> None:
    """D1, W8."""
    with living() as process:
        process.callbacks.behaviour = hanging
        answer = process.post(secret="s", lease_seconds="5")

        assert 202 == answer.status
        assert [(CALLBACK, "subscribe", "subscriber.example.org", 300, FEED, "192.0.2.7/32")] == (
            process.store.rows(
                "SELECT callback, mode, callback_host, lease_seconds, topic_given, requester"
                " FROM verification"
            )
        )


def test_a_store_that_fails_accepts_nothing() -> None:
    """D9: 503 is made of it at the route."""
    with living() as process:
        process.store.fault = lambda: "before"
        with pytest.raises(StoreError):
            process.post()
        process.store.fault = lambda: None

        assert [(0,)] == process.store.rows(COUNT)
        assert 202 == process.post().status


def test_the_secret_is_sealed_in_the_store() -> None:
    """H11."""
    with living() as process:
        process.post(secret="canary")

        assert b"canary" not in process.store.connection.serialize()
        ((sealed,),) = process.store.rows("SELECT secret_sealed FROM subscription")
        assert b"canary" == process.secrets.unseal(sealed, CALLBACK, FEED)


def test_the_answer_tells_nothing_of_the_callback_nor_of_who_is_subscribed() -> None:
    """E14: known and unknown pairs, callbacks of all sorts: the same answer."""
    answers: set[HubAnswer] = set()
    with living() as process:
        behaviours = (good, hanging, lambda _: UNANSWERED, lambda _: answered(404))
        for number, behaviour in enumerate(behaviours):
            process.callbacks.behaviour = behaviour
            for mode in ("subscribe", "unsubscribe", "subscribe", "unsubscribe"):
                answers.add(process.post(host(number), mode))
                process.time.go(61.0)

    assert {202} == {answer.status for answer in answers}
    assert 1 == len(answers)


def test_nobody_is_contacted_to_unsubscribe_what_is_not_subscribed() -> None:
    """Contract 5; a pending request stays."""
    with living() as process:
        assert 202 == process.post(mode="unsubscribe").status
        assert [] == process.callbacks.asked

        process.callbacks.behaviour = hanging
        process.post()
        assert 202 == process.post(mode="unsubscribe").status
        assert [("subscribe",)] == process.store.rows("SELECT mode FROM verification")
        assert 1 == len(process.callbacks.asked)


def test_a_hub_without_data_asks_to_come_back() -> None:
    with living(text=None) as process:
        answer = process.post()

        assert (503, 5) == (answer.status, answer.retry_after)


def test_150_requests_of_a_network_in_a_minute_are_30_too_many() -> None:
    """H1; another network is served meanwhile."""
    with living() as process:
        answers = [process.post(host(number)) for number in range(150)]

        assert 120 * [202] + 30 * [429] == [answer.status for answer in answers]
        assert 1 == answers[-1].retry_after
        assert 202 == process.post(client="192.0.2.8/32").status


@pytest.mark.parametrize("client", ["2001:db8:7:{:x}::/64", "192.0.2.{}/32"])
def test_who_has_a_whole_network_of_clients_asks_four_times_as_often(client: str) -> None:
    """H1: else nine of 65,536 fill the hub with requests that wait, and nobody can subscribe."""
    with living(Settings(limits=HubLimitsConfig(requests_per_minute=5))) as process:
        answers = [process.post(host(number), client=client.format(number)) for number in range(25)]

        assert 20 * [202] + 5 * [429] == [answer.status for answer in answers]
        assert 202 == process.post(client="2001:db8:8::/64").status
        assert 202 == process.post(client="local").status


def test_malformed_requests_count_too() -> None:
    """H1: what they cost is not less."""
    with living() as process:
        answers = [
            result_of(process.endpoint.receive(b"nonsense", None, "192.0.2.9/32"))
            for _ in range(121)
        ]

        assert 120 * [415] + [429] == [answer.status for answer in answers]


def test_requests_for_one_host_are_bounded_whoever_sends_them() -> None:
    """H2: 120 a minute."""
    with living(Settings(limits=HubLimitsConfig(active_per_host=1000))) as process:
        answers = [
            process.post(f"{CALLBACK}{number}", client=f"10.0.0.{number}/32")
            for number in range(125)
        ]

        assert 120 * [202] + 5 * [429] == [answer.status for answer in answers]
        assert "callback host" in answers[-1].text


def test_who_is_subscribed_renews_however_many_requests_for_its_host_there_are() -> None:
    """H5: strangers must not be able to let a lease run out."""
    with living(Settings(limits=HubLimitsConfig(active_per_host=1000))) as process:
        assert 202 == process.post().status
        for number in range(125):
            process.post(f"{CALLBACK}{number}", client=f"10.0.0.{number}/32")

        assert 429 == process.post(f"{CALLBACK}new").status
        assert 202 == process.post().status
        assert 202 == process.post(mode="unsubscribe").status


def test_a_paused_hub_accepts_nothing_for_now() -> None:
    with living() as process:
        process.wait(process.operator.pause())
        answer = process.post()
        assert (503, 300) == (answer.status, answer.retry_after)
        assert [(0,)] == process.store.rows(COUNT)

        process.wait(process.operator.resume())
        assert 202 == process.post().status


def test_a_blocked_host_is_forbidden_with_all_names_below_it() -> None:
    """H7."""
    with living() as process:
        process.wait(process.operator.block("Example.ORG.", "abuse", dry_run=False))

        assert 403 == process.post().status
        assert 403 == process.post("https://example.org/").status
        assert 202 == process.post("https://an-example.org/").status


# Caps ---------------------------------------------------------------------------------------------

CAPS = HubLimitsConfig(
    active=6,
    active_per_host=3,
    pending=3,
    pending_per_client=2,
    requests_per_minute=1000,
    requests_per_minute_and_host=1000,
)


def fill_host(process: HubProcess) -> None:
    for number in range(3):
        assert 202 == process.post(f"{CALLBACK}{number}").status


def fill_hub(process: HubProcess) -> None:
    for number in range(6):
        assert 202 == process.post(host(number)).status


def fill_client(process: HubProcess) -> None:
    process.callbacks.behaviour = hanging
    for number in range(2):
        assert 202 == process.post(host(number)).status


def fill_pending(process: HubProcess) -> None:
    process.callbacks.behaviour = hanging
    for number in range(3):
        assert 202 == process.post(host(number), client=f"192.0.2.{number}/32").status


@pytest.mark.parametrize("filled", [fill_host, fill_hub, fill_client, fill_pending])
def test_at_a_cap_a_new_pair_is_told_to_come_back(filled: Callable[[HubProcess], None]) -> None:
    """H5."""
    with living(Settings(limits=CAPS)) as process:
        filled(process)

        answer = process.post()

        assert (429, 600) == (answer.status, answer.retry_after)


@pytest.mark.parametrize("filled", [fill_host, fill_client, fill_pending])
def test_at_a_cap_who_is_active_may_renew_and_end(filled: Callable[[HubProcess], None]) -> None:
    """H5."""
    with living(Settings(limits=CAPS)) as process:
        mine = "https://other.example.net/mine"
        process.post(mine)
        if filled is fill_host:
            mine = f"{CALLBACK}0"
        filled(process)

        assert 202 == process.post(mine).status
        assert 202 == process.post(mine, "unsubscribe").status


def test_who_is_active_may_renew_and_end_in_a_full_hub() -> None:
    """H5."""
    with living(Settings(limits=CAPS)) as process:
        fill_hub(process)

        assert 202 == process.post(host(3)).status
        assert 202 == process.post(host(3), "unsubscribe").status
        assert 5 == len(process.store.rows(ACTIVE))
        assert 202 == process.post(host(7)).status
        assert 429 == process.post(host(8)).status


def test_who_is_pending_may_ask_again_at_a_cap() -> None:
    """He counts as he did; the newer request replaces the older (H4)."""
    with living(Settings(limits=CAPS)) as process:
        fill_client(process)
        assert 202 == process.post(host(0), lease_seconds="777").status

        assert [(2,)] == process.store.rows(COUNT)
        assert [(777,)] == process.store.rows(
            "SELECT lease_seconds FROM verification WHERE callback = ?", host(0)
        )


def test_a_renewal_takes_no_place_beside_its_subscription() -> None:
    """H5: pending *new* pairs count."""
    with living(Settings(limits=CAPS)) as process:
        process.post(f"{CALLBACK}0")
        process.post(f"{CALLBACK}1")
        process.callbacks.behaviour = hanging
        process.post(f"{CALLBACK}0")

        assert 202 == process.post(f"{CALLBACK}2", client="192.0.2.8/32").status


def test_what_waits_for_its_verification_counts_as_active() -> None:
    """H5: pending new pairs count."""
    with living(Settings(limits=CAPS)) as process:
        process.callbacks.behaviour = hanging
        for number in range(3):
            client = f"192.0.2.{number}/32"
            assert 202 == process.post(f"{CALLBACK}{number}", client=client).status

        assert "callback host" in process.post(client="192.0.2.9/32").text


def test_20_requests_at_once_make_one_subscription() -> None:
    """H4."""
    with living() as process:
        process.callbacks.latency = 1.0
        for _ in range(20):
            assert 202 == process.post().status
        process.time.go(5.0)

        assert 1 == len(process.store.rows(ACTIVE))
        assert [(0,)] == process.store.rows(COUNT)


def test_two_topics_are_two_subscriptions() -> None:
    with living() as process:
        process.post(topic=FEED)
        process.post(topic=BASE_URL + REVIEWS)

        assert [(CALLBACK, 1), (CALLBACK, 3)] == process.store.rows(ACTIVE)


def test_the_help_names_hub_topics_and_lease() -> None:
    """W24."""
    with living() as process:
        text = process.endpoint.help_text

        assert {f"{BASE_URL}{FEED}", f"{BASE_URL}{REVIEWS}"} <= set(text.split())
        assert f"{BASE_URL}/api/websub/hub" in text
        assert "864000 seconds" in text
