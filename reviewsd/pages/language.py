"""Dates and numbers in the language of the business (pages.md 2).

The formats are in the snapshot. ``locales`` takes them from CLDR at publication, so requests need no locale data.
"""

import datetime

from msgspec import Struct


class Language(Struct, frozen=True, kw_only=True):
    """The formats of one language."""

    tag: str
    """Language tag (BCP 47) of the operator."""
    months: tuple[str, ...] = ()
    """Twelve names as they stand in a date; none for dates in ISO 8601."""
    day_pattern: str = ""
    """Format of a date, with ``day``, ``month`` and ``year``."""
    comma: str = ","
    """Separator of groups of three digits."""
    point: str = "."
    direction: str = "ltr"
    """``ltr`` or ``rtl``."""

    def isolated(self, text: str) -> str:
        """Isolate words that may have another direction than the page (UAX 9)."""
        if self.direction == "ltr":
            return text
        return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"

    def date(self, day: datetime.date) -> str:
        """Format a day, as in ``November 10, 2026``."""
        if not self.months:
            return day.isoformat()
        return self.day_pattern.format(day=day.day, month=self.months[day.month - 1], year=day.year)

    def number(self, value: float, digits: int = 0) -> str:
        """Format a number, as in ``1,234.5``."""
        text = f"{value:,.{digits}f}"
        return text.translate({ord(","): self.comma, ord("."): self.point})
