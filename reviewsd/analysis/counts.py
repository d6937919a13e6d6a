"""The counts of a block of consecutive reviews (insights.md 1 and 5).

Insights are computed from the counts of all blocks, so the counts of unchanged blocks are reused. All
sums are integers, so they do not depend on the order of additions.
"""

import heapq
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

from reviewsd.domain.insights import Sentiment

EXAMPLES: Final = 5  # published examples of an entity
CANDIDATES: Final = 24  # candidates for an example or a quotation, for each sentiment
QUOTES: Final = 8  # candidates for the quotation, for each month


class Sums(Struct, array_like=True, gc=False):
    """Sums over reviews."""

    count: int = 0
    stars: int = 0
    hundredths: int = 0
    """Sum of the scores, in hundredths."""
    positive: int = 0

    def add(self, other: "Sums") -> None:
        """Add other sums."""
        self.count += other.count
        self.stars += other.stars
        self.hundredths += other.hundredths
        self.positive += other.positive

    @property
    def score(self) -> float:
        """The mean score; requires a review."""
        return self.hundredths / (100 * self.count)


class Example(NamedTuple):
    """A candidate for an example; the best one is the greatest."""

    strength: float
    day: int
    """Proleptic ordinal of its date."""
    id: str
    phrase: str


class Quote(NamedTuple):
    """A candidate for the pull quote; the best one is the greatest."""

    rating: int
    praised: int
    """Number of praised aspects, at most three."""
    words: float
    example: Example


T = TypeVar("T", Example, Quote)


class SentimentCounts(Struct, array_like=True, gc=False):
    """The reviews of a block that mention one entity with one sentiment."""

    at: list[int] = []
    """Their positions in the block, ascending."""
    examples: list[Example] = []
    """The best examples, as a heap."""
    wordings: list[str] = []
    """Their wordings, each once for a review."""


class MentionCounts(Struct, array_like=True, gc=False):
    """The reviews of a block that mention one entity."""

    sentiments: dict[Sentiment, SentimentCounts] = {}
    stars: int = 0
    hundredths: int = 0
    """Sum of the scores of these reviews, in hundredths."""
    praised_for: list[str] = []
    """Aspects that reviews praise in a person, each once for a review."""


class Counts(Struct, array_like=True, gc=False):
    """The counts of a block."""

    months: dict[int, Sums] = {}
    """Sums by month, in months since the year 0."""
    earliest: int = 0
    """Proleptic ordinal of the first date; undefined without reviews, like ``latest``."""
    latest: int = 0
    languages: dict[str, int] = {}
    """Reviews with words, by language (ISO 639)."""
    wordless: int = 0
    sentiments: dict[Sentiment, list[int]] = {}
    """Positions of the reviews in the block, by the sentiment of the review."""
    mentions: dict[str, dict[str, MentionCounts]] = {}
    """Mentions by kind (a member of ``per_review``), then by id."""
    quotes: dict[int, list[Quote]] = {}
    """The best candidates of each month, as a heap."""
    models: dict[str, dict[str, int]] = {}
    """Reviews that a language model read, by its name, then by language."""


def offer(heap: list[T], candidate: T, size: int) -> None:
    """Add a candidate to a heap of the ``size`` greatest."""
    if len(heap) < size:
        heapq.heappush(heap, candidate)
    else:
        heapq.heappushpop(heap, candidate)
