"""What a store makes of a wall clock that somebody sets (D13)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.logger import capturedLogs, formatEvent

from reviewsd.domain.subscription import UNREACHABLE_WAIT, Failed, Unreachable
from reviewsd.store import topics
from reviewsd.store.clock import JUMP, StoreClock, move, put_right
from reviewsd.store.deliveries import DeliveryOutcome
from reviewsd.store.intents import Verified
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor
from tests.support.hub import START
from tests.support.hub_rows import ASKED, CLAIM, OLD, WAITS, Rows
from tests.support.stores import rows as rows_of
from tests.support.stores import threads

HOUR, DAY = 3_600_000, 86_400_000
LEASE = ASKED.lease_seconds * 1000


class Clocks:
    """The wall clock, and what passes whatever it says."""

    def __init__(self) -> None:
        self.passed, self.wall = 5_000, START

    def go(self, milliseconds: int) -> None:
        self.passed += milliseconds
        self.wall += milliseconds

    def read(self) -> int:
        return self.wall


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def clock(clocks: Clocks) -> StoreClock:
    clock = StoreClock(clocks.wall, lambda: clocks.passed)
    assert 0 == clock.look(clocks.read)
    return clock


@pytest.fixture
def rows() -> Iterator[Rows]:
    made = Rows()
    yield made
    made.connection.close()


# -- what is a jump


@pytest.mark.parametrize("by", [-JUMP, -1, 1, JUMP])
def test_a_clock_that_is_adjusted_is_followed(clocks: Clocks, clock: StoreClock, by: int) -> None:
    for _ in range(3):
        clocks.go(60_000)
        clocks.wall += by
        assert 0 == clock.look(clocks.read)
        assert clocks.wall == clock.now()


@pytest.mark.parametrize("by", [-DAY, -JUMP - 1, JUMP + 1, DAY])
def test_a_jump_counts_when_the_rows_have_moved(clocks: Clocks, clock: StoreClock, by: int) -> None:
    clocks.go(60_000)
    before = clocks.wall
    clocks.wall += by
    assert [by, by] == [clock.look(clocks.read) for _ in range(2)]
    assert before == clock.now()
    clock.jump(by)
    assert clocks.wall == clock.now()
    assert 0 == clock.look(clocks.read)


def test_time_that_passes_is_no_jump_however_much(clocks: Clocks, clock: StoreClock) -> None:
    """A machine that slept: CLOCK_BOOTTIME went on."""
    clocks.go(30 * DAY)
    assert 0 == clock.look(clocks.read)


def test_an_answer_that_takes_long_is_no_jump(clocks: Clocks, clock: StoreClock) -> None:
    """The clock is a server's; when it read it, between question and answer, nobody knows."""

    def slowly() -> int:
        clocks.go(HOUR)
        wall = clocks.wall
        clocks.go(HOUR)
        return wall

    assert 0 == clock.look(slowly)
    assert clocks.wall == clock.now()

    def set_meanwhile() -> int:
        clocks.wall += DAY
        return slowly()

    assert DAY - HOUR == clock.look(set_meanwhile)


def test_what_others_have_seen_to_is_no_jump(clocks: Clocks, clock: StoreClock) -> None:
    clocks.wall += DAY
    clock.forget()
    assert 0 == clock.look(clocks.read)
    assert clocks.wall == clock.now()


# -- what becomes of the rows


def times(rows: Rows) -> tuple[int | None, ...]:
    """Of the only subscription: when its lease, its wait and its claim end."""
    (found,) = rows.sql("SELECT lease_expires_at, next_attempt_at, claim_until FROM subscription")
    return found


@pytest.mark.parametrize(
    ("by", "left"), [(DAY, LEASE - 60_000), (-DAY, LEASE), (-30_000, LEASE - 30_000)]
)
def test_a_lease_gets_no_shorter_and_no_longer_than_it_was_made(
    rows: Rows, by: int, left: int
) -> None:
    rows.subscribe()
    now = START + 60_000 + by
    rows.run(lambda cursor: move(cursor, by, now))
    assert now + left == times(rows)[0]


def test_a_lease_that_is_over_stays_so(rows: Rows) -> None:
    rows.subscribe()
    rows.run(lambda cursor: move(cursor, DAY, START + LEASE + DAY))
    assert START + LEASE == times(rows)[0]


