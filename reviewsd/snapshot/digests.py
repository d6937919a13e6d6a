"""Digests of the reviews, from which computed responses get their entity tags (contract 2).

A response to ``since`` may have all reviews, so no request hashes their bytes. Each review has a digest, made at
publication (``digests.column``), and so has each run of the newest 0, 1, 2 ... reviews (``chain.column``), made of the
digest of the run that is shorter by one and that of the last review. Equal bytes have equal digests on every node.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from reviewsd.snapshot import layout as names
from reviewsd.snapshot.layout import File, Writer

SIZE = 16  # bytes of a digest


class DigestsWriter:
    """Writes the digests of the served reviews, newest first."""

    def __init__(self, folder: Path) -> None:
        self._reviews = Writer(folder, names.DIGESTS)
        self._chain = Writer(folder, names.CHAIN)
        self._last = digest(b"")
        self._chain.write(self._last)

    def extend(self, reviews: Iterable[bytes]) -> None:
        """Add reviews in their served form."""
        for own in map(digest, reviews):
            self._last = digest(self._last + own)
            self._reviews.write(own)
            self._chain.write(self._last)

    def close(self) -> dict[str, File]:
        """Finish the files, and return them."""
        return {names.DIGESTS: self._reviews.close(), names.CHAIN: self._chain.close()}


class Digests:
    """The digests of the reviews and runs of a snapshot; few are held in memory, which is faster."""

    def __init__(self, reviews: "memoryview[int]", chain: "memoryview[int]", *, few: bool) -> None:
        self._reviews, self._chain = reviews, chain
        places = range(0, len(reviews) if few else 0, SIZE)
        self._held = [bytes(reviews[place : place + SIZE]) for place in places]

    def of(self, positions: Sequence[int]) -> bytes:
        """Return the joined digests of reviews."""
        if held := self._held:
            return b"".join([held[position] for position in positions])
        reviews = self._reviews
        return b"".join([reviews[SIZE * at : SIZE * at + SIZE] for at in positions])

    def of_newest(self, count: int) -> bytes:
        """Return the digest of the run of the newest reviews."""
        return bytes(self._chain[SIZE * count : SIZE * count + SIZE])


def digest(content: bytes) -> bytes:
    """Return the digest of the served form of a review."""
    return hashlib.sha256(content).digest()[:SIZE]
