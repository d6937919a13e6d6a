"""Conditional requests: whether a read proceeds, is a 304 or a 412 (RFC 9110 section 13, seed 4.7).

An evaluator of our own: Twisted's ``setETag`` and ``setLastModified`` miss lists and weak tags, let
If-Modified-Since override If-None-Match and do not know If-Match (security-and-operations.md F9).

Where a field breaks its grammar, the answer that is right for every client is taken. A list of
entity tags that is not one matches nothing: If-None-Match then yields the full 200, never a 304 on
a guess, and If-Match yields 412, never a pass on a guess. It still counts as present, so the date
beside it stays ignored (13.1.3, 13.1.4). A date that is not one is ignored, as the RFC demands.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from reviewsd.http1.request import Request

_OWS = b" \t"  # RFC 9110 5.6.3

_TAG = rb'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'  # RFC 9110 8.8.3; a comma may stand inside
_TAGS = re.compile(_TAG)
# RFC 9110 5.6.1.2, empty elements included. Possessive: blanks between commas could otherwise be
# split in exponentially many ways.
_TAG_LIST = re.compile(rb"[ \t,]*+(?:" + _TAG + rb"[ \t]*+(?:,[ \t,]*+|\Z))*+")

_DAYS = (b"Monday", b"Tuesday", b"Wednesday", b"Thursday", b"Friday", b"Saturday", b"Sunday")
_MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

_DAY_NAME = rb"(?:" + b"|".join(day[:3] for day in _DAYS) + rb")"
_DAY_NAME_LONG = rb"(?:" + b"|".join(_DAYS) + rb")"
_DAY = rb"(?P<day>[0-9]{2})"
_MONTH = rb"(?P<month>" + b"|".join(_MONTHS) + rb")"
_YEAR = rb"(?P<year>[0-9]{4})"
_TIME = rb"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"

# RFC 9110 5.6.7, in its order: IMF-fixdate, rfc850-date, asctime-date. Case-sensitive.
_HTTP_DATES = tuple(
    re.compile(form)
    for form in (
        _DAY_NAME + rb", " + _DAY + rb" " + _MONTH + rb" " + _YEAR + rb" " + _TIME + rb" GMT",
        _DAY_NAME_LONG
        + rb", "
        + _DAY
        + rb"-"
        + _MONTH
        + rb"-(?P<year>[0-9]{2}) "
        + _TIME
        + rb" GMT",
        _DAY_NAME + rb" " + _MONTH + rb" (?P<day>[0-9]{2}| [0-9]) " + _TIME + rb" " + _YEAR,
    )
)

_MAX_YEARS_AHEAD = 50  # of a two-digit year; RFC 9110 5.6.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The precondition fields of a request: each the values of its lines as received."""

    if_match: tuple[bytes, ...] = ()
    if_none_match: tuple[bytes, ...] = ()
    if_modified_since: tuple[bytes, ...] = ()
    if_unmodified_since: tuple[bytes, ...] = ()


class ConditionResult(Enum):
    """What a request with preconditions comes to."""

    PROCEED = "proceed"
    NOT_MODIFIED = "304"
    PRECONDITION_FAILED = "412"


_STATUS = {
    ConditionResult.PROCEED: 200,
    ConditionResult.NOT_MODIFIED: 304,
    ConditionResult.PRECONDITION_FAILED: 412,
}


def status_of(
    request: Request, etag: bytes, last_modified: int | None, now: Callable[[], float]
) -> int:
    """Return the status of a read with preconditions: 200, 304 or 412.

    Args:
        request: The request.
        etag: The entity tag of the representation that it would get.
        last_modified: POSIX seconds; None if they are not known.
        now: Returns POSIX seconds.
    """
    if request.fields.known == etag:
        return _STATUS[ConditionResult.NOT_MODIFIED]
    lines = request.lines
    conditions = Conditions(
        if_match=lines(b"if-match"),
        if_none_match=lines(b"if-none-match"),
        if_modified_since=lines(b"if-modified-since"),
        if_unmodified_since=lines(b"if-unmodified-since"),
    )
    result = evaluate(conditions, safe=True, etag=etag, last_modified=last_modified, now=int(now()))
    return _STATUS[result]


