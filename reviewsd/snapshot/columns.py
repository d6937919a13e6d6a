"""Writes the columns for ``snapshot.search``, newest review first."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import compress, count, pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
from pyroaring import BitMap

from reviewsd.domain.naming import Ambiguous
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot import changes
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.layout import NAMES, NUMBERS, File, SegmentFile, Writer
from reviewsd.snapshot.mentions import MentionIndex
from reviewsd.snapshot.numbering import Numbering
from reviewsd.snapshot.position_sets import CHANGES, MAX_RATING, MIN_RATING, RATING
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
        files[names.DAYS] = names.write(self._folder, names.DAYS, self._days.tobytes())
        numbering = Numbering(segment.reviews for segment in segments)
        ranked = array("I", map(numbering.number, changed))
        files[names.CHANGES] = names.write(self._folder, names.CHANGES, ranked.tobytes())
        files |= self._write_sets(dict(self._sets(mentions, numbering, ranked)))
        return segments, files

    def _sets(
        self, mentions: MentionIndex, numbering: Numbering, ranked: "array[int]"
    ) -> Iterator[tuple[bytes, "_Packed"]]:
        """Return all position sets by key."""
        rated = [_numbers(self._rated(stars), numbering) for stars in STARS]
        for stars, numbers in zip(STARS, rated, strict=True):
            yield set_key(RATING, str(stars)), _pack_set(numbers)
            least = BitMap().union(*rated[stars - 1 :])
            yield set_key(MIN_RATING, str(stars)), _pack_set(least)
            most = BitMap().union(*rated[:stars])
            yield set_key(MAX_RATING, str(stars)), _pack_set(most)
        for key, block in changes.blocks(ranked):
            yield set_key(CHANGES, key), _pack_set(block)
        packed = {id(reviews): _pack(reviews, numbering) for reviews in mentions.values()}
        for (field, key), reviews in mentions.items():
            yield set_key(field, key), packed[id(reviews)]

    def _rated(self, stars: int) -> "array[int]":
        marks = self._ratings.translate(bytes(rating == stars for rating in range(256)))
        return array("I", compress(count(), marks))

    def _write_sets(self, sets: Mapping[bytes, "_Packed"]) -> dict[str, File]:
        table = array("Q")
        keys = Writer(self._folder, names.SET_KEYS)
        content = Writer(self._folder, names.SETS)
        begins: dict[int, int] = {}
        for key, packed in sorted(sets.items()):
            begin = begins.setdefault(id(packed), content.size)
            end = begin + len(packed.content)
            table.extend((keys.size, keys.size + len(key), begin, end, packed.kind))
            keys.write(key)
            if begin == content.size:
                content.write(packed.content)
        return {
            names.SET_KEYS: keys.close(),
            names.SETS: content.close(),
            names.SET_TABLE: names.write(self._folder, names.SET_TABLE, table.tobytes()),
        }


class _Packed(NamedTuple):
    """A position set, or names, in the form of the file."""

    content: bytes
    kind: int


def _pack(reviews: Collection[int] | Ambiguous, numbering: Numbering) -> _Packed:
    if isinstance(reviews, Ambiguous):
        return _Packed(msgspec.json.encode(reviews.candidates), NAMES)
    return _pack_set(_numbers(reviews, numbering))


def _pack_set(numbers: BitMap) -> _Packed:
    numbers.run_optimize()
    return _Packed(numbers.serialize(), NUMBERS)


def _numbers(positions: Collection[int], numbering: Numbering) -> BitMap:
    """Return the numbers of the reviews at positions."""
    bitmap = BitMap(positions)
    parts = [
        (bitmap & BitMap(range(begin, end))).shift(shift)
        for (begin, end), shift in zip(pairwise(numbering.begins), numbering.shifts, strict=False)
    ]
    return BitMap().union(*parts)


def set_key(field: str, key: str) -> bytes:
    """Return the key of a set; the column of keys is sorted."""
    return f"{field}\0{key}".encode()
