"""The most mentioned aspects, people and topics, with links to their reviews (pages.md 3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote_plus

from msgspec import UNSET

from reviewsd.domain.insights import Entity, Insights, least_mentions, named
from reviewsd.http1 import urls
from reviewsd.pages.rendering import Renderer

_ENTRIES = 8
_FIRST_ASPECTS, _FIRST_GROUPS, _FIRST_ENTRIES = 4, 3, 3
"""The entries on telephones before a visitor asks for all, as in ``.fold`` of the style sheet."""

_MAX_ID = 256
"""Characters of an id in a link, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """An aspect, a person, a service or a topic that reviews mention."""

    label: str
    positive: float | None
    """Positive mentions, per cent; None if unknown."""
    percent: str | None
    """``positive`` in the language of the page."""
    mentions: str
    """Number of reviews that mention it, in words."""
    praised_for: str
    """The aspects that a person is praised for, in words; empty if unknown."""
    href: str | None
    """Address of the reviews that mention it."""


def aspects(renderer: Renderer, insights: Insights) -> list[Mentioned]:
    """Return the most mentioned aspects, with mentions counted: rules miss some, but hardly any of a name.

    Made ones without a share, and those of few mentions among many reviews, are left out if there are others: too many
    of these mentions are misread.
    """
    entities = [*map(named, insights.aspects)]
    if _are_made(renderer):
        least = least_mentions(insights.review_count or 0)
        shared = [aspect for aspect in entities if _positive(aspect) is not None]
        sure = [aspect for aspect in shared if (aspect.mention_count or 0) >= least]
        entities = sure or shared or entities
    return _most(renderer, insights, entities, "mentions_aspect", "aspect_mentions")


def groups(renderer: Renderer, insights: Insights) -> list[tuple[str, list[Mentioned]]]:
    """Return (heading, entries) of people, services, topics, areas and problems, each label once.

    Topics that are made repeat the services, of which they are groups.
    """
    groups = insights.entities
    listed = (
        ("technicians", groups.technicians, "mentions_technician"),
        ("services", groups.services, "mentions_service"),
        ("topics", () if _are_made(renderer) else insights.topics, "mentions_topic"),
        ("areas", groups.service_areas, "mentions_area"),
        ("problems", groups.problems, "mentions_problem"),
    )
    labels = set[str]()
    headed = []
    for heading, entities, parameter in listed:
        unseen = [entity for entity in map(named, entities) if _word(entity) not in labels]
        entries = _most(renderer, insights, unseen, parameter, "review_count")
        labels.update(map(_word, unseen))
        if entries:
            headed.append((renderer.words(heading), entries))
    return headed


def _are_made(renderer: Renderer) -> bool:
    """Return whether the insights are made, and not the owner's file, which has no note on the method."""
    return renderer.site.insights_note is not None


def _word(entity: Entity) -> str:
    """Return the label without case; a topic with that of a service is not shown again."""
    return (entity.label or entity.id or "").casefold()


def are_folded(
    aspects: Sequence[Mentioned], groups: Sequence[tuple[str, Sequence[Mentioned]]]
) -> bool:
    """Return whether telephones show only the first of them."""
    return (
        len(aspects) > _FIRST_ASPECTS
        or len(groups) > _FIRST_GROUPS
        or any(len(entries) > _FIRST_ENTRIES for _, entries in groups)
    )


def _most(
    renderer: Renderer,
    insights: Insights,
    entities: Iterable[str | Entity],
    parameter: str,
    counted: str,
) -> list[Mentioned]:
    """Return the most mentioned entities.

    ``insights`` has the labels of aspects, ``counted`` is the key of the words for a number of mentions.
    """
    labels = {entity.id: entity.label for entity in map(named, insights.aspects)}
    counts = [(entity.mention_count or 0, entity) for entity in map(named, entities)]
    counts.sort(key=lambda pair: -pair[0])
    return [
        _mentioned(renderer, labels, entity, parameter, renderer.plural(counted, count))
        for count, entity in counts[:_ENTRIES]
        if count
    ]


def _mentioned(
    renderer: Renderer,
    labels: Mapping[str | None, str | None],
    entity: Entity,
    parameter: str,
    mentions: str,
) -> Mentioned:
    name = entity.id or ""
    positive = _positive(entity)
    return Mentioned(
        label=entity.label or name,
        positive=None if positive is None else round(positive, 1),
        percent=None if positive is None else renderer.formats.percent(positive),
        mentions=mentions,
        praised_for=", ".join(filter(None, map(labels.get, entity.praised_for or ()))),
        href=f"{urls.LIST}?{parameter}={quote_plus(name)}" if len(name) <= _MAX_ID else None,
    )


def _positive(entity: Entity) -> float | None:
    """Return the positive share, per cent; None if the insights have none (decision 85)."""
    parts = (entity.positive_count, entity.neutral_count, entity.negative_count)
    total = sum(part or 0 for part in parts)
    if total:
        return 100 * (entity.positive_count or 0) / total
    return None if entity.positive_pct is UNSET else entity.positive_pct
