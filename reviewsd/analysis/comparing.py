"""Compares the result of the rules with an existing insights.json (insights.md 8, ``--diff``).

It compares the published figures of each aspect and entity, and the mentions of each review.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Self

import msgspec
from msgspec import Raw, Struct

from reviewsd.api.insights import (
    Agreement,
    Comparison,
    Figures,
    ListedEntities,
    ListedEntity,
    Row,
    Trend,
)
from reviewsd.domain.insights import AspectMention, PerReview, slug

KINDS: Final = ("technicians", "services", "problems", "service_areas")


def compare(file: Mapping[str, Raw], rules: Mapping[str, Raw]) -> Comparison:
    """Compare the members of two valid insights.

    Args:
        file: The members of insights.json.
        rules: The members of the rules' insights.
    """
    left, right = _Side.of(file), _Side.of(rules)
    rows: dict[str, tuple[Row, ...]] = {}
    names: dict[str, dict[str, str]] = {}
    for kind in ("aspects", *KINDS):
        rows[kind], names[kind] = _paired(left.lists[kind], right.lists[kind])
    reviews, mentions = _agreements(file, rules, names)
    return Comparison(
        trend=(left.trend, right.trend),
        reviews=reviews,
        mentions=mentions,
        aspects=rows["aspects"],
        technicians=rows["technicians"],
        services=rows["services"],
        problems=rows["problems"],
        service_areas=rows["service_areas"],
    )


class _Side(Struct, frozen=True):
    """The compared members of one side."""

    lists: dict[str, tuple[ListedEntity, ...]]
    trend: str | None

    @classmethod
    def of(cls, members: Mapping[str, Raw]) -> Self:
        decode = msgspec.json.decode
        aspects: tuple[str | ListedEntity, ...] = ()
        entities, temporal = ListedEntities(), Trend()
        if (raw := members.get("aspects")) is not None:
            aspects = decode(raw, type=tuple[str | ListedEntity, ...])
        if (raw := members.get("entities")) is not None:
            entities = decode(raw, type=ListedEntities)
        if (raw := members.get("temporal")) is not None:
            temporal = decode(raw, type=Trend)
        lists = {"aspects": aspects} | {kind: getattr(entities, kind) for kind in KINDS}
        return cls(
            {kind: tuple(map(_entity, items)) for kind, items in lists.items()}, temporal.trend
        )


def _entity(item: str | ListedEntity) -> ListedEntity:
    """Return an entity; a string is a label."""
    return ListedEntity(label=item) if isinstance(item, str) else item


def _names(entity: ListedEntity) -> tuple[str, ...]:
    """Return the names of an entity, the id first; not empty in valid insights."""
    return tuple(name for name in (entity.id, entity.name, entity.label) if name)


def _figures(entity: ListedEntity) -> Figures:
    return Figures(mention_count=entity.mention_count, positive_pct=entity.positive_pct)


def _paired(
    file: Iterable[ListedEntity], rules: Iterable[ListedEntity]
) -> tuple[tuple[Row, ...], dict[str, str]]:
    """Return the rows of a list, in the file's order, and the ids of rows by the slug of every name."""
    ids: dict[str, str] = {}
    rows: dict[str, Row] = {}
    for entity in file:
        row = Row(
            id=_names(entity)[0], label=entity.display_name, file=_figures(entity), rules=None
        )
        rows.setdefault(row.id, row)
        for name in _names(entity):
            ids.setdefault(slug(name), row.id)
    for entity in rules:
        row_id = next((ids[key] for key in map(slug, _names(entity)) if key in ids), None)
        if row_id is None:
            row_id = _names(entity)[0]
            rows[row_id] = Row(
                id=row_id, label=entity.display_name, file=None, rules=_figures(entity)
            )
        elif rows[row_id].rules is None:
            rows[row_id] = msgspec.structs.replace(rows[row_id], rules=_figures(entity))
        for name in _names(entity):
            ids.setdefault(slug(name), row_id)
    return tuple(rows.values()), ids


class _MentionCounts:
    """Counts of the mentions of one kind."""

    def __init__(self) -> None:
        self.file = self.rules = self.both = self.same = 0

    def add(self, file: Mapping[str, str | None], rules: Mapping[str, str | None]) -> None:
        """Count the mentions of one review, by name with their sentiment."""
        both = file.keys() & rules.keys()
        self.file += len(file)
        self.rules += len(rules)
        self.both += len(both)
        self.same += sum(file[name] is not None and file[name] == rules[name] for name in both)

    def agreement(self, *, sentiments: bool) -> Agreement:
        return Agreement(
            file=self.file,
            rules=self.rules,
            both=self.both,
            same_sentiment=self.same if sentiments else None,
        )


def _agreements(
    file: Mapping[str, Raw], rules: Mapping[str, Raw], names: Mapping[str, Mapping[str, str]]
) -> tuple[int, dict[str, Agreement]]:
    entries = [
        msgspec.json.decode(members.get("per_review", b"{}"), type=dict[str, Raw])
        for members in (file, rules)
    ]
    decode = msgspec.json.Decoder(PerReview).decode
    counts = {kind: _MentionCounts() for kind in ("reviews", "aspects", *KINDS)}
    reviews = 0
    for review, raw in entries[0].items():
        rules_entry = entries[1].get(review)
        if rules_entry is None:
            continue
        reviews += 1
        left, right = _mentions(decode(raw), names), _mentions(decode(rules_entry), names)
        for kind, counted in counts.items():
            counted.add(left[kind], right[kind])
    return reviews, {
        kind: counted.agreement(sentiments=kind in {"reviews", "aspects"})
        for kind, counted in counts.items()
    }


def _mentions(
    entry: PerReview, names: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str | None]]:
    """Return the mentions of a review by kind and id, with their sentiment."""
    mentions: dict[str, dict[str, str | None]] = {"reviews": {}, "aspects": {}}
    if entry.sentiment is not None:
        mentions["reviews"]["review"] = entry.sentiment
    for item in entry.aspects:
        aspect = AspectMention(id=item) if isinstance(item, str) else item
        key = slug(aspect.id)
        mentions["aspects"][names["aspects"].get(key, key)] = aspect.sentiment
    for kind in KINDS:
        keys = map(slug, getattr(entry, kind))
        mentions[kind] = {names[kind].get(key, key): None for key in keys}
    return mentions
