"""What the pages are made of: the published data as values, and what the operator wants of pages.

``publish.site`` makes a Site of a dataset. Pages say what the published documents say, and no clock has a part
in it: the same Site gives the same bytes (pages.md 2).
"""

import datetime
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from msgspec import Struct

from reviewsd.domain.corrected import Withheld
from reviewsd.domain.insights import Insights
from reviewsd.domain.reviews import AggregateRating, Business, Review

NEWEST = 50
"""Reviews that fixed documents may show: ``/llms-full.txt`` has the most."""

DEFAULT_ACCENT = "#0b6e6e"


class PageSettings(Struct, frozen=True, kw_only=True):
    """What the operator wants of pages (``pages.*``)."""

    enabled: bool = True
    accent: str = DEFAULT_ACCENT
    """``#rrggbb``, for light backgrounds."""
    jsonld_reviews: bool = True
    """Whether the structured data has ratings and reviews."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What is counted over all reviews."""

    sources: tuple[tuple[str, int], ...] = ()
    """Where they are from, the most frequent first."""
    verified: int = 0
    critical: int = 0
    """Reviews of three stars or fewer."""
    critical_answered: int = 0
    """Those of them that have a reply."""
    median_reply_days: int | None = None
    """From a review to its reply, over all that have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One business as its pages tell of it."""

    base_url: str
    """Origin of all addresses, without a slash at its end."""
    settings: PageSettings
    business: Business
    rating: AggregateRating
    """Complete: as ``/reviews.json`` has it."""
    updated_at: str | None
    """RFC 3339 in UTC."""
    count: int
    """Number of reviews."""
    days: Sequence[int]
    """Proleptic ordinals of their dates, newest first."""
    newest: tuple[Review, ...]
    """At most ``NEWEST``."""
    statistics: Statistics
    withheld: Withheld = field(default_factory=Withheld)
    """What the owner has hidden."""
    insights: Insights | None = None
    """All but ``per_review``."""
    insights_note: str | None = None
    """What readers should know of how they were made (``method.note``)."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """The operator's, by name."""
    absent: frozenset[str] = frozenset()
    """Paths of documents that the operator does not want: nothing leads to them."""

    def url(self, path: str) -> str:
        """The absolute address of one of our paths."""
        return self.base_url + path

    @property
    def host(self) -> str:
        """The host of ``base_url``, without its port and without brackets."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def latest(self) -> datetime.date | None:
        """The day of the newest review."""
        return self.newest[0].date if self.newest else None

    def since(self, day: datetime.date) -> int:
        """How many reviews are dated on or after a day."""
        return bisect_left(self.days, -day.toordinal() + 1, key=lambda each: -each)

    def years(self) -> tuple[tuple[int, int], ...]:
        """The years that have reviews, newest first, and how many each has."""
        if not self.days:
            return ()
        first, last = (datetime.date.fromordinal(self.days[at]).year for at in (-1, 0))
        counts = (
            (year, self._between((year, 1), (year + 1, 1))) for year in range(last, first - 1, -1)
        )
        return tuple((year, count) for year, count in counts if count)

    def months(self, most: int) -> tuple[tuple[int, int, int], ...]:
        """Year, month and number of reviews of the last months, oldest first.

        They end with the month of the newest review: no clock has a part in it.
        """
        if not self.days:
            return ()
        newest, oldest = (datetime.date.fromordinal(self.days[at]) for at in (0, -1))
        last = newest.year * 12 + newest.month - 1
        first = max(last - most + 1, oldest.year * 12 + oldest.month - 1)
        return tuple(
            (*_month(each), self._between(_month(each), _month(each + 1)))
            for each in range(first, last + 1)
        )

    def _between(self, begin: tuple[int, int], end: tuple[int, int]) -> int:
        """How many reviews are dated from one month's begin to another's."""
        later = self.since(datetime.date(*end, 1)) if end[0] <= datetime.MAXYEAR else 0
        return self.since(datetime.date(*begin, 1)) - later


def _month(number: int) -> tuple[int, int]:
    return number // 12, number % 12 + 1
