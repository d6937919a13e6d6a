"""Search parameters: what is read, and what is said of each that is wrong (seed 4.4, contract 3, S16)."""

import base64
import datetime
import re
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewsd.domain import times
from reviewsd.domain.issues import InvalidParametersError
from reviewsd.domain.parameters import MAX_COMPARED, read_cursor, read_date, read_query
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.domain.search_query import (
    BY_RATING,
    CHANGED,
    HIGHEST,
    NEWEST,
    OLDEST,
    SORTS,
    Cursor,
    SearchQuery,
    read_moment,
)

LEAP_DAY = datetime.date(2024, 2, 29)
CURSOR = Cursor(datetime.date(2025, 3, 14), "01J9ZK3V5Q8R2N7M4T6W1X0YAB")
CHANGED_CURSOR = replace(CURSOR, sort=CHANGED, changed_at=read_moment("2025-03-15T08:30:00Z"))
OLDEST_CURSOR = replace(CURSOR, sort=OLDEST)
HIGHEST_CURSOR = replace(CURSOR, sort=HIGHEST, rating=4)

NAMES = [item.name for item in SEARCH_PARAMETERS]  # in the order of the table

Issue = dict[str, object]


def issues_of(query: bytes) -> list[Issue]:
    with pytest.raises(InvalidParametersError) as refused:
        read_query(query)
    return [item.as_json() for item in refused.value.issues]


def issue(code: str, name: str, rule: str, **details: object) -> Issue:
    return {"code": code, "path": [name], "message": f"{name} {rule}", **details}


def cursor_of(plain: bytes) -> bytes:
    return base64.urlsafe_b64encode(plain).rstrip(b"=")


GOOD = [
    (b"", SearchQuery()),
    (b"&&=&=5&", SearchQuery()),
    (b"rating=5", SearchQuery(rating=5)),
    (b"rating=5.0", SearchQuery(rating=5)),
    (b"rating=" + b"0" * 4_999 + b"5", SearchQuery(rating=5)),
    (b"rating=%35", SearchQuery(rating=5)),
    (b"r%61ting=5", SearchQuery(rating=5)),
    (b"min_rating=4.5", SearchQuery(min_rating=4.5)),
    (b"min_rating=45E-1", SearchQuery(min_rating=4.5)),
    (b"min_rating=5." + b"0" * 5_000, SearchQuery(min_rating=5)),
    (b"since=2024-02-29&until=0001-01-01", SearchQuery(since=LEAP_DAY, until=datetime.date.min)),
    (b"query=a+b%2Bc%20d", SearchQuery(query="a b+c d")),
    (b"query=+", SearchQuery(query=" ")),
    (b"query=a%3Db=c", SearchQuery(query="a=b=c")),
    (b"query=%00%F0%9F%98%80", SearchQuery(query="\0😀")),
    ("query=ß".encode(), SearchQuery(query="ß")),
    (b"query=" + quote("😀" * 200).encode(), SearchQuery(query="😀" * 200)),
    (b"&".join(f"{name}=".encode() for name in NAMES), SearchQuery()),
    (b"limit=", SearchQuery()),
    (b"limit&q=&page=&Rating", SearchQuery()),
    (b"query", SearchQuery()),
    (b"mentions_technician=Sam+Jones", SearchQuery(mentions_technician="Sam Jones")),
    (b"source=Yelp&source_url=x", SearchQuery(source="Yelp")),
    (b"location=Dover%20", SearchQuery(location="Dover ")),
    (b"verified=true&has_reply=false", SearchQuery(verified=True, has_reply=False)),
    (b"verified=f%61lse", SearchQuery(verified=False)),
    (b"sentiment=negative", SearchQuery(sentiment="negative")),
    (b"sort=oldest", SearchQuery(sort=OLDEST)),
    (
        b"sort=oldest&cursor=" + OLDEST_CURSOR.encode().encode(),
        SearchQuery(sort=OLDEST, cursor=OLDEST_CURSOR),
    ),
    (
        b"sort=highest&cursor=" + HIGHEST_CURSOR.encode().encode(),
        SearchQuery(sort=HIGHEST, cursor=HIGHEST_CURSOR),
    ),
    (b"cursor=" + CURSOR.encode().encode(), SearchQuery(cursor=CURSOR)),
    (b"utm_source=x&utm_source=y&from=timeline&%zz=%zz&%ff=%ff", SearchQuery()),
    (b"ratng" + 40 * b"g" + b"=5", SearchQuery()),
]


@pytest.mark.parametrize(("query", "expected"), GOOD)
def test_a_good_query_is_read(query: bytes, expected: SearchQuery) -> None:
    assert expected == read_query(query)


