"""Leases and requests end when they are expired on two looks ten minutes apart (W13, D13)."""

import pytest
from twisted.internet.task import Clock

from reviewsd.store import upkeep
from reviewsd.store.intents import RequestOutcome
from reviewsd.store.transactions import StoreError
from reviewsd.store.upkeep import EXPIRY_SECONDS, Expiry
from tests.support.hub import START, MemoryStore, result_of
from tests.support.hub_rows import CAPS, Rows

DAY = 86_400_000
LEASE = 1_000_000
"""Milliseconds; as ``ASKED``."""
LOOK = round(EXPIRY_SECONDS * 1000)


class Looks:
    """An Expiry, checked every ``EXPIRY_SECONDS``."""

    def __init__(self, rows: Rows) -> None:
        self.clock = Clock()
        self.store = MemoryStore(rows.connection, self.clock)
        self.now = START
        self.times: list[int] = []  # what the clock shows first
        self.expiry = Expiry(self.store, self.clock, self.read)

    def read(self) -> int:
        return self.times.pop(0) if self.times else self.now

    def look(self, now: int) -> int:
        """Look at a time of the wall clock, ten minutes after the last look."""
        self.clock.advance(EXPIRY_SECONDS)
        self.now = now
        return result_of(self.expiry.end())


@pytest.fixture
def looks(rows: Rows) -> Looks:
    return Looks(rows)


def test_lease_and_request_end_on_the_second_check(rows: Rows, looks: Looks) -> None:
    rows.subscribe(2)
    rows.ask(5)
    assert [0, 1] == [looks.look(START + 600_000) for _ in range(2)]
    assert [0, 2, 0] == [looks.look(START + LEASE) for _ in range(3)]
    assert [] == rows.sql("SELECT 1 FROM verification")
    assert 2 * [("the lease is over",)] == rows.sql("SELECT reason FROM ended")


def test_second_check_is_ten_monotonic_minutes_after_the_first(rows: Rows, looks: Looks) -> None:
    rows.subscribe()
    assert 0 == looks.look(START + LEASE)
    for _ in range(9):
        looks.clock.advance(EXPIRY_SECONDS / 10)
        looks.now += DAY
        assert 0 == result_of(looks.expiry.end())
    looks.clock.advance(EXPIRY_SECONDS / 10)
    assert 1 == result_of(looks.expiry.end())


@pytest.mark.parametrize("jump", [DAY, 400 * DAY])
def test_clock_ahead_for_one_check_ends_nothing(rows: Rows, looks: Looks, jump: int) -> None:
    rows.subscribe()
    times = [START, START + jump, START + 2 * LOOK // 10, START + jump, START + 3 * LOOK // 10]
    assert [0] * 5 == [looks.look(now) for now in times]


def test_lease_that_is_renewed_between_two_checks_does_not_end(rows: Rows, looks: Looks) -> None:
    rows.subscribe()
    assert 0 == looks.look(START + LEASE)
    rows.connection.execute("UPDATE subscription SET lease_expires_at = lease_expires_at + 1")
    assert [0, 1] == [looks.look(START + LEASE + 1) for _ in range(2)]


def test_pair_with_newly_expired_request_waits_for_another_check(rows: Rows, looks: Looks) -> None:
    """One event ends both, so both must have been expired twice."""
    rows.subscribe()
    rows.ask(challenge="renewal", expires_at=START + LEASE + LOOK)
    assert 0 == looks.look(START + LEASE)
    assert [0, 1] == [looks.look(START + LEASE + LOOK) for _ in range(2)]


def test_request_that_expires_during_a_check_waits_for_two_more(rows: Rows, looks: Looks) -> None:
    """The clock may jump between the query and the transactions that end what it has found."""
    rows.subscribe()
    rows.ask(challenge="renewal", expires_at=START + LEASE + LOOK)
    assert 0 == looks.look(START + LEASE)
    looks.times = [START + LEASE]
    looks.look(START + LEASE + LOOK)
    assert [("renewal",)] == rows.sql("SELECT challenge FROM verification")


def test_expired_request_does_not_count_towards_the_caps(rows: Rows) -> None:
    """It ends up to twenty minutes later."""
    for number in range(1, CAPS.pending + 1):
        assert RequestOutcome.ACCEPTED is rows.ask(number)
    assert RequestOutcome.ACCEPTED is not rows.ask(200, requested_at=START + 599_999)
    assert RequestOutcome.ACCEPTED is rows.ask(200, requested_at=START + 600_000)


def test_many_leases_end_in_transactions_of_a_bounded_size(
    rows: Rows, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "BATCH", 2)
    rows.subscribe(5)
    looks.look(START + LEASE)
    before = looks.store.transactions
    assert 5 == looks.look(START + LEASE)
    assert 1 + 3 == looks.store.transactions - before


def test_check_is_repeated_after_the_store_has_failed(rows: Rows, looks: Looks) -> None:
    rows.subscribe()
    assert 0 == looks.look(START + LEASE)
    looks.store.fault = lambda: "before"
    with pytest.raises(StoreError):
        looks.look(START + LEASE)
    looks.store.fault = lambda: None
    assert 1 == result_of(looks.expiry.end())
