"""Search finds what a naive reading of the rules finds (contract 3, data-model.md 3).

The thresholds between its ways to search are forced down, so that small data sets meet all of them.
"""

import datetime
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewsd.domain import times
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.issues import InvalidParametersError
from reviewsd.domain.search_query import (
    BY_RATING,
    CHANGED,
    HIGHEST,
    LOWEST,
    MENTIONS,
    NEWEST,
    OLDEST,
    SORTS,
    Cursor,
    SearchQuery,
    read_moment,
)
from reviewsd.snapshot.columns import Columns
from reviewsd.snapshot.search import Hits, search
from tests.support.columns import (
    AmbiguousError,
    Data,
    Insights,
    Location,
    Review,
    mentioned,
    opened,
    review,
    updated_at,
)
from tests.support.examples import examples
from tests.support.steps import finish

# -- a naive implementation of the rules


def in_order(reviews: Sequence[Review], sort: str) -> list[Review]:
    """Return reviews in an order, equal ones newest first."""
    newest = sorted(reviews, key=lambda item: (item["date"], item["id"]), reverse=True)
    if sort == OLDEST:
        return newest[::-1]
    if sort == CHANGED:
        return sorted(newest, key=updated_at, reverse=True)
    sign = {NEWEST: 0, HIGHEST: -1, LOWEST: 1}[sort]
    return sorted(newest, key=lambda item: sign * item["rating"])


FILTERS = {
    "mentions_technician": "technicians",
    "mentions_service": "services",
    "mentions_problem": "problems",
    "mentions_area": "service_areas",
    "mentions_topic": "topics",
    "mentions_aspect": "aspects",
}


def key_of(name: str) -> str:
    return name.strip().casefold()


def is_at(item: Review, locations: Sequence[Location], name: str) -> bool:
    """Return whether a review is about a location: ids and aliases come first, then names."""
    if not item.get("location"):
        return False
    own, key = key_of(item["location"] or ""), key_of(name)
    names = [{key_of(alias) for alias in (at["id"], *at["aliases"])} for at in locations]
    groups = [group for group in names if key in group]
    groups = groups or [
        group for at, group in zip(locations, names, strict=True) if key_of(at["name"]) == key
    ]
    return any(own in group for group in groups) if locations else own == key


def matches(item: Review, data: Data, query: SearchQuery) -> bool:
    insights = data.insights
    text, stars = item["text"], item["rating"]
    needle, since, until = query.query, query.since, query.until
    labels = insights.get("per_review", {}).get(item["id"], {})
    names = [(kind, getattr(query, parameter)) for parameter, kind in FILTERS.items()]
    felt = query.sentiment if query.mentions_aspect is not None else None
    return all(
        (
            *(
                item["id"] in mentioned(insights, kind, name, felt if kind == "aspects" else None)
                for kind, name in names
                if name is not None
            ),
            query.sentiment is None or bool(felt) or labels.get("sentiment") == query.sentiment,
            query.max_rating is None or stars <= query.max_rating,
            query.rating is None or stars == query.rating,
            query.min_rating is None or stars >= query.min_rating,
            query.source is None or key_of(item["source"]) == key_of(query.source),
            query.location is None or is_at(item, data.locations, query.location),
            query.verified is None or item["verified"] is query.verified,
            query.has_reply is None or ("owner_reply" in item) is query.has_reply,
            since is None or item["date"] >= since.isoformat(),
            until is None or item["date"] <= until.isoformat(),
            query.changed_since is None or updated_at(item) >= query.changed_since,
            needle is None or needle.casefold() in (text or "").casefold(),
        )
    )


def run(columns: Columns, query: SearchQuery) -> Hits:
    return finish(search(columns, query))


def steps_of(columns: Columns, query: SearchQuery) -> int:
    return sum(1 for _ in search(columns, query))


def ids(columns: Columns, query: SearchQuery) -> list[str]:
    return [columns.records.id_at(position) for position in run(columns, query).positions]


