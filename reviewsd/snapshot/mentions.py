"""Position sets of the mention filters (data-model.md 3)."""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from reviewsd.domain.insights import Entity, named
from reviewsd.domain.insights_file import SENTIMENTS, InsightsFile, Postings
from reviewsd.domain.naming import Ambiguous, Means, names_of
from reviewsd.domain.naming import mention_key as key_of
from reviewsd.snapshot.position_sets import (
    AREA,
    ASPECT,
    PROBLEM,
    SENTIMENT,
    SERVICE,
    TECHNICIAN,
    TOPIC,
    felt,
    loose,
)

MentionIndex = dict[tuple[str, str], Collection[int] | Ambiguous]
"""The ascending positions of a (field, key), or the candidates of an ambiguous key. A position set that is
the same object under several keys is written once."""


def mention_positions(insights: InsightsFile, positions: Mapping[str, int]) -> MentionIndex:
    """Return the reviews of each entity, by each of its names.

    Args:
        insights: The insights file.
        positions: The position of each review, by id.
    """
    typed, spellings = insights.typed, insights.spellings
    index: MentionIndex = {}
    for field, member, listed in (
        (TECHNICIAN, "technicians", typed.entities.technicians),
        (SERVICE, "services", typed.entities.services),
        (PROBLEM, "problems", typed.entities.problems),
        (TOPIC, "topics", typed.topics),
        (AREA, "service_areas", typed.entities.service_areas),
        (ASPECT, "aspects", typed.aspects),
    ):
        entities = [*map(named, listed)]
        examples = [_examples(entity, positions) for entity in entities]
        index |= _of_field(field, spellings.lists[member], entities, examples)
    # examples of an aspect do not count: their sentiment is unknown
    aspects, nothing = [*map(named, typed.aspects)], array("I")
    for sentiment in SENTIMENTS:
        posted = dict.fromkeys(spellings.lists["aspects"], nothing) | spellings.felt[sentiment]
        index |= _of_field(felt(sentiment), posted, aspects, [nothing] * len(aspects))
        index[SENTIMENT, sentiment] = _ascending(spellings.sentiments.get(sentiment, nothing))
    return index


def _examples(entity: Entity, positions: Mapping[str, int]) -> "array[int]":
    ids = (*entity.review_ids, *entity.example_review_ids)
    return _ascending(positions[name] for name in ids if name in positions)


def _of_field(
    field: str, posted: Postings, entities: Sequence[Entity], examples: Sequence["array[int]"]
) -> MentionIndex:
    """Return the positions of a field, by key.

    Args:
        field: The field of the filter.
        posted: The reviews of each spelling in ``per_review``.
        entities: The entities of the insights.
        examples: The reviews that each entity lists.
    """
    posted_by_key: dict[str, array[int]] = {}
    for name, reviews in posted.items():
        posted_by_key.setdefault(key_of(name), array("I")).extend(reviews)
    spelled = {key: _ascending(reviews) for key, reviews in posted_by_key.items()}
    own_keys = [
        [key for key in dict.fromkeys(map(key_of, _names(entity))) if key in spelled]
        for entity in entities
    ]
    unions: dict[tuple[frozenset[str], frozenset[int]], Collection[int]] = {}
    cache: dict[tuple[str | None, int], Collection[int]] = {}

    def reviews_of(key: str | None, means: Means) -> Collection[int] | Ambiguous:
        if isinstance(means, Ambiguous):
            return means
        spelling = key if key in spelled else None
        if (spelling, id(means)) not in cache:
            keys = chain(
                [] if spelling is None else [spelling], *(own_keys[number] for number in means)
            )
            parts = frozenset(keys), frozenset(number for number in means if examples[number])
            if parts not in unions:
                listed = (examples[number] for number in parts[1])
                unions[parts] = _union(*(spelled[name] for name in parts[0]), *listed)
            cache[spelling, id(means)] = unions[parts]
        return cache[spelling, id(means)]

    names = names_of(entities, first_words=field in {TECHNICIAN, SERVICE})
    exact: dict[str, Means] = dict.fromkeys(spelled, ()) | names.exact
    index: MentionIndex = {(field, key): reviews_of(key, exact[key]) for key in exact}
    for key, means in names.loose.items():
        index[loose(field), key] = reviews_of(None, means)
    return index


def _names(entity: Entity) -> Iterator[str]:
    return (name for name in (entity.id, entity.name, entity.label) if name)


def _ascending(positions: Iterable[int]) -> "array[int]":
    return array("I", sorted(set(positions)))


def _union(*parts: "array[int]") -> "array[int]":
    """Return the union of ascending parts; the largest part itself if the others add nothing.

    Then entities that share a name share its position set: 2,000 of them may be in 20,000 reviews.
    """
    largest = max(parts, key=len, default=array("I"))
    smaller = (part for part in parts if part is not largest)
    more = {position for position in chain(*smaller) if not _holds(largest, position)}
    return array("I", sorted(chain(largest, more))) if more else largest


def _holds(ascending: "array[int]", position: int) -> bool:
    at = bisect_left(ascending, position)
    return at < len(ascending) and ascending[at] == position
