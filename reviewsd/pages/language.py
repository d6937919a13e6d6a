"""Dates and numbers in the language of the business (pages.md 2).

The names of months are those of CLDR in seven languages; in all others, dates are in ISO 8601.
"""

import datetime
from dataclasses import dataclass

_RIGHT_TO_LEFT = frozenset(
    {"ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "ug", "ur", "yi"}
)

_RIGHT_TO_LEFT_SCRIPTS = frozenset({"adlm", "arab", "hebr", "nkoo", "syrc", "thaa"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The formats of one language."""

    tag: str
    """Language tag (BCP 47) of the operator."""
    months: tuple[str, ...] = ()
    """Twelve names, or none."""
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
        """Format a day, as in ``10 November 2026``."""
        if not self.months:
            return day.isoformat()
        return self.day_pattern.format(day=day.day, month=self.months[day.month - 1], year=day.year)

    def month(self, year: int, month: int) -> str:
        """Format a month, as in ``November 2026``."""
        if not self.months:
            return f"{year:04}-{month:02}"
        return f"{self.months[month - 1]} {year}"

    def number(self, value: float, digits: int = 0) -> str:
        """Format a number, as in ``1,234.5``."""
        text = f"{value:,.{digits}f}"
        return text.translate({ord(","): self.comma, ord("."): self.point})


def _language(tag: str, day_pattern: str, months: str, comma: str, point: str) -> Language:
    return Language(
        tag=tag, months=tuple(months.split()), day_pattern=day_pattern, comma=comma, point=point
    )


_KNOWN = {
    language.tag: language
    for language in (
        _language(
            "en",
            "{day} {month} {year}",
            "January February March April May June July August September October November December",
            ",",
            ".",
        ),
        _language(
            "de",
            "{day}. {month} {year}",
            "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
            ".",
            ",",
        ),
        _language(
            "fr",
            "{day} {month} {year}",
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
            "\N{NARROW NO-BREAK SPACE}",
            ",",
        ),
        _language(
            "es",
            "{day} de {month} de {year}",
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
            ".",
            ",",
        ),
        _language(
            "it",
            "{day} {month} {year}",
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
            ".",
            ",",
        ),
        _language(
            "pt",
            "{day} de {month} de {year}",
            "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
            ".",
            ",",
        ),
        _language(
            "nl",
            "{day} {month} {year}",
            "januari februari maart april mei juni juli augustus september oktober november december",
            ".",
            ",",
        ),
    )
}


def language_of(tag: str) -> Language:
    """Return the formats for a language tag (BCP 47)."""
    formats = _KNOWN.get(tag.lower().partition("-")[0], Language(tag=tag))
    return Language(
        tag=tag,
        months=formats.months,
        day_pattern=formats.day_pattern,
        comma=formats.comma,
        point=formats.point,
        direction="rtl" if _right_to_left(tag.lower().split("-")) else "ltr",
    )


def _right_to_left(subtags: list[str]) -> bool:
    if not _RIGHT_TO_LEFT_SCRIPTS.isdisjoint(subtags):
        return True
    return subtags[0] in _RIGHT_TO_LEFT and "latn" not in subtags