# -- data sets

# Characters that casefold to several, or look alike, combine, or take four bytes
NASTY = "aAsSſßẞiIİı\u0307eé\u0301ﬁfσςΣ😀 \n\0"  # noqa: RUF001  on purpose
TEXT = st.text(NASTY, max_size=8)
DAYS = [datetime.date(2025, 3, day) for day in (1, 2, 3, 14, 31)]
PEOPLE = [
    "Sam",
    "SAM ",
    "\u017fam",
    "Sam Jones",
    "sam-jones",
    "Straße",
    "STRASSE",
    "İ",
    "★",
    "a\0",
    "Sám",
    "Sam B",
]
REVIEW_IDS = [f"{letter}{number}" for letter in "aB~!" for number in range(20)]
SOME_NAMES = st.lists(st.sampled_from([*PEOPLE, "", " "]), max_size=3)
SOME_IDS = st.lists(st.sampled_from(REVIEW_IDS), max_size=4)
NAME = st.sampled_from(PEOPLE)
ENTITY = NAME | st.fixed_dictionaries(
    {"label": NAME},
    optional={"id": NAME, "name": NAME, "review_ids": SOME_IDS, "example_review_ids": SOME_IDS}
    | {"aliases": st.lists(NAME, max_size=2)},
)
ENTITIES = st.lists(ENTITY, max_size=3)
KINDS = ("technicians", "services", "problems", "service_areas")
SENTIMENTS = st.sampled_from(get_args(Sentiment))
ASPECT = NAME | st.fixed_dictionaries({"id": NAME}, optional={"sentiment": SENTIMENTS})
INSIGHTS = st.builds(
    Insights,
    entities=st.fixed_dictionaries(dict.fromkeys(KINDS, ENTITIES)),
    aspects=ENTITIES,
    topics=ENTITIES,
    per_review=st.dictionaries(
        st.sampled_from(REVIEW_IDS),
        st.fixed_dictionaries(
            {},
            optional=dict.fromkeys((*KINDS, "topics"), SOME_NAMES)
            | {"aspects": st.lists(ASPECT, max_size=3), "sentiment": SENTIMENTS},
        ),
        max_size=12,
    ),
)


NOON = read_moment("2025-03-14T12:00:00Z")
MOMENTS = ("2025-03-02T00:00:00Z", "2025-03-14T11:59:59.5Z", "2025-04-01T09:30:00+02:00")
STAMPED: tuple[Review, ...] = (
    {},
    {"owner_reply": {"text": "", "date": "2025-03-14"}},
    *(Review(added_at=moment) for moment in MOMENTS),
    {"added_at": MOMENTS[0], "changed_at": MOMENTS[1]},
    {"changed_at": MOMENTS[2]},
)
"""Times of changes: some at one moment, some at noon of their day."""


SOURCES: tuple[Review, ...] = (
    {},
    {"source": "GOOGLE", "verified": False},
    {"source": "Straße"},
    {"source": " yelp", "verified": False},
)
"""Sources, in several spellings."""

LOCATIONS: tuple[Location, ...] = (
    {"id": "dover", "name": "Rye", "aliases": ["1234", "Straße"]},
    {"id": "Rye", "name": "Harbor", "aliases": []},
    {"id": "kittery", "name": "harbor ", "aliases": ["ChIJ"]},
    {"id": "empty", "name": "Empty", "aliases": []},
)
"""Locations of which one has the name that is the id of another, and two have one name."""

LOCATED: tuple[Review, ...] = (
    {},
    {"location": None},
    {"location": ""},
    *(Review(location=name) for name in ("dover", "DOVER", "1234", "STRASSE", "rye", "ChIJ")),
)


WHERE = ("dover", "Dover ", "1234", "strasse", "RYE", "Harbor", "empty", "chij")


