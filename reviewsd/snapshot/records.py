"""Records: the rendered reviews of a file, newest first, from which responses are joined."""

import datetime
from collections.abc import Sequence
from operator import lt

import msgspec
from msgspec import Struct

from reviewsd.domain import times
from reviewsd.domain.reviews import Review
from reviewsd.domain.search_query import BY_RATING, CHANGED, NEWEST, Cursor
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.fragment_store import Fragments

MAX_CACHED_BYTES = 1_048_576
"""Excerpts of at most this size are held in memory, plain and escaped: escaping takes longer than a search."""


class _Identity(Struct):
    """The members of a review in a cursor."""

    date: datetime.date
    id: str
    rating: int


_identity = msgspec.json.Decoder(_Identity)
_review = msgspec.json.Decoder(Review)


class SnapshotRecords(Fragments):
    """The records of a snapshot; position 0 is the newest review."""

    def review_at(self, position: int) -> Review:
        """Return one review."""
        return _review.decode(self.at(position))

    def id_at(self, position: int) -> str:
        """Return the id of one review."""
        return _identity.decode(self.at(position)).id

    def updated_at(self, position: int) -> datetime.datetime:
        """Return when one review last changed."""
        return times.updated_at(_review.decode(self.at(position)))

    def cursor_at(self, position: int, sort: str = NEWEST) -> Cursor:
        """Return the cursor of one review, in an order."""
        review = _identity.decode(self.at(position))
        return Cursor(
            review.date,
            review.id,
            sort,
            changed_at=self.updated_at(position) if sort == CHANGED else None,
            rating=review.rating if sort in BY_RATING else None,
        )

    def pieces(self, positions: Sequence[int]) -> Sequence[Buffer]:
        """Return records as pieces of the file; each but the last ends with a comma."""
        if not positions:
            return ()
        content, begins = self._content, self._begins
        first, last = positions[0], positions[-1]
        end = begins[last + 1] - 1
        if last - first == len(positions) - 1 and _ascending(positions):  # neighbors
            return (content[begins[first] : end],)
        pieces: list[Buffer] = [content[begins[at] : begins[at + 1]] for at in positions[:-1]]
        oldest = len(begins) - 2
        if oldest != last and oldest in positions:  # no comma follows it in the file
            pieces[positions.index(oldest)] = bytes(self.at(oldest)) + b","
        pieces.append(content[begins[last] : end])
        return pieces


class Excerpts(SnapshotRecords):
    """The reviews in lists for agents (``publish.excerpts``)."""

    def __init__(self, content: "memoryview[int]", begins: Sequence[int]) -> None:
        super().__init__(content, begins)
        self._cached: list[bytes] | None = None
        if len(content) <= MAX_CACHED_BYTES:
            self._cached = [bytes(self.at(position)) for position in range(len(begins) - 1)]
            self._escaped = [*map(escaped, self._cached)]

    def joined(self, positions: Sequence[int]) -> Buffer:
        """Return excerpts, separated by commas."""
        cached = self._cached
        if cached is None:
            return b"".join(self.pieces(positions))
        return b",".join([cached[position] for position in positions])

    def escaped(self, positions: Sequence[int]) -> bytes:
        """Return excerpts, separated by commas and escaped for a JSON string."""
        if self._cached is None:
            return escaped(bytes(self.joined(positions)))
        cached = self._escaped
        return b",".join([cached[position] for position in positions])


def escaped(compact: bytes) -> bytes:
    """Return compact JSON escaped for a JSON string; it has no control characters."""
    return compact.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def _ascending(positions: Sequence[int]) -> bool:
    return type(positions) is range or all(map(lt, positions, positions[1:]))
