"""Compares the ids of a snapshot with those of all earlier ones (notices.md 3).

Of each id a digest of 8 bytes is kept, for good: a review that is gone for a while is not new when it comes
back. A million of them take 8 MB, and a second of a thread when there are new ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from reviewsd.domain.reviews import Review
from reviewsd.notices.state import MAX_EVENTS
from reviewsd.snapshot.snapshots import Snapshot

_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewComparison:
    """The reviews of a snapshot that were not known."""

    version: int = 0
    """The version of the digests that were compared."""
    known_digests: bytes | None = None
    """The digests of all ids, if there are further ones."""
    new: Sequence[Review] = ()
    """Newest first, at most ``MAX_EVENTS``; none where nothing was known before."""


def compare(snapshot: Snapshot, version: int, known_digests: bytes | None) -> ReviewComparison:
    """Find the new reviews of a snapshot; for a thread.

    Args:
        snapshot: The snapshot.
        version: The version of ``known_digests``.
        known_digests: The digests of the known ids; None before the first publication.
    """
    digests = [*map(_digest, map(snapshot.records.id_at, range(snapshot.columns.count)))]
    if known_digests is None:
        return ReviewComparison(version=version, known_digests=b"".join(digests))
    starts = range(0, len(known_digests), _DIGEST_BYTES)
    before = {known_digests[at : at + _DIGEST_BYTES] for at in starts}
    added = [position for position, digest in enumerate(digests) if digest not in before]
    return ReviewComparison(
        version=version,
        known_digests=known_digests + b"".join(map(digests.__getitem__, added)) if added else None,
        new=[*map(snapshot.records.review_at, added[:MAX_EVENTS])],
    )


def _digest(review_id: str) -> bytes:
    return blake2b(review_id.encode(), digest_size=_DIGEST_BYTES).digest()


def find_review(snapshot: Snapshot, review_id: str) -> Review | None:
    """Return the review of an id as it is published now; None where it is not."""
    position = snapshot.position(review_id)
    if position is None or snapshot.records.id_at(position) != review_id:
        return None
    return snapshot.records.review_at(position)
