"""The rating and the months in bars (pages.md 3)."""

from dataclasses import dataclass

from reviewsd.domain.reviews import Distribution
from reviewsd.pages.rendering import Renderer
from reviewsd.pages.site import Site

_MONTHS = 24
HEIGHT = 64
"""Units from the lowest to the highest line of the chart."""

_LINES = 4
"""Lines of the scale above zero, at most."""

_BEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthBar:
    """A bar of the chart."""

    label: str
    count: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthChart:
    """The reviews of each month, with a scale."""

    bars: list[MonthBar]
    """Oldest first."""
    caption: str
    scale: list[str]
    """The numbers at the lines of the chart, which are evenly spaced, from the top to zero."""
    lines: list[int]
    """The distances of these lines from the top."""


def months(renderer: Renderer) -> MonthChart | None:
    """Return the chart of the last months; None if they are fewer than two."""
    counts = renderer.site.statistics.months(_MONTHS)
    if len(counts) < 2:  # noqa: PLR2004  one bar compares with nothing
        return None
    step, lines = scale(max(count for _, _, count in counts))
    top = step * lines
    bars = [
        MonthBar(
            label=renderer.formats.month(year, month),
            count=count,
            height=max(1, count * HEIGHT // top),
        )
        for year, month, count in counts
    ]
    number = renderer.language.number
    return MonthChart(
        bars=bars,
        caption=renderer.words("months_caption", first=bars[0].label, last=bars[-1].label),
        scale=[number(step * at) for at in range(lines, -1, -1)],
        lines=[HEIGHT * at // lines for at in range(lines)],
    )


def scale(most: int) -> tuple[int, int]:
    """Return the step and the number of steps of a scale from zero to the greatest value, at least 1."""
    unit = 1
    while True:
        for step in (unit, 2 * unit, 5 * unit):
            lines = -(-most // step)
            if lines <= _LINES:
                return step, max(lines, 1)
        unit *= 10


def distribution(site: Site) -> list[tuple[int, int, float]]:
    """Return (stars, reviews, per cent), the best first."""
    stars = site.rating.distribution or Distribution()
    counts = [count or 0 for count in (stars.five, stars.four, stars.three, stars.two, stars.one)]
    total = sum(counts) or 1
    return [(_BEST - at, count, round(100 * count / total, 1)) for at, count in enumerate(counts)]
