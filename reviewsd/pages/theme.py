"""The one accent colour, and what is made of it: readable on light and on dark (WCAG 2.2, 1.4.3)."""

LIGHT, DARK = "#ffffff", "#171b1e"
"""What words in the accent stand on: a card by day, and by night."""

LEAST_CONTRAST = 4.5
"""WCAG 2.2 1.4.3, for text of any size."""

_TINT = 92
"""Hundredths of the ground in the tint of the accent that replies stand on."""

_STEP = 4  # hundredths


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (WCAG 2.2, contrast ratio)."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def readable(accent: str, ground: str) -> str:
    """The accent, or where words in it would be hard to read, one as near to it as can be read.

    Args:
        accent: ``#rrggbb``.
        ground: What it stands on, itself or with a tint of the accent.
    """
    away = "#000000" if _luminance(ground) > _MIDDLE else "#ffffff"
    chosen, share = accent, 0
    while contrast(chosen, tint(chosen, ground)) < LEAST_CONTRAST and share < 100:  # noqa: PLR2004
        share += _STEP
        chosen = _mixed(accent, away, share)
    return chosen


def tint(accent: str, ground: str) -> str:
    """A ground with a touch of the accent."""
    return _mixed(accent, ground, _TINT)


def colours(accent: str) -> dict[str, str]:
    """The accent and its tint by day and by night, by the names that the style sheet has for them."""
    day, night = readable(accent, LIGHT), readable(accent, DARK)
    return {
        "accent": day,
        "accent_soft": tint(day, LIGHT),
        "accent_dark": night,
        "accent_soft_dark": tint(night, DARK),
    }


_MIDDLE = 0.18
"""The luminance of a grey that black and white stand out from alike."""


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4  # noqa: PLR2004


def _mixed(one: str, other: str, share: int) -> str:
    """One colour with so many hundredths of another."""
    pairs = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{(a * (100 - share) + b * share) // 100:02x}" for a, b in pairs)
