"""Compiled folders without a daemon: made from plain values, opened with plain bytes.

Where ``reviewsd.snapshot.snapshots`` maps the files and searches them with stringzilla, here they are
read into memory and searched with ``bytes.find``: slow, short, and without a bug of its own.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypedDict

import pytest

from reviewsd.snapshot import search as searching
from reviewsd.domain.insights import slug
from reviewsd.domain.dataset import load
from reviewsd.snapshot.search import Columns, Dense, PositionSet, Sparse
from reviewsd.snapshot import columns as writing
from reviewsd.snapshot import layout as names
from reviewsd.snapshot import frequent
from reviewsd.snapshot.columns import set_key
from reviewsd.publish.compiler import Settings, compile_folder
from reviewsd.snapshot.layout import Manifest

SETTINGS = Settings(base_url="https://reviews.example", authority="reviews.example", year=2025)


class Entity(TypedDict, total=False):
    """A technician or service as an operator writes it, where a name alone is not enough."""

    id: str
    name: str
    label: str
    review_ids: list[str]
    example_review_ids: list[str]


class Insights(TypedDict, total=False):
    """The part of the insights that drives filters; lists by ``technicians``, ``services``."""

    entities: dict[str, list[str | Entity]]
    per_review: dict[str, dict[str, list[str]]]


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


def review(
    review_id: str, *, date: str = "2025-03-14", rating: int = 5, text: str | None = None
) -> Review:
    """One with everything that is required."""
    return {
        "id": review_id,
        "author": "Jane D.",
        "rating": rating,
        "date": date,
        "text": text,
        "source": "google",
        "verified": True,
    }


def compiled(folder: Path, reviews: Sequence[Review], insights: Insights | None = None) -> Manifest:
    """Compile reviews, in any order, into a new folder."""
    folder.mkdir()
    dataset = load(
        _json({"business": {"name": "Acme"}, "reviews": reviews}),
        None if insights is None else _json(insights),
    )
    return compile_folder(dataset, SETTINGS, folder, lambda *_: None)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def record_slices(folder: Path) -> list[bytes]:
    """Each review's own bytes, as the record column finds them in ``reviews.json``."""
    begins = _numbers(folder, names.RECORDS, "Q")
    content = (folder / "reviews.json").read_bytes()
    return [content[begins[i] : begins[i + 1] - 1] for i in range(len(begins) - 1)]


def position_sets(folder: Path) -> dict[bytes, PositionSet]:
    """Every position set by its key, in the order of the file."""
    keys = (folder / names.SET_KEYS).read_bytes()
    content = memoryview((folder / names.SETS).read_bytes())
    table = _numbers(folder, names.SET_TABLE, "Q")
    count = len(_numbers(folder, names.DAYS, "i"))
    sets: dict[bytes, PositionSet] = {}
    for row in range(0, len(table), names.SET_FIELDS):
        begin, end, at, size, dense = table[row : row + names.SET_FIELDS]
        if dense:
            sets[keys[begin:end]] = Dense(content[at : at + (count + 7) // 8])
        else:
            sets[keys[begin:end]] = Sparse(content[at : at + 4 * size].cast("I"))
    return sets


def members(positions: PositionSet, count: int) -> list[int]:
    """The positions of a set over so many reviews, ascending."""
    match positions:
        case Sparse():
            return positions.positions.tolist()
        case Dense():
            return [position for position in range(count) if position in positions]


def open_columns(folder: Path) -> Columns:
    """The columns of a compiled folder."""
    texts = (folder / names.TEXTS).read_bytes()
    days = _numbers(folder, names.DAYS, "i")
    ids = [str(json.loads(record)["id"]) for record in record_slices(folder)]
    sets = position_sets(folder)
    return Columns(
        count=len(days),
        days=days,
        texts=texts,
        text_bytes=memoryview(texts),
        text_offsets=_numbers(folder, names.TEXT_OFFSETS, "Q"),
        id_at=ids.__getitem__,
        positions=lambda field, key: sets.get(set_key(field, key)),
    )


def _numbers(folder: Path, name: str, kind: str) -> "memoryview[int]":
    view: memoryview[int] = memoryview((folder / name).read_bytes()).cast(kind)  # type: ignore[call-overload]
    return view


class Data(NamedTuple):
    """What a data directory holds."""

    reviews: list[Review]
    insights: Insights


@contextmanager
def opened(data: Data, **thresholds: float) -> Iterator[Columns]:
    """The columns of a data set, compiled and searched with these thresholds."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as place:
        for name, value in thresholds.items():
            for module in (searching, writing, frequent):
                if hasattr(module, name):
                    patch.setattr(module, name, value)
        compiled(Path(place, "folder"), data.reviews, data.insights)
        yield open_columns(Path(place, "folder"))


def _names_of(entity: str | Entity) -> set[str]:
    """Id, name and label, derived where they are not given (data-model.md 2)."""
    given: Entity = {"label": entity} if isinstance(entity, str) else entity
    label = given.get("label") or given.get("name") or given["id"]
    names = (given.get("id") or slug(label), given.get("name"), label)
    return {name.strip().casefold() for name in names if name}


def mentioned(insights: Insights, kind: str, value: str) -> set[str]:
    """The ids of the reviews that mention somebody: data-model.md 3, rules 1 and 2, read naively."""
    key = value.strip().casefold()
    entities = insights.get("entities", {}).get(kind, [])
    resolved = [entity for entity in entities if key in _names_of(entity)]
    wanted = {key}.union(*map(_names_of, resolved))
    found = {
        review_id
        for review_id, entry in insights.get("per_review", {}).items()
        if wanted & {name.strip().casefold() for name in entry.get(kind, [])}
    }
    for entity in resolved:
        if not isinstance(entity, str):
            found.update(entity.get("review_ids", []), entity.get("example_review_ids", []))
    return found
