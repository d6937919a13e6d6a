"""RFC 9110 section 13, row by row, and the dates of 5.6.7.

The representation asked for has the entity tag ``"v2"`` and changed on Sun, 06 Nov 1994 08:49:37.
"""

import calendar
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.preconditions import (
    ConditionResult,
    Conditions,
    evaluate,
    http_date,
    parse_http_date,
)

ETAG = b'"v2"'
CHANGED = 784111777
NOW = 1_800_000_000  # 2027-01-15

THEN = b"Sun, 06 Nov 1994 08:49:37 GMT"
BEFORE = b"Sun, 06 Nov 1994 08:49:36 GMT"
AFTER = b"Sun, 06 Nov 1994 08:49:38 GMT"

PROCEED = ConditionResult.PROCEED
NOT_MODIFIED = ConditionResult.NOT_MODIFIED
FAILED = ConditionResult.PRECONDITION_FAILED


def sent(
    *,
    match: tuple[bytes, ...] = (),
    none_match: tuple[bytes, ...] = (),
    modified: tuple[bytes, ...] = (),
    unmodified: tuple[bytes, ...] = (),
) -> Conditions:
    return Conditions(
        if_match=match,
        if_none_match=none_match,
        if_modified_since=modified,
        if_unmodified_since=unmodified,
    )


