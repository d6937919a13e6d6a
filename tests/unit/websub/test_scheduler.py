"""The rhythm of attempts: nothing is forgotten, nobody is crowded out, and idle means idle (H2, H8)."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import deferLater
from twisted.logger import capturedLogs

from reviewsd.store.intents import Due
from reviewsd.store.transactions import StoreError
from reviewsd.websub.places import IDLE, LOOK_SECONDS
from reviewsd.websub.scheduler import (
    BATCH_WINDOW,
    LOOK,
    MAX_PAUSE,
    RELEASE_SECONDS,
    STORE_PAUSE,
    Scheduler,
    from_anywhere,
)
from tests.support.hub import Time, no_bugs, result_of

PER_HOST = 3
CONCURRENCY = 8


@dataclass
class Row:
    """Something to attempt."""

    host: str
    at: float = 0.0
    """When it is due; infinity when it is done."""
    deaths: int = 0
    claimed: bool = False


@dataclass(frozen=True)
class Claim:
    id: int
    host: str


@dataclass(frozen=True)
class Result:
    id: int
    again: float | None = None
    """In how many seconds it is due again; None: it is done."""


DONE = float("inf")


class MemoryAttempts:
    """``Attempts`` at rows in memory; each one takes as long as its host takes."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self.rows: dict[int, Row] = {}
        self.seconds: dict[str, float] = {}
        self.rooms: dict[str, int] = {}
        self.takers: set[str] = set()
        """Hosts that take what they are sent, slowly."""
        self.again: list[float] = []
        """What comes of the next attempts: due again in so many seconds."""
        self.faults = 0
        self.latency = 0.0
        self.looks = self.turns = self.put_backs = 0
        self.taken: set[int] = set()
        """Rows that another node claims after they were looked up."""
        self.begun: list[tuple[float, int]] = []
        self.underway: list[str] = []
        self.most: dict[str, int] = {}
        self.most_in_all = 0

    def add(self, host: str, count: int = 1, at: float = 0.0) -> None:
        for _ in range(count):
            self.rows[len(self.rows)] = Row(host, at)

    @property
    def done(self) -> list[int]:
        return [number for number, row in self.rows.items() if row.at == DONE]

    def keys(self, due: Due) -> Collection[str]:
        return (due.host,)

    def keys_while_busy(self, due: Due) -> Collection[str]:
        return ("cautious",) if due.deaths else ()

    def is_busy(self, claim: Claim) -> bool:
        return claim.host in self.takers

    def room(self, key: str, _due: Due) -> int:
        return self.rooms.get(key, PER_HOST)

    async def look(
        self, limit: int, without: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        self.looks += 1
        await self._store()
        now = self._time.clock.seconds()
        found = [
            Due(id=number, host=row.host, active=True, deaths=row.deaths)
            for number, row in sorted(self.rows.items(), key=lambda each: (each[1].at, each[0]))
            if row.at <= now and not row.claimed and row.host not in without
        ]
        later = [row.at - now for row in self.rows.values() if now < row.at < DONE]
        return found[:limit], min(later, default=None)

    async def turn(self, results: Sequence[Result], wanted: Sequence[Due]) -> Sequence[Claim]:
        self.turns += 1
        await self._store()
        now = self._time.clock.seconds()
        for result in results:
            row = self.rows[result.id]
            row.claimed, row.at = False, DONE if result.again is None else now + result.again
        claims = []
        for number in self.taken:
            self.rows[number].at = DONE
        for each in wanted:
            row = self.rows[each.id]
            if row.at <= now and not row.claimed:
                row.claimed = True
                claims.append(Claim(each.id, each.host))
        return claims

    async def attempt(self, claim: Claim) -> Result:
        self.begun.append((self._time.clock.seconds(), claim.id))
        self.underway.append(claim.host)
        self.most_in_all = max(self.most_in_all, len(self.underway))
        most = max(self.most.get(claim.host, 0), self.underway.count(claim.host))
        self.most[claim.host] = most
        try:
            seconds = self.seconds.get(claim.host, 0.0)
            await (deferLater(self._time.clock, seconds) if seconds else succeed(None))
        finally:
            self.underway.remove(claim.host)
        return Result(claim.id, self.again.pop(0) if self.again else None)

    def release(self, claim: Claim) -> Result:
        self.put_backs += 1
        return Result(claim.id, 0.0)

    async def _store(self) -> None:
        if self.looks + self.turns > 20_000:
            raise AssertionError("it runs in circles")
        if self.latency:
            await deferLater(self._time.clock, self.latency)
        if self.faults:
            self.faults -= 1
            raise StoreError("disk I/O error")


@dataclass
class Setting:
    time: Time
    attempts: MemoryAttempts
    rounds: Scheduler[Claim, Result]


@contextmanager
def rounds_of(concurrency: int = CONCURRENCY) -> Iterator[Setting]:
    time = Time()
    attempts = MemoryAttempts(time)
    rounds = Scheduler("attempts", time.clock, attempts, concurrency)
    with no_bugs():
        yield Setting(time, attempts, rounds)
        result_of_stop = Deferred.fromCoroutine(rounds.stop(0.0))
        time.go(RELEASE_SECONDS)
        assert result_of_stop.called
        assert [] == time.clock.getDelayedCalls()


def test_all_that_is_due_is_attempted_once() -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", 20)
        setting.attempts.add("b", 20)
        setting.attempts.seconds = {"a": 1.0, "b": 1.5}

        setting.rounds.start()
        setting.time.go(60.0)

        assert list(range(40)) == setting.attempts.done
        assert 40 == len(setting.attempts.begun)
        assert 0 == setting.rounds.underway


def test_no_more_at_a_time_than_may() -> None:
    with rounds_of() as setting:
        setting.attempts.takers = set("abcd")
        for host in "abcd":
            setting.attempts.add(host, 10)
            setting.attempts.seconds[host] = 1.0
        setting.attempts.latency = 0.01

        setting.rounds.start()
        setting.time.go(60.0)

        assert list(range(40)) == setting.attempts.done
        assert dict.fromkeys("abcd", PER_HOST) == setting.attempts.most
        assert CONCURRENCY == setting.attempts.most_in_all


@pytest.mark.parametrize("latency", [0.0, 0.01])
def test_idle_means_no_turns_and_a_look_a_minute(latency: float) -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", 5)
        setting.attempts.latency = latency
        setting.rounds.start()
        setting.time.go(1.0)
        turns, looks = setting.attempts.turns, setting.attempts.looks

        setting.time.go(3600.0)

        assert turns == setting.attempts.turns
        assert 59 <= setting.attempts.looks - looks <= 60


@pytest.mark.parametrize("at", [0.001, 5.0, 59.0, 61.0, 400.0])
def test_what_becomes_due_is_attempted_then(at: float) -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", at=at)
        setting.rounds.start()

        setting.time.go(500.0)

        ((begun_at, _),) = setting.attempts.begun
        assert at == pytest.approx(begun_at)


def test_what_becomes_due_waits_for_no_attempt_that_ends_meanwhile() -> None:
    """An end wakes it; the wait that it cuts off must not begin anew."""
    with rounds_of() as setting:
        setting.attempts.add("a", at=40.0)
        for number in range(5):
            setting.attempts.add(f"b{number}")
            setting.attempts.seconds[f"b{number}"] = 7.0 * (number + 1)
        setting.rounds.start()

        setting.time.go(100.0)

        assert (40.0, 0) in setting.attempts.begun


@pytest.mark.parametrize("again", [1.0, 30.0, 70.0])
def test_what_is_put_back_is_due_again_when_it_says(again: float) -> None:
    """H8: 1 s after it met a crowd; H4: 30 s after no answer."""
    with rounds_of() as setting:
        setting.attempts.add("a")
        setting.attempts.seconds["a"] = 0.5
        setting.attempts.again = [again]
        setting.rounds.start()

        setting.time.go(200.0)

        assert [0.0, pytest.approx(0.5 + again)] == [at for at, _ in setting.attempts.begun]


def test_who_hangs_leaves_his_place_to_others() -> None:
    """However many there are, as long as there is room for them to hang."""
    with rounds_of() as setting:
        for number in range(IDLE * CONCURRENCY):
            setting.attempts.add(f"h{number}")
            setting.attempts.seconds[f"h{number}"] = 30.0
        setting.attempts.add("healthy")
        setting.rounds.start()

        setting.time.go(IDLE * LOOK_SECONDS)

        assert [IDLE * CONCURRENCY] == setting.attempts.done
        setting.time.go(60.0)
        assert IDLE * CONCURRENCY + 1 == len(setting.attempts.done)


def test_who_begins_to_take_what_he_is_sent_needs_a_place_again() -> None:
    """Else a slow line would be shared by more and more deliveries, until all are too late."""
    with rounds_of(2) as setting:
        for host in "abcd":
            setting.attempts.add(host)
            setting.attempts.seconds[host] = 10.0
        setting.rounds.start()
        setting.time.go(LOOK_SECONDS / 2)
        assert 2 == setting.rounds.underway
        setting.time.go(LOOK_SECONDS)
        assert 4 == setting.rounds.underway

        setting.attempts.takers = set("abcd")
        setting.attempts.add("late")
        setting.rounds.wake()
        setting.time.go(5.0)
        assert 4 == setting.rounds.underway

        setting.attempts.takers = set("ab")
        setting.time.go(LOOK_SECONDS)
        assert 4 == setting.rounds.underway
        setting.attempts.takers = set("a")
        setting.time.go(LOOK_SECONDS)
        assert [4] == setting.attempts.done


def test_what_counts_while_an_attempt_is_busy_counts_no_more_when_it_is_idle() -> None:
    """Attempts during which processes have died, a few at a time; unless they hang."""
    with rounds_of(4) as setting:
        setting.attempts.rooms["cautious"] = 1
        for host in "abcdef":
            setting.attempts.add(host)
            setting.attempts.rows[len(setting.attempts.rows) - 1].deaths = 1
            setting.attempts.seconds[host] = 30.0
        setting.rounds.start()
        setting.time.go(LOOK_SECONDS / 2)
        assert 1 == setting.rounds.underway

        setting.time.go(30.0)
        assert 6 == len(setting.attempts.begun)


def test_who_wakes_it_is_heard_at_any_moment() -> None:
    """While it looks, while it writes, while it waits."""
    with rounds_of() as setting:
        setting.attempts.latency = 0.1
        setting.rounds.start()
        for moment in range(40):
            setting.time.go(0.03 * moment)
            setting.attempts.add(f"h{moment}")
            setting.rounds.wake()
            setting.time.go(0.5)
            assert moment + 1 == len(setting.attempts.done)


def test_a_host_that_hangs_delays_nobody_else() -> None:
    with rounds_of() as setting:
        setting.attempts.add("hanging", LOOK + 500)
        setting.attempts.seconds["hanging"] = 1000.0
        setting.rounds.start()
        setting.time.go(1.0)

        setting.attempts.add("healthy")
        setting.rounds.wake()
        setting.time.go(2 * BATCH_WINDOW)

        assert [LOOK + 500] == setting.attempts.done


def test_a_host_that_hangs_and_fills_the_look_up_delays_nobody_else() -> None:
    with rounds_of() as setting:
        setting.attempts.add("hanging", LOOK + 500)
        setting.attempts.seconds["hanging"] = 1000.0
        setting.attempts.add("healthy")
        setting.rounds.start()

        setting.time.go(2 * BATCH_WINDOW)

        assert [LOOK + 500] == setting.attempts.done


def test_hosts_without_any_room_that_fill_look_ups_delay_nobody_else() -> None:
    """H3: a host that is left in peace has none, and nothing under way."""
    with rounds_of() as setting:
        for host in ("x", "y", "z"):
            setting.attempts.rooms[host] = 0
            setting.attempts.add(host, LOOK)
        setting.attempts.add("healthy")
        setting.rounds.start()
        setting.time.go(0.0)
        assert [3 * LOOK] == setting.attempts.done

        looks = setting.attempts.looks
        setting.time.go(600.0)
        assert setting.attempts.looks - looks <= 10 * 4


def test_a_host_that_gets_room_is_attempted_within_a_minute() -> None:
    with rounds_of() as setting:
        setting.attempts.rooms["x"] = 0
        setting.attempts.add("x")
        setting.rounds.start()
        setting.time.go(90.0)
        assert [] == setting.attempts.done

        setting.attempts.rooms["x"] = 1
        setting.time.go(MAX_PAUSE)
        assert [0] == setting.attempts.done


def test_a_place_that_becomes_free_is_for_those_that_were_passed_over() -> None:
    """However far down the list they are."""
    with rounds_of() as setting:
        setting.attempts.rooms["x"] = 0
        setting.attempts.add("x", 2 * LOOK)
        setting.attempts.add("healthy")
        setting.attempts.seconds = {"healthy": 30.0}
        setting.rounds.start()
        setting.time.go(1.0)
        assert [2 * LOOK] == [number for _, number in setting.attempts.begun]

        setting.attempts.rooms["x"] = 1
        setting.rounds.freed()
        setting.time.go(0.0)
        assert (1.0, 0) in setting.attempts.begun


def test_a_full_house_is_no_reason_to_run_in_circles() -> None:
    """Something is due in a while, and there is no room for it: all that may hang does."""
    most = (1 + IDLE) * CONCURRENCY
    with rounds_of() as setting:
        for number in range(most):
            setting.attempts.add(f"h{number}")
            setting.attempts.seconds[f"h{number}"] = 30.0
        setting.attempts.add("late", at=5.0)
        setting.rounds.start()
        setting.time.go(4.0)
        assert most == setting.rounds.underway

        wakes = count_wakes(setting, 25.0)

        assert wakes <= 3
        setting.time.go(5.0)
        late = [at for at, number in setting.attempts.begun if number == most]
        assert [30.0] == late


def test_held_is_no_reason_to_run_in_circles() -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", at=0.001)
        setting.rounds.start()
        setting.rounds.pause()

        assert count_wakes(setting, 600.0) <= 11
        assert [] == setting.attempts.begun


def count_wakes(setting: Setting, seconds: float) -> int:
    """How often the clock calls somebody."""
    clock, wakes = setting.time.clock, 0
    end = clock.seconds() + seconds
    while True:
        following = min((call.getTime() for call in clock.getDelayedCalls()), default=end)
        if following >= end or wakes > 1000:
            clock.advance(max(0.0, end - clock.seconds()))
            return wakes
        clock.advance(max(0.0, following - clock.seconds()))
        wakes += 1


def test_held_it_begins_nothing_and_released_all_that_waited() -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", 2)
        setting.attempts.seconds["a"] = 5.0
        setting.rounds.start()
        setting.time.go(1.0)
        setting.rounds.pause()
        setting.attempts.add("b", 2)
        setting.rounds.wake()
        setting.time.go(100.0)
        assert [0, 1] == setting.attempts.done  # what was under way has ended

        setting.rounds.release()
        setting.time.go(0.0)
        assert [0, 1, 2, 3] == setting.attempts.done


@pytest.mark.parametrize("faults", range(1, 6))
def test_a_store_that_fails_delays_and_loses_nothing(faults: int) -> None:
    """D9; a result that could not be written is written later, and its attempt not repeated."""
    for moment in range(4):
        with rounds_of() as setting:
            setting.attempts.add("a", 6)
            setting.attempts.seconds["a"] = 1.0
            setting.rounds.start()
            setting.time.go(moment * 0.5)
            setting.attempts.faults = faults
            setting.rounds.wake()
            setting.time.go((faults + 4) * STORE_PAUSE)

            assert list(range(6)) == setting.attempts.done
            assert 6 == len(setting.attempts.begun)


def test_a_store_that_fails_is_not_asked_all_the_time() -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", 6)
        setting.attempts.faults = 10**6
        setting.rounds.start()

        setting.time.go(60.0)

        assert setting.attempts.looks <= 61


def test_stopping_waits_for_what_is_under_way_and_writes_what_came_of_it() -> None:
    """O4."""
    with rounds_of() as setting:
        setting.attempts.add("a", 5)
        setting.attempts.seconds["a"] = 4.0
        setting.rounds.start()
        setting.time.go(1.0)

        stopped = Deferred.fromCoroutine(setting.rounds.stop(20.0))
        setting.time.go(2.5)
        assert not stopped.called
        setting.time.go(0.5 + BATCH_WINDOW)

        assert stopped.called
        assert list(range(PER_HOST)) == setting.attempts.done
        assert [] == setting.time.clock.getDelayedCalls()


def test_stopping_waits_no_longer_than_told() -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", 5)
        setting.attempts.seconds["a"] = 1000.0
        setting.rounds.start()
        setting.time.go(1.0)

        stopped = Deferred.fromCoroutine(setting.rounds.stop(20.0))
        setting.time.go(19.9)
        assert not stopped.called
        setting.time.go(0.1 + 2 * BATCH_WINDOW)

        assert stopped.called
        assert [] == setting.attempts.underway
        assert [] == setting.attempts.done
        assert not any(row.claimed for row in setting.attempts.rows.values())


def test_stopping_ends_in_time_when_the_store_fails() -> None:
    with rounds_of() as setting:
        setting.attempts.add("a", 5)
        setting.attempts.seconds["a"] = 1.0
        setting.rounds.start()
        setting.time.go(0.5)
        setting.attempts.faults = 10**6

        stopped = Deferred.fromCoroutine(setting.rounds.stop(20.0))
        setting.time.go(20.0 + RELEASE_SECONDS)

        assert stopped.called


@pytest.mark.parametrize("moment", [0.1, 0.5, 0.9, 1.7, 1.9, 2.1])
def test_stopping_leaves_no_claim_whenever_it_comes(moment: float) -> None:
    """While claims or results are written, or attempts are made: what is left counts as a death."""
    with rounds_of() as setting:
        setting.attempts.add("a", 5)
        setting.attempts.seconds["a"] = 1.0
        setting.attempts.latency = 0.4
        setting.rounds.start()
        setting.time.go(moment)

        stopped = Deferred.fromCoroutine(setting.rounds.stop(0.0))
        setting.time.go(RELEASE_SECONDS)

        assert stopped.called
        assert not any(row.claimed for row in setting.attempts.rows.values())
        ended = [number for at, number in setting.attempts.begun if at + 1.0 <= moment]
        assert ended == setting.attempts.done


def test_stopping_what_never_began() -> None:
    with rounds_of() as setting:
        result_of(setting.rounds.stop(20.0))


class BrokenAttempts(MemoryAttempts):
    """Has a bug."""

    async def attempt(self, claim: Claim) -> Result:
        if claim.id == 0:
            raise ZeroDivisionError
        return await super().attempt(claim)


def test_a_bug_in_one_attempt_leaves_its_place_to_others() -> None:
    time = Time()
    attempts = BrokenAttempts(time)
    attempts.add("a", 5)
    rounds = Scheduler("attempts", time.clock, attempts, 1)
    with capturedLogs() as events:
        rounds.start()
        time.go(5.0)
    assert 1 == len([event for event in events if "log_failure" in event])
    assert [1, 2, 3, 4] == attempts.done
    assert 0 == rounds.underway
    result_of(rounds.stop(0.0))


def test_as_many_again_are_claimed_ahead_and_attempted_in_their_turn() -> None:
    """So no attempt waits for the disk."""
    with rounds_of(2) as setting:
        setting.attempts.add("a", 3)
        setting.attempts.add("b", 3)
        setting.attempts.seconds = {"a": 1.0, "b": 1.0}
        setting.attempts.takers = {"a", "b"}
        setting.rounds.start()
        setting.time.go(0.5)

        assert 2 == setting.rounds.underway
        assert 4 == sum(row.claimed for row in setting.attempts.rows.values())


def test_what_was_claimed_ahead_is_put_back_when_it_is_held() -> None:
    with rounds_of(2) as setting:
        setting.attempts.add("a", 3)
        setting.attempts.add("b", 3)
        setting.attempts.seconds = {"a": 1.0, "b": 1.0}
        setting.attempts.takers = {"a", "b"}
        setting.rounds.start()
        setting.time.go(0.5)

        setting.rounds.pause()
        setting.time.go(0.1)

        assert 2 == sum(row.claimed for row in setting.attempts.rows.values())
        setting.time.go(5.0)
        assert 2 == len(setting.attempts.begun)


def test_no_claim_waits_until_somebody_else_could_take_it() -> None:
    """D5: the claim lasts for 90 s, and an attempt for 60 s at most."""
    with rounds_of(2) as setting:
        setting.attempts.add("a", 2)
        setting.attempts.add("b", 2)
        setting.attempts.seconds = {"a": 60.0, "b": 60.0}
        setting.attempts.takers = {"a", "b"}
        setting.rounds.start()
        setting.time.go(59.0)
        claimed = [number for number, row in setting.attempts.rows.items() if row.claimed]
        assert 4 == len(claimed)

        setting.time.go(300.0)

        assert [0, 1, 2, 3] == sorted(setting.attempts.done)
        late = [at for at, _ in setting.attempts.begun[2:]]
        assert all(at >= 60.0 for at in late)
        assert setting.attempts.put_backs >= 1


def test_what_is_claimed_already_is_not_attempted_beside_it() -> None:
    """I4: a wall clock that jumped shows a claim as lapsed whose attempt lives."""
    with rounds_of() as setting:
        setting.attempts.add("a")
        setting.attempts.seconds = {"a": 50.0}
        setting.rounds.start()
        setting.time.go(1.0)
        setting.attempts.rows[0].claimed = False

        setting.rounds.wake()
        setting.time.go(10.0)

        assert 1 == len(setting.attempts.begun)


def test_what_is_due_is_claimed_from_anywhere_and_in_order() -> None:
    """Nodes that all begin with the same rows get none, all but one."""
    due = [Due(id=number, host="a", active=True) for number in range(4)]
    for chance, expected in ((0.0, [0, 1, 2, 3]), (0.5, [2, 3, 0, 1]), (0.99, [3, 0, 1, 2])):
        assert expected == [each.id for each in from_anywhere(lambda: chance)(due)]  # noqa: B023
    assert [] == from_anywhere(lambda: 0.5)([])


def test_where_others_have_had_most_of_it_it_is_looked_up_anew() -> None:
    """Before, every turn asked in vain for the next of what others had claimed long ago."""
    with rounds_of() as setting:
        for number in range(100):
            setting.attempts.add(f"h{number}")
        setting.attempts.taken = set(range(95))

        setting.rounds.start()
        setting.time.go(1.0)

        assert list(range(95, 100)) == [number for _, number in setting.attempts.begun]
        assert 5 >= setting.attempts.turns
