"""Warnings about valid insights: unknown names and wrong sums (data-model.md 5, second table)."""

import datetime
from collections.abc import Collection, Iterable, Iterator
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from reviewsd.api.files import Diagnostic
from reviewsd.domain.data_errors import member, show
from reviewsd.domain.insights import (
    OPTIONAL,
    AspectMention,
    Entities,
    Entity,
    Insights,
    OverallSentiment,
    PerReview,
    named,
    path_of,
)
from reviewsd.domain.insights_file import INSIGHTS_FILE, InsightsFile

_REQUIRED: Final = tuple(n for n in Insights.__struct_fields__ if n not in OPTIONAL)
_ENTRIES: Final = msgspec.json.Decoder(dict[str, PerReview])
_ROUNDING: Final = 1.5  # three percentages, each rounded

_Warnings = Iterator[tuple[str, str]]
"""Yields (JSON path, reason)."""


def insight_warnings(
    file: InsightsFile, reviews: Collection[str], newest: datetime.date | None
) -> Iterator[Diagnostic]:
    """Yield the warnings about the insights.

    Args:
        file: The insights.
        reviews: The ids of the reviews.
        newest: The day of the newest review.
    """
    for path, reason in _warnings(file, reviews, newest):
        yield Diagnostic(file=INSIGHTS_FILE, path=path, reason=reason)


def _warnings(
    file: InsightsFile, reviews: Collection[str], newest: datetime.date | None
) -> _Warnings:
    typed = file.typed
    for name in _REQUIRED:
        if name not in file.members:
            yield f"$.{name}", "missing; clients of the platform expect it"
    if typed.review_count is not None and typed.review_count != file.analysed:
        yield "$.review_count", f"per_review has {file.analysed}, got {typed.review_count}"
    latest = typed.date_range.latest
    if latest is not None and newest is not None and newest > latest:
        yield "$.date_range.latest", f"there are reviews up to {newest}, got {show(str(latest))}"
    overall = typed.overall_sentiment or OverallSentiment()
    share = _sum(overall.positive_pct, overall.neutral_pct, overall.negative_pct)
    if share and abs(share - 100) > _ROUNDING:
        yield "$.overall_sentiment", f"the three percentages make {share:g}, not 100"
    lists = typed.lists()
    for kind, entities in lists.items():
        yield from _entities(entities, path_of(kind), reviews)
    for index, entry in enumerate(typed.faq):
        path = f"$.faq[{index}].example_review_ids"
        yield from _unknown_ids(entry.example_review_ids, path, reviews)
    if "per_review" in file.members:
        yield from _per_review(_ENTRIES.decode(file.members["per_review"]), lists, reviews)


def _entities(entities: Iterable[str | Entity], path: str, reviews: Collection[str]) -> _Warnings:
    for index, entity in enumerate(entities):
        if isinstance(entity, str):
            continue
        where = f"{path}[{index}]"
        parts = _sum(entity.positive_count, entity.neutral_count, entity.negative_count)
        count = entity.mention_count or 0
        if parts and (parts > count or (parts < count and not _has_rest(entity))):
            yield f"{where}.mention_count", f"its parts make {parts}, got {count}"
        yield from _unknown_ids(entity.example_review_ids, f"{where}.example_review_ids", reviews)
        yield from _unknown_ids(entity.review_ids, f"{where}.review_ids", reviews)


def _has_rest(entity: Entity) -> bool:
    """Return whether further reviews mention a person without an opinion, and so are in no part."""
    has_both = entity.positive_count is not UNSET and entity.negative_count is not UNSET
    return has_both and entity.neutral_count is UNSET


def _sum(*parts: float | UnsetType) -> float:
    return sum(part for part in parts if part is not UNSET)


def _unknown_ids(ids: Iterable[str], path: str, reviews: Collection[str]) -> _Warnings:
    for index, review_id in enumerate(ids):
        if review_id not in reviews:
            yield f"{path}[{index}]", f"there is no review {show(review_id)}"


def _per_review(
    entries: dict[str, PerReview],
    lists: dict[str, tuple[str | Entity, ...]],
    reviews: Collection[str],
) -> _Warnings:
    spellings = {kind: _spellings(entities) for kind, entities in lists.items()}
    for review_id, entry in entries.items():
        path = member("$.per_review", review_id)
        if review_id not in reviews:
            yield path, f"there is no review {show(review_id)}"
        aspects = [item.id if isinstance(item, AspectMention) else item for item in entry.aspects]
        mentions: dict[str, Iterable[str]] = {"aspects": aspects, "topics": entry.topics}
        mentions |= {kind: getattr(entry, kind) for kind in Entities.__struct_fields__}
        for kind, names in mentions.items():
            for index, name in enumerate(names):
                if name.strip().casefold() not in spellings[kind]:
                    yield f"{path}.{kind}[{index}]", f"{path_of(kind)} has no {show(name)}"


def _spellings(entities: Iterable[str | Entity]) -> set[str]:
    """Return the casefolded ids, names and labels of entities (data-model.md 3)."""
    spellings = set()
    for entity in map(named, entities):
        spellings |= {name.casefold() for name in (entity.id, entity.name, entity.label) if name}
    return spellings
