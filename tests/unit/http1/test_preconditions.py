"""RFC 9110 section 13, row by row, and the dates of 5.6.7.

The requested representation has the entity tag ``"v2"`` and changed on Sun, 06 Nov 1994 08:49:37.
"""

import calendar
from datetime import UTC, datetime
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.preconditions import evaluate, http_date, parse_http_date
from reviewsd.http1.request import Request
from tests.support.requests import conditional_request

ETAG = b'"v2"'
CHANGED = 784111777
NOW = 1_800_000_000  # 2027-01-15

THEN = b"Sun, 06 Nov 1994 08:49:37 GMT"
BEFORE = b"Sun, 06 Nov 1994 08:49:36 GMT"
AFTER = b"Sun, 06 Nov 1994 08:49:38 GMT"

PROCEED = HTTPStatus.OK
NOT_MODIFIED = HTTPStatus.NOT_MODIFIED
FAILED = HTTPStatus.PRECONDITION_FAILED


def conditions(
    *,
    match: tuple[bytes, ...] = (),
    none_match: tuple[bytes, ...] = (),
    modified: tuple[bytes, ...] = (),
    unmodified: tuple[bytes, ...] = (),
) -> Request:
    """Return a request with these lines of the precondition fields."""
    values = {
        b"if-match": match,
        b"if-none-match": none_match,
        b"if-modified-since": modified,
        b"if-unmodified-since": unmodified,
    }
    return conditional_request({name: lines for name, lines in values.items() if lines})


def outcome_of(request: Request, etag: bytes = ETAG) -> HTTPStatus:
    return evaluate(request, etag, CHANGED, NOW)


