"""Frequent pieces: as a naive count finds them (performance.md 3)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.snapshot import frequent
from reviewsd.snapshot.frequent import Marker, bitmap_of, frequent_pieces

TEXTS = st.lists(st.text("abß\u0307😀 ", max_size=7), max_size=40)
SHARES = st.sampled_from([0.05, 0.2, 0.6])


def every_piece(text: str) -> set[str]:
    ends = range(len(text) + 1)
    return {text[begin:end] for end in ends for begin in range(end)}


def unpacked(bitmap: bytes | bytearray, count: int) -> list[int]:
    return [at for at in range(count) if bitmap[at // 8] >> at % 8 & 1]


@given(TEXTS, SHARES)
def test_the_pieces_in_enough_texts_of_the_sample_are_found(texts: list[str], share: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequent, "SHARE", share)
        found = frequent_pieces(texts)
    counts = Counter(piece for text in texts for piece in every_piece(text))
    least = max(2, int(0.8 * share * len(texts)))
    expected = [piece for piece, count in counts.items() if count >= least]
    expected.sort(key=lambda piece: (len(piece), -counts[piece], piece))
    assert expected == found


def test_a_piece_a_little_too_rare_in_the_sample_may_be_frequent_after_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of what is in 20 per cent of all, chance leaves less to some samples."""
    monkeypatch.setattr(frequent, "SHARE", 0.2)
    sample = ["x"] * 16 + [""] * 84
    assert frequent_pieces(sample) == ["x"]
    assert frequent_pieces(["", *sample[1:]]) == []


@pytest.mark.parametrize("sample", [[], [""], ["great"], ["abc", "def"], [""] * 50])
def test_what_is_in_one_text_is_not_frequent(sample: list[str]) -> None:
    assert frequent_pieces(sample) == []


def test_of_too_many_pieces_the_short_ones_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequent, "MAX_PIECES", 640)
    sentence = "".join(map(chr, range(0x4E00, 0x4E00 + 50)))
    found = frequent_pieces([sentence] * 5)
    lengths = [len(piece) for piece in found]
    assert sorted(lengths) == lengths
    assert max(lengths) == 15  # 50 + 49 + ... + 36 are 645
    assert len(set(found)) == len(found) == 640


WORDS = {"_MAX_WORDS": st.sampled_from([1, 2, 1 << 16]), "_MAX_WORD": st.sampled_from([0, 2, 32])}


@given(TEXTS, TEXTS, SHARES, st.sampled_from([8, 16, 40]), st.fixed_dictionaries(WORDS))
def test_each_piece_marks_the_texts_that_have_it(
    sample: list[str], texts: list[str], share: float, block: int, words: dict[str, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in words.items():
            patch.setattr(frequent, name, value)
        patch.setattr(frequent, "SHARE", share)
        pieces = frequent_pieces(sample)
        marker = Marker(pieces)
        for begin in range(0, len(texts), block):
            marker.add(texts[begin : begin + block])
        marked = {
            piece: (count, unpacked(bitmap, len(texts)))
            for piece, count, bitmap in marker.frequent(len(texts))
        }
    having = {piece: [at for at, text in enumerate(texts) if piece in text] for piece in pieces}
    expected = {
        piece: (len(places), places)
        for piece, places in having.items()
        if len(places) >= share * len(texts)
    }
    assert expected == marked


def test_few_words_are_kept_in_mind_and_no_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept must not grow with the data."""
    monkeypatch.setattr(frequent, "_MAX_WORDS", 3)
    marker = Marker(["a", "b", " "])
    marker.add(["a b ab ba aa bb"] * 8)
    assert len(marker._words) == 3
    marker.add(["a" * 33])
    assert "a" * 33 not in marker._words


@pytest.mark.parametrize(("having", "expected"), [(1, []), (2, ["x"])])
def test_a_piece_is_frequent_from_its_share_on(
    monkeypatch: pytest.MonkeyPatch, having: int, expected: list[str]
) -> None:
    monkeypatch.setattr(frequent, "SHARE", 0.2)
    marker = Marker(["x"])
    marker.add(["x"] * having + [""] * (10 - having))
    assert expected == [piece for piece, _, _ in marker.frequent(10)]


TALK = [
    "the boiler is the best",
    "the  boiler  is",
    "boiler is the",
    " is the best  ",
    "isthebest",
    "",
    " ",
    "   ",
]


@pytest.mark.parametrize("texts", [TALK, TALK[::-1], TALK * 3])
def test_pieces_across_words_are_told_from_those_within(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frequent, "SHARE", 0.0)
    pieces = sorted(set().union(*map(every_piece, TALK)), key=len)
    marker = Marker(pieces)
    marker.add(texts)
    for piece, _, bitmap in marker.frequent(len(texts)):
        having = [at for at, text in enumerate(texts) if piece in text]
        assert having == unpacked(bitmap, len(texts)), piece


@given(st.lists(st.integers(0, 1), max_size=5_000).map(bytes))
def test_a_bitmap_has_the_first_mark_in_the_lowest_bit(marks: bytes) -> None:
    bitmap = bitmap_of(marks)
    assert (len(marks) + 7) // 8 == len(bitmap)
    assert [at for at, mark in enumerate(marks) if mark] == unpacked(bitmap, len(marks))
    assert sum(marks) == int.from_bytes(bitmap, "little").bit_count()


def test_a_bitmap_may_be_large() -> None:
    """``int()`` refuses more than 4,300 digits, but of bases like 2."""
    assert bitmap_of(b"\0\1" * 50_000) == b"\xaa" * 12_500
