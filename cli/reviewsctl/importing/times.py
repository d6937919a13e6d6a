"""When something was written: the many spellings of exports, as a datetime.

A time without a zone stays without one: its day is the day as written.
"""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence

from reviewsctl.importing.review import RowRefusedError
from reviewsctl.importing.values import shown, word

_MILLISECONDS_FROM = 100_000_000_000  # a count of seconds this large is in the year 5138
_SECONDS_FROM = 100_000_000  # 1973; smaller numbers are days of a spreadsheet
_SHEET_EPOCH = datetime.datetime(1899, 12, 30)  # noqa: DTZ001  # as written, without a zone
_SHEET_DAYS = range(18_000, 110_000)  # 1949 to 2201

_NUMBER = re.compile(r"(?:[0-9]{5,6}|[0-9]{9,13})(?:\.[0-9]+)?")  # 20250314 is a day
_FRACTION = re.compile(r"(\.[0-9]{6})[0-9]+")  # nanoseconds
_US = re.compile(r"(\d\d?)/(\d\d?)/(\d{4})(?: (\d\d?):(\d\d)(?::(\d\d))?)?", re.ASCII)

_DAYS = (
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%m/%d/%y",
    "%d/%m/%y",
    "%m-%d-%y",
    "%d-%m-%y",
    "%d.%m.%y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%A, %B %d, %Y",
    "%a, %b %d, %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%A, %d %B %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d. %B %Y",
    "%d. %b %Y",
    "%d de %B de %Y",
)
_MAX_LENGTH = 100  # characters; strptime would look for blanks of any length
_PROBES = 20  # values that say which patterns are worth a closer look
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", ", %H:%M", ", %I:%M %p")
PATTERNS = tuple(day + clock for day in _DAYS for clock in _CLOCKS)

_MONTHS: Mapping[str, str] = {
    foreign: english
    for english, names in {
        "January": "januar janvier enero",
        "February": "februar février fevrier febrero",
        "March": "märz maerz mars marzo",
        "April": "avril abril",
        "May": "mai mayo",
        "June": "juni juin junio",
        "July": "juli juillet julio",
        "August": "août aout agosto",
        "September": "septembre septiembre",
        "October": "oktober octobre octubre",
        "November": "novembre noviembre",
        "December": "dezember décembre decembre diciembre",
        "Jan": "jän janv ene",
        "Feb": "févr",
        "Mar": "mär mrz",
        "Apr": "avr abr",
        "Jul": "juil",
        "Aug": "ago",
        "Sep": "sept",
        "Oct": "okt",
        "Dec": "dez déc dic",
    }.items()
    for foreign in names.split()
}
"""German, French and Spanish months in English, which ``strptime`` reads."""

_LETTERS = re.compile(r"([^\W\d_]+)\.?")
_AGES = ("vor ", "il y a ", "hace ")
_NO_DAYS = frozenset(
    (
        *("today", "yesterday", "just now", "now", "a while", "gestern", "heute"),
        *("hier", "aujourd'hui", "aujourd\N{RIGHT SINGLE QUOTATION MARK}hui", "ayer", "hoy"),
    )
)

Reading = Callable[[object], datetime.datetime]
"""Raises a RowRefusedError."""


class AmbiguousError(Exception):
    """A column of dates that can be read in two ways.

    Attributes:
        patterns: The two.
        example: A date that differs.
    """

    def __init__(self, patterns: Sequence[str], example: str) -> None:
        self.patterns = tuple(patterns)
        self.example = example
        super().__init__(example)


def moment(value: object) -> datetime.datetime:
    """ISO 8601, a count of (milli)seconds since 1970, or the day number of a spreadsheet.

    Raises:
        RowRefusedError: It is none of these.
    """
    text = _spelled(value)
    try:
        if _NUMBER.fullmatch(text):
            return _counted(float(text))
        if text.endswith((" UTC", " GMT")):
            text = f"{text[:-4]}+00:00"
        return datetime.datetime.fromisoformat(_FRACTION.sub(r"\1", text))
    except (ValueError, OverflowError, OSError):
        if relative(value):
            raise RowRefusedError(f"date {shown(value)} is an age, which says no day") from None
        raise RowRefusedError(f"date {shown(value)} is not understood") from None


