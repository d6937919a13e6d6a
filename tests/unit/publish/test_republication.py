"""A publication that reuses text indexes of the last one makes the bytes that it would make alone."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.dataset import Dataset, load
from reviewsd.publish import compiler
from reviewsd.publish.compiler import compile_folder
from reviewsd.snapshot import layout, numbering, text_index_writer
from reviewsd.snapshot.layout import Manifest
from tests.support.columns import SETTINGS, Review, review
from tests.support.examples import examples

NOTHING = Path("nothing")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment has ten reviews, and a batch four."""
    monkeypatch.setattr(compiler, "_BATCH", 4)
    monkeypatch.setattr(numbering, "SEGMENT", 10)
    monkeypatch.setattr(text_index_writer, "SMALLEST", 3)


def dataset_of(reviews: list[Review]) -> Dataset:
    content = {"business": {"name": "Acme"}, "reviews": reviews}
    return load(json.dumps(content).encode(), None)


def publish(folder: Path, dataset: Dataset, earlier: Path) -> Manifest:
    folder.mkdir()
    manifest = compile_folder(dataset, SETTINGS, folder, lambda *_: None, earlier=earlier)
    (folder / layout.MANIFEST).write_bytes(msgspec.json.encode(manifest))
    return manifest


def files_of(folder: Path) -> dict[str, bytes]:
    return {part_file.name: part_file.read_bytes() for part_file in folder.iterdir()}


OTHER: list[dict[str, object]] = [
    {},
    {"text": "Straße, sehr gut. 😀"},
    {"text": ""},
    {"text": "word " * 2_000},
    {"owner_reply": {"text": "Thanks", "date": "2025-04-01", "by": "Ann"}, "rating": 1},
    {"place": {"b": [1.50], "a": None}, "verified": False},
    {"location": "dover"},
]
REVIEWS = st.dictionaries(
    st.integers(0, 60), st.tuples(st.sampled_from(OTHER), st.integers(1, 28)), max_size=40
)


@examples(6)
@given(st.lists(REVIEWS, min_size=2, max_size=4))
def test_reused_indexes_give_the_same_bytes_as_new_ones(
    rounds: list[dict[int, tuple[Review, int]]],
) -> None:
    with TemporaryDirectory() as name:
        earlier = NOTHING
        reviews: dict[int, Review] = {}
        for number, changed in enumerate(rounds):
            for key, (other, day) in changed.items():
                reviews[key] = review(f"r{key}", date=f"2025-03-{day:02}") | other
            dataset = dataset_of([*reviews.values()])
            folder, alone = Path(name, f"{number}"), Path(name, f"{number} alone")
            assert publish(folder, dataset, earlier) == publish(alone, dataset, NOTHING)
            assert files_of(folder) == files_of(alone)
            earlier = folder
