"""Several nodes with one store: who does what, and what they hear of each other (D8, H7).

The nodes have one clock and one store in memory; real ones are in ``tests/system/test_hub_nodes.py``.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs, formatEvent

from reviewsd.api.jobs import PushResult, Step
from reviewsd.config.schema import HubConfig as Settings
from reviewsd.websub.hub import FOLLOW_SECONDS
from reviewsd.websub.scheduler import SHARED_MAX_PAUSE
from reviewsd.websub.verification import CLAIM
from tests.support.hub import (
    FEED,
    Behaviour,
    Callbacks,
    HubProcess,
    Time,
    begin,
    confirming,
    connect,
    content,
    good,
    hanging,
    no_bugs,
    result_of,
    snapshot,
)

SHARED = Settings(store="postgresql:///shared")

Node = Callable[..., HubProcess]


@pytest.fixture
def node() -> Iterator[Node]:
    """Makes nodes; the first makes the topics known."""
    time, connection = Time(), connect()
    callbacks = Callbacks(time)
    processes: list[HubProcess] = []

    def node(*, start: bool = True) -> HubProcess:
        process = begin(connection, time, callbacks, SHARED, start=start)
        processes.append(process)
        publish(process, "first", 1)
        return process

    with no_bugs():
        yield node
        for process in processes:
            if not process.store.dead:
                process.stop()


def publish(process: HubProcess, text: str, data_revision: int) -> None:
    """Give a node data of this age, milliseconds."""
    data: Any = snapshot(text)
    data.seen.fingerprint.reviews.mtime_ns = data_revision * 10**6
    process.hub.topics_changed(data)
    process.time.go(6.0)


def feed_version(process: HubProcess) -> int:
    ((version,),) = process.store.rows("SELECT version FROM topic WHERE path = ?", FEED)
    return int(version)


def test_what_one_node_accepts_another_verifies_within_a_second(node: Node) -> None:
    working, idle = node(), node(start=False)
    assert 202 == idle.post().status
    working.time.go(FOLLOW_SECONDS)
    assert 1 == len(working.callbacks.asked)
    assert 202 == idle.post(mode="unsubscribe").status
    working.time.go(FOLLOW_SECONDS)
    assert 2 == len(working.callbacks.asked)


def test_what_a_killed_node_has_claimed_waits_until_the_claim_lapses(node: Node) -> None:
    """Nobody knows that it was killed; it may be about to deliver (D5)."""
    one = node()
    one.post()
    one.time.go(FOLLOW_SECONDS)
    one.callbacks.behaviour = confirming(hanging)
    publish(one, "second", 2)
    assert 1 == len(one.callbacks.sent)
    one.kill()
    one.callbacks.behaviour = good
    restarted, other = node(), node()
    for each in (restarted, other):
        publish(each, "second", 2)
    one.time.go(CLAIM / 1000 - 30)
    assert 1 == len(one.callbacks.sent)
    one.time.go(30 + SHARED_MAX_PAUSE)
    assert [content(FEED, "second")] * 2 == one.callbacks.bodies()


def test_the_newest_data_wins_once_whoever_comes_back(node: Node) -> None:
    old, new = node(), node()
    publish(new, "newer", 2)
    assert 2 == feed_version(new)
    for _ in range(10):
        with capturedLogs() as events:
            publish(old, "first", 1)
        publish(new, "newer", 2)
        assert 2 == feed_version(new)
        assert "nothing is sent of /feed.xml" in str([formatEvent(event) for event in events])


def test_files_of_a_clock_that_was_ahead_hold_back_nothing(node: Node) -> None:
    """D13: what was written after it was set back is newer, though its files say otherwise."""
    one = node()
    publish(one, "tomorrow", one.time.now() + 86_400_000)
    one.time.go(10.0)
    publish(one, "newer", one.time.now() - 1)
    assert 3 == feed_version(one)


def test_a_node_with_older_data_delivers_nothing(node: Node) -> None:
    old, new = node(), node()
    old.post()
    old.time.go(FOLLOW_SECONDS)
    new.callbacks.behaviour = confirming(hanging)
    publish(new, "newer", 2)
    new.time.go(3600)
    assert {content(FEED, "newer")} == set(new.callbacks.bodies())
    assert 2 == feed_version(old)


def test_a_pause_and_its_end_are_followed_within_a_second(node: Node) -> None:
    one, other = node(), node()
    one.post()
    one.time.go(FOLLOW_SECONDS)
    result_of(one.hub.pause())
    one.time.go(FOLLOW_SECONDS)
    assert 503 == other.post("https://late.example.org/").status
    for each in (one, other):
        publish(each, "second", 2)
    assert [] == one.callbacks.sent
    result_of(other.hub.resume())
    one.time.go(FOLLOW_SECONDS)
    assert [content(FEED, "second")] == one.callbacks.bodies()
    assert 202 == one.post("https://late.example.org/").status


def test_a_block_counts_at_every_nodes_door(node: Node) -> None:
    one, other = node(), node()
    result_of(one.operator.block("bad.example.org", "", dry_run=False))
    assert 403 == other.post("https://bad.example.org/").status
    other.time.go(FOLLOW_SECONDS)
    assert ["bad.example.org"] == [block.value for block in other.operator_state.blocks]


@pytest.mark.parametrize(("behaviour", "delivered"), [(good, 1), (confirming(hanging), 0)])
def test_a_push_ends_when_other_nodes_have_made_the_attempts(
    node: Node,
    behaviour: Behaviour,
    delivered: int,
) -> None:
    working, idle = node(), node(start=False)
    working.post()
    working.time.go(FOLLOW_SECONDS)
    working.callbacks.behaviour = behaviour
    steps: list[Step] = []
    results: list[PushResult] = []
    Deferred.fromCoroutine(idle.operator.push(None, None, steps.append)).addCallback(results.append)
    working.time.go(60.0)
    expected = PushResult(total=1, delivered=delivered, failed=1 - delivered, removed=0)
    assert [expected] == results
    assert Step("pushing", 1, 1, 1 - delivered) == steps[-1]


def test_an_idle_node_asks_for_one_thing_a_second(node: Node) -> None:
    """Four questions a second, each of them a transaction behind the lock, cost 1 % of a processor."""
    idle, other = node(), node(start=False)
    idle.time.go(60)
    before = idle.store.transactions
    idle.time.go(60)
    assert 60 / FOLLOW_SECONDS + 2 * 60 / SHARED_MAX_PAUSE + 5 >= idle.store.transactions - before

    assert 202 == other.post().status
    idle.time.go(FOLLOW_SECONDS)
    assert 1 == len(idle.callbacks.asked)


def test_what_another_node_has_changed_is_followed_though_the_store_fails_at_first(
    node: Node,
) -> None:
    """What was noticed may not be forgotten before it is followed."""
    one, other = node(), node()
    result_of(other.operator_state.block("bad.example.org", "", dry_run=False))
    asked = iter([None, "before"])  # it says that there is something, and fails
    one.store.fault = lambda: next(asked, None)
    one.time.go(2 * FOLLOW_SECONDS)
    assert ["bad.example.org"] == [block.value for block in one.operator_state.blocks]
