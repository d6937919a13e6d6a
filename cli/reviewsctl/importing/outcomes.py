"""The outcomes of a merge: for each review, and for all of them together."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Raw

from reviewsctl.importing.import_log import Written
from reviewsctl.importing.staging import Place
from reviewsctl.importing.values import shown, word, words
from reviewsd.api.texts import merge_key

MAX_LISTED: Final = 10_000
"""Reviews of each fate, and rows that were refused or skipped, that are listed."""


MAX_NAMED: Final = 20
"""Reviews of a location that are named as the export does not have them."""


class Fate(Enum):
    """The outcome for a review."""

    UNCHANGED = "unchanged"
    KEPT = "kept"
    """In the file, and not in the export."""
    SPARED = "spared"
    """Not removed, since a row of the export that was not taken may be of it; these are kept too."""
    MISSING = "missing"
    """Not removed yet, since it is not missing for long enough; these are kept too."""
    HIDDEN = "hidden"
    """Not removed, since the owner's own export leaves out what is hidden; these are kept too."""
    TOO_OLD = "too old"
    """Not removed, since it is older than the export's oldest; these are kept too."""
    OLDER = "older"
    """Not changed by a row of the export that is an older version of it; these are unchanged too."""
    COPY = "copy"
    """In the file under another id, by another tool's export or with an id; these are unchanged or changed too."""
    EXAMPLE = "example"
    """Written by ``reviewsctl init``, and left out."""
    ANOTHER = "another"
    """Changed into the review of another author and day."""
    SHORT_NAME = "short name"
    """The author stays shortened, though the export has the full name."""
    FULL_NAME = "full name"
    """The author stays in full, though the owner's own export has the name shortened."""
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
    ERASED = "erased"
    """Not taken, as it may be an edited version of an erased review."""
    DAMAGED = "damaged"
    """New or changed, with members that a wrong encoding has damaged."""
    UNPLACED = "without a place"
    """Without a location in the new file; these are new, unchanged or changed too."""
    EMPTIED = "emptied"
    """Without some members in the owner's table that an import wrote, which stay; these are unchanged or changed too."""


Fates = Mapping[Fate, tuple[str, ...]]
"""The fates of a review, each with the members that get another value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A review that is listed."""

    review: str
    """Its author, day and source."""
    members: tuple[str, ...] = ()
    """Those with another value."""
    content: str = ""
    """The stars and the first words of one that is removed."""

    @property
    def without_author(self) -> str:
        """Its day and source, as a sync writes notes to the journal."""
        return ", ".join(self.review.rsplit(", ", 2)[1:])


class Succession(NamedTuple):
    """A review of the new file that is the corrected one that it was, or may be others."""

    record: Mapping[str, object]
    predecessors: Sequence[Mapping[str, object]]