TABLE = [
    # If-None-Match: list grammar and weak comparison
    ("13.1.2 the same tag", sent(none_match=(b'"v2"',)), NOT_MODIFIED),
    ("13.1.2 another tag", sent(none_match=(b'"v1"',)), PROCEED),
    ("8.8.3.2 a weak tag is equivalent", sent(none_match=(b'W/"v2"',)), NOT_MODIFIED),
    ("8.8.3.2 another weak tag", sent(none_match=(b'W/"v1"',)), PROCEED),
    ("8.8.3 W/ is case-sensitive", sent(none_match=(b'w/"v2"',)), PROCEED),
    ("8.8.3 tags are case-sensitive", sent(none_match=(b'"V2"',)), PROCEED),
    ("13.1.2 first of a list", sent(none_match=(b'"v2", "v3"',)), NOT_MODIFIED),
    ("13.1.2 last of a list", sent(none_match=(b'"v1","v2"',)), NOT_MODIFIED),
    ("13.1.2 weak in a list", sent(none_match=(b'"v1", W/"v2"',)), NOT_MODIFIED),
    ("13.1.2 in none of a list", sent(none_match=(b'"v1", W/"v3", "v22"',)), PROCEED),
    ("8.8.3 a comma is part of a tag", sent(none_match=(b'"v1,", "v2"',)), NOT_MODIFIED),
    ("8.8.3 our tag inside another", sent(none_match=(b'"x,W/"v2"',)), PROCEED),
    ("8.8.3 a backslash escapes nothing", sent(none_match=(b'"v1\\", "v2"',)), NOT_MODIFIED),
    ("8.8.3 obs-text is allowed", sent(none_match=(b'"\xc3\xa9", "v2"',)), NOT_MODIFIED),
    ("8.8.3 the empty tag is a tag", sent(none_match=(b'"", "v2"',)), NOT_MODIFIED),
    ("5.6.1 empty elements", sent(none_match=(b' , ,"v1",,"v2" ,\t, ',)), NOT_MODIFIED),
    ("5.6.1 nothing but commas", sent(none_match=(b", ,",)), PROCEED),
    ("5.6.3 tabs are blanks", sent(none_match=(b'"v1"\t,\t"v2"',)), NOT_MODIFIED),
    ("5.3 several lines are one list", sent(none_match=(b'"v1"', b'"v2"')), NOT_MODIFIED),
    ("5.3 none on several lines", sent(none_match=(b'"v1"', b'"v3"')), PROCEED),
    ("5.3 no tag spans lines", sent(none_match=(b'"v1', b'v3", "v2"')), PROCEED),
    ("13.1.2 *", sent(none_match=(b"*",)), NOT_MODIFIED),
    ("5.5 * between blanks", sent(none_match=(b" *\t",)), NOT_MODIFIED),
    # ours: a list that is none matches nothing
    ("13.1.2 * is no list element", sent(none_match=(b'*, "v2"',)), PROCEED),
    ("13.1.2 * twice", sent(none_match=(b"*", b"*")), PROCEED),
    ("8.8.3 quotes are needed", sent(none_match=(b"v2",)), PROCEED),
    ("8.8.3 a quote is missing", sent(none_match=(b'"v1, "v2"',)), PROCEED),
    ("8.8.3 no blank within a tag", sent(none_match=(b'"v 1", "v2"',)), PROCEED),
    ("5.6.1 no comma between", sent(none_match=(b'"v1" "v2"',)), PROCEED),
    ("5.6.1 garbage behind", sent(none_match=(b'"v2"; q=1',)), PROCEED),
    ("5.5 a control character", sent(none_match=(b'"v2",\x0b',)), PROCEED),
    ("8.8.3 blank after W/", sent(none_match=(b'W/ "v2"',)), PROCEED),
    # If-None-Match before If-Modified-Since
    ("13.2.2 tag differs, date old", sent(none_match=(b'"v1"',), modified=(THEN,)), PROCEED),
    ("13.2.2 tag same, date older", sent(none_match=(ETAG,), modified=(BEFORE,)), NOT_MODIFIED),
    ("13.1.3 an empty list hides it", sent(none_match=(b"",), modified=(THEN,)), PROCEED),
    ("13.1.3 an invalid one hides it", sent(none_match=(b"v2",), modified=(THEN,)), PROCEED),
    # If-Modified-Since
    ("13.1.3 the same second", sent(modified=(THEN,)), NOT_MODIFIED),
    ("13.1.3 a later date", sent(modified=(AFTER,)), NOT_MODIFIED),
    ("13.1.3 an earlier date", sent(modified=(BEFORE,)), PROCEED),
    (
        "13.1.3 a future date counts",
        sent(modified=(b"Fri, 31 Dec 9999 23:59:59 GMT",)),
        NOT_MODIFIED,
    ),
    ("5.6.7 rfc850", sent(modified=(b"Sunday, 06-Nov-94 08:49:37 GMT",)), NOT_MODIFIED),
    ("5.6.7 asctime", sent(modified=(b"Sun Nov  6 08:49:37 1994",)), NOT_MODIFIED),
    ("5.5 blanks around a date", sent(modified=(b" " + THEN + b"\t",)), NOT_MODIFIED),
    ("13.1.3 not a date", sent(modified=(b"yesterday",)), PROCEED),
    ("13.1.3 empty", sent(modified=(b"",)), PROCEED),
    ("13.1.3 two lines", sent(modified=(THEN, THEN)), PROCEED),
    ("13.1.3 two members", sent(modified=(THEN + b", " + THEN,)), PROCEED),
    ("13.1.3 Netscape's length", sent(modified=(THEN + b"; length=42",)), PROCEED),
    # If-Match: strong comparison
    ("13.1.1 the same tag", sent(match=(b'"v2"',)), PROCEED),
    ("13.1.1 another tag", sent(match=(b'"v1"',)), FAILED),
    ("8.8.3.2 a weak tag is not the same", sent(match=(b'W/"v2"',)), FAILED),
    ("8.8.3.2 weak in a list", sent(match=(b'"v1", W/"v2"',)), FAILED),
    ("13.1.1 in a list", sent(match=(b'"v1", "v2"',)), PROCEED),
    ("8.8.3.2 weak and strong", sent(match=(b'W/"v2", "v2"',)), PROCEED),
    ("5.3 on several lines", sent(match=(b'"v1"', b'"v2"')), PROCEED),
    ("13.1.1 *", sent(match=(b"*",)), PROCEED),
    ("13.1.1 empty", sent(match=(b"",)), FAILED),
    ("13.1.1 not a list", sent(match=(b'"v2" or so',)), FAILED),
    # If-Unmodified-Since
    ("13.1.4 the same second", sent(unmodified=(THEN,)), PROCEED),
    ("13.1.4 a later date", sent(unmodified=(AFTER,)), PROCEED),
    ("13.1.4 an earlier date", sent(unmodified=(BEFORE,)), FAILED),
    ("13.1.4 not a date", sent(unmodified=(b"1994-11-06",)), PROCEED),
    ("13.1.4 two members", sent(unmodified=(BEFORE + b", " + BEFORE,)), PROCEED),
    ("13.1.4 two lines", sent(unmodified=(BEFORE, BEFORE)), PROCEED),
    # the order of 13.2.2
    ("13.2.2 1: If-Match first", sent(match=(b'"v1"',), none_match=(ETAG,)), FAILED),
    ("13.2.2 1 to 3", sent(match=(ETAG,), none_match=(ETAG,)), NOT_MODIFIED),
    ("13.2.2 1 to 4", sent(match=(ETAG,), modified=(THEN,)), NOT_MODIFIED),
    ("13.1.4 hidden by If-Match", sent(match=(ETAG,), unmodified=(BEFORE,)), PROCEED),
    ("13.2.2 2: before 3", sent(unmodified=(BEFORE,), none_match=(ETAG,)), FAILED),
    ("13.2.2 2: before 4", sent(unmodified=(BEFORE,), modified=(THEN,)), FAILED),
    ("13.2.2 2 to 3", sent(unmodified=(THEN,), none_match=(ETAG,)), NOT_MODIFIED),
    ("13.2.2 2 to 4", sent(unmodified=(THEN,), modified=(THEN,)), NOT_MODIFIED),
    ("13.2.2 6: nothing asked", sent(), PROCEED),
]


