"""What agents are told of the insights, rendered at publication (mcp.md 5.5, data-model.md 2).

Entities have their derived id, name and label, and every member that the data model gives them.
Complete lists of review ids are left out, and what would make a fragment too large for a language
model goes: unknown members first, then the ends of the lists.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Raw, Struct

from reviewsd.domain.insights import (
    DateRange,
    Entity,
    FaqEntry,
    MonthlySentiment,
    OverallSentiment,
    Percent,
    Score,
    Stars,
    named,
)
from reviewsd.domain.loading import Dataset, InsightsFile
from reviewsd.domain.reviews import Count
from reviewsd.formats import documents
from reviewsd.formats.folder import File
from reviewsd.formats.shelves import ShelvesWriter

BUSINESS, SUMMARY = "business", "summary"
ASPECTS, TECHNICIANS, SERVICES, TOPICS = "aspects", "technicians", "services", "topics"
TREND, MONTHS, FAQ = "trend", "months", "faq"
FAQ_TEXTS = "faq_texts"
"""Of each entry of ``FAQ`` the casefolded question and answer, as UTF-8 divided by 0xFF."""

MAX_FRAGMENT = 30_000  # bytes; below the least budget of an answer
_LISTED = (100, 20, 5, 0)
"""How much is left of a fragment's lists, the first that fits."""

_INDEXED = 20  # entries of each list of the summary (mcp.md 5.5)
_MAX_INDEX = 4_000  # bytes of each list of the summary
_MAX_SUMMARY, _MAX_QUOTE, _MAX_MODEL = 8_000, 2_000, 200  # characters

Examples = Annotated[tuple[str, ...], Meta(description="For get_review")]


class Aspect(Struct, frozen=True, kw_only=True):
    """What reviewers say of an aspect, such as punctuality."""

    id: str
    label: str
    mention_count: Count = 0
    positive_count: Count = 0
    neutral_count: Count = 0
    negative_count: Count = 0
    positive_pct: Percent = 0.0
    score: Score = 0.0
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()


class Offer(Struct, frozen=True, kw_only=True):
    """What reviewers say of a service that the business offers."""

    id: str
    label: str
    mention_count: Count = 0
    positive_count: Count = 0
    neutral_count: Count = 0
    negative_count: Count = 0
    positive_pct: Percent = 0.0
    score: Score = 0.0
    average_rating: Stars | None = None
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()


class Technician(Struct, frozen=True, kw_only=True):
    """What reviewers say of a technician."""

    id: str
    name: str
    label: str
    mention_count: Count = 0
    positive_count: Count = 0
    neutral_count: Count = 0
    negative_count: Count = 0
    positive_pct: Percent = 0.0
    score: Score = 0.0
    average_rating: Stars | None = None
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()


class Topic(Struct, frozen=True, kw_only=True):
    """A cluster of what reviewers write about."""

    id: str
    label: str
    mention_count: Count = 0
    positive_pct: Percent = 0.0
    score: Score = 0.0
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()


def write(dataset: Dataset, target: Path) -> tuple[dict[str, File], dict[str, tuple[int, int]]]:
    """Write the shelves of a dataset; the second value says where each is."""
    shelves = ShelvesWriter(target)
    shelves.put(BUSINESS, [_business(dataset)])
    if dataset.insights is not None:
        _write_insights(dataset.insights, dataset, shelves)
    return shelves.close(), shelves.shelves


def _business(dataset: Dataset) -> bytes:
    return documents.join_members(
        (
            ("business", documents.business(dataset)),
            ("aggregate_rating", documents.aggregate_rating(dataset)),
            ("review_count", _encode(len(dataset.records))),
        )
    )


class _Rendered(NamedTuple):
    entity: Entity
    fragment: bytes


def _write_insights(file: InsightsFile, dataset: Dataset, shelves: ShelvesWriter) -> None:
    typed, entities = file.typed, file.typed.entities
    groups = _groups(file)
    rendered = {
        ASPECTS: _entities(file.members.get("aspects"), typed.aspects, Aspect),
        TECHNICIANS: _entities(groups.get("technicians"), entities.technicians, Technician),
        SERVICES: _entities(groups.get("services"), entities.services, Offer),
        "problems": _entities(groups.get("problems"), entities.problems, Topic),
        "service_areas": _entities(groups.get("service_areas"), entities.service_areas, Topic),
        TOPICS: _entities(file.members.get("topics"), typed.topics, Topic),
    }
    for shelf in (ASPECTS, TECHNICIANS, SERVICES, TOPICS):
        shelves.put(shelf, [each.fragment for each in rendered[shelf]])
    for shelf in (ASPECTS, TECHNICIANS, SERVICES):
        _name(shelves, shelf, [each.entity for each in rendered[shelf]])
    shelves.put(TREND, [_encode(typed.temporal.trend)])
    shelves.put(MONTHS, _months(file))
    shelves.put(FAQ, [_fragment(raw, FaqEntry) for raw in _list(file.members.get("faq"))])
    shelves.put(FAQ_TEXTS, (_folded(entry) for entry in typed.faq))
    shelves.put(SUMMARY, [_summary(file, dataset, rendered)])


