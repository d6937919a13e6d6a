"""The hub's rows: versions, states, what runs out, what the operator orders (D2, H7, H10)."""

from functools import partial

import pytest

from reviewsd.store import deliveries
from reviewsd.store.rows import note_end
from tests.support.hub import CALLBACK, FEED, START
from tests.support.hub_rows import NEW, OLD, PAIR, Rows


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


def test_oldest_ends_are_deleted(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table does not grow without limit (I5)."""
    monkeypatch.setattr("reviewsd.store.rows.MAX_ENDED", 3)
    for number in range(5):
        rows.run(partial(note_end, pair=PAIR, reason=f"reason {number}", now=number))
    assert [(CALLBACK, FEED, f"reason {n}", n) for n in (2, 3, 4)] == rows.sql(
        "SELECT callback, topic, reason, at FROM ended ORDER BY id"
    )
