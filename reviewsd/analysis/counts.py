"""What is counted in a block of reviews, to be kept and added up (insights.md 1 and 5).

A block is a run of the reviews. Insights are made of the counts of all blocks, so a block whose reviews
are what they were need not be looked at again. Whatever is added is a whole number: the sums are the
same in whatever order, and whether a block was kept or counted anew.
"""

import heapq
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

from reviewsd.domain.insights import Sentiment

EXAMPLES: Final = 5  # of a thing that are published, and so as many candidates of each sentiment
QUOTES: Final = 8  # candidates for the quotation kept of each month


class Sums(Struct, array_like=True, gc=False):
    """What is summed up over reviews."""

    count: int = 0
    stars: int = 0
    hundredths: int = 0
    """Of the scores."""
    positive: int = 0

    def add(self, other: "Sums") -> None:
        """Add another one."""
        self.count += other.count
        self.stars += other.stars
        self.hundredths += other.hundredths
        self.positive += other.positive

    @property
    def score(self) -> float:
        """The mean score of the reviews, of which there must be one."""
        return self.hundredths / (100 * self.count)


class Example(NamedTuple):
    """A review that may stand as an example; the best one is the greatest."""

    strength: float
    day: int
    """Proleptic ordinal of its date."""
    id: str
    phrase: str


class Quote(NamedTuple):
    """A review that may be quoted for all; the best one is the greatest."""

    rating: int
    praised: int
    """How many aspects, up to three."""
    words: float
    example: Example


T = TypeVar("T", Example, Quote)


class SentimentCounts(Struct, array_like=True, gc=False):
    """The reviews of a block that speak of one thing with one sentiment."""

    at: list[int] = []
    """Their positions in the block, ascending."""
    examples: list[Example] = []
    """The best, as a heap."""


class MentionCounts(Struct, array_like=True, gc=False):
    """The reviews of a block that mention one thing."""

    sentiments: dict[Sentiment, SentimentCounts] = {}
    stars: int = 0
    hundredths: int = 0
    """Of the scores of these reviews."""
    phrases: list[str] = []
    """What they say of it."""


class Counts(Struct, array_like=True, gc=False):
    """What is counted in a block."""

    months: dict[int, Sums] = {}
    """By months since the year 0."""
    earliest: int = 0
    """Proleptic ordinal of the first date; meaningless without reviews, as the next one."""
    latest: int = 0
    read: int = 0
    """Reviews whose words the rules know, or a model does."""
    foreign: int = 0
    wordless: int = 0
    sentiments: dict[Sentiment, list[int]] = {}
    """Positions of the reviews in the block, by their own sentiment."""
    mentions: dict[str, dict[str, MentionCounts]] = {}
    """By kind, a member of ``per_review``, then by id."""
    quotes: dict[int, list[Quote]] = {}
    """The best of each month, as a heap."""


def offer(heap: list[T], candidate: T, size: int) -> None:
    """Keep the greatest candidates, so many of them."""
    if len(heap) < size:
        heapq.heappush(heap, candidate)
    else:
        heapq.heappushpop(heap, candidate)
