"""Times in the many spellings of exports, as a datetime.

A time without a zone stays without one: its day is the day as written.
"""

import contextlib
import datetime
import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from reviewsctl.importing.errors import RowRefusedError, SayMoreError
from reviewsctl.importing.values import shown, word
from reviewsctl.importing.vocabulary.words import CELLS
from reviewsd.api.texts import printable

NO_DATE = "no date"
"""Why a row without a date is refused."""

_REMEDY = "write the day, as 2026-03-14"

_MILLISECONDS_FROM = 100_000_000_000  # a count of seconds this large is in the year 5138
_SECONDS_FROM = 100_000_000  # 1973; smaller numbers are days of a spreadsheet
_SHEET_EPOCH = datetime.datetime(1899, 12, 30)  # noqa: DTZ001  # as written, without a zone
_SHEET_DAYS = range(18_000, 110_000)  # 1949 to 2201

_NUMBER = re.compile(r"(?:[0-9]{5,6}|[0-9]{9,13})(?:\.[0-9]+)?")  # 20250314 is a day
_FRACTION = re.compile(r"(\.[0-9]{6})[0-9]+")  # nanoseconds

_ZONE = re.compile(r"\s?(?:GMT|UTC)?([+-][0-9]{2}):?([0-9]{2})(?:\s(?:UTC|GMT|\([^()]*\)))?$")
_ZONED = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%a, %d %b %Y %H:%M:%S", "%a %b %d %Y %H:%M:%S")
"""Rails, mail and JavaScript, before their zones."""

_MAX_LENGTH = 100  # characters; strptime would look for blanks of any length
_PROBES = 20  # values that say which patterns are worth a closer look
_DAYS, _CLOCKS = CELLS.lists["days"], CELLS.lists["clocks"]
PATTERNS = {day + clock: day for day in _DAYS for clock in _CLOCKS}
"""The patterns that are tried, each with that of its day."""
_ISO = "ISO 8601"
_ORDER = re.compile("%([dmyb])")
_CODES = {
    "%d": "day",
    "%m": "month",
    "%Y": "year",
    "%y": "year of two digits",
    "%B": "month's name",
    "%b": "month's short name",
    "%A": "weekday",
    "%a": "short weekday",
    "%H": "hour",
    "%I": "hour",
    "%M": "minute",
    "%S": "second",
    "%p": "am or pm",
}
"""The codes of patterns, in words."""

_MONTHS: Mapping[str, str] = {
    foreign: english for english, names in CELLS.table.items() for foreign in names
}
"""Months of other languages in English, which ``strptime`` reads."""

_LETTERS = re.compile(r"([^\W\d_]+)\.?")
_HALF_DAY = re.compile(r"\s?([ap])\.?\s?m\.?$", re.IGNORECASE)
_ORDINAL = re.compile(r"(?<=[0-9])(?:st|nd|rd|th|er)\b", re.IGNORECASE)
_SPACED = re.compile(r"(?<=[0-9])\. (?=[0-9])")
_CLOCK = re.compile(r"(?<=[0-9])h(?=[0-9]{2})")
Reading = Callable[[object], datetime.datetime]
"""Raises a RowRefusedError."""


def moment(value: object) -> datetime.datetime:
    """Return a time from ISO 8601, a count of (milli)seconds since 1970, or the day number of a spreadsheet.

    Raises:
        RowRefusedError: It is none of these.
    """
    text = _spelled(value)
    try:
        if _NUMBER.fullmatch(text):
            return _counted(float(text))
        return _iso(_FRACTION.sub(r"\1", text))
    except (ValueError, OverflowError, OSError):
        if relative(value):
            raise RowRefusedError(
                f"date {shown(value)} is an age, which says no day: {_REMEDY}"
            ) from None
        raise RowRefusedError(f"date {shown(value)} is not understood: {_REMEDY}") from None


