"""The reviews of an export and those that are there become one reviews.json, as a stream.

What is there stays as it is written, byte for byte, unless the export says something else: unknown
members of the file, of the business and of a review, and the order. New reviews come last; the daemon
sorts.
"""

import datetime
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import BinaryIO, Final

import msgspec

from reviewsctl.importing.business import empty, filled
from reviewsctl.importing.examples import EXAMPLES
from reviewsctl.importing.readers.json_file import Document, Piece
from reviewsctl.importing.removed import removed_member
from reviewsctl.importing.review_merge import (
    CHANGED,
    STAMPS,
    Merged,
    Review,
    alike_number,
    is_copy,
    merge_review,
    stamp,
    stamped,
)
from reviewsctl.importing.reviews_file import create, rewrite, updated
from reviewsctl.importing.staging import PassedOver, Place, Staged, Staging
from reviewsctl.importing.values import word
from reviewsctl.importing.written import NOTHING, Written, digests
from reviewsd.api.review_ids import merge_key

MAX_LISTED: Final = 10_000
"""Reviews of each fate that are listed."""

_STEP: Final = 5000  # reviews between two reports of progress

Step = Callable[[int], None]
"""Called now and then with the number of reviews of the export that are written."""


IsGone = Callable[[str], bool]
"""Called with the merge key of each review that may be removed, returns whether it is."""


class Fate(Enum):
    """The outcome for a review; the reviews of the last six are listed."""

    UNCHANGED = "unchanged"
    KEPT = "kept"
    """In the file, and not in the export."""
    SPARED = "spared"
    """Not removed, since a row of the export that was not taken is of it, or it is not missing for long
    enough; these are kept too."""
    TOO_OLD = "too old"
    """Not removed, since it is older than the export's oldest; these are kept too."""
    OLDER = "older"
    """Not changed by a row of the export that is an older version of it; these are unchanged too."""
    ALIKE = "alike"
    """Kept, and like a review of the export in source, author, day and rating, under another id."""
    COPY = "copy"
    """In the file under another id, by another tool's export; these are unchanged or changed too."""
    EXAMPLE = "example"
    """Written by ``reviewsctl init``, and left out."""
    ANOTHER = "another"
    """Changed into the review of another author and day."""
    SHORT_NAME = "short name"
    """The author stays shortened, though the export has the full name."""
    REPLY_KEPT = "reply kept"
    """The owner's reply stays, though the export has none."""
    NEW = "new"
    CHANGED = "changed"
    REMOVED = "removed"
    """In the file, and left out: the export says that it is not public, or does not have it and
    ``--replace`` follows the export."""
    RETURNED = "returned"
    """New, though an import wrote it before: it was removed by hand."""
    OVERWRITTEN = "overwritten"
    """Changed, though it was edited by hand since the last import."""
    REPLY_REMOVED = "reply removed"
    """Changed so that the owner's reply goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A review that is listed."""

    review: str
    """Its author, day and source."""
    members: tuple[str, ...] = ()
    """Those with another value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """Instructions for a merge."""

    now: datetime.datetime
    facts: Mapping[str, object] = field(default_factory=dict)
    """Members of the business, as the export has them."""
    replaced: Mapping[Place, str] = field(default_factory=dict)
    """The locations from which reviews are removed if the export does not have them, each with a day before which
    no review is removed, or ""."""
    is_gone: IsGone | None = None
    """Decides about each review that the export does not have; without it all of them are removed."""
    older: frozenset[Place] = frozenset()
    """The locations of which the export is older than the last import."""
    full_names: bool = False
    """Whether shortened names are to be full again."""
    by_owner: bool = False
    """Whether the export is the owner's own, so that what it says counts as edited by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """The outcome for all reviews, and for the business."""

    counts: Mapping[Fate, int] = field(default_factory=Counter)
    changes: Mapping[Fate, Sequence[Change]] = field(default_factory=dict)
    """The first reviews of each fate that is listed."""
    name: str = ""
    """The name of the business in the file."""
    places: frozenset[Place] = frozenset()
    """The locations that the file has reviews of, where they say."""
    met: frozenset[Place] = frozenset()
    """The locations of the export of which a review is in the file."""
    there: Mapping[Place | None, int] = field(default_factory=dict)
    """The reviews of each location that were there."""
    removed: Mapping[Place | None, int] = field(default_factory=dict)
    """Those of them that are removed."""
    filled: Mapping[str, object] = field(default_factory=dict)
    """Members of the business that were empty, as the export has them."""
    review_count: int | None = None
    """``aggregate_rating.review_count`` of the file, which is kept as it is."""

    def count(self, fate: Fate) -> int:
        """Return the number of reviews of one fate."""
        return self.counts.get(fate, 0)

    @property
    def total(self) -> int:
        """Reviews in the new file."""
        return sum(map(self.count, (Fate.NEW, Fate.CHANGED, Fate.UNCHANGED, Fate.KEPT)))

    @property
    def is_different(self) -> bool:
        """Whether the new file differs from what was there."""
        fates = (Fate.NEW, Fate.CHANGED, Fate.REMOVED, Fate.EXAMPLE)
        return any(map(self.count, fates)) or bool(self.filled)


