"""Selects the top phrases and examples of an entity (insights.md 5, ``aspects[]``)."""

import heapq
from collections import Counter
from typing import Final

from reviewsd.analysis.counts import EXAMPLES, Example, MentionCounts, offer
from reviewsd.domain.insights import Sentiment

TOP_PHRASES: Final = 5


class Ranking:
    """The mentions of one entity in all reviews."""

    def __init__(self) -> None:
        self.stars = 0
        self.hundredths = 0
        self._counts: Counter[Sentiment] = Counter()
        self._phrases: Counter[str] = Counter()
        self._examples: dict[Sentiment, list[Example]] = {}

    def add(self, mentions: MentionCounts) -> None:
        """Add the mentions of a block."""
        self.stars += mentions.stars
        self.hundredths += mentions.hundredths
        self._phrases.update(mentions.phrases)
        for sentiment, counts in mentions.sentiments.items():
            self._counts[sentiment] += len(counts.at)
            best = self._examples.setdefault(sentiment, [])
            for example in counts.examples:
                offer(best, example, EXAMPLES)

    @property
    def positive(self) -> int:
        """Number of positive reviews."""
        return self._counts["positive"]

    @property
    def neutral(self) -> int:
        """Number of neutral reviews."""
        return self._counts["neutral"]

    @property
    def negative(self) -> int:
        """Number of negative reviews."""
        return self._counts["negative"]

    @property
    def count(self) -> int:
        """Number of reviews."""
        return self._counts.total()

    def top_phrases(self) -> tuple[str, ...]:
        """Return the most frequent phrases, in their most frequent spelling."""
        counts: Counter[str] = Counter()
        for phrase, count in self._phrases.items():
            counts[phrase.casefold()] += count
        top = heapq.nsmallest(TOP_PHRASES, counts, key=lambda key: (-counts[key], key))
        spelled: dict[str, tuple[int, str]] = dict.fromkeys(top, (0, ""))
        for phrase, count in self._phrases.items():
            key = phrase.casefold()
            if key in spelled:
                spelled[key] = max(spelled[key], (count, phrase))
        return tuple(phrase for _, phrase in spelled.values())

    def examples(self) -> list[Example]:
        """Return the strongest examples, including one positive and one negative review if possible."""
        lists = {sign: sorted(heap, reverse=True) for sign, heap in self._examples.items()}
        candidates = sorted((item for items in lists.values() for item in items), reverse=True)
        examples = candidates[:EXAMPLES]
        for sign in ("positive", "negative"):
            best = lists.get(sign, [])
            if best and not any(example in best for example in examples):
                examples[-1] = best[0]
        return examples

    def best(self, sentiment: Sentiment) -> Example | None:
        """Return the strongest example of one sentiment."""
        return max(self._examples.get(sentiment, []), default=None)
