"""Frequent pieces of text, found at publication so that search need not count them.

A scan stops at every match, so a piece of text that is in most reviews ("e", "the", "great") costs
thirty times more than one that is in none. These several hundred pieces are found here, once, and become
position sets like any other filter (``snapshot.search``).

Every substring of a frequent text is frequent. So the pieces are grown: the single characters that
are frequent in a sample, then the pairs whose halves are, and so on. Which reviews have a piece is
then decided exactly, for all of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import compress
from operator import or_

SHARE = 0.15
"""A piece is frequent when it is in this share of the texts: what is rarer is scanned in time."""

MIN_REVIEWS = 10_000
"""Smaller sets are scanned in time whatever is looked for."""

MAX_PIECES = 1_000
"""Texts that repeat whole sentences have countless frequent pieces; short ones come first."""

SAMPLE = 2_000

_MAX_PIECE = 32
"""Characters: of one character repeated, each longer run would be one more piece."""

_MAX_WORDS, _MAX_WORD = 1 << 15, 32
"""Words kept in mind, and their greatest length: a text without spaces is one word."""

_SLACK = 0.8  # of SHARE in the sample: a piece must not be missed by chance


def frequent_pieces(sample: Sequence[str]) -> list[str]:
    """The pieces that are frequent in a sample of casefolded texts, shortest first."""
    least = max(2, int(SHARE * _SLACK * len(sample)))
    found: list[str] = []
    known: set[str] = set()
    for length in range(1, _MAX_PIECE + 1):
        counts = Counter(piece for text in sample for piece in _pieces(text, length, known))
        known = {piece for piece, count in counts.items() if count >= least}
        found += sorted(known, key=lambda piece: (-counts[piece], piece))
        if not known or len(found) >= MAX_PIECES:
            break
    return found[:MAX_PIECES]


def _pieces(text: str, length: int, known: set[str]) -> set[str]:
    """The distinct pieces of a length whose two shorter halves are known."""
    if length == 1:
        return set(text)
    return {
        text[start : start + length]
        for start in range(len(text) - length + 1)
        if text[start : start + length - 1] in known and text[start + 1 : start + length] in known
    }


class Marker:
    """Collects, for each piece, the bitmap of the texts that have it.

    Texts are made of the same words over and over, so it is kept in mind which pieces a word has. A
    piece with one space in it is where one word ends as the piece begins, and the next one begins
    as it ends. Only pieces with more spaces are looked for in each text.

    Args:
        pieces: With each all its substrings, shorter ones first, as ``frequent_pieces`` gives them.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self._bitmaps = {piece: bytearray() for piece in pieces}
        self._counts = dict.fromkeys(self._bitmaps, 0)
        self._width = (len(self._bitmaps) + 7) // 8
        within: dict[str, int] = {}
        before: dict[str, int] = {}
        behind: dict[str, int] = {}
        for number, piece in enumerate(self._bitmaps):
            start, space, end = piece.partition(" ")
            if not space:
                within[piece] = 1 << number
            elif " " not in end:
                before[start] = before.get(start, 0) | 1 << number
                behind[end] = behind.get(end, 0) | 1 << number
        self._words = _Words(within, before, behind)

    def add(self, texts: Sequence[str]) -> None:
        """Look through the next texts; a multiple of 8 but for the last time."""
        rows = b"".join([self._pieces_of(text) for text in texts])
        having: dict[str, bytes] = {}
        for number, (piece, bitmap) in enumerate(self._bitmaps.items()):
            if piece.count(" ") < 2:  # noqa: PLR2004  else it spans more than two words
                marks = rows[number >> 3 :: self._width].translate(_TESTS[number & 7])
            else:
                # A text with the piece has both its halves: only the rarer one's are looked at.
                halves = (having[piece[:-1]], having[piece[1:]])
                marks = _having(piece, texts, min(halves, key=sum))
            having[piece] = marks
            bitmap.extend(bitmap_of(marks))
            self._counts[piece] += marks.count(1)

    def _pieces_of(self, text: str) -> bytes:
        """The numbers of the pieces that one text has, as a bitmap."""
        found = left = 0
        for within, before, behind in map(self._words.__getitem__, text.split(" ")):
            found |= within | (left & behind)
            left = before
        return found.to_bytes(self._width, "little")

    def frequent(self, total: int) -> Iterator[tuple[str, int, bytearray]]:
        """(piece, number of texts, bitmap) of those that are frequent indeed."""
        for piece, bitmap in self._bitmaps.items():
            if self._counts[piece] >= SHARE * total:
                yield piece, self._counts[piece], bitmap


class _Words(dict[str, tuple[int, int, int]]):
    """By word, which pieces are in it, begin as it ends, and end as it begins: bits of integers.

    Args:
        within: The numbers of the pieces without a space.
        before: Of those with one, as bits, by what is before it.
        behind: The same by what is behind it.
    """

    def __init__(
        self, within: Mapping[str, int], before: Mapping[str, int], behind: Mapping[str, int]
    ) -> None:
        super().__init__()
        self._pieces = within, before, behind

    def __missing__(self, word: str) -> tuple[int, int, int]:
        within, before, behind = self._pieces
        found = _inside(within, word), _at_end(before, word), _at_start(behind, word)
        if len(self) >= _MAX_WORDS:
            self.clear()
        if len(word) <= _MAX_WORD:
            self[word] = found
        return found


def _inside(numbers: Mapping[str, int], word: str) -> int:
    found = 0
    for begin in range(len(word)):
        for end in range(begin + 1, len(word) + 1):
            number = numbers.get(word[begin:end])
            if number is None:  # then no longer piece begins here
                break
            found |= number
    return found


def _at_end(numbers: Mapping[str, int], word: str) -> int:
    return reduce(or_, [each for start, each in numbers.items() if word.endswith(start)], 0)


def _at_start(numbers: Mapping[str, int], word: str) -> int:
    return reduce(or_, [each for end, each in numbers.items() if word.startswith(end)], 0)


def _having(piece: str, texts: Sequence[str], among: bytes) -> bytes:
    """Marks the texts that have a piece, among those marked."""
    marks = bytearray(len(texts))
    for index in compress(range(len(texts)), among):
        marks[index] = piece in texts[index]
    return bytes(marks)


_TESTS = [bytes(byte >> bit & 1 for byte in range(256)) for bit in range(8)]
"""By number of a bit, what turns bytes into its value."""

_DIGITS = bytes.maketrans(b"\x00\x01", b"01")


def bitmap_of(marks: bytes) -> bytes:
    """Bytes 0 and 1 as a bitmap: mark ``p`` is bit ``p % 8`` of byte ``p // 8``."""
    if not marks:
        return b""
    # int() reads base 2 in linear time, most significant digit first
    return int(marks.translate(_DIGITS)[::-1], 2).to_bytes((len(marks) + 7) // 8, "little")
