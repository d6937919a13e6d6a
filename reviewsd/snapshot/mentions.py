"""Which reviews mention what: the position sets of the mention filters (data-model.md 3)."""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from reviewsd.domain.insights import Entity, named
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.mentions import SENTIMENTS, Postings
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
"""By (field, key): the positions, ascending, or whom the key might mean. What is one object is
written once."""


def mention_positions(insights: InsightsFile, positions: Mapping[str, int]) -> MentionIndex:
    """Which reviews mention what, by every name that finds it.

    Args:
        insights: The insights file.
        positions: The position of each review, by id.
    """
    typed, spellings = insights.typed, insights.spellings
    mentioned: MentionIndex = {}
    for field, member, listed in (
        (TECHNICIAN, "technicians", typed.entities.technicians),
        (SERVICE, "services", typed.entities.services),
        (PROBLEM, "problems", typed.entities.problems),
        (TOPIC, "topics", typed.topics),
        (AREA, "service_areas", typed.entities.service_areas),
        (ASPECT, "aspects", typed.aspects),
    ):
        entities = [*map(named, listed)]
        examples = [_examples(each, positions) for each in entities]
        mentioned |= _of_field(field, spellings.lists[member], entities, examples)
    # an example of an aspect may praise it or complain
    aspects, nothing = [*map(named, typed.aspects)], array("I")
    for sentiment in SENTIMENTS:
        posted = dict.fromkeys(spellings.lists["aspects"], nothing) | spellings.felt[sentiment]
        mentioned |= _of_field(felt(sentiment), posted, aspects, [nothing] * len(aspects))
        mentioned[SENTIMENT, sentiment] = _ascending(spellings.sentiments.get(sentiment, nothing))
    return mentioned


def _examples(entity: Entity, positions: Mapping[str, int]) -> "array[int]":
    ids = (*entity.review_ids, *entity.example_review_ids)
    return _ascending(positions[each] for each in ids if each in positions)


def _of_field(
    field: str, posted: Postings, entities: Sequence[Entity], examples: Sequence["array[int]"]
) -> MentionIndex:
    """The positions of a field, by every key.

    Args:
        field: To be searched.
        posted: What ``per_review`` spells.
        entities: The entities of the insights.
        examples: Of each of them the reviews that it lists.
    """
    posted_by_key: dict[str, array[int]] = {}
    for name, found in posted.items():
        posted_by_key.setdefault(key_of(name), array("I")).extend(found)
    spelled = {key: _ascending(found) for key, found in posted_by_key.items()}
    own = [
        [key for key in dict.fromkeys(map(key_of, _given(each))) if key in spelled]
        for each in entities
    ]
    unions: dict[tuple[frozenset[str], frozenset[int]], Collection[int]] = {}
    known: dict[tuple[str | None, int], Collection[int]] = {}

    def reviews_of(key: str | None, means: Means) -> Collection[int] | Ambiguous:
        if isinstance(means, Ambiguous):
            return means
        spelling = key if key in spelled else None
        if (spelling, id(means)) not in known:
            keys = chain([] if spelling is None else [spelling], *(own[each] for each in means))
            parts = frozenset(keys), frozenset(each for each in means if examples[each])
            if parts not in unions:
                listed = (examples[each] for each in parts[1])
                unions[parts] = _union(*(spelled[each] for each in parts[0]), *listed)
            known[spelling, id(means)] = unions[parts]
        return known[spelling, id(means)]

    names = names_of(entities, first_words=field in {TECHNICIAN, SERVICE})
    exact: dict[str, Means] = dict.fromkeys(spelled, ()) | names.exact
    mentioned: MentionIndex = {(field, key): reviews_of(key, exact[key]) for key in exact}
    for key, means in names.loose.items():
        mentioned[loose(field), key] = reviews_of(None, means)
    return mentioned


def _given(entity: Entity) -> Iterator[str]:
    return (name for name in (entity.id, entity.name, entity.label) if name)


def _ascending(positions: Iterable[int]) -> "array[int]":
    return array("I", sorted(set(positions)))


def _union(*parts: "array[int]") -> "array[int]":
    """All positions of ascending parts; the largest part itself where the others add nothing.

    So 2,000 entities with a name that they share, which 20,000 reviews mention, share one set.
    """
    largest = max(parts, key=len, default=array("I"))
    others = (part for part in parts if part is not largest)
    more = {each for each in chain(*others) if not _holds(largest, each)}
    return array("I", sorted(chain(largest, more))) if more else largest


def _holds(ascending: "array[int]", position: int) -> bool:
    at = bisect_left(ascending, position)
    return at < len(ascending) and ascending[at] == position
