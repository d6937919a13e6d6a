"""Builds the Site that pages are rendered from, and tries the operator's templates (pages.md 3)."""

import datetime
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import msgspec
from msgspec import Struct

from reviewsd.config.schema import Config, Pages
from reviewsd.domain import times
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Entities, Entity, FaqEntry, Insights
from reviewsd.domain.locations import Locations
from reviewsd.domain.records import Records
from reviewsd.domain.reviews import AggregateRating, Review
from reviewsd.pages import publication, reviews
from reviewsd.pages.environment import TemplateError
from reviewsd.pages.pictures import Picture
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.settings import MachineSettings
from reviewsd.pages.site import NEWEST, Site, Statistics
from reviewsd.publish import documents, sources
from reviewsd.publish.openapi import document


class _Method(Struct):
    """``method`` of the insights, which the data model does not define."""

    note: object = None


def changes(records: Records, newest: int) -> Iterator[tuple[str, datetime.date]]:
    """Yield id and day of the last change of the ``newest`` reviews, oldest first."""
    for position in range(newest - 1, -1, -1):
        yield records.ids[position], times.from_microseconds(records.updated[position]).date()


def template_fault(config: Config, dataset: Dataset) -> str | None:
    """Return the fault in the operator's templates; None without one (pages.md 3).

    Args:
        config: The configuration.
        dataset: The data to render them with.

    Raises:
        OSError: The system cannot read them now.
    """
    if config.pages.templates_dir is None or not config.pages.enabled:
        return None
    folder = Path(config.pages.templates_dir)
    try:
        templates = sources.read_templates(folder)
        _try_templates(dataset, config.base_url, config.pages, templates)
    except TemplateError as error:
        return f"{folder}/{error}"
    except DataError as error:
        return f"pages.templates_dir: {error.findings[0].reason}"
    except sources.Unsettled:
        return f"{folder}: somebody writes there; try again"
    return None


def _try_templates(
    dataset: Dataset, base_url: str, settings: Pages, templates: Mapping[str, str]
) -> None:
    """Render all pages of a dataset to validate the operator's templates.

    Raises:
        TemplateError: A template is invalid.
    """
    counted = Statistics(Locations.several(dataset.business))
    for raw in dataset.records[:NEWEST]:
        counted.add(msgspec.json.decode(raw, type=Review))
    site = make(dataset, base_url, settings, counted, templates)
    renderer = Renderer(replace(site, insights=site.insights or _SAMPLE))
    openapi = document.render(base_url, dataset.business)
    frames, no_changes = reviews.frames(renderer), lambda _: ()  # the sitemap is no template
    deque(publication.documents(renderer, frames, openapi, MachineSettings(), no_changes), maxlen=0)


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
    settings: Pages,
    counted: Statistics,
    templates: Mapping[str, str],
    *,
    logos: Mapping[str, Picture] = MappingProxyType({}),
    disabled_paths: frozenset[str] = frozenset(),
) -> Site:
    """Return the site of a dataset.

    Args:
        dataset: The dataset.
        base_url: Origin of all addresses.
        settings: The operator's settings for pages.
        counted: Statistics of all reviews.
        templates: The operator's templates by name.
        logos: The owner's pictures by the names of their files.
        disabled_paths: Paths of disabled documents.
    """
    return Site(
        base_url=base_url,
        settings=settings,
        business=dataset.business,
        rating=msgspec.json.decode(
            documents.render_aggregate_rating(dataset), type=AggregateRating
        ),
        updated_at=documents.updated_at(dataset),
        count=len(dataset.records),
        newest=tuple(msgspec.json.decode(raw, type=Review) for raw in dataset.records[:NEWEST]),
        statistics=counted,
        withheld=dataset.withheld,
        insights=None if dataset.insights is None else dataset.insights.typed,
        insights_note=_note(dataset),
        templates=templates,
        logos=logos,
        disabled_paths=disabled_paths,
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
