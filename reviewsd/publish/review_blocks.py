"""Renders reviews in blocks, and copies unchanged blocks from the last snapshot.

A block (``block_file.spans``) has all rendered parts of its reviews: records, excerpts, texts, digests
and counts. They depend only on the bytes of the reviews and on the rules, whose digest is the key of
the block. Copied and rendered blocks are written in the same way, so the bytes of a snapshot do not
depend on the one before.

``layout.REVIEW_BLOCKS`` has the position of each block, a checksum of the parts to copy, and the counts
that no other file of the snapshot has.
"""

import mmap
import zlib
from array import array
from collections.abc import Iterable, Iterator
from operator import sub
from pathlib import Path
from typing import NamedTuple, Self

import msgspec
from msgspec import Struct

from reviewsd.domain.dataset import REVIEWS_FILE
from reviewsd.domain.records import Records
from reviewsd.domain.reviews import Review
from reviewsd.http1.representation import Buffer
from reviewsd.publish import documents, excerpts
from reviewsd.publish.block_file import BlocksReader, BlocksWriter, mapped, spans
from reviewsd.publish.site import StatisticsCounter
from reviewsd.snapshot import digests, layout
from reviewsd.snapshot.columns_writer import mark
from reviewsd.snapshot.text_index_writer import folded


class Earlier(NamedTuple):
    """The last snapshot."""

    folder: Path
    """Its folder, which may not exist."""
    rules: bytes
    """Digest of everything but the reviews that the rendered bytes depend on."""


class Slices(NamedTuple):
    """Consecutive parts of a file."""

    content: Buffer
    sizes: "array[int]"
    """Bytes of each part, including its separator; the last one counts one as well."""


class ReviewBlock(NamedTuple):
    """The rendered parts of consecutive reviews, newest first."""

    records: Slices
    """The records of reviews.json, separated by commas."""
    excerpts: Slices
    """The excerpts for agents, separated by commas."""
    texts: Slices
    """Casefolded texts, each with its separator."""
    digests: Buffer
    marks: bytes
    """The byte of each review (``columns_writer.mark``)."""
    sources: list[str]
    """The source of each review."""
    counted: StatisticsCounter
    checksum: int
    """Checksum of the slices and digests."""


class _IndexEntry(Struct, frozen=True, array_like=True):
    """A block of the last snapshot."""

    begin: int
    """Position of the first review."""
    marks: bytes
    sources: list[str]
    counted: StatisticsCounter
    checksum: int


_BETWEEN_FORGETTING = 256  # blocks, of 0.3 MB as a rule

_decode = msgspec.json.Decoder(Review).decode
_encode_entry = msgspec.msgpack.Encoder().encode
_decode_entry = msgspec.msgpack.Decoder(_IndexEntry).decode


def render(raws: Iterable[bytes]) -> ReviewBlock:
    """Render a block.

    Args:
        raws: The reviews of reviews.json.
    """
    records, listed, texts, sources, marks = [], [], [], [], bytearray()
    counted = StatisticsCounter()
    for raw in raws:
        review = _decode(raw)
        rendered = documents.review(raw, review)
        records.append(rendered.content)
        listed.append(excerpts.listed(rendered, review))
        texts.append(folded(review.text))
        has_reply = review.owner_reply is not None
        marks.append(mark(review.rating, verified=review.verified, has_reply=has_reply))
        sources.append(review.source)
        counted.add(review)
    joined = _slices(b",", records), _slices(b",", listed), _slices(b"", texts)
    digested = b"".join(map(digests.digest, records))
    checksum = _checksum(*joined, digested)
    return ReviewBlock(*joined, digested, bytes(marks), sources, counted, checksum)


