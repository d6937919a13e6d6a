"""The bytes of insights.json become an InsightsFile (data-model.md 2; contract 1)."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import NamedTuple, get_type_hints

import msgspec
from msgspec import Raw

from reviewsd.domain import strict_json
from reviewsd.domain.data_errors import member
from reviewsd.domain.insights import Entities, Entity, Insights, PerReview, named
from reviewsd.domain.json_file import JsonFile, PartType
from reviewsd.domain.mentions import Spellings
from reviewsd.domain.records import Progress, RecordText

INSIGHTS_FILE = "insights.json"

_STEP = 10_000  # entries between two calls of Progress


class Mentions(NamedTuple):
    """The technicians and services that one review names, as the file spells them."""

    technicians: tuple[str, ...]
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightsFile:
    """The insights, as given and typed."""

    members: Mapping[str, Raw]
    """The top-level members as given."""
    typed: Insights
    """All but ``per_review``, which may be as large as the reviews."""
    mentions: Sequence[Mentions | None]
    """From ``per_review``: by position of the review, None where it names nobody and nothing. Of made
    insights only those of the newest reviews, which feeds show."""
    spellings: Spellings
    """From ``per_review``: all that reviews mention."""
    analysed: int
    """Number of entries of ``per_review``."""
    bounds: "array[int] | None" = None
    """Of made insights: where the value of each entry begins and ends in ``per_review``, which is in the
    order of the reviews and without white space."""
    mapped: mmap | None = None
    """Of made insights: the file that ``per_review`` is mapped from."""


_PER_REVIEW: PartType[PerReview] = PartType(PerReview)
_ANYTHING: PartType[Raw] = PartType(Raw)


def load_insights(
    file: JsonFile, text: RecordText, places: Mapping[str, int], progress: Progress
) -> InsightsFile | None:
    """Validate insights.json.

    Args:
        file: Collects its faults.
        text: Its content.
        places: The positions of the reviews, by id.
        progress: Told how far validation is.
    """
    parts = file.split(text)
    if parts is None:
        return None
    members, _ = parts
    typed: dict[str, object] = {}
    mentions: list[Mentions | None] = [None] * len(places)
    spellings = Spellings()
    analysed = 0
    for name, raw in members.items():
        path = member("$", name)
        if name == "per_review":
            analysed = _load_per_review(file, raw, path, places, mentions, spellings, progress)
        elif name in _INSIGHTS_MEMBERS:
            value = file.decode(raw, _INSIGHTS_MEMBERS[name], path)
            if value is not None:
                typed[name] = value
        else:
            file.decode(raw, _ANYTHING, path)
    insights = Insights(**typed)  # type: ignore[arg-type]  # each was decoded as its field's type
    _check_named(file, insights)
    return InsightsFile(
        members=members,
        typed=insights,
        mentions=mentions,
        spellings=spellings,
        analysed=analysed,
    )


_INSIGHTS_MEMBERS: dict[str, PartType[object]] = {
    name: PartType(kind)
    for name, kind in get_type_hints(Insights, include_extras=True).items()
    if name != "per_review"
}


def _load_per_review(
    file: JsonFile,
    raw: Raw,
    path: str,
    places: Mapping[str, int],
    mentions: list[Mentions | None],
    spellings: Spellings,
    progress: Progress,
) -> int:
    """Note whom and what each review mentions; returns how many were analysed."""
    try:
        entries = strict_json.split(raw)
    except msgspec.ValidationError:
        file.refuse_type(path, raw, dict[str, object])
        return 0
    try:
        for _ in strict_json.walk(raw, entries):
            pass
    except strict_json.UnfitError as unfit:
        file.refuse(path, str(unfit))
    shared: dict[Mentions, Mentions] = {}  # a few people and services, a million times
    for index, (review_id, item) in enumerate(entries.items()):
        if index % _STEP == 0:
            progress("validating insights", index, len(entries))
        entry = file.decode(item, _PER_REVIEW, member(path, review_id), depth=2)
        place = places.get(review_id)
        if entry is None or place is None:
            continue
        spellings.add(place, entry)
        if entry.technicians or entry.services:
            found = Mentions(entry.technicians, entry.services)
            mentions[place] = shared.setdefault(found, found)
    return len(entries)


def _check_named(file: JsonFile, insights: Insights) -> None:
    """Each aspect, entity and topic needs an id, a label or a name (data-model.md 2)."""
    lists: dict[str, tuple[str | Entity, ...]] = {
        "$.aspects": insights.aspects,
        "$.topics": insights.topics,
    }
    for name in Entities.__struct_fields__:
        lists[f"$.entities.{name}"] = getattr(insights.entities, name)
    for path, entries in lists.items():
        for index, entry in enumerate(entries):
            try:
                named(entry)
            except ValueError as error:
                file.refuse(f"{path}[{index}]", str(error))