class Merge:
    """One merge.

    Args:
        staged: The export.
        out: The new file.
        step: Called with the progress of the writing.
        plan: The instructions.
    """

    def __init__(self, staged: Staging, out: BinaryIO, step: Step, plan: MergePlan) -> None:
        self._staged = staged
        self._out = out
        self._step = step
        self._plan = plan
        self._now = stamp(plan.now)
        self._alikes = staged.alikes()
        self._used = bytearray(staged.largest() + 1)
        self._counts: Counter[Fate] = Counter()
        self._changes: defaultdict[Fate, list[Change]] = defaultdict(list)
        self._places: set[Place] = set()
        self._met: set[Place] = set()
        self._there: Counter[Place | None] = Counter()
        self._removed: Counter[Place | None] = Counter()
        self._removed_before: list[object] = []  # ``removed`` of the file
        self._removed_ids: list[str] = []
        self._name = ""
        self._filled: Mapping[str, object] = {}
        self._review_count: int | None = None

    def create(self, members: Mapping[str, object]) -> MergeResult:
        """Write a file that was not there.

        Args:
            members: Its members beside the reviews.
        """
        create(self._out, members, self._records)
        if members.keys() == {"business"}:
            facts = self._plan.facts
            self._filled = {name: facts[name] for name in facts if facts[name]}
        return self._result()

    def update(self, document: Document) -> MergeResult:
        """Write a file again that was there.

        Raises:
            ImportRefusedError: It is no JSON object, or its reviews are no array.
        """
        rewrite(self._out, document, self._member, self._records, self._removed_member)
        return self._result()

    def _result(self) -> MergeResult:
        return MergeResult(
            counts=self._counts,
            changes=self._changes,
            name=self._name,
            places=frozenset(self._places),
            met=frozenset(self._met),
            there=self._there,
            removed=self._removed,
            filled=self._filled,
            review_count=self._review_count,
        )

    def _removed_member(self) -> Mapping[str, object]:
        now = self._plan.now.replace(microsecond=0)
        return removed_member(self._removed_before, self._removed_ids, now)

    def _member(self, name: str, piece: Piece) -> str | None:
        if name == "removed" and isinstance(piece.value, list):
            self._removed_before = piece.value
            return None
        if name == "updated_at" and piece.value is not None:
            return json.dumps(self._now)
        if name == "aggregate_rating" and isinstance(piece.value, dict):
            count = piece.value.get("review_count")
            self._review_count = count if isinstance(count, int) else None
        if name == "business" and isinstance(piece.value, dict):
            return self._business(piece.value, piece.text)
        return piece.text

    def _business(self, business: dict[str, object], text: str) -> str:
        """Return the business with what was empty filled; else as it is written."""
        name = business.get("name")
        self._name = name if isinstance(name, str) and not empty("name", name) else ""
        self._filled = filled(business, self._plan.facts)
        return updated(business, text, self._filled).decode() if self._filled else text

    def _records(self, reviews: Iterator[Piece]) -> Iterator[bytes]:
        for piece in reviews:
            record = self._settled(piece)
            if record is not None:
                yield record
        for staged in self._staged.all():
            if staged.number % _STEP == 0:
                self._step(staged.number)
            if not self._used[staged.number]:
                yield self._new(staged)

    def _new(self, staged: Staged) -> bytes:
        review, key = msgspec.json.decode(staged.record), merge_key(staged.key)
        self._note(Fate.NEW, review)
        if self._staged.written.get(key) is not None:
            self._note(Fate.RETURNED, review)
        if not self._plan.by_owner:
            row = Written(staged.edited, staged.replied, digests(review))
            self._staged.written.set(key, row)
        stamps = stamped(review, self._plan.now)
        if STAMPS[0] in review or STAMPS[1] in review:
            bare = {name: value for name, value in review.items() if name not in STAMPS}
            return updated(bare, _without(staged.record, STAMPS), stamps)
        return staged.record[:-1] + b',"added_at":' + json.dumps(stamps["added_at"]).encode() + b"}"

    def _settled(self, piece: Piece) -> bytes | None:
        """Return what becomes of a review that is there; None if it goes."""
        review = piece.value if isinstance(piece.value, dict) else {}
        place = Place.of(review)
        self._there[place] += 1
        if place is not None and place.name:
            self._places.add(place)
        identifier = review.get("id")
        if not isinstance(identifier, str):
            return self._absent(review, piece, place)
        if identifier in EXAMPLES:
            self._counts[Fate.EXAMPLE] += 1
            return None
        key = merge_key(identifier)
        staged = self._staged.find(identifier, key)
        copy = None if staged is not None else self._copy(review)
        staged = staged or copy
        if staged is None or self._used[staged.number]:
            return self._absent(review, piece, place, key)
        record = msgspec.json.decode(staged.record)
        if copy is not None:  # it fills what is empty: another tool's addresses would come and go
            record = {name: value for name, value in record.items() if review.get(name) is None}
            record.pop("location", None)
            self._counts[Fate.COPY] += 1
        self._used[staged.number] = 1
        self._met.add(staged.place)
        row = self._staged.written.get(key) or NOTHING
        merged = merge_review(
            review,
            record,
            staged,
            row,
            export_is_older=staged.place in self._plan.older,
            full_names=self._plan.full_names,
        )
        if merged.written == row or self._plan.by_owner:
            self._staged.written.retain(key)
        else:
            self._staged.written.set(key, merged.written)
        self._note_merged(review, merged)
        if not merged.changes:
            return piece.text.encode()
        return updated(review, piece.text, {**merged.changes, CHANGED: self._now})

    def _copy(self, review: Review) -> Staged | None:
        """Return the review of the export that is there under another id, unless it became another one."""
        number = self._alike(review)
        if number is None or self._used[number]:
            return None
        staged = self._staged.at(number)
        record = msgspec.json.decode(staged.record, type=dict[str, object])
        return staged if is_copy(review, record, staged.place.name) else None

    def _alike(self, review: Review) -> int | None:
        """Return the number of the review of the export that says the same, whatever its id."""
        number = alike_number(review)
        return None if number is None else self._alikes.get(number)

    def _note_merged(self, review: Review, merged: Merged) -> None:
        if merged.keeps_reply:
            self._counts[Fate.REPLY_KEPT] += 1
        if merged.keeps_short_name:
            self._counts[Fate.SHORT_NAME] += 1
        if not merged.changes:
            self._counts[Fate.UNCHANGED] += 1
            self._counts[Fate.OLDER] += merged.is_older
            return
        self._counts[Fate.ANOTHER] += merged.is_another
        self._note(Fate.CHANGED, review, tuple(merged.changes))
        if merged.by_hand:
            self._note(Fate.OVERWRITTEN, review, merged.by_hand)
        if merged.loses_reply:
            self._note(Fate.REPLY_REMOVED, review)

    def _absent(
        self, review: Review, piece: Piece, place: Place | None, key: str = ""
    ) -> bytes | None:
        """Return a review that is not in the export; None if it goes."""
        if self._goes(review, place, key):
            self._removed[place] += 1
            self._removed_ids += [
                review_id for review_id in (review.get("id"),) if isinstance(review_id, str)
            ]
            self._note(Fate.REMOVED, review)
            return None
        if key:
            self._staged.written.retain(key)
        self._counts[Fate.KEPT] += 1
        self._counts[Fate.ALIKE] += self._alike(review) is not None
        return piece.text.encode()

    def _goes(self, review: Review, place: Place | None, key: str) -> bool:
        """Return whether a review that is not in the export is removed."""
        passed_over = self._staged.passed_over(key)
        if passed_over is PassedOver.WITHDRAWN:
            return True
        if place is None or place not in self._plan.replaced:
            return False
        if passed_over is PassedOver.UNUSABLE:
            self._counts[Fate.SPARED] += 1
            return False
        day = review.get("date")
        if isinstance(day, str) and day < self._plan.replaced[place]:
            self._counts[Fate.TOO_OLD] += 1
            return False
        if self._plan.is_gone is not None and not (key and self._plan.is_gone(key)):
            self._counts[Fate.SPARED] += 1
            return False
        return True

    def _note(self, fate: Fate, review: Review, members: tuple[str, ...] = ()) -> None:
        self._counts[fate] += 1
        changes = self._changes[fate]
        if len(changes) < MAX_LISTED:
            changes.append(Change(review=_named(review), members=members))


def _without(record: bytes, names: Sequence[str]) -> str:
    """Return a JSON object without some members, the others as they are written."""
    members = msgspec.json.decode(record, type=dict[str, msgspec.Raw])
    remaining = {name: value for name, value in members.items() if name not in names}
    return msgspec.json.encode(remaining).decode()


def _named(review: Review) -> str:
    """Return how messages name a review: its author, day and source."""
    return ", ".join(
        word(review.get(name)) or f"no {name}" for name in ("author", "date", "source")
    )
