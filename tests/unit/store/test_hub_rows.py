"""The hub's rows: versions, states, what runs out, what the operator orders (D2, H7, H10)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest

from reviewsd.domain.subscription import (
    Confirmed,
    Delivered,
    Failed,
    NotConfirmed,
    Removed,
    Subscription,
    SubscriptionRequested,
    Unreachable,
    step,
)
from reviewsd.store import topics, upkeep
from reviewsd.store.intents import Asking, Verified
from reviewsd.store.rows import load, note_end, save
from reviewsd.store.transactions import SqlCursor
from tests.support.hub import CALLBACK, FEED, START
from tests.support.hub_rows import ASKED, NEW, OLD, PAIR, WAITS, Rows


@pytest.fixture
def rows() -> Iterator[Rows]:
    made = Rows()
    yield made
    made.connection.close()


def test_a_version_rises_with_the_bytes_and_only_with_them(rows: Rows) -> None:
    """H10, D2."""
    after = rows.run(lambda cursor: topics.bump(cursor, NEW, START, START + 5))
    again = rows.run(lambda cursor: topics.bump(cursor, NEW, START + 1, START + 9))
    back = rows.run(lambda cursor: topics.bump(cursor, OLD, START, START + 10))

    assert [(2, START + 5), (1, START), (1, START)] == [
        (each.version, each.changed_at) for each in after.values()
    ]
    assert after == again
    assert [3, 1, 1] == [each.version for each in back.values()]


def test_what_is_saved_is_what_is_loaded(rows: Rows) -> None:
    states = [None, step(None, SubscriptionRequested(ASKED), START)]
    states.append(step(states[-1], Confirmed(), START + 1))
    states.append(step(states[-1], Failed(WAITS), START + 2))
    states.append(step(states[-1], SubscriptionRequested(replace(ASKED, challenge="d")), START + 3))
    states.append(step(states[-1], Unreachable(), START + 4))
    states.append(step(states[-1], Confirmed(), START + 5))
    states.append(step(states[-1], Delivered(1), START + 6))
    states.append(step(states[-1], Removed(), START + 7))
    for before, after in pairwise(states):
        rows.run(partial(save, pair=PAIR, before=before, after=after))
        assert after == rows.run(lambda cursor: load(cursor, PAIR))


def test_a_failed_verification_leaves_the_row_byte_for_byte(rows: Rows) -> None:
    """I8, H13."""
    rows.subscribe()
    before = rows.sql("SELECT * FROM subscription")
    for event in (NotConfirmed(), Unreachable()):
        rows.ask(challenge="new")
        (claim,) = rows.verify(token="u")
        rows.verify(results=(Verified(claim, event),))
        assert before == rows.sql("SELECT * FROM subscription")


def test_the_ring_of_ends_forgets_the_oldest(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """I5."""
    monkeypatch.setattr("reviewsd.store.rows.MAX_ENDED", 3)
    for number in range(5):
        rows.run(partial(note_end, pair=PAIR, reason=f"reason {number}", now=number))

    assert [(CALLBACK, FEED, f"reason {n}", n) for n in (2, 3, 4)] == rows.sql(
        "SELECT callback, topic, reason, at FROM ended ORDER BY id"
    )


def test_a_pause_is_remembered(rows: Rows) -> None:
    assert not rows.run(upkeep.paused)
    for at in (START, START + 1):
        rows.run(partial(upkeep.pause, now=at))
        assert rows.run(upkeep.paused)
    rows.run(upkeep.resume)
    assert not rows.run(upkeep.paused)


def test_a_block_removes_facts_of_both_kinds(rows: Rows) -> None:
    """H7."""
    rows.subscribe(2)
    rows.ask(5)

    def block(cursor: SqlCursor, dry_run: bool) -> int:  # noqa: FBT001
        return upkeep.block(cursor, "example.org", "why", START, dry_run=dry_run)

    assert 3 == rows.run(lambda cursor: block(cursor, True))  # noqa: FBT003
    assert [(2,)] == rows.sql("SELECT COUNT(*) FROM subscription")
    assert 3 == rows.run(lambda cursor: block(cursor, False))  # noqa: FBT003
    assert None is rows.run(lambda cursor: load(cursor, PAIR))
    assert 2 * [("blocked by the operator: example.org",)] == rows.sql("SELECT reason FROM ended")
    assert Asking.BLOCKED is rows.ask()


def test_states_in_the_store_are_those_of_the_domain(rows: Rows) -> None:
    """Whoever asks again to be subscribed is renewing, in one row of each table."""
    rows.subscribe()
    rows.ask(challenge="renewal")
    rows.ask(challenge="again")
    found = rows.run(lambda cursor: load(cursor, PAIR))

    assert isinstance(found, Subscription)
    assert "active (renewing)" == found.label
    assert [(1, 1)] == rows.sql(
        "SELECT (SELECT COUNT(*) FROM subscription), (SELECT COUNT(*) FROM verification)"
    )
