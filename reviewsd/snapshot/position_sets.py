"""Position sets: which reviews have what a filter asks for, by field and key.

Reviews are numbered newest first. Sets are made at publication (``snapshot.columns``,
``snapshot.mentions``), and found here by the names that users give.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from reviewsd.domain.naming import Ambiguous, loose_key, mention_key
from reviewsd.domain.parameters import InvalidParametersError, ambiguous
from reviewsd.domain.search_query import MENTIONS, SearchQuery

RATING, MIN_RATING, MAX_RATING, FREQUENT = "rating", "min_rating", "max_rating", "q"
"""The fields of position sets: stars as ``"1"`` to ``"5"``, casefolded text; so are the next."""

SENTIMENT = "f"
"""``"positive"``, ``"neutral"`` or ``"negative"``: of the review."""

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


class Finder(Protocol):
    """Bytes that can be searched: ``stringzilla.Str`` over a mapped file, or plain bytes."""

    def find(self, needle: bytes, start: int, end: int, /) -> int:
        """The offset of the first occurrence within [start, end), or -1."""


class PostingList(Struct, frozen=True):
    """A small position set: a sorted array of 32-bit positions."""

    positions: "memoryview[int]"


class Bitmap(Struct, frozen=True):
    """A large position set: position ``p`` is bit ``p % 8`` of byte ``p // 8``."""

    bits: "memoryview[int]"

    def __contains__(self, position: int) -> bool:
        return bool(self.bits[position >> 3] >> (position & 7) & 1)


PositionSet = PostingList | Bitmap


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What search reads; position 0 is the newest review."""

    count: int
    days: Sequence[int]
    """Negated ordinals of the dates, so that newest first is ascending."""
    texts: Finder
    text_bytes: "memoryview[int]"
    """The same file."""
    text_offsets: Sequence[int]
    """Where each casefolded text begins; one more for the end."""
    id_at: Callable[[int], str]
    """The id of the review at a position."""
    positions: Callable[[str, str], PositionSet | Ambiguous | None]
    """The set of a (field, key); None when nothing has that key. Fields are named below."""


def find_name(columns: Columns, field: str, name: str) -> PositionSet | Ambiguous | None:
    """The reviews of whom or what a name means; None where it means nothing."""
    found = columns.positions(field, mention_key(name))
    if found is None and (key := loose_key(name)) is not None:
        found = columns.positions(loose(field), key)
    return found


def find_names(columns: Columns, query: SearchQuery) -> list[PositionSet | Ambiguous | None]:
    """What ``find_name`` finds for each filter by a name.

    Raises:
        InvalidParametersError: Some of them are ambiguous.
    """
    sets: list[PositionSet | Ambiguous | None] = []
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
