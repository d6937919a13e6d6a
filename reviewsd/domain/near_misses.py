"""Suggests the known parameter that an unknown name most likely means (contract 3).

An unknown name is ignored: links carry ``utm_source``, and gateways add arguments to every call. One
that resembles a known name is an error, because an ignored filter returns everything. HTTP and MCP
share this rule: synonyms come first, then typing errors, then names whose every word is known.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

MAX_NAME_LENGTH = 40
"""Longest name that is compared, in characters; every known name is shorter."""

# Letters; shorter names may have no typing error and one, others two (contract 3)
_TINY, _SHORT = 4, 6
_MIN_SYNONYM = 5  # letters of a synonym that may have a typing error: "form" is not "from"

_SYNONYMS_OF = {
    "rating": "stars star_rating score",
    "max_rating": "max_stars maximum lte",
    "min_rating": "min_stars minimum gte",
    "source": "platform provider",
    "verified": "only_verified verified_only",
    "has_reply": "answered has_response owner_reply replied replies responded with_reply",
    "sentiment": "polarity",
    "since date": "from after start since",
    "since until": "date",
    "until": "to before end date_to to_date",
    "changed_since": "updated_since modified_since",
    "query": "q text search keyword contains",
    "mentions_technician name": "person technician technician_id technician_name employee employee_name staff",
    "mentions_service": "service",
    "mentions_service service": "service_id service_name",
    "mentions_aspect aspect": "aspect_id",
    "mentions_problem": "complaint issue problem_id",
    "mentions_topic aspect query": "topic",
    "mentions_topic": "topic_id",
    "location": "location_id location_name branch store shop office",
    "mentions_area": "city town",
    "limit months": "count top max max_results",
    "limit": "size page_size per_page",
    "months count": "limit",
    "cursor offset": "page skip",
    "cursor text_offset": "offset",
    "offset text_offset": "cursor",
    "accent": "color colour",
    "sort": "order ordering orderby sortby direction",
    "kind": "type category",
    "id": "review review_id",
}
"""Synonyms by the known names that they may mean; both separated by blanks."""

SYNONYMS = {
    synonym: tuple(names.split())
    for names, synonyms in _SYNONYMS_OF.items()
    for synonym in synonyms.split()
}
"""Names that clients often use instead of a known one, with the known ones they may mean."""

_FILLERS = frozenset(
    (
        *("by", "created", "date", "filter", "next", "number", "posted", "published", "range"),
        *("result", "results", "review", "reviews", "value"),
    )
)
"""Words that occur in names of several parameters."""

_TRACKED = frozenset(("source",))
"""Last words of names that campaigns add to links; ``pk_source`` is not a typing error of ``source``."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+|[0-9]+")


def similar_names(name: str, known_names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the known names that an unknown one may mean: usually one, none where it resembles none.

    Args:
        name: The unknown name, in any spelling of its words: ``minRating``, ``min-rating``.
        known_names: The names that exist.
    """
    return () if len(name) > MAX_NAME_LENGTH else _similar_names(name, known_names)


@lru_cache(maxsize=1024)
def _similar_names(name: str, known_names: tuple[str, ...]) -> tuple[str, ...]:
    words = words_of(name)
    candidates = _synonyms("_".join(words), known_names)
    if not candidates and (len(words) == 1 or _TRACKED.isdisjoint(words[-1:])):
        letters = "".join(words)
        candidates = _mistyped(letters, known_names, 2)
        if not candidates and (synonyms := _mistyped(letters, _long_synonyms(known_names), 1)):
            candidates = _synonyms(synonyms[0], known_names)
    return candidates or _named_by(words, known_names)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, however they are put together."""
    return _WORD.findall(_CAMEL.sub("_", name[:MAX_NAME_LENGTH]).lower())


def _synonyms(name: str, known_names: Sequence[str]) -> tuple[str, ...]:
    names = SYNONYMS.get(name) or SYNONYMS.get(_singular(name), ())
    return tuple(synonym for synonym in names if synonym in known_names)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) >= _MIN_SYNONYM and word.endswith("s") else word


@lru_cache(maxsize=64)
def _long_synonyms(known_names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the synonyms of known names that may have a typing error."""
    return tuple(
        name for name in SYNONYMS if len(name) >= _MIN_SYNONYM and _synonyms(name, known_names)
    )


def _mistyped(name: str, names: tuple[str, ...], max_edits: int) -> tuple[str, ...]:
    """Return the name that is closest to a mistyped one."""
    alphabet = set(name)
    for edits in range(max_edits + 1):
        for candidate, letters in _candidates(names, edits):
            is_near = (
                abs(len(letters) - len(name)) <= edits and len(set(letters) - alphabet) <= edits
            )
            if is_near and within_edits(name, letters, edits):
                return (candidate,)
    return ()


@lru_cache(maxsize=64)
def _candidates(known_names: tuple[str, ...], edits: int) -> tuple[tuple[str, str], ...]:
    """Return the names that may have this number of typing errors, each with its letters."""
    return tuple(
        (name, name.replace("_", ""))
        for name in known_names
        if edits <= (len(name) >= _TINY) + (len(name) >= _SHORT)
    )


def within_edits(name: str, other: str, edits: int) -> bool:
    """Return whether at most ``edits`` inserted, deleted, replaced or swapped letters turn a name into another."""
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
        within_edits(name[1:], other[1:], edits)
        or within_edits(name[1:], other, edits)
        or within_edits(name, other[1:], edits)
        or (name[1::-1] == other[:2] and within_edits(name[2:], other[2:], edits))
    )


def _named_by(words: Sequence[str], known_names: Sequence[str]) -> tuple[str, ...]:
    """Return the known name that most words vote for; empty if any word is unknown."""
    telling = [word for word in words if word not in _FILLERS]
    if not telling and "date" in words:
        return _synonyms("date", known_names)
    votes = Counter[str]()
    for word in telling:
        forms = {word, _singular(word)}
        names = [name for name in known_names if not forms.isdisjoint(name.split("_"))]
        candidates = names or _synonyms(word, known_names)
        if not candidates:
            return ()
        votes.update(candidates)
    return tuple(name for name, _ in votes.most_common(1))