class EarlierReviews:
    """The blocks of the last snapshot.

    Args:
        folder: Its folder; an absent one, or one with damaged files, has no blocks.
    """

    def __init__(self, folder: Path) -> None:
        self._blocks = BlocksReader(folder / layout.REVIEW_BLOCKS)
        self._records = _EarlierSlices(folder, REVIEWS_FILE, layout.RECORDS, between=1)
        self._excerpts = _EarlierSlices(folder, layout.EXCERPTS, layout.EXCERPT_OFFSETS, between=1)
        self._texts = _EarlierSlices(folder, layout.TEXTS, layout.TEXT_OFFSETS, between=0)
        self._digests = memoryview(mapped(folder / layout.DIGESTS))

    def find(self, key: bytes) -> ReviewBlock | None:
        """Return the block of a key; None if it is absent or damaged."""
        content = self._blocks.find(key)
        try:
            block = None if content is None else _decode_entry(content)
        except msgspec.MsgspecError:  # of another version
            block = None
        if block is None:
            return None
        begin, end = block.begin, block.begin + len(block.marks)
        files = (self._records, self._excerpts, self._texts)
        try:
            records, listed, texts = (file.between(begin, end) for file in files)
        except OverflowError:  # damaged: an offset is less than the one before
            return None
        digested = self._digests[digests.SIZE * begin : digests.SIZE * end]
        checksum = _checksum(records, listed, texts, digested)
        if checksum != block.checksum:
            return None
        return ReviewBlock(
            records, listed, texts, digested, block.marks, block.sources, block.counted, checksum
        )

    def forget(self) -> None:
        """Release the memory of pages that were read and are not needed again."""
        for file in (self._records, self._excerpts, self._texts):
            file.forget()


class ReusedReviews:
    """A context that yields blocks, copied if possible, and writes their index for the next publication.

    Args:
        earlier: The last snapshot; None renders all blocks, and writes no index.
        target: The folder of the new snapshot.
    """

    def __init__(self, earlier: Earlier | None, target: Path) -> None:
        self._rules = b"" if earlier is None else earlier.rules
        self._earlier = None if earlier is None else EarlierReviews(earlier.folder)
        self._file = None if earlier is None else (target / layout.REVIEW_BLOCKS).open("xb")
        self._index = None if self._file is None else BlocksWriter(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def blocks(self, records: Records) -> Iterator[tuple[int, ReviewBlock]]:
        """Yield all reviews in blocks, each with the position of its first review."""
        for number, (begin, end, key) in enumerate(spans(records, self._rules)):
            earlier = None
            if self._earlier is not None:
                if not number % _BETWEEN_FORGETTING:
                    self._earlier.forget()
                earlier = self._earlier.find(key)
            block = earlier or render(records.raws(begin, end))
            if self._index is not None:
                entry = _IndexEntry(
                    begin, block.marks, block.sources, block.counted, block.checksum
                )
                self._index.add(key, _encode_entry(entry))
            yield begin, block
        if self._index is not None:
            self._index.finish(self._rules)


class _EarlierSlices:
    """Parts of a file of the last snapshot."""

    def __init__(self, folder: Path, content: str, offsets: str, *, between: int) -> None:
        self._file = mapped(folder / content)
        self._content = memoryview(self._file)
        raw = memoryview(mapped(folder / offsets))
        self._offsets = raw[: len(raw) // 8 * 8].cast("Q")
        self._between = between
        """Bytes of the separator of two parts."""

    def forget(self) -> None:
        if isinstance(self._file, mmap.mmap):
            self._file.madvise(mmap.MADV_DONTNEED)

    def between(self, begin: int, end: int) -> Slices:
        """Return the parts from ``begin`` to ``end - 1``; fewer if the files are damaged."""
        offsets = self._offsets[begin : end + 1].tolist()
        sizes = array("Q", map(sub, offsets[1:], offsets))
        if not sizes:
            return Slices(b"", sizes)
        return Slices(self._content[offsets[0] : offsets[-1] - self._between], sizes)


def _slices(between: bytes, parts: list[bytes]) -> Slices:
    sizes = map(len(between).__add__, map(len, parts))
    return Slices(between.join(parts), array("Q", sizes))


def _checksum(records: Slices, listed: Slices, texts: Slices, digested: Buffer) -> int:
    checksum = zlib.crc32(digested)
    for content, sizes in (records, listed, texts):
        checksum = zlib.crc32(sizes, zlib.crc32(content, checksum))
    return checksum
