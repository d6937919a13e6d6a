"""Digests of the reviews, from which computed answers get their entity tags (contract 2).

An answer to a search has a page of reviews, one to ``since`` may have all of them: no request hashes
their bytes. Each review has a digest, made at publication; and so has each run of the newest reviews, made
of the digest of the run that is shorter by one and that of the last review. Equal bytes have equal digests
in every snapshot and on every node, and others different ones.

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
    """Digests reviews as they are served, newest first.

    Args:
        folder: Where the files are made.
    """

    def __init__(self, folder: Path) -> None:
        self._each = Writer(folder, names.DIGESTS)
        self._chain = Writer(folder, names.CHAIN)
        self._last = digest(b"")
        self._chain.write(self._last)

    def extend(self, digests: Buffer) -> None:
        """The digests of the next reviews, joined."""
        self._each.write(digests)
        last, chain = self._last, []
        for at in range(0, len(digests), SIZE):
            last = digest(last + digests[at : at + SIZE])
            chain.append(last)
        self._last = last
        self._chain.write(b"".join(chain))

    def close(self) -> dict[str, File]:
        """Write everything."""
        return {names.DIGESTS: self._each.close(), names.CHAIN: self._chain.close()}


class Digests:
    """The digests of a snapshot.

    Args:
        each: The file of the reviews' digests.
        chain: The file of the runs' digests.
        few: Whether there are so few that all are kept in memory, where they are read in a quarter
            of the time.
    """

    def __init__(self, each: "memoryview[int]", chain: "memoryview[int]", *, few: bool) -> None:
        self._each, self._chain = each, chain
        self._known = None
        if few:
            self._known = [bytes(_item(each, at)) for at in range(len(each) // SIZE)]

    def of(self, positions: Sequence[int]) -> bytes:
        """What tells these reviews, in this order, from all others."""
        if self._known is not None:
            known = self._known
            return b"".join([known[position] for position in positions])
        each = self._each
        return b"".join([each[SIZE * at : SIZE * at + SIZE] for at in positions])

    def of_newest(self, count: int) -> bytes:
        """What tells so many of the newest reviews from all others."""
        return bytes(_item(self._chain, count))


def digest(content: bytes) -> bytes:
    """The digest of a review as it is served."""
    return hashlib.sha256(content).digest()[:SIZE]


def _item(column: "memoryview[int]", number: int) -> "memoryview[int]":
    return column[SIZE * number : SIZE * (number + 1)]
