"""Topics: the version of the content of each of the three (security-and-operations.md D2, D8).

A version is a number that rises with each change of the bytes and is never used again. The bytes are in
the snapshot; the store has their digest, so that a process can compare its content with the store's version.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reviewsd.store.transactions import SqlCursor


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One topic in the store."""

    id: int
    path: str
    version: int
    sha256: str
    changed_at: int
    """Milliseconds since 1970 UTC."""


def topics(cursor: SqlCursor) -> dict[str, Topic]:
    """Return all topics by path; none before the first ``bump``."""
    cursor.execute("SELECT id, path, version, sha256, changed_at FROM topic ORDER BY id")
    return {
        row[1]: Topic(id=row[0], path=row[1], version=row[2], sha256=row[3], changed_at=row[4])
        for row in cursor.fetchall()
    }


def bump(
    cursor: SqlCursor,
    digests: Mapping[str, str],
    data_revision: int,
    now: int,
    *,
    newer_only: bool = False,
) -> dict[str, Topic]:
    """Raise the version of each topic whose bytes have changed (H10).

    Args:
        cursor: The cursor of a transaction: all topics of a snapshot change together.
        digests: The sha256 of each content, by path.
        data_revision: When the newest source file was modified, milliseconds since 1970 UTC.
        now: Milliseconds since 1970 UTC.
        newer_only: Change nothing unless the data is newer than the data in the store, so that
            nodes with different data do not replace each other's versions (D8).

    Returns:
        All topics after the change.
    """
    current = topics(cursor)
    cursor.execute("SELECT COALESCE(MAX(data_revision), 0) FROM topic")
    (newest,) = cursor.fetchall()[0]
    for path, sha256 in digests.items():
        topic = current.get(path)
        if topic is None:
            cursor.execute(
                "INSERT INTO topic (path, version, sha256, data_revision, changed_at)"
                " VALUES (?, 1, ?, ?, ?)",
                (path, sha256, data_revision, now),
            )
        elif topic.sha256 != sha256 and (not newer_only or data_revision > newest):
            cursor.execute(
                "UPDATE topic SET version = version + 1, sha256 = ?, data_revision = ?,"
                " changed_at = ? WHERE id = ?",
                (sha256, data_revision, now, topic.id),
            )
    return topics(cursor)
