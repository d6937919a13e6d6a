"""``/favicon.ico`` and ``/apple-touch-icon.png``: the owner's raster logo, else a star in the accent color (pages.md 4.1).

Pillow scales a logo of pixels. An SVG is served as it is, and drawn by the browser.
"""

from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageOps

from reviewsd.pages.pictures import Picture, raster
from reviewsd.pages.share_card import draw_star

SHIPPED: Final = Path(__file__).parent / "favicon.ico"
"""The icon for browsers that take no SVG; 32 x 32, in the default accent."""

TEMPLATE: Final = "favicon.svg"
"""The star, which the operator may replace."""

SMALL, TOUCH = 32, 180
"""Pixels of ``/favicon.ico``, and of the icon on the first screen of a telephone."""

_MARGIN = 16  # around a logo with transparent parts
_GROUND = "#ffffff"  # telephones show transparent parts in black
_SMOOTH = 4  # the star is drawn so many times larger, then reduced


def icons(logo: Picture | None, accent: str) -> tuple[bytes, bytes]:
    """Return ``/favicon.ico`` and ``/apple-touch-icon.png`` of a raster logo, else with a star in the accent."""
    if logo is None:
        return SHIPPED.read_bytes(), _encoded(_star(accent), "PNG")
    pixels = raster(logo)
    small = ImageOps.pad(pixels, (SMALL, SMALL), color=(0, 0, 0, 0))
    is_opaque = pixels.getchannel("A").getextrema() == (255, 255)
    inner = TOUCH if is_opaque else TOUCH - 2 * _MARGIN
    resized = ImageOps.contain(pixels, (inner, inner))
    touch = Image.new("RGB", (TOUCH, TOUCH), _GROUND)
    corner = ((TOUCH - resized.width) // 2, (TOUCH - resized.height) // 2)
    touch.paste(resized, corner, resized)
    return _encoded(small, "ICO"), _encoded(touch, "PNG")


def _star(accent: str) -> Image.Image:
    side = TOUCH * _SMOOTH
    image = Image.new("RGB", (side, side), accent)
    draw_star(ImageDraw.Draw(image), (side / 2, side * 0.52), side * 0.34, _GROUND)
    return image.reduce(_SMOOTH)


def _encoded(image: Image.Image, kind: str) -> bytes:
    out = BytesIO()
    image.save(out, kind, sizes=[image.size])  # PNG ignores the sizes of ICO
    return out.getvalue()
