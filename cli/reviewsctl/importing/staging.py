"""The reviews of an export, each once, and in memory: a business has thousands at most."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from reviewsctl.importing.review import MEMBERS, Entry
from reviewsctl.importing.values import short_name


class Place(NamedTuple):
    """A location at a source."""

    source: str
    name: str
    """The id that the source gives it, or nothing."""

    @classmethod
    def of_entry(cls, entry: Entry) -> "Place":
        """Return where a review of an export is from."""
        return cls(entry.source, entry.place)

    @classmethod
    def of(cls, review: Mapping[str, object]) -> "Place | None":
        """Return where a review of reviews.json is from; None if it does not say."""
        source, location = review.get("source"), review.get("location")
        if not isinstance(source, str):
            return None
        return cls(source, location if isinstance(location, str) else "")


def places_of(reviews: Iterable[Mapping[str, object]]) -> set[Place]:
    """Return the locations of the reviews of reviews.json."""
    return {place for review in reviews if (place := Place.of(review)) is not None}


class Staging:
    """The reviews of an export, by their merge keys and in its order."""

    def __init__(self) -> None:
        self.added = 0
        """How many rows were added; the same review may be among them twice."""
        self.skipped: set[str] = set()
        """The merge keys of reviews whose rows were skipped or refused."""
        self.withdrawn: set[str] = set()
        """Those of reviews that the platform does not publish, or no longer."""
        self._reviews: dict[str, Entry] = {}
        self._stated: defaultdict[str, set[str]] = defaultdict(set)  # by source, members of any row

    def add(self, entry: Entry) -> None:
        """Add one row; of two versions of a review the one that was edited later counts."""
        self.added += 1
        self._stated[entry.source].update({*MEMBERS} - entry.blank)
        earlier = self._reviews.get(entry.key)
        if earlier is None or entry.edited > earlier.edited:
            self._reviews[entry.key] = entry

    def has_another(self, entry: Entry) -> bool:
        """Return whether a review of another author and day has the id of a row, as after a slip in the table."""
        earlier = self._reviews.get(entry.key)
        return earlier is not None and all(
            earlier.record.get(name) != entry.record.get(name) for name in ("author", "date")
        )

    def __len__(self) -> int:
        """Return the number of reviews, each counted once."""
        return len(self._reviews)

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over the reviews in the order of the export."""
        return iter(self._reviews.values())

    def places(self) -> Counter[Place]:
        """Return the locations with the number of their reviews, in the order of the export."""
        return Counter(map(Place.of_entry, self))

    def oldest(self) -> dict[Place, str]:
        """Return the day of the oldest review of each location, YYYY-MM-DD."""
        days: dict[Place, str] = {}
        for entry in self:
            place = Place.of_entry(entry)
            day = str(entry.record["date"])
            days[place] = min(day, days.get(place, day))
        return days

    def newest(self, today: str) -> dict[Place, str]:
        """Return the latest day up to this one on which a review of each location was written or edited, YYYY-MM-DD."""
        days: dict[Place, str] = {}
        for entry in self:
            if "" < entry.newest <= today:
                place = Place.of_entry(entry)
                days[place] = max(entry.newest, days.get(place, ""))
        return days

    def keep(self, place: Place) -> int:
        """Forget the reviews of its source's other locations; return how many those were."""
        before = len(self)
        self._reviews = {
            key: entry
            for key, entry in self._reviews.items()
            if Place.of_entry(entry) == place or entry.source != place.source
        }
        return before - len(self)

    def locate(self, name: str) -> None:
        """Set the location of all reviews."""
        for key, entry in self._reviews.items():
            record = {**entry.record, "location": name}
            self._reviews[key] = msgspec.structs.replace(entry, place=name, record=record)

    def shorten(self, sources: Collection[str]) -> int:
        """Shorten the names of the reviews of some sources, and leave out portraits; return how many names changed.

        A single name is its own short form, and its portrait says who it is.
        """
        changed = 0
        for key, entry in self._reviews.items():
            if entry.source not in sources:
                continue
            author = short_name(str(entry.record["author"]))
            changed += author != entry.record["author"]
            self._reviews[key] = msgspec.structs.replace(
                entry,
                record={**entry.record, "author": author, "author_avatar_url": None},
                blank=entry.blank - {"author_avatar_url"},
            )
        return changed

    def find(self, identifier: str, key: str) -> Entry | None:
        """Return the review with this id, which an export of reviewsd has, or else with this merge key."""
        return self._reviews.get(identifier) or self._reviews.get(key)

    def unstated(self, entry: Entry) -> frozenset[str]:
        """Return the members of a record that the export says nothing of: a merge leaves them alone.

        A platform may have none of them, unless the export was made without the member.
        """
        return entry.blank - self._stated[entry.source].intersection(entry.certain)
