"""Writes the columns that ``domain.search`` reads, one review after the other, newest first."""

import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from reviewsd.domain.insights import named
from reviewsd.domain.dataset import InsightsFile
from reviewsd.snapshot.search import (
    BLOCK,
    FREQUENT,
    MIN_RATING,
    RATING,
    SEPARATOR,
    SERVICE,
    STARS,
    TECHNICIAN,
    mention_key,
)
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.layout import File, Writer
from reviewsd.snapshot.frequent import Marker, bitmap_of

_DENSE = 32
"""A set of more than one position in so many is smaller as a bitmap than as 32-bit numbers."""

_ALIGNED = 8  # bytes; a set of 32-bit numbers must begin at a multiple of 4


class ColumnsWriter:
    """Collects the columns of all reviews.

    Args:
        folder: Where the files are made.
        pieces: The pieces of text to mark (``frequent.frequent_pieces``).
    """

    def __init__(self, folder: Path, pieces: Iterable[str]) -> None:
        self._folder = folder
        self._days = array.array("i")
        self._ratings = bytearray()
        self._texts = Writer(folder, names.TEXTS)
        self._text_offsets = array.array("Q", [0])
        self._block: list[str] = []
        self._marker = Marker(pieces)

    def add(self, day: int, rating: int, text: str | None) -> None:
        """The next review: ordinal of its date, stars, text."""
        self._days.append(-day)
        self._ratings.append(rating)
        folded = "" if text is None else text.casefold()
        self._texts.write(folded.encode() + STARS[rating : rating + 1] + SEPARATOR)
        self._text_offsets.append(self._texts.size)
        self._block.append(folded)
        if len(self._block) == BLOCK:
            self._mark()

    def _mark(self) -> None:
        self._marker.add(self._block)
        self._block = []

    def close(self, mentions: Mapping[tuple[str, str], Collection[int]]) -> dict[str, File]:
        """Write everything.

        Args:
            mentions: The positions for each (field, key) of technicians and services.
        """
        self._mark()
        return {
            names.TEXTS: self._texts.close(),
            names.DAYS: names.write(self._folder, names.DAYS, self._days.tobytes()),
            names.TEXT_OFFSETS: names.write(
                self._folder, names.TEXT_OFFSETS, self._text_offsets.tobytes()
            ),
            **self._write_sets(dict(self._sets(mentions))),
        }

    def _sets(
        self, mentions: Mapping[tuple[str, str], Collection[int]]
    ) -> Iterator[tuple[bytes, "_Packed"]]:
        """Every position set by its key."""
        total = len(self._days)
        for rating in range(1, 6):
            yield set_key(RATING, str(rating)), self._stars_set({rating})
            yield set_key(MIN_RATING, str(rating)), self._stars_set(set(range(rating, 6)))
        for (field, key), positions in mentions.items():
            yield set_key(field, key), _pack(positions, total)
        for piece, count, bitmap in self._marker.frequent(total):
            yield set_key(FREQUENT, piece), _Packed(count, bitmap, dense=True)

    def _stars_set(self, stars: set[int]) -> "_Packed":
        marks = self._ratings.translate(bytes(rating in stars for rating in range(256)))
        return _Packed(marks.count(1), bitmap_of(bytes(marks)), dense=True)

    def _write_sets(self, sets: Mapping[bytes, "_Packed"]) -> dict[str, File]:
        table = array.array("Q")
        keys = Writer(self._folder, names.SET_KEYS)
        content = Writer(self._folder, names.SETS)
        for key, packed in sorted(sets.items()):
            table.extend((keys.size, keys.size + len(key), content.size, packed.size, packed.dense))
            keys.write(key)
            content.write(packed.content)
            content.write(bytes(-len(packed.content) % _ALIGNED))
        return {
            names.SET_KEYS: keys.close(),
            names.SETS: content.close(),
            names.SET_TABLE: names.write(self._folder, names.SET_TABLE, table.tobytes()),
        }


class _Packed(NamedTuple):
    """A position set as it is written."""

    size: int
    content: bytes
    dense: bool


def _pack(positions: Collection[int], total: int) -> _Packed:
    if len(positions) * _DENSE <= total:
        return _Packed(len(positions), array.array("I", sorted(positions)).tobytes(), dense=False)
    marks = bytearray(total)
    for position in positions:
        marks[position] = 1
    return _Packed(len(positions), bitmap_of(bytes(marks)), dense=True)


def set_key(field: str, key: str) -> bytes:
    """The bytes by which a set is found; the key column is sorted by them."""
    return f"{field}\0{key}".encode()


def mention_positions(
    insights: InsightsFile, positions: Mapping[str, int]
) -> dict[tuple[str, str], set[int]]:
    """Which reviews mention whom, by every name that finds them (data-model.md 3).

    Args:
        insights: The insights file.
        positions: The position of each review, by id.

    Returns:
        By (field, casefolded key): the positions; keys that no review has are left out.
    """
    found: dict[tuple[str, str], set[int]] = {}
    for index, (field, entities) in enumerate(
        (
            (TECHNICIAN, insights.typed.entities.technicians),
            (SERVICE, insights.typed.entities.services),
        )
    ):
        spelled: dict[str, set[int]] = {}
        for review_id, mentions in insights.mentions.items():
            if (position := positions.get(review_id)) is not None:
                for name in mentions[index]:
                    spelled.setdefault(mention_key(name), set()).add(position)
        of_key = {key: set(places) for key, places in spelled.items()}
        for entity in map(named, entities):
            keys = {mention_key(name) for name in (entity.id, entity.name, entity.label) if name}
            places = set().union(*(spelled.get(key, ()) for key in keys))
            listed = (*entity.review_ids, *entity.example_review_ids)
            places |= {positions[review_id] for review_id in listed if review_id in positions}
            for key in keys:
                of_key.setdefault(key, set()).update(places)
        found |= {(field, key): places for key, places in of_key.items() if places}
    return found
