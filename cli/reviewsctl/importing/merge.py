"""The reviews of an export and those that are there become one reviews.json, as a stream.

What is there stays as it is written, byte for byte, unless the export says something else: unknown
members of the file, of the business and of a review, and the order. New reviews come last; the
daemon sorts.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec
from msgspec import Raw

from reviewsctl.importing.business import empty, filled
from reviewsctl.importing.examples import EXAMPLES
from reviewsctl.importing.format import encoded
from reviewsctl.importing.ids import merge_key
from reviewsctl.importing.readers.json_file import Document, Piece
from reviewsctl.importing.review import alike
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.importing.values import word

Step = Callable[[int], None]
"""Told now and then how many reviews of the export are written."""

_STEP = 5000  # reviews
_LISTED = 20  # reviews that go, of which the operator is told

_records = msgspec.json.Decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode


@dataclass(slots=True, kw_only=True)
class MergeResult:
    """What became of the reviews."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    kept: int = 0
    """There, and not in the export."""
    removed: int = 0
    """There, not in the export, and left out by ``--replace``."""
    spared: int = 0
    """There, and kept for a row of the export that was not taken; these count as kept too."""
    leaving: list[str] = field(default_factory=list)
    """The first of these, for the operator."""
    alike: int = 0
    """Kept, but like a review of the export in all but the id."""
    examples: int = 0
    """Reviews of ``reviewsctl init``, left out."""
    name: str = ""
    """What the business is called in the file."""
    places: set[Place] = field(default_factory=set)
    """The locations that the file has reviews of, where they say."""
    filled: dict[str, object] = field(default_factory=dict)
    """Members of the business that were empty, as the export has them."""
    given: int | None = None
    """``aggregate_rating.review_count`` of the file, which is kept as it is."""

    @property
    def total(self) -> int:
        """Reviews in the result."""
        return self.new + self.changed + self.unchanged + self.kept

    @property
    def different(self) -> bool:
        """Whether the result differs from what was there."""
        return bool(self.new or self.changed or self.removed or self.examples or self.filled)


class Merge:
    """One merge.

    Args:
        staged: The export.
        out: Gets the new file.
        step: Told how far the writing is.
        replaced: The locations whose reviews are left out where the export does not have them.
        facts: What the export says of the business.
        updated_at: Takes the place of a time of the last change that the file gives itself.
    """

    def __init__(
        self,
        staged: Staging,
        out: BinaryIO,
        step: Step,
        *,
        replaced: Collection[Place] = (),
        facts: Mapping[str, object] | None = None,
        updated_at: str,
    ) -> None:
        self._staged = staged
        self._out = out
        self._step = step
        self._replaced = frozenset(replaced)
        self._facts = facts or {}
        self._alikes = staged.alikes()
        self._used = bytearray(staged.largest() + 1)
        self._updated_at = updated_at
        self._first = True
        self.result = MergeResult()

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
            self.result.given = given if isinstance(given, int) else None
        if name == "business" and isinstance(piece.value, dict):
            text = self._business(piece.value, text)
        self._out.write(text.encode())

    def _business(self, there: dict[str, object], text: str) -> str:
        """The business, with what was empty filled; else as it is written."""
        name = there.get("name")
        self.result.name = name if isinstance(name, str) and not empty("name", name) else ""
        self.result.filled = filled(there, self._facts)
        if not self.result.filled:
            return text
        new = msgspec.json.decode(encoded(self.result.filled), type=dict[str, Raw])
        return _encode({**_members(there, text), **new}).decode()

    def _array(self, there: Iterator[Piece]) -> None:
        self._out.write(b"[")
        for piece in there:
            self._settle(piece)
        used = self._used
        for number, record in self._staged.all():
            if number % _STEP == 0:
                self._step(number)
            if not used[number]:
                self.result.new += 1
                self._write(record)
        self._out.write(b"\n]")

    def _settle(self, piece: Piece) -> None:
        """One review that is there."""
        result = self.result
        review = piece.value if isinstance(piece.value, dict) else {}
        source, location, identifier = map(review.get, ("source", "location", "id"))
        if isinstance(source, str) and isinstance(location, str):
            result.places.add(Place(source, location))
        if isinstance(identifier, str):
            if identifier in EXAMPLES:
                result.examples += 1
                return
            # an export of ours has whole ids
            found = self._staged.find(identifier) or self._staged.find(merge_key(identifier))
            if found is not None and not self._used[found.number]:
                self._used[found.number] = 1
                record = merged(review, piece.text, found.record)
                if record is None:
                    result.unchanged += 1
                    self._write(piece.text.encode())
                else:
                    result.changed += 1
                    self._write(record)
                return
        leaves = self._leaves(review)
        if leaves and isinstance(identifier, str) and self._staged.spares(merge_key(identifier)):
            result.spared += 1
        elif leaves:
            result.removed += 1
            if len(result.leaving) < _LISTED:
                result.leaving.append(_named(review))
            return
        result.kept += 1
        author, day, rating = map(review.get, ("author", "date", "rating"))
        said = (source, author, day, rating)
        if all(isinstance(each, str | int) for each in said) and alike(*said) in self._alikes:
            result.alike += 1
        self._write(piece.text.encode())

    def _leaves(self, review: dict[str, object]) -> bool:
        """Whether a review that the export does not have was at a location that it replaces."""
        source, location = review.get("source"), review.get("location")
        place = location if isinstance(location, str) else ""
        return isinstance(source, str) and Place(source, place) in self._replaced

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
    members = _members(old, text)
    return _encode({**members, **_records.decode(record), "id": members["id"]})


def _members(old: dict[str, object], text: str) -> dict[str, Raw]:
    """The members of an object as they are written."""
    try:
        return _records.decode(text)
    except msgspec.DecodeError:  # it has half characters, or NaN, which nobody serves
        return _records.decode(encoded(old))


def _named(review: dict[str, object]) -> str:
    """A review for the operator: who, when, where."""
    return ", ".join(
        word(review.get(name)) or f"no {name}" for name in ("author", "date", "source")
    )
