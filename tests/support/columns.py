"""Compiled folders without a daemon: made from plain values, opened with plain bytes.

Where ``reviewsd.snapshot.snapshots`` maps the files, here they are read into memory.
"""

import datetime
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypedDict

import pytest
from pyroaring import BitMap

from reviewsd.config.schema import Pages
from reviewsd.domain.dataset import load
from reviewsd.domain.insights import slug
from reviewsd.domain.naming import Ambiguous
from reviewsd.publish.compiler import compile_folder
from reviewsd.publish.messages import CompileSettings
from reviewsd.snapshot import (
    changes,
    columns,
    numbering,
    suffix_array,
    text_index,
    text_index_writer,
)
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.columns import Columns
from reviewsd.snapshot.layout import Manifest
from reviewsd.snapshot.position_sets import PositionSets

SETTINGS = CompileSettings(
    base_url="https://reviews.example",
    authority="reviews.example",
    year=2025,
    pages=Pages(enabled=False),  # they have tests of their own
)


class Entity(TypedDict, total=False):
    """A technician or service as an operator writes it, where a name alone is not enough."""

    id: str
    name: str
    label: str
    aliases: list[str]
    review_ids: list[str]
    example_review_ids: list[str]


class Insights(TypedDict, total=False):
    """The part of the insights that drives filters."""

    entities: dict[str, list[str | Entity]]
    aspects: list[str | Entity]
    topics: list[str | Entity]
    per_review: dict[str, dict[str, Any]]


class Review(TypedDict, total=False):
    """A review as an operator writes it."""

    id: str
    author: str
    rating: int
    date: str
    text: str | None
    source: str
    owner_reply: dict[str, str]
    verified: bool
    added_at: str
    changed_at: str
    location: str | None


class Location(TypedDict, total=False):
    """A declared location as an operator writes it."""

    id: str
    name: str
    aliases: list[str]


def review(
    review_id: str, *, date: str = "2025-03-14", rating: int = 5, text: str | None = None
) -> Review:
    """Return a review with every required member."""
    return {
        "id": review_id,
        "author": "Jane D.",
        "rating": rating,
        "date": date,
        "text": text,
        "source": "google",
        "verified": True,
    }


def compiled(
    folder: Path,
    reviews: Sequence[Review],
    insights: Insights | None = None,
    locations: Sequence[Location] = (),
) -> Manifest:
    """Compile reviews, in any order, into a new folder."""
    folder.mkdir()
    dataset = load(
        _json({"business": {"name": "Acme", "locations": locations}, "reviews": reviews}),
        None if insights is None else _json(insights),
    )
    return compile_folder(dataset, SETTINGS, folder, lambda *_: None)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def record_slices(folder: Path) -> list[bytes]:
    """Each review's own bytes, as the record column finds them in ``reviews.json``."""
    begins = memoryview((folder / names.RECORDS).read_bytes()).cast("Q")
    content = (folder / "reviews.json").read_bytes()
    return [content[begins[i] : begins[i + 1] - 1] for i in range(len(begins) - 1)]


def files_of(folder: Path, manifest: Manifest) -> "dict[str, memoryview[int]]":
    """Return the content of the files of a folder, by name."""
    return {name: memoryview((folder / name).read_bytes()) for name in manifest.files}


def open_sets(folder: Path) -> PositionSets:
    """Return the position sets of a folder."""
    content = memoryview((folder / names.SETS).read_bytes())
    return PositionSets(content, memoryview((folder / names.SET_OFFSETS).read_bytes()).cast("Q"))


def members(reviews: BitMap | Ambiguous, columns: Columns) -> list[int]:
    """Return the positions of a set, ascending."""
    assert isinstance(reviews, BitMap)
    return [columns.numbering.position(number) for number in reviews]


def open_columns(folder: Path, manifest: Manifest) -> Columns:
    """Return the columns of a compiled folder."""
    return Columns.open(manifest, files_of(folder, manifest))


def updated_at(review: Mapping[str, Any]) -> datetime.datetime:
    """Return when a review changed last: data-model.md 4.0, read naively."""
    reply = review.get("owner_reply") or {}
    day = max(review["date"], reply.get("date", ""))
    stamps = [review[name] for name in ("added_at", "changed_at") if review.get(name)]
    return max(map(datetime.datetime.fromisoformat, stamps or [f"{day}T12:00:00+00:00"]))


