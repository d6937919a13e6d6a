"""Digests of the reviews, from which computed responses get their entity tags (contract 2).

A response to a search has a page of reviews, one to ``since`` may have all of them, so no request hashes
their bytes. Each review has a digest, made at publication. Each run of the newest reviews has one too, made
of the digest of the run that is shorter by one and that of the last review. Equal bytes have equal digests
in every snapshot and on every node, and different bytes have different ones.

    digests.column   of each review, the newest first
    chain.column     of the newest 0, 1, 2 ... reviews together
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from reviewsd.http1.representation import Buffer
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.layout import File, Writer

SIZE = 16
"""Bytes of a digest."""


class DigestsWriter:
    """Writes the digests of the served reviews, newest first.

    Args:
        folder: The folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._reviews = Writer(folder, names.DIGESTS)
        self._chain = Writer(folder, names.CHAIN)
        self._last = digest(b"")
        self._chain.write(self._last)

    def extend(self, digests: Buffer) -> None:
        """Add the joined digests of reviews."""
        self._reviews.write(digests)
        last, chain = self._last, []
        for at in range(0, len(digests), SIZE):
            last = digest(last + digests[at : at + SIZE])
            chain.append(last)
        self._last = last
        self._chain.write(b"".join(chain))

    def close(self) -> dict[str, File]:
        """Finish the files, and return them."""
        return {names.DIGESTS: self._reviews.close(), names.CHAIN: self._chain.close()}


class Digests:
    """The digests of a snapshot.

    Args:
        reviews: The file of the reviews' digests.
        chain: The file of the runs' digests.
        few: Whether there are so few that all are held in memory, which reads them five times as
            fast.
    """

    def __init__(self, reviews: "memoryview[int]", chain: "memoryview[int]", *, few: bool) -> None:
        self._reviews, self._chain = reviews, chain
        self._digests = None
        if few:
            count = len(reviews) // SIZE
            self._digests = [bytes(reviews[SIZE * at : SIZE * at + SIZE]) for at in range(count)]

    def of(self, positions: Sequence[int]) -> bytes:
        """Return the joined digests of reviews."""
        if self._digests is not None:
            digests = self._digests
            return b"".join([digests[position] for position in positions])
        reviews = self._reviews
        return b"".join([reviews[SIZE * at : SIZE * at + SIZE] for at in positions])

    def of_newest(self, count: int) -> bytes:
        """Return the digest of the run of the newest reviews."""
        return bytes(self._chain[SIZE * count : SIZE * count + SIZE])


def digest(content: bytes) -> bytes:
    """Return the digest of the served form of a review."""
    return hashlib.sha256(content).digest()[:SIZE]
