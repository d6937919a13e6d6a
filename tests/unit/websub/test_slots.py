"""The limits of attempts that run at the same time (H2, H8)."""

from collections import Counter
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from reviewsd.store.rows import Due
from reviewsd.websub.rate_limits import Backoffs
from reviewsd.websub.slots import (
    CHECK_INTERVAL,
    FIRST_SHARE,
    IDLE_PER_PLACE,
    MAX_DIED_AGAIN,
    MAX_DIED_ONCE,
    MIN_PACE,
    NEW_SECONDS,
    PACE_SECONDS,
    QUICK_RESPONSES,
    QUICK_SECONDS,
    Slot,
    Slots,
)
from tests.support.outbound import Upload

PLACES, PER_HOST, PER_NETWORK = 64, 8, 16
ADDRESS, NEIGHBOR, ELSEWHERE = "203.0.113.7", "203.0.113.99", "198.51.100.1"


class Rig:
    """Slots with a clock of their own."""

    def __init__(self, places: int = PLACES, *, holds_network: bool = False) -> None:
        self.clock = Clock()
        self.backoffs = Backoffs()
        self.slots = Slots(
            self.clock, places, PER_HOST, PER_NETWORK, self.backoffs, holds_network=holds_network
        )
        self._ids = iter(range(1_000_000))

    def enter(self, host: str | None = None, **row: Any) -> Slot | None:
        """Enter an attempt; without a host, at one of its own."""
        number = next(self._ids)
        row = {"id": number, "active": True, **row}
        return self.slots.try_enter(Due(host=host or f"s{number}.example.com", **row))

    def begin(self, host: str | None = None, address: str | None = None, **row: Any) -> Slot:
        """Enter and begin an attempt, which there has to be a place for; with an address, dial it."""
        slot = self.try_begin(host, address, **row)
        assert slot is not None
        return slot

    def try_begin(
        self, host: str | None = None, address: str | None = None, **row: Any
    ) -> Slot | None:
        """Enter and begin an attempt if there is a place for it."""
        slot = self.enter(host, **row)
        if slot is not None:
            self.slots.begin(slot)
            if address is not None and not slot.try_enter_network(address):
                self.slots.leave(slot)
                return None
        return slot

    def fill(self, host: str | None = None, address: str | None = None, **row: Any) -> list[Slot]:
        """Begin as many attempts as may run."""
        slots = []
        while (slot := self.try_begin(host, address, **row)) is not None:
            slots.append(slot)
            assert len(slots) <= 10_000
        return slots

    def find_idle(self) -> None:
        self.clock.advance(CHECK_INTERVAL)

    def end(self, *slots: Slot) -> None:
        for slot in slots:
            self.slots.leave(slot)
        self.slots.stop()
        assert [] == self.clock.getDelayedCalls()


# Counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "limit"),
    [
        ({"host": "a.example.com"}, FIRST_SHARE),
        ({"requester": "192.0.2.7/32"}, PER_NETWORK),
        ({"deaths": 1}, MAX_DIED_ONCE),
        ({"deaths": 2}, MAX_DIED_AGAIN),
        ({"deaths": 3}, MAX_DIED_AGAIN),
        ({"failing": True}, PLACES // 2),
        ({"address": ADDRESS}, PER_NETWORK),
        ({"address": ADDRESS, "failing": True}, PER_NETWORK // 2),
    ],
)
def test_each_count_has_its_limit(row: dict[str, Any], limit: int) -> None:
    """The host, the client network, the address network, and the class of slow or deadly ones."""
    rig = Rig()
    slots = rig.fill(**row)
    assert limit == len(slots)
    elsewhere = rig.begin(address=ELSEWHERE)
    rig.end(elsewhere, *slots)


@pytest.mark.parametrize(
    ("row", "limit"),
    [
        ({"host": "a.example.com"}, FIRST_SHARE),
        ({"failing": True}, IDLE_PER_PLACE * PLACES // 2),
        ({"address": ADDRESS}, (1 + IDLE_PER_PLACE) * PER_NETWORK),
        ({"address": ADDRESS, "failing": True}, IDLE_PER_PLACE * PER_NETWORK // 2),
    ],
)
def test_idle_slots_have_their_limit(row: dict[str, Any], limit: int) -> None:
    rig = Rig()
    slots: list[Slot] = []
    while more := rig.fill(**row):
        slots += more
        rig.find_idle()
    assert limit == len(slots)
    rig.end(*slots)


def test_network_of_host_is_known_after_first_dial() -> None:
    """Later attempts wait for a place there instead of meeting a full network."""
    rig = Rig()
    slots = rig.fill(address=ADDRESS)
    host = slots[0].due.host
    assert rig.enter(host) is None
    rig.slots.leave(slots.pop())
    slot = rig.enter(host)
    assert slot is not None
    assert rig.try_begin(address=NEIGHBOR) is None
    rig.end(slot, *slots)


def test_attempt_moves_to_network_of_next_address() -> None:
    rig = Rig()
    slots = rig.fill(address=ADDRESS)
    assert slots[0].try_enter_network(ELSEWHERE)
    assert ELSEWHERE == slots[0].address
    one_more = rig.begin(address=NEIGHBOR)
    rig.end(one_more, *slots)


# Idle slots ---------------------------------------------------------------------------------------


def test_idle_slot_leaves_its_place() -> None:
    rig = Rig(places=2)
    freed: list[bool] = []
    rig.slots.freed = lambda: freed.append(rig.slots.has_place)
    slots = [rig.begin(), rig.begin()]
    assert not rig.slots.has_place
    rig.find_idle()
    assert [True] == freed
    assert 2 == rig.slots.running
    rig.end(*slots)


def test_new_slot_is_busy() -> None:
    rig = Rig()
    slot = rig.begin()
    rig.clock.advance(CHECK_INTERVAL - NEW_SECONDS / 2)
    newer = rig.begin()
    rig.clock.advance(NEW_SECONDS / 2)
    assert (True, False) == (slot.idle, newer.idle)
    rig.end(slot, newer)


def test_slot_with_work_is_busy() -> None:
    rig = Rig()
    slot, upload = rig.begin(), Upload(has_work=True)
    slot.watch(upload, 0.0)
    rig.find_idle()
    assert not slot.idle
    upload.has_work = False
    rig.find_idle()
    assert slot.idle
    upload.has_work = True
    other = rig.begin()
    rig.find_idle()
    assert not slot.idle
    rig.end(slot, other)


@pytest.mark.parametrize(("pace", "idle"), [(1.01 * MIN_PACE, False), (0.99 * MIN_PACE, True)])
def test_slot_of_peer_below_minimum_pace_is_idle(pace: float, *, idle: bool) -> None:
    rig = Rig()
    slot, upload = rig.begin(), Upload(bytes_written=10**9)
    slot.watch(upload, 0.0)
    upload.bytes_written, start = 2 * 10**9, 10**9
    states = []
    for check in range(1, 30):
        upload.accepted = start + ceil(pace * check * CHECK_INTERVAL)
        rig.find_idle()
        states.append(slot.idle)
    checks_before = int(PACE_SECONDS / CHECK_INTERVAL)
    assert {False} == set(states[:checks_before])
    assert {idle} == set(states[checks_before:])
    rig.end(slot)


def test_peer_that_has_everything_is_idle() -> None:
    """Its response is waited for."""
    rig = Rig()
    slot, upload = rig.begin(), Upload(bytes_written=1_000, accepted=1_000)
    slot.watch(upload, 0.0)
    rig.find_idle()
    assert slot.idle
    rig.end(slot)


def test_dialing_makes_an_idle_slot_busy() -> None:
    """It waited for DNS, and there is a handshake to do now."""
    rig = Rig(places=1)
    slot = rig.begin()
    rig.find_idle()
    assert rig.slots.has_place
    assert slot.try_enter_network(ADDRESS)
    assert not rig.slots.has_place
    rig.find_idle()
    assert rig.slots.has_place
    rig.end(slot)


def test_slot_of_dead_connection_is_idle_while_the_name_is_resolved() -> None:
    rig = Rig()
    slot = rig.begin(address=ADDRESS)
    slot.watch(Upload(has_work=True), 0.0)
    assert slot.try_enter_network(ADDRESS)
    rig.find_idle()
    assert slot.idle
    rig.end(slot)


def test_idle_verification_counts_for_its_network() -> None:
    """Strangers can have any third party verified, so it never gets more connections than that."""
    rig = Rig(holds_network=True)
    slots = rig.fill(address=ADDRESS)
    rig.find_idle()
    assert rig.try_begin(address=NEIGHBOR) is None
    assert slots[0].try_enter_network(NEIGHBOR)
    rig.end(*slots)


def test_idle_slots_of_a_requester_do_not_count() -> None:
    rig = Rig(holds_network=True)
    slots = rig.fill(requester="192.0.2.7/32")
    rig.find_idle()
    other = rig.begin(requester="192.0.2.7/32")
    rig.end(other, *slots)


# Hosts --------------------------------------------------------------------------------------------


def respond(rig: Rig, host: str, seconds: float = 0.0, *, answered: bool = True) -> None:
    slot = rig.begin(host)
    rig.clock.advance(seconds)
    rig.slots.record(slot, answered=answered)
    rig.slots.leave(slot)


def share(rig: Rig, host: str) -> int:
    slots = rig.fill(host)
    for slot in slots:
        rig.slots.leave(slot)
    return len(slots)


def test_share_is_lost_with_slow_response_or_none() -> None:
    rig = Rig()
    for lose in (
        lambda: respond(rig, "a.example.com", QUICK_SECONDS + 0.1),
        lambda: respond(rig, "a.example.com", answered=False),
    ):
        respond(rig, "a.example.com")
        assert FIRST_SHARE + 1 == share(rig, "a.example.com")
        lose()
        assert FIRST_SHARE == share(rig, "a.example.com")


def test_slow_callback_is_slow_until_it_has_been_quick_for_a_while() -> None:
    """One that is quick and slow in turns is slow."""
    rig = Rig()

    def call(seconds: float) -> bool:
        slot = rig.begin("a.example.com", id=1)
        rig.clock.advance(seconds)
        rig.slots.record(slot, answered=True)
        rig.slots.leave(slot)
        return slot.slow

    assert not call(0.0)
    for _ in range(3):
        call(QUICK_SECONDS + 0.1)
        assert [True] * QUICK_RESPONSES == [call(0.0) for _ in range(QUICK_RESPONSES)]
        assert not call(0.0)


def test_new_pair_at_failing_host_is_slow() -> None:
    rig = Rig()
    rig.backoffs.record_failure("a.example.com", 0.0)
    slots = [rig.begin("a.example.com", active=active) for active in (False, True)]
    assert [True, False] == [slot.slow for slot in slots]


# All together -------------------------------------------------------------------------------------

hosts = st.sampled_from(["a.example.com", "b.example.com", "c.example.com"])
addresses = st.sampled_from([ADDRESS, NEIGHBOR, ELSEWHERE])
rows = st.fixed_dictionaries(
    {},
    optional={
        "failing": st.booleans(),
        "deaths": st.integers(0, 2),
        "requester": st.just("192.0.2.7/32"),
    },
)
steps = st.one_of(
    st.tuples(st.just("begin"), hosts, rows),
    st.tuples(st.just("dial"), addresses, st.integers(0, 20)),
    st.tuples(st.just("leave"), st.integers(0, 20), st.none()),
    st.tuples(st.just("work"), st.integers(0, 20), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([0.05, CHECK_INTERVAL]), st.none()),
)


@given(st.lists(steps, max_size=60), st.booleans())
def test_counts_are_those_of_taken_slots(moves: list[tuple[Any, ...]], holds_network: bool) -> None:
    rig = Rig(places=3, holds_network=holds_network)
    slots: list[Slot] = []
    uploads: dict[Slot, Upload] = {}
    for name, first, second in moves:
        number = second if name == "dial" else first
        chosen = slots[number % len(slots)] if slots and name in {"dial", "leave", "work"} else None
        if name == "begin":
            slot = rig.try_begin(first, **second)
            if slot is not None:
                slots.append(slot)
        elif name == "wait":
            rig.clock.advance(first)
        elif chosen is None:
            continue
        elif name == "dial":
            chosen.try_enter_network(first)
        elif name == "leave":
            slots.remove(chosen)
            rig.slots.leave(chosen)
        else:
            upload = uploads.setdefault(chosen, Upload())
            upload.has_work = second
            chosen.watch(upload, rig.clock.seconds())
        counts = Counter(key for slot in slots for key in slot.counts)
        assert dict(counts) == rig.slots._counts
        assert sum(slot.idle for slot in slots) == rig.slots._idle
    rig.end(*slots)
    assert {} == rig.slots._counts
