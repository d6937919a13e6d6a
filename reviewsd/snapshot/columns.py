"""Writes the columns that ``snapshot.search`` reads, one review after the other, newest first."""

import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from reviewsd.domain.naming import Ambiguous
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.frequent import Marker, bitmap_of
from reviewsd.snapshot.layout import BITMAP, LIST, NAMES, File, Writer
from reviewsd.snapshot.mentions import Mentioned
from reviewsd.snapshot.position_sets import FREQUENT, MAX_RATING, MIN_RATING, RATING
from reviewsd.snapshot.search import SEPARATOR, STARS

_DENSE = 32
"""A set of more than one position in so many is smaller as a bitmap than as 32-bit numbers."""

BLOCK = 4_096
"""Texts that are marked at a time: a multiple of 8, few enough for their marks to take little memory."""

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

    def close(self, mentions: Mentioned) -> dict[str, File]:
        """Write everything.

        Args:
            mentions: Which reviews mention what (``snapshot.mentions``).
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

    def _sets(self, mentions: Mentioned) -> Iterator[tuple[bytes, "_Packed"]]:
        """Every position set by its key."""
        total = len(self._days)
        for rating in range(1, 6):
            yield set_key(RATING, str(rating)), self._stars_set({rating})
            yield set_key(MIN_RATING, str(rating)), self._stars_set(set(range(rating, 6)))
            yield set_key(MAX_RATING, str(rating)), self._stars_set(set(range(1, rating + 1)))
        packed = {id(each): _pack(each, total) for each in mentions.values()}
        for (field, key), found in mentions.items():
            yield set_key(field, key), packed[id(found)]
        for piece, count, bitmap in self._marker.frequent(total):
            yield set_key(FREQUENT, piece), _Packed(count, bitmap, BITMAP)

    def _stars_set(self, stars: set[int]) -> "_Packed":
        marks = self._ratings.translate(bytes(rating in stars for rating in range(256)))
        return _Packed(marks.count(1), bitmap_of(bytes(marks)), BITMAP)

    def _write_sets(self, sets: Mapping[bytes, "_Packed"]) -> dict[str, File]:
        table = array.array("Q")
        keys = Writer(self._folder, names.SET_KEYS)
        content = Writer(self._folder, names.SETS)
        written: dict[int, int] = {}
        for key, packed in sorted(sets.items()):
            begin = written.setdefault(id(packed), content.size)
            table.extend((keys.size, keys.size + len(key), begin, packed.size, packed.kind))
            keys.write(key)
            if begin == content.size:
                content.write(packed.content)
                content.write(bytes(-len(packed.content) % _ALIGNED))
        return {
            names.SET_KEYS: keys.close(),
            names.SETS: content.close(),
            names.SET_TABLE: names.write(self._folder, names.SET_TABLE, table.tobytes()),
        }


class _Packed(NamedTuple):
    """A position set, or names, as it is written."""

    size: int
    content: bytes | bytearray
    kind: int


def _pack(found: Collection[int] | Ambiguous, total: int) -> _Packed:
    if isinstance(found, Ambiguous):
        content = msgspec.json.encode(found.candidates)
        return _Packed(len(content), content, NAMES)
    return _pack_set(found, total)


def _pack_set(positions: Collection[int], total: int) -> _Packed:
    if len(positions) * _DENSE <= total:
        return _Packed(len(positions), array.array("I", positions).tobytes(), LIST)
    marks = bytearray(total)
    for position in positions:
        marks[position] = 1
    return _Packed(len(positions), bitmap_of(bytes(marks)), BITMAP)


def set_key(field: str, key: str) -> bytes:
    """The bytes by which a set is found; the key column is sorted by them."""
    return f"{field}\0{key}".encode()
