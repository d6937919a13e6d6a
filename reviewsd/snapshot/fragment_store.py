"""Shelves: fragments of JSON made at publication, from which answers to agents are joined.

A fragment is a rendered value, such as what is said of one technician; a shelf is a run of fragments,
such as all technicians, the most mentioned first. All fragments stand in one mapped file, with commas
between them, so that any run of a shelf is one slice, and what stands inside a JSON array. A row is
a fragment's number.

Names are found by bisection in a shelf of their own: sorted rows of shelf, name and number, divided
by bytes that UTF-8 never contains.
"""

import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from pathlib import Path

from reviewsd.domain.naming import loose_key, mention_key
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.layout import File, Writer

_KEYS = "keys"

_SEPARATOR = b"\xff"

_LOOSE = "~"
"""Ends the name of a shelf whose names are loose."""


class FragmentStoreWriter:
    """Writes fragments, shelf by shelf.

    Args:
        folder: Where the files are made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._content = Writer(folder, names.FRAGMENTS)
        self._begins = array.array("Q")
        self._keys: dict[bytes, int] = {}
        self.shelves: dict[str, tuple[int, int]] = {}

    def put(self, shelf: str, fragments: Iterable[bytes]) -> None:
        """Fill a shelf."""
        first = len(self._begins)
        for fragment in fragments:
            if self._begins:
                self._content.write(b",")
            self._begins.append(self._content.size)
            self._content.write(fragment)
        self.shelves[shelf] = first, len(self._begins)

    def name(self, shelf: str, number: int, key: str, *, loose: bool = False) -> None:
        """Have the shelf's fragment of that number found by a name, unless another one is.

        Args:
            shelf: Its name.
            number: Of the fragment.
            key: An exact or a loose one (``domain.naming``).
            loose: Which of them it is.
        """
        row = self.shelves[shelf][0] + number
        self._keys.setdefault(_key(shelf + _LOOSE if loose else shelf, key), row)

    def close(self) -> dict[str, File]:
        """Write everything."""
        self.put(_KEYS, sorted(b"%s%d" % each for each in self._keys.items()))
        # each fragment ends one byte before the next begins: the last one too
        self._begins.append(self._content.size + 1)
        return {
            names.FRAGMENTS: self._content.close(),
            names.FRAGMENT_OFFSETS: names.write(
                self._folder, names.FRAGMENT_OFFSETS, self._begins.tobytes()
            ),
        }


class FragmentStore:
    """The shelves of a snapshot.

    Args:
        shelves: By name the first row and the one after the last.
        content: All fragments.
        begins: Where each begins; one more for the end.
    """

    def __init__(
        self,
        shelves: Mapping[str, tuple[int, int]],
        content: "memoryview[int]",
        begins: "memoryview[int]",
    ) -> None:
        self._shelves = shelves
        self._content = content
        self._begins = begins
        self._keys = self.rows(_KEYS)

    def rows(self, shelf: str) -> range:
        """The rows of a shelf; none where there is no such shelf."""
        return range(*self._shelves.get(shelf, (0, 0)))

    def joined(self, rows: range) -> "memoryview[int]":
        """The fragments of neighbouring rows, with commas between them."""
        if not rows:
            return self._content[:0]
        return self._content[self._begins[rows.start] : self._begins[rows.stop] - 1]

    def fragment(self, row: int) -> "memoryview[int]":
        """One fragment."""
        return self.joined(range(row, row + 1))

    def find(self, shelf: str, name: str) -> int | None:
        """The row of the shelf's fragment that a name means (``domain.naming``)."""
        found = self._find(_key(shelf, mention_key(name)))
        if found is None and (key := loose_key(name)) is not None:
            found = self._find(_key(shelf + _LOOSE, key))
        return found

    def _find(self, wanted: bytes) -> int | None:
        place = bisect_left(self._keys, wanted, key=lambda row: bytes(self.fragment(row)))
        if place == len(self._keys):
            return None
        found, _, row = bytes(self.fragment(self._keys[place])).rpartition(_SEPARATOR)
        return int(row) if found + _SEPARATOR == wanted else None


def _key(shelf: str, key: str) -> bytes:
    return shelf.encode() + _SEPARATOR + key.encode() + _SEPARATOR