RULES: dict[str, tuple[str, str, Issue]] = {
    "integer": ("invalid_type", "must be an integer from 1 to 5", {"expected": "integer"}),
    "count": ("invalid_type", "must be an integer from 1 to 100", {"expected": "integer"}),
    "number": ("invalid_type", "must be a number from 1 to 5", {"expected": "number"}),
    "least": ("too_small", "must be at least 1", {"minimum": 1, "inclusive": True}),
    "most": ("too_big", "must be at most 5", {"maximum": 5, "inclusive": True}),
    "most 100": ("too_big", "must be at most 100", {"maximum": 100, "inclusive": True}),
    "date": ("invalid_format", "must be a date as YYYY-MM-DD", {"format": "date"}),
    "moment": (
        "invalid_format",
        "must be a date as YYYY-MM-DD, or a time as 2025-01-31T12:00:00Z",
        {"format": "date-time"},
    ),
    "boolean": ("invalid_type", "must be true or false", {"expected": "boolean"}),
    "sentiment": ("invalid_value", "must be one of positive, neutral, negative", {}),
    "sort": ("invalid_value", "must be one of newest, oldest, highest, lowest, changed", {}),
}
"""The code of each rule, its words, and the further members of the issue."""

WORDS = ["NaN", "Infinity", "0x5", "five"]
BLANKS = [" 5", "5 ", "5\n", "+5", "5\0", "1_0", "5.", ".5"]
DIGITS = ["５", "٥", "²"]  # noqa: RUF001  digits of other scripts are the point
FULL_WIDTH = "２０２５-01-01"  # noqa: RUF001  the same
WRONG_TEXTS: list[tuple[str, str, list[str], list[str]]] = [
    ("rating", "integer", [*WORDS, "5.5", "1e0", "5.0e0"], [*BLANKS, *DIGITS]),
    ("limit", "count", [*WORDS, "5.5", "1e0", "5.0e0"], [*BLANKS, *DIGITS]),
    ("min_rating", "number", [*WORDS, "1e", "e1"], [*BLANKS, *DIGITS, "1e1.0", "4.5.0"]),
    ("max_rating", "number", ["x"], []),
    ("rating", "most", ["6"], []),
    ("rating", "least", ["0", "-1"], []),
    ("min_rating", "most", ["5.1", "1e1", "1e999999999"], []),
    ("min_rating", "least", ["0.9", "1e-999999999", "-1e999999999"], []),
    ("limit", "most 100", ["101"], []),
    ("limit", "least", ["0"], []),
    *(
        (
            name,
            "date",
            ["20250101"],
            [
                *("2025-02-30", "2025-13-01", "2023-02-29", "0000-01-01", "2025-1-1", FULL_WIDTH),
                *("2025-W01-1", "2025-01-01T00:00:00Z", " 2025-01-01"),
                *("2025-01-01\n", "2025-01-01\0"),
            ],
        )
        for name in ("since", "until")
    ),
    (
        "changed_since",
        "moment",
        ["20250101", "1764000000", "yesterday"],
        [
            *("2025-02-30", "2025-01-01T00:00:00", "2025-01-01T24:00:00Z", "2025-01-01T00:00Z"),
            *("2025-01-01T00:00:00+25:00", "0001-01-01T00:00:00+00:01", FULL_WIDTH),
        ],
    ),
    ("verified", "boolean", ["1", "yes", "True", "TRUE", "on"], [" true", "false\n"]),
    ("has_reply", "boolean", ["1", "yes", "True", "TRUE", "on"], [" true", "false\n"]),
    ("sentiment", "sentiment", ["good"], []),
    ("sort", "sort", ["best"], []),
]
"""Values that break a rule: messages have those of the first list as they are, the others in quotes."""

MUCH = "9" * 40
LONG = f'"{MUCH}... (5000 characters)"'


@pytest.mark.parametrize(
    ("name", "rule", "text", "quoted_value"),
    [
        *((name, rule, text, text) for name, rule, plain, _ in WRONG_TEXTS for text in plain),
        *(
            (name, rule, text, f'"{text}"')
            for name, rule, _, quoted in WRONG_TEXTS
            for text in quoted
        ),
        ("rating", "integer", "x" * 41, f'"{"x" * 40}... (41 characters)"'),
        ("rating", "most", "9" * 5_000, LONG),
        ("rating", "least", "-" + "9" * 5_000, f'"-{MUCH[1:]}... (5001 characters)"'),
        ("since", "date", "9" * 5_000, LONG),
        ("changed_since", "moment", "9" * 5_000, LONG),
    ],
)
def test_wrong_value_names_its_rule(name: str, rule: str, text: str, quoted_value: str) -> None:
    code, words, details = RULES[rule]
    expected = issue(code, name, f"{words}, got {quoted_value}", **details)
    assert [expected] == issues_of(f"{name}={quote(text)}".encode())


