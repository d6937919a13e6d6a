"""The hub's door (H1, H2, H5, H18, E14, D1, D9)."""

from collections.abc import Callable

import pytest

from reviewsd.config.schema import Hub as Settings
from reviewsd.config.schema import Limits
from reviewsd.store.transactions import StoreError
from reviewsd.websub.form import HubAnswer
from tests.support.hub import (
    BASE_URL,
    CALLBACK,
    FEED,
    REVIEWS,
    UNANSWERED,
    Life,
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
    with living() as life:
        life.callbacks.behaviour = hanging
        answer = life.post(secret="s", lease_seconds="5")

        assert 202 == answer.status
        assert [(CALLBACK, "subscribe", "subscriber.example.org", 300, FEED, "192.0.2.7/32")] == (
            life.store.rows(
                "SELECT callback, mode, callback_host, lease_seconds, topic_given, requester"
                " FROM verification"
            )
        )


def test_a_store_that_fails_accepts_nothing() -> None:
    """D9: 503 is made of it at the route."""
    with living() as life:
        life.store.fault = lambda: "before"
        with pytest.raises(StoreError):
            life.post()
        life.store.fault = lambda: None

        assert [(0,)] == life.store.rows(COUNT)
        assert 202 == life.post().status


def test_the_secret_is_sealed_in_the_store() -> None:
    """H11."""
    with living() as life:
        life.post(secret="canary")

        assert b"canary" not in life.store.connection.serialize()
        ((sealed,),) = life.store.rows("SELECT secret_sealed FROM subscription")
        assert b"canary" == life.secrets.unseal(sealed, CALLBACK, FEED)


def test_the_answer_tells_nothing_of_the_callback_nor_of_who_is_subscribed() -> None:
    """E14: known and unknown pairs, callbacks of all sorts: the same answer."""
    answers: set[HubAnswer] = set()
    with living() as life:
        behaviours = (good, hanging, lambda _: UNANSWERED, lambda _: answered(404))
        for number, behaviour in enumerate(behaviours):
            life.callbacks.behaviour = behaviour
            for mode in ("subscribe", "unsubscribe", "subscribe", "unsubscribe"):
                answers.add(life.post(host(number), mode))
                life.time.go(61.0)

    assert {202} == {answer.status for answer in answers}
    assert 1 == len(answers)


def test_nobody_is_contacted_to_unsubscribe_what_is_not_subscribed() -> None:
    """Contract 5; a pending request stays."""
    with living() as life:
        assert 202 == life.post(mode="unsubscribe").status
        assert [] == life.callbacks.asked

        life.callbacks.behaviour = hanging
        life.post()
        assert 202 == life.post(mode="unsubscribe").status
        assert [("subscribe",)] == life.store.rows("SELECT mode FROM verification")
        assert 1 == len(life.callbacks.asked)


def test_a_hub_without_data_asks_to_come_back() -> None:
    with living(text=None) as life:
        answer = life.post()

        assert (503, 5) == (answer.status, answer.retry_after)


def test_150_requests_of_a_network_in_a_minute_are_30_too_many() -> None:
    """H1; another network is served meanwhile."""
    with living() as life:
        answers = [life.post(host(number)) for number in range(150)]

        assert 120 * [202] + 30 * [429] == [answer.status for answer in answers]
        assert 1 == answers[-1].retry_after
        assert 202 == life.post(client="192.0.2.8/32").status


@pytest.mark.parametrize("client", ["2001:db8:7:{:x}::/64", "192.0.2.{}/32"])
def test_who_has_a_whole_network_of_clients_asks_four_times_as_often(client: str) -> None:
    """H1: else nine of 65,536 fill the hub with requests that wait, and nobody can subscribe."""
    with living(Settings(limits=Limits(requests_per_minute=5))) as life:
        answers = [life.post(host(number), client=client.format(number)) for number in range(25)]

        assert 20 * [202] + 5 * [429] == [answer.status for answer in answers]
        assert 202 == life.post(client="2001:db8:8::/64").status
        assert 202 == life.post(client="local").status


def test_malformed_requests_count_too() -> None:
    """H1: what they cost is not less."""
    with living() as life:
        answers = [
            result_of(life.reception.receive(b"nonsense", None, "192.0.2.9/32")) for _ in range(121)
        ]

        assert 120 * [415] + [429] == [answer.status for answer in answers]


def test_requests_for_one_host_are_bounded_whoever_sends_them() -> None:
    """H2: 120 a minute."""
    with living(Settings(limits=Limits(active_per_host=1000))) as life:
        answers = [
            life.post(f"{CALLBACK}{number}", client=f"10.0.0.{number}/32") for number in range(125)
        ]

        assert 120 * [202] + 5 * [429] == [answer.status for answer in answers]
        assert "callback host" in answers[-1].text


def test_who_is_subscribed_renews_however_many_requests_for_its_host_there_are() -> None:
    """H5: strangers must not be able to let a lease run out."""
    with living(Settings(limits=Limits(active_per_host=1000))) as life:
        assert 202 == life.post().status
        for number in range(125):
            life.post(f"{CALLBACK}{number}", client=f"10.0.0.{number}/32")

        assert 429 == life.post(f"{CALLBACK}new").status
        assert 202 == life.post().status
        assert 202 == life.post(mode="unsubscribe").status


def test_a_paused_hub_accepts_nothing_for_now() -> None:
    with living() as life:
        life.wait(life.operator.pause())
        answer = life.post()
        assert (503, 300) == (answer.status, answer.retry_after)
        assert [(0,)] == life.store.rows(COUNT)

        life.wait(life.operator.resume())
        assert 202 == life.post().status


def test_a_blocked_host_is_forbidden_with_all_names_below_it() -> None:
    """H7."""
    with living() as life:
        life.wait(life.operator.block("Example.ORG.", "abuse", dry_run=False))

        assert 403 == life.post().status
        assert 403 == life.post("https://example.org/").status
        assert 202 == life.post("https://an-example.org/").status


# Caps ---------------------------------------------------------------------------------------------

CAPS = Limits(
    active=6,
    active_per_host=3,
    pending=3,
    pending_per_client=2,
    requests_per_minute=1000,
    requests_per_minute_and_host=1000,
)


def fill_host(life: Life) -> None:
    for number in range(3):
        assert 202 == life.post(f"{CALLBACK}{number}").status


def fill_hub(life: Life) -> None:
    for number in range(6):
        assert 202 == life.post(host(number)).status


def fill_client(life: Life) -> None:
    life.callbacks.behaviour = hanging
    for number in range(2):
        assert 202 == life.post(host(number)).status


def fill_pending(life: Life) -> None:
    life.callbacks.behaviour = hanging
    for number in range(3):
        assert 202 == life.post(host(number), client=f"192.0.2.{number}/32").status


@pytest.mark.parametrize("filled", [fill_host, fill_hub, fill_client, fill_pending])
def test_at_a_cap_a_new_pair_is_told_to_come_back(filled: Callable[[Life], None]) -> None:
    """H5."""
    with living(Settings(limits=CAPS)) as life:
        filled(life)

        answer = life.post()

        assert (429, 600) == (answer.status, answer.retry_after)


@pytest.mark.parametrize("filled", [fill_host, fill_client, fill_pending])
def test_at_a_cap_who_is_active_may_renew_and_end(filled: Callable[[Life], None]) -> None:
    """H5."""
    with living(Settings(limits=CAPS)) as life:
        mine = "https://other.example.net/mine"
        life.post(mine)
        if filled is fill_host:
            mine = f"{CALLBACK}0"
        filled(life)

        assert 202 == life.post(mine).status
        assert 202 == life.post(mine, "unsubscribe").status


def test_who_is_active_may_renew_and_end_in_a_full_hub() -> None:
    """H5."""
    with living(Settings(limits=CAPS)) as life:
        fill_hub(life)

        assert 202 == life.post(host(3)).status
        assert 202 == life.post(host(3), "unsubscribe").status
        assert 5 == len(life.store.rows(ACTIVE))
        assert 202 == life.post(host(7)).status
        assert 429 == life.post(host(8)).status


def test_who_is_pending_may_ask_again_at_a_cap() -> None:
    """He counts as he did; the newer request replaces the older (H4)."""
    with living(Settings(limits=CAPS)) as life:
        fill_client(life)
        assert 202 == life.post(host(0), lease_seconds="777").status

        assert [(2,)] == life.store.rows(COUNT)
        assert [(777,)] == life.store.rows(
            "SELECT lease_seconds FROM verification WHERE callback = ?", host(0)
        )


def test_a_renewal_takes_no_place_beside_its_subscription() -> None:
    """H5: pending *new* pairs count."""
    with living(Settings(limits=CAPS)) as life:
        life.post(f"{CALLBACK}0")
        life.post(f"{CALLBACK}1")
        life.callbacks.behaviour = hanging
        life.post(f"{CALLBACK}0")

        assert 202 == life.post(f"{CALLBACK}2", client="192.0.2.8/32").status


def test_what_waits_for_its_verification_counts_as_active() -> None:
    """H5: pending new pairs count."""
    with living(Settings(limits=CAPS)) as life:
        life.callbacks.behaviour = hanging
        for number in range(3):
            client = f"192.0.2.{number}/32"
            assert 202 == life.post(f"{CALLBACK}{number}", client=client).status

        assert "callback host" in life.post(client="192.0.2.9/32").text


def test_20_requests_at_once_make_one_subscription() -> None:
    """H4."""
    with living() as life:
        life.callbacks.latency = 1.0
        for _ in range(20):
            assert 202 == life.post().status
        life.time.go(5.0)

        assert 1 == len(life.store.rows(ACTIVE))
        assert [(0,)] == life.store.rows(COUNT)


def test_two_topics_are_two_subscriptions() -> None:
    with living() as life:
        life.post(topic=FEED)
        life.post(topic=BASE_URL + REVIEWS)

        assert [(CALLBACK, 1), (CALLBACK, 3)] == life.store.rows(ACTIVE)


def test_the_help_names_hub_topics_and_lease() -> None:
    """W24."""
    with living() as life:
        text = life.reception.help_text

        assert {f"{BASE_URL}{FEED}", f"{BASE_URL}{REVIEWS}"} <= set(text.split())
        assert f"{BASE_URL}/api/websub/hub" in text
        assert "864000 seconds" in text
