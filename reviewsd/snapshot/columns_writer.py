"""Writes the columns for ``snapshot.search``, newest review first."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import compress, count, pairwise
from pathlib import Path

from pyroaring import BitMap

from reviewsd.domain.naming import Ambiguous
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot import changes, layout
from reviewsd.snapshot.fragment_store import FragmentStoreWriter
from reviewsd.snapshot.layout import File, SegmentFile
from reviewsd.snapshot.mentions import MentionIndex
from reviewsd.snapshot.numbering import Numbering
from reviewsd.snapshot.position_sets import CHANGES, MAX_RATING, MIN_RATING, RATING, write_sets
from reviewsd.snapshot.text_index_writer import SegmentsWriter

STARS = range(1, 6)


class ColumnsWriter:
    """Collects the columns of all reviews.

    Args:
        folder: The folder of the files.
        segments: Collects the texts.
    """

    def __init__(self, folder: Path, segments: SegmentsWriter) -> None:
        self._folder = folder
        self._segments = segments
        self._days = array("i")
        self._ratings = bytearray()

    def extend(
        self, days: Iterable[int], ratings: bytes, texts: Buffer, sizes: "array[int]"
    ) -> None:
        """Add reviews: ordinals of their dates, stars, and texts for ``SegmentsWriter.extend``."""
        self._days.extend([-day for day in days])
        self._ratings += ratings
        self._segments.extend(texts, sizes)

    def close(
        self,
        mentions: MentionIndex,
        changed: "array[int]",
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> tuple[tuple[SegmentFile, ...], dict[str, File]]:
        """Write the columns; return the segments and all files.

        Args:
            mentions: The position sets of the mentions (``snapshot.mentions``).
            changed: All positions, last changed first.
            progress: Called with the number of finished indexes and of all.
        """
        segments, files = self._segments.close(progress)
        numbering = Numbering(segment.reviews for segment in segments)
        ranked = array("I", map(numbering.number, changed))
        for name, column in ((layout.DAYS, self._days), (layout.CHANGES, ranked)):
            files[name] = layout.write(self._folder, name, column.tobytes())
        sets = dict(self._rating_sets(numbering))
        sets |= {(CHANGES, key): block for key, block in changes.blocks(ranked)}
        sets |= {
            key: reviews if isinstance(reviews, Ambiguous) else _numbers(reviews, numbering)
            for key, reviews in mentions.items()
        }
        store = FragmentStoreWriter(self._folder, layout.SETS, layout.SET_OFFSETS)
        write_sets(store, sets)
        return segments, files | store.close()

    def _rating_sets(
        self, numbering: Numbering
    ) -> Iterator[tuple[tuple[str, str], BitMap | Ambiguous]]:
        rated = [_numbers(self._rated(stars), numbering) for stars in STARS]
        for stars, reviews in zip(STARS, rated, strict=True):
            yield (RATING, str(stars)), reviews
            yield (MIN_RATING, str(stars)), BitMap().union(*rated[stars - 1 :])
            yield (MAX_RATING, str(stars)), BitMap().union(*rated[:stars])

    def _rated(self, stars: int) -> BitMap:
        marks = self._ratings.translate(bytes(rating == stars for rating in range(256)))
        return BitMap(array("I", compress(count(), marks)))


def _numbers(positions: BitMap, numbering: Numbering) -> BitMap:
    """Return the numbers of the reviews at positions."""
    parts = [
        (positions & BitMap(range(begin, end))).shift(shift)
        for (begin, end), shift in zip(pairwise(numbering.begins), numbering.shifts, strict=False)
    ]
    return BitMap().union(*parts)