def test_date_of_an_address_is_refused_like_that_of_a_query() -> None:
    with pytest.raises(InvalidParametersError) as refused:
        read_date("2025-02-30")
    (wrong,) = issues_of(b"since=2025-02-30")
    message = str(wrong["message"]).replace("since", "date")
    assert [wrong | {"path": ["date"], "message": message}] == [
        item.as_json() for item in refused.value.issues
    ]


@pytest.mark.parametrize("text", ["x" * 201, "😀" * 201, "ß" * 300])
def test_a_text_is_measured_in_characters(text: str) -> None:
    rule = f"must have at most 200 characters, got {len(text)}"
    expected = issue("too_big", "query", rule, maximum=200, inclusive=True)
    assert [expected] == issues_of(b"query=" + quote(text).encode())


ENCODED = CURSOR.encode().encode()
NO_CURSORS = [
    b"x",
    b"%20" + ENCODED,
    ENCODED + b"%3D",  # padded
    ENCODED[:-1],
    ENCODED[:4] + b"%0A" + ENCODED[4:],
    ENCODED.replace(b"M", b"%C3%A9", 1),
    "é".encode(),
    cursor_of(b"2025-03-14/"),
    cursor_of(b"2025-02-30/x"),
    cursor_of(b"20250314/x"),
    cursor_of(b"2025-03-14/a b"),
    cursor_of(b"2025-03-14/a\n"),
    cursor_of(b"2025-03-14/\xff"),
    cursor_of("2025-03-14/é".encode()),
    cursor_of(b"2025-03-14/" + b"x" * 129),
    cursor_of(b"changed/2025-03-14T09:00:00Z"),
    cursor_of(b"changed/2025-03-14T09:00:00Z/2025-03-14/"),
    cursor_of(b"changed/2025-03-14T09:00:00+00:00/2025-03-14/x"),  # another spelling
    cursor_of(b"changed/2025-03-14/2025-03-14/x"),
    cursor_of(b"newest/2025-03-14/x"),
    cursor_of(b"oldest/5/2025-03-14/x"),
    *(cursor_of(b"highest/%b/2025-03-14/x" % stars) for stars in (b"", b"0", b"6", b"05", b"5.0")),
    cursor_of(b"lowest/2025-03-14/x"),
    cursor_of(b"2025-03-14/ab")[:-1] + b"j",  # the same bytes, other unused bits
    base64.b64encode(b"2025-03-14/~~~???").rstrip(b"=").replace(b"+", b"%2B"),  # not url-safe
]


@pytest.mark.parametrize("text", NO_CURSORS)
def test_a_cursor_is_one_of_ours_in_its_only_spelling(text: bytes) -> None:
    rule = "must be the next_cursor of an earlier answer; leave it out to start again"
    expected = issue("invalid_format", "cursor", rule, format="cursor")
    assert [expected] == issues_of(b"cursor=" + text)


EVERY = pytest.mark.parametrize(
    ("name", "kind"), [(item.name, item.kind.value) for item in SEARCH_PARAMETERS]
)


@EVERY
def test_a_parameter_is_given_once(name: str, kind: str) -> None:
    escaped = f"%{ord(name[0]):x}{name[1:]}"
    for values in [("1", "1"), ("", ""), ("", "%zz"), ("1", "", "x")]:
        rule = f"must be given once, got {len(values)} times"
        expected = issue("invalid_type", name, rule, expected=kind)
        assert [expected] == issues_of("&".join(f"{name}={value}" for value in values).encode())
        assert [expected] == issues_of("&".join(f"{escaped}={value}" for value in values).encode())


BROKEN = [b"%", b"%z", b"%zz", b"5%", b"5%2", b"%5", b"%%35", b"%u0035", b"%ff%"]
NOT_UTF8 = [b"%ff", b"\xff", b"5%80", b"%C3", b"%C0%80", b"%ED%A0%80", b"%F4%90%80%80", b"%FE"]


