"""The pictures that the owner puts into the data directory, and what makes one unusable (pages.md 4.1).

A picture is served to everybody, so it is examined before it is published: its size, its declared dimensions,
and what an SVG contains. An unusable picture is left out, and never stops a publication.
"""

import struct
from collections.abc import Mapping
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reviewsd.api.files import Diagnostic
from reviewsd.pages import svg

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES: Final = 512 * 1024
"""Greatest size of a picture; it is loaded by every visitor."""

MAX_SIDE: Final = 4_096
MAX_PIXELS: Final = 4_000_000
"""Bounds of the declared dimensions: a few kilobytes can declare gigabytes of pixels."""

_SVG: Final = "image/svg+xml"
_MEDIA_TYPES: Final = {".svg": _SVG, ".png": "image/png", ".webp": "image/webp"}
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_14_BITS: Final = 0x3FFF


class Picture(Struct, frozen=True):
    """A picture that may be published."""

    media_type: str
    content: bytes

    @property
    def is_raster(self) -> bool:
        """Whether it consists of pixels, so that it can be drawn into another picture."""
        return self.media_type != _SVG


def examine(contents: Mapping[str, bytes]) -> tuple[dict[str, Picture], list[Diagnostic]]:
    """Return the usable pictures by the names of their files, and a finding about each other one."""
    usable, findings = {}, []
    for name, content in contents.items():
        try:
            usable[name] = examined(name, content)
        except PictureError as error:
            findings.append(left_out(name, str(error)))
    return usable, findings


def left_out(name: str, reason: str) -> Diagnostic:
    """Return the finding about a picture that is not published."""
    return Diagnostic(file=name, reason=f"{reason}; the pages are shown without it")


class PictureError(Exception):
    """A picture is unusable; the message says why."""


def examined(name: str, content: bytes) -> Picture:
    """Return the picture of a file, which is one of ``LOGO_FILES``.

    Raises:
        PictureError: The picture may not be published.
    """
    if len(content) > MAX_BYTES:
        raise PictureError(f"larger than {MAX_BYTES // 1024} kB")
    media_type = _MEDIA_TYPES[PurePath(name).suffix]
    if name.endswith(".svg"):
        if (reason := svg.refusal(content)) is not None:
            raise PictureError(reason)
        return Picture(media_type, content)
    size = _png_size(content) if name.endswith(".png") else _webp_size(content)
    if size is None:
        kind = "PNG" if name.endswith(".png") else "WebP"
        raise PictureError(f"no {kind} picture")
    width, height = size
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise PictureError(
            f"{width:,} x {height:,} pixels; at most {MAX_SIDE:,} a side and {MAX_PIXELS:,} in all"
        )
    _decode(content, media_type.rpartition("/")[2])
    return Picture(media_type, content)


def _decode(content: bytes, kind: str) -> None:
    """Decode a picture, so that a damaged one is refused before a browser fails on it.

    Raises:
        PictureError: It is damaged, moves, or has grays of 16 bits.
    """
    from PIL import Image  # noqa: PLC0415  the daemon imports this module, and draws nothing

    try:
        with Image.open(BytesIO(content), formats=[kind.upper()]) as image:
            frames, mode = getattr(image, "n_frames", 1), image.mode
            image.load()
    except Exception as error:
        raise PictureError(f"damaged: {error}") from error
    if frames > 1:
        raise PictureError("it moves; use a picture that stands still")
    if mode.startswith("I"):  # Pillow draws it white
        raise PictureError("a gray of 16 bits; save it with 8")


def raster(picture: Picture) -> "Image":
    """Return the pixels of a raster picture as RGBA, 8 bits a channel."""
    from PIL import Image  # noqa: PLC0415  as above

    with Image.open(BytesIO(picture.content)) as image:
        return image.convert("RGBA")


def _png_size(content: bytes) -> tuple[int, int] | None:
    """Return the dimensions in the header of a PNG (W3C PNG 3, 11.2.1); None if it is none."""
    if not content.startswith(_PNG) or content[12:16] != b"IHDR" or len(content) < 24:  # noqa: PLR2004
        return None
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _webp_size(content: bytes) -> tuple[int, int] | None:
    """Return the dimensions in the header of a WebP (RFC 9649 2.5 to 2.7); None if it is none."""
    if len(content) < 30 or content[:4] != b"RIFF" or content[8:12] != b"WEBP":  # noqa: PLR2004
        return None
    match content[12:16]:
        case b"VP8X":
            width, height = (int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
            return width + 1, height + 1
        case b"VP8L":
            bits = int.from_bytes(content[21:25], "little")
            return (bits & _14_BITS) + 1, (bits >> 14 & _14_BITS) + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", content, 26)
            return width & _14_BITS, height & _14_BITS
    return None