def _months(file: InsightsFile) -> Iterator[bytes]:
    """The months of the trend, oldest first."""
    given = _members.decode(file.members.get("temporal", b"{}")).get("monthly")
    both = zip(file.typed.temporal.monthly, _list(given), strict=True)
    for _, raw in sorted(both, key=lambda each: each[0].month):
        yield _fragment(raw, MonthlySentiment)


def _groups(file: InsightsFile) -> dict[str, Raw]:
    """The lists of ``entities`` as given."""
    return _members.decode(file.members.get("entities", b"{}"))


def _list(raw: Raw | None) -> list[Raw]:
    return [] if raw is None else _items.decode(raw)


def _entities(
    raw: Raw | None, typed: Sequence[str | Entity], kind: type[Struct]
) -> list[_Rendered]:
    """The entities of a list, the most mentioned first."""
    both = zip(_list(raw), map(named, typed), strict=True)
    rendered = [_Rendered(entity, _entity(given, entity, kind)) for given, entity in both]
    return sorted(rendered, key=lambda each: -each.entity.mention_count)


def _entity(raw: Raw, entity: Entity, kind: type[Struct]) -> bytes:
    text = bytes(raw).strip()
    given = _members.decode(text) if text.startswith(b"{") else {}
    members = {name: bytes(value) for name, value in given.items() if name != "review_ids"}
    members |= {"id": _encode(entity.id), "label": _encode(entity.label)}
    if "name" in kind.__struct_fields__ or "name" in members:
        members["name"] = _encode(entity.name)
    return _fragment(documents.join_members(members.items()), kind)


def _fragment(raw: bytes | Raw, kind: type[Struct]) -> bytes:
    """A value with all its members, made smaller where it is too large."""
    rendered = documents.complete(raw, kind)
    for most in _LISTED:
        if len(rendered) <= MAX_FRAGMENT:
            break
        rendered = documents.join_members(
            (name, _shortened(value, most))
            for name, value in _members.decode(rendered).items()
            if name in kind.__struct_fields__
        )
    return rendered


def _shortened(value: Raw, most: int) -> bytes:
    """A value, of a list only the first items."""
    text = bytes(value)
    if not text.startswith(b"["):
        return text
    return b"[" + b",".join(map(bytes, _items.decode(text)[:most])) + b"]"


def _name(shelves: ShelvesWriter, shelf: str, entities: list[Entity]) -> None:
    """Have them found by id, name and label; an id comes before a label of the same spelling."""
    for spelling in ("id", "name", "label"):
        for number, entity in enumerate(entities):
            shelves.name(shelf, number, getattr(entity, spelling))


def _folded(entry: FaqEntry) -> bytes:
    return entry.question.casefold().encode() + b"\xff" + entry.answer.casefold().encode()


def _summary(file: InsightsFile, dataset: Dataset, rendered: dict[str, list[_Rendered]]) -> bytes:
    """The overview, with the most mentioned of everything."""
    typed = file.typed
    count = file.analysed if typed.review_count is None else typed.review_count
    generated_at, period, sentiment = (
        documents.insights_member(file, dataset, name)
        for name in ("generated_at", "date_range", "overall_sentiment")
    )
    return documents.join_members(
        (
            ("summary", _cut(typed.summary, _MAX_SUMMARY)),
            ("pull_quote", _cut(typed.pull_quote, _MAX_QUOTE)),
            ("review_count", _encode(count)),
            ("date_range", documents.complete(period, DateRange)),
            ("generated_at", documents.complete(generated_at)),
            ("model", _cut(typed.model, _MAX_MODEL)),
            ("overall_sentiment", documents.complete(sentiment, OverallSentiment)),
            *((name, _index(name, entities)) for name, entities in rendered.items()),
        )
    )


def _cut(text: str | None, most: int) -> bytes:
    if text is not None and len(text) > most:
        text = text[: most - 1] + "…"
    return _encode(text)


def _index(name: str, entities: Iterable[_Rendered]) -> bytes:
    """What names the most mentioned entities to the other tools."""
    spelling = "name" if name == TECHNICIANS else "label"
    kept = ("id", spelling, "mention_count", "positive_pct")
    return b"[" + b",".join(_within(_kept(each.fragment, kept) for each in entities)) + b"]"


def _within(entries: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for count, entry in enumerate(entries):
        size += len(entry) + 1
        if count == _INDEXED or size > _MAX_INDEX:
            break
        yield entry


def _kept(fragment: bytes, names: tuple[str, ...]) -> bytes:
    members = _members.decode(fragment)
    return documents.join_members((name, bytes(members[name])) for name in names)


_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode
