"""The data and the settings that pages are rendered from.

``publish.site`` makes a Site of a dataset. Pages agree with the published documents and depend on no clock: the
same Site has the same bytes (pages.md 2).
"""

import datetime
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Struct

from reviewsd.config.schema import Pages
from reviewsd.domain.corrected import Withheld
from reviewsd.domain.insights import Insights
from reviewsd.domain.locations import Locations
from reviewsd.domain.reviews import AggregateRating, Business, Location, Review, aggregate
from reviewsd.http1 import urls
from reviewsd.pages.naming import has_ten_points, source_name
from reviewsd.pages.pictures import Picture

NEWEST = 50
"""Reviews that fixed documents may show: ``/llms-full.txt`` has the most."""

NEWEST_AT_LOCATION = 15
"""Reviews that the page of a location shows."""

_CRITICAL = 3
"""Greatest number of stars of a critical review, which should have a reply."""
_LEAST_REPLIES = 3
"""Replies whose days say how soon the business replies."""


class LocationReviews(Struct):
    """One of several locations, and its reviews."""

    location: Location
    by_rating: Counter[int] = msgspec.field(default_factory=Counter)
    """Reviews by rating."""
    by_source: Counter[str] = msgspec.field(default_factory=Counter)
    """Reviews by source."""
    newest: list[Review] = []
    """At most ``NEWEST_AT_LOCATION``; on the page of their location they do not name it."""

    def add(self, review: Review) -> None:
        """Count a review."""
        self.by_rating[review.rating] += 1
        self.by_source[review.source] += 1
        if len(self.newest) < NEWEST_AT_LOCATION:
            self.newest.append(msgspec.structs.replace(review, location=UNSET))

    @property
    def count(self) -> int:
        """Number of its reviews."""
        return self.by_rating.total()

    @property
    def rating(self) -> AggregateRating:
        """The aggregate of its reviews."""
        return aggregate(self.by_rating)


class Statistics(Struct):
    """Counts over all reviews.

    The compiler adds each review while it writes ``reviews.json``, newest first, so that no review is decoded twice.
    """

    known_locations: Locations = Locations()
    """The declared locations; empty unless the business has several."""
    by_source: Counter[str] = msgspec.field(default_factory=Counter)
    """Reviews by source."""
    rating_sums: Counter[str] = msgspec.field(default_factory=Counter)
    """The sum of the ratings, by source."""
    by_month: Counter[tuple[int, int]] = msgspec.field(default_factory=Counter)
    """Reviews by year and month."""
    verified_sources: Counter[str] = msgspec.field(default_factory=Counter)
    """Verified reviews by source."""
    critical: int = 0
    """Reviews of three stars or fewer."""
    critical_answered: int = 0
    """Critical reviews with a reply."""
    replies: int = 0
    """Reviews with a reply."""
    reply_days: list[int] = []
    """Days until the reply, for each reply with a day of its own that is not before its review."""
    by_location: dict[str, LocationReviews] = {}
    """By the id of the location, in the order of the file."""

    def __post_init__(self) -> None:
        """Add every location, so that one without reviews is listed too."""
        for location in self.known_locations.declared():
            self.by_location.setdefault(location.id, LocationReviews(location))

    def add(self, review: Review) -> None:
        """Count a review."""
        if (location := self.known_locations.find(review.location)) is not None:
            self.by_location[location.id].add(review)
        self.by_source[review.source] += 1
        self.rating_sums[review.source] += review.rating
        self.by_month[review.date.year, review.date.month] += 1
        self.verified_sources[review.source] += review.verified
        reply = review.owner_reply
        if review.rating <= _CRITICAL:
            self.critical += 1
            self.critical_answered += reply is not None
        self.replies += reply is not None
        if reply is not None and reply.undated is not True and reply.date >= review.date:
            self.reply_days.append((reply.date - review.date).days)

    @property
    def verified(self) -> int:
        """Number of verified reviews."""
        return self.verified_sources.total()

    @property
    def sources(self) -> tuple[tuple[str, int], ...]:
        """(source, reviews), the most frequent first."""
        return tuple(sorted(self.by_source.items(), key=lambda item: (-item[1], item[0])))

    @property
    def platforms_of_ten_points(self) -> list[str]:
        """Names of the platforms with points that the import brought to five stars."""
        return sorted({source_name(source) for source in self.by_source if has_ten_points(source)})

    def years(self) -> tuple[tuple[int, int], ...]:
        """Return the years with reviews, newest first, and the number of each."""
        by_year = Counter[int]()
        for (year, _), count in self.by_month.items():
            by_year[year] += count
        return tuple(sorted(by_year.items(), reverse=True))

    def months(self, most: int) -> tuple[tuple[int, int, int], ...]:
        """Return (year, month, reviews) of the last months, oldest first.

        They end with the month of the newest review.
        """
        if not self.by_month:
            return ()
        oldest, last = (
            12 * year + month - 1 for year, month in (min(self.by_month), max(self.by_month))
        )
        months = (divmod(number, 12) for number in range(max(last - most + 1, oldest), last + 1))
        return tuple((year, at + 1, self.by_month[year, at + 1]) for year, at in months)

    def average(self, source: str) -> float:
        """Return the mean rating of a source."""
        return self.rating_sums[source] / self.by_source[source]

    @property
    def median_reply_days(self) -> int | None:
        """Days from a review to its reply; None unless this is known of most replies, and of a few at least."""
        count = len(self.reply_days)
        is_known = count >= _LEAST_REPLIES and 2 * count >= self.replies
        return statistics.median_low(self.reply_days) if is_known else None

    @property
    def locations(self) -> tuple[LocationReviews, ...]:
        """Reviews of each location; empty unless the business has several."""
        return tuple(self.by_location.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One business with everything that its pages show."""

    base_url: str
    """Origin of all addresses, without a slash at its end."""
    settings: Pages
    business: Business
    rating: AggregateRating
    """The rating of ``/reviews.json``."""
    updated_at: str | None
    """RFC 3339 in UTC."""
    count: int
    """Number of reviews."""
    newest: tuple[Review, ...]
    """At most ``NEWEST``."""
    statistics: Statistics
    withheld: Withheld = field(default_factory=Withheld)
    """Reviews that the owner has hidden."""
    insights: Insights | None = None
    """All but ``per_review``."""
    insights_note: str | None = None
    """The description of the method of the insights (``method.note``)."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """The operator's templates, by name."""
    logos: Mapping[str, Picture] = field(default_factory=dict)
    """The owner's pictures by the names of their files, in the order of ``LOGO_FILES``."""
    disabled_paths: frozenset[str] = frozenset()
    """Paths of documents that are not served, so nothing links to them."""

    @property
    def average(self) -> float | None:
        """The average rating; None without reviews."""
        return self.rating.rating_value if self.count else None

    def url(self, path: str) -> str:
        """Return the absolute address of a path of this site."""
        return self.base_url + path

    @property
    def logo(self) -> Picture | None:
        """The logo that pages show."""
        return next(iter(self.logos.values()), None)

    @property
    def raster_logo(self) -> Picture | None:
        """The logo that can be drawn into another picture."""
        return next((logo for logo in self.logos.values() if logo.is_raster), None)

    @property
    def svg_logo(self) -> Picture | None:
        """The logo that browsers can draw in any size."""
        return next((logo for logo in self.logos.values() if not logo.is_raster), None)

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