TABLE = [
    # If-None-Match: list grammar and weak comparison
    ("13.1.2 the same tag", conditions(none_match=(b'"v2"',)), NOT_MODIFIED),
    ("13.1.2 another tag", conditions(none_match=(b'"v1"',)), PROCEED),
    ("8.8.3.2 a weak tag is equivalent", conditions(none_match=(b'W/"v2"',)), NOT_MODIFIED),
    ("8.8.3 W/ is case-sensitive", conditions(none_match=(b'w/"v2"',)), PROCEED),
    ("8.8.3 tags are case-sensitive", conditions(none_match=(b'"V2"',)), PROCEED),
    ("13.1.2 first of a list", conditions(none_match=(b'"v2", "v3"',)), NOT_MODIFIED),
    ("8.8.3.2 weak in a list", conditions(none_match=(b'"v1", W/"v2"',)), NOT_MODIFIED),
    ("13.1.2 in none of a list", conditions(none_match=(b'"v1", W/"v3", "v22"',)), PROCEED),
    ("8.8.3 a comma is part of a tag", conditions(none_match=(b'"v1,", "v2"',)), NOT_MODIFIED),
    ("8.8.3 our tag inside another", conditions(none_match=(b'"x,W/"v2"',)), PROCEED),
    ("8.8.3 a backslash escapes nothing", conditions(none_match=(b'"v1\\", "v2"',)), NOT_MODIFIED),
    ("8.8.3 obs-text is allowed", conditions(none_match=(b'"\xc3\xa9", "v2"',)), NOT_MODIFIED),
    ("8.8.3 the empty tag is a tag", conditions(none_match=(b'"", "v2"',)), NOT_MODIFIED),
    ("5.6.1 empty elements", conditions(none_match=(b' , ,"v1",,"v2" ,\t, ',)), NOT_MODIFIED),
    ("5.6.3 tabs are blanks", conditions(none_match=(b'"v1"\t,\t"v2"',)), NOT_MODIFIED),
    ("5.3 several lines are one list", conditions(none_match=(b'"v1"', b'"v2"')), NOT_MODIFIED),
    ("5.3 no tag spans lines", conditions(none_match=(b'"v1', b'v3", "v2"')), PROCEED),
    ("13.1.2 *", conditions(none_match=(b"*",)), NOT_MODIFIED),
    ("5.5 * between blanks", conditions(none_match=(b" *\t",)), NOT_MODIFIED),
    # a malformed list matches nothing
    ("13.1.2 * is no list element", conditions(none_match=(b'*, "v2"',)), PROCEED),
    ("13.1.2 * twice", conditions(none_match=(b"*", b"*")), PROCEED),
    ("8.8.3 quotes are needed", conditions(none_match=(b"v2",)), PROCEED),
    ("8.8.3 a quote is missing", conditions(none_match=(b'"v1, "v2"',)), PROCEED),
    ("8.8.3 no blank within a tag", conditions(none_match=(b'"v 1", "v2"',)), PROCEED),
    ("5.6.1 no comma between", conditions(none_match=(b'"v1" "v2"',)), PROCEED),
    ("5.6.1 garbage behind", conditions(none_match=(b'"v2"; q=1',)), PROCEED),
    ("5.5 a control character", conditions(none_match=(b'"v2",\x0b',)), PROCEED),
    ("8.8.3 blank after W/", conditions(none_match=(b'W/ "v2"',)), PROCEED),
    # If-None-Match before If-Modified-Since
    ("13.2.2 tag differs, date old", conditions(none_match=(b'"v1"',), modified=(THEN,)), PROCEED),
    ("13.2.2 same tag, old date", conditions(none_match=(ETAG,), modified=(BEFORE,)), NOT_MODIFIED),
    ("13.1.3 an empty list hides it", conditions(none_match=(b"",), modified=(THEN,)), PROCEED),
    # If-Modified-Since
    ("13.1.3 the same second", conditions(modified=(THEN,)), NOT_MODIFIED),
    ("13.1.3 an earlier date", conditions(modified=(BEFORE,)), PROCEED),
    (
        "13.1.3 a future date",
        conditions(modified=(b"Fri, 31 Dec 9999 23:59:59 GMT",)),
        NOT_MODIFIED,
    ),
    ("5.6.7 rfc850", conditions(modified=(b"Sunday, 06-Nov-94 08:49:37 GMT",)), NOT_MODIFIED),
    ("5.6.7 asctime", conditions(modified=(b"Sun Nov  6 08:49:37 1994",)), NOT_MODIFIED),
    ("5.5 blanks around a date", conditions(modified=(b" " + THEN + b"\t",)), NOT_MODIFIED),
    ("13.1.3 not a date", conditions(modified=(b"yesterday",)), PROCEED),
    ("13.1.3 two lines", conditions(modified=(THEN, THEN)), PROCEED),
    ("13.1.3 Netscape's length", conditions(modified=(THEN + b"; length=42",)), PROCEED),
    # If-Match: strong comparison
    ("13.1.1 the same tag", conditions(match=(b'"v2"',)), PROCEED),
    ("13.1.1 another tag", conditions(match=(b'"v1"',)), FAILED),
    ("8.8.3.2 a weak tag is not the same", conditions(match=(b'W/"v2"',)), FAILED),
    ("8.8.3.2 weak and strong", conditions(match=(b'W/"v2", "v2"',)), PROCEED),
    ("13.1.1 *", conditions(match=(b"*",)), PROCEED),
    ("13.1.1 not a list", conditions(match=(b'"v2" or so',)), FAILED),
    # If-Unmodified-Since
    ("13.1.4 the same second", conditions(unmodified=(THEN,)), PROCEED),
    ("13.1.4 an earlier date", conditions(unmodified=(BEFORE,)), FAILED),
    ("13.1.4 two lines", conditions(unmodified=(BEFORE, BEFORE)), PROCEED),
    # the order of 13.2.2
    ("13.2.2 1: If-Match first", conditions(match=(b'"v1"',), none_match=(ETAG,)), FAILED),
    ("13.2.2 1 to 3", conditions(match=(ETAG,), none_match=(ETAG,)), NOT_MODIFIED),
    ("13.1.4 hidden by If-Match", conditions(match=(ETAG,), unmodified=(BEFORE,)), PROCEED),
    ("13.2.2 2: before 3", conditions(unmodified=(BEFORE,), none_match=(ETAG,)), FAILED),
    ("13.2.2 2: before 4", conditions(unmodified=(BEFORE,), modified=(THEN,)), FAILED),
    ("13.2.2 2 to 3", conditions(unmodified=(THEN,), none_match=(ETAG,)), NOT_MODIFIED),
    ("13.2.2 6: nothing asked", conditions(), PROCEED),
]