@pytest.mark.parametrize("by", [DAY, -DAY])
def test_what_is_left_of_waits_and_claims_stays(rows: Rows, by: int) -> None:
    rows.subscribe()
    rows.bump()
    (claim,), _ = rows.deliver(START)
    rows.run(lambda cursor: move(cursor, by, START + by))
    assert (0, START + by + CLAIM) == times(rows)[1:]
    rows.deliver(START + by, (DeliveryOutcome(claim=claim, event=Failed(WAITS), error="why"),))
    rows.run(lambda cursor: move(cursor, -by, START))
    assert (START + WAITS[0], None) == times(rows)[1:]


@pytest.mark.parametrize("by", [DAY, -DAY])
def test_a_request_has_its_time_and_is_attempted(rows: Rows, by: int) -> None:
    rows.ask()
    (claim,) = rows.verify(START)
    rows.run(lambda cursor: move(cursor, by, START + by))
    assert [] == rows.verifiable(START + by + CLAIM)
    assert 1 == len(rows.verifiable(START + by + CLAIM + 1))
    rows.verify(START + by, (Verified(claim, Unreachable()),))
    rows.run(lambda cursor: move(cursor, by, START + 2 * by))
    assert 1 == len(rows.verifiable(START + 2 * by + UNREACHABLE_WAIT))
    assert [] == rows.verifiable(START + 2 * by + 600_000)


def test_claims_and_waits_that_cannot_be_are_put_right(rows: Rows) -> None:
    """The clock was set back while no daemon ran."""
    rows.subscribe(2)
    rows.ask(7, next_attempt_at=START + 1_000)
    rows.bump()
    claims, _ = rows.deliver(START)
    rows.deliver(START, (DeliveryOutcome(claim=claims[0], event=Failed(WAITS), error="why"),))
    now = START - DAY
    for _ in range(2):
        rows.run(lambda cursor: put_right(cursor, now, CLAIM, WAITS[1]))
        assert [2] == [each.id for each in rows.owed(now)]
        assert 2 == len(rows.owed(now + WAITS[1]))
        assert 1 == len(rows.verifiable(now))


def test_claims_and_waits_that_can_be_are_left(rows: Rows) -> None:
    rows.subscribe(2)
    rows.ask(7, next_attempt_at=START + 1_000)
    rows.bump()
    claims, _ = rows.deliver(START)
    rows.deliver(START, (DeliveryOutcome(claim=claims[0], event=Failed(WAITS), error="why"),))
    rows.verify(START)
    before = [rows.sql(f"SELECT * FROM {table}") for table in ("subscription", "verification")]
    rows.run(lambda cursor: put_right(cursor, START - JUMP, CLAIM, WAITS[0]))
    assert before == [
        rows.sql(f"SELECT * FROM {table}") for table in ("subscription", "verification")
    ]


# -- the store

CLAIMED = "SELECT claim_until FROM subscription"


def subscribed(until: int) -> Callable[[SqlCursor], None]:
    """A subscription with a claim, made now."""

    def work(cursor: SqlCursor) -> None:
        topics.bump(cursor, OLD, 0, START)
        cursor.execute(
            "INSERT INTO subscription (topic_id, callback, callback_host, lease_seconds,"
            " lease_expires_at, delivered_version, created_at, verified_at, claim_token,"
            " claim_until) VALUES (1, 'c', 'h', 1000, ?, 1, 0, 0, 't', ?)",
            (until, until),
        )

    return work


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("by", [DAY, -DAY])
async def test_sqlite_moves_its_rows_before_anybody_sees_the_new_time(
    tmp_path: Path, clocks: Clocks, by: int
) -> None:
    """Also what is written in that transaction, which goes by the time before."""
    database = Database(tmp_path / "state.sqlite", threads, clocks.read)
    await database.open()
    try:
        await database.run(lambda _: None)
        clocks.wall += by
        before = database.now()
        assert abs(before - START) < HOUR
        with capturedLogs() as events:
            with pytest.raises(ZeroDivisionError):
                await database.run(lambda _: 1 // 0)
            assert abs(database.now() - START) < HOUR
            await database.run(subscribed(before + CLAIM))
        assert abs(database.now() - START - by) < HOUR
        ((until,),) = await rows_of(database, CLAIMED)
        assert abs(until - (before + CLAIM + by)) < HOUR
        await database.run(lambda _: None)
        assert [until] == [row[0] for row in await rows_of(database, CLAIMED)]
        how = "ahead" if by > 0 else "back"
        assert [f"the clock was set {how} by 86,400 s"] == [
            str(formatEvent(event)).partition(";")[0] for event in events
        ]
    finally:
        await database.close()