@pytest.mark.parametrize("name", NAMES)
def test_value_is_utf8_in_whole_escapes(name: str) -> None:
    for texts, words, form in (
        (BROKEN, "has a broken percent-escape", "percent-encoding"),
        (NOT_UTF8, "must be UTF-8", "utf-8"),
    ):
        expected = [issue("invalid_format", name, words, format=form)]
        assert [] == [
            text for text in texts if issues_of(b"%b=%b" % (name.encode(), text)) != expected
        ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-03-14", "2025-03-14T00:00:00Z"),
        ("2025-03-14T09:00:00Z", "2025-03-14T09:00:00Z"),
        ("2025-03-14t09:00:00.25z", "2025-03-14T09:00:00.250000Z"),
        ("2025-03-14T09:00:00%2B05:30", "2025-03-14T03:30:00Z"),
        ("2025-03-14T09:00:00+05:30", "2025-03-14T03:30:00Z"),  # the plus is a blank here
        ("2025-03-14T09:00:00-05:30", "2025-03-14T14:30:00Z"),
        ("2025-03-14%2009:00:00Z", "2025-03-14T09:00:00Z"),
    ],
)
def test_moments_of_every_zone_are_told_in_utc(text: str, expected: str) -> None:
    """A client has the time from a program that wrote it with its offset, and seldom escapes the plus."""
    query = read_query(f"changed_since={text}".encode())
    assert expected == times.spelled(query.changed_since or times.EPOCH)
    assert f"changed_since={expected}" == query.canonical()


@pytest.mark.parametrize(
    ("query", "sort", "second_query"),
    [
        (f"cursor={CURSOR.encode()}&sort=changed", "changed", "newest"),
        (f"cursor={CHANGED_CURSOR.encode()}", "newest", "changed"),
        (f"sort=newest&cursor={CHANGED_CURSOR.encode()}", "newest", "changed"),
        (f"cursor={OLDEST_CURSOR.encode()}", "newest", "oldest"),
        (f"sort=lowest&cursor={HIGHEST_CURSOR.encode()}", "lowest", "highest"),
        (f"sort=highest&cursor={CURSOR.encode()}", "highest", "newest"),
    ],
)
def test_cursor_of_another_order_is_refused(query: str, sort: str, second_query: str) -> None:
    """In another order it would silently skip reviews."""
    rule = f"must be of sort={sort}, got one of sort={second_query}"
    assert [issue("invalid_value", "cursor", rule)] == issues_of(query.encode())
    with pytest.raises(InvalidParametersError) as refused:
        read_cursor(CHANGED_CURSOR.encode())
    assert [("cursor",)] == [item.path for item in refused.value.issues]


def test_the_order_that_is_usual_is_not_told() -> None:
    assert SearchQuery() == read_query(b"sort=newest")
    assert "" == read_query(b"sort=newest").canonical()


def test_all_issues_are_raised_in_the_order_of_the_table() -> None:
    query = "&other=%zz&".join(f"{name}=%zz" for name in reversed(NAMES)).encode()
    issues = issues_of(query)
    assert [[name] for name in NAMES] == [item["path"] for item in issues]
    with pytest.raises(InvalidParametersError) as refused:
        read_query(query)
    assert "; ".join(str(item["message"]) for item in issues) == str(refused.value)


@pytest.mark.parametrize(
    ("query", "name", "names"),
    [
        (b"q=boiler", "q", ["query"]),
        (b"r%61tng=5", "ratng", ["rating"]),
        (b"min+rating=5", "min rating", ["min_rating"]),
        (b"rating=5&ratings=4&ratings=3", "ratings", ["rating"]),
        (b"date=2025-01-01", "date", ["since", "until"]),
        (b"from=2025-01-01", "from", ["since"]),
    ],
)
def test_name_near_a_parameter_is_refused(query: bytes, name: str, names: list[str]) -> None:
    """A typing error must not return everything."""
    quoted_value = name if name.isalnum() else f'"{name}"'
    expected = {
        "code": "unrecognized_keys",
        "path": [name],
        "message": f"{quoted_value} is not a parameter; did you mean {' or '.join(names)}?",
        "keys": [name],
        "did_you_mean": names,
    }
    assert [expected] == issues_of(query)


def test_names_that_are_wrong_come_after_values_that_are() -> None:
    paths = [item["path"] for item in issues_of(b"stars=5&q=x&limit=0&rating=9&zzz=1")]
    assert [["rating"], ["limit"], ["stars"], ["q"]] == paths


def test_strange_names_are_compared_up_to_a_number() -> None:
    """Comparing takes longer than ignoring, and there is room for thousands of names."""
    strange = b"&".join(b"x%d=1" % number for number in range(MAX_COMPARED))
    assert SearchQuery() == read_query(strange + b"&stars=5")
    assert 1 == len(issues_of(strange.replace(b"x0=1&", b"") + b"&stars=5"))


RANGE = [
    (b"min_rating=4&max_rating=2", "4 and 2"),
    (b"max_rating=4.25&rating=3&min_rating=4.5", "4.5 and 4.25"),
]


