"""What reviews speak of, as pages show it: the most mentioned, with links to the reviews (pages.md 3)."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote_plus

from msgspec import UNSET

from reviewsd.domain.insights import Entity, Insights, named
from reviewsd.http1 import urls
from reviewsd.pages.rendering import Renderer

_ASPECTS, _ENTRIES = 10, 10
_MAX_ID = 256
"""Characters of an id that a link may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """An aspect, a person, a service, and so on."""

    label: str
    count: int
    positive: float | None
    """Per cent, where that is known."""
    percent: str | None
    """The same in words."""
    mentions: str
    """The count in words."""
    href: str | None
    """The reviews that mention it."""


def aspects(renderer: Renderer, insights: Insights) -> list[Mentioned]:
    """The aspects that are mentioned most."""
    return _most(renderer, insights.aspects, "mentions_aspect", _ASPECTS)


def groups(renderer: Renderer, insights: Insights) -> list[tuple[str, list[Mentioned]]]:
    """(heading, entries) of whom and what else they mention."""
    entities = insights.entities
    listed = (
        ("technicians", entities.technicians, "mentions_technician"),
        ("services", entities.services, "mentions_service"),
        ("problems", entities.problems, "mentions_problem"),
        ("areas", entities.service_areas, "mentions_area"),
        ("topics", insights.topics, "mentions_topic"),
    )
    found = (
        (renderer.words(heading), _most(renderer, each, filtered, _ENTRIES))
        for heading, each, filtered in listed
    )
    return [(heading, entries) for heading, entries in found if entries]


def _most(
    renderer: Renderer, entities: Iterable[str | Entity], parameter: str, most: int
) -> list[Mentioned]:
    counted = [(each.mention_count or 0, each) for each in map(named, entities)]
    counted.sort(key=lambda each: -each[0])
    return [_mentioned(renderer, each, count, parameter) for count, each in counted[:most] if count]


def _mentioned(renderer: Renderer, entity: Entity, count: int, parameter: str) -> Mentioned:
    name = entity.id or ""
    positive = _positive(entity)
    return Mentioned(
        label=entity.label or name,
        count=count,
        positive=None if positive is None else round(positive, 1),
        percent=None if positive is None else renderer.language.number(positive),
        mentions=renderer.words(
            "aspect_mentions_one" if count == 1 else "aspect_mentions",
            count=renderer.language.number(count),
        ),
        href=f"{urls.LIST}?{parameter}={quote_plus(name)}" if len(name) <= _MAX_ID else None,
    )


def _positive(entity: Entity) -> float | None:
    """Per cent; None where the insights do not say it: absent is not zero (decision 85)."""
    parts = (entity.positive_count, entity.neutral_count, entity.negative_count)
    total = sum(part or 0 for part in parts)
    if total:
        return 100 * (entity.positive_count or 0) / total
    return None if entity.positive_pct is UNSET else entity.positive_pct
