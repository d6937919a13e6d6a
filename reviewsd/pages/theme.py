"""The one accent colour, and what is made of it: readable on light and on dark (WCAG 2.2, 1.4.3)."""

LIGHT, DARK = "#ffffff", "#14171a"
"""The grounds that words stand on: a card by day, and by night."""

LEAST_CONTRAST = 4.5
"""WCAG 2.2 1.4.3, for text of any size."""


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (WCAG 2.2, contrast ratio)."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def colours(accent: str) -> dict[str, str]:
    """The accent by day and by night, by the name that the style sheet has for them."""
    night, share = accent, 0
    while contrast(night, DARK) < 7 and share < 100:  # noqa: PLR2004  lighter, until it is easy to read
        share += 5
        night = _mixed(accent, "#ffffff", share)
    return {"accent": accent, "accent_dark": night}


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4  # noqa: PLR2004


def _mixed(one: str, other: str, share: int) -> str:
    """One colour with so many hundredths of another."""
    pairs = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{(a * (100 - share) + b * share) // 100:02x}" for a, b in pairs)