@st.composite
def data_sets(draw: st.DrawFn) -> Data:
    """Generate up to 60 unordered reviews of up to 12 kinds, with gaps between the ids."""
    kinds = draw(
        st.lists(st.tuples(st.sampled_from(DAYS), st.integers(1, 5), st.none() | TEXT), max_size=12)
    )
    repeated = draw(st.integers(1, 5))
    random = draw(st.randoms(use_true_random=False))
    chosen = random.sample(REVIEW_IDS, len(kinds) * repeated)
    reviews = [
        review(review_id, date=str(day), rating=rating, text=text)
        | random.choice(STAMPED)
        | random.choice(SOURCES)
        | random.choice(LOCATED)
        for review_id, (day, rating, text) in zip(chosen, kinds * repeated, strict=True)
    ]
    return Data(reviews, draw(INSIGHTS), draw(st.sampled_from([(), LOCATIONS])))


@st.composite
def queries(draw: st.DrawFn, data: Data) -> SearchQuery:
    """Generate a query; item of its filters is likely to match."""
    texts = [item["text"] for item in data.reviews if item["text"]]
    piece = TEXT
    if texts:
        text = draw(st.sampled_from(texts))
        at = draw(st.integers(0, len(text) - 1))
        length = draw(st.integers(1, 3))
        part = text[at : at + length]
        piece = piece | st.sampled_from([part, part.upper(), part.lower(), part.title()])
    days = st.none() | st.sampled_from([*DAYS, datetime.date.min, datetime.date.max])
    name = st.none() | st.sampled_from([*PEOPLE, " sAm\t", "nobody", " "])
    query = SearchQuery(
        rating=draw(st.none() | st.integers(1, 5)),
        min_rating=draw(st.none() | st.sampled_from([1, 1.5, 3.0, 4.01, 5])),
        since=draw(days),
        until=draw(days),
        query=draw(st.none() | piece.filter(bool)),
        max_rating=draw(st.none() | st.sampled_from([1, 1.5, 3.0, 4.01, 5])),
        sentiment=draw(st.none() | SENTIMENTS),
        source=draw(st.none() | st.sampled_from(["google", "STRASSE", "Yelp ", "nowhere", " "])),
        location=draw(st.none() | st.sampled_from([*WHERE, "nowhere", " "])),
        verified=draw(st.none() | st.booleans()),
        has_reply=draw(st.none() | st.booleans()),
        sort=draw(st.sampled_from(SORTS)),
        changed_since=draw(st.none() | st.sampled_from([*map(read_moment, MOMENTS), NOON])),
    )
    return replace(query, **draw(st.dictionaries(st.sampled_from([*FILTERS]), name, max_size=2)))


THRESHOLDS = st.fixed_dictionaries(
    {"SMALLEST": st.sampled_from([1, 4])},
    optional={
        "SEGMENT": st.sampled_from([1, 7, 16]),
        "SEGMENT_BYTES": st.sampled_from([1, 50]),
        "BLOCK": st.sampled_from([1, 2, 8]),
        "STRIDE": st.sampled_from([(1, 1_000), (4, 1_000), (16, 4)]),
        "LARGE": st.just(0),
        "FEW": st.sampled_from([0, 3]),
        "STEP": st.just(2),
        "STEP_BYTES": st.just(1),
        "CHANGES_BLOCK": st.sampled_from([1, 2, 7]),
        "FEW_REVIEWS": st.just(0),
    },
)
"""Small thresholds; ``fitted`` makes each stride a multiple of its block."""


def fitted(drawn: dict[str, Any]) -> dict[str, Any]:
    """Generate valid combinations of thresholds."""
    least, _ = drawn.get("STRIDE", (256, 32))
    return {**drawn, "BLOCK": min(drawn.get("BLOCK", 32), least)}


def _ambiguous(insights: Insights, query: SearchQuery) -> list[str]:
    """Return the filters with ambiguous names."""
    parameters = []
    for parameter in MENTIONS:
        try:
            mentioned(insights, FILTERS[parameter], getattr(query, parameter) or "")
        except AmbiguousError:
            if getattr(query, parameter) is not None:
                parameters.append(parameter)
    return parameters


