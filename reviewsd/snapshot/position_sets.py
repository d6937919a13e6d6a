"""Position sets: which reviews have what a filter asks for, by field and key.

They are Roaring bitmaps of numbers (``snapshot.numbering``), made at publication (``snapshot.columns``,
``snapshot.mentions``), and found here by the names that users give.
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
"""The fields of position sets: stars as ``"1"`` to ``"5"``; so are the next."""

SENTIMENT = "f"
"""``"positive"``, ``"neutral"`` or ``"negative"``: of the review."""

CHANGES = "c"
"""Numbers of blocks in the order of change (``snapshot.changes``)."""

TECHNICIAN, SERVICE, ASPECT, PROBLEM, TOPIC, AREA = "t", "s", "a", "p", "o", "r"
"""Names, as ``domain.naming`` has the exact ones."""

FIELDS = dict(zip(MENTIONS, (TECHNICIAN, SERVICE, ASPECT, PROBLEM, TOPIC, AREA), strict=True))
"""By parameter."""


def felt(sentiment: str) -> str:
    """The field of the aspects of which a review speaks with a sentiment."""
    return f"{ASPECT} {sentiment}"


def loose(field: str) -> str:
    """The field of the loose names (``domain.naming``) of a field."""
    return f"{field}~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What search reads; position 0 is the newest review."""

    count: int
    days: Sequence[int]
    """Negated ordinals of the dates, so that newest first is ascending."""
    segments: Sequence[Segment]
    numbering: Numbering
    id_at: Callable[[int], str]
    """The id of the review at a position."""
    numbers: Callable[[str, str], BitMap | Ambiguous | None]
    """The reviews of a (field, key), by number; None when nothing has that key."""
    changes: Sequence[int]
    """The numbers of all reviews, the one that changed last first (``snapshot.changes``)."""
    updated_at: Callable[[int], datetime.datetime]
    """When the review at a position changed last."""
    remembered: dict[bytes, BitMap] | None = None
    """The reviews of the texts that were looked for last; None where there are too many reviews."""


def find_name(columns: Columns, field: str, name: str) -> BitMap | Ambiguous | None:
    """The reviews of whom or what a name means; None where it means nothing."""
    found = columns.numbers(field, mention_key(name))
    if found is None and (key := loose_key(name)) is not None:
        found = columns.numbers(loose(field), key)
    return found


def find_names(columns: Columns, query: SearchQuery) -> list[BitMap | Ambiguous | None]:
    """What ``find_name`` finds for each filter by a name.

    Raises:
        InvalidParametersError: Some of them are ambiguous.
    """
    sets: list[BitMap | Ambiguous | None] = []
    issues = []
    for parameter, field in FIELDS.items():
        name = getattr(query, parameter)
        if name is None:
            continue
        if field == ASPECT and query.sentiment is not None:
            field = felt(query.sentiment)  # noqa: PLW2901
        found = find_name(columns, field, name)
        if isinstance(found, Ambiguous):
            issues.append(ambiguous(parameter, name, found.candidates))
        sets.append(found)
    if issues:
        raise InvalidParametersError(tuple(issues))
    return sets
