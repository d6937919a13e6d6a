"""What the analyser found in each review, kept beside a snapshot for the next publication.

So a reload analyses only what has changed (insights.md 1). Three columns of 64-bit numbers stand before
the labels: the upper and lower halves of the keys, in their order, and where the labels of each stand.
They are looked up in the mapped file, so a million take no memory. A file that is not whole, as after a
power cut, is as good as none: what is not found in it is analysed again.
"""

import array
import mmap
from bisect import bisect_left
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from reviewsd.analysis.labels import Labels

_HALF: Final = 64  # bits
_LOWER: Final = (1 << _HALF) - 1
_SIZE: Final = 24  # bits of a place that say how many bytes there are
_REMEMBERED: Final = 50_000  # labels that are found again while the file is written
_NUMBER: Final = 8  # bytes

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Labels).decode


class LabelsReader:
    """The labels of an earlier publication, by key.

    Args:
        path: Of the file; where it is not there or not whole, nothing is found.
    """

    def __init__(self, path: Path) -> None:
        self._content = memoryview(_mapped(path))
        size = len(self._content)
        end = size - size % _NUMBER
        count = int.from_bytes(self._content[end - _NUMBER : end], "little") if end else 0
        begin = end - _NUMBER * (3 * count + 1)
        if end != size or begin < 0:
            begin = count = 0
        numbers = self._content[begin : begin + _NUMBER * 3 * count].cast("Q")
        self._upper, self._lower = numbers[:count], numbers[count : 2 * count]
        self._places = numbers[2 * count :]

    def get(self, key: str, /) -> Labels | None:
        """Those of a key; None where there are none."""
        number = int(key, 16)
        upper, lower = number >> _HALF, number & _LOWER
        at = bisect_left(self._upper, upper)
        while at < len(self._upper) and self._upper[at] == upper:
            if self._lower[at] == lower:
                return self._labels(self._places[at])
            at += 1
        return None

    def _labels(self, place: int) -> Labels | None:
        begin, size = place >> _SIZE, place & ((1 << _SIZE) - 1)
        try:
            return _decode(self._content[begin : begin + size])
        except msgspec.MsgspecError:
            return None


class LabelsWriter:
    """Writes them, as they are found.

    Args:
        file: Open, and empty.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = 0
        self._upper, self._lower, self._places = (
            array.array("Q"),
            array.array("Q"),
            array.array("Q"),
        )
        self._remembered: dict[str, Labels] = {}

    def get(self, key: str, /) -> Labels | None:
        """Those of a key, if they are among the first that were written."""
        return self._remembered.get(key)

    def __setitem__(self, key: str, labels: Labels, /) -> None:
        """Write those of a key."""
        if len(self._remembered) < _REMEMBERED:
            self._remembered[key] = labels
        number, content = int(key, 16), _encode(labels)
        self._upper.append(number >> _HALF)
        self._lower.append(number & _LOWER)
        self._places.append(self._size << _SIZE | len(content))
        self._file.write(content)
        self._size += len(content)

    def finish(self) -> None:
        """Write the columns."""
        order = sorted(range(len(self._upper)), key=self._upper.__getitem__)
        self._file.write(bytes(-self._size % _NUMBER))
        for column in (self._upper, self._lower, self._places):
            self._file.write(array.array("Q", [column[each] for each in order]).tobytes())
        self._file.write(len(order).to_bytes(_NUMBER, "little"))


def _mapped(path: Path) -> bytes | mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # it is not there, or empty
        return b""
