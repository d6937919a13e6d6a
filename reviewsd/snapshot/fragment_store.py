"""Fragments: values made at publication, which responses are joined from or searches read.

One mapped file has all fragments, separated by commas, so that any run of them is one slice, and the content
of a JSON array if they are JSON. A column has the offset of each. A *row* is the number of a fragment.

A store also has sections, such as all technicians, most mentioned first, and names, which lead to one fragment
each. Its last fragment is the index of both.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewsd.domain.naming import loose_key, mention_key
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import File, Writer


class _Index(Struct):
    sections: dict[str, tuple[int, int]]
    """The first row of each section, and the one after its last."""
    names: dict[str, int]


_encode = msgspec.json.Encoder(order="sorted").encode
_index = msgspec.json.Decoder(_Index)


class FragmentsWriter:
    """Writes fragments into a file that may have other content before and after them."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._begins = array("Q")

    def extend(self, fragments: Sequence[bytes]) -> None:
        """Add fragments."""
        if self._begins:
            self._writer.write(b",")
        sizes = (len(fragment) + 1 for fragment in fragments)
        self._begins.extend(accumulate(sizes, initial=self._writer.size))
        self._begins.pop()
        self._writer.write(b",".join(fragments))

    def offsets(self) -> bytes:
        """Return the column of offsets, after the last fragment."""
        # each fragment ends one byte before the next offset, also the last
        self._begins.append(self._writer.size + 1)
        return self._begins.tobytes()


class FragmentStoreWriter:
    """Writes a store into two files of a folder: the fragments, and the column of their offsets."""

    def __init__(self, folder: Path, content: str, offsets: str) -> None:
        self._folder, self._offsets = folder, offsets
        self._writer = Writer(folder, content)
        self._fragments = FragmentsWriter(self._writer)
        self._count = 0
        self._index = _Index({}, {})

    def add(self, fragment: bytes) -> int:
        """Write a fragment; return its row."""
        self._fragments.extend((fragment,))
        self._count += 1
        return self._count - 1

    def put(self, section: str, fragments: Iterable[bytes]) -> range:
        """Write the fragments of a section; return their rows."""
        first = self._count
        for fragment in fragments:
            self.add(fragment)
        self._index.sections[section] = first, self._count
        return range(first, self._count)

    def name(self, section: str, key: str, row: int) -> None:
        """Name a fragment by a key (``domain.naming``); the first fragment with a name keeps it."""
        self._index.names.setdefault(_name(section, key), row)

    def close(self) -> dict[str, File]:
        """Write the index and the offsets; return the files."""
        self.add(_encode(self._index))
        offsets = layout.write(self._folder, self._offsets, self._fragments.offsets())
        return {self._writer.name: self._writer.close(), self._offsets: offsets}


class Fragments:
    """The fragments of a file; ``begins`` has the offset of each, and one for the end."""

    def __init__(self, content: "memoryview[int]", begins: Sequence[int]) -> None:
        self._content = content
        self._begins = begins

    def at(self, row: int) -> "memoryview[int]":
        """Return one fragment."""
        return self._content[self._begins[row] : self._begins[row + 1] - 1]

    def run(self, rows: range) -> "memoryview[int]":
        """Return the fragments of consecutive rows, separated by commas."""
        if not rows:
            return self._content[:0]
        return self._content[self._begins[rows.start] : self._begins[rows.stop] - 1]


class FragmentStore(Fragments):
    """The fragments of a store, by section and by name."""

    def __init__(self, content: "memoryview[int]", begins: Sequence[int]) -> None:
        super().__init__(content, begins)
        index = _index.decode(self.at(len(begins) - 2))
        self._sections = index.sections
        self.names = index.names
        """The row of each section and key, with a NUL between the two."""

    def __contains__(self, section: str) -> bool:
        """Return whether a section exists."""
        return section in self._sections

    def rows(self, section: str) -> range:
        """Return the rows of a section; none if it does not exist."""
        return range(*self._sections.get(section, (0, 0)))

    def find(self, section: str, name: str) -> int | None:
        """Return the row of the fragment with a name (``domain.naming``)."""
        row = self.names.get(_name(section, mention_key(name)))
        if row is None and (key := loose_key(name)) is not None:
            row = self.names.get(_name(loose(section), key))
        return row


def loose(section: str) -> str:
    """Return the section of the loose names (``domain.naming``) of a section."""
    return f"{section}~"


def _name(section: str, key: str) -> str:
    return f"{section}\0{key}"