def cursor_of(item: Review, sort: str) -> Cursor:
    return Cursor(
        datetime.date.fromisoformat(item["date"]),
        item["id"],
        sort,
        changed_at=updated_at(item) if sort == CHANGED else None,
        rating=item["rating"] if sort in BY_RATING else None,
    )


LAST = {
    NEWEST: Cursor(datetime.date.min, "!"),
    OLDEST: Cursor(datetime.date.max, "~~", OLDEST),
    HIGHEST: Cursor(datetime.date.min, "!", HIGHEST, rating=1),
    LOWEST: Cursor(datetime.date.min, "!", LOWEST, rating=5),
    CHANGED: Cursor(datetime.date.min, "!", CHANGED, changed_at=times.EPOCH),
}
"""A cursor after all reviews, by order."""


def check(columns: Columns, data: Data, query: SearchQuery) -> None:
    """Compare each page of a search, by its cursors, with the naive implementation."""
    if ambiguous := _ambiguous(data.insights, query):
        with pytest.raises(InvalidParametersError) as error:
            run(columns, query)
        assert ambiguous == [issue.path[0] for issue in error.value.issues]
        return
    ordered = in_order(data.reviews, query.sort)
    expected = [item for item in ordered if matches(item, data, query)]
    for start in range(0, max(1, len(expected)), query.limit):
        page = expected[start : start + query.limit]
        hits = run(columns, query)
        assert len(expected) == hits.matched
        assert [item["id"] for item in page] == [columns.records.id_at(at) for at in hits.positions]
        assert (start + query.limit < len(expected)) == hits.more
        if page:
            query = replace(query, cursor=cursor_of(page[-1], query.sort))
    end = run(columns, replace(query, cursor=LAST[query.sort]))
    assert (len(expected), [], False) == (end.matched, list(end.positions), end.more)


@given(st.data(), data_sets(), THRESHOLDS)
@examples(20)
def test_search_finds_the_same_as_a_naive_implementation(
    choices: st.DataObject, data: Data, thresholds: dict[str, Any]
) -> None:
    with opened(data, **fitted(thresholds)) as columns:
        for query in choices.draw(st.lists(queries(data), min_size=1, max_size=4)):
            limit = choices.draw(st.sampled_from([1, 2, 7, 20, 100]))
            check(columns, data, replace(query, limit=limit))


