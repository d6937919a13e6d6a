"""Reviews are divided into segments, and the next publication reuses indexes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.snapshot import layout, numbering, suffix_array, text_index_writer
from reviewsd.snapshot.layout import File, Manifest, SegmentFile
from reviewsd.snapshot.numbering import Numbering, divided, fitting
from reviewsd.snapshot.text_index_writer import SegmentsWriter


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make segments of ten reviews, with an index from three on."""
    monkeypatch.setattr(numbering, "SEGMENT", 10)
    monkeypatch.setattr(text_index_writer, "SMALLEST", 3)


Written = tuple[tuple[SegmentFile, ...], dict[str, File]]


def write(folder: Path, texts: Sequence[str | None], earlier: Path | None = None) -> Written:
    """Write texts, newest first, into a folder with a manifest."""
    folder.mkdir()
    with SegmentsWriter(folder, len(texts), earlier) as writer:
        for at in range(0, len(texts), 7):  # neither a segment nor a part of one
            writer.extend(texts[at : at + 7])
        segments, files = writer.close(lambda *_: None)
    manifest = Manifest(
        base_url="",
        review_count=len(texts),
        updated_at=None,
        insights=False,
        documents=(),
        files=files,
        segments=segments,
    )
    (folder / layout.MANIFEST).write_bytes(msgspec.json.encode(manifest))
    return segments, files


TEXTS = [f"text number {at}" for at in range(25)]


def test_division_starts_at_the_oldest_review(tmp_path: Path) -> None:
    segments, _ = write(tmp_path / "a", TEXTS)
    assert [5, 10, 10] == [segment.reviews for segment in segments]
    newer, _ = write(tmp_path / "b", ["new", *TEXTS])
    assert [6, 10, 10] == [segment.reviews for segment in newer]
    assert [old.index for old in segments[1:]] == [new.index for new in newer[1:]]
    assert segments[0].index != newer[0].index


def test_segment_has_a_limit_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "SEGMENT_BYTES", 60)
    segments, _ = write(tmp_path / "a", ["x" * 100, *"abcdefgh", "y" * 59])
    assert [1, 8, 1] == [segment.reviews for segment in segments]
    assert [False, True, False] == [segment.index is not None for segment in segments]


@given(st.lists(st.integers(1, 50)), st.integers(1, 100))
def test_parts_of_a_segment_are_below_the_limit(sizes: list[int], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "SEGMENT_BYTES", limit)
        counts = fitting(sizes)
    assert sum(counts) == len(sizes)
    end = len(sizes)
    for count in reversed(counts):
        begin, end_of_this = end - count, end
        assert sum(sizes[begin:end_of_this]) <= limit or count == 1
        end = begin


@given(st.integers(0, 100))
def test_all_segments_except_the_newest_are_full(count: int) -> None:
    sizes = divided(count)
    assert sum(sizes) == count
    assert all(size == 10 for size in sizes[1:])
    assert all(1 <= size <= 10 for size in sizes)


@given(st.lists(st.integers(1, 1 << 16), max_size=5), st.data())
def test_numbers_and_positions_are_one_to_one(sizes: list[int], data: st.DataObject) -> None:
    numbering = Numbering(sizes)
    total = sum(sizes)
    for position in data.draw(st.lists(st.integers(0, max(0, total - 1)))) if total else ():
        number = numbering.number(position)
        assert position == numbering.position(number)
        assert numbering.begins[number >> 16] + (number & 0xFFFF) == position
        assert number < numbering.number(total)


@pytest.fixture
def sorted_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the size of each sort."""
    sizes: list[int] = []
    sort = suffix_array.sort

    def counted(texts: bytes) -> object:
        sizes.append(len(texts))
        return sort(texts)

    monkeypatch.setattr(suffix_array, "sort", counted)
    return sizes


def test_index_of_the_same_texts_is_reused(tmp_path: Path, sorted_sizes: list[int]) -> None:
    _, files = write(tmp_path / "a", TEXTS)
    assert len(sorted_sizes) == 3
    segments, again = write(tmp_path / "b", ["new", *TEXTS], tmp_path / "a")
    assert len(sorted_sizes) == 4
    for segment in segments[1:]:
        assert segment.index is not None
        assert files[segment.index] == again[segment.index]
        assert (tmp_path / "a" / segment.index).samefile(tmp_path / "b" / segment.index)


def damage(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


@pytest.mark.parametrize("spoil", [damage, Path.unlink], ids=["damaged", "missing"])
def test_damaged_or_missing_index_is_made_again(
    tmp_path: Path, sorted_sizes: list[int], spoil: Callable[[Path], None]
) -> None:
    _, files = write(tmp_path / "a", TEXTS)
    for name in files:
        if name.startswith("suffixes"):
            spoil(tmp_path / "a" / name)
    assert write(tmp_path / "b", TEXTS, tmp_path / "a")[1] == files
    assert len(sorted_sizes) == 6


def test_segments_with_equal_texts_have_an_index_each(tmp_path: Path) -> None:
    """Reviews without texts are equal, and one file cannot be written twice."""
    segments, files = write(tmp_path / "a", ["the same", None] * 10)
    assert len(segments) == 2
    assert len({segment.index for segment in segments}) == 2
    assert len(files) == 4


def test_error_of_the_thread_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: bytes) -> object:
        raise MemoryError

    monkeypatch.setattr(suffix_array, "sort", fail)
    with pytest.raises(MemoryError):
        write(tmp_path / "a", TEXTS)
