"""Topics: which version of its content each of the three has (security-and-operations.md D2, D8).

A version is a number that rises with every change of the bytes and is never used again. The bytes
themselves are in the snapshot; here is their digest, so that a process can tell whether what it
would send is what the store speaks of.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reviewsd.store.transactions import SqlCursor


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One topic as the store knows it."""

    id: int
    path: str
    version: int
    sha256: str
    changed_at: int
    """Milliseconds since 1970 UTC."""


def topics(cursor: SqlCursor) -> dict[str, Topic]:
    """All topics by path; none before the first ``bump``."""
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
    """Take over a snapshot: raise the version of each topic whose bytes are others (H10).

    Args:
        cursor: Of a transaction: all topics of a snapshot change together.
        digests: By path: the sha256 of the content.
        data_revision: When the newest source file was modified, milliseconds since 1970 UTC.
        now: The same.
        newer_only: Change nothing unless the data is newer than what was last taken over, so that
            nodes with different data do not take turns (D8).

    Returns:
        All topics as they are now.
    """
    known = topics(cursor)
    cursor.execute("SELECT COALESCE(MAX(data_revision), 0) FROM topic")
    (newest,) = cursor.fetchall()[0]
    for path, sha256 in digests.items():
        topic = known.get(path)
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
