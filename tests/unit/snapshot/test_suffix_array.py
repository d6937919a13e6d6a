"""The index of a segment finds any piece of text, exactly (``snapshot.suffix_array``, ``snapshot.text_index``).

The alternative is a scan with Python's own ``in``, over the casefolded texts.
"""

import random
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.snapshot import suffix_array
from reviewsd.snapshot.suffix_array import SortError
from reviewsd.snapshot.text_index import Segment
from tests.support.examples import examples
from tests.support.steps import finish

SHIFT = 3 << 16

# Characters that casefold to several, look alike, combine, or take two to four bytes
NASTY = "aAsSſßẞiIİı\u0307eé\u0301ﬁfσςΣ😀👍日本語 \n\0"  # noqa: RUF001  on purpose
TEXTS = st.lists(
    st.text("ab", max_size=30) | st.text(NASTY, max_size=12) | st.sampled_from(["", "so so so"]),
    min_size=1,
    max_size=40,
)
STRIDES = st.sampled_from([(1, 1_000), (2, 1_000), (4, 1_000), (8, 1_000), (256, 32)])


def segment(folder: Path, texts: Sequence[str], first: int = 0) -> Segment:
    """Return a segment with an index of texts."""
    encoded = [text.casefold().encode() + b"\xff" for text in texts]
    sizes = array("Q", map(len, encoded))
    suffix_array.write(folder, "index", b"".join(encoded), sizes)
    before = b"before\xff" * first
    return Segment(
        first=first,
        shift=SHIFT - first,
        texts=before + b"".join(encoded) + b"behind\xff",
        offsets=[*range(0, len(before), 7), *accumulate(sizes, initial=len(before))],
        size=len(texts),
        index=memoryview((folder / "index").read_bytes()),
    )


def matching_places(segment: Segment, needle: str) -> list[int]:
    """Return the places of the texts with a needle."""
    numbers = range(SHIFT, SHIFT + segment.end - segment.first)
    steps = segment.matching(needle.casefold().encode(), numbers, len(numbers))
    return [number - SHIFT for number in finish(steps)]


def pieces(texts: Sequence[str]) -> Iterator[str]:
    """Return all substrings of all texts, in several cases, and strings that no text has."""
    for text in texts:
        for begin in range(len(text)):
            for end in range(begin + 1, len(text) + 1):
                yield text[begin:end]
    yield from ("zz", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "\U0010ffff", "\x01", "STRASSE")


def scanned(texts: Sequence[str], needle: str) -> list[int]:
    return [at for at, text in enumerate(texts) if needle.casefold() in text.casefold()]


def thresholds(patch: pytest.MonkeyPatch, stride: tuple[int, int], **constants: int) -> None:
    patch.setattr("reviewsd.snapshot.text_index.FEW", 0)
    patch.setattr(suffix_array, "STRIDE", stride)
    patch.setattr(suffix_array, "BLOCK", min(stride[0], 32))
    for name, value in constants.items():
        patch.setattr(suffix_array, name, value)


@given(TEXTS, STRIDES, st.sampled_from([0, 1 << 21]), st.integers(0, 3))
@example(["so good"] * 40, (2, 1_000), 0, 0)
@example(["a" * 30, "a" * 29 + "b", "", "aab"] * 10, (4, 1_000), 1 << 21, 1)
@examples(30)
def test_every_substring_finds_exactly_its_texts(
    texts: list[str], stride: tuple[int, int], large: int, first: int
) -> None:
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        thresholds(patch, stride, LARGE=large)
        index = segment(Path(place), texts, first)
        for needle in set(pieces(texts)):
            assert scanned(texts, needle) == matching_places(index, needle)


WORDS = ["great", "service", "the", "theatre", "of", "heat", "eat", "a", "pump", "jump", "strasse"]


@pytest.mark.parametrize("large", [0, 1 << 21], ids=["with numpy", "without"])
def test_frequent_texts_are_found_by_bitmaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    """Nested bitmaps: each has all reviews of the inner ones."""
    thresholds(monkeypatch, (16, 1_000), LARGE=large)
    chance = random.Random(7)
    texts = [" ".join(chance.choices(WORDS, k=chance.randrange(20))) for _ in range(600)]
    index = segment(tmp_path, texts)
    for needle in {
        text[at : at + 7][:size] for text in texts for at in range(20) for size in range(1, 8)
    }:
        if needle:
            assert scanned(texts, needle) == matching_places(index, needle)


def test_common_prefix_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of one letter would otherwise be compared with itself ten thousand times."""
    monkeypatch.setattr(suffix_array, "MAX_PREFIX", 64)
    texts = b"a" * 1_000 + b"\xff"
    assert suffix_array._common_prefix(texts, 0, 1) == 64
    assert suffix_array._common_prefix(texts, 990, 980) == 10
    assert suffix_array._common_prefix(b"abcx\xffabcy\xff", 0, 5) == 3
    assert suffix_array._common_prefix(b"abc\xffabc\xff", 0, 4) == 3


def test_texts_that_cannot_be_sorted_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for status, error in ((-2, MemoryError), (-1, SortError)):
        monkeypatch.setattr(suffix_array, "_divsufsort", lambda status=status: lambda *_: status)
        with pytest.raises(error):
            suffix_array.sort(b"abc")


def test_missing_sorter_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is an undocumented file of ``pydivsufsort``."""
    assert suffix_array._divsufsort.__wrapped__() is not None
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SortError, match="pydivsufsort"):
        suffix_array._divsufsort.__wrapped__()
