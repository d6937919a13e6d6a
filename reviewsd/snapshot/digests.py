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

from reviewsd.snapshot import layout as names
from reviewsd.snapshot.layout import File, Writer

_SIZE = 16  # bytes


class DigestsWriter:
    """Digests reviews as they are served, newest first.

    Args:
        folder: Where the files are made.
    """

    def __init__(self, folder: Path) -> None:
        self._each = Writer(folder, names.DIGESTS)
        self._chain = Writer(folder, names.CHAIN)
        self._last = _digest(b"")
        self._chain.write(self._last)

    def add(self, record: bytes) -> None:
        """The next review."""
        digest = _digest(record)
        self._each.write(digest)
        self._last = _digest(self._last + digest)
        self._chain.write(self._last)

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
            self._known = [bytes(_item(each, at)) for at in range(len(each) // _SIZE)]

    def of(self, positions: Sequence[int]) -> bytes:
        """What tells these reviews, in this order, from all others."""
        if self._known is not None:
            known = self._known
            return b"".join([known[position] for position in positions])
        each = self._each
        return b"".join([each[_SIZE * at : _SIZE * at + _SIZE] for at in positions])

    def of_newest(self, count: int) -> bytes:
        """What tells so many of the newest reviews from all others."""
        return bytes(_item(self._chain, count))


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:_SIZE]


def _item(column: "memoryview[int]", number: int) -> "memoryview[int]":
    return column[_SIZE * number : _SIZE * (number + 1)]
