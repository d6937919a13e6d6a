"""The reviews of an export, each once, and in memory: a business has thousands at most."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from reviewsctl.importing.review import MEMBERS, Entry, mask

_ALL: Final = mask(MEMBERS)
_MAX_ALIKE: Final = 10  # reviews with one author, day and rating


class Place(NamedTuple):
    """A location at a source."""

    source: str
    name: str
    """The id that the source gives it, or nothing."""

    @classmethod
    def of(cls, review: Mapping[str, object]) -> "Place | None":
        """Return where a review of reviews.json is from; None if it does not say."""
        source, location = review.get("source"), review.get("location")
        if not isinstance(source, str):
            return None
        return cls(source, location if isinstance(location, str) else "")


class Staged(NamedTuple):
    """One review of the export."""

    entry: Entry
    unstated: int
    """Members of the record that the export does not have (``mask``): a merge leaves them alone."""

    @property
    def place(self) -> Place:
        """Its location."""
        return Place(self.entry.source, self.entry.place)


class Staging:
    """The reviews of an export, by their merge keys and in its order."""

    def __init__(self) -> None:
        self.added = 0
        """How many rows were added; the same review may be among them twice."""
        self.skipped: set[str] = set()
        """The merge keys of reviews whose rows were skipped."""
        self.withdrawn: set[str] = set()
        """Those of reviews that the platform does not publish, or no longer."""
        self._reviews: dict[str, Staged] = {}
        self._stated: defaultdict[str, int] = defaultdict(int)  # by source, the members of any row

    def add(self, entry: Entry, certain: int = 0) -> None:
        """Add one row; of two versions of a review the one that was edited later counts.

        Args:
            entry: The review.
            certain: Members that its platform has none of where the row is without (``mask``).
        """
        self.added += 1
        self._stated[entry.source] |= _ALL & ~entry.blank
        there = self._reviews.get(entry.key)
        if there is None or entry.edited > there.entry.edited:
            self._reviews[entry.key] = Staged(entry, entry.blank & ~certain)

    def __len__(self) -> int:
        """Return the number of reviews, each counted once."""
        return len(self._reviews)

    def __iter__(self) -> Iterator[Staged]:
        """Iterate over the reviews in the order of the export."""
        return map(self._staged, self._reviews.values())

    def places(self) -> Counter[Place]:
        """Return the locations with the number of their reviews, in the order of the export."""
        return Counter(staged.place for staged in self._reviews.values())

    def oldest(self) -> dict[Place, str]:
        """Return the day of the oldest review of each location, YYYY-MM-DD."""
        days: dict[Place, str] = {}
        for staged in self._reviews.values():
            day = staged.entry.day
            days[staged.place] = min(day, days.get(staged.place, day))
        return days

    def newest(self, now: int) -> dict[Place, int]:
        """Return the latest time up to ``now`` of each location's reviews, in POSIX milliseconds, where it has one."""
        times: dict[Place, int] = {}
        for staged in self._reviews.values():
            if 0 < (time := staged.entry.newest) <= now:
                times[staged.place] = max(time, times.get(staged.place, 0))
        return times

    def keep(self, place: Place) -> int:
        """Forget the reviews of its source's other locations; return how many those were."""
        before = len(self)
        self._reviews = {
            key: staged
            for key, staged in self._reviews.items()
            if staged.place == place or staged.place.source != place.source
        }
        return before - len(self)

    def locate(self, name: str) -> None:
        """Set the location of all reviews."""
        for key, (entry, unstated) in self._reviews.items():
            record = msgspec.json.decode(entry.record, type=dict[str, msgspec.Raw])
            record["location"] = msgspec.Raw(msgspec.json.encode(name))
            located = msgspec.structs.replace(entry, place=name, record=msgspec.json.encode(record))
            self._reviews[key] = Staged(located, unstated)

    def alikes(self) -> Mapping[int, list[Staged]]:
        """Return the reviews by ``alike``, to find them under another id; some of very many that are."""
        alikes: defaultdict[int, list[Staged]] = defaultdict(list)
        for staged in self:
            if len(same := alikes[staged.entry.alike]) < _MAX_ALIKE:
                same.append(staged)
        return alikes

    def find(self, identifier: str, key: str) -> Staged | None:
        """Return the review with this id, which an export of reviewsd has, or else with this merge key."""
        staged = self._reviews.get(identifier) or self._reviews.get(key)
        return None if staged is None else self._staged(staged)

    def _staged(self, staged: Staged) -> Staged:
        # the export may have been made without the member
        without = staged.entry.blank & ~self._stated[staged.entry.source]
        return Staged(staged.entry, staged.unstated | without)
