"""Sections: fragments of JSON made at publication, from which answers to agents are joined.

A fragment is a rendered value, such as what is said of one technician; a section is a run of fragments,
such as all technicians, the most mentioned first. All fragments stand in one mapped file, with commas
between them, so that any run of a section is one slice, and what stands inside a JSON array. A row is
a fragment's number.

Names are found by bisection in a section of their own: sorted rows of section, name and number, divided
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
"""Ends the name of a section whose names are loose."""


class FragmentStoreWriter:
    """Writes fragments, section by section.

    Args:
        folder: Where the files are made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._content = Writer(folder, names.FRAGMENTS)
        self._begins = array.array("Q")
        self._keys: dict[bytes, int] = {}
        self.sections: dict[str, tuple[int, int]] = {}

    def put(self, section: str, fragments: Iterable[bytes]) -> None:
        """Fill a section."""
        first = len(self._begins)
        for fragment in fragments:
            if self._begins:
                self._content.write(b",")
            self._begins.append(self._content.size)
            self._content.write(fragment)
        self.sections[section] = first, len(self._begins)

    def name(self, section: str, number: int, key: str, *, loose: bool = False) -> None:
        """Have the section's fragment of that number found by a name, unless another one is.

        Args:
            section: Its name.
            number: Of the fragment.
            key: An exact or a loose one (``domain.naming``).
            loose: Which of them it is.
        """
        row = self.sections[section][0] + number
        self._keys.setdefault(_key(section + _LOOSE if loose else section, key), row)

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
    """The sections of a snapshot.

    Args:
        sections: By name the first row and the one after the last.
        content: All fragments.
        begins: Where each begins; one more for the end.
    """

    def __init__(
        self,
        sections: Mapping[str, tuple[int, int]],
        content: "memoryview[int]",
        begins: "memoryview[int]",
    ) -> None:
        self._sections = sections
        self._content = content
        self._begins = begins
        self._keys = self.rows(_KEYS)

    def rows(self, section: str) -> range:
        """The rows of a section; none where there is no such section."""
        return range(*self._sections.get(section, (0, 0)))

    def joined(self, rows: range) -> "memoryview[int]":
        """The fragments of neighbouring rows, with commas between them."""
        if not rows:
            return self._content[:0]
        return self._content[self._begins[rows.start] : self._begins[rows.stop] - 1]

    def fragment(self, row: int) -> "memoryview[int]":
        """One fragment."""
        return self.joined(range(row, row + 1))

    def find(self, section: str, name: str) -> int | None:
        """The row of the section's fragment that a name means (``domain.naming``)."""
        found = self._find(_key(section, mention_key(name)))
        if found is None and (key := loose_key(name)) is not None:
            found = self._find(_key(section + _LOOSE, key))
        return found

    def _find(self, wanted: bytes) -> int | None:
        place = bisect_left(self._keys, wanted, key=lambda row: bytes(self.fragment(row)))
        if place == len(self._keys):
            return None
        found, _, row = bytes(self.fragment(self._keys[place])).rpartition(_SEPARATOR)
        return int(row) if found + _SEPARATOR == wanted else None


def _key(section: str, key: str) -> bytes:
    return section.encode() + _SEPARATOR + key.encode() + _SEPARATOR
