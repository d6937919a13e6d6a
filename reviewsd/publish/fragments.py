"""Renders the insights for agents at publication (mcp.md 5.5, data-model.md 2).

Entities have their derived id, name and label, and every member of the data model. Complete lists of
review ids are removed; values too large for a language model are excerpts. A list or figure that
insights.json does not have stays absent, with a ``note`` (insights.md 5).
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import (
    DateRange,
    Entities,
    Entity,
    FaqEntry,
    MonthlySentiment,
    OverallSentiment,
    Percent,
    Score,
    Stars,
    named,
)
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.naming import Ambiguous, mention_key, names_of
from reviewsd.domain.reviews import AggregateRating, Business, NonNegative
from reviewsd.domain.search_query import MENTIONS
from reviewsd.http1 import urls
from reviewsd.publish import documents
from reviewsd.publish.excerpts import MAX_EXCERPT, MAX_LISTED, excerpt, head, whole_in
from reviewsd.snapshot import layout
from reviewsd.snapshot.fragment_store import FragmentStoreWriter, loose
from reviewsd.snapshot.layout import File

BUSINESS, SUMMARY, WITHHELD = "business", "summary", "withheld"
ASPECTS, TECHNICIANS, SERVICES, TOPICS = "aspects", "technicians", "services", "topics"
PROBLEMS, SERVICE_AREAS = "problems", "service_areas"
TREND, MONTHS, FAQ = "trend", "months", "faq"
_INNER = Entities.__struct_fields__  # the lists within ``entities``
_LISTS = (ASPECTS, TECHNICIANS, SERVICES, PROBLEMS, SERVICE_AREAS, TOPICS)
KINDS = (TOPICS, *_LISTS[:-1])
"""The sections of entities; all have at least the members of a TopicFragment."""

FILTERS = {kind: parameter for parameter, kind in MENTIONS.items()}
"""The search parameter for the ids of each section."""

SEARCH = "search_reviews"
"""The member of each entity with the arguments of the tool ``search_reviews``."""

PER_REVIEW = "per_review"
"""An empty section, present if insights.json has ``per_review``."""

FAQ_TEXTS = "faq_texts"
"""The casefolded question and answer of each entry of ``FAQ``, as UTF-8 separated by 0xFF."""

_INDEXED = 20  # entries of each list of the summary (mcp.md 5.5)
_MAX_INDEX = 3_000  # bytes of each list of the summary
_MAX_LABEL = 100  # bytes of each name in it
_COUNTED = ("mention_count", "positive_pct")
_MAX_ID = 128  # characters of an id in arguments

_NOTE = "note"
"""The member about absent figures; a member of this name in the file is removed."""
_LEFT_OUT = frozenset({"review_ids", _NOTE})

Examples = Annotated[tuple[str, ...], Meta(description="For get_review")]
Unknown = Annotated[str | UnsetType, Meta(description="What is unknown")]


class AspectFragment(Struct, frozen=True, kw_only=True):
    """What reviewers say of an aspect, such as punctuality."""

    id: str
    label: str
    mention_count: NonNegative | UnsetType = UNSET
    positive_count: NonNegative | UnsetType = UNSET
    neutral_count: NonNegative | UnsetType = UNSET
    negative_count: NonNegative | UnsetType = UNSET
    positive_pct: Percent | UnsetType = UNSET
    score: Score | UnsetType = UNSET
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()
    note: Unknown = UNSET


class Offer(Struct, frozen=True, kw_only=True):
    """What reviewers say of a service that the business offers."""

    id: str
    label: str
    mention_count: NonNegative | UnsetType = UNSET
    positive_count: NonNegative | UnsetType = UNSET
    neutral_count: NonNegative | UnsetType = UNSET
    negative_count: NonNegative | UnsetType = UNSET
    positive_pct: Percent | UnsetType = UNSET
    score: Score | UnsetType = UNSET
    average_rating: Stars | UnsetType | None = UNSET
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()
    note: Unknown = UNSET


class TechnicianFragment(Struct, frozen=True, kw_only=True):
    """What reviewers say of a technician."""

    id: str
    name: str
    label: str
    mention_count: NonNegative | UnsetType = UNSET
    positive_count: NonNegative | UnsetType = UNSET
    neutral_count: NonNegative | UnsetType = UNSET
    negative_count: NonNegative | UnsetType = UNSET
    positive_pct: Percent | UnsetType = UNSET
    score: Score | UnsetType = UNSET
    average_rating: Stars | UnsetType | None = UNSET
    praised_for: dict[str, int] = {}
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()
    note: Unknown = UNSET


class TopicFragment(Struct, frozen=True, kw_only=True):
    """A cluster of what reviewers write about."""

    id: str
    label: str
    mention_count: NonNegative | UnsetType = UNSET
    positive_pct: Percent | UnsetType = UNSET
    score: Score | UnsetType = UNSET
    top_phrases: tuple[str, ...] = ()
    example_review_ids: Examples = ()
    note: Unknown = UNSET


def not_known(names: Iterable[str]) -> str:
    """Return the note about members that insights.json does not have."""
    return f"not in the published insights: {', '.join(names)}"


_KINDS: dict[str, type[Struct]] = {
    ASPECTS: AspectFragment,
    TECHNICIANS: TechnicianFragment,
    SERVICES: Offer,
}
"""Types of the sections with more members than a TopicFragment."""


def write(dataset: Dataset, base_url: str, target: Path) -> dict[str, File]:
    """Write the sections of a dataset, and return the files.

    Args:
        dataset: The dataset.
        base_url: Origin of the complete documents, for notes of excerpts.
        target: The folder.
    """
    sections = FragmentStoreWriter(target, layout.FRAGMENTS, layout.FRAGMENT_OFFSETS)
    sections.put(BUSINESS, [_business(dataset, whole_in(base_url + urls.REVIEWS))])
    if sentence := withheld(dataset):
        sections.put(WITHHELD, [_encode(sentence)])
    if dataset.insights is not None:
        rest = whole_in(base_url + urls.INSIGHTS)
        _write_insights(dataset.insights, dataset, sections, rest)
    return sections.close()


def _business(dataset: Dataset, rest: str) -> bytes:
    profile = documents.render_business(dataset)
    rating = documents.render_aggregate_rating(dataset)
    members = {
        "business": excerpt(profile, MAX_EXCERPT, Business.__struct_fields__, rest),
        "aggregate_rating": excerpt(rating, MAX_LISTED, AggregateRating.__struct_fields__, rest),
        "review_count": _encode(len(dataset.records)),
    }
    if sentence := withheld(dataset):
        members[_NOTE] = _encode(sentence)
    return documents.join_members(members.items())


def withheld(dataset: Dataset) -> str:
    """Return the note about withheld reviews; "" without any."""
    return dataset.withheld.sentence(len(dataset.records))


class _RenderedEntity(NamedTuple):
    entity: Entity
    fragment: bytes


def _write_insights(
    file: InsightsFile, dataset: Dataset, sections: FragmentStoreWriter, rest: str
) -> None:
    typed = file.typed
    entities = _members.decode(file.members.get("entities", b"{}"))
    rendered = {
        section: _entities(section, raw, listed, rest)
        for section, listed in typed.lists().items()
        if (raw := (entities if section in _INNER else file.members).get(section)) is not None
    }
    for section, entries in rendered.items():
        if section not in _private(file):
            rows = sections.put(section, [entry.fragment for entry in entries])
            if section in {ASPECTS, TECHNICIANS, SERVICES}:
                _name(sections, section, [entry.entity for entry in entries], rows)
    if typed.temporal.trend is not UNSET:
        sections.put(TREND, [_encode(typed.temporal.trend)])
    monthly = _members.decode(file.members.get("temporal", b"{}")).get("monthly")
    if monthly is not None:
        sections.put(MONTHS, _months(file, monthly, rest))
    if (faq := file.members.get("faq")) is not None:
        sections.put(FAQ, [_fragment(raw, FaqEntry, rest) for raw in _items.decode(faq)])
        sections.put(FAQ_TEXTS, (_folded(entry) for entry in typed.faq))
    if PER_REVIEW in file.members:
        sections.put(PER_REVIEW, ())
    sections.put(SUMMARY, [_summary(file, dataset, rendered, rest)])


def _private(file: InsightsFile) -> Sequence[str]:
    """Return the lists that are empty because the owner does not publish them."""
    method = bytes(file.members.get("method", b""))
    raw = _members.decode(method).get("not_published") if method.startswith(b"{") else None
    return () if raw is None else msgspec.json.decode(raw, type=list[str])


def _months(file: InsightsFile, monthly: Raw, rest: str) -> Iterator[bytes]:
    """Yield the months of the trend, oldest first."""
    months = zip(file.typed.temporal.monthly, _items.decode(monthly), strict=True)
    for _, raw in sorted(months, key=lambda pair: pair[0].month):
        yield _fragment(raw, MonthlySentiment, rest)


def _entities(
    section: str, raw: Raw, typed: Sequence[str | Entity], rest: str
) -> list[_RenderedEntity]:
    """Render the entities of a list, the most mentioned first."""
    pairs = zip(_items.decode(raw), map(named, typed), strict=True)
    rendered = [
        _RenderedEntity(entity, _entity(section, item, entity, rest)) for item, entity in pairs
    ]
    return sorted(rendered, key=lambda entry: -(entry.entity.mention_count or 0))


def _entity(section: str, raw: Raw, entity: Entity, rest: str) -> bytes:
    kind = _KINDS.get(section, TopicFragment)
    text = bytes(raw).strip()
    decoded = _members.decode(text) if text.startswith(b"{") else {}
    members = {name: bytes(value) for name, value in decoded.items() if name not in _LEFT_OUT}
    members |= {"id": _encode(entity.id), "label": _encode(entity.label)}
    if "name" in kind.__struct_fields__ or "name" in members:
        members["name"] = _encode(entity.name)
    members |= _search(section, entity)
    if unknown := [name for name in _figures(kind) if name not in members]:
        members[_NOTE] = _encode(not_known(unknown))
    complete = documents.complete(documents.join_members(members.items()), kind)
    return excerpt(complete, MAX_EXCERPT, (*kind.__struct_fields__, SEARCH), rest)


def _figures(kind: type[Struct]) -> Iterator[str]:
    """Yield the members that are figures and may be absent."""
    for field in msgspec.structs.fields(kind):
        if field.default is UNSET and field.name != _NOTE:
            yield field.name


def _search(section: str, entity: Entity) -> dict[str, bytes]:
    """Return the member with the arguments of a search; none if the id is too long for an excerpt."""
    if entity.id is None or len(entity.id) > _MAX_ID:
        return {}
    return {SEARCH: _encode({FILTERS[section]: entity.id})}


def _fragment(raw: bytes | Raw, kind: type[Struct], rest: str) -> bytes:
    """Return a value with all its members, or its excerpt."""
    return excerpt(documents.complete(raw, kind), MAX_EXCERPT, kind.__struct_fields__, rest)


def _name(sections: FragmentStoreWriter, section: str, entities: list[Entity], rows: range) -> None:
    """Register the names of entities; an id has precedence over a label of the same spelling."""
    for spelling in ("id", "name", "label"):
        for row, entity in zip(rows, entities, strict=True):
            sections.name(section, mention_key(getattr(entity, spelling)), row)
    names = names_of(entities, first_words=section in {TECHNICIANS, SERVICES})
    for key, means in names.exact.items():
        if not isinstance(means, Ambiguous):
            sections.name(section, key, rows[means[0]])
    for key, means in names.loose.items():
        if not isinstance(means, Ambiguous):
            sections.name(loose(section), key, rows[means[0]])


def _folded(entry: FaqEntry) -> bytes:
    return entry.question.casefold().encode() + b"\xff" + entry.answer.casefold().encode()


def _summary(
    file: InsightsFile, dataset: Dataset, rendered: dict[str, list[_RenderedEntity]], rest: str
) -> bytes:
    """Render the overview, with the most mentioned entities and the size of each list."""
    typed = file.typed

    def member(name: str) -> bytes:
        return documents.insights_member(file, dataset, name)

    unknown = documents.omitted_members(file)
    members = {
        "summary": _encode(typed.summary),
        "pull_quote": _encode(typed.pull_quote),
        "verification_statement": _encode(dataset.business.verification_statement),
    }
    if typed.review_count is not None or PER_REVIEW in file.members:
        count = file.analysed if typed.review_count is None else typed.review_count
        members["review_count"] = _encode(count)
    members |= {
        "date_range": documents.complete(member("date_range"), DateRange),
        "generated_at": documents.complete(member("generated_at")),
        "model": _encode(typed.model),
    }
    if (method := bytes(file.members.get("method", b""))).startswith(b"{"):
        members["method"] = documents.complete(method)
    if "overall_sentiment" not in unknown:
        members["overall_sentiment"] = documents.complete(
            member("overall_sentiment"), OverallSentiment
        )
    members["totals"] = _encode({name: len(entities) for name, entities in rendered.items()})
    members |= {name: _index(name, entities) for name, entities in rendered.items()}
    expected = ("review_count", "overall_sentiment", *_LISTS)
    missing = [name for name in expected if name not in members]
    notes = [not_known(missing)] if missing else []
    if notes := [*notes, *filter(None, [withheld(dataset)])]:
        members[_NOTE] = _encode("; ".join(notes))
    return excerpt(documents.join_members(members.items()), MAX_EXCERPT, members, rest)


def _index(name: str, entities: Iterable[_RenderedEntity]) -> bytes:
    """Render the ids and names of the most mentioned entities."""
    spelling = "name" if name == TECHNICIANS else "label"
    entries = (_indexed(name, entity, spelling) for entity in entities)
    return b"[" + b",".join(_within(entries)) + b"]"


def _within(entries: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for count, entry in enumerate(entries):
        size += len(entry) + 1
        if count == _INDEXED or size > _MAX_INDEX:
            break
        yield entry


def _indexed(section: str, rendered: _RenderedEntity, spelling: str) -> bytes:
    """Render the id of an entity and the beginning of its name or label."""
    members = _members.decode(rendered.fragment)
    name = msgspec.json.decode(members[spelling], type=str)
    if (short := head(name, _MAX_LABEL)) != name:
        short += "…"
    search = _search(section, rendered.entity) if section in {ASPECTS, PROBLEMS} else {}
    return _encode(
        {
            "id": members["id"],
            spelling: short,
            **{figure: members[figure] for figure in _COUNTED if figure in members},
            **{key: Raw(value) for key, value in search.items()},
        }
    )


_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode
