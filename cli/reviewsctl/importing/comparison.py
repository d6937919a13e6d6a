"""Compares an earlier version of reviews.json with the one that an undo replaces by it.

A review that differs between both gets the time of the undo as ``changed_at``, and one that goes an entry in
``removed``, so that a copy of the reviews that is kept up to date by their times gets it too. A review that had another
id is the successor of that id, so that what is decided about it holds for the version that is replaced
(corrections.md C25, C35).
"""

import datetime
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Literal

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.import_log import digest
from reviewsctl.importing.readers.json_file import Document, Piece
from reviewsctl.importing.review_merge import CHANGED, STAMPS, stamp
from reviewsctl.importing.reviews_file import removed_member, reviews_of, updated
from reviewsctl.importing.values import elements, encoded, members

_REMOVED = "removed"


class Comparison:
    """Compares two versions.

    Args:
        before: The version that is there; None if there is none, or no valid one.
        after: The version that takes its place.
        now: The time of the undo.

    Raises:
        ImportRefusedError: The later one cannot be read.
    """

    def __init__(self, before: Document | None, after: Document, now: datetime.datetime) -> None:
        self._now = now
        self._after = dict.fromkeys(_contents(after))
        self._before: dict[str, bytes] = {}
        self._removed: list[object] = []
        try:
            if before is not None:
                self._before = _contents(before)
                self._removed = _removed(before)
            self.is_valid = before is not None
            """Whether there is a version that can be compared; else the other one stays as it is."""
        except ImportRefusedError:
            self.is_valid = False
        self.business = _different_members(before, after) if self.is_valid else []
        """The members of the business that differ."""
        self._removed += _removed(after)
        self._gone = [name for name in self._before if name not in self._after]
        self._other_ids = self._find_other_ids()

    @property
    def gone(self) -> int:
        """Reviews that were there, and are not in the other version, whatever their ids."""
        return len(self._gone) - len(self._other_ids)

    def member(self, name: str, piece: Piece) -> bytes | None:
        """Return a member beside the reviews; None leaves it out."""
        if self.is_valid and name == "updated_at" and piece.value is not None:
            return encoded(stamp(self._now))
        return None if self.is_valid and name == _REMOVED else piece.text

    def record(self, piece: Piece) -> tuple[bytes, Literal["back", "changed", "unchanged"]]:
        """Return a review of the other version, and what the undo does to it."""
        review = members(piece.value)
        identifier = str(review.get("id"))
        content = self._before.get(self._other_ids.get(identifier, identifier))
        if not self.is_valid or content == _content(review):
            return piece.text, "unchanged"
        text = updated(piece.text, {CHANGED: stamp(self._now)})
        return text, "back" if content is None else "changed"

    def removed_member(self) -> Mapping[str, object]:
        """Return the new member ``removed``: the entries of both versions, and the reviews that go."""
        if not self.is_valid:
            return {}
        entries = {str(members(entry).get("id")): entry for entry in self._removed}
        listed = [
            entry
            for name, entry in entries.items()
            if name not in self._after and name not in self._before
        ]
        successors = {before: after for after, before in self._other_ids.items()}
        return removed_member(listed, self._gone, self._now, successors)

    def _find_other_ids(self) -> dict[str, str]:
        """Return the ids that reviews had before the undo, by those that they have after it, where they differ."""
        linked: defaultdict[str, set[str]] = defaultdict(set)
        for first, second in _successions(self._removed):
            linked[first].add(second)
            linked[second].add(first)
        missing_ids, other_ids = {*self._gone}, dict[str, str]()
        for identifier in sorted(self._after.keys() - self._before.keys()) if missing_ids else ():
            group, waiting = {identifier}, [identifier]
            while waiting:
                new = linked.get(waiting.pop(), set()) - group
                group |= new
                waiting += new
            if other_id := min(group & missing_ids, default=None):
                other_ids[identifier] = other_id
                missing_ids.remove(other_id)
        return other_ids


def _contents(document: Document) -> dict[str, bytes]:
    """Return a checksum of each review by its id."""
    return {str(review.get("id")): _content(review) for review in reviews_of(document)}


def _content(review: Mapping[str, object]) -> bytes:
    content = {name: value for name, value in review.items() if name not in STAMPS}
    return digest(content)


def _removed(document: Document) -> list[object]:
    raw = document.members().get(_REMOVED)
    return [] if raw is None else elements(document.value(raw))


def _different_members(before: Document | None, after: Document) -> list[str]:
    """Return the names of the members of the business that differ."""
    first, second = (_business(document) for document in (before, after))
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))


def _business(document: Document | None) -> Mapping[str, object]:
    raw = None if document is None else document.members().get("business")
    return {} if document is None or raw is None else members(document.value(raw))


def _successions(removed: list[object]) -> Iterator[tuple[str, str]]:
    """Iterate over the ids of removed reviews that have a successor, with its id."""
    for entry in removed:
        match entry:
            case {"id": str(identifier), "successor": str(successor)}:
                yield identifier, successor
