"""The hub's rows: versions, states, what runs out, what the operator orders (D2, H7, H10)."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest

from reviewsd.domain.subscription import (
    Confirmed,
    DeliveryFailed,
    DeliverySucceeded,
    Removed,
    SubscriptionRequested,
    Unreachable,
    step,
)
from reviewsd.store import deliveries, upkeep
from reviewsd.store.intents import RequestOutcome
from reviewsd.store.rows import load, note_end, save
from reviewsd.store.transactions import SqlCursor
from tests.support.hub import CALLBACK, FEED, START
from tests.support.hub_rows import ASKED, NEW, OLD, PAIR, WAITS, Rows


def test_version_of_a_topic_rises_only_with_its_bytes(rows: Rows) -> None:
    """An unchanged topic is not delivered again (H10, D2)."""
    after = rows.run(lambda cursor: deliveries.bump(cursor, NEW, START, START + 5))
    again = rows.run(lambda cursor: deliveries.bump(cursor, NEW, START + 1, START + 9))
    back = rows.run(lambda cursor: deliveries.bump(cursor, OLD, START, START + 10))

    assert [(2, START + 5), (1, START), (1, START)] == [
        (topic.version, topic.changed_at) for topic in after.values()
    ]
    assert after == again
    assert [3, 1, 1] == [topic.version for topic in back.values()]


def test_saved_state_is_loaded_unchanged(rows: Rows) -> None:
    states = [None, step(None, SubscriptionRequested(ASKED), START)]
    states.append(step(states[-1], Confirmed(), START + 1))
    states.append(step(states[-1], DeliveryFailed(WAITS), START + 2))
    states.append(step(states[-1], SubscriptionRequested(replace(ASKED, challenge="d")), START + 3))
    states.append(step(states[-1], Unreachable(), START + 4))
    states.append(step(states[-1], Confirmed(), START + 5))
    states.append(step(states[-1], DeliverySucceeded(1), START + 6))
    states.append(step(states[-1], Removed(), START + 7))
    for before, after in pairwise(states):
        rows.run(partial(save, pair=PAIR, before=before, after=after))
        assert after == rows.run(lambda cursor: load(cursor, PAIR))


def test_oldest_ends_are_deleted(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table does not grow without limit (I5)."""
    monkeypatch.setattr("reviewsd.store.rows.MAX_ENDED", 3)
    for number in range(5):
        rows.run(partial(note_end, pair=PAIR, reason=f"reason {number}", now=number))

    assert [(CALLBACK, FEED, f"reason {n}", n) for n in (2, 3, 4)] == rows.sql(
        "SELECT callback, topic, reason, at FROM ended ORDER BY id"
    )


def test_block_removes_subscriptions_and_requests(rows: Rows) -> None:
    """A dry run only counts them (H7)."""
    rows.subscribe(2)
    rows.ask(5)

    def block(cursor: SqlCursor, dry_run: bool) -> int:  # noqa: FBT001
        return upkeep.block(cursor, "example.org", "why", START, dry_run=dry_run)

    assert 3 == rows.run(lambda cursor: block(cursor, True))  # noqa: FBT003
    assert [(2,)] == rows.sql("SELECT COUNT(*) FROM subscription")
    assert 3 == rows.run(lambda cursor: block(cursor, False))  # noqa: FBT003
    assert None is rows.run(lambda cursor: load(cursor, PAIR))
    assert 2 * [("blocked by the operator: example.org",)] == rows.sql("SELECT reason FROM ended")
    assert RequestOutcome.BLOCKED is rows.ask()
