"""What agents are told of the insights, rendered at publication (mcp.md 5.5, data-model.md 2).

Entities have their derived id, name and label, and every member that the data model gives them.
Complete lists of review ids are left out; of what is too large for a language model there is an excerpt.
What insights.json leaves out has no section, or no member, and a ``note`` says so (insights.md 5).
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from reviewsd.domain.dataset import Dataset
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
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.naming import Ambiguous, mention_key, names_of
from reviewsd.domain.reviews import AggregateRating, Business, NonNegative
from reviewsd.http1 import urls
from reviewsd.publish import documents
from reviewsd.publish.excerpts import MAX_EXCERPT, MAX_LISTED, excerpt, head, whole_in
from reviewsd.snapshot.fragment_store import FragmentStoreWriter
from reviewsd.snapshot.layout import File

BUSINESS, SUMMARY, WITHHELD = "business", "summary", "withheld"
ASPECTS, TECHNICIANS, SERVICES, TOPICS = "aspects", "technicians", "services", "topics"
PROBLEMS, SERVICE_AREAS = "problems", "service_areas"
TREND, MONTHS, FAQ = "trend", "months", "faq"
_LISTS = (ASPECTS, TECHNICIANS, SERVICES, PROBLEMS, SERVICE_AREAS, TOPICS)
KINDS = (TOPICS, *_LISTS[:-1])
"""Of what reviews speak of: the sections of entities, all with at least what a Topic has."""

FILTERS = {
    TECHNICIANS: "mentions_technician",
    SERVICES: "mentions_service",
    ASPECTS: "mentions_aspect",
    PROBLEMS: "mentions_problem",
    TOPICS: "mentions_topic",
    SERVICE_AREAS: "mentions_area",
}
"""By section: the parameter of a search that takes its ids."""

SEARCH = "search_reviews"
"""The member of each entity that holds the arguments with which that tool lists its reviews."""

PER_REVIEW = "per_review"
"""A section without fragments, where insights say what each review says: that is in insights.json."""

FAQ_TEXTS = "faq_texts"
"""Of each entry of ``FAQ`` the casefolded question and answer, as UTF-8 divided by 0xFF."""

_INDEXED = 20  # entries of each list of the summary (mcp.md 5.5)
_MAX_INDEX = 3_000  # bytes of each list of the summary
_MAX_LABEL = 100  # bytes of each name in it
_COUNTED = ("mention_count", "positive_pct")
_MAX_ID = 128  # characters of an id that stands in arguments

_NOTE = "note"
"""The member that says what is not known; nobody else may."""
_LEFT_OUT = frozenset({"review_ids", _NOTE})

Examples = Annotated[tuple[str, ...], Meta(description="For get_review")]
Unknown = Annotated[str | UnsetType, Meta(description="What is not known")]


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
    """What is told of members that insights.json leaves out."""
    return f"not in the published insights: {', '.join(names)}"


_KINDS: dict[str, type[Struct]] = {
    ASPECTS: AspectFragment,
    TECHNICIANS: TechnicianFragment,
    SERVICES: Offer,
}
"""By section, where it has more than a Topic."""


def write(
    dataset: Dataset, base_url: str, target: Path
) -> tuple[dict[str, File], dict[str, tuple[int, int]]]:
    """Write the sections of a dataset; the second value says where each is.

    Args:
        dataset: What is rendered.
        base_url: Where all of it is served, for what excerpts leave out.
        target: The folder.
    """
    sections = FragmentStoreWriter(target)
    sections.put(BUSINESS, [_business(dataset, whole_in(base_url + urls.REVIEWS))])
    if sentence := withheld(dataset):
        sections.put(WITHHELD, [_encode(sentence)])
    if dataset.insights is not None:
        rest = whole_in(base_url + urls.INSIGHTS)
        _write_insights(dataset.insights, dataset, sections, rest)
    return sections.close(), sections.sections


def _business(dataset: Dataset, rest: str) -> bytes:
    profile = documents.business(dataset)
    rating = documents.aggregate_rating(dataset)
    members = {
        "business": excerpt(profile, MAX_EXCERPT, Business.__struct_fields__, rest),
        "aggregate_rating": excerpt(rating, MAX_LISTED, AggregateRating.__struct_fields__, rest),
        "review_count": _encode(len(dataset.records)),
    }
    if sentence := withheld(dataset):
        members[_NOTE] = _encode(sentence)
    return documents.join_members(members.items())


def withheld(dataset: Dataset) -> str:
    """What agents are told of reviews that the owner withholds; empty where there are none."""
    return dataset.withheld.sentence(len(dataset.records))


class _RenderedEntity(NamedTuple):
    entity: Entity
    fragment: bytes


def _write_insights(
    file: InsightsFile, dataset: Dataset, sections: FragmentStoreWriter, rest: str
) -> None:
    typed, entities = file.typed, file.typed.entities
    groups = _groups(file)
    rendered = {
        section: _entities(section, raw, listed, rest)
        for section, raw, listed in (
            (ASPECTS, file.members.get(ASPECTS), typed.aspects),
            (TECHNICIANS, groups.get(TECHNICIANS), entities.technicians),
            (SERVICES, groups.get(SERVICES), entities.services),
            (PROBLEMS, groups.get(PROBLEMS), entities.problems),
            (SERVICE_AREAS, groups.get(SERVICE_AREAS), entities.service_areas),
            (TOPICS, file.members.get(TOPICS), typed.topics),
        )
        if raw is not None
    }
    for section, entries in rendered.items():
        if section not in _private(file):
            sections.put(section, [each.fragment for each in entries])
    for section in rendered.keys() & {ASPECTS, TECHNICIANS, SERVICES}:
        _name(sections, section, [each.entity for each in rendered[section]])
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
    """The months of the trend, oldest first."""
    both = zip(file.typed.temporal.monthly, _items.decode(monthly), strict=True)
    for _, raw in sorted(both, key=lambda each: each[0].month):
        yield _fragment(raw, MonthlySentiment, rest)


def _groups(file: InsightsFile) -> dict[str, Raw]:
    """The lists of ``entities`` as given."""
    return _members.decode(file.members.get("entities", b"{}"))


def _entities(
    section: str, raw: Raw, typed: Sequence[str | Entity], rest: str
) -> list[_RenderedEntity]:
    """The entities of a list, the most mentioned first."""
    both = zip(_items.decode(raw), map(named, typed), strict=True)
    rendered = [
        _RenderedEntity(entity, _entity(section, given, entity, rest)) for given, entity in both
    ]
    return sorted(rendered, key=lambda each: -(each.entity.mention_count or 0))


def _entity(section: str, raw: Raw, entity: Entity, rest: str) -> bytes:
    kind = _KINDS.get(section, TopicFragment)
    text = bytes(raw).strip()
    given = _members.decode(text) if text.startswith(b"{") else {}
    members = {name: bytes(value) for name, value in given.items() if name not in _LEFT_OUT}
    members |= {"id": _encode(entity.id), "label": _encode(entity.label)}
    if "name" in kind.__struct_fields__ or "name" in members:
        members["name"] = _encode(entity.name)
    members |= _search(section, entity)
    if unknown := [name for name in _figures(kind) if name not in members]:
        members[_NOTE] = _encode(not_known(unknown))
    complete = documents.complete(documents.join_members(members.items()), kind)
    return excerpt(complete, MAX_EXCERPT, (*kind.__struct_fields__, SEARCH), rest)


def _figures(kind: type[Struct]) -> Iterator[str]:
    """The members that are left out where they are not given."""
    for field in msgspec.structs.fields(kind):
        if field.default is UNSET and field.name != _NOTE:
            yield field.name


def _search(section: str, entity: Entity) -> dict[str, bytes]:
    """The member that leads to an entity's reviews; none where the id is too long to be told whole."""
    if entity.id is None or len(entity.id) > _MAX_ID:
        return {}
    return {SEARCH: _encode({FILTERS[section]: entity.id})}


