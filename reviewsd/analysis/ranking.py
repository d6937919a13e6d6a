"""Which wordings and which reviews stand for the many (insights.md 5, ``aspects[]``)."""

import heapq
from collections import Counter
from typing import Final

from reviewsd.analysis.counts import EXAMPLES, Example, MentionCounts, offer
from reviewsd.domain.insights import Sentiment

TOP_PHRASES: Final = 5


class Ranking:
    """All reviews that mention one thing."""

    def __init__(self) -> None:
        self.stars = 0
        self.hundredths = 0
        self._counts: Counter[Sentiment] = Counter()
        self._phrases: Counter[str] = Counter()
        self._examples: dict[Sentiment, list[Example]] = {}

    def add(self, mentions: MentionCounts) -> None:
        """Add those of a block."""
        self.stars += mentions.stars
        self.hundredths += mentions.hundredths
        self._phrases.update(mentions.phrases)
        for sentiment, said in mentions.sentiments.items():
            self._counts[sentiment] += len(said.at)
            best = self._examples.setdefault(sentiment, [])
            for example in said.examples:
                offer(best, example, EXAMPLES)

    @property
    def positive(self) -> int:
        """How many speak well of it."""
        return self._counts["positive"]

    @property
    def neutral(self) -> int:
        """How many speak neither well nor ill of it."""
        return self._counts["neutral"]

    @property
    def negative(self) -> int:
        """How many speak ill of it."""
        return self._counts["negative"]

    @property
    def count(self) -> int:
        """How many reviews."""
        return self._counts.total()

    def top_phrases(self) -> tuple[str, ...]:
        """The most frequent wordings, each as most reviews spell it."""
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