class Data(NamedTuple):
    """The content of a data directory."""

    reviews: list[Review]
    insights: Insights
    locations: Sequence[Location] = ()


@contextmanager
def opened(data: Data, **thresholds: object) -> Iterator[Columns]:
    """The columns of a data set, compiled and searched with these thresholds."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as place:
        for name, value in thresholds.items():
            for module in (
                text_index,
                text_index_writer,
                suffix_array,
                numbering,
                changes,
                columns,
            ):
                if hasattr(module, name):
                    patch.setattr(module, name, value)
        manifest = compiled(Path(place, "folder"), data.reviews, data.insights, data.locations)
        yield open_columns(Path(place, "folder"), manifest)


def _names_of(entity: str | Entity) -> set[str]:
    return {name.strip().casefold() for name in _raw_names(entity)}


def _spelled(entry: dict[str, Any], kind: str, sentiment: str | None) -> set[str]:
    """Return the names in an entry of ``per_review``, casefolded."""
    entries = entry.get(kind, [])
    if sentiment is not None:
        entries = [
            entry["id"]
            for entry in entries
            if isinstance(entry, dict) and entry.get("sentiment") == sentiment
        ]
    names = [entry["id"] if isinstance(entry, dict) else entry for entry in entries]
    return {name.strip().casefold() for name in names}


def _label(entity: str | Entity) -> str:
    if isinstance(entity, str):
        return entity.strip().casefold()
    label = entity.get("label") or entity.get("name") or entity["id"]
    return label.strip().casefold()


def _aliases(entity: str | Entity) -> list[str]:
    return [] if isinstance(entity, str) else entity.get("aliases", [])


def _resolved(
    entities: list[str | Entity], kind: str, value: str, spelled: set[str]
) -> list[str | Entity]:
    """Return the entities that a name means: contract 3, read naively.

    Raises:
        AmbiguousError: It may mean several.
    """
    key, plain = value.strip().casefold(), slug(value)
    exact = [entity for entity in entities if key in _names_of(entity)]
    if exact:
        return exact
    matchers: list[Callable[[str | Entity], bool]]
    matchers = [lambda entity: key in {alias.strip().casefold() for alias in _aliases(entity)}]
    if key not in spelled:
        matchers.append(lambda entity: plain in map(slug, [*_raw_names(entity), *_aliases(entity)]))
        if kind in {"technicians", "services"}:
            matchers.append(
                lambda entity: (
                    plain in {slug(n.split()[0]) for n in _raw_names(entity) if len(n.split()) > 1}
                )
            )
    for fits in matchers:
        labels = {_label(entity) for entity in entities if fits(entity)}
        if len(labels) > 1:
            raise AmbiguousError(value)
        if labels:
            return [entity for entity in entities if labels & _names_of(entity)]
    return []


def _raw_names(entity: str | Entity) -> list[str]:
    """Id, name and label, derived where they are not given (data-model.md 2)."""
    members: Entity = {"label": entity} if isinstance(entity, str) else entity
    label = members.get("label") or members.get("name") or members["id"]
    return [name for name in (members.get("id") or slug(label), members.get("name"), label) if name]


class AmbiguousError(Exception):
    """A name fits several entities."""


def mentioned(insights: Insights, kind: str, value: str, sentiment: str | None = None) -> set[str]:
    """Return the ids of the reviews that mention an entity: data-model.md 3, read naively.

    Args:
        insights: Those of the data set.
        kind: A list of entities.
        value: The name asked for.
        sentiment: Only mentions with this one.

    Raises:
        AmbiguousError: The name may mean several.
    """
    key = value.strip().casefold()
    lists: dict[str, list[str | Entity]] = dict(insights.get("entities", {}))
    lists |= {"aspects": insights.get("aspects", []), "topics": insights.get("topics", [])}
    entries = insights.get("per_review", {})
    every = set().union(*(_spelled(entry, kind, None) for entry in entries.values()))
    resolved = _resolved(lists.get(kind, []), kind, value, every)
    names = {key}.union(*map(_names_of, resolved))
    review_ids = {
        review_id
        for review_id, entry in entries.items()
        if names & _spelled(entry, kind, sentiment)
    }
    for entity in resolved if sentiment is None else ():
        if not isinstance(entity, str):
            review_ids.update(entity.get("review_ids", []), entity.get("example_review_ids", []))
    return review_ids
