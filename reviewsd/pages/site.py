"""The data and the settings that pages are rendered from.

``publish.site`` makes a Site of a dataset. Pages agree with the published documents and depend on no clock: the
same Site has the same bytes (pages.md 2).
"""

import datetime
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import neg
from urllib.parse import urlsplit

from reviewsd.domain.corrected import Withheld
from reviewsd.domain.insights import Insights
from reviewsd.domain.reviews import AggregateRating, Business, Location, Review
from reviewsd.http1 import urls
from reviewsd.pages.pictures import Picture
from reviewsd.pages.settings import PageSettings

NEWEST = 50
"""Reviews that fixed documents may show: ``/llms-full.txt`` has the most."""


NEWEST_AT_LOCATION = 15
"""Reviews that the page of a location shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationReviews:
    """One of several locations, and its reviews."""

    location: Location
    rating: AggregateRating
    sources: tuple[tuple[str, int], ...]
    """(source, reviews), the most frequent first."""
    newest: tuple[Review, ...]
    """At most ``NEWEST_AT_LOCATION``."""

    @property
    def count(self) -> int:
        """Number of its reviews."""
        return self.rating.review_count or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Counts over all reviews."""

    sources: tuple[tuple[str, int], ...] = ()
    """(source, reviews), the most frequent first."""
    averages: Mapping[str, float] = field(default_factory=dict)
    """The mean rating of each source."""
    verified: int = 0
    verified_sources: Mapping[str, int] = field(default_factory=dict)
    """Verified reviews by source."""
    critical: int = 0
    """Reviews of three stars or fewer."""
    critical_answered: int = 0
    """Critical reviews with a reply."""
    replies: int = 0
    """Reviews with a reply."""
    median_reply_days: int | None = None
    """Days from a review to its reply."""
    locations: tuple[LocationReviews, ...] = ()
    """The locations, if there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One business with everything that its pages show."""

    base_url: str
    """Origin of all addresses, without a slash at its end."""
    settings: PageSettings
    business: Business
    rating: AggregateRating
    """The rating of ``/reviews.json``."""
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
    """Reviews that the owner has hidden."""
    insights: Insights | None = None
    """All but ``per_review``."""
    insights_note: str | None = None
    """How the insights were made (``method.note``)."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """The operator's templates, by name."""
    logos: Mapping[str, Picture] = field(default_factory=dict)
    """The owner's pictures by the names of their files, in the order of ``LOGO_FILES``."""
    absent: frozenset[str] = frozenset()
    """Paths of documents that are not served, so nothing links to them."""

    def url(self, path: str) -> str:
        """Return the absolute address of a path of this site."""
        return self.base_url + path

    @property
    def logo(self) -> Picture | None:
        """The logo that pages show."""
        return next(iter(self.logos.values()), None)

    @property
    def drawn_logo(self) -> Picture | None:
        """The logo that can be drawn into another picture."""
        return next((logo for logo in self.logos.values() if logo.drawn), None)

    @property
    def svg_logo(self) -> Picture | None:
        """The logo that browsers can draw in any size."""
        return next((logo for logo in self.logos.values() if not logo.drawn), None)

    @property
    def logo_url(self) -> str | None:
        """The absolute address of the logo."""
        return self.business.logo_url if self.logo is None else self.url(urls.LOGO)

    @property
    def host(self) -> str:
        """The host of ``base_url``, without its port and without brackets."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def latest(self) -> datetime.date | None:
        """The day of the newest review."""
        return self.newest[0].date if self.newest else None

    def since(self, day: datetime.date) -> int:
        """Count the reviews dated on or after a day."""
        return bisect_left(self.days, -day.toordinal() + 1, key=neg)

    def years(self) -> tuple[tuple[int, int], ...]:
        """Return the years with reviews, newest first, and the number of each."""
        if not self.days:
            return ()
        first, last = (datetime.date.fromordinal(self.days[at]).year for at in (-1, 0))
        counts = (
            (year, self._between((year, 1), (year + 1, 1))) for year in range(last, first - 1, -1)
        )
        return tuple((year, count) for year, count in counts if count)

    def months(self, most: int) -> tuple[tuple[int, int, int], ...]:
        """Return (year, month, reviews) of the last months, oldest first.

        They end with the month of the newest review.
        """
        if not self.days:
            return ()
        newest, oldest = (datetime.date.fromordinal(self.days[at]) for at in (0, -1))
        last = newest.year * 12 + newest.month - 1
        first = max(last - most + 1, oldest.year * 12 + oldest.month - 1)
        return tuple(
            (*_month(number), self._between(_month(number), _month(number + 1)))
            for number in range(first, last + 1)
        )

    def _between(self, begin: tuple[int, int], end: tuple[int, int]) -> int:
        """Count the reviews from the first day of one month to that of another."""
        later = self.since(datetime.date(*end, 1)) if end[0] <= datetime.MAXYEAR else 0
        return self.since(datetime.date(*begin, 1)) - later


def _month(number: int) -> tuple[int, int]:
    return number // 12, number % 12 + 1