@pytest.mark.parametrize(
    ("request_", "outcome"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_outcome_of_preconditions(request_: Request, outcome: HTTPStatus) -> None:
    assert outcome == outcome_of(request_)


@pytest.mark.parametrize(
    "request_", [conditions(modified=(AFTER,)), conditions(unmodified=(BEFORE,))]
)
def test_dates_are_ignored_without_a_time_of_the_last_change(request_: Request) -> None:
    assert PROCEED == evaluate(request_, ETAG, None, NOW)


def test_tag_of_identity_does_not_match_gzip() -> None:
    """RFC 9110 8.8.3.3."""
    assert PROCEED == outcome_of(conditions(none_match=(b'"v2"',)), b'"v2-gzip"')


def test_list_of_blanks_and_commas_takes_linear_time() -> None:
    """A pattern that may split runs of blanks in many ways would not end."""
    value = (b" " * 8 + b",") * 1_800 + b'"v2"?'
    assert PROCEED == outcome_of(conditions(none_match=(value,)))


# Dates


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (b"Thu, 01 Jan 1970 00:00:00 GMT", 0),
        (b"Sun, 06 Nov 1994 08:49:37 GMT", CHANGED),
        (b"Sunday, 06-Nov-94 08:49:37 GMT", CHANGED),
        (b"Sun Nov  6 08:49:37 1994", CHANGED),
        (b"Sun Nov 06 08:49:37 1994", CHANGED),
        (b"Wed Nov 16 08:49:37 1994", CHANGED + 10 * 86_400),
        (b"Mon, 06 Nov 1994 08:49:37 GMT", CHANGED),  # a wrong weekday is still a weekday
        (b"Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
        (b"Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),  # leap second
        (b"Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        (b"Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
    ],
)
def test_date_in_each_format_is_parsed(value: bytes, seconds: int) -> None:
    assert seconds == parse_http_date(value, NOW)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"784111777",
        b"1994-11-06T08:49:37Z",
        b"Sun, 06 Nov 1994 08:49:37",
        b"Sun, 06 Nov 1994 08:49:37 UTC",
        b"Sun, 06 Nov 1994 08:49:37 gmt",
        b"Sun, 6 Nov 1994 08:49:37 GMT",
        b"Sun, 06 Nov 94 08:49:37 GMT",
        b"Sun, 06-Nov-94 08:49:37 GMT",
        b"Sunday, 06 Nov 1994 08:49:37 GMT",
        b"Son, 06 Nov 1994 08:49:37 GMT",
        b"Sun, 06 Okt 1994 08:49:37 GMT",
        b"Sun, 06 Nov 1994 8:49:37 GMT",
        b" Sun, 06 Nov 1994 08:49:37 GMT",
        b"Sun, 06 Nov 1994 08:49:37 GMT\n",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT".encode(),
        b"Sun Nov 6 08:49:37 1994",
        b"Sun Nov  6 08:49:37 1994 GMT",
        b"Wed, 29 Feb 2023 08:49:37 GMT",
        b"Sun, 00 Nov 1994 08:49:37 GMT",
        b"Sun Nov  0 08:49:37 1994",
        b"Sun, 06 Nov 0000 08:49:37 GMT",
        b"Sun, 06 Nov 1994 24:00:00 GMT",
        b"Sun, 06 Nov 1994 08:49:60 GMT",
        b"Sun, 06 Nov 1994 23:59:61 GMT",
    ],
)
def test_malformed_date_is_refused(value: bytes) -> None:
    assert parse_http_date(value, NOW) is None


@pytest.mark.parametrize(
    ("now", "value", "year"),
    [
        ((2026, 6, 1), b"Friday, 01-May-76 00:00:00 GMT", 2076),
        ((2026, 6, 1), b"Monday, 01-Jun-76 00:00:00 GMT", 2076),  # 50 years to the second
        ((2026, 6, 1), b"Tuesday, 01-Jun-76 00:00:01 GMT", 1976),
        ((2026, 6, 1), b"Wednesday, 01-Dec-76 00:00:00 GMT", 1976),
        ((2026, 6, 1), b"Saturday, 01-Jan-77 00:00:00 GMT", 1977),
        ((2026, 6, 1), b"Friday, 01-Jan-99 00:00:00 GMT", 1999),
        ((2026, 6, 1), b"Saturday, 01-Jan-00 00:00:00 GMT", 2000),
        ((2026, 6, 1), b"Friday, 01-Jan-70 00:00:00 GMT", 2070),
        ((2080, 6, 1), b"Friday, 01-Jan-10 00:00:00 GMT", 2110),
        ((2080, 6, 1), b"Friday, 01-Jan-31 00:00:00 GMT", 2031),
    ],
)
def test_year_of_two_digits_is_at_most_fifty_years_ahead(
    now: tuple[int, int, int], value: bytes, year: int
) -> None:
    seconds = parse_http_date(value, calendar.timegm((*now, 0, 0, 0)))
    assert seconds is not None
    assert year == datetime.fromtimestamp(seconds, UTC).year


def test_29_february_is_checked_in_its_full_year() -> None:
    """2000 is a leap year, and 1900 is not."""
    assert parse_http_date(b"Tuesday, 29-Feb-00 00:00:00 GMT", NOW) == 951_782_400
    assert parse_http_date(b"Thursday, 29-Feb-01 00:00:00 GMT", NOW) is None


MOMENTS = st.integers(min_value=0, max_value=253_402_300_799)


@given(MOMENTS)
def test_formatted_date_is_parsed_back(seconds: int) -> None:
    value = http_date(seconds)
    at = datetime.fromtimestamp(seconds, UTC)
    assert f"{at:%a, %d %b} {at.year:04} {at:%H:%M:%S} GMT".encode() == value
    assert seconds == parse_http_date(value, NOW)


@given(MOMENTS, st.integers(min_value=0, max_value=1_500_000_000))
def test_obsolete_formats_have_the_same_meaning(seconds: int, ago: int) -> None:
    at = datetime.fromtimestamp(seconds, UTC)
    assert seconds == parse_http_date(at.ctime().encode(), NOW)
    assert seconds == parse_http_date(
        at.strftime("%A, %d-%b-%y %H:%M:%S GMT").encode(), seconds + ago
    )


@given(st.binary(max_size=40))
def test_any_bytes_are_a_date_or_none(value: bytes) -> None:
    seconds = parse_http_date(value, NOW)
    assert seconds is None or isinstance(seconds, int)
