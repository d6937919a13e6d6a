"""The accent color and its shades, readable on light and on dark grounds (WCAG 2.2, 1.4.3)."""

LIGHT, DARK = "#ffffff", "#171b1e"
"""The ground of a card in the light and in the dark theme."""

LEAST_CONTRAST = 4.5
"""WCAG 2.2 1.4.3, for text of any size."""

GRAPHIC_CONTRAST = 3.0
"""WCAG 2.2 1.4.11, for graphics."""

_TINT = 92
"""Hundredths of the ground in its tint, the background of replies."""

_STEP = 4  # hundredths


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colors, from 1 to 21 (WCAG 2.2, contrast ratio)."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def readable(accent: str, ground: str, least: float = LEAST_CONTRAST) -> str:
    """Return the accent, or the nearest color in which words can be read.

    Args:
        accent: ``#rrggbb``.
        ground: The color behind it, with or without a tint of the accent.
        least: The contrast to reach.
    """
    away = "#000000" if _luminance(ground) > _MIDDLE else "#ffffff"
    chosen, share = accent, 0
    while contrast(chosen, tint(chosen, ground)) < least and share < 100:  # noqa: PLR2004
        share += _STEP
        chosen = _mixed(accent, away, share)
    return chosen


def tint(accent: str, ground: str) -> str:
    """Return a ground with a touch of the accent."""
    return _mixed(accent, ground, _TINT)


def colours(accent: str) -> dict[str, str]:
    """Return the accent and its tint for both themes, by their names in the style sheet."""
    day, night = readable(accent, LIGHT), readable(accent, DARK)
    return {
        "accent": day,
        "accent_soft": tint(day, LIGHT),
        "accent_dark": night,
        "accent_soft_dark": tint(night, DARK),
    }


def shades(accent: str, ground: str) -> dict[str, str]:
    """Return the accent for words, its tint, and the color of stars on one ground.

    The rating stands in figures beside the stars, so on a light ground they need the contrast of graphics only,
    and a golden accent stays golden.
    """
    words = readable(accent, ground)
    is_light = _luminance(ground) > _MIDDLE
    return {
        "accent": words,
        "soft": tint(words, ground),
        "star": readable(accent, ground, GRAPHIC_CONTRAST) if is_light else words,
    }


_MIDDLE = 0.18
"""The luminance of a gray with the same contrast to black and to white."""


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4  # noqa: PLR2004


def _mixed(color: str, admixture: str, share: int) -> str:
    """Mix ``share`` hundredths of another color into a color."""
    pairs = ((int(color[at : at + 2], 16), int(admixture[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{(a * (100 - share) + b * share) // 100:02x}" for a, b in pairs)
