"""Places of attempts at address networks: who is idle leaves his to another (H2, H8)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from reviewsd.websub.outbound.outcomes import Trail
from reviewsd.websub.places import IDLE, LOOK_SECONDS, NetworkPlaces


def test_a_network_lets_in_as_many_as_it_may() -> None:
    clock = Clock()
    networks, trails = NetworkPlaces(clock, 2), [Trail() for _ in range(4)]

    entered = [networks.enter(name, trail) for name, trail in zip("aaab", trails, strict=True)]
    assert [True, True, False, True] == entered
    assert (True, False) == (networks.full("a"), networks.full("b"))
    networks.leave("a", trails[0])
    assert not networks.full("a")
    assert [True, False] == [networks.enter("a", trail) for trail in (trails[0], Trail())]


def test_who_is_not_inside_cannot_leave() -> None:
    networks, trail = NetworkPlaces(Clock(), 2), Trail()
    networks.enter("a", trail)
    networks.leave("a", trail)

    with pytest.raises(KeyError):
        networks.leave("a", trail)


def test_who_is_idle_leaves_his_place_and_there_is_an_end_to_that() -> None:
    clock, told = Clock(), []
    networks = NetworkPlaces(clock, 2)
    networks.freed = lambda: told.append(networks.full("a"))
    entered = 0
    for _ in range(2 * IDLE):
        while networks.enter("a", Trail()):
            entered += 1
        clock.advance(LOOK_SECONDS)

    assert 2 * (1 + IDLE) == entered
    assert [False] * IDLE + [True] == told
    assert networks.full("a")


def test_who_is_busy_keeps_his_place() -> None:
    clock = Clock()
    networks, trail = NetworkPlaces(clock, 1), Trail()
    trail.is_busy = lambda: True
    networks.enter("a", trail)
    clock.advance(LOOK_SECONDS)
    assert networks.full("a")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans())), st.integers(1, 3))
def test_it_counts_as_one_would(steps: list[tuple[str, bool]], limit: int) -> None:
    clock = Clock()
    networks, inside = NetworkPlaces(clock, limit), Counter[str]()
    trails: dict[str, list[Trail]] = {name: [] for name in "abc"}
    for name, enters in steps:
        if enters:
            trail = Trail()
            assert networks.enter(name, trail) is (inside[name] < limit)
            if inside[name] < limit:
                inside[name] += 1
                trails[name].append(trail)
        elif inside[name]:
            networks.leave(name, trails[name].pop())
            inside[name] -= 1

    for name, left in trails.items():
        for trail in left:
            networks.leave(name, trail)
    assert [] == clock.getDelayedCalls()
