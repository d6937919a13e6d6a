"""The picture of a shared link: five stars, as many of them in the accent as the rating has.

PNG as in its specification (W3C PNG 3) with indexed colors, one IDAT and no time, so the same site has
the same bytes.
"""

import struct
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_WIDTH, _HEIGHT = 1200, 630
"""The size that social networks ask for (Open Graph)."""
_GAP = 24  # pixels between two stars
_STAR_FILE = Path(__file__).parent / "star.pgm"
"""The coverage of each pixel by a star, as a Netpbm graymap."""
_FULL = 16
"""The level of a covered pixel."""

_OFF_LEVELS = bytes(level + _FULL + 1 if level <= _FULL else level for level in range(256))
"""Maps levels of the first color to the palette entries of the second."""


def render(ground: str, accent: str, off: str, stars: float) -> bytes:
    """Return the picture as PNG of 1200 x 630.

    Args:
        ground: Color of the ground, ``#rrggbb`` as the others.
        accent: Color of the stars of the rating.
        off: Color of the other stars.
        stars: The rating, from 0 to 5.
    """
    star = _star()
    size = len(star)
    margin = (_WIDTH - 5 * size - 4 * _GAP) // 2
    top = (_HEIGHT - size) // 2
    rows = [bytes(_WIDTH)] * _HEIGHT
    for at, levels in enumerate(star):
        row = bytearray(_WIDTH)
        for number in range(5):
            start = margin + number * (size + _GAP)
            lit = min(max(round((stars - number) * size), 0), size)
            row[start : start + size] = levels[:lit] + levels[lit:].translate(_OFF_LEVELS)
        rows[top + at] = bytes(row)
    return _png(rows, [*_blend(ground, accent), *_blend(ground, off)])


@cache
def _star() -> Sequence[bytes]:
    """Load the rows of the star."""
    _, size, _, levels = _STAR_FILE.read_bytes().split(b"\n", 3)
    width = int(size.split()[0])
    return [levels[at : at + width] for at in range(0, len(levels), width)]


def _blend(ground: str, color: str) -> list[bytes]:
    """Return the colors from an uncovered to a covered pixel."""
    pairs = list(zip(bytes.fromhex(ground[1:]), bytes.fromhex(color[1:]), strict=True))
    return [
        bytes((a * (_FULL - level) + b * level) // _FULL for a, b in pairs)
        for level in range(_FULL + 1)
    ]


def _png(rows: Sequence[bytes], palette: Sequence[bytes]) -> bytes:
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    chunks = (
        (b"IHDR", head),
        (b"PLTE", b"".join(palette)),
        (b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 6)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
