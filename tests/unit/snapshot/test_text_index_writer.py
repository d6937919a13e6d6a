"""How reviews are divided into segments, and which indexes the next publication takes over."""

from array import array
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.snapshot import layout, numbering, suffix_array, text_index_writer
from reviewsd.snapshot.layout import File, Manifest, SegmentFile
from reviewsd.snapshot.numbering import Numbering, divided, fitting
from reviewsd.snapshot.text_index_writer import SegmentsWriter, folded


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten reviews are a segment, and three have an index."""
    monkeypatch.setattr(numbering, "SEGMENT", 10)
    monkeypatch.setattr(text_index_writer, "SMALLEST", 3)


Written = tuple[tuple[SegmentFile, ...], dict[str, File]]


def write(folder: Path, texts: Sequence[str | None], earlier: Path | None = None) -> Written:
    """Texts, newest first, in a folder with a manifest."""
    folder.mkdir()
    with SegmentsWriter(folder, len(texts), earlier) as writer:
        parts = [folded(text) for text in texts]
        for at in range(0, len(parts), 7):  # neither a segment nor a part of one
            some = parts[at : at + 7]
            writer.extend(b"".join(some), array("Q", map(len, some)))
        segments, files = writer.close(lambda *_: None)
    manifest = Manifest(
        base_url="",
        review_count=len(texts),
        updated_at=None,
        insights=False,
        documents=(),
        files=files,
        segments=segments,
        sections={},
    )
    (folder / layout.MANIFEST).write_bytes(msgspec.json.encode(manifest))
    return segments, files


TEXTS = [f"text number {at}" for at in range(25)]


def test_reviews_are_divided_from_the_oldest_on(tmp_path: Path) -> None:
    segments, _ = write(tmp_path / "a", TEXTS)
    assert [5, 10, 10] == [each.reviews for each in segments]
    newer, _ = write(tmp_path / "b", ["new", *TEXTS])
    assert [6, 10, 10] == [each.reviews for each in newer]
    assert [each.index for each in segments[1:]] == [each.index for each in newer[1:]]
    assert segments[0].index != newer[0].index


def test_a_segment_has_only_so_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "SEGMENT_BYTES", 60)
    segments, _ = write(tmp_path / "a", ["x" * 100, *"abcdefgh", "y" * 59])
    assert [1, 8, 1] == [each.reviews for each in segments]
    assert [False, True, False] == [each.index is not None for each in segments]


@given(st.lists(st.integers(1, 50)), st.integers(1, 100))
def test_what_fits_is_together(sizes: list[int], limit: int) -> None:
    counts = fitting(sizes, limit)
    assert sum(counts) == len(sizes)
    end = len(sizes)
    for count in reversed(counts):
        begin, end_of_this = end - count, end
        assert sum(sizes[begin:end_of_this]) <= limit or count == 1
        end = begin


@given(st.integers(0, 100))
def test_every_segment_but_the_newest_is_full(count: int) -> None:
    sizes = divided(count)
    assert sum(sizes) == count
    assert all(size == 10 for size in sizes[1:])
    assert all(1 <= size <= 10 for size in sizes)


@given(st.lists(st.integers(1, 1 << 16), max_size=5), st.data())
def test_numbers_and_positions_are_one_to_one(sizes: list[int], data: st.DataObject) -> None:
    found = Numbering(sizes)
    total = sum(sizes)
    for position in data.draw(st.lists(st.integers(0, max(0, total - 1)))) if total else ():
        number = found.number(position)
        assert position == found.position(number)
        assert found.begins[number >> 16] + (number & 0xFFFF) == position
        assert number < found.number(total)


@pytest.fixture
def sorted_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes are sorted, each time."""
    sizes: list[int] = []
    sort = suffix_array.sort

    def counted(texts: bytes) -> object:
        sizes.append(len(texts))
        return sort(texts)

    monkeypatch.setattr(suffix_array, "sort", counted)
    return sizes


def test_an_index_of_the_same_texts_is_taken_over(tmp_path: Path, sorted_sizes: list[int]) -> None:
    _, files = write(tmp_path / "a", TEXTS)
    assert len(sorted_sizes) == 3
    segments, again = write(tmp_path / "b", ["new", *TEXTS], tmp_path / "a")
    assert len(sorted_sizes) == 4
    for each in segments[1:]:
        assert each.index is not None
        assert files[each.index] == again[each.index]
        assert (tmp_path / "a" / each.index).samefile(tmp_path / "b" / each.index)


def test_what_is_taken_over_is_the_same_as_what_is_made(tmp_path: Path) -> None:
    write(tmp_path / "a", TEXTS)
    taken = write(tmp_path / "b", ["new", *TEXTS], tmp_path / "a")
    assert taken == write(tmp_path / "c", ["new", *TEXTS])


def test_a_damaged_index_is_made_again(tmp_path: Path, sorted_sizes: list[int]) -> None:
    _, files = write(tmp_path / "a", TEXTS)
    for name in files:
        if name.startswith("suffixes"):
            content = bytearray((tmp_path / "a" / name).read_bytes())
            content[-1] ^= 1
            (tmp_path / "a" / name).write_bytes(content)
    assert write(tmp_path / "b", TEXTS, tmp_path / "a")[1] == files
    assert len(sorted_sizes) == 6


def test_a_lost_index_is_made_again(tmp_path: Path) -> None:
    _, files = write(tmp_path / "a", TEXTS)
    for name in files:
        if name.startswith("suffixes"):
            (tmp_path / "a" / name).unlink()
    assert write(tmp_path / "b", TEXTS, tmp_path / "a")[1] == files


def test_two_segments_of_the_same_texts_share_an_index(
    tmp_path: Path, sorted_sizes: list[int]
) -> None:
    segments, files = write(tmp_path / "a", ["the same", None] * 10)
    assert len(segments) == 2
    assert len({each.index for each in segments}) == 1
    assert len(sorted_sizes) == 1
    assert len(files) == 3


def test_the_error_of_the_thread_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: bytes) -> object:
        raise MemoryError

    monkeypatch.setattr(suffix_array, "sort", fail)
    with pytest.raises(MemoryError):
        write(tmp_path / "a", TEXTS)
