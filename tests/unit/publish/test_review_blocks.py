"""A publication that takes reviews over from the last one makes the bytes that it would make alone."""

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.dataset import Dataset, load
from reviewsd.publish import block_file
from reviewsd.publish.block_file import spans
from reviewsd.publish.compiler import compile_folder
from reviewsd.publish.review_blocks import Earlier, EarlierReviews
from reviewsd.snapshot import layout, numbering, text_index_writer
from reviewsd.snapshot.layout import Manifest
from tests.support.columns import SETTINGS, Review, review
from tests.support.examples import examples

RULES = b"rules"
NOTHING = Path("nothing")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block has four reviews on average, a segment ten."""
    monkeypatch.setattr(block_file, "_MEAN", 4)
    monkeypatch.setattr(block_file, "_MAX_REVIEWS", 16)
    monkeypatch.setattr(numbering, "SEGMENT", 10)
    monkeypatch.setattr(text_index_writer, "SMALLEST", 3)


def dataset_of(reviews: list[Review]) -> Dataset:
    content = {"business": {"name": "Acme"}, "reviews": reviews}
    return load(json.dumps(content).encode(), None)


def publish(folder: Path, dataset: Dataset, earlier: Path) -> Manifest:
    folder.mkdir()
    manifest = compile_folder(
        dataset, SETTINGS, folder, lambda *_: None, earlier=Earlier(earlier, RULES)
    )
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
    {"location": {"b": [1.50], "a": None}, "verified": False},
]
REVIEWS = st.dictionaries(
    st.integers(0, 60),
    st.tuples(st.sampled_from(OTHER), st.integers(1, 28)),
    max_size=40,
)


@examples(6)
@given(st.lists(REVIEWS, min_size=2, max_size=4))
def test_copied_blocks_give_the_same_bytes_as_rendered_ones(
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


MANY = [review(f"r{n}", date=f"2025-03-{n % 28 + 1:02}", text=f"Text {n}") for n in range(60)]


def found(folder: Path, dataset: Dataset, rules: bytes = RULES) -> list[bool]:
    """Return the blocks of a dataset that can be copied."""
    earlier = EarlierReviews(folder)
    return [earlier.find(key) is not None for _, _, key in spans(dataset.records, rules)]


def test_a_change_leaves_the_other_blocks_as_they_were(tmp_path: Path) -> None:
    publish(tmp_path / "1", dataset_of(MANY), NOTHING)
    assert all(found(tmp_path / "1", dataset_of(MANY)))
    changed = [
        review("r30", date="2025-03-03", text="Other") if n == 30 else part_file
        for n, part_file in enumerate(MANY)
    ]
    assert found(tmp_path / "1", dataset_of(changed)).count(False) == 1
    assert found(tmp_path / "1", dataset_of([*MANY, review("new")])).count(False) == 1


def test_changed_rules_copy_no_block(tmp_path: Path) -> None:
    publish(tmp_path / "1", dataset_of(MANY), NOTHING)
    assert not any(found(tmp_path / "1", dataset_of(MANY), b"others"))


def test_without_rules_nothing_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "1"
    folder.mkdir()
    compile_folder(dataset_of(MANY), SETTINGS, folder, lambda *_: None)
    assert not (folder / layout.REVIEW_BLOCKS).exists()


TAKEN = (
    "reviews.json",
    layout.RECORDS,
    layout.EXCERPTS,
    layout.EXCERPT_OFFSETS,
    layout.TEXTS,
    layout.TEXT_OFFSETS,
    layout.DIGESTS,
    layout.REVIEW_BLOCKS,
)
"""Files of which something is taken over."""


@pytest.mark.parametrize("how", ["lost", "empty", "cut", "turned"])
def test_damaged_block_is_rendered_again(tmp_path: Path, how: str) -> None:
    dataset = dataset_of(MANY)
    whole = tmp_path / "whole"
    expected = publish(whole, dataset, NOTHING)
    for file in TAKEN:
        earlier, again = tmp_path / f"{file} damaged", tmp_path / f"{file} again"
        shutil.copytree(whole, earlier)
        damaged = earlier / file
        content = damaged.read_bytes()
        damaged.unlink()
        if how != "lost":
            half = len(content) // 2
            turned = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
            damaged.write_bytes({"empty": b"", "cut": content[: half + 3], "turned": turned}[how])
        assert not all(found(earlier, dataset)), file
        assert expected == publish(again, dataset, earlier), file
        assert files_of(again) == files_of(whole), file
