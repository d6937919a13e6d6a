"""What each review mentions, as ``per_review`` spells it (data-model.md 2).

Kept as positions by spelling, 4 bytes a mention, not by review: a million reviews mention a few
hundred things between them.
"""

from array import array
from collections.abc import Iterable, Mapping
from typing import get_args

from reviewsd.domain.insights import AspectMention, PerReview, Sentiment

Postings = Mapping[str, "array[int]"]
"""By spelling: the positions of the reviews, in the order of the file."""

_LISTS = ("technicians", "services", "problems", "topics", "service_areas")
SENTIMENTS: tuple[str, ...] = get_args(Sentiment)


class Spellings:
    """Collects them, review by review."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[str, array[int]]] = {name: {} for name in (*_LISTS, "aspects")}
        """By member of ``per_review``."""
        self.felt: dict[str, dict[str, array[int]]] = {name: {} for name in SENTIMENTS}
        """By sentiment: the aspects of which reviews speak with it."""
        self.sentiments: dict[str, array[int]] = {}
        """By sentiment of the whole review."""
        self._named = [(name, self.lists[name]) for name in _LISTS]
        self._aspects = self.lists["aspects"]

    def add(self, position: int, entry: PerReview) -> None:
        """Note what the review at a position mentions."""
        for member, posted in self._named:
            for name in getattr(entry, member):
                _note(posted, name, position)
        for aspect in entry.aspects:
            if isinstance(aspect, AspectMention):
                _note(self._aspects, aspect.id, position)
                if aspect.sentiment is not None:
                    _note(self.felt[aspect.sentiment], aspect.id, position)
            else:
                _note(self._aspects, aspect, position)
        if entry.sentiment is not None:
            _note(self.sentiments, entry.sentiment, position)

    @staticmethod
    def extend(posted: "dict[str, array[int]]", name: str, positions: Iterable[int]) -> None:
        """Note in one of the lists that these reviews mention a name."""
        posted.setdefault(name, array("I")).extend(positions)


def _note(posted: dict[str, "array[int]"], name: str, position: int) -> None:
    found = posted.get(name)
    if found is None:
        found = posted[name] = array("I")
    found.append(position)
