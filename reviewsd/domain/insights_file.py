"""Validates insights.json (data-model.md 2; contract 1)."""

from array import array
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from typing import get_args, get_type_hints

import msgspec
from msgspec import Raw
from msgspec.json import Decoder

from reviewsd.domain import strict_json
from reviewsd.domain.data_errors import member
from reviewsd.domain.insights import (
    AspectMention,
    Insights,
    PerReview,
    Sentiment,
    named,
    path_of,
)
from reviewsd.domain.json_file import JsonFile
from reviewsd.domain.records import Progress, RecordText, reported

INSIGHTS_FILE = "insights.json"


Postings = Mapping[str, "array[int]"]
"""Positions of the reviews that mention a name, in the order of the file."""


def _postings() -> "defaultdict[str, array[int]]":
    return defaultdict(partial(array, "I"))


_LISTS = ("technicians", "services", "problems", "topics", "service_areas")
SENTIMENTS: tuple[str, ...] = get_args(Sentiment)


class Spellings:
    """Inverted index of ``per_review``: positions by name, as the file spells it.

    A mention takes 4 bytes, and a million reviews mention only a few hundred names.
    """

    def __init__(self) -> None:
        self.lists = {name: _postings() for name in (*_LISTS, "aspects")}
        """Postings by member of ``per_review``."""
        self.felt = {name: _postings() for name in SENTIMENTS}
        """Postings of aspects by the sentiment towards them."""
        self.sentiments = _postings()
        """Positions by sentiment of the review."""
        self._named = [(name, self.lists[name]) for name in _LISTS]
        self._aspects = self.lists["aspects"]

    def add(self, position: int, entry: PerReview) -> None:
        """Add the mentions of the review at a position."""
        for member_name, postings in self._named:
            for name in getattr(entry, member_name):
                postings[name].append(position)
        for aspect in entry.aspects:
            if isinstance(aspect, AspectMention):
                self._aspects[aspect.id].append(position)
                if aspect.sentiment is not None:
                    self.felt[aspect.sentiment][aspect.id].append(position)
            else:
                self._aspects[aspect].append(position)
        if entry.sentiment is not None:
            self.sentiments[entry.sentiment].append(position)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsFile:
    """The insights, raw and typed.

    ``made`` insights are made by the publication, and were not in a file.
    """

    members: Mapping[str, Raw]
    """The top-level members, unchanged."""
    typed: Insights
    """All members but ``per_review``, which may be as large as the reviews."""
    spellings: Spellings
    """All mentions of ``per_review``."""
    analysed: int
    """Number of entries of ``per_review``."""
    bounds: "array[int] | None" = None
    """Begin and end of each value in ``per_review`` of made insights, which has the order of the reviews and
    no white space."""
    mapped: mmap | None = None
    """The mapping that holds ``per_review`` of made insights."""


_PER_REVIEW = Decoder(PerReview)
_ANYTHING = Decoder(Raw)


def load_insights(
    file: JsonFile, text: RecordText, places: Mapping[str, int], progress: Progress
) -> InsightsFile | None:
    """Validate insights.json.

    Args:
        file: Collects the findings.
        text: Content of the file.
        places: The positions of the reviews, by id.
        progress: Called with the number of entries validated so far.
    """
    parts = file.split(text)
    if parts is None:
        return None
    members, _ = parts
    typed: dict[str, object] = {}
    spellings = Spellings()
    analysed = 0
    for name, raw in members.items():
        path = member("$", name)
        if name == "per_review":
            analysed = _load_per_review(file, raw, path, places, spellings, progress)
        elif name in _INSIGHTS_MEMBERS:
            value = file.decode(raw, _INSIGHTS_MEMBERS[name], path)
            if value is not None:
                typed[name] = value
        else:
            file.decode(raw, _ANYTHING, path)
    insights = Insights(**typed)  # type: ignore[arg-type]  # each was decoded as its field's type
    _check_named(file, insights)
    return InsightsFile(members=members, typed=insights, spellings=spellings, analysed=analysed)


_INSIGHTS_MEMBERS: dict[str, Decoder[object]] = {
    name: Decoder(kind)
    for name, kind in get_type_hints(Insights, include_extras=True).items()
    if name != "per_review"
}


def _load_per_review(
    file: JsonFile,
    raw: Raw,
    path: str,
    places: Mapping[str, int],
    spellings: Spellings,
    progress: Progress,
) -> int:
    """Collect the mentions of each review.

    Returns:
        The number of entries.
    """
    try:
        entries = strict_json.split(raw)
    except msgspec.ValidationError:
        file.refuse_type(path, raw, dict[str, object])
        return 0
    try:
        for _ in strict_json.walk(raw, entries):
            pass
    except strict_json.UnfitError as error:
        file.refuse(path, str(error))
    pairs = reported(entries.items(), len(entries), "validating insights", progress)
    for review_id, item in pairs:
        entry = file.decode(item, _PER_REVIEW, member(path, review_id), depth=2)
        place = places.get(review_id)
        if entry is not None and place is not None:
            spellings.add(place, entry)
    return len(entries)


def _check_named(file: JsonFile, insights: Insights) -> None:
    """Refuse aspects, entities and topics without id, label and name (data-model.md 2)."""
    for kind, entries in insights.lists().items():
        for index, entry in enumerate(entries):
            try:
                named(entry)
            except ValueError as error:
                file.refuse(f"{path_of(kind)}[{index}]", str(error))
