"""Position sets: the reviews that match a filter, by field and key.

They are Roaring bitmaps of numbers (``snapshot.numbering``), made at publication (``snapshot.columns``,
``snapshot.mentions``). Here they are looked up by the names in a query.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyroaring import BitMap

from reviewsd.domain.naming import Ambiguous, loose_key, mention_key
from reviewsd.domain.parameters import InvalidParametersError, ambiguous
from reviewsd.domain.search_query import MENTIONS, SearchQuery
from reviewsd.snapshot.numbering import Numbering
from reviewsd.snapshot.text_index import Segment

RATING, MIN_RATING, MAX_RATING = "rating", "min_rating", "max_rating"
"""Fields with the keys ``"1"`` to ``"5"``."""

SENTIMENT = "f"
"""The field of the sentiment of reviews: ``"positive"``, ``"neutral"`` or ``"negative"``."""

CHANGES = "c"
"""The field of the blocks in the order of change (``snapshot.changes``)."""

TECHNICIAN, SERVICE, ASPECT, PROBLEM, TOPIC, AREA = "t", "s", "a", "p", "o", "r"
"""Fields with exact names as keys (``domain.naming``)."""

FIELDS = dict(zip(MENTIONS, (TECHNICIAN, SERVICE, ASPECT, PROBLEM, TOPIC, AREA), strict=True))
"""The fields of names, by parameter of a query."""


def felt(sentiment: str) -> str:
    """Return the field of the aspects that a review mentions with a sentiment."""
    return f"{ASPECT} {sentiment}"


def loose(field: str) -> str:
    """Return the field of the loose names (``domain.naming``) of a field."""
    return f"{field}~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns that search reads; position 0 is the newest review."""

    count: int
    days: Sequence[int]
    """Negated ordinals of the dates, so that they ascend from the newest review on."""
    segments: Sequence[Segment]
    numbering: Numbering
    id_at: Callable[[int], str]
    """Returns the id of the review at a position."""
    numbers: Callable[[str, str], BitMap | Ambiguous | None]
    """Returns the numbers of the reviews of a (field, key); None for an unknown key."""
    changes: Sequence[int]
    """The numbers of all reviews, last changed first (``snapshot.changes``)."""
    updated_at: Callable[[int], datetime.datetime]
    """Returns when the review at a position last changed."""
    text_matches: dict[bytes, BitMap] | None = None
    """The reviews of the last texts that were searched for; None with too many reviews."""


def find_name(columns: Columns, field: str, name: str) -> BitMap | Ambiguous | None:
    """Return the reviews that mention a name; None for an unknown name."""
    reviews = columns.numbers(field, mention_key(name))
    if reviews is None and (key := loose_key(name)) is not None:
        reviews = columns.numbers(loose(field), key)
    return reviews


def find_names(columns: Columns, query: SearchQuery) -> list[BitMap | Ambiguous | None]:
    """Return the result of ``find_name`` for each name in a query.

    Raises:
        InvalidParametersError: A name is ambiguous.
    """
    sets: list[BitMap | Ambiguous | None] = []
    issues = []
    for parameter, field in FIELDS.items():
        name = getattr(query, parameter)
        if name is None:
            continue
        if field == ASPECT and query.sentiment is not None:
            field = felt(query.sentiment)  # noqa: PLW2901
        reviews = find_name(columns, field, name)
        if isinstance(reviews, Ambiguous):
            issues.append(ambiguous(parameter, name, reviews.candidates))
        sets.append(reviews)
    if issues:
        raise InvalidParametersError(tuple(issues))
    return sets
