"""Sections: fragments of JSON made at publication, from which responses to agents are joined.

A fragment is a rendered value, such as the insights about one technician. A section is a run of fragments,
such as all technicians, most mentioned first. One mapped file has all fragments, separated by commas, so
that any run of a section is one slice, and the content of a JSON array. A row is the number of a fragment.

Names are looked up by bisection in a section of their own. Its sorted rows have section, name and number,
separated by bytes that UTF-8 never contains.
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
"""Suffix of the section of the loose names of a section."""


class FragmentStoreWriter:
    """Writes fragments, section by section.

    Args:
        folder: The folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._content = Writer(folder, names.FRAGMENTS)
        self._begins = array.array("Q")
        self._keys: dict[bytes, int] = {}
        self.sections: dict[str, tuple[int, int]] = {}

    def put(self, section: str, fragments: Iterable[bytes]) -> None:
        """Write the fragments of a section."""
        first = len(self._begins)
        for fragment in fragments:
            if self._begins:
                self._content.write(b",")
            self._begins.append(self._content.size)
            self._content.write(fragment)
        self.sections[section] = first, len(self._begins)

    def name(self, section: str, number: int, key: str, *, loose: bool = False) -> None:
        """Name a fragment of a section; the first fragment with a name keeps it.

        Args:
            section: The name of the section.
            number: The number of the fragment in the section.
            key: An exact or a loose key (``domain.naming``).
            loose: Whether the key is loose.
        """
        row = self.sections[section][0] + number
        self._keys.setdefault(_key(section + _LOOSE if loose else section, key), row)

    def close(self) -> dict[str, File]:
        """Write the names and the offsets; return the files."""
        self.put(_KEYS, sorted(b"%s%d" % item for item in self._keys.items()))
        # each fragment ends one byte before the next offset, also the last
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
        sections: The first row and the one after the last, by name.
        content: All fragments.
        begins: The offset of each fragment, and one for the end.
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
        """Return the rows of a section; none if it does not exist."""
        return range(*self._sections.get(section, (0, 0)))

    def joined(self, rows: range) -> "memoryview[int]":
        """Return the fragments of consecutive rows, separated by commas."""
        if not rows:
            return self._content[:0]
        return self._content[self._begins[rows.start] : self._begins[rows.stop] - 1]

    def fragment(self, row: int) -> "memoryview[int]":
        """Return one fragment."""
        return self.joined(range(row, row + 1))

    def find(self, section: str, name: str) -> int | None:
        """Return the row of the fragment with a name (``domain.naming``)."""
        row = self._find(_key(section, mention_key(name)))
        if row is None and (key := loose_key(name)) is not None:
            row = self._find(_key(section + _LOOSE, key))
        return row

    def _find(self, key: bytes) -> int | None:
        place = bisect_left(self._keys, key, key=lambda row: bytes(self.fragment(row)))
        if place == len(self._keys):
            return None
        name, _, row = bytes(self.fragment(self._keys[place])).rpartition(_SEPARATOR)
        return int(row) if name + _SEPARATOR == key else None


def _key(section: str, key: str) -> bytes:
    return section.encode() + _SEPARATOR + key.encode() + _SEPARATOR
