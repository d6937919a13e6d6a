"""Conditional requests: whether a read proceeds, is a 304 or a 412 (RFC 9110 section 13, seed 4.7).

Twisted's ``setETag`` and ``setLastModified`` are not used: they miss lists and weak tags, let
If-Modified-Since override If-None-Match and do not know If-Match (security-and-operations.md F9).

A list of entity tags that breaks its grammar matches nothing, because a wrong 304 or a wrong pass harms and
a full 200 or a 412 does not. It still counts as present, so the date beside it is ignored (13.1.3, 13.1.4). A
malformed date is ignored, as the RFC demands.
"""

import re
import time
from datetime import UTC, datetime
from email.utils import formatdate
from http import HTTPStatus

from reviewsd.http1.request import Request

_OWS = b" \t"  # RFC 9110 5.6.3

_TAG = rb'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'  # RFC 9110 8.8.3; may contain a comma
_TAGS = re.compile(_TAG)
# RFC 9110 5.6.1.2, empty elements included; possessive, as blanks between commas could otherwise be split in
# exponentially many ways
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


def evaluate(request: Request, etag: bytes, last_modified: int | None, now: int) -> HTTPStatus:
    """Evaluate the preconditions of a GET or HEAD that would be answered with 200; return 200, 304 or 412.

    These are the steps of RFC 9110 13.2.2 without its fifth, If-Range, as no ranges are served. For any
    other response, and for OPTIONS, preconditions are not evaluated (13.2.1).

    Args:
        request: The request.
        etag: The strong entity tag, in quotes, of the representation that the client would get.
        last_modified: When the representation last changed, POSIX seconds; None if that is not known.
        now: POSIX seconds, for the two-digit years of old dates.
    """
    lines = request.lines
    if if_match := lines(b"if-match"):
        if not _includes(if_match, etag, weak=False):
            return HTTPStatus.PRECONDITION_FAILED
    elif _changed_since(lines(b"if-unmodified-since"), last_modified, now) is True:
        return HTTPStatus.PRECONDITION_FAILED
    if if_none_match := lines(b"if-none-match"):
        if _includes(if_none_match, etag, weak=True):
            return HTTPStatus.NOT_MODIFIED
    elif _changed_since(lines(b"if-modified-since"), last_modified, now) is False:
        return HTTPStatus.NOT_MODIFIED
    return HTTPStatus.OK


def _includes(lines: tuple[bytes, ...], etag: bytes, *, weak: bool) -> bool:
    """Return whether ``*`` or a list of entity tags includes a tag (RFC 9110 8.8.3.2, 13.1.1, 13.1.2).

    Nearly every client sends one tag, which is compared before the grammar of lists is checked.
    """
    value = lines[0] if len(lines) == 1 else b", ".join(lines)
    if (value.removeprefix(b"W/") if weak else value) == etag:
        return True
    if value.strip(_OWS) == b"*":
        return True
    if etag not in value or not _TAG_LIST.fullmatch(value):
        return False
    tags = _TAGS.findall(value)
    return etag in tags or (weak and b"W/" + etag in tags)


def _changed_since(lines: tuple[bytes, ...], last_modified: int | None, now: int) -> bool | None:
    """Return whether the representation is newer than a date field; None if the field does not count.

    It does not count if it is absent, has several members or is no HTTP-date, or if the time of the last
    change is not known (RFC 9110 13.1.3, 13.1.4). A date in the future counts like any other.
    """
    if last_modified is None or len(lines) != 1:
        return None
    date = parse_http_date(lines[0].strip(_OWS), now)
    return None if date is None else last_modified > date


def http_date(seconds: int) -> bytes:
    """Return a time as IMF-fixdate (RFC 9110 5.6.7): ``Sun, 06 Nov 1994 08:49:37 GMT``.

    Args:
        seconds: POSIX seconds, years 1970 to 9999.
    """
    return formatdate(seconds, usegmt=True).encode()


def parse_http_date(value: bytes, now: int) -> int | None:
    """Parse an HTTP-date in any of its three formats (RFC 9110 5.6.7).

    The weekday need not be that of the date. 23:59:60, a leap second, is the second after 23:59:59, as in
    POSIX.

    Args:
        value: The field value without surrounding blanks.
        now: POSIX seconds; a two-digit year is the latest one that puts the date at most 50 years ahead.

    Returns:
        POSIX seconds; None if the value is no HTTP-date, or no day of the calendar.
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