def evaluate(
    conditions: Conditions,
    *,
    safe: bool,
    etag: bytes | None,
    last_modified: int | None,
    now: int,
) -> ConditionResult:
    """The outcome of a request whose answer would be a 2xx without its preconditions.

    The steps of RFC 9110 13.2.2; its fifth, If-Range, never comes, as no ranges are served. For any
    other answer, and for OPTIONS, preconditions are not evaluated at all (13.2.1).

    Args:
        conditions: The fields of the request.
        safe: Whether the method is GET or HEAD.
        etag: The strong entity tag, in quotes, of the representation this client would get; None
            when it has none. The representation itself exists, so ``*`` matches either way.
        last_modified: When it last changed, POSIX seconds; None when that is not known.
        now: POSIX seconds; places the two-digit years of old dates.
    """
    if conditions.if_match:
        if not _includes(conditions.if_match, etag, weak=False):
            return ConditionResult.PRECONDITION_FAILED
    elif _changed_since(conditions.if_unmodified_since, last_modified, now) is True:
        return ConditionResult.PRECONDITION_FAILED
    if conditions.if_none_match:
        if _includes(conditions.if_none_match, etag, weak=True):
            return ConditionResult.NOT_MODIFIED if safe else ConditionResult.PRECONDITION_FAILED
    elif safe and _changed_since(conditions.if_modified_since, last_modified, now) is False:
        return ConditionResult.NOT_MODIFIED
    return ConditionResult.PROCEED


def _includes(lines: tuple[bytes, ...], etag: bytes | None, *, weak: bool) -> bool:
    """Whether ``*`` or a list of entity tags includes this one (RFC 9110 8.8.3.2, 13.1.1, 13.1.2).

    On the hot path: what nearly every client sends, one tag, is answered by comparing bytes. The
    grammar matters only to a value that holds our tag among other things.
    """
    value = lines[0] if len(lines) == 1 else b", ".join(lines)
    if (value.removeprefix(b"W/") if weak else value) == etag:
        return True
    if value.strip(_OWS) == b"*":
        return True
    if etag is None or etag not in value or not _TAG_LIST.fullmatch(value):
        return False
    tags = _TAGS.findall(value)
    return etag in tags or (weak and b"W/" + etag in tags)


def _changed_since(lines: tuple[bytes, ...], last_modified: int | None, now: int) -> bool | None:
    """Whether the representation is newer than a date field; None when the field does not count.

    It does not when it is absent, has several members, is no HTTP-date, or when there is nothing to
    compare it with (RFC 9110 13.1.3, 13.1.4). A date in the future is a date like any other.
    """
    if last_modified is None or len(lines) != 1:
        return None
    date = parse_http_date(lines[0].strip(_OWS), now)
    return None if date is None else last_modified > date


def http_date(seconds: int) -> bytes:
    """A moment as IMF-fixdate (RFC 9110 5.6.7): ``Sun, 06 Nov 1994 08:49:37 GMT``.

    Args:
        seconds: POSIX seconds, years 1970 to 9999.
    """
    at = time.gmtime(seconds)
    return b"%b, %02d %b %04d %02d:%02d:%02d GMT" % (
        _DAYS[at.tm_wday][:3],
        at.tm_mday,
        _MONTHS[at.tm_mon - 1],
        at.tm_year,
        at.tm_hour,
        at.tm_min,
        at.tm_sec,
    )


def parse_http_date(value: bytes, now: int) -> int | None:
    """POSIX seconds of an HTTP-date in any of its three formats, exactly (RFC 9110 5.6.7).

    The weekday must be the name of one, not the right one. 23:59:60, a leap second, is the moment
    after 23:59:59, as in POSIX.

    Args:
        value: The field value without surrounding blanks.
        now: POSIX seconds; a two-digit year means the latest such year that puts the date at most
            50 years ahead of it.

    Returns:
        None when it is no HTTP-date, or no day of the calendar.
    """
    for form in _HTTP_DATES:
        if match := form.fullmatch(value):
            break
    else:
        return None
    month = _MONTHS.index(match["month"]) + 1
    year, day, hour, minute, second = map(
        int, match.group("year", "day", "hour", "minute", "second")
    )
    if len(match["year"]) == 2:  # noqa: PLR2004 - the two digits of rfc850-date
        today = time.gmtime(now)
        last = today.tm_year + _MAX_YEARS_AHEAD
        year = last - (last - year) % 100
        if (year, month, day, hour, minute, second) > (last, *today[1:6]):
            year -= 100
    leap = (hour, minute, second) == (23, 59, 60)
    try:
        at = datetime(year, month, day, hour, minute, 59 if leap else second, tzinfo=UTC)
    except ValueError:
        return None
    return int(at.timestamp()) + leap
