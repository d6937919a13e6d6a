"""A dataset as the Site that pages are made of, and what is counted for it on the way (pages.md 3)."""

import datetime
import statistics
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec
from msgspec import Struct

from reviewsd.domain import times
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Entities, Entity, FaqEntry, Insights
from reviewsd.domain.records import Records
from reviewsd.domain.reviews import AggregateRating, Review
from reviewsd.pages import publication, reviews
from reviewsd.pages.catalogs import REVISIONS
from reviewsd.pages.developers import documents as documentation
from reviewsd.pages.developers.pages import Interfaces
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.site import NEWEST, PageSettings, Site, Statistics
from reviewsd.publish import documents
from reviewsd.publish.openapi import document

_CRITICAL = 3
"""Stars of a review that one looks for a reply to, at most."""


class _Method(Struct):
    """What ``method`` of the insights may say; the data model leaves it open."""

    note: object = None


class StatisticsCounter(Struct, array_like=True):
    """Counts while the reviews are written, since they are read only once."""

    sources: dict[str, int] = {}
    verified: int = 0
    critical: int = 0
    answered: int = 0
    """Of the critical ones."""
    waits: list[int] = []
    """Days until each reply."""

    def add(self, review: Review) -> None:
        """The next review."""
        self.sources[review.source] = self.sources.get(review.source, 0) + 1
        self.verified += review.verified
        reply = review.owner_reply
        if review.rating <= _CRITICAL:
            self.critical += 1
            self.answered += reply is not None
        if reply is not None:
            self.waits.append(max(0, (reply.date - review.date).days))

    def extend(self, others: "StatisticsCounter") -> None:
        """What was counted of the next reviews."""
        for source, count in others.sources.items():
            self.sources[source] = self.sources.get(source, 0) + count
        self.verified += others.verified
        self.critical += others.critical
        self.answered += others.answered
        self.waits += others.waits

    def statistics(self) -> Statistics:
        """What has been counted."""
        return Statistics(
            sources=tuple(sorted(self.sources.items(), key=lambda each: (-each[1], each[0]))),
            verified=self.verified,
            critical=self.critical,
            critical_answered=self.answered,
            median_reply_days=statistics.median_low(self.waits) if self.waits else None,
        )


def changes(records: Records, newest: int) -> Iterator[tuple[str, datetime.date]]:
    """The newest so many reviews, oldest first: id, and the day on which the review changed last."""
    for position in range(newest - 1, -1, -1):
        yield records.ids[position], times.from_microseconds(records.updated[position]).date()


def try_templates(
    dataset: Dataset, base_url: str, settings: PageSettings, templates: Mapping[str, str]
) -> None:
    """Render all pages of a dataset, for the faults of the operator's templates.

    Raises:
        TemplateError: There is one.
    """
    counted = StatisticsCounter()
    for record in dataset.records[:NEWEST]:
        counted.add(msgspec.json.decode(record.raw, type=Review))
    made = make(dataset, base_url, settings, counted.statistics(), templates)
    renderer = Renderer(replace(made, insights=made.insights or _SAMPLE))
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
"""What is tried where insights are only made when the data is published."""


def make(
    dataset: Dataset,
    base_url: str,
    settings: PageSettings,
    counted: Statistics,
    templates: Mapping[str, str],
    *,
    absent: frozenset[str] = frozenset(),
) -> Site:
    """The site of a dataset.

    Args:
        dataset: What is published.
        base_url: Origin of all addresses.
        settings: What the operator wants of pages.
        counted: Over all reviews.
        templates: The operator's, by name.
        absent: Paths of documents that the operator does not want.
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
        absent=absent,
    )


def _note(dataset: Dataset) -> str | None:
    """What the insights say of how they were made."""
    given = None if dataset.insights is None else dataset.insights.members.get("method")
    if given is None:
        return None
    try:
        note = msgspec.json.decode(given, type=_Method).note
    except msgspec.ValidationError:
        return None
    return note if isinstance(note, str) and note else None
