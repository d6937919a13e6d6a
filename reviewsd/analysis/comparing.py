"""What the rules make against an insights.json that there is (insights.md 8, ``--diff``).

Compared are what is published of each aspect and entity, and what is said of each review.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Self

import msgspec
from msgspec import Raw, Struct

from reviewsd.domain.insights import AspectMention, PerReview, slug

KINDS: Final = ("technicians", "services", "problems", "service_areas")


class Figures(Struct, frozen=True, kw_only=True):
    """What is published of one thing; None where it is left out, which is not zero."""

    mention_count: int | None = None
    positive_pct: float | None = None


class Row(Struct, frozen=True, kw_only=True):
    """One aspect or entity on both sides."""

    id: str
    label: str
    file: Figures | None
    """None where insights.json does not have it."""
    rules: Figures | None


class Agreement(Struct, frozen=True, kw_only=True):
    """Mentions in the reviews that both sides speak of."""

    file: int = 0
    rules: int = 0
    both: int = 0
    """That both have."""
    same_sentiment: int | None = None
    """Of these, those that agree how it is mentioned; None where nothing says it."""


class Comparison(Struct, frozen=True, kw_only=True):
    """Both sides."""

    trend: tuple[str | None, str | None]
    """Of the file, and by the rules."""
    aspects: tuple[Row, ...]
    technicians: tuple[Row, ...]
    services: tuple[Row, ...]
    problems: tuple[Row, ...]
    service_areas: tuple[Row, ...]
    reviews: int
    """That both sides speak of."""
    mentions: dict[str, Agreement]
    """By kind, ``reviews`` for their sentiment."""


class _Entity(Struct, frozen=True, kw_only=True):
    id: str | None = None
    name: str | None = None
    label: str | None = None
    mention_count: int | None = None
    positive_pct: float | None = None

    @classmethod
    def of(cls, given: "str | _Entity") -> "_Entity":
        """A bare string stands for a label."""
        return _Entity(label=given) if isinstance(given, str) else given

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called, the id first; never empty in valid insights."""
        return tuple(each for each in (self.id, self.name, self.label) if each)

    @property
    def called(self) -> str:
        """What people call it."""
        return self.label or self.name or self.names[0]

    @property
    def figures(self) -> Figures:
        return Figures(mention_count=self.mention_count, positive_pct=self.positive_pct)


class _Entities(Struct, frozen=True, kw_only=True):
    technicians: tuple[str | _Entity, ...] = ()
    services: tuple[str | _Entity, ...] = ()
    problems: tuple[str | _Entity, ...] = ()
    service_areas: tuple[str | _Entity, ...] = ()


class _Temporal(Struct, frozen=True, kw_only=True):
    trend: str | None = None


def compare(file: Mapping[str, Raw], rules: Mapping[str, Raw]) -> Comparison:
    """Compare the members of two valid insights.

    Args:
        file: Those of insights.json.
        rules: Those that the rules make.
    """
    left, right = _Published.of(file), _Published.of(rules)
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


class _Published(Struct, frozen=True):
    """What is compared of one side."""

    lists: dict[str, tuple[_Entity, ...]]
    trend: str | None

    @classmethod
    def of(cls, members: Mapping[str, Raw]) -> Self:
        decode = msgspec.json.decode
        aspects: tuple[str | _Entity, ...] = ()
        entities, temporal = _Entities(), _Temporal()
        if (raw := members.get("aspects")) is not None:
            aspects = decode(raw, type=tuple[str | _Entity, ...])
        if (raw := members.get("entities")) is not None:
            entities = decode(raw, type=_Entities)
        if (raw := members.get("temporal")) is not None:
            temporal = decode(raw, type=_Temporal)
        lists = {"aspects": aspects} | {kind: getattr(entities, kind) for kind in KINDS}
        return cls(
            {kind: tuple(map(_Entity.of, found)) for kind, found in lists.items()}, temporal.trend
        )


def _paired(
    file: Iterable[_Entity], rules: Iterable[_Entity]
) -> tuple[tuple[Row, ...], dict[str, str]]:
    """The rows of a list, the file's order first; and the id of a row by the slug of every name."""
    ids: dict[str, str] = {}
    rows: dict[str, Row] = {}
    for entity in file:
        row = Row(id=entity.names[0], label=entity.called, file=entity.figures, rules=None)
        rows.setdefault(row.id, row)
        for name in entity.names:
            ids.setdefault(slug(name), row.id)
    for entity in rules:
        known = next((ids[key] for key in map(slug, entity.names) if key in ids), None)
        if known is None:
            known = entity.names[0]
            rows[known] = Row(id=known, label=entity.called, file=None, rules=entity.figures)
        elif rows[known].rules is None:
            rows[known] = msgspec.structs.replace(rows[known], rules=entity.figures)
        for name in entity.names:
            ids.setdefault(slug(name), known)
    return tuple(rows.values()), ids


class _Counts:
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
    counts = {kind: _Counts() for kind in ("reviews", "aspects", *KINDS)}
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
