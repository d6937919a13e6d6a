"""Blocks of consecutive reviews, and a file that stores a result for each block for the next publication.

The ids of the reviews decide where a block ends, so an added, removed or changed review affects only
its own block. The file ends with a directory of its blocks. A damaged file is treated as empty.
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

# Reviews; with fewer, summing all blocks takes longer than counting a changed one
_MEAN: Final = 256
_MAX_REVIEWS: Final = 4 * _MEAN
_KEY: Final = 16  # bytes
_NUMBER: Final = 8  # bytes of the number that ends the file


class Span(NamedTuple):
    """A block of reviews."""

    begin: int
    """Position of the first review."""
    end: int
    """Position after the last review."""
    key: bytes
    """Digest of the reviews and the rules."""


def spans(records: Records, digest: bytes) -> Iterator[Span]:
    """Yield the blocks of all reviews.

    Args:
        records: The reviews.
        digest: Digest of the rules and of everything else the results depend on.
    """
    begin, last = 0, len(records)
    for position, checksum in enumerate(map(zlib.crc32, map(str.encode, records.ids)), start=1):
        if not checksum % _MEAN or position - begin == _MAX_REVIEWS or position == last:
            digests = records.digests(begin, position)
            yield Span(begin, position, blake2b(digests, digest_size=_KEY, key=digest).digest())
            begin = position


class _Entry(Struct, frozen=True, array_like=True):
    """The place of a block in the file."""

    key: bytes
    begin: int
    size: int
    checksum: int


class _Directory(Struct, frozen=True, array_like=True):
    """The directory at the end of the file."""

    digest: bytes = b""
    """The ``digest`` of ``spans``."""
    entries: list[_Entry] = []


_encode = msgspec.msgpack.Encoder().encode
_decode_directory = msgspec.msgpack.Decoder(_Directory).decode


class BlocksReader:
    """The blocks of an earlier publication.

    Args:
        path: The file; an absent or damaged one has no blocks.
    """

    def __init__(self, path: Path) -> None:
        self._content = memoryview(mapped(path))
        directory = self._directory()
        self.digest = directory.digest
        """The ``digest`` of ``spans``."""
        self._entries = {entry.key: entry for entry in directory.entries}

    def find(self, key: bytes) -> memoryview | None:
        """Return the block of a key; None if it is absent or damaged."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        content = self._content[entry.begin : entry.begin + entry.size]
        return content if zlib.crc32(content) == entry.checksum else None

    def keys(self) -> KeysView[bytes]:
        """Return the keys of all blocks."""
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
        file: An open, empty file.
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
        """Write the directory."""
        self._file.write(_encode(_Directory(digest, self._entries)))
        self._file.write(self._size.to_bytes(_NUMBER, "little"))


def mapped(path: Path) -> bytes | mmap.mmap:
    """Map a file; an absent or empty one is ``b""``."""
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return b""