def _fragment(raw: bytes | Raw, kind: type[Struct], rest: str) -> bytes:
    """A value with all its members, or its excerpt."""
    return excerpt(documents.complete(raw, kind), MAX_EXCERPT, kind.__struct_fields__, rest)


def _name(sections: FragmentStoreWriter, section: str, entities: list[Entity]) -> None:
    """Have them found by every name; an id comes before a label of the same spelling."""
    for spelling in ("id", "name", "label"):
        for number, entity in enumerate(entities):
            sections.name(section, number, mention_key(getattr(entity, spelling)))
    names = names_of(entities, first_words=section in {TECHNICIANS, SERVICES})
    for key, means in names.exact.items():
        if not isinstance(means, Ambiguous):
            sections.name(section, means[0], key)
    for key, means in names.loose.items():
        if not isinstance(means, Ambiguous):
            sections.name(section, means[0], key, loose=True)


def _folded(entry: FaqEntry) -> bytes:
    return entry.question.casefold().encode() + b"\xff" + entry.answer.casefold().encode()


def _summary(
    file: InsightsFile, dataset: Dataset, rendered: dict[str, list[_RenderedEntity]], rest: str
) -> bytes:
    """The overview, with the most mentioned of everything, and how many there are."""
    typed = file.typed

    def given(name: str) -> bytes:
        return documents.insights_member(file, dataset, name)

    unknown = documents.absent(file)
    members = {
        "summary": _encode(typed.summary),
        "pull_quote": _encode(typed.pull_quote),
        "verification_statement": _encode(dataset.business.verification_statement),
    }
    if typed.review_count is not None or PER_REVIEW in file.members:
        count = file.analysed if typed.review_count is None else typed.review_count
        members["review_count"] = _encode(count)
    members |= {
        "date_range": documents.complete(given("date_range"), DateRange),
        "generated_at": documents.complete(given("generated_at")),
        "model": _encode(typed.model),
    }
    if (method := bytes(file.members.get("method", b""))).startswith(b"{"):
        members["method"] = documents.complete(method)
    if "overall_sentiment" not in unknown:
        members["overall_sentiment"] = documents.complete(
            given("overall_sentiment"), OverallSentiment
        )
    members["totals"] = _encode({name: len(entities) for name, entities in rendered.items()})
    members |= {name: _index(name, entities) for name, entities in rendered.items()}
    wanted = ("review_count", "overall_sentiment", *_LISTS)
    missing = [name for name in wanted if name not in members]
    notes = [not_known(missing)] if missing else []
    if notes := [*notes, *filter(None, [withheld(dataset)])]:
        members[_NOTE] = _encode("; ".join(notes))
    return excerpt(documents.join_members(members.items()), MAX_EXCERPT, members, rest)


def _index(name: str, entities: Iterable[_RenderedEntity]) -> bytes:
    """What names the most mentioned entities to the other tools."""
    spelling = "name" if name == TECHNICIANS else "label"
    return b"[" + b",".join(_within(_indexed(name, each, spelling) for each in entities)) + b"]"


def _within(entries: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for count, entry in enumerate(entries):
        size += len(entry) + 1
        if count == _INDEXED or size > _MAX_INDEX:
            break
        yield entry


def _indexed(section: str, rendered: _RenderedEntity, spelling: str) -> bytes:
    """An entity by its id and the beginning of its name or label."""
    members = _members.decode(rendered.fragment)
    called = msgspec.json.decode(members[spelling], type=str)
    if (short := head(called, _MAX_LABEL)) != called:
        short += "…"
    search = _search(section, rendered.entity) if section in {ASPECTS, PROBLEMS} else {}
    return _encode(
        {
            "id": members["id"],
            spelling: short,
            **{name: members[name] for name in _COUNTED if name in members},
            **{name: Raw(value) for name, value in search.items()},
        }
    )


_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode
