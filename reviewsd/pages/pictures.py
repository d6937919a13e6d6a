"""The pictures that the owner puts into the data directory, and what makes one unusable (pages.md 4.1).

A picture is served to everybody, so it is examined before it is published: its size, its declared dimensions,
and what an SVG contains. An unusable picture is left out, and never stops a publication.
"""

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
    _decode(content, media_type.rpartition("/")[2].upper())
    return Picture(media_type, content)


def _decode(content: bytes, kind: str) -> None:
    """Decode a picture, so that a damaged one is refused before a browser fails on it.

    Raises:
        PictureError: It is none of its kind, too large, damaged, moves, or has grays of 16 bits.
    """
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415  the daemon imports this module, and draws nothing

    try:
        with Image.open(
            BytesIO(content), formats=[kind]
        ) as image:  # of a WebP the canvas too, up to Pillow's limit
            _check_dimensions(*image.size)
            image.load()
    except PictureError:
        raise
    except UnidentifiedImageError as error:
        raise PictureError(f"no {kind} picture") from error
    except Exception as error:
        raise PictureError(f"damaged: {error}") from error
    if getattr(image, "n_frames", 1) > 1:
        raise PictureError("it moves; use a picture that stands still")
    if image.mode.startswith("I"):  # Pillow draws it white
        raise PictureError("a gray of 16 bits; save it with 8")


def _check_dimensions(width: int, height: int) -> None:
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise PictureError(
            f"{width:,} x {height:,} pixels; at most {MAX_SIDE:,} a side and {MAX_PIXELS:,} in all"
        )


def raster(picture: Picture) -> "Image":
    """Return the pixels of a raster picture as RGBA, 8 bits a channel."""
    from PIL import Image  # noqa: PLC0415  as above

    with Image.open(BytesIO(picture.content)) as image:
        return image.convert("RGBA")
