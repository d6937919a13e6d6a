"""Position sets: the reviews that match a filter, by field and name.

They are Roaring bitmaps of numbers (``snapshot.numbering``), some hundreds for any number of reviews.
"""

from collections.abc import Mapping

import msgspec
from pyroaring import BitMap

from reviewsd.domain.issues import InvalidParametersError, ambiguous
from reviewsd.domain.naming import Ambiguous
from reviewsd.domain.search_query import MENTIONS, SearchQuery
from reviewsd.snapshot.fragment_store import FragmentStore, FragmentStoreWriter

# The fields, with their names
RATING, MIN_RATING, MAX_RATING = "rating", "min_rating", "max_rating"  # "1" to "5"
VERIFIED, HAS_REPLY = "verified", "has_reply"  # "true" and "false"
SOURCE = "source"  # of a review (``domain.naming.mention_key``)
LOCATION = "location"  # of a review, by its id, aliases and name (``domain.locations``)
SENTIMENT = "f"  # of a review: "positive", "neutral" or "negative"
CHANGES = "c"  # the numbers of the blocks in the order of change (``snapshot.changes``)
TECHNICIAN, SERVICE, ASPECT, PROBLEM, TOPIC, AREA = "t", "s", "a", "p", "o", "r"  # exact names

FIELDS = dict(zip(MENTIONS, (TECHNICIAN, SERVICE, ASPECT, PROBLEM, TOPIC, AREA), strict=True))
"""The fields of names, by parameter of a query."""

_names = msgspec.json.Decoder(tuple[str, ...])
_ARRAY = ord("[")  # the first byte of candidates; a bitmap begins with another one


def felt(sentiment: str) -> str:
    """Return the field of the aspects that a review mentions with a sentiment."""
    return f"{ASPECT} {sentiment}"


def write_sets(
    store: FragmentStoreWriter, sets: Mapping[tuple[str, str], BitMap | Ambiguous]
) -> None:
    """Write sets by field and key, equal ones once; of an ambiguous name, the candidates as JSON."""
    rows: dict[bytes, int] = {}
    for field, key in sorted(sets):
        numbers = sets[field, key]
        if isinstance(numbers, Ambiguous):
            content = msgspec.json.encode(numbers.candidates)
        else:
            numbers.run_optimize()
            content = numbers.serialize()
        if content not in rows:
            rows[content] = store.add(content)
        store.name(field, key, rows[content])


class PositionSets(FragmentStore):
    """The position sets of a snapshot."""

    def get(self, field: str, name: str) -> BitMap | Ambiguous | None:
        """Return the reviews with a name; None for an unknown name."""
        row = self.find(field, name)
        if row is None:
            return None
        content = self.at(row)
        if content[0] == _ARRAY:
            return Ambiguous(_names.decode(content))
        return BitMap.deserialize(content)  # type: ignore[arg-type]  # any buffer; copies it

    def get_mentions(self, query: SearchQuery) -> list[BitMap | Ambiguous | None]:
        """Return the set of each name in a query; an ambiguous one is an ``InvalidParametersError``."""
        sets: list[BitMap | Ambiguous | None] = []
        issues = []
        for parameter, field in FIELDS.items():
            name = getattr(query, parameter)
            if name is None:
                continue
            if field == ASPECT and query.sentiment is not None:
                field = felt(query.sentiment)  # noqa: PLW2901
            reviews = self.get(field, name)
            if isinstance(reviews, Ambiguous):
                issues.append(ambiguous(parameter, name, reviews.candidates))
            sets.append(reviews)
        if issues:
            raise InvalidParametersError(tuple(issues))
        return sets