@pytest.mark.parametrize(
    ("conditions", "outcome"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_a_read_is_answered_as_the_clause_says(
    conditions: Conditions, outcome: ConditionResult
) -> None:
    assert outcome == evaluate(conditions, safe=True, etag=ETAG, last_modified=CHANGED, now=NOW)


@pytest.mark.parametrize(
    ("conditions", "outcome"),
    [
        pytest.param(sent(none_match=(ETAG,)), FAILED, id="13.2.2 3: 412 for other methods"),
        pytest.param(sent(none_match=(b"*",)), FAILED, id="13.1.2 * for other methods"),
        pytest.param(sent(none_match=(b'"v1"',)), PROCEED, id="13.1.2"),
        pytest.param(sent(modified=(THEN,)), PROCEED, id="13.1.3 only GET and HEAD"),
        pytest.param(sent(match=(b'"v1"',)), FAILED, id="13.1.1"),
        pytest.param(sent(unmodified=(BEFORE,)), FAILED, id="13.1.4"),
    ],
)
def test_no_other_method_is_answered_304(conditions: Conditions, outcome: ConditionResult) -> None:
    assert outcome == evaluate(conditions, safe=False, etag=ETAG, last_modified=CHANGED, now=NOW)


@pytest.mark.parametrize(
    ("conditions", "outcome"),
    [
        pytest.param(sent(none_match=(ETAG,)), PROCEED, id="13.1.2 no tag to match"),
        pytest.param(sent(none_match=(b"*",)), NOT_MODIFIED, id="13.1.2 it exists"),
        pytest.param(sent(match=(ETAG,)), FAILED, id="13.1.1 no tag to match"),
        pytest.param(sent(match=(b"*",)), PROCEED, id="13.1.1 it exists"),
        pytest.param(sent(modified=(AFTER,)), PROCEED, id="13.1.3 no date to compare"),
        pytest.param(sent(unmodified=(BEFORE,)), PROCEED, id="13.1.4 no date to compare"),
    ],
)
def test_without_tag_and_date_only_a_star_can_match(
    conditions: Conditions, outcome: ConditionResult
) -> None:
    assert outcome == evaluate(conditions, safe=True, etag=None, last_modified=None, now=NOW)


def test_each_coding_has_a_tag_of_its_own() -> None:
    """RFC 9110 8.8.3.3: the identity form's tag does not spare a client the gzip form."""
    conditions = sent(none_match=(b'"v2"',))

    outcome = evaluate(conditions, safe=True, etag=b'"v2-gzip"', last_modified=CHANGED, now=NOW)

    assert outcome is PROCEED


def called(act: Callable[[], object]) -> set[str]:
    """The names of the C functions called."""
    names = set()

    def note(_frame: object, event: str, function: object) -> None:
        if event == "c_call":
            names.add(getattr(function, "__name__", ""))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return names


@pytest.mark.parametrize(
    ("value", "searched"),
    [
        (b'"v2"', False),
        (b'"v1"', False),
        (b'W/"v2"', False),
        (b"*", False),
        (b'"v1", "v3"', False),
        (b'"v1", "v2"', True),
    ],
)
def test_a_single_tag_is_compared_without_a_regular_expression(
    value: bytes, *, searched: bool
) -> None:
    """performance.md: nearly every request of a polling client goes this way."""
    conditions = sent(none_match=(value,))

    names = called(
        lambda: evaluate(conditions, safe=True, etag=ETAG, last_modified=CHANGED, now=NOW)
    )

    assert searched == bool(names & {"fullmatch", "match", "search", "findall", "finditer"})


def test_a_hostile_list_takes_linear_time() -> None:
    """A pattern that may split runs of blanks in many ways would not come back from this one."""
    hostile = (b" " * 8 + b",") * 1_800 + b'"v2"?'

    conditions = sent(none_match=(hostile,))

    outcome = evaluate(conditions, safe=True, etag=ETAG, last_modified=CHANGED, now=NOW)

    assert outcome is PROCEED


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
def test_the_three_formats_are_read(value: bytes, seconds: int) -> None:
    assert seconds == parse_http_date(value, NOW)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"0",
        b"784111777",
        b"1994-11-06T08:49:37Z",
        b"Sun, 06 Nov 1994 08:49:37",
        b"Sun, 06 Nov 1994 08:49:37 UTC",
        b"Sun, 06 Nov 1994 08:49:37 +0000",
        b"Sun, 06 Nov 1994 08:49:37 gmt",
        b"sun, 06 nov 1994 08:49:37 GMT",
        b"Sun, 6 Nov 1994 08:49:37 GMT",
        b"Sun, 06 Nov 94 08:49:37 GMT",
        b"Sun, 06-Nov-1994 08:49:37 GMT",
        b"Sun, 06-Nov-94 08:49:37 GMT",
        b"Sunday, 06 Nov 1994 08:49:37 GMT",
        b"Son, 06 Nov 1994 08:49:37 GMT",
        b"Sun, 06 Okt 1994 08:49:37 GMT",
        b"Sun,  06 Nov 1994 08:49:37 GMT",
        b"Sun, 06 Nov 1994 8:49:37 GMT",
        b"Sun, 06 Nov 1994 08:49 GMT",
        b" Sun, 06 Nov 1994 08:49:37 GMT",
        b"Sun, 06 Nov 1994 08:49:37 GMT\n",
        b"Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT".encode(),
        b"Sun Nov 6 08:49:37 1994",
        b"Sun Nov   6 08:49:37 1994",
        b"Sun Nov  6 08:49:37 1994 GMT",
        b"Wed, 30 Feb 1994 08:49:37 GMT",
        b"Wed, 29 Feb 2023 08:49:37 GMT",
        b"Sun, 00 Nov 1994 08:49:37 GMT",
        b"Sun, 31 Nov 1994 08:49:37 GMT",
        b"Sun Nov  0 08:49:37 1994",
        b"Sun, 06 Nov 0000 08:49:37 GMT",
        b"Sun, 06 Nov 1994 24:00:00 GMT",
        b"Sun, 06 Nov 1994 08:60:00 GMT",
        b"Sun, 06 Nov 1994 08:49:60 GMT",
        b"Sun, 06 Nov 1994 23:59:61 GMT",
    ],
)
def test_nothing_else_is_a_date(value: bytes) -> None:
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
def test_two_digits_are_a_year_at_most_fifty_years_ahead(
    now: tuple[int, int, int], value: bytes, year: int
) -> None:
    seconds = parse_http_date(value, calendar.timegm((*now, 0, 0, 0)))

    assert seconds is not None
    assert year == datetime.fromtimestamp(seconds, UTC).year


