"""Runs of reviews that are worked on together, and a file that keeps what came out for the next publication.

Where a block ends is decided by the ids of the reviews, so a review that comes, goes or changes leaves the
other blocks as they were. The file holds something for each block and, at its end, where that stands. What is
not whole, as after a power cut, is as good as none.
"""

import mmap
import zlib
from collections.abc import Iterator, KeysView
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec
from msgspec import Struct

from reviewsd.domain.records import Records

_MEAN: Final = 256  # reviews: fewer, and adding up takes longer than counting a changed block
_MOST: Final = 4 * _MEAN
_KEY: Final = 16  # bytes
_NUMBER: Final = 8  # bytes of the number that ends the file


class Span(NamedTuple):
    """A block of the reviews, by position."""

    begin: int
    end: int
    """The position after the last."""
    key: bytes
    """Stands for its reviews and for all that they are analysed with."""


def spans(records: Records, digest: bytes) -> Iterator[Span]:
    """The blocks of all reviews.

    Args:
        records: The reviews.
        digest: Stands for the rules and everything else that they were given.
    """
    begin, last = 0, len(records)
    for position, checksum in enumerate(map(zlib.crc32, map(str.encode, records.ids)), start=1):
        if not checksum % _MEAN or position - begin == _MOST or position == last:
            digests = records.digests(begin, position)
            yield Span(begin, position, blake2b(digests, digest_size=_KEY, key=digest).digest())
            begin = position


class _Entry(Struct, frozen=True, array_like=True):
    """Where a block stands in the file."""

    key: bytes
    begin: int
    size: int
    checksum: int


class _Directory(Struct, frozen=True, array_like=True):
    """What stands at the end of the file."""

    digest: bytes = b""
    """As of ``spans``."""
    entries: list[_Entry] = []


_encode = msgspec.msgpack.Encoder().encode
_decode_directory = msgspec.msgpack.Decoder(_Directory).decode


class BlocksReader:
    """The blocks of an earlier publication.

    Args:
        path: Of the file; where there is none, or it is not whole, nothing is found.
    """

    def __init__(self, path: Path) -> None:
        self._content = memoryview(mapped(path))
        directory = self._directory()
        self.digest = directory.digest
        """That the keys were made with."""
        self._entries = {entry.key: entry for entry in directory.entries}

    def find(self, key: bytes) -> memoryview | None:
        """The block of a key; None where there is none that is whole."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        content = self._content[entry.begin : entry.begin + entry.size]
        return content if zlib.crc32(content) == entry.checksum else None

    def keys(self) -> KeysView[bytes]:
        """Of all blocks."""
        return self._entries.keys()

    def _directory(self) -> _Directory:
        end = len(self._content) - _NUMBER
        begin = int.from_bytes(self._content[max(0, end) :], "little")
        try:
            return _decode_directory(self._content[begin : max(0, end)])
        except msgspec.MsgspecError:
            return _Directory()


class BlocksWriter:
    """Writes blocks in their order.

    Args:
        file: Open, and empty.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = 0
        self._entries: list[_Entry] = []

    def add(self, key: bytes, content: bytes | memoryview) -> None:
        """Write a block."""
        self._entries.append(_Entry(key, self._size, len(content), zlib.crc32(content)))
        self._file.write(content)
        self._size += len(content)

    def finish(self, digest: bytes) -> None:
        """Write where they are, and the digest that their keys were made with."""
        self._file.write(_encode(_Directory(digest, self._entries)))
        self._file.write(self._size.to_bytes(_NUMBER, "little"))


def mapped(path: Path) -> bytes | mmap.mmap:
    """The content of a file; nothing where it is not there."""
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # it is not there, or empty
        return b""
