"""Reviews as they are served, in blocks that the next publication takes over.

A block (``block_file.spans``) is all that is written of its reviews: records, excerpts, texts, digests and what is
counted. It depends on nothing but their bytes, and on the rules, which its key stands for. So a block whose
reviews are as they were is copied out of the last snapshot; the others are rendered. Both are written in the same
way: the bytes of a snapshot do not depend on the one before it.

What is copied stands in the files of the last snapshot. A file beside them (``layout.REVIEW_BLOCKS``) has the
position of each block, a checksum of what is copied, and the little that stands nowhere else.
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
from reviewsd.snapshot.text_index_writer import folded


class Earlier(NamedTuple):
    """The last snapshot, for the next one."""

    folder: Path
    """There may be none."""
    rules: bytes
    """Stands for all beside the files that reviews are rendered by, now."""


class Slices(NamedTuple):
    """Parts of a file that stand one after the other."""

    content: Buffer
    sizes: "array[int]"
    """Bytes of each with the comma that follows, also of the last, which none follows."""


class ReviewBlock(NamedTuple):
    """All that is written of neighbouring reviews, newest first."""

    records: Slices
    """As they are served, with commas between them."""
    excerpts: Slices
    """As lists give them to agents, with commas between them."""
    texts: Slices
    """Casefolded, each with its separator."""
    digests: Buffer
    ratings: bytes
    counted: StatisticsCounter
    checksum: int
    """Of the slices and digests, as they stand in files."""


class _KnownBlock(Struct, frozen=True, array_like=True):
    """A block of the last snapshot."""

    begin: int
    """The position of its first review."""
    ratings: bytes
    counted: StatisticsCounter
    checksum: int


_BETWEEN_FORGETTING = 256  # blocks, of 0.3 MB as a rule

_decode = msgspec.json.Decoder(Review).decode
_encode_known = msgspec.msgpack.Encoder().encode
_decode_known = msgspec.msgpack.Decoder(_KnownBlock).decode


def render(raws: Iterable[bytes]) -> ReviewBlock:
    """A block of reviews as they stand in the file."""
    records, listed, texts, ratings = [], [], [], bytearray()
    counted = StatisticsCounter()
    for raw in raws:
        review = _decode(raw)
        rendered = documents.review(raw, review)
        records.append(rendered.content)
        listed.append(excerpts.listed(rendered, review))
        texts.append(folded(review.text))
        ratings.append(review.rating)
        counted.add(review)
    joined = _slices(b",", records), _slices(b",", listed), _slices(b"", texts)
    digested = b"".join(map(digests.digest, records))
    return ReviewBlock(*joined, digested, bytes(ratings), counted, _checksum(*joined, digested))


class EarlierReviews:
    """The blocks of the last snapshot.

    Args:
        folder: Its folder; where there is none, or a file is not whole, nothing is found.
    """

    def __init__(self, folder: Path) -> None:
        self._blocks = BlocksReader(folder / layout.REVIEW_BLOCKS)
        self._records = _EarlierSlices(folder, REVIEWS_FILE, layout.RECORDS, between=1)
        self._excerpts = _EarlierSlices(folder, layout.EXCERPTS, layout.EXCERPT_OFFSETS, between=1)
        self._texts = _EarlierSlices(folder, layout.TEXTS, layout.TEXT_OFFSETS, between=0)
        self._digests = memoryview(mapped(folder / layout.DIGESTS))

    def find(self, key: bytes) -> ReviewBlock | None:
        """The block of a key; None where there is none that is whole."""
        content = self._blocks.find(key)
        try:
            known = None if content is None else _decode_known(content)
        except msgspec.MsgspecError:  # of another version
            known = None
        if known is None:
            return None
        begin, end = known.begin, known.begin + len(known.ratings)
        files = (self._records, self._excerpts, self._texts)
        try:
            records, listed, texts = (each.between(begin, end) for each in files)
        except OverflowError:  # an offset that is less than the one before it
            return None
        digested = self._digests[digests.SIZE * begin : digests.SIZE * end]
        checksum = _checksum(records, listed, texts, digested)
        if checksum != known.checksum:
            return None
        return ReviewBlock(records, listed, texts, digested, known.ratings, known.counted, checksum)

    def forget(self) -> None:
        """Give back the memory of what was read: nobody reads it again."""
        for each in (self._records, self._excerpts, self._texts):
            each.forget()


class ReusedReviews:
    """Takes blocks over from the last snapshot, and keeps where they are for the next. A context.

    Args:
        earlier: The last snapshot; None: nothing is taken over, and nothing kept.
        target: The folder that is made.
    """

    def __init__(self, earlier: Earlier | None, target: Path) -> None:
        self._rules = b"" if earlier is None else earlier.rules
        self._earlier = None if earlier is None else EarlierReviews(earlier.folder)
        self._file = None if earlier is None else (target / layout.REVIEW_BLOCKS).open("xb")
        self._kept = None if self._file is None else BlocksWriter(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def blocks(self, records: Records) -> Iterator[tuple[int, ReviewBlock]]:
        """All reviews in blocks, each with the position of its first."""
        for number, (begin, end, key) in enumerate(spans(records, self._rules)):
            found = None
            if self._earlier is not None:
                if not number % _BETWEEN_FORGETTING:
                    self._earlier.forget()
                found = self._earlier.find(key)
            block = found or render(records.raws(begin, end))
            if self._kept is not None:
                known = _KnownBlock(begin, block.ratings, block.counted, block.checksum)
                self._kept.add(key, _encode_known(known))
            yield begin, block
        if self._kept is not None:
            self._kept.finish(self._rules)


class _EarlierSlices:
    """Parts of a file of the last snapshot."""

    def __init__(self, folder: Path, content: str, offsets: str, *, between: int) -> None:
        self._file = mapped(folder / content)
        self._content = memoryview(self._file)
        raw = memoryview(mapped(folder / offsets))
        self._offsets = raw[: len(raw) // 8 * 8].cast("Q")
        self._between = between
        """Bytes between two parts."""

    def forget(self) -> None:
        if isinstance(self._file, mmap.mmap):
            self._file.madvise(mmap.MADV_DONTNEED)

    def between(self, begin: int, end: int) -> Slices:
        """Those of some numbers; fewer where the files are not whole, which the checksum shows."""
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
