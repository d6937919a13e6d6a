"""The picture of a shared link: logo, name, stars, rating and count, drawn by Pillow (pages.md 4.1).

The font has Latin, Greek and Cyrillic letters. A name in another script would be drawn as boxes, so the host of the
site stands in its place. The picture has no time in it: the same content has the same bytes.
"""

from functools import cache
from io import BytesIO
from math import cos, pi, sin
from pathlib import Path
from typing import Final
from unicodedata import category, normalize

from msgspec import Struct
from PIL import Image, ImageDraw, ImageFont, ImageOps

from reviewsd.pages.pictures import Picture, raster
from reviewsd.pages.text import line

FONT_FILE: Final = Path(__file__).parent / "fonts" / "manrope-bold.ttf"

WIDTH, HEIGHT = 1200, 630
"""The size that social networks ask for (Open Graph)."""

_LEFT, _RIGHT = 96, WIDTH - 72
_EDGE = 24  # pixels of the accent at the left
_LOGO = 140
_LOGO_GAP = 36
_TOP = 84  # of logo and name
_BASE = 470  # line on which the rating stands
_NAME, _LEAST_NAME, _STEP = 72, 44, 4  # pixels of the letters of the name
_LINES = 2
_STAR, _STAR_GAP = 88, 12
_SMOOTH = 4  # stars are drawn so many times larger, then reduced
_MISSING = "\U0010fffe"
"""A character that no font has."""

_GROUND, _INK, _MUTE, _OFF = "#ffffff", "#1a1d21", "#5b6269", "#d9d9d4"
"""The colors of the light theme of the style sheet."""


class ShareCard(Struct, frozen=True, kw_only=True):
    """The content of the picture."""

    name: str
    host: str
    """Host of the site."""
    average: str | None
    """The rating in the language of the site; None without reviews."""
    rating: float
    """From 0 to 5."""
    count: str
    """The number of reviews in words."""
    initials: str
    """In place of a logo."""
    accent: str
    """``#rrggbb``."""
    logo: Picture | None
    """A logo of pixels."""


def render(card: ShareCard) -> bytes:
    """Return the picture as PNG."""
    image = Image.new("RGB", (WIDTH, HEIGHT), _GROUND)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, _EDGE - 1, HEIGHT), fill=card.accent)
    _draw_logo(image, draw, card)
    name = drawable(card.name)
    _draw_name(draw, name or card.host)
    x = _LEFT
    count = drawable(card.count) or ""
    if card.average is None:
        draw.text((x, _BASE), count, fill=_MUTE, font=_font(60), anchor="ls")
    else:
        figure = _font(210)
        draw.text((x, _BASE), card.average, fill=_INK, font=figure, anchor="ls")
        x += round(figure.getlength(card.average)) + 44
        _draw_stars(image, (x, _BASE - 152), card.rating, card.accent)
        draw.text((x, _BASE), count, fill=_MUTE, font=_font(50), anchor="ls")
    if name is not None:
        host = shortened_to(card.host, _font(34), _RIGHT - _LEFT)
        draw.text((_LEFT, HEIGHT - 64), host, fill=card.accent, font=_font(34), anchor="ls")
    out = BytesIO()
    image.save(out, "PNG", compress_level=3)
    return out.getvalue()


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONT_FILE, size)


def drawable(text: str) -> str | None:
    """Return a text as the font can draw it; None if it has letters that the font does not have.

    Signs that the font does not have, such as emoji, are left out.
    """
    font = _font(32)
    missing = bytes(font.getmask(_MISSING))
    drawable_characters = []
    for character in normalize("NFC", line(text)):
        if character == " " or bytes(font.getmask(character)) != missing:
            drawable_characters.append(character)
        elif category(character)[0] in "LMN":
            return None
    return " ".join("".join(drawable_characters).split()) or None


def shortened_to(text: str, font: ImageFont.FreeTypeFont, width: float) -> str:
    """Return the beginning of a text that fits into a width, with an ellipsis if it is cut."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _draw_logo(image: Image.Image, draw: ImageDraw.ImageDraw, card: ShareCard) -> None:
    place = (_LEFT, _TOP)
    if card.logo is None:
        corner = (_LEFT + _LOGO, _TOP + _LOGO)
        draw.rounded_rectangle((place, corner), radius=28, fill=card.accent)
        middle = (_LEFT + _LOGO // 2, _TOP + _LOGO // 2)
        initials = drawable(card.initials) or "★"
        if initials == "★":
            draw_star(draw, middle, _LOGO * 0.36, _GROUND)
        else:
            draw.text(middle, initials, fill=_GROUND, font=_font(60), anchor="mm")
        return
    logo = ImageOps.contain(raster(card.logo), (_LOGO, _LOGO))
    offset = ((_LOGO - logo.width) // 2, (_LOGO - logo.height) // 2)
    image.paste(logo, (_LEFT + offset[0], _TOP + offset[1]), logo)


def _draw_name(draw: ImageDraw.ImageDraw, name: str) -> None:
    """Draw the name beside the logo, in at most two lines and in the largest letters that fit."""
    x = _LEFT + _LOGO + _LOGO_GAP
    width = _RIGHT - x
    for size in range(_NAME, _LEAST_NAME - 1, -_STEP):
        lines = _wrapped(name, _font(size), width)
        if len(lines) <= _LINES and all(_font(size).getlength(part) <= width for part in lines):
            break
    else:
        size = _LEAST_NAME
        lines = [*lines[: _LINES - 1], " ".join(lines[_LINES - 1 :])][: len(lines)]
    height = round(size * 1.15)
    top = _TOP + _LOGO // 2 - height * (len(lines) - 1) // 2
    for at, part in enumerate(lines):
        text = shortened_to(part, _font(size), width)
        draw.text((x, top + at * height), text, fill=_INK, font=_font(size), anchor="lm")


def _wrapped(text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _draw_stars(image: Image.Image, place: tuple[int, int], rating: float, accent: str) -> None:
    """Draw five stars, of which ``rating`` are in the accent."""
    width = 5 * _STAR + 4 * _STAR_GAP
    mask = Image.new("L", (width * _SMOOTH, _STAR * _SMOOTH))
    draw = ImageDraw.Draw(mask)
    for at in range(5):
        middle = (at * (_STAR + _STAR_GAP) + _STAR / 2) * _SMOOTH
        draw_star(draw, (middle, _STAR * 0.53 * _SMOOTH), _STAR / 2 * _SMOOTH, 255)
    mask = mask.reduce(_SMOOTH)
    number = int(rating)
    lit = round(number * (_STAR + _STAR_GAP) + (rating - number) * _STAR)
    colors = Image.new("RGB", mask.size, _OFF)
    colors.paste(accent, (0, 0, lit, _STAR))
    image.paste(colors, place, mask)


def draw_star(
    draw: ImageDraw.ImageDraw, middle: tuple[float, float], radius: float, fill: int | str
) -> None:
    """Draw a star."""
    points = []
    for corner in range(10):
        length = radius * (0.48 if corner % 2 else 1.0)
        angle = pi * corner / 5 - pi / 2
        points.append((middle[0] + length * cos(angle), middle[1] + length * sin(angle)))
    draw.polygon(points, fill=fill)