def relative(value: object) -> bool:
    """Return whether a date is an age, as ``3 weeks ago``, which has no day."""
    text = (word(value) or "")[:_MAX_LENGTH].casefold()
    return (
        text.endswith(CELLS.lists["ago"])
        or text.startswith(CELLS.lists["ages"])
        or text in CELLS.sets["no_days"]
    )


def _iso(text: str) -> datetime.datetime:
    """Return a time in ISO 8601, or in a spelling of programs that ends in a zone."""
    if text.endswith((" UTC", " GMT")) and not _ZONE.search(text):
        text = f"{text[:-4]}+00:00"
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        if (zone := _ZONE.search(text)) is None:
            raise
        return _before(text[: zone.start()], f"{zone[1]}{zone[2]}")


def _before(text: str, zone: str) -> datetime.datetime:
    """Return a time from its text without the zone."""
    for pattern in _ZONED:
        with contextlib.suppress(ValueError):
            return datetime.datetime.strptime(f"{text} {zone}", f"{pattern} %z")
    raise ValueError(text)


def _spelled(value: object) -> str:
    text = word(value)
    if text is None:
        raise RowRefusedError(NO_DATE)
    if len(text) > _MAX_LENGTH:
        raise RowRefusedError(f"date {shown(text)} is not understood: {_REMEDY}")
    return text


def _counted(number: float) -> datetime.datetime:
    if number >= _SECONDS_FROM:
        seconds = number / 1000 if number >= _MILLISECONDS_FROM else number
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    if int(number) not in _SHEET_DAYS:
        raise ValueError(number)
    return _SHEET_EPOCH + datetime.timedelta(seconds=round(number * 86_400))


def legible(fields: Mapping[str, object], names: Sequence[str], reading: Reading) -> object:
    """Return the first of the members with the same date that can be read, else the last that is there.

    A spreadsheet saves a count of seconds as ``1,74E+09``.
    """
    there = [fields[name] for name in names if word(fields.get(name)) is not None]
    for value in there[:-1]:
        with contextlib.suppress(RowRefusedError):
            reading(value)
            return value
    return there[-1] if there else None


def zoned(when: datetime.datetime, zone: datetime.tzinfo | None) -> datetime.datetime:
    """Return a time with a zone; this one if it has none."""
    return when if when.tzinfo is not None else when.replace(tzinfo=zone)


def by_pattern(pattern: str) -> Reading:
    """Return a reading of dates in one pattern of ``strptime``, and of those that ``moment`` reads.

    Whatever clock stands behind the day: a spreadsheet that saves a table again cuts seconds off,
    and makes some cells of a column dates and leaves others as texts. People write some with the
    name of the month, or with two digits of the year.
    """
    day = PATTERNS.get(pattern)
    alike = () if day is None else _alike(day)

    def read(value: object) -> datetime.datetime:
        text = _spelled(value)
        found_at = _read(pattern, text)
        if found_at is None:
            spellings = (_spelling(other, text) for other in alike)
            spelling = next(filter(None, spellings), None)
            found_at = None if spelling is None else _read(spelling, text)
        if found_at is not None:
            return found_at
        try:
            return moment(value)
        except RowRefusedError:
            if relative(value):
                raise
            raise RowRefusedError(
                f'date {shown(value)} is not "{pattern}" ({_in_words(pattern)})'
            ) from None

    return read


@functools.cache
def _alike(day: str) -> Sequence[str]:
    """Return the pattern of a day, and those that can be read in one way beside it: in its order, or with a name."""
    order = _ORDER.findall(day.lower())
    codes = {other: _ORDER.findall(other.lower()) for other in _DAYS}
    return [
        day,
        *(
            other
            for other in codes
            if other != day and ("b" in codes[other] or codes[other] == order)
        ),
    ]


def _in_words(pattern: str) -> str:
    """Return a pattern as people say it: ``day.month.year``."""
    for code, what in _CODES.items():
        pattern = pattern.replace(code, what)
    return pattern


