"""What the rules make against an insights.json that there is (insights.md 8, ``--diff``).

Compared are what is published of each aspect and entity, and what is said of each review.
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
        file: Those of insights.json.
        rules: Those that the rules make.
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
    """What is compared of one side."""

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
            {kind: tuple(map(_entity, found)) for kind, found in lists.items()}, temporal.trend
        )


def _entity(given: str | ListedEntity) -> ListedEntity:
    """A bare string stands for a label."""
    return ListedEntity(label=given) if isinstance(given, str) else given


def _names(entity: ListedEntity) -> tuple[str, ...]:
    """What it is called, the id first; never empty in valid insights."""
    return tuple(each for each in (entity.id, entity.name, entity.label) if each)


def _figures(entity: ListedEntity) -> Figures:
    return Figures(mention_count=entity.mention_count, positive_pct=entity.positive_pct)


def _paired(
    file: Iterable[ListedEntity], rules: Iterable[ListedEntity]
) -> tuple[tuple[Row, ...], dict[str, str]]:
    """The rows of a list, the file's order first; and the id of a row by the slug of every name."""
    ids: dict[str, str] = {}
    rows: dict[str, Row] = {}
    for entity in file:
        row = Row(id=_names(entity)[0], label=entity.called, file=_figures(entity), rules=None)
        rows.setdefault(row.id, row)
        for name in _names(entity):
            ids.setdefault(slug(name), row.id)
    for entity in rules:
        known = next((ids[key] for key in map(slug, _names(entity)) if key in ids), None)
        if known is None:
            known = _names(entity)[0]
            rows[known] = Row(id=known, label=entity.called, file=None, rules=_figures(entity))
        elif rows[known].rules is None:
            rows[known] = msgspec.structs.replace(rows[known], rules=_figures(entity))
        for name in _names(entity):
            ids.setdefault(slug(name), known)
    return tuple(rows.values()), ids


class _MentionCounts:
    """Mentions of one kind, counted review by review."""

    def __init__(self) -> None:
        self.file = self.rules = self.both = self.same = 0

    def add(self, file: Mapping[str, str | None], rules: Mapping[str, str | None]) -> None:
        """What one review mentions on each side, with its sentiment where there is one."""
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
        msgspec.json.decode(each.get("per_review", b"{}"), type=dict[str, Raw])
        for each in (file, rules)
    ]
    decode = msgspec.json.Decoder(PerReview).decode
    counts = {kind: _MentionCounts() for kind in ("reviews", "aspects", *KINDS)}
    reviews = 0
    for review, raw in entries[0].items():
        other = entries[1].get(review)
        if other is None:
            continue
        reviews += 1
        left, right = _said(decode(raw), names), _said(decode(other), names)
        for kind, counted in counts.items():
            counted.add(left[kind], right[kind])
    return reviews, {
        kind: counted.agreement(sentiments=kind in {"reviews", "aspects"})
        for kind, counted in counts.items()
    }


def _said(
    entry: PerReview, names: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str | None]]:
    """What a review mentions, by kind and id, with its sentiment where there is one."""
    said: dict[str, dict[str, str | None]] = {"reviews": {}, "aspects": {}}
    if entry.sentiment is not None:
        said["reviews"]["review"] = entry.sentiment
    for each in entry.aspects:
        mention = AspectMention(id=each) if isinstance(each, str) else each
        key = slug(mention.id)
        said["aspects"][names["aspects"].get(key, key)] = mention.sentiment
    for kind in KINDS:
        keys = map(slug, getattr(entry, kind))
        said[kind] = {names[kind].get(key, key): None for key in keys}
    return said
