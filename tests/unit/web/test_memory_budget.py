"""The memory of responses is counted until their clients have taken them (S5)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.web.budgets import (
    BATCH,
    PART,
    SHARE,
    SMALL,
    ClientNetworks,
    MemoryBudget,
    MemoryFullError,
    Reservation,
    own_size,
)
from tests.support.connections import Client, MemoryListener, ask

TOTAL = 1_000_000
LARGE = 300_000
TAKEN = LARGE + PART
MIB = 1 << 20
CLIENTS = {
    name: Request(b"GET", b"/", client=f"192.0.2.{number}") for number, name in enumerate("abc")
}


def budget(total: int = TOTAL) -> MemoryBudget:
    return MemoryBudget(ClientNetworks(), total)


# Counting -----------------------------------------------------------------------------------------


def test_view_of_a_mapped_file_takes_no_memory_of_ours() -> None:
    mapped = memoryview(mmap(-1, 100_000))
    own = memoryview(b"x" * 10)
    assert 0 == own_size(())
    assert 4 * PART == own_size((mapped, mapped[5:], mapped[8:16].cast("Q"), b""))
    assert 16 + 4 * PART == own_size((b"123", own, mapped, own[7:]))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 400_000), st.booleans())))
def test_bytes_in_use_are_those_that_were_not_released(steps: list[tuple[str, int, bool]]) -> None:
    memory, held = budget(), list[tuple[str, int]]()
    for name, size, is_more in steps:
        if is_more or not held:
            memory.add(CLIENTS[name], size)
            held.append((name, size))
        else:
            name, size = held.pop()  # noqa: PLW2901  what is given back
            memory.add(CLIENTS[name], -size)
        sums = Counter[str]()
        for owner, amount in held:
            sums[owner] += amount
        assert sums.total() == memory.in_use
        for owner, request in CLIENTS.items():
            is_full = sums.total() >= TOTAL or (
                sums.total() >= TOTAL // SHARE and sums[owner] >= TOTAL // SHARE
            )
            assert is_full == memory.is_full(request)


def test_response_that_grows_is_bounded_and_counted() -> None:
    memory = budget(64 * MIB)
    reservation = Reservation(memory, CLIENTS["a"])
    reservation.reserve((bytes(BATCH - 3 * PART - 1), memoryview(mmap(-1, MIB))))
    assert not reservation.full
    reservation.reserve((b"x",))
    assert reservation.full
    assert BATCH == memory.in_use
    assert not Reservation(memory, CLIENTS["a"]).full
    reservation.release()
    reservation.release()
    assert 0 == memory.in_use


def test_response_does_not_grow_when_others_hold_all() -> None:
    memory = budget()
    memory.add(CLIENTS["b"], TOTAL)
    assert Reservation(memory, CLIENTS["a"]).full


# Responses ----------------------------------------------------------------------------------------


def response(size: int) -> Response:
    return Response(200, b"Content-Length: %d\r\n" % size, (bytes(size),))


def test_small_response_is_always_sent() -> None:
    assert budget(0).admit(CLIENTS["a"], response(SMALL - PART)).reserve is None


def test_large_response_is_refused_when_too_much_is_held() -> None:
    memory = budget(LARGE)
    large = memory.admit(CLIENTS["a"], response(LARGE))
    assert large.reserve is not None
    assert 0 == memory.in_use  # the client may take it at once
    release = large.reserve()
    assert {"answer_bytes_held": TAKEN} == memory.counts()
    with pytest.raises(MemoryFullError):
        memory.admit(CLIENTS["a"], response(SMALL))
    release()
    assert memory.admit(CLIENTS["a"], response(SMALL)).reserve is not None


@dataclass(frozen=True, slots=True)
class Harness:
    """A listener with large responses only."""

    listener: MemoryListener
    memory: MemoryBudget

    def connect(self, *, slow: bool) -> Client:
        return self.listener.connect(slow=slow)


@pytest.fixture
def harness() -> Iterator[Harness]:
    listener, memory = MemoryListener(), budget(128 * MIB)
    listener.routes.respond = lambda request: memory.admit(request, response(LARGE))
    yield Harness(listener, memory)
    listener.close()


def test_response_that_is_taken_at_once_is_not_counted(harness: Harness) -> None:
    quick = harness.connect(slow=False)
    quick.send(ask(), ask())
    assert [LARGE, LARGE] == [len(answer.body) for answer in quick.answers()]
    assert 0 == harness.memory.in_use


@pytest.mark.parametrize("last", ["", "Connection: close"])
def test_response_is_counted_until_the_client_has_it(harness: Harness, last: str) -> None:
    slow = harness.connect(slow=True)
    slow.send(ask("/now", *filter(None, [last])))
    assert TAKEN == harness.memory.in_use
    slow.take_all()
    assert 0 == harness.memory.in_use


def test_response_is_released_when_its_client_leaves(harness: Harness) -> None:
    slow, second = harness.connect(slow=True), harness.connect(slow=True)
    slow.send(ask())
    second.send(ask())
    assert 2 * TAKEN == harness.memory.in_use
    slow.line.leave()
    assert TAKEN == harness.memory.in_use
    second.connection.abort()
    assert 0 == harness.memory.in_use


def test_pipelining_client_holds_one_response(harness: Harness) -> None:
    slow = harness.connect(slow=True)
    slow.send(5 * ask())
    assert TAKEN == harness.memory.in_use
    slow.line.take(slow.line.pending)
    slow.settle()
    assert TAKEN == harness.memory.in_use
    slow.take_all()
    assert 5 == len(slow.answers())
    assert 0 == harness.memory.in_use
