"""Selects the top phrases and examples of an entity (insights.md 5, ``aspects[]``)."""

import heapq
from collections import Counter
from collections.abc import Callable
from typing import Final

from reviewsd.analysis.counts import CANDIDATES, EXAMPLES, Example, MentionCounts, offer
from reviewsd.analysis.wordings import key
from reviewsd.domain.insights import Sentiment

TOP_PHRASES: Final = 5
MIN_SHARED: Final = 2  # reviews with the same wording
_FREQUENT: Final = 200  # wordings of an entity that are looked at

_SENTIMENTS: Final[tuple[Sentiment, ...]] = ("positive", "neutral", "negative")


class Ranking:
    """The mentions of one entity in all reviews.

    Args:
        is_answer: Returns whether a wording answers what customers say about the entity.
    """

    def __init__(self, is_answer: Callable[[str], bool]) -> None:
        self._is_answer = is_answer
        self.stars = 0
        self.hundredths = 0
        self.praised_for: Counter[str] = Counter()
        """Reviews that praise a person for an aspect, by its id."""
        self._counts: Counter[Sentiment] = Counter()
        self._wordings: dict[Sentiment, Counter[str]] = {}
        self._examples: dict[Sentiment, list[Example]] = {}

    def add(self, mentions: MentionCounts) -> None:
        """Add the mentions of a block."""
        self.stars += mentions.stars
        self.hundredths += mentions.hundredths
        self.praised_for.update(mentions.praised_for)
        for sentiment, counts in mentions.sentiments.items():
            self._counts[sentiment] += len(counts.at)
            best = self._examples.setdefault(sentiment, [])
            for example in counts.examples:
                offer(best, example, CANDIDATES)
            self._wordings.setdefault(sentiment, Counter()).update(counts.wordings)

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

    def top_phrases(self, *sentiments: Sentiment) -> tuple[str, ...]:
        """Return the answers of most reviews, of at least two, in their most frequent spelling, or the shortest of these."""
        spellings: dict[str, Counter[str]] = {}
        for sentiment in sentiments or _SENTIMENTS:
            for text, count in self._wordings.get(sentiment, {}).items():
                spellings.setdefault(key(text), Counter())[text] += count
        counts = {name: texts.total() for name, texts in spellings.items()}
        shared = (name for name, count in counts.items() if count >= MIN_SHARED)
        frequent = heapq.nsmallest(_FREQUENT, shared, key=lambda name: (-counts[name], name))
        texts = {}
        for name in frequent:
            spelled = (item for item in spellings[name].items() if self._is_answer(item[0]))
            if best := min(spelled, key=_by_use, default=None):
                texts[name] = best[0]
        answers = texts.keys() - {
            short
            for short in texts
            for name in texts
            if short != name and f" {short} " in f" {name} " and counts[short] <= 2 * counts[name]
        }
        top = heapq.nsmallest(TOP_PHRASES, answers, key=lambda name: (-counts[name], name))
        return tuple(texts[name] for name in top)

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

    def best(self, sentiment: Sentiment) -> list[Example]:
        """Return the examples of one sentiment, strongest first."""
        return sorted(self._examples.get(sentiment, ()), reverse=True)

    def of(self, sentiment: Sentiment) -> int:
        """Return the number of reviews with a sentiment."""
        return self._counts[sentiment]


def _by_use(item: tuple[str, int]) -> tuple[int, int, str]:
    """Return what puts the most frequent spellings first, then short ones, then those in small letters."""
    text, count = item
    return -count, len(text), text.swapcase()
