"""What waits for the store's thread is done in turns, so that nobody's crowd delays the others."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.defer import Deferred, gatherResults

from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor
from tests.support.stores import opened


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_crowd_of_one_purpose_delays_the_others_by_one_each(tmp_path: Path) -> None:
    """Before, a request to the hub waited for every DELETE of a session that had come first."""
    begun, go_on = threading.Event(), threading.Event()
    done: list[tuple[Purpose, int]] = []

    def work(purpose: Purpose, number: int) -> Callable[[SqlCursor], None]:
        return lambda _: done.append((purpose, number))

    def first(_: SqlCursor) -> None:
        begun.set()
        assert go_on.wait(20)

    async with opened(tmp_path / "state.sqlite") as database:

        def ask(purpose: Purpose, number: int) -> Deferred[None]:
            return Deferred.fromCoroutine(database.run(work(purpose, number), purpose))

        blocking = Deferred.fromCoroutine(database.run(first))
        assert begun.wait(20)
        asked = [ask(Purpose.SESSIONS, number) for number in range(100)]
        asked += [ask(Purpose.REQUEST, number) for number in range(2)]
        asked += [ask(Purpose.WORK, 0), ask(Purpose.PROBE, 0)]
        go_on.set()
        await gatherResults([blocking, *asked])

    assert dict.fromkeys(Purpose, 1) == {each: 1 for each, _ in done[:4]}
    assert {Purpose.REQUEST, Purpose.SESSIONS} == {each for each, _ in done[4:6]}
    for purpose in Purpose:  # among themselves in the order of asking
        numbers = [number for each, number in done if each is purpose]
        assert list(range(len(numbers))) == numbers
