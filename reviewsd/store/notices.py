"""The rows of notices: the reviews that are known, and the state of each target (notices.md 4).

The functions are transactions for ``Database.run``. What the states mean is in ``notices.state``.
"""

from collections.abc import Mapping, Sequence

from reviewsd.store.transactions import MANY, SqlCursor


def known_ids(cursor: SqlCursor) -> tuple[int, bytes | None]:
    """Return the digests of the ids that are known, and their version; None before the first."""
    row = cursor.execute("SELECT version, ids FROM notice_known").fetchone()
    assert row is not None  # noqa: S101  the migration has written it
    version, ids = row
    return version, None if ids is None else bytes(ids)


def replace_known_ids(cursor: SqlCursor, version: int, ids: bytes | None) -> bool:
    """Replace the digests of a version; return False if another node did so after they were read.

    ``ids`` is None as if none was ever published.
    """
    cursor.execute(
        "UPDATE notice_known SET version = version + 1, ids = ? WHERE version = ?", (ids, version)
    )
    return cursor.rowcount == 1


def target_states(cursor: SqlCursor) -> Mapping[str, str]:
    """Return the state of each target, by name."""
    return dict(cursor.execute("SELECT target, state FROM notice").fetchall())


def save_target_state(cursor: SqlCursor, target: str, state: str) -> None:
    """Write the state of a target."""
    cursor.execute(
        "INSERT INTO notice (target, state) VALUES (?, ?)"
        " ON CONFLICT (target) DO UPDATE SET state = excluded.state",
        (target, state),
    )


def drop_other_targets(cursor: SqlCursor, targets: Sequence[str]) -> None:
    """Delete the states of targets that are not configured any more."""
    cursor.execute(f"DELETE FROM notice WHERE NOT target IN {MANY}", (list(targets),))
