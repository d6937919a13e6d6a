"""Formats of a language from CLDR, by Babel, at publication (pages.md 2)."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.dates import format_interval, format_skeleton
from babel.lists import format_list

from reviewsd.domain.reviews import WEEK, Business
from reviewsd.pages.environment import Bytecode
from reviewsd.pages.words import Language, Words, has_catalog, load

_ENGLISH: Final = Locale("en")

_DIGITS: Final = "latn"
"""The digits of all languages, as in the data."""


_NO_NAME: Final = "M01"
"""The name of January in a locale of CLDR that has no names."""

_SCRIPT: Final = 4
"""Letters of the name of a script in a tag (BCP 47)."""


@dataclass(frozen=True)
class LocaleFormats:
    """The formats of a language that only a publication needs.

    Args:
        tag: Language tag (BCP 47) of the operator.
        locale: The locale; None if CLDR has none for the tag.
    """

    tag: str
    locale: Locale | None

    @cached_property
    def language(self) -> Language:
        """The formats that requests need as well."""
        if self.locale is None:
            return Language(tag=self.tag)
        symbols = self.locale.number_symbols[_DIGITS]
        day_pattern, months = self._date_format()
        return Language(
            tag=self.tag,
            day_pattern=day_pattern,
            months=months,
            comma=symbols["group"],
            point=symbols["decimal"],
            direction=self.locale.text_direction,
        )

    def _date_format(self) -> tuple[str, tuple[str, ...]]:
        """Return the pattern of a long date and the names of the months; empty for dates of other fields."""
        assert self.locale is not None  # noqa: S101  its caller has one
        pattern = self.locale.date_formats["long"]
        names = self.locale.months["format"]["wide"]
        if names[1] == _NO_NAME:
            return "", ()
        try:
            template = pattern.format % {
                "d": "{day}",
                "dd": "{day:02}",
                "MMMM": "{month}",
                "M": "{month}",
                "y": "{year}",
            }
        except KeyError:
            return "", ()
        if "%(MMMM)s" in pattern.format:
            return template, tuple(names[month] for month in range(1, 13))
        return template, tuple(str(month) for month in range(1, 13))

    def month(self, year: int, month: int) -> str:
        """Format a month, as in ``November 2026``."""
        if self.locale is None:
            return f"{year:04}-{month:02}"
        return format_skeleton("yMMMM", datetime.date(year, month, 1), locale=self.locale)

    def percent(self, value: float) -> str:
        """Format a whole percentage, as in ``91%``."""
        number = self.language.number(value)
        if self.locale is None:
            return f"{number}%"
        pattern = self.locale.percent_formats[None]
        return f"{pattern.prefix[0]}{number}{pattern.suffix[0]}"

    def weekday(self, day: str) -> str:
        """Return the name of a day of the data, such as ``monday``, as it begins a line."""
        name: str = self._words.days["stand-alone"]["wide"][WEEK.index(day)]
        return name[:1].upper() + name[1:]

    def listed(self, names: Sequence[str]) -> str:
        """Join names, as in ``Google, Yelp, and Facebook``."""
        return format_list(names, locale=self._words)

    @property
    def _words(self) -> Locale:
        """The locale of words, which agree with those of the catalogs."""
        return self.locale or _ENGLISH if has_catalog(self.tag) else _ENGLISH

    def hours(self, opens: str, closes: str) -> str:
        """Format times of the data, such as ``08:00`` and ``18:00``, as in ``8 AM to 6 PM`` with a dash."""
        if self.locale is None:
            return f"{opens}\N{EN DASH}{closes}"
        begin, end = (datetime.time(int(text[:2]) % 24, int(text[3:])) for text in (opens, closes))
        if "h" not in self.locale.time_formats["short"].format:
            skeleton = "Hm"
        else:
            skeleton = "hm" if begin.minute or end.minute else "h"
        if begin == end or (skeleton != "Hm" and end < begin):  # "10 to 2 AM" would be misread
            times = (format_skeleton(skeleton, time, locale=self.locale) for time in (begin, end))
            return " \N{EN DASH} ".join(times)
        return format_interval(begin, end, skeleton, fuzzy=True, locale=self.locale)


def formats_of(tag: str) -> LocaleFormats:
    """Return the formats for a language tag (BCP 47)."""
    try:
        locale = Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return LocaleFormats(tag, None)
    scripts = [subtag.title() for subtag in tag.split("-")[1:] if len(subtag) == _SCRIPT]
    is_other = any(script.isalpha() and script != locale.script for script in scripts)
    return LocaleFormats(tag, None if is_other else locale)


def words_of_insights(business: Business, bytecode: Bytecode | None = None) -> Words:
    """Load the words of the insights of a business, in its language if there is a catalog.

    The results of the publication before may have the words of the catalog.
    """
    tag = business.language
    language = formats_of(tag if has_catalog(tag) else "en").language
    return Words(load(business, {}, bytecode or Bytecode({})), language)