@dataclass(slots=True, kw_only=True)
class MergeResult:
    """The outcome of an import; notes, is_written and backup are set when the file is replaced."""

    records: list[Raw] = field(default_factory=list)
    """The reviews of the new file."""
    members: dict[str, object] = field(default_factory=dict)
    """Its other members that differ; ``UNSET`` for one that is left out."""
    counts: Counter[Fate] = field(default_factory=Counter)
    changes: defaultdict[Fate, list[Change]] = field(default_factory=lambda: defaultdict(list))
    """The first reviews of each fate."""
    emptied: Counter[str] = field(default_factory=Counter)
    """Members of ``Fate.EMPTIED``."""
    changed: Counter[str] = field(default_factory=Counter)
    """Members of ``Fate.CHANGED``."""
    name: str = ""
    """The name of the business in the file."""
    met: set[Place] = field(default_factory=set)
    """The locations of the export of which a review is in the file."""
    there: Counter[Place | None] = field(default_factory=Counter)
    """The reviews of each location that were there."""
    removed: Counter[Place | None] = field(default_factory=Counter)
    """Those of them that are removed."""
    kept: Counter[Place] = field(default_factory=Counter)
    """Those of them that are kept."""
    first_kept: defaultdict[Place, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The first of those, as messages name them."""
    missing: set[str] = field(default_factory=set)
    """The merge keys of those that are kept only for now."""
    verified: set[str] = field(default_factory=set)
    """The sources of which verified reviews were there."""
    own_ids: dict[str, bool] = field(default_factory=dict)
    """By source, whether all its reviews have ids that an import has found in a row."""
    removed_ids: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of reviews to which a table has given ids of its own, by the merge keys of those."""
    doubles: Counter[str] = field(default_factory=Counter)
    """New reviews that are in the file under another source, by that source."""
    old_doubles: int = 0
    """Reviews of the export that are in the file already, under their source and under another one."""
    filled: Mapping[str, object] = field(default_factory=dict)
    """Members of the business that were empty, as the export has them."""
    log_rows: dict[str, Written] = field(default_factory=dict)
    """The rows of the import log for the reviews of the new file, by merge key."""
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The number of reviews of the export that are there, by the names of the locations that they leave and get."""
    contacts: list[Mapping[str, object]] = field(default_factory=list)
    """Reviews with a new text that has a phone number or an e-mail address."""
    naming_replies: list[str] = field(default_factory=list)
    """The days of reviews whose replies may have the surname of a short name, of which one is new."""
    successions: list[Succession] = field(default_factory=list)
    still_corrected: int = 0
    """The number of reviews of the export that were corrected before."""
    edited_corrected: list[Mapping[str, object]] = field(default_factory=list)
    """Those of them that the export changes."""
    erased_versions: list[Mapping[str, object]] = field(default_factory=list)
    """The rows that may be edited versions of erased reviews."""
    absent_corrected: list[Mapping[str, object]] = field(default_factory=list)
    """Corrected reviews that are removed."""
    corrected: list[str] = field(default_factory=list)
    """Notes that a sync tells too: on corrections that pass to new rows, and on surnames in replies."""
    notes: list[str] = field(default_factory=list)
    """Questions that were not asked, of a dry run."""
    is_written: bool = False
    backup: Path | None = None
    """The version that was replaced."""

    def add_old(self, review: Mapping[str, object], fates: Fates) -> None:
        """Count the fates of a review that was there."""
        place = Place.of(review)
        self.there[place] += Fate.EXAMPLE not in fates
        if place is not None and review.get("verified") is True:
            self.verified.add(place.source)
        if place is not None and Fate.KEPT in fates:
            self.kept[place] += 1
            self.first_kept[place] += [_named(review)] * (self.kept[place] <= MAX_NAMED)
        if Fate.MISSING in fates:
            self.missing.add(merge_key(str(review.get("id"))))
        if Fate.REMOVED in fates:
            self.removed[place] += 1
            identifier = review.get("id")
            self.removed_ids += [identifier] if isinstance(identifier, str) else []
        self.add(review, fates)

    def add(self, review: Mapping[str, object], fates: Fates) -> None:
        """Count the fates of a review."""
        for fate, members in fates.items():
            self.counts[fate] += 1
            self.emptied.update(members if fate is Fate.EMPTIED else ())
            self.changed.update(members if fate is Fate.CHANGED else ())
            if len(self.changes[fate]) < MAX_LISTED:
                content = _content(review) if fate is Fate.REMOVED else ""
                change = Change(review=_named(review), members=members, content=content)
                self.changes[fate].append(change)

    def count(self, fate: Fate) -> int:
        """Return the number of reviews of one fate."""
        return self.counts[fate]

    @property
    def places(self) -> set[Place]:
        """The locations that the file has reviews of, where they say."""
        return {place for place in self.there if place is not None and place.name}

    @property
    def sources(self) -> set[str]:
        """The sources of the reviews that were there."""
        return {place.source for place, count in self.there.items() if place is not None and count}

    @property
    def total(self) -> int:
        """Reviews in the new file."""
        return sum(map(self.count, (Fate.NEW, Fate.CHANGED, Fate.UNCHANGED, Fate.KEPT)))

    @property
    def is_different(self) -> bool:
        """Whether the new file differs from what was there."""
        fates = (Fate.NEW, Fate.CHANGED, Fate.REMOVED, Fate.EXAMPLE)
        return any(map(self.count, fates)) or bool(self.filled)


def _named(review: Mapping[str, object]) -> str:
    """Return how messages name a review: its author, day and source."""
    return ", ".join(
        word(review.get(name)) or f"no {name}" for name in ("author", "date", "source")
    )


def _content(review: Mapping[str, object]) -> str:
    """Return the stars and the first words of a review for a message."""
    text = words(review.get("text"))
    return f"{review.get('rating')}/5" + ("" if text is None else f", {shown(text)}")