TEXTS = (None, "great", "Great STRASSE", "ungreat! ß", "so so")
NUMBERS = range(60)
MENTIONED: dict[str, dict[str, object]] = {
    f"{number:02}": {
        "technicians": ["Ann"] if number % 9 == 2 else [],
        "services": ["Few"] if number % 20 == 7 else ["Most"],
        "aspects": [{"id": "Price", "sentiment": get_args(Sentiment)[number % 3]}],
        "sentiment": get_args(Sentiment)[number // 2 % 3],
    }
    for number in NUMBERS
}
MANY = Data(
    [
        review(
            f"{number:02}",
            date=str(DAYS[number // 13]),
            rating=(1, 5, 5, 3, 4, 5, 2)[number % 7],
            text="A rare one" if number == 35 else TEXTS[number * number // 3 % 5],
        )
        | STAMPED[number % len(STAMPED)]
        | SOURCES[number // 3 % len(SOURCES)]
        | LOCATED[number // 5 % len(LOCATED)]
        for number in NUMBERS
    ],
    {"entities": {"technicians": ["Ann"], "services": ["Most", "Few"]}, "per_review": MENTIONED},
    LOCATIONS,
)
SMALL: dict[str, Any] = {
    "SEGMENT": 16,
    "SMALLEST": 1,
    "BLOCK": 2,
    "STRIDE": (4, 1_000),
    "FEW": 0,
    "STEP": 8,
    "CHANGES_BLOCK": 7,
    "FEW_REVIEWS": 0,
}
LARGE: dict[str, Any] = {**SMALL, "SEGMENT": 1 << 16, "LARGE": 0}
NONE: dict[str, Any] = {"FEW_REVIEWS": 0, "SMALLEST": 1_000, "STEP_BYTES": 1, "SEGMENT_BYTES": 100}
WAYS = [
    SearchQuery(),
    SearchQuery(rating=5),
    SearchQuery(min_rating=2.5),
    SearchQuery(rating=5, min_rating=5, since=DAYS[1], until=DAYS[3]),
    SearchQuery(rating=3),
    SearchQuery(rating=4, min_rating=2),
    SearchQuery(rating=2, min_rating=3),
    SearchQuery(since=DAYS[3], until=DAYS[1]),
    SearchQuery(mentions_technician="ann"),
    SearchQuery(mentions_service="most", min_rating=3),
    SearchQuery(mentions_technician="ann", mentions_service="few"),
    SearchQuery(mentions_technician="bob"),
    SearchQuery(max_rating=3.5, min_rating=2),
    SearchQuery(rating=5, max_rating=4),
    SearchQuery(mentions_aspect="price"),
    SearchQuery(mentions_aspect="price", sentiment="negative", max_rating=4),
    SearchQuery(mentions_technician="ann", sentiment="positive"),
    SearchQuery(source="google"),
    SearchQuery(source="strasse", verified=True, min_rating=2),
    SearchQuery(source="yelp", verified=True),
    *(SearchQuery(location=name) for name in (*WHERE, "nowhere")),
    *(SearchQuery(location="dover", sort=sort, min_rating=2) for sort in SORTS),
    SearchQuery(has_reply=True, sort=OLDEST),
    SearchQuery(has_reply=False, verified=False, sort=HIGHEST),
    *(SearchQuery(sort=sort) for sort in SORTS),
    SearchQuery(sort=OLDEST, since=DAYS[1], until=DAYS[3]),
    SearchQuery(sort=OLDEST, rating=5, until=DAYS[2]),
    SearchQuery(sort=LOWEST, since=DAYS[1], until=DAYS[3]),
    SearchQuery(sort=LOWEST, min_rating=2, mentions_service="most"),
    SearchQuery(sort=HIGHEST, rating=5, since=DAYS[2]),
    SearchQuery(sort=CHANGED, rating=3, until=DAYS[2]),
    SearchQuery(sort=CHANGED, changed_since=NOON),
    SearchQuery(changed_since=read_moment("2030-01-01")),
]


@pytest.mark.parametrize(
    "thresholds", [{}, SMALL, LARGE, NONE], ids=["as shipped", "small", "with numpy", "no index"]
)
def test_results_do_not_depend_on_the_thresholds(thresholds: dict[str, Any]) -> None:
    with opened(MANY, **thresholds) as columns:
        for text in (None, "GREAT", "ss", "S", "rare", "absent"):
            for query in WAYS:
                check(columns, MANY, replace(query, query=text, limit=3))


@pytest.mark.parametrize("data", [Data([], {}), Data([review("a")], {})], ids=["none", "no text"])
def test_empty_data_has_no_matches(data: Data) -> None:
    with opened(data) as columns:
        for query in WAYS:
            check(columns, data, query)
            check(columns, data, replace(query, query="a"))


def test_search_yields_after_each_segment() -> None:
    great = SearchQuery(query="great", limit=1)
    with opened(MANY, **SMALL) as columns:
        assert steps_of(columns, great) == 4  # of 12, 16, 16 and 16 reviews
        assert steps_of(columns, replace(great, since=DAYS[4], until=DAYS[4])) == 1
        assert steps_of(columns, SearchQuery(limit=1)) == 0


def test_search_yields_during_a_scan_of_long_texts() -> None:
    with opened(MANY, **SMALL | {"SMALLEST": 1_000, "STEP_BYTES": 40}) as columns:
        assert steps_of(columns, SearchQuery(query="great")) > 10


def test_search_yields_while_it_makes_a_bitmap() -> None:
    with opened(MANY, **SMALL | {"STRIDE": (1 << 20, 1), "STEP": 2}) as columns:
        assert steps_of(columns, SearchQuery(query="s")) > 10


# -- cursors: their review may not exist any more

ON = datetime.date(2025, 3, 14)
MORNING = [
    review(name, date="2025-01-02") | {"changed_at": f"2025-03-14T0{hour}:00:00Z"}
    for name, hour in (("p", 9), ("q", 8), ("r", 8), ("s", 7))
]
SAME_DAY = [review(name, date=str(ON), rating=ord(name) % 3 + 1) for name in "bdf"]
DIARY = Data(
    [review("n", date="2025-03-20"), *SAME_DAY, review("o", date="2025-03-02"), *MORNING], {}
)
GONE = [
    review(name, date=date, rating=rating) | STAMPED[at]
    for date in ("0001-01-01", "2025-01-02", "2025-03-02", str(ON), "2025-03-17", "9999-12-31")
    for name in ("!", "B", "e", "q", "~")
    for at, rating in enumerate((1, 2, 3, 4, 5))
]
"""Reviews that are not in the data any more, or not as they were when they ended a page."""


@pytest.mark.parametrize("sort", SORTS)
def test_cursor_continues_after_its_existing_or_missing_review(sort: str) -> None:
    """Nor need any other review have its day, its stars or the time of its change."""
    filters = (SearchQuery(), SearchQuery(since=ON, until=ON), SearchQuery(min_rating=2))
    with opened(DIARY) as columns:
        for last in (*DIARY.reviews, *GONE):
            cursor = cursor_of(last, sort)
            rest = [item for item in DIARY.reviews if cursor_of(item, sort) != cursor]
            ordered = in_order([*rest, last], sort)
            after = ordered[ordered.index(last) + 1 :]
            for query in filters:
                page = replace(query, sort=sort, cursor=cursor)
                expected = [item["id"] for item in after if matches(item, DIARY, query)]
                assert expected == ids(columns, page), last
                matched = sum(matches(item, DIARY, query) for item in DIARY.reviews)
                assert matched == run(columns, page).matched


def test_review_that_changes_between_two_pages_is_found_by_the_next_search() -> None:
    """It moves before the first page; the next search starts at the first change of the last one."""
    first = SearchQuery(sort=CHANGED, limit=2)
    with opened(Data(MORNING, {})) as columns:
        assert ["p", "r"] == ids(columns, first)
    later: Review = {**MORNING[3], "changed_at": "2025-03-14T10:00:00Z"}
    with opened(Data([*MORNING[:3], later], {})) as columns:
        assert ["q"] == ids(columns, replace(first, cursor=cursor_of(MORNING[2], CHANGED)))
        since = replace(first, changed_since=read_moment("2025-03-14T09:00:00Z"))
        assert ["s", "p"] == ids(columns, since)


def test_search_by_change_yields_after_each_block() -> None:
    """All matches may have changed long ago."""
    old = SearchQuery(sort=CHANGED, limit=1, mentions_service="few", until=DAYS[0])
    with opened(MANY, **SMALL) as columns:
        assert steps_of(columns, old) > 1
        assert steps_of(columns, SearchQuery(sort=CHANGED, limit=1)) == 0


def test_query_searches_only_the_text() -> None:
    """Other members do not match (data-model.md 3, rule 4)."""
    other_members = review("a", text="Quick.") | {
        "author": "Needle",
        "source": "needle",
        "owner_reply": {"text": "needle", "date": "2025-03-15"},
    }
    data = Data(
        [other_members, review("b", text="A nEEdle")], {"entities": {"technicians": ["needle"]}}
    )
    with opened(data) as columns:
        assert ids(columns, SearchQuery(query="needle")) == ["b"]
