"""Builds the Site that pages are rendered from, and its statistics (pages.md 3)."""

import datetime
import statistics
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import msgspec
from msgspec import UNSET, Struct, field

from reviewsd.domain import times
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Entities, Entity, FaqEntry, Insights
from reviewsd.domain.locations import Locations
from reviewsd.domain.records import Records
from reviewsd.domain.reviews import AggregateRating, Location, Review
from reviewsd.pages import publication, reviews
from reviewsd.pages.catalogs import REVISIONS
from reviewsd.pages.developers import pages as documentation
from reviewsd.pages.developers.pages import Interfaces
from reviewsd.pages.pictures import Picture
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.settings import PageSettings
from reviewsd.pages.site import NEWEST, NEWEST_AT_LOCATION, LocationReviews, Site, Statistics
from reviewsd.publish import documents
from reviewsd.publish.openapi import document

_CRITICAL = 3
"""Greatest number of stars of a critical review, which should have a reply."""


class _Method(Struct):
    """``method`` of the insights, which the data model does not define."""

    note: object = None


class _LocationCounter(Struct):
    """Counts the reviews of one location, and keeps the newest."""

    stars: Counter[int] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    newest: list[Review] = []

    def add(self, review: Review) -> None:
        """Count a review; on the page of its location it does not name it."""
        self.stars[review.rating] += 1
        self.sources[review.source] += 1
        if len(self.newest) < NEWEST_AT_LOCATION:
            self.newest.append(msgspec.structs.replace(review, location=UNSET))

    def reviews(self, location: Location) -> LocationReviews:
        """Return the counts and the newest reviews."""
        return LocationReviews(
            location=location,
            rating=documents.rating_of(self.stars),
            sources=_most_frequent(self.sources),
            newest=tuple(self.newest),
        )


class StatisticsCounter(Struct):
    """Counts reviews, newest first, while they are written, because they are read only once."""

    locations: Locations = Locations()
    """The locations, if there are several."""
    located: dict[str, _LocationCounter] = {}
    """By the ids of locations."""
    sources: dict[str, int] = {}
    stars: dict[str, int] = {}
    """The sum of the ratings, by source."""
    verified: int = 0
    critical: int = 0
    answered: int = 0
    """Critical reviews with a reply."""
    replies: int = 0
    waits: list[int] = []
    """Days until the reply, for each reply that has a day of its own."""
    verified_sources: dict[str, int] = {}

    def add(self, review: Review) -> None:
        """Count a review."""
        if (location := self.locations.find(review.location)) is not None:
            self.located.setdefault(location.id, _LocationCounter()).add(review)
        self.sources[review.source] = self.sources.get(review.source, 0) + 1
        self.stars[review.source] = self.stars.get(review.source, 0) + review.rating
        if review.verified:
            self.verified += 1
            self.verified_sources[review.source] = self.verified_sources.get(review.source, 0) + 1
        reply = review.owner_reply
        if review.rating <= _CRITICAL:
            self.critical += 1
            self.answered += reply is not None
        self.replies += reply is not None
        if reply is not None and reply.undated is not True:
            self.waits.append(max(0, (reply.date - review.date).days))

    def statistics(self) -> Statistics:
        """Return the statistics."""
        return Statistics(
            sources=_most_frequent(self.sources),
            averages={name: self.stars[name] / count for name, count in self.sources.items()},
            verified=self.verified,
            verified_sources=self.verified_sources,
            critical=self.critical,
            critical_answered=self.answered,
            replies=self.replies,
            median_reply_days=statistics.median_low(self.waits) if self.waits else None,
            locations=tuple(
                self.located.get(location.id, _LocationCounter()).reviews(location)
                for location in self.locations.declared()
            ),
        )


def _most_frequent(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def changes(records: Records, newest: int) -> Iterator[tuple[str, datetime.date]]:
    """Yield id and day of the last change of the ``newest`` reviews, oldest first."""
    for position in range(newest - 1, -1, -1):
        yield records.ids[position], times.from_microseconds(records.updated[position]).date()


def try_templates(
    dataset: Dataset, base_url: str, settings: PageSettings, templates: Mapping[str, str]
) -> None:
    """Render all pages of a dataset to validate the operator's templates.

    Raises:
        TemplateError: A template is invalid.
    """
    counted = StatisticsCounter(Locations.several(dataset.business))
    for record in dataset.records[:NEWEST]:
        counted.add(msgspec.json.decode(record.raw, type=Review))
    site = make(dataset, base_url, settings, counted.statistics(), templates)
    renderer = Renderer(replace(site, insights=site.insights or _SAMPLE))
    interfaces = Interfaces(
        openapi=document.render(base_url, dataset.business),
        tools=b'{"tools":[]}',
        revisions=REVISIONS,
    )
    deque(publication.documents(renderer, reviews.frames(renderer)), maxlen=0)
    deque(documentation.documents(renderer, interfaces), maxlen=0)


_MENTIONED = (Entity(id="id", label="label", mention_count=2, positive_pct=50.0),)
_SAMPLE = Insights(
    summary="text",
    pull_quote="text",
    aspects=_MENTIONED,
    topics=_MENTIONED,
    entities=Entities(technicians=_MENTIONED, services=_MENTIONED),
    faq=(FaqEntry(question="question", answer="answer"),),
)
"""Sample insights for data whose insights are made by publication."""


def make(
    dataset: Dataset,
    base_url: str,
    settings: PageSettings,
    counted: Statistics,
    templates: Mapping[str, str],
    *,
    logos: Mapping[str, Picture] = MappingProxyType({}),
    absent: frozenset[str] = frozenset(),
) -> Site:
    """Return the site of a dataset.

    Args:
        dataset: The dataset.
        base_url: Origin of all addresses.
        settings: The operator's settings for pages.
        counted: Statistics of all reviews.
        templates: The operator's templates by name.
        logos: The owner's pictures by the names of their files.
        absent: Paths of disabled documents.
    """
    return Site(
        base_url=base_url,
        settings=settings,
        business=dataset.business,
        rating=msgspec.json.decode(documents.aggregate_rating(dataset), type=AggregateRating),
        updated_at=documents.updated_at(dataset),
        count=len(dataset.records),
        days=dataset.records.days,
        newest=tuple(
            msgspec.json.decode(record.raw, type=Review) for record in dataset.records[:NEWEST]
        ),
        statistics=counted,
        withheld=dataset.withheld,
        insights=None if dataset.insights is None else dataset.insights.typed,
        insights_note=_note(dataset),
        templates=templates,
        logos=logos,
        absent=absent,
    )


def _note(dataset: Dataset) -> str | None:
    """Return the insights' note about their method."""
    method = None if dataset.insights is None else dataset.insights.members.get("method")
    if method is None:
        return None
    try:
        note = msgspec.json.decode(method, type=_Method).note
    except msgspec.ValidationError:
        return None
    return note if isinstance(note, str) and note else None
