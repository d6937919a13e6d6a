"""Names of parameters that do not exist, and the ones that they most likely mean (contract 3).

A name that is not known is ignored: links carry ``utm_source``, and gateways add arguments of their
own to every call. One that resembles a known name is an error, because a filter that is left out
returns everything. HTTP and MCP share this rule: usual synonyms come first, then typing errors, then
names whose every word is known.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

LONGEST = 40
"""Characters of a name that is compared; the longest known one has fewer."""

_SHORT = 6  # letters; a shorter name may have one typing error, others two (contract 3)

SYNONYMS = {
    "stars": ("rating",),
    "star_rating": ("rating",),
    "score": ("rating",),
    "max_stars": ("max_rating",),
    "maximum": ("max_rating",),
    "lte": ("max_rating",),
    "min_stars": ("min_rating",),
    "minimum": ("min_rating",),
    "gte": ("min_rating",),
    "polarity": ("sentiment",),
    "from": ("since", "date"),
    "after": ("since", "date"),
    "start": ("since", "date"),
    "since": ("since", "date"),
    "date": ("since", "until"),
    "to": ("until",),
    "before": ("until",),
    "end": ("until",),
    "date_to": ("until",),
    "to_date": ("until",),
    "updated_since": ("changed_since",),
    "modified_since": ("changed_since",),
    "q": ("query",),
    "text": ("query",),
    "search": ("query",),
    "keyword": ("query",),
    "contains": ("query",),
    "person": ("mentions_technician", "name"),
    "technician": ("mentions_technician", "name"),
    "technician_id": ("mentions_technician", "name"),
    "technician_name": ("mentions_technician", "name"),
    "employee": ("mentions_technician", "name"),
    "employee_name": ("mentions_technician", "name"),
    "staff": ("mentions_technician", "name"),
    "service": ("mentions_service",),
    "service_id": ("mentions_service", "service"),
    "service_name": ("mentions_service", "service"),
    "aspect_id": ("mentions_aspect", "aspect"),
    "complaint": ("mentions_problem",),
    "issue": ("mentions_problem",),
    "problem_id": ("mentions_problem",),
    "topic": ("mentions_topic", "aspect", "query"),
    "topic_id": ("mentions_topic",),
    "location": ("mentions_area",),
    "city": ("mentions_area",),
    "town": ("mentions_area",),
    "count": ("limit", "months"),
    "top": ("limit", "months"),
    "max": ("limit", "months"),
    "max_results": ("limit", "months"),
    "size": ("limit",),
    "page_size": ("limit",),
    "per_page": ("limit",),
    "limit": ("months",),
    "page": ("cursor", "offset"),
    "skip": ("cursor", "offset"),
    "offset": ("cursor", "text_offset"),
    "cursor": ("offset", "text_offset"),
    "order": ("sort",),
    "ordering": ("sort",),
    "type": ("kind",),
    "category": ("kind",),
    "review": ("id",),
    "review_id": ("id",),
}
"""By what is often written instead: the known names that may be meant, of which there may be none."""

_FILLERS = frozenset(
    ("by", "date", "filter", "next", "number", "result", "results", "review", "reviews", "value")
)
"""Words that say nothing of which parameter is meant."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile("[a-z]+|[0-9]+")


@lru_cache(maxsize=1024)
def resembled(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the known names that an unknown one may mean: usually one, none where it resembles none.

    Args:
        name: The unknown name, in any spelling of its words: ``minRating``, ``min-rating``.
        known: The names that exist.
    """
    if len(name) > LONGEST:
        return ()
    words = words_of(name)
    meant = _synonyms("_".join(words), known)
    return meant or _typed("".join(words), known) or _named_by(words, known)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, however they are put together."""
    return _WORD.findall(_CAMEL.sub("_", name[:LONGEST]).lower())


def _synonyms(name: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in SYNONYMS.get(name, ()) if each in known)


def _typed(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the known name that was mistyped, the closest one."""
    own = set(name)
    for edits in (0, 1, 2):
        for each, letters in _spelled(known, edits):
            alike = abs(len(letters) - len(name)) <= edits and len(set(letters) - own) <= edits
            if alike and _within(name, letters, edits):
                return (each,)
    return ()


@lru_cache(maxsize=64)
def _spelled(known: tuple[str, ...], edits: int) -> tuple[tuple[str, str], ...]:
    """Return the names in which so many typing errors are possible, each with its letters."""
    return tuple(
        (each, each.replace("_", "")) for each in known if edits <= (1 if len(each) < _SHORT else 2)
    )


def _within(name: str, other: str, edits: int) -> bool:
    """Return whether letters inserted, left out, replaced or swapped so often make a name of another."""
    at = 0
    for at, (letter, expected) in enumerate(zip(name, other, strict=False)):  # noqa: B007
        if letter != expected:
            break
    else:
        return abs(len(name) - len(other)) <= edits
    if not edits:
        return False
    name, other, edits = name[at:], other[at:], edits - 1
    return (
        _within(name[1:], other[1:], edits)
        or _within(name[1:], other, edits)
        or _within(name, other[1:], edits)
        or (name[1::-1] == other[:2] and _within(name[2:], other[2:], edits))
    )


def _named_by(words: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the known name that most words of a name stand for; none if a word stands for nothing."""
    votes = Counter[str]()
    for word in words:
        if word not in _FILLERS:
            meant = [each for each in known if word in each.split("_")] or _synonyms(word, known)
            if not meant:
                return ()
            votes.update(meant)
    return tuple(name for name, _ in votes.most_common(1))
