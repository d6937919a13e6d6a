"""Position sets of the mention filters (data-model.md 3)."""

from array import array
from collections.abc import Iterator, Mapping, Sequence

from pyroaring import BitMap

from reviewsd.domain.insights import Entity, named
from reviewsd.domain.insights_file import SENTIMENTS, InsightsFile, Postings
from reviewsd.domain.naming import Ambiguous, Means, names_of
from reviewsd.domain.naming import mention_key as key_of
from reviewsd.snapshot.fragment_store import loose
from reviewsd.snapshot.position_sets import (
    AREA,
    ASPECT,
    PROBLEM,
    SENTIMENT,
    SERVICE,
    TECHNICIAN,
    TOPIC,
    felt,
)

MentionIndex = dict[tuple[str, str], BitMap | Ambiguous]
"""The positions of a (field, key), or the candidates of an ambiguous key."""


def mention_positions(insights: InsightsFile, positions: Mapping[str, int]) -> MentionIndex:
    """Return the reviews of each entity, by each of its names; ``positions`` are those of the ids."""
    typed, spellings = insights.typed, insights.spellings
    index: MentionIndex = {}
    lists = typed.lists()
    for field, member in (
        (TECHNICIAN, "technicians"),
        (SERVICE, "services"),
        (PROBLEM, "problems"),
        (TOPIC, "topics"),
        (AREA, "service_areas"),
        (ASPECT, "aspects"),
    ):
        entities = [*map(named, lists[member])]
        examples = [_examples(entity, positions) for entity in entities]
        index |= _of_field(field, spellings.lists[member], entities, examples)
    # examples of an aspect do not count: their sentiment is unknown
    aspects, nothing = [*map(named, typed.aspects)], array("I")
    for sentiment in SENTIMENTS:
        posted = dict.fromkeys(spellings.lists["aspects"], nothing) | spellings.felt[sentiment]
        index |= _of_field(felt(sentiment), posted, aspects, [BitMap()] * len(aspects))
        index[SENTIMENT, sentiment] = BitMap(spellings.sentiments.get(sentiment, nothing))
    return index


def _examples(entity: Entity, positions: Mapping[str, int]) -> BitMap:
    ids = (*entity.review_ids, *entity.example_review_ids)
    return BitMap([positions[name] for name in ids if name in positions])


def _of_field(
    field: str, posted: Postings, entities: Sequence[Entity], examples: Sequence[BitMap]
) -> MentionIndex:
    """Return the positions by key, from the reviews of each spelling, and those that each entity lists."""
    spelled: dict[str, BitMap] = {}
    for name, reviews in posted.items():
        spelled.setdefault(key_of(name), BitMap()).update(reviews)
    own_sets = [
        [*(spelled[key] for key in set(map(key_of, _names(entity))) if key in spelled), listed]
        for entity, listed in zip(entities, examples, strict=True)
    ]
    unions: dict[int, BitMap] = {}  # entities that share a name have one union

    def reviews_of(key: str, means: Means) -> BitMap | Ambiguous:
        if isinstance(means, Ambiguous):
            return means
        if id(means) not in unions:
            sets = {id(reviews): reviews for number in means for reviews in own_sets[number]}
            unions[id(means)] = BitMap().union(*sets.values())
        return unions[id(means)] | spelled[key] if key in spelled else unions[id(means)]

    names = names_of(entities, first_words=field in {TECHNICIAN, SERVICE})
    exact: dict[str, Means] = dict.fromkeys(spelled, ()) | names.exact
    index: MentionIndex = {(field, key): reviews_of(key, exact[key]) for key in exact}
    for key, means in names.loose.items():
        index[loose(field), key] = reviews_of("", means)
    return index


def _names(entity: Entity) -> Iterator[str]:
    return (name for name in (entity.id, entity.name, entity.label) if name)
