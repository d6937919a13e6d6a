"""What computed answers take of memory is counted until their clients have taken them (S5)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.web.memory import (
    BATCH,
    PART,
    SHARE,
    SMALL,
    AnswerMemory,
    MemoryFullError,
    Room,
    own_size,
)
from reviewsd.web.workload import Workload
from tests.support.connections import Client, MemoryListener, ask
from tests.support.workload import workload

TOTAL = 1_000_000
LARGE = 300_000
TAKEN = LARGE + PART
MIB = 1 << 20


def client() -> str:
    return "a"


# Counting -----------------------------------------------------------------------------------------


def test_views_of_mapped_files_are_no_memory_of_ours() -> None:
    mapped = memoryview(mmap(-1, 100_000))
    own = memoryview(b"x" * 10)
    assert 0 == own_size(())
    assert 4 * PART == own_size((mapped, mapped[5:], mapped[8:16].cast("Q"), b""))
    assert 16 + 4 * PART == own_size((b"123", own, mapped, own[7:]))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 400_000), st.booleans())))
def test_what_is_held_is_what_is_not_released(steps: list[tuple[str, int, bool]]) -> None:
    memory, held = AnswerMemory(TOTAL), list[tuple[str, int]]()
    for name, size, more in steps:
        if more or not held:
            memory.reserve(name, size)
            held.append((name, size))
        else:
            memory.release(*held.pop())
        each = Counter[str]()
        for owner, amount in held:
            each[owner] += amount
        assert each.total() == memory.in_use
        assert dict(each) == memory._clients
        for owner in "abc":
            full = each.total() >= TOTAL or each[owner] >= TOTAL // SHARE
            assert full == memory.full(lambda owner=owner: owner)  # type: ignore[misc]


def test_nobody_is_asked_who_he_is_where_little_is_held() -> None:
    def stranger() -> str:
        raise AssertionError("asked")

    memory = AnswerMemory(TOTAL)
    memory.reserve("a", TOTAL // SHARE - 1)
    assert not memory.full(stranger)


def test_one_client_does_not_take_the_room_of_all() -> None:
    memory = AnswerMemory(TOTAL)
    memory.reserve("a", TOTAL // SHARE)
    assert memory.full(lambda: "a")
    assert not memory.full(lambda: "b")


def test_an_answer_that_grows_is_bounded_and_counted() -> None:
    memory = AnswerMemory(64 * MIB)
    room = Room(memory, client)
    room.reserve((bytes(BATCH - 3 * PART - 1), memoryview(mmap(-1, MIB))))
    assert not room.full
    room.reserve((b"x",))
    assert room.full
    assert BATCH == memory.in_use
    assert not Room(memory, client).full
    room.release()
    room.release()
    assert 0 == memory.in_use


def test_it_is_bounded_by_what_others_hold_too() -> None:
    memory = AnswerMemory(TOTAL)
    room = Room(memory, client)
    memory.reserve("b", TOTAL)
    assert room.full


# Answers ------------------------------------------------------------------------------------------


def reply(size: int) -> Response:
    return Response(200, b"Content-Length: %d\r\n" % size, (bytes(size),))


def test_small_answers_are_given_in_any_case() -> None:
    made = workload(Clock(), total=0)
    assert made.admit(Request(b"GET", b"/"), reply(SMALL - PART)).reserve is None


def test_large_ones_are_not_begun_when_too_much_is_held() -> None:
    made = workload(Clock(), total=LARGE)
    large = made.admit(Request(b"GET", b"/"), reply(LARGE))
    assert large.reserve is not None
    assert 0 == made.counts()["answer_bytes_held"]  # its client may take it at once
    release = large.reserve()
    assert TAKEN == made.counts()["answer_bytes_held"]
    with pytest.raises(MemoryFullError):
        made.admit(Request(b"GET", b"/"), reply(SMALL))
    release()
    assert made.admit(Request(b"GET", b"/"), reply(SMALL)).reserve is not None


@dataclass(frozen=True, slots=True)
class Harness:
    """A door behind which every answer is large."""

    listener: MemoryListener
    workload: Workload

    @property
    def held(self) -> float:
        return self.workload.counts()["answer_bytes_held"]

    def connect(self, *, slow: bool) -> Client:
        return self.listener.connect(slow=slow)


@pytest.fixture
def harness() -> Iterator[Harness]:
    listener = MemoryListener()
    made = Harness(listener, workload(listener.clock))
    listener.routes.respond = lambda asked: made.workload.admit(asked, reply(LARGE))
    yield made
    listener.close()


def test_what_a_client_takes_at_once_is_not_held(harness: Harness) -> None:
    quick = harness.connect(slow=False)
    quick.send(ask(), ask())
    assert [LARGE, LARGE] == [len(answer.body) for answer in quick.answers()]
    assert 0 == harness.held


@pytest.mark.parametrize("last", ["", "Connection: close"])
def test_what_it_does_not_take_is_held_until_it_has(harness: Harness, last: str) -> None:
    slow = harness.connect(slow=True)
    slow.send(ask("/now", *filter(None, [last])))
    assert TAKEN == harness.held
    slow.take_all()
    assert 0 == harness.held


def test_or_until_it_leaves(harness: Harness) -> None:
    slow, other = harness.connect(slow=True), harness.connect(slow=True)
    slow.send(ask())
    other.send(ask())
    assert 2 * TAKEN == harness.held
    slow.line.leave()
    assert TAKEN == harness.held
    other.connection.abort()
    assert 0 == harness.held


def test_a_connection_holds_one_answer_however_much_it_asks_for(harness: Harness) -> None:
    slow = harness.connect(slow=True)
    slow.send(5 * ask())
    assert TAKEN == harness.held
    slow.line.take(slow.line.pending)
    slow.settle()
    assert TAKEN == harness.held
    slow.take_all()
    assert 5 == len(slow.answers())
    assert 0 == harness.held
