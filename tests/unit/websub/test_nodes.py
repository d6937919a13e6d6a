"""Several nodes with one store: claims, data of different age, orders (D8, H7).

The nodes have one clock and one store in memory; real ones are in ``tests/system/test_hub_nodes.py``.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from reviewsd.api.jobs import PushResult, Step
from reviewsd.config.hub_schema import HubConfig as Settings
from reviewsd.store.rows import CLAIM_MILLISECONDS
from reviewsd.websub.hub import FOLLOW_SECONDS
from reviewsd.websub.scheduler import SHARED_MAX_PAUSE
from tests.support.hub import (
    FEED,
    Behavior,
    Callbacks,
    HubProcess,
    Time,
    confirming,
    connect,
    content,
    good,
    hanging,
    no_bugs,
    result_of,
    snapshot,
    start_process,
)

SHARED = Settings(store="postgresql:///shared")

Node = Callable[..., HubProcess]


@pytest.fixture
def node() -> Iterator[Node]:
    """Return a function that starts nodes; the first stores the topics."""
    time, connection = Time(), connect()
    callbacks = Callbacks(time)
    processes: list[HubProcess] = []

    def node(*, start: bool = True) -> HubProcess:
        process = start_process(connection, time, callbacks, SHARED, start=start)
        processes.append(process)
        publish(process, "first", 1)
        return process

    with no_bugs():
        yield node
        for process in processes:
            if not process.store.dead:
                process.stop()


def publish(process: HubProcess, text: str, data_revision: int) -> None:
    """Give a node data of an age in milliseconds."""
    data: Any = snapshot(text)
    data.build.fingerprint.reviews.mtime_ns = data_revision * 10**6
    process.hub.topics_changed(data)
    process.time.advance(6.0)


def feed_version(process: HubProcess) -> int:
    ((version,),) = process.store.rows("SELECT version FROM topic WHERE path = ?", FEED)
    return int(version)


def test_claim_of_a_killed_node_stands_until_it_lapses(node: Node) -> None:
    """Other nodes cannot know that it was killed: it may be about to deliver (D5)."""
    one = node()
    one.post()
    one.time.advance(FOLLOW_SECONDS)
    one.callbacks.behavior = confirming(hanging)
    publish(one, "second", 2)
    assert 1 == len(one.callbacks.posts)
    one.kill()
    one.callbacks.behavior = good
    nodes = node(), node()
    for process in nodes:
        publish(process, "second", 2)
    one.time.advance(CLAIM_MILLISECONDS / 1000 - 30)
    assert 1 == len(one.callbacks.posts)
    one.time.advance(30 + SHARED_MAX_PAUSE)
    assert [content(FEED, "second")] * 2 == one.callbacks.bodies()


def test_files_from_the_future_hold_back_no_change(node: Node) -> None:
    """The clock was ahead when they were written (D13)."""
    one = node()
    publish(one, "tomorrow", one.time.now() + 86_400_000)
    one.time.advance(10.0)
    publish(one, "newer", one.time.now() - 1)
    assert 3 == feed_version(one)


def test_node_with_older_data_delivers_nothing(node: Node) -> None:
    old, new = node(), node()
    old.post()
    old.time.advance(FOLLOW_SECONDS)
    new.callbacks.behavior = confirming(hanging)
    publish(new, "newer", 2)
    new.time.advance(3600)
    assert {content(FEED, "newer")} == set(new.callbacks.bodies())
    assert 2 == feed_version(old)


@pytest.mark.parametrize(("behavior", "delivered"), [(good, 1), (confirming(hanging), 0)])
def test_push_ends_by_attempts_of_others(node: Node, behavior: Behavior, delivered: int) -> None:
    working, idle = node(), node(start=False)
    working.post()
    working.time.advance(FOLLOW_SECONDS)
    working.callbacks.behavior = behavior
    steps: list[Step] = []
    results: list[PushResult] = []
    Deferred.fromCoroutine(idle.operator.push(None, None, steps.append)).addCallback(results.append)
    working.time.advance(60.0)
    expected = PushResult(total=1, delivered=delivered, failed=1 - delivered, removed=0)
    assert [expected] == results
    assert Step("pushing", 1, 1, 1 - delivered) == steps[-1]


def test_idle_node_checks_for_changes_once_a_second(node: Node) -> None:
    """Four of them, each a transaction behind the lock, took 1 % of a processor."""
    idle, second = node(), node(start=False)
    idle.time.advance(60)
    before = idle.store.transactions
    idle.time.advance(60)
    assert 60 / FOLLOW_SECONDS + 2 * 60 / SHARED_MAX_PAUSE + 5 >= idle.store.transactions - before
    assert 202 == second.post().status
    idle.time.advance(FOLLOW_SECONDS)
    assert 1 == len(idle.callbacks.gets)


def test_change_of_another_node_is_followed_after_a_failure_of_the_store(node: Node) -> None:
    """A change that was noticed must not be forgotten before it is loaded."""
    first, second = node(), node()
    result_of(second.operator.block("bad.example.org", "", dry_run=False))
    faults = iter([None, "before"])  # the change is noticed, and its look-up fails
    first.store.fault = lambda: next(faults, None)
    first.time.advance(2 * FOLLOW_SECONDS)
    assert ["bad.example.org"] == [block.value for block in first.operator._blocks]
