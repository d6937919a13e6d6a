"""Blocks of consecutive reviews, and a file with the analyser's results for each (insights.md 1).

A publication counts only changed blocks again, and analyses only the new texts in them. The ids of the reviews
decide where a block ends, so an added, removed or changed review affects only its own block. The file ends with a
directory of its blocks. A damaged file is treated as empty.
"""

import mmap
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec
from msgspec import Raw, Struct

from reviewsd.analysis.counts import Counts
from reviewsd.analysis.labels import Labels
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


class KeptBlock(Struct, frozen=True, array_like=True):
    """The results for a block."""

    counts: Counts
    entries: memoryview
    """The entries of ``per_review``, separated by commas."""
    bounds: list[int]
    """Begin and end of each value in ``entries``."""
    labels: memoryview
    """Labels by ``label_key`` as MessagePack; only read for changed blocks."""


encode = msgspec.msgpack.Encoder().encode
_decode_directory = msgspec.msgpack.Decoder(_Directory).decode
_decode_block = msgspec.msgpack.Decoder(KeptBlock).decode
_decode_encoded = msgspec.msgpack.Decoder(dict[str, Raw]).decode
_decode_labels = msgspec.msgpack.Decoder(Labels).decode


class KeptBlocks:
    """The blocks of the last publication, and those of this one for the next.

    Args:
        earlier: The file of the last publication; an absent or damaged one has no blocks.
        file: An open, empty file for this one.
    """

    def __init__(self, earlier: Path, file: BinaryIO) -> None:
        self._content = memoryview(_mapped(earlier))
        directory = self._directory()
        self._digest = directory.digest
        self._earlier = {entry.key: entry for entry in directory.entries}
        self._file = file
        self._size = 0
        self._entries: list[_Entry] = []

    def block(self, key: bytes, count: Callable[[], KeptBlock]) -> KeptBlock:
        """Return the block of a key, stored or counted now, and keep it.

        Args:
            key: The key; blocks come in their order.
            count: Counts the block.
        """
        if (earlier := self._find(key)) is not None:
            content, block = earlier
            self._add(key, content)
            return block
        block = count()
        self._add(key, encode(block))
        return block

    def labels_of_others(self, keys: Iterable[bytes], digest: bytes) -> "EncodedLabels":
        """Return the labels of blocks that are gone, if they were made with the same rules.

        Args:
            keys: The keys of the blocks of this publication.
            digest: The ``digest`` of ``spans``.
        """
        labels: dict[str, Raw] = {}
        if digest != self._digest:
            return EncodedLabels(labels)
        for key in self._earlier.keys() - set(keys):
            if (earlier := self._find(key)) is not None:
                labels |= _decode_encoded(earlier[1].labels)
        return EncodedLabels(labels)

    def finish(self, digest: bytes) -> None:
        """Write the directory.

        Args:
            digest: The ``digest`` of ``spans``.
        """
        self._file.write(encode(_Directory(digest, self._entries)))
        self._file.write(self._size.to_bytes(_NUMBER, "little"))

    def _find(self, key: bytes) -> tuple[memoryview, KeptBlock] | None:
        """Return the earlier block of a key, encoded and decoded; None if absent, damaged or of another version."""
        entry = self._earlier.get(key)
        if entry is None:
            return None
        content = self._content[entry.begin : entry.begin + entry.size]
        if zlib.crc32(content) != entry.checksum:
            return None
        try:
            return content, _decode_block(content)
        except msgspec.MsgspecError:
            return None

    def _add(self, key: bytes, content: bytes | memoryview) -> None:
        self._entries.append(_Entry(key, self._size, len(content), zlib.crc32(content)))
        self._file.write(content)
        self._size += len(content)

    def _directory(self) -> _Directory:
        end = len(self._content) - _NUMBER
        begin = int.from_bytes(self._content[max(0, end) :], "little")
        try:
            return _decode_directory(self._content[begin : max(0, end)])
        except msgspec.MsgspecError:
            return _Directory()


class EncodedLabels:
    """Labels that are decoded on demand, because most are never looked up.

    Args:
        encoded: Encoded labels by key.
    """

    def __init__(self, encoded: Mapping[str, Raw]) -> None:
        self._encoded = encoded

    def get(self, key: str, /) -> Labels | None:
        """Return the labels of a key, or None."""
        labels = self._encoded.get(key)
        return None if labels is None else _decode_labels(labels)


def _mapped(path: Path) -> bytes | mmap.mmap:
    """Map a file; an absent or empty one is ``b""``."""
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return b""
