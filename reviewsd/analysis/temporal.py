"""Sentiment month by month, and the trend (insights.md 5, ``temporal``)."""

import datetime
from dataclasses import dataclass
from typing import Final

from reviewsd.analysis.value import MonthInsight, TemporalInsight, Trend
from reviewsd.domain.insights import Sentiment

YEAR: Final = 12  # months compared with the twelve before
MIN_REVIEWS: Final = 10  # in each of the two years, for a trend
MIN_DIFFERENCE: Final = 0.15  # of their mean scores
MAX_MONTHS: Final = 1200  # a slip of the pen in a year must not make a table of 20,000 rows


@dataclass(slots=True)
class Sums:
    """What is summed up over reviews."""

    count: int = 0
    stars: int = 0
    score: float = 0.0
    positive: int = 0

    def add(self, other: "Sums") -> None:
        """Add another one."""
        self.count += other.count
        self.stars += other.stars
        self.score += other.score
        self.positive += other.positive


class Months:
    """The sums of each month."""

    def __init__(self) -> None:
        self._sums: dict[int, Sums] = {}

    def add(self, day: datetime.date, rating: int, score: float, sentiment: Sentiment) -> None:
        """Count one review."""
        sums = self._sums.get(key := month_of(day))
        if sums is None:
            sums = self._sums[key] = Sums()
        sums.count += 1
        sums.stars += rating
        sums.score += score
        sums.positive += sentiment == "positive"

    def year(self, back: int = 0) -> Sums:
        """The sums of the twelve months up to the last review, or of those ``back`` years before."""
        last = max(self._sums, default=0) - YEAR * back
        total = Sums()
        for month in range(last - YEAR + 1, last + 1):
            if month in self._sums:
                total.add(self._sums[month])
        return total

    def insight(self) -> TemporalInsight:
        """Every month from the first review to the last, oldest first."""
        last = max(self._sums, default=0)
        first = max(min(self._sums, default=1), last - MAX_MONTHS + 1)
        months = range(first, last + 1)
        return TemporalInsight(
            monthly=tuple(_month(each, self._sums.get(each)) for each in months),
            trend=self._trend(),
        )

    def _trend(self) -> Trend:
        now, before = self.year(), self.year(back=1)
        if min(now.count, before.count) < MIN_REVIEWS:
            return "stable"
        difference = now.score / now.count - before.score / before.count
        if abs(difference) < MIN_DIFFERENCE:
            return "stable"
        return "improving" if difference > 0 else "declining"


def month_of(day: datetime.date) -> int:
    """Months since the year 0."""
    return day.year * YEAR + day.month - 1


def _month(number: int, sums: Sums | None) -> MonthInsight:
    year, month = divmod(number, YEAR)
    name = f"{year:04}-{month + 1:02}"
    if sums is None:
        return MonthInsight(month=name)
    return MonthInsight(
        month=name,
        review_count=sums.count,
        average_rating=round(sums.stars / sums.count, 2),
        score=round(sums.score / sums.count, 2),
        positive_pct=round(100 * sums.positive / sums.count, 1),
    )
