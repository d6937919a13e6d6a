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
        path: Of the file; where there is none, or it is not whole, nothing is found.
    """

    def __init__(self, path: Path | None) -> None:
        self._content = memoryview(b"" if path is None else _mapped(path))
        size = len(self._content)
        end = size - size % _NUMBER
        count = int.from_bytes(self._content[end - _NUMBER : end], "little") if end else 0
        begin = end - _NUMBER * (3 * count + 1)
        if end != size or begin < 0:
            begin = count = 0
        numbers = self._content[begin : begin + _NUMBER * 3 * count].cast("Q")
        self._upper, self._lower = numbers[:count], numbers[count : 2 * count]
        self._places = numbers[2 * count :]

    def find(self, upper: int, lower: int) -> memoryview | None:
        """Those of a key in halves, encoded; None where there are none."""
        column = self._upper
        at = bisect_left(column, upper)
        while at < len(column) and column[at] == upper:
            if self._lower[at] == lower:
                place = self._places[at]
                begin = place >> _SIZE
                return self._content[begin : begin + (place & ((1 << _SIZE) - 1))]
            at += 1
        return None


class LabelsWriter:
    """Writes them, as they are found. Those of the last publication that are asked for are kept.

    Args:
        file: Open, and empty.
        earlier: Of the last publication.
    """

    def __init__(self, file: BinaryIO, earlier: LabelsReader) -> None:
        self._file = file
        self._earlier = earlier
        self._size = 0
        self._upper, self._lower, self._places = (
            array.array("Q"),
            array.array("Q"),
            array.array("Q"),
        )
        self._remembered: dict[str, Labels] = {}

    def get(self, key: str, /) -> Labels | None:
        """Those of a key, if they are among the first that were written, or are earlier ones."""
        labels = self._remembered.get(key)
        if labels is not None:
            return labels
        number = int(key, 16)
        upper, lower = number >> _HALF, number & _LOWER
        content = self._earlier.find(upper, lower)
        if content is None:
            return None
        try:
            labels = _decode(content)
        except msgspec.MsgspecError:
            return None
        self._write(upper, lower, content)
        if len(self._remembered) < _REMEMBERED:
            self._remembered[key] = labels
        return labels

    def __setitem__(self, key: str, labels: Labels, /) -> None:
        """Write those of a key."""
        number = int(key, 16)
        self._write(number >> _HALF, number & _LOWER, _encode(labels))
        if len(self._remembered) < _REMEMBERED:
            self._remembered[key] = labels

    def _write(self, upper: int, lower: int, content: bytes | memoryview) -> None:
        self._upper.append(upper)
        self._lower.append(lower)
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
