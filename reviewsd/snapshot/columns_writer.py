"""Writes the columns for ``snapshot.search``, newest review first."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, count, pairwise
from pathlib import Path

import msgspec
from pyroaring import BitMap

from reviewsd.domain.locations import Locations
from reviewsd.domain.naming import Ambiguous, mention_key
from reviewsd.domain.reviews import Review
from reviewsd.domain.search_query import TRUTH
from reviewsd.snapshot import changes, layout
from reviewsd.snapshot.fragment_store import FragmentStoreWriter
from reviewsd.snapshot.layout import File, SegmentFile
from reviewsd.snapshot.mentions import MentionIndex
from reviewsd.snapshot.numbering import Numbering
from reviewsd.snapshot.position_sets import (
    CHANGES,
    HAS_REPLY,
    LOCATION,
    MAX_RATING,
    MIN_RATING,
    RATING,
    SOURCE,
    VERIFIED,
    write_sets,
)
from reviewsd.snapshot.text_index_writer import SegmentsWriter

STARS = range(1, 6)

_STARS, _VERIFIED, _HAS_REPLY = 0b111, 0b1000, 0b10000

_encode = msgspec.json.Encoder().encode


def _mark(review: Review) -> int:
    """Return the byte of a review: its stars, whether it is verified, and whether it has a reply."""
    has_reply = review.owner_reply is not None
    return review.rating | review.verified * _VERIFIED | has_reply * _HAS_REPLY


class ColumnsWriter:
    """Collects the columns of all reviews.

    Args:
        folder: The folder of the files.
        segments: Collects the texts.
        locations: The declared locations.
    """

    def __init__(
        self, folder: Path, segments: SegmentsWriter, locations: Locations | None = None
    ) -> None:
        self._folder = folder
        self._segments = segments
        self._days = array("i")
        self._marks = bytearray()
        self._sources = _NamedPositions(mention_key)
        self._declared = locations or Locations()
        self._locations = _NamedPositions(self._declared.key_of)

    def extend(self, reviews: Sequence[Review]) -> None:
        """Add reviews."""
        self._sources.extend(len(self._marks), (review.source for review in reviews))
        self._locations.extend(len(self._marks), (review.location or "" for review in reviews))
        self._days.extend([-review.date.toordinal() for review in reviews])
        self._marks.extend(map(_mark, reviews))
        self._segments.extend([review.text for review in reviews])

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
        sets: dict[tuple[str, str], BitMap | Ambiguous] = dict(self._marked_sets(numbering))
        sets |= {(CHANGES, key): block for key, block in changes.blocks(ranked)}
        sets |= {
            (SOURCE, key): _numbers(positions, numbering)
            for key, positions in self._sources.sets().items()
        }
        sets |= {
            (LOCATION, key): _numbers(positions, numbering)
            for key, positions in self._located().items()
        }
        sets |= {
            key: reviews if isinstance(reviews, Ambiguous) else _numbers(reviews, numbering)
            for key, reviews in mentions.items()
        }
        store = FragmentStoreWriter(self._folder, layout.SETS, layout.SET_OFFSETS)
        write_sets(store, sets)
        store.put(SOURCE, map(_encode, self._sources.names()))
        store.put(LOCATION, map(_encode, self._declared.ids() or self._locations.names()))
        return segments, files | store.close()

    def _located(self) -> dict[str, BitMap]:
        """Return the positions of each location, by the keys of its id, aliases and name."""
        sets = self._locations.sets()
        for key, location in self._declared.by_id.items():
            sets[key] = sets.get(mention_key(location.id), BitMap())
        named = {
            key: BitMap().union(*(sets[mention_key(location.id)] for location in locations))
            for key, locations in self._declared.by_name.items()
        }
        return named | sets

    def _marked_sets(self, numbering: Numbering) -> Iterator[tuple[tuple[str, str], BitMap]]:
        """Yield the position sets of stars, verified reviews, and reviews with a reply."""
        marks = range(256)
        rated = [
            _numbers(self._marked([mark & _STARS == stars for mark in marks]), numbering)
            for stars in STARS
        ]
        for stars, reviews in zip(STARS, rated, strict=True):
            yield (RATING, str(stars)), reviews
            yield (MIN_RATING, str(stars)), BitMap().union(*rated[stars - 1 :])
            yield (MAX_RATING, str(stars)), BitMap().union(*rated[:stars])
        for field, bit in ((VERIFIED, _VERIFIED), (HAS_REPLY, _HAS_REPLY)):
            for value, key in TRUTH.items():
                positions = self._marked([bool(mark & bit) is value for mark in marks])
                yield (field, key), _numbers(positions, numbering)

    def _marked(self, chosen: Iterable[bool]) -> BitMap:
        """Return the positions of the reviews with some of the 256 marks."""
        return BitMap(array("I", compress(count(), self._marks.translate(bytes(chosen)))))


class _NamedPositions:
    """The positions of the reviews by a name that they carry, such as their source.

    Args:
        key_of: Returns the key of a name.
    """

    def __init__(self, key_of: Callable[[str], str]) -> None:
        self._key_of = key_of
        self._keys: dict[str, str] = {}
        self._spellings: dict[str, str] = {}
        self._positions: dict[str, array[int]] = {}

    def extend(self, first: int, names: Iterable[str]) -> None:
        """Add the names of consecutive reviews; ``first`` is the position of the first one."""
        for position, name in enumerate(names, first):
            if not name:
                continue
            key = self._keys.get(name)
            if key is None:
                key = self._keys[name] = self._key_of(name)
                self._spellings.setdefault(key, name)
                self._positions.setdefault(key, array("I"))
            self._positions[key].append(position)

    def sets(self) -> dict[str, BitMap]:
        """Return the positions of each name, by its key."""
        return {key: BitMap(positions) for key, positions in self._positions.items()}

    def names(self) -> list[str]:
        """Return each name in its first spelling, the most frequent name first."""
        keys = sorted(self._positions, key=lambda key: (-len(self._positions[key]), key))
        return [self._spellings[key] for key in keys]


def _numbers(positions: BitMap, numbering: Numbering) -> BitMap:
    """Return the numbers of the reviews at positions."""
    parts = [
        (positions & BitMap(range(begin, end))).shift(shift)
        for (begin, end), shift in zip(pairwise(numbering.begins), numbering.shifts, strict=False)
    ]
    return BitMap().union(*parts)