def test_29_february_is_looked_for_in_the_year_meant() -> None:
    """2000 is a leap year, 1900 is not; 29-Feb-00 must not be taken for either at will."""
    assert parse_http_date(b"Tuesday, 29-Feb-00 00:00:00 GMT", NOW) == 951_782_400
    assert parse_http_date(b"Thursday, 29-Feb-01 00:00:00 GMT", NOW) is None


MOMENTS = st.integers(min_value=0, max_value=253_402_300_799)


@given(MOMENTS)
def test_a_written_date_is_read_back(seconds: int) -> None:
    value = http_date(seconds)

    assert formatdate(seconds, usegmt=True).encode() == value
    assert seconds == parse_http_date(value, NOW)


@given(MOMENTS, st.integers(min_value=0, max_value=1_500_000_000))
def test_the_obsolete_formats_mean_the_same_moment(seconds: int, ago: int) -> None:
    at = datetime.fromtimestamp(seconds, UTC)

    assert seconds == parse_http_date(at.ctime().encode(), NOW)
    assert seconds == parse_http_date(
        at.strftime("%A, %d-%b-%y %H:%M:%S GMT").encode(), seconds + ago
    )


# Against a model

_PIECES = (b'"v2"', b'"v1"', b'W/"v2"', b"*", b",", b" ", b"\t", b'"', b"W/", b"v2", b"\xff", b"\n")
_LINE = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from(_PIECES), max_size=8).map(b"".join),
    st.lists(st.sampled_from(_PIECES[:3]), min_size=1, max_size=4).map(b", ".join),
)
_DATE_LINES = st.one_of(
    st.integers(min_value=-2, max_value=2).map(lambda off: http_date(CHANGED + off)),
    st.sampled_from([THEN, b"yesterday", b"", THEN + b", " + THEN, b"Sun Nov  6 08:49:37 1994"]),
    st.binary(max_size=40),
)