def _read(pattern: str, text: str) -> datetime.datetime | None:
    """Return a date in this pattern; None if it has another one."""
    try:
        return datetime.datetime.strptime(_tidied(text), pattern)  # noqa: DTZ007  # as written
    except ValueError:
        return None


@functools.lru_cache(maxsize=4096)
def _tidied(text: str) -> str:
    """Return a date in English, without weekdays of other languages and words around its clock.

    ``5. 11. 2026``, ``10:23am``, ``10:23 p. m.``, ``March 14th, 2025 at 10:23``, ``14 mars 2025 à 10h23``.
    """
    text = _HALF_DAY.sub(r" \1m", text)
    text = _CLOCK.sub(":", _ORDINAL.sub("", text))
    text = " ".join(_LETTERS.sub(_in_english, text).split()).removeprefix(", ").strip()
    return _SPACED.sub(".", text)


def _in_english(match: re.Match[str]) -> str:
    """Return a word of a date in English, without the stop of an abbreviation."""
    bare = match[1].casefold()
    if bare in CELLS.sets["weekdays"] or bare in CELLS.sets["between"]:
        return ""
    return _MONTHS.get(bare, match[0])


def reading_of(
    dates: Sequence[tuple[str, object]], date_format: str | None = None, native: str = ""
) -> tuple[Reading, str]:
    """Return how columns of dates are read, by their first values, and the name of the pattern.

    Args:
        dates: Each with the name of its column.
        date_format: The pattern that the operator says.
        native: That of the platform, where it is not ISO 8601.

    Raises:
        SayMoreError: Month and day could change places in all that are not ISO 8601.
    """
    if date_format is not None:
        return by_pattern(date_format), date_format
    there: dict[str, str] = {}
    for name, value in dates:
        if (text := word(value)) is not None:
            there.setdefault(text, name)
    values = [text for text in there if not is_moment(text)]
    likely = [day for day in _DAYS if any(_spelling(day, text) for text in values[:_PROBES])]
    if not likely:
        return moment, _ISO
    # the whole column decides, whatever clock stands behind each day
    read = {day: [_spelling(day, text) for text in values] for day in likely}
    counts = {day: len(values) - read[day].count(None) for day in likely}
    best = max(counts.values())
    chosen = [day for day in likely if counts[day] == best]
    for rival in chosen[1:]:
        for text, one, two in zip(values, read[chosen[0]], read[rival], strict=True):
            if one and two and _read(one, text) != _read(two, text):
                if native in (one, two):  # a spreadsheet would have cut off its seconds
                    return by_pattern(native), native
                raise SayMoreError(
                    f"the dates in column {shown(there[text])} can be read in two ways, for example "
                    f"{printable(text)}",
                    f'Say which it is: --set "date_format={one}" or --set "date_format={two}"',
                )
    pattern = Counter(filter(None, read[chosen[0]])).most_common(1)[0][0]
    return by_pattern(pattern), pattern if len(values) == len(there) else f"{_ISO}, {pattern}"


def is_moment(value: object) -> bool:
    """Return whether ``moment`` reads a value."""
    try:
        moment(value)
    except RowRefusedError:
        return False
    return True


def is_date(value: object) -> bool:
    """Return whether a cell is a date in any spelling; a number alone may be anything."""
    text = word(value) or ""
    return not text.isdigit() and (
        is_moment(text) or any(_spelling(day, text) is not None for day in _DAYS)
    )


@functools.lru_cache(maxsize=1 << 16)
def _spelling(day: str, text: str) -> str | None:
    """Return the pattern of a date, with its clock, by the pattern of its day."""
    if len(text) > _MAX_LENGTH:
        return None
    return next((day + clock for clock in _CLOCKS if _read(day + clock, text) is not None), None)


def milliseconds(when: datetime.datetime | None) -> int:
    """Return a time in POSIX milliseconds, one without a zone as UTC; 0 for None."""
    return 0 if when is None else int(zoned(when, datetime.UTC).timestamp() * 1000)