@pytest.mark.parametrize(("query", "got"), RANGE)
def test_a_range_of_ratings_is_not_empty(query: bytes, got: str) -> None:
    most = float(got.rsplit(maxsplit=1)[-1])
    rule = f"must not be greater than max_rating, got {got}"
    expected = issue("too_big", "min_rating", rule, maximum=most, inclusive=True)
    assert [expected] == issues_of(query)
    first_part = issues_of(b"limit=0&rating=9&" + query.replace(b"&rating=3", b""))
    assert ["rating", "min_rating", "limit"] == [item["path"][0] for item in first_part]  # type: ignore[index]


def test_a_range_may_have_one_rating_or_none() -> None:
    assert SearchQuery(min_rating=2, max_rating=2) == read_query(b"max_rating=2&min_rating=2.0")
    assert SearchQuery(min_rating=2.2, max_rating=2.8) == read_query(
        b"min_rating=2.2&max_rating=2.8"
    )


# -- canonical form and fuzzing

CHARACTERS = st.characters(codec="utf-8")
TEXTS = st.none() | st.text(CHARACTERS, min_size=1, max_size=200)
DATES = st.none() | st.dates()
MOMENTS = st.datetimes(timezones=st.just(datetime.UTC))
IDS = st.from_regex(r"[!-~]{1,128}", fullmatch=True)
CURSORS = st.one_of(
    st.builds(Cursor, st.dates(), IDS, st.sampled_from([NEWEST, OLDEST])),
    st.builds(Cursor, st.dates(), IDS, st.just(CHANGED), changed_at=MOMENTS),
    st.builds(Cursor, st.dates(), IDS, st.sampled_from([*BY_RATING]), rating=st.integers(1, 5)),
)


def sorted_as(query: SearchQuery) -> SearchQuery:
    """A query in the order of its cursor."""
    return query if query.cursor is None else replace(query, sort=query.cursor.sort)


QUERIES = st.builds(
    SearchQuery,
    rating=st.none() | st.integers(1, 5),
    min_rating=st.none() | st.integers(1, 3) | st.floats(1, 3),
    max_rating=st.none() | st.integers(3, 5) | st.floats(3, 5),
    source=TEXTS,
    location=TEXTS,
    verified=st.none() | st.booleans(),
    has_reply=st.none() | st.booleans(),
    since=DATES,
    until=DATES,
    query=TEXTS,
    mentions_technician=TEXTS,
    mentions_service=TEXTS,
    mentions_aspect=TEXTS,
    mentions_problem=TEXTS,
    mentions_topic=TEXTS,
    mentions_area=TEXTS,
    sentiment=st.none() | st.sampled_from(["positive", "neutral", "negative"]),
    changed_since=st.none() | MOMENTS,
    sort=st.sampled_from(SORTS),
    limit=st.integers(1, 100),
    cursor=st.none() | CURSORS,
).map(sorted_as)


@given(QUERIES)
def test_the_canonical_form_asks_for_the_same(query: SearchQuery) -> None:
    assert query == read_query(query.canonical().encode("ascii"))


def test_equal_numbers_have_one_canonical_form() -> None:
    spellings = (b"min_rating=4", b"min_rating=4.0", b"min_rating=40e-1&limit=20&x=1")
    assert {"min_rating=4"} == {read_query(item).canonical() for item in spellings}


@given(CURSORS)
def test_cursor_is_decoded_to_the_same_value(cursor: Cursor) -> None:
    assert cursor == Cursor.decode(cursor.encode())
    assert re.fullmatch("[A-Za-z0-9_-]+", cursor.encode()) is not None


SNIPPETS = st.sampled_from(
    [b"%", b"%2", b"%ff", b"+", b"-", b".", b"e", b"5", b"0", b"2025-01-0", b"=", b"&", b"\xff"]
)
VALUES = st.lists(SNIPPETS, max_size=6).map(b"".join) | st.binary(max_size=12)
PAIRS = st.tuples(st.sampled_from(NAMES).map(str.encode), VALUES).map(b"=".join)
ANYTHING = st.binary() | st.lists(PAIRS).map(b"&".join)


@given(ANYTHING)
@example(b"q")
def test_any_bytes_are_read_or_refused_with_reasons(query: bytes) -> None:
    try:
        read = read_query(query)
    except InvalidParametersError as refused:
        names = [item.path[0] for item in refused.issues]
        known = [name for name in NAMES if name in names]
        assert names
        assert known == names[: len(known)]
        assert set(names[len(known) :]).isdisjoint(NAMES)  # misspelled names come last
    else:
        assert read == read_query(read.canonical().encode())