def fields(lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[tuple[bytes, ...]]:
    return st.lists(lines, max_size=3).map(tuple)


CONDITIONS = st.builds(
    Conditions,
    if_match=fields(_LINE),
    if_none_match=fields(_LINE),
    if_modified_since=fields(_DATE_LINES),
    if_unmodified_since=fields(_DATE_LINES),
)


def model_tags(lines: tuple[bytes, ...]) -> list[bytes] | None:
    """The tags of a field, read byte by byte; None when they are no list."""
    value, tags, between = b", ".join(lines).decode("latin-1"), [], True
    while value:
        if value[0] in " \t,":
            between = between or value[0] == ","
            value = value[1:]
            continue
        end = value.find('"', 3 if value.startswith('W/"') else 1)
        tag, value = value[: end + 1], value[end + 1 :]
        opaque = tag.removeprefix("W/")
        well_formed = len(opaque) > 1 and opaque[0] == opaque[-1] == '"'
        if not between or not well_formed or re.search(r"[\x00-\x20\x7f]", tag):
            return None
        tags.append(tag.encode("latin-1"))
        between = False
    return tags


def model_includes(lines: tuple[bytes, ...], accepted: set[bytes]) -> bool:
    if len(lines) == 1 and lines[0].strip(b" \t") == b"*":
        return True
    return bool(accepted.intersection(model_tags(lines) or ()))


def model_date(lines: tuple[bytes, ...]) -> int | None:
    return parse_http_date(lines[0].strip(b" \t"), NOW) if len(lines) == 1 else None


def model(conditions: Conditions, *, safe: bool) -> ConditionResult:
    """RFC 9110 13.2.2, retold with as little cleverness as possible."""
    since, until = (
        model_date(conditions.if_modified_since),
        model_date(conditions.if_unmodified_since),
    )
    if conditions.if_match and not model_includes(conditions.if_match, {ETAG}):
        return FAILED
    if not conditions.if_match and until is not None and until < CHANGED:
        return FAILED
    if conditions.if_none_match:
        if not model_includes(conditions.if_none_match, {ETAG, b"W/" + ETAG}):
            return PROCEED
        return NOT_MODIFIED if safe else FAILED
    return NOT_MODIFIED if safe and since is not None and since >= CHANGED else PROCEED


@given(conditions=CONDITIONS, safe=st.booleans())
def test_it_agrees_with_the_model(*, conditions: Conditions, safe: bool) -> None:
    assert model(conditions, safe=safe) == evaluate(
        conditions, safe=safe, etag=ETAG, last_modified=CHANGED, now=NOW
    )


@given(
    conditions=CONDITIONS,
    safe=st.booleans(),
    etag=st.none() | st.just(ETAG),
    last_modified=st.none() | st.integers(0, 2**40),
)
def test_no_bytes_make_it_raise(
    *, conditions: Conditions, safe: bool, etag: bytes | None, last_modified: int | None
) -> None:
    outcome = evaluate(conditions, safe=safe, etag=etag, last_modified=last_modified, now=NOW)

    assert outcome in ConditionResult


@given(st.binary(max_size=40))
def test_no_bytes_make_a_date_raise(value: bytes) -> None:
    seconds = parse_http_date(value, NOW)

    assert seconds is None or isinstance(seconds, int)
