"""A compiled folder holds what went in, finds it again, and depends on nothing else (contract 1, 2)."""

import base64
import hashlib
import json
import zlib
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.dataset import load
from reviewsd.publish import compression
from reviewsd.publish.compiler import compile_folder
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import Manifest
from tests.support.broken import Document
from tests.support.columns import SETTINGS, Insights, compiled, record_slices, review
from tests.support.datasets import REVIEWS_FILE, spelled
from tests.support.examples import examples
from tests.support.generate import write_data


def compile_bytes(place: Path, reviews: bytes, insights: bytes | None = None) -> Manifest:
    place.mkdir()
    return compile_folder(load(reviews, insights), SETTINGS, place, lambda *_: None)


def files_of(place: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in place.iterdir()}


# -- what lies in the folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    """The folder of 300 reviews with insights, and its manifest."""
    place = tmp_path_factory.mktemp("made")
    write_data(place, reviews=300)
    sources = [(place / name).read_bytes() for name in ("reviews.json", "insights.json")]
    return place / "folder", compile_bytes(place / "folder", *sources)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_records_of_a_few_reviews(tmp_path: Path, count: int) -> None:
    names = ["c", "b", "a"][:count]
    assert compiled(tmp_path / "folder", [review(name) for name in names]).review_count == count
    slices = record_slices(tmp_path / "folder")
    assert names == [json.loads(entry)["id"] for entry in slices]
    content = (tmp_path / "folder/reviews.json").read_bytes()
    assert content.endswith(b'"reviews":[' + b",".join(slices) + b"]}")


def test_every_file_is_in_manifest_with_its_size_and_digest(made: tuple[Path, Manifest]) -> None:
    folder, manifest = made
    result = {
        name: layout.File(size=len(content), sha256=hashlib.sha256(content).hexdigest())
        for name, content in files_of(folder).items()
    }
    assert result == manifest.files


def test_manifest_describes_the_documents(made: tuple[Path, Manifest]) -> None:
    folder, manifest = made
    for document in manifest.documents:
        digest = hashlib.sha256((folder / document.file).read_bytes()).digest()
        assert base64.urlsafe_b64encode(digest)[:22].decode() == document.tag
    assert manifest.insights
    assert manifest.review_count == 300
    assert SETTINGS.base_url == manifest.base_url
    served = json.loads((folder / "reviews.json").read_bytes())
    assert served["updated_at"] == manifest.updated_at


# -- gzip


@pytest.mark.parametrize("size", [0, 999, 1_000, 1_001, 3 << 20])
def test_nothing_under_a_kilobyte_is_compressed(tmp_path: Path, size: int) -> None:
    """contract 2"""
    (tmp_path / "file").write_bytes(b"x" * size)
    packed = compression.compress(tmp_path, "file", size)
    assert (size >= 1_000) == (packed is not None) == (tmp_path / "file.gz").exists()
    if packed is not None:
        content = (tmp_path / "file.gz").read_bytes()
        assert b"x" * size == zlib.decompress(content, wbits=31)
        assert len(content) == packed.size


def test_larger_gzip_form_is_removed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(Random(1).randbytes(5_000))
    assert compression.compress(tmp_path, "file", 5_000) is None
    assert not (tmp_path / "file.gz").exists()


# -- feeds


def test_the_feed_has_the_labels_of_whom_and_what_a_review_mentions(tmp_path: Path) -> None:
    insights: Insights = {
        "entities": {
            "technicians": [{"id": "sam", "name": "Sam J.", "label": "Sammy"}, "SAM"],
            "services": [{"id": "ac", "label": "A/C"}, "★"],
        },
        "per_review": {
            "a": {"technicians": ["sam", "SAM J.", "Bob", ""], "services": ["A/C", "★"]},
            "b": {"services": ["unknown one"]},
            "c": {"technicians": []},
        },
    }
    compiled(tmp_path / "folder", [review(name, rating=4) for name in "abcd"], insights)
    items = json.loads((tmp_path / "folder/feed.json").read_bytes())["items"]
    expected = {
        "a": ["4-star", "Sammy", "Bob", "A/C", "★"],
        "b": ["4-star", "unknown one"],
        "c": ["4-star"],
        "d": ["4-star"],
    }
    assert expected == {item["id"]: item["tags"] for item in items}


# -- determinism


@given(document=REVIEWS_FILE, random=st.randoms(use_true_random=False))
@examples(20)
def test_only_the_content_matters(document: Document, random: Random) -> None:
    """Changes of order or white space must not notify subscribers."""
    in_another_order = document | {"reviews": document["reviews"][::-1]}
    with TemporaryDirectory() as place:
        first = compile_bytes(Path(place, "1"), spelled(document).encode())
        second = compile_bytes(Path(place, "2"), spelled(in_another_order, random).encode())
        assert first.documents == second.documents
        files, other_files = (files_of(Path(place, name)) for name in ("1", "2"))
        for name in (files.keys() | other_files.keys()) - {layout.FEED}:  # has review_urls in order
            assert files[name] == other_files[name]
