"""The reviews of an export and those that are there become one reviews.json, as a stream.

What is there stays as it is written, byte for byte, unless the export says something else: unknown
members of the file, of the business and of a review, and the order. New reviews come last; the
daemon sorts.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import msgspec
from msgspec import Raw

from reviewsctl.importing.format import encoded
from reviewsctl.importing.ids import merge_key
from reviewsctl.importing.readers.json_file import Document, Piece
from reviewsctl.importing.staging import Staging

Step = Callable[[int], None]
"""Told now and then how many reviews of the export are written."""

_STEP = 5000  # reviews

_records = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


@dataclass(slots=True, kw_only=True)
class Tally:
    """What became of the reviews."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    kept: int = 0
    """There, and not in the export."""
    removed: int = 0
    """There, not in the export, and left out by ``--replace``."""
    given: int | None = None
    """``aggregate_rating.review_count`` of the file, which is kept as it is."""

    @property
    def total(self) -> int:
        """Reviews in the result."""
        return self.new + self.changed + self.unchanged + self.kept

    @property
    def different(self) -> bool:
        """Whether the result differs from what was there."""
        return bool(self.new or self.changed or self.removed)


class Merge:
    """One merge.

    Args:
        staged: The export.
        out: Gets the new file.
        step: Told how far the writing is.
        by_id: The export has ids of ours, which are compared whole.
        replace: Leave out reviews that are not in the export.
        updated_at: Takes the place of a time of the last change that the file gives itself.
    """

    def __init__(
        self,
        staged: Staging,
        out: BinaryIO,
        step: Step,
        *,
        by_id: bool,
        replace: bool,
        updated_at: str,
    ) -> None:
        self._staged = staged
        self._out = out
        self._step = step
        self._by_id = by_id
        self._replace = replace
        self._updated_at = updated_at
        self._used = bytearray(staged.largest() + 1)
        self._first = True
        self.tally = Tally()

    def anew(self, members: dict[str, object]) -> None:
        """Writes a file that was not there.

        Args:
            members: What it has beside the reviews.
        """
        self._out.write(b"{\n")
        for name, value in members.items():
            self._out.write(encoded(name) + b": " + encoded(value) + b",\n")
        self._out.write(b'"reviews": ')
        self._array(iter(()))
        self._out.write(b"\n}\n")

    def onto(self, document: Document) -> None:
        """Writes a file anew that was there.

        Raises:
            ImportRefusedError: It is no JSON object.
        """
        before = b"{\n"
        reviews = False
        for name in document.members():
            self._out.write(before + name.text.encode() + b": ")
            before = b",\n"
            if name.value == "reviews" and document.peek() == "[":
                self._array(document.value() for _ in document.elements())
                reviews = True
            else:
                self._member(str(name.value), document.value())
        if not reviews:
            self._out.write(before + b'"reviews": ')
            self._array(iter(()))
        document.end()
        self._out.write(b"\n}\n")

    def _member(self, name: str, piece: Piece) -> None:
        text = piece.text
        if name == "updated_at" and piece.value is not None:
            text = json.dumps(self._updated_at)
        if name == "aggregate_rating" and isinstance(piece.value, dict):
            given = piece.value.get("review_count")
            self.tally.given = given if isinstance(given, int) else None
        self._out.write(text.encode())

    def _array(self, there: Iterator[Piece]) -> None:
        self._out.write(b"[")
        for piece in there:
            self._settle(piece)
        used = self._used
        for number, record in self._staged.all():
            if number % _STEP == 0:
                self._step(number)
            if not used[number]:
                self.tally.new += 1
                self._write(record)
        self._out.write(b"\n]")

    def _settle(self, piece: Piece) -> None:
        """One review that is there."""
        tally = self.tally
        identifier = piece.value.get("id") if isinstance(piece.value, dict) else None
        if isinstance(piece.value, dict) and isinstance(identifier, str):
            found = self._staged.find(identifier if self._by_id else merge_key(identifier))
            if found is not None and not self._used[found.number]:
                self._used[found.number] = 1
                record = merged(piece.value, piece.text, found.record)
                if record is None:
                    tally.unchanged += 1
                    self._write(piece.text.encode())
                else:
                    tally.changed += 1
                    self._write(record)
                return
        if self._replace:
            tally.removed += 1
            return
        tally.kept += 1
        self._write(piece.text.encode())

    def _write(self, record: bytes) -> None:
        self._out.write(b"\n" if self._first else b",\n")
        self._out.write(record)
        self._first = False


def merged(old: dict[str, object], text: str, record: bytes) -> bytes | None:
    """A review with what an export says of it; None when it says nothing new.

    The id stays, as do members that the export does not carry, as they are written.

    Args:
        old: The review that is there.
        text: The same as JSON.
        record: What the export says, as JSON.
    """
    new = msgspec.json.decode(record)
    if all(old.get(name) == value for name, value in new.items() if name != "id"):
        return None
    try:
        members = _records.decode(text)
    except msgspec.DecodeError:  # it has half characters, or NaN, which nobody serves
        members = _records.decode(encoded(old))
    return _encode({**members, **_records.decode(record), "id": members["id"]})