def relative(value: object) -> bool:
    """Whether it is an age, as ``3 weeks ago``: of it nobody knows the day."""
    text = (word(value) or "")[:_MAX_LENGTH].casefold()
    return text.endswith(" ago") or text.startswith(_AGES) or text in _NO_DAYS


def _spelled(value: object) -> str:
    """A date as it is written."""
    text = word(value)
    if text is None:
        raise RowRefusedError("no date")
    if len(text) > _MAX_LENGTH:
        raise RowRefusedError(f"date {shown(text)} is not understood")
    return text


def _counted(number: float) -> datetime.datetime:
    if number >= _SECONDS_FROM:
        seconds = number / 1000 if number >= _MILLISECONDS_FROM else number
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    if int(number) not in _SHEET_DAYS:
        raise ValueError(number)
    return _SHEET_EPOCH + datetime.timedelta(seconds=round(number * 86_400))


def american(value: object, zone: datetime.tzinfo) -> datetime.datetime:
    """``MM/DD/YYYY HH:MM:SS``, or what ``moment`` reads; without a zone it is in this one.

    Raises:
        RowRefusedError: It is none of these.
    """
    match = _US.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return zoned(moment(value), zone)
    month, day, year, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        return datetime.datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        raise RowRefusedError(f"date {shown(value)} is not in the calendar") from None


def zoned(when: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """A time whose zone, where none is written, is known."""
    return when if when.tzinfo is not None else when.replace(tzinfo=zone)


def by_pattern(pattern: str) -> Reading:
    """Reads dates in one spelling of ``strptime``."""
    named = "%B" in pattern or "%b" in pattern

    def read(value: object) -> datetime.datetime:
        text = _spelled(value)
        if named:
            text = _LETTERS.sub(_in_english, text)
        try:
            return datetime.datetime.strptime(text, pattern)  # noqa: DTZ007  # as written
        except ValueError:
            raise RowRefusedError(f'date {shown(value)} is not "{pattern}"') from None

    return read


def _marks(text: str) -> tuple[frozenset[str], bool]:
    """What stands between the numbers of a date: ``strptime`` takes long to say no."""
    return frozenset(_MARKS.intersection(text)), any(map(str.isalpha, text))


_MARKS = frozenset("/-.,:")
_marked = {each: _marks(_SHEET_EPOCH.strftime(each)) for each in PATTERNS}


def _in_english(match: re.Match[str]) -> str:
    """A word of a date; a month in English, without the stop of an abbreviation."""
    month = _MONTHS.get(match[1].casefold())
    return match[0] if month is None else month


def guessed(sample: Sequence[object]) -> tuple[Reading, str]:
    """How a column of dates is read, by its first values, and what to call that.

    Raises:
        AmbiguousError: Month and day could change places in all of them.
    """
    values = [text for text in map(word, sample) if text is not None]
    if not values or _reads(moment, values) * 2 >= len(values):
        return moment, "ISO 8601"
    values = list(dict.fromkeys(values))
    marked = {_marks(_LETTERS.sub(_in_english, text[:_MAX_LENGTH])) for text in values[:_PROBES]}
    likely = [each for each in PATTERNS if _marked[each] in marked]
    likely = [each for each in likely if _reads(by_pattern(each), values[:_PROBES])]
    if not likely:
        return moment, "ISO 8601"
    counts = {pattern: _reads(by_pattern(pattern), values) for pattern in likely}
    best = max(counts.values())
    chosen = [pattern for pattern in likely if counts[pattern] == best]
    for other in chosen[1:]:
        for text in values:
            first, second = _read(chosen[0], text), _read(other, text)
            if first != second and None not in (first, second):
                raise AmbiguousError((chosen[0], other), text)
    return by_pattern(chosen[0]), chosen[0]


def _reads(reading: Reading, values: Sequence[str]) -> int:
    count = 0
    for text in values:
        try:
            reading(text)
        except RowRefusedError:
            continue
        count += 1
    return count


def _read(pattern: str, text: str) -> datetime.datetime | None:
    try:
        return by_pattern(pattern)(text)
    except RowRefusedError:
        return None
