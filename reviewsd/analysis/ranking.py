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
class Mentions:
    """The reviews that mention one thing."""

    positive: int = 0
    neutral: int = 0
    negative: int = 0
    score: float = 0.0
    """Sum of the scores of the reviews."""
    stars: int = 0
    _phrases: dict[str, list[object]] = field(default_factory=dict)
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
        match sentiment:
            case "positive":
                self.positive += 1
            case "neutral":
                self.neutral += 1
            case "negative":
                self.negative += 1
        self.score += score
        self.stars += review.rating
        if phrase:
            self._add_phrase(phrase, review)
        candidates = self._examples.setdefault(sentiment, [])
        day = review.date.toordinal()
        if len(candidates) < _KEPT:
            heapq.heappush(candidates, Example(strength, day, review.id, phrase or "", review))
        elif candidates[0] < (strength, day, review.id):
            heapq.heapreplace(candidates, Example(strength, day, review.id, phrase or "", review))

    def top_phrases(self) -> tuple[str, ...]:
        """The most frequent wordings, spelled as in the newest review that has them."""
        ranked = sorted(self._phrases.items(), key=lambda item: (-item[1][0], item[0]))  # type: ignore[operator]  # the count
        return tuple(str(found[2]) for _, found in ranked[:TOP_PHRASES])

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
        found = self._phrases.get(phrase.casefold())
        spelled = (review.date, review.id)
        if found is None:
            self._phrases[phrase.casefold()] = [1, spelled, phrase]
            return
        found[0] += 1  # type: ignore[operator]  # the count
        if spelled > found[1]:  # type: ignore[operator]  # the same pair
            found[1:] = [spelled, phrase]
