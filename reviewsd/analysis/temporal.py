"""Sentiment month by month, and the trend (insights.md 5, ``temporal``)."""

import datetime
from collections.abc import Mapping
from typing import Final

from reviewsd.analysis.counts import Sums
from reviewsd.analysis.value import MonthInsight, TemporalInsight, Trend

YEAR: Final = 12  # months
MIN_REVIEWS: Final = 10  # in each of the two years, for a trend
MIN_DIFFERENCE: Final = 0.15  # of the mean scores of two years, for a trend
MAX_MONTHS: Final = 1200  # a wrong year must not cause a table of 20,000 rows


class Months:
    """The sums of each month."""

    def __init__(self) -> None:
        self._sums: dict[int, Sums] = {}

    def add(self, months: Mapping[int, Sums]) -> None:
        """Add the sums of a block."""
        for month, sums in months.items():
            self._sums.setdefault(month, Sums()).add(sums)

    @property
    def last(self) -> int:
        """The last month with a review; 0 without reviews."""
        return max(self._sums, default=0)

    @property
    def has_two_years(self) -> bool:
        """Whether the first review is at least as old as the two years up to the last one."""
        return min(self._sums, default=self.last) <= self.last - 2 * YEAR + 1

    def year(self, back: int = 0) -> Sums:
        """Return the sums of the twelve months up to the last review, or ``back`` years earlier."""
        last = self.last - YEAR * back
        total = Sums()
        for month in range(last - YEAR + 1, last + 1):
            if month in self._sums:
                total.add(self._sums[month])
        return total

    def insight(self) -> TemporalInsight:
        """Return every month from the first review to the last, oldest first."""
        last = self.last
        first = max(min(self._sums, default=1), last - MAX_MONTHS + 1)
        months = range(first, last + 1)
        return TemporalInsight(
            monthly=tuple(_month(month, self._sums.get(month)) for month in months),
            trend=self._trend(),
        )

    def _trend(self) -> Trend:
        now, before = self.year(), self.year(back=1)
        if min(now.count, before.count) < MIN_REVIEWS:
            return "stable"
        difference = now.score - before.score
        if abs(difference) < MIN_DIFFERENCE:
            return "stable"
        return "improving" if difference > 0 else "declining"


def month_of(day: datetime.date) -> int:
    """Return the number of months since the year 0."""
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
        score=round(sums.score, 2),
        positive_pct=round(100 * sums.positive / sums.count, 1),
    )
