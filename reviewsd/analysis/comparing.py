"""Compares the result of the rules with an existing insights.json (insights.md 8, ``--diff``).

It compares the published figures of each aspect and entity, and the mentions of each review.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Self

import msgspec
from msgspec import UNSET, Raw, Struct

from reviewsd.domain.insights import AspectMention, Entity, Insights, PerReview, slug
from reviewsd.domain.insights_file import InsightsFile

KINDS: Final = ("technicians", "services", "problems", "service_areas")


class Figures(Struct, frozen=True, kw_only=True):
    """The published figures of an entity; None if omitted, which is not zero."""

    mention_count: int | None = None
    positive_pct: float | None = None

    @classmethod
    def of(cls, entity: Entity) -> Self:
        """Return the figures of an entity."""
        count, share = entity.mention_count, entity.positive_pct
        return cls(
            mention_count=None if count is UNSET else count,
            positive_pct=None if share is UNSET else share,
        )


class Row(Struct, frozen=True, kw_only=True):
    """An aspect or entity in the file and by the rules."""

    id: str
    label: str
    file: Figures | None
    """None if insights.json does not have it."""
    rules: Figures | None


class Agreement(Struct, kw_only=True):
    """Mentions in the reviews that the file and the rules both cover."""

    file: int = 0
    rules: int = 0
    both: int = 0
    """Mentions that both have."""
    same_sentiment: int | None = None
    """Mentions with the same sentiment; None if the file has no sentiments."""

    def add(self, file: Mapping[str, str | None], rules: Mapping[str, str | None]) -> None:
        """Count the mentions of one review, by name with their sentiment."""
        both = file.keys() & rules.keys()
        self.file += len(file)
        self.rules += len(rules)
        self.both += len(both)
        if self.same_sentiment is not None:
            same = (file[name] is not None and file[name] == rules[name] for name in both)
            self.same_sentiment += sum(same)


class Comparison(Struct, frozen=True, kw_only=True):
    """The insights of a file compared with those of the rules."""

    trend: tuple[str | None, str | None]
    """The trend in the file, and by the rules."""
    aspects: tuple[Row, ...]
    technicians: tuple[Row, ...]
    services: tuple[Row, ...]
    problems: tuple[Row, ...]
    service_areas: tuple[Row, ...]
    reviews: int
    """Number of reviews that both cover."""
    mentions: dict[str, Agreement]
    """Agreement by kind; the key ``reviews`` compares the sentiment of whole reviews."""


def compare(file: InsightsFile, rules: InsightsFile) -> Comparison:
    """Compare the insights of a file with those of the rules."""
    file_lists, rules_lists = _lists(file.typed), _lists(rules.typed)
    rows: dict[str, tuple[Row, ...]] = {}
    names: dict[str, dict[str, str]] = {}
    for kind in ("aspects", *KINDS):
        rows[kind], names[kind] = _paired(file_lists[kind], rules_lists[kind])
    reviews, mentions = _agreements(file.members, rules.members, names)
    trend = (file.typed.temporal.trend or None, rules.typed.temporal.trend or None)
    return Comparison(trend=trend, reviews=reviews, mentions=mentions, **rows)


def _lists(insights: Insights) -> dict[str, list[Entity]]:
    """Return the entities by kind; a string is a label."""
    return {
        kind: [Entity(label=item) if isinstance(item, str) else item for item in items]
        for kind, items in insights.lists().items()
    }


def _names(entity: Entity) -> tuple[str, ...]:
    """Return the names of an entity, the id first; not empty in valid insights."""
    return tuple(name for name in (entity.id, entity.name, entity.label) if name)


def _label(entity: Entity) -> str:
    return entity.label or entity.name or entity.id or ""


def _paired(
    file: Iterable[Entity], rules: Iterable[Entity]
) -> tuple[tuple[Row, ...], dict[str, str]]:
    """Return the rows of a list, in the file's order, and the ids of rows by the slug of every name."""
    ids: dict[str, str] = {}
    rows: dict[str, Row] = {}
    for entity in file:
        row = Row(id=_names(entity)[0], label=_label(entity), file=Figures.of(entity), rules=None)
        rows.setdefault(row.id, row)
        for name in _names(entity):
            ids.setdefault(slug(name), row.id)
    for entity in rules:
        row_id = next((ids[key] for key in map(slug, _names(entity)) if key in ids), None)
        if row_id is None:
            row_id = _names(entity)[0]
            label, figures = _label(entity), Figures.of(entity)
            rows[row_id] = Row(id=row_id, label=label, file=None, rules=figures)
        elif rows[row_id].rules is None:
            rows[row_id] = msgspec.structs.replace(rows[row_id], rules=Figures.of(entity))
        for name in _names(entity):
            ids.setdefault(slug(name), row_id)
    return tuple(rows.values()), ids


def _agreements(
    file: Mapping[str, Raw], rules: Mapping[str, Raw], names: Mapping[str, Mapping[str, str]]
) -> tuple[int, dict[str, Agreement]]:
    entries = [
        msgspec.json.decode(members.get("per_review", b"{}"), type=dict[str, Raw])
        for members in (file, rules)
    ]
    decode = msgspec.json.Decoder(PerReview).decode
    counts = {kind: Agreement(same_sentiment=0) for kind in ("reviews", "aspects")}
    counts |= {kind: Agreement() for kind in KINDS}
    reviews = 0
    for review, raw in entries[0].items():
        rules_entry = entries[1].get(review)
        if rules_entry is None:
            continue
        reviews += 1
        file_mentions, rules_mentions = (
            _mentions(decode(raw), names),
            _mentions(decode(rules_entry), names),
        )
        for kind, agreement in counts.items():
            agreement.add(file_mentions[kind], rules_mentions[kind])
    return reviews, counts


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
