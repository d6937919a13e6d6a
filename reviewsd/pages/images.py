"""Pictures made of stars, without a library: the card for links that are shared, and the old icon.

A star is filled by scan lines, sixteen samples a pixel. PNG as in its specification (W3C PNG 3): indexed colours,
one IDAT, no time in it, so the same site gives the same bytes.
"""

import math
import struct
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

_SAMPLES = 4  # in each direction
_FULL = _SAMPLES**2
_WIDTH, _HEIGHT = 1200, 630
"""What those who show cards ask for (Open Graph)."""
_STAR, _GAP = 168, 24
_ICON = 32

Rows = Sequence[bytes]


def card(ground: str, accent: str, off: str, stars: float) -> bytes:
    """Five stars on a ground, so many of them in the accent; PNG of 1200 x 630.

    Args:
        ground: ``#rrggbb``, as the other colours.
        accent: Of stars that there are.
        off: Of stars that there are not.
        stars: From 0 to 5.
    """
    blank = bytes(_WIDTH)
    rows = [blank] * _HEIGHT
    left = (_WIDTH - 5 * _STAR - 4 * _GAP) // 2
    top = (_HEIGHT - _STAR) // 2
    for at, mask in enumerate(_star(_STAR)):
        row = bytearray(_WIDTH)
        for number in range(5):
            begin = left + number * (_STAR + _GAP)
            lit = min(max(round((stars - number) * _STAR), 0), _STAR)
            row[begin : begin + lit] = mask[:lit]
            row[begin + lit : begin + _STAR] = mask[lit:].translate(_TO_OFF)
        rows[top + at] = bytes(row)
    return _png(rows, [*_blend(ground, accent), *_blend(ground, off)])


def icon(accent: str, star: str) -> bytes:
    """A star on a square of the accent; ICO of 32 x 32."""
    size = _ICON * 3 // 4
    margin = (_ICON - size) // 2
    blank = bytes(_ICON)
    side = bytes(margin)
    rows = [blank] * margin + [side + mask + side for mask in _star(size)] + [blank] * margin
    picture = _png(rows, _blend(accent, star))
    head = struct.pack("<HHH", 0, 1, 1)
    entry = struct.pack("<BBBBHHII", _ICON, _ICON, 0, 0, 1, 8, len(picture), len(head) + 16)
    return head + entry + picture


_TO_OFF = bytes(each + _FULL + 1 if each <= _FULL else each for each in range(256))
"""From samples of the first colour to those of the second; both have an index for none."""


@cache
def _star(size: int) -> Rows:
    """A star with five points in a square: how many samples of each pixel it covers."""
    corners = [
        (0.5 + radius * math.sin(turn), 0.53 - radius * math.cos(turn))
        for point in range(10)
        for turn, radius in [(point * math.pi / 5, 0.5 if point % 2 == 0 else 0.24)]
    ]
    edges = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    fine = size * _SAMPLES
    rows = []
    for row in range(size):
        steps = [0] * (size + 2)  # how much more is covered than of the pixel before
        for line in range(_SAMPLES):
            height = (row * _SAMPLES + line + 0.5) / fine
            crossings = sorted(
                x1 + (height - y1) * (x2 - x1) / (y2 - y1)
                for (x1, y1), (x2, y2) in edges
                if (y1 <= height) != (y2 <= height)
            )
            for at, crossing in enumerate(crossings):
                pixel, part = divmod(min(max(round(crossing * fine), 0), fine), _SAMPLES)
                sign = 1 if at % 2 == 0 else -1
                steps[pixel] += sign * (_SAMPLES - part)
                steps[pixel + 1] += sign * part
        rows.append(bytes(accumulate(steps[:size])))
    return rows


def _blend(ground: str, colour: str) -> list[bytes]:
    """The colours from none to all samples of a pixel."""
    one, other = bytes.fromhex(ground[1:]), bytes.fromhex(colour[1:])
    return [
        bytes((a * (_FULL - share) + b * share) // _FULL for a, b in zip(one, other, strict=True))
        for share in range(_FULL + 1)
    ]


def _png(rows: Rows, colours: Sequence[bytes]) -> bytes:
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    lines = b"".join(b"\0" + row for row in rows)
    chunks = (
        (b"IHDR", head),
        (b"PLTE", b"".join(colours)),
        (b"IDAT", zlib.compress(lines, 6)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
