"""Which wordings and which reviews stand for the many (insights.md 5, ``aspects[]``)."""

import heapq
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Review

TOP_PHRASES: Final = 5
EXAMPLES: Final = 5

_KEPT: Final = 2 * EXAMPLES  # candidates of each sentiment


class Example(NamedTuple):
    """A review that may stand as an example; the best one is the greatest."""

    strength: float
    day: int
    id: str
    phrase: str
    review: Review | None
    """Never compared: ids are unique."""


@dataclass(slots=True)
class _Wording:
    """A wording that reviews have in common."""

    count: int
    spelled: str
    """As in the newest of them."""
    review: Review
    """That one."""


@dataclass(slots=True)
class Mentions:
    """The reviews that mention one thing."""

    positive: int = 0
    neutral: int = 0
    negative: int = 0
    score: float = 0.0
    """Sum of the scores of the reviews."""
    stars: int = 0
    _phrases: dict[str, _Wording] = field(default_factory=dict)
    _examples: dict[Sentiment, list[Example]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many reviews."""
        return self.positive + self.neutral + self.negative

    def add(
        self,
        review: Review,
        sentiment: Sentiment,
        *,
        score: float,
        phrase: str | None,
        strength: float,
    ) -> None:
        """Count one review."""
        if sentiment == "positive":
            self.positive += 1
        elif sentiment == "negative":
            self.negative += 1
        else:
            self.neutral += 1
        self.score += score
        self.stars += review.rating
        if phrase:
            self._add_phrase(phrase, review)
        candidates = self._examples.get(sentiment)
        if candidates is None:
            candidates = self._examples[sentiment] = []
        if len(candidates) < _KEPT:
            heapq.heappush(candidates, _example(review, phrase, strength))
        elif candidates[0].strength <= strength:  # most are too weak, and told by this alone
            example = _example(review, phrase, strength)
            if candidates[0] < example:
                heapq.heapreplace(candidates, example)

    def top_phrases(self) -> tuple[str, ...]:
        """The most frequent wordings, spelled as in the newest review that has them."""
        phrases = self._phrases
        ranked = heapq.nsmallest(TOP_PHRASES, phrases, key=lambda key: (-phrases[key].count, key))
        return tuple(phrases[key].spelled for key in ranked)

    def examples(self) -> list[Example]:
        """The strongest reviews, of both signs where there are both."""
        lists = {sign: sorted(found, reverse=True) for sign, found in self._examples.items()}
        every = sorted((each for found in lists.values() for each in found), reverse=True)
        chosen = every[:EXAMPLES]
        for sign in ("positive", "negative"):
            candidates = lists.get(sign, [])
            if candidates and not any(each in candidates for each in chosen):
                chosen[-1] = candidates[0]
        return chosen

    def best(self, sentiment: Sentiment) -> Example | None:
        """The strongest review of one sentiment."""
        return max(self._examples.get(sentiment, []), default=None)

    def _add_phrase(self, phrase: str, review: Review) -> None:
        key = phrase.casefold()
        found = self._phrases.get(key)
        if found is None:
            self._phrases[key] = _Wording(1, phrase, review)
            return
        found.count += 1
        newest = found.review
        if review.date >= newest.date and (review.date, review.id) > (newest.date, newest.id):
            found.spelled, found.review = phrase, review


def _example(review: Review, phrase: str | None, strength: float) -> Example:
    return Example(strength, review.date.toordinal(), review.id, phrase or "", review)
