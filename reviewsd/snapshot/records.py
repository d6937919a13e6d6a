"""Records: the rendered reviews of a file, newest first, from which answers are joined.

They stand one after the other with commas between them, so that any run of them is one slice of the
mapped file, and what stands inside a JSON array. A column says where each begins.
"""

import array
import datetime
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import lt

import msgspec
from msgspec import Struct

from reviewsd.domain import times
from reviewsd.domain.search_query import CHANGED, NEWEST, Cursor
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.layout import Writer

KEPT = 1_048_576
"""Bytes of excerpts that are kept in memory too, some 2,000, and once more as they stand in a string: to
escape twenty of them takes longer than to search for them."""


class _Identity(Struct):
    """The members of a review that a cursor has."""

    id: str
    date: datetime.date


class _DatedReply(Struct):
    date: datetime.date


class _Dated(Struct):
    """The members of a review that say when it changed."""

    date: datetime.date
    owner_reply: _DatedReply | None = None
    added_at: datetime.datetime | None = None
    changed_at: datetime.datetime | None = None


_identity = msgspec.json.Decoder(_Identity)
_dated = msgspec.json.Decoder(_Dated)


class RecordsWriter:
    """Writes records into a file that may have a beginning and an end of its own.

    Args:
        writer: Of the file, at the place of the first record.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._begins = array.array("Q")
        self._comma = False

    def extend(self, records: Buffer, sizes: Iterable[int]) -> None:
        """The next ones, at least one.

        Args:
            records: They themselves, with commas between them.
            sizes: Bytes of each with the comma that follows, also of the last.
        """
        if self._comma:
            self._writer.write(b",")
        self._begins.extend(accumulate(sizes, initial=self._writer.size))
        self._begins.pop()
        self._writer.write(records)
        self._comma = True

    def offsets(self) -> bytes:
        """The column, when all are written."""
        # each record ends one byte before the next begins: the last one too
        self._begins.append(self._writer.size + 1)
        return self._begins.tobytes()


class SnapshotRecords:
    """The records of a snapshot.

    Args:
        content: The file.
        begins: Where each begins; one more for the end.
    """

    def __init__(self, content: "memoryview[int]", begins: Sequence[int]) -> None:
        self._content = content
        self._begins = begins

    def at(self, position: int) -> "memoryview[int]":
        """One record; position 0 is the newest review."""
        return self._content[self._begins[position] : self._begins[position + 1] - 1]

    def id_at(self, position: int) -> str:
        """The id of one review."""
        return _identity.decode(self.at(position)).id

    def updated_at(self, position: int) -> datetime.datetime:
        """When one review changed last."""
        return times.updated_at(_dated.decode(self.at(position)))

    def cursor_at(self, position: int, sort: str = NEWEST) -> Cursor:
        """The cursor that names one review, in an order."""
        found = _identity.decode(self.at(position))
        changed_at = self.updated_at(position) if sort == CHANGED else None
        return Cursor(found.date, found.id, changed_at)

    def joined(self, positions: Sequence[int]) -> Buffer:
        """Some records, with commas between them."""
        pieces = self.pieces(positions)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def pieces(self, positions: Sequence[int]) -> Sequence[Buffer]:
        """The same in pieces of the file; each but the last ends with the comma after it."""
        if not positions:
            return ()
        content, begins = self._content, self._begins
        first, last = positions[0], positions[-1]
        end = begins[last + 1] - 1
        if last - first == len(positions) - 1 and _ascending(positions):  # neighbors
            return (content[begins[first] : end],)
        pieces: list[Buffer] = [content[begins[each] : begins[each + 1]] for each in positions[:-1]]
        oldest = len(begins) - 2
        if oldest != last and oldest in positions:  # what follows it in the file is no comma
            pieces[positions.index(oldest)] = bytes(self.at(oldest)) + b","
        pieces.append(content[begins[last] : end])
        return pieces

    def newest(self, count: int) -> "memoryview[int]":
        """The first of them, with commas between them."""
        return self._content[self._begins[0] : self._begins[count] - 1] if count else _NOTHING


class Excerpts(SnapshotRecords):
    """The reviews as agents are given them in lists (``publish.excerpts``), of a snapshot."""

    def __init__(self, content: "memoryview[int]", begins: Sequence[int]) -> None:
        super().__init__(content, begins)
        self._kept: list[bytes] | None = None
        if len(content) <= KEPT:
            self._kept = [bytes(self.at(position)) for position in range(len(begins) - 1)]
            self._escaped = [*map(escaped, self._kept)]

    def joined(self, positions: Sequence[int]) -> Buffer:
        """Some of them, with commas between them."""
        if self._kept is None:
            return super().joined(positions)
        kept = self._kept
        return b",".join([kept[position] for position in positions])

    def escaped(self, positions: Sequence[int]) -> bytes:
        """The same as it stands in a JSON string."""
        if self._kept is None:
            return escaped(bytes(self.joined(positions)))
        kept = self._escaped
        return b",".join([kept[position] for position in positions])


def escaped(compact: bytes) -> bytes:
    """Compact JSON as it stands in a JSON string: there are no control characters in it."""
    return compact.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def _ascending(positions: Sequence[int]) -> bool:
    return type(positions) is range or all(map(lt, positions, positions[1:]))


_NOTHING = memoryview(b"")
