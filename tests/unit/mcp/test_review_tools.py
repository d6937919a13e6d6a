"""The tools about reviews: the data of HTTP within the budget of a language model (mcp.md 5.4)."""

import datetime
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.parameters import read_query
from reviewsd.domain.search_query import MENTIONS, SORTS, TRUTH
from reviewsd.publish import documents
from reviewsd.snapshot.snapshots import Snapshot
from tests.support import vocabulary
from tests.support.columns import Review, review
from tests.support.daemon import HAND_MADE
from tests.support.examples import examples
from tests.support.generate import write_data
from tests.support.publishing import Directories
from tests.support.steps import finish
from tests.support.tools import Data, Tools, published

HOSTILE = "\"\\\n\t\x01\x7f\u2028\ud7ff\ufffe🎉</script>}],\u202e'`${}%s%d"


def publish_reviews(
    place: Path, *reviews: Review, insights: object = None, locations: object = ()
) -> Tools:
    place.mkdir(exist_ok=True)
    directories = Directories(place)
    directories.write(*reviews, insights=insights, locations=locations)
    return Tools(published(directories))


# -- search


@cache
def generated() -> Snapshot:
    with TemporaryDirectory() as place:
        directories = Directories(Path(place))
        write_data(directories.data, reviews=300)
        return published(directories)


def over_http(snapshot: Snapshot, values: dict[str, object]) -> bytes:
    """Return the body of the same search over HTTP."""
    spelled = (
        (name, TRUTH[value] if isinstance(value, bool) else value) for name, value in values.items()
    )
    query = read_query("&".join(f"{name}={value}" for name, value in spelled).encode())
    hits = finish(snapshot.search(query))
    records = [snapshot.records.at(position) for position in hits.positions]
    cursor = snapshot.cursor(hits, query.sort)
    after = None if cursor is None else cursor.encode()
    head, tail = documents.search_ends(hits.matched, len(records), after)
    return head + b",".join(records) + tail


def concise(served: Data) -> Data:
    """Return a review as lists have it: without null members and the avatar."""
    return {
        name: value
        for name, value in served.items()
        if value is not None and name != "author_avatar_url"
    }


DAYS = st.dates(datetime.date(2017, 1, 1), datetime.date(2026, 1, 1)).map(str)
FILTERS = {
    "rating": st.integers(1, 5),
    "min_rating": st.sampled_from([1, 2.5, 3]),
    "max_rating": st.sampled_from([3, 4.5, 5]),
    "since": DAYS,
    "until": DAYS,
    "query": st.sampled_from(["the", "a", "BOILER", "no such text", "e"]),
    "mentions_technician": st.sampled_from(vocabulary.TECHNICIANS[:3]),
    "mentions_service": st.sampled_from(vocabulary.SERVICES[:3]),
    "mentions_aspect": st.sampled_from(vocabulary.ASPECTS[:3]),
    "mentions_problem": st.sampled_from(vocabulary.PROBLEMS[:3]),
    "mentions_topic": st.sampled_from(vocabulary.TOPICS[:3]),
    "mentions_area": st.sampled_from(vocabulary.AREAS[:3]),
    "sentiment": st.sampled_from(["positive", "neutral", "negative"]),
    "changed_since": DAYS,
    "sort": st.sampled_from(SORTS),
    "source": st.sampled_from(["google", "Yelp", "nowhere"]),
    "location": st.sampled_from(["dover", "Kittery", "nowhere"]),
    "verified": st.booleans(),
    "has_reply": st.booleans(),
    "limit": st.integers(1, 100),
}


@examples(60)
@given(
    values=st.fixed_dictionaries({}, optional=FILTERS),
    spelled=st.booleans(),
    pages=st.integers(1, 3),
)
def test_search_equals_http_search(*, values: dict[str, object], spelled: bool, pages: int) -> None:
    """Reviews, order, counts and cursors are equal, for numbers and for strings."""
    tools = Tools(generated(), 1 << 30)
    values.setdefault("limit", 20)  # else a smaller budget holds
    for _ in range(pages):
        arguments = {name: str(value) for name, value in values.items()} if spelled else values
        result = tools.result("search_reviews", json.dumps(arguments).encode())
        expected = json.loads(over_http(tools.snapshot, values))
        expected["reviews"] = [concise(served) for served in expected["reviews"]]
        data = result.data
        assert ("note" in data) <= (not expected["matched"])
        data.pop("note", None)
        assert json.dumps(expected) == json.dumps(data)
        cursor = expected["next_cursor"]
        if cursor is None:
            break
        values = values | {"cursor": cursor}


def test_note_on_an_unknown_source_names_the_sources(tmp_path: Path) -> None:
    """An agent would take an empty result for the answer."""
    sources = [*["google"] * 3, "Yelp", *(f"s{number:02}" for number in range(20))]
    reviews = [review(f"r{at:02}") | {"source": source} for at, source in enumerate(sources)]
    tools = publish_reviews(tmp_path, *reviews)
    result = tools.data("search_reviews", {"source": "gogle"})
    listed = ", ".join(f'"s{number:02}"' for number in range(18))
    expected = f'no source is called "gogle". Known sources: "google", {listed}, "s18", and 2 more'
    assert (0, expected) == (result["matched"], result["note"])
    assert "note" not in tools.data("search_reviews", {"source": "GOOGLE", "rating": 1})


def test_note_on_an_unknown_location_names_the_locations(tmp_path: Path) -> None:
    """Declared ones by id, in the order of the file; without any, those that reviews name."""
    reviews = [review(f"r{at}") | {"location": name} for at, name in enumerate(("b", "x", "x"))]
    bare = publish_reviews(tmp_path / "bare", *reviews).data("search_reviews", {"location": "Dovr"})
    expected = 'no location is called "Dovr". Known locations: '
    assert (0, f'{expected}"x", "b"') == (bare["matched"], bare["note"])
    declared = [
        {"id": "b", "name": "Berwick"},
        {"id": "a", "name": "Alton"},
        {"id": "dover", "name": "Dover", "aliases": ["x"]},
    ]
    tools = publish_reviews(tmp_path / "declared", *reviews, locations=declared)
    note = tools.data("search_reviews", {"location": "Dovr"})["note"]
    assert f'{expected}"b", "a", "dover"' == note
    page = tools.data("search_reviews", {"location": "DOVER"})
    assert (2, ["x", "x"]) == (page["matched"], [item["location"] for item in page["reviews"]])
    assert "note" not in tools.data("search_reviews", {"location": "Alton"})
    profile = tools.data("get_business", {})["business"]
    assert ["Berwick", "Alton", "Dover"] == [place["name"] for place in profile["locations"]]


def test_reviews_since_a_day_are_a_search(demo: Tools) -> None:
    page = demo.data("get_reviews_since", {"date": "2026-09-01", "limit": 3})
    assert {"since": "2026-09-01"} | demo.data(
        "search_reviews", {"since": "2026-09-01", "limit": 3}
    ) == page
    next_page = demo.data(
        "get_reviews_since", {"date": "2026-09-01", "limit": 3, "cursor": page["next_cursor"]}
    )
    assert page["matched"] == next_page["matched"]
    assert page["reviews"][-1]["date"] >= next_page["reviews"][0]["date"]
    assert page["reviews"] != next_page["reviews"]


# -- budgets


def walk(tools: Tools, name: str, arguments: dict[str, object], most: int) -> Iterator[str]:
    """Yield the ids of all pages, each within the budget."""
    cursor = None
    while True:
        page_arguments = arguments if cursor is None else {**arguments, "cursor": cursor}
        page = tools.data(name, page_arguments)
        assert page["returned"] == len(page["reviews"]) >= 1
        assert tools.size(name, page_arguments) <= most
        yield from (record["id"] for record in page["reviews"])
        cursor = page["next_cursor"]
        if cursor is None:
            return


LENGTHS = (700, 3_000, 10, 3_700, 90_000, 1_200, 1_200, 1_200, 1_200, 1_200) * 3


@cache
def long_texts(letter: str) -> Snapshot:
    with TemporaryDirectory() as place:
        directories = Directories(Path(place))
        texts = (letter * length for length in LENGTHS)
        directories.write(*(review(f"r{n:02}", text=text) for n, text in enumerate(texts)))
        return published(directories)


@pytest.mark.parametrize(
    ("limit", "most"), [({}, 20_000), ({"limit": 100}, 40_000)], ids=["default", "limit"]
)
@pytest.mark.parametrize("letter", ["x", "ж", "日", "🎉", '"', "\\", "\n", "\x01"])
@pytest.mark.parametrize("name", ["search_reviews", "get_reviews_since"])
def test_long_texts_make_short_pages(
    name: str, letter: str, limit: dict[str, object], most: int
) -> None:
    """The budget is in bytes, because a Japanese text has as many tokens as characters."""
    tools = Tools(long_texts(letter))
    arguments = limit | ({"date": "2000-01-01"} if name == "get_reviews_since" else {})
    ids = list(walk(tools, name, arguments, most))
    assert sorted(ids, reverse=True) == ids
    assert len(LENGTHS) == len(ids)


def test_the_budget_is_used(tmp_path: Path) -> None:
    tools = publish_reviews(tmp_path, *(review(f"r{n:03}", text="x" * 1_000) for n in range(100)))
    assert 38_000 < tools.size("search_reviews", {"limit": 100}) <= 40_000
    assert 18_000 < tools.size("search_reviews", {"limit": None}) <= 20_000
    small = Tools(tools.snapshot, 5_000)
    assert 3_000 < small.size("search_reviews", {"limit": 100}) <= 5_000
    assert 3_000 < small.size("search_reviews") <= 5_000


# -- one review


def test_one_review_is_found_by_its_id(demo: Tools) -> None:
    insights = json.loads(HAND_MADE.read_bytes())["per_review"]
    for record in demo.data("search_reviews", {"limit": 100})["reviews"]:
        for spelled in (record["id"], f" {record['id'].lower()}\n"):
            data = demo.data("get_review", {"id": spelled})
            assert record == concise(data["review"])
            assert "author_avatar_url" in data["review"]
            assert insights.get(record["id"]) == data["insight"]


def test_ids_that_differ_only_in_case_are_distinct(tmp_path: Path) -> None:
    tools = publish_reviews(tmp_path, review("ab"), review("AB"), review("Ab"), review("b"))
    for review_id in ("ab", "AB", "Ab", "b"):
        assert review_id == tools.data("get_review", {"id": review_id})["review"]["id"]
    assert "ab" == tools.data("get_review", {"id": "aB"})["review"]["id"]


def test_insight_is_completed(tmp_path: Path) -> None:
    insight = {"aspects": ["speed"], "odd": "\u00eb"}
    tools = publish_reviews(
        tmp_path, review("a"), review("b"), insights={"per_review": {"a": insight}}
    )
    assert {
        "sentiment": None,
        "aspects": ["speed"],
        "technicians": [],
        "services": [],
        "problems": [],
        "service_areas": [],
        "topics": [],
        "odd": "ë",
    } == tools.data("get_review", {"id": "a"})["insight"]
    assert tools.data("get_review", {"id": "b"})["insight"] is None


WAY = (
    " Take ids as they are from search_reviews, get_reviews_since or example_review_ids; "
    "search_reviews with query finds reviews by their text. The newest review has the id "
    '"01M739YG0D19M9F73VGTYNH9RZ".'
)


def test_error_for_unknown_id_explains_where_ids_come_from(demo: Tools) -> None:
    assert 'get_review: no review has the id "nope".' + WAY == demo.error(
        "get_review", {"id": "nope"}
    )
    for strange in ("~~~", "!", "x" * 60_000, HOSTILE):
        assert len(demo.error("get_review", {"id": strange})) < 1_000


@pytest.mark.parametrize(
    "mistyped", ["01m739yg0d", "01M739YG0D19M9F73VGTYNH9R", "01M739YG0D19M9F73VGTYNH9RX"]
)
def test_error_for_misspelled_id_suggests_the_right_one(demo: Tools, mistyped: str) -> None:
    message = demo.error("get_review", {"id": mistyped})
    assert f'"{mistyped}"; did you mean "01M739YG0D19M9F73VGTYNH9RZ"?{WAY}' in message


def test_error_repeats_a_long_id_completely(tmp_path: Path) -> None:
    tools = publish_reviews(tmp_path, review("i" * 128))
    assert 2 == tools.error("get_review", {"id": "i" * 127}).count(f'"{"i" * 128}"')


# -- texts of any length


def publish_review(place: Path, **members: object) -> tuple[Tools, Data]:
    """Publish one review, and return it as a list has it."""
    tools = publish_reviews(place, {**review("a"), **members})  # type: ignore[typeddict-item] # of any kind
    (listed,) = tools.data("search_reviews")["reviews"]
    return tools, listed


@pytest.mark.parametrize("letter", ["x", "日", "🎉", '"', "\x01"])
def test_a_long_text_ends_early_in_a_list_and_comes_in_parts(tmp_path: Path, letter: str) -> None:
    """60,000 characters are too many for one result."""
    text = "".join(f"{letter}{n}" for n in range(12_000))
    tools, listed = publish_review(tmp_path, text=text)
    beginning = listed["text"].removesuffix("…")
    assert text.startswith(beginning)
    assert 300 < len(beginning) <= 4_000
    expected = (
        f"text: the first {len(beginning):,} of {len(text):,} characters; get_review has more"
    )
    assert listed["truncated"].startswith(expected)

    arguments: dict[str, object] = {"id": "a"}
    read = ""
    while True:
        part = tools.data("get_review", arguments)
        assert tools.size("get_review", arguments) < 10_000
        read += part["review"]["text"]
        assert (
            f"text: characters {len(read) - len(part['review']['text']):,} to {len(read):,} of "
            in (part["review"]["truncated"])
        )
        if part["next_text_offset"] is None:
            break
        assert len(read) == part["next_text_offset"]
        arguments["text_offset"] = len(read)
    assert text == read


def test_other_long_members_are_shortened(tmp_path: Path) -> None:
    """The rules are in tests/unit/publish/test_excerpts."""
    reply = {"text": "R" * 50_000, "date": "2025-01-02"}
    tools, listed = publish_review(
        tmp_path, text="short", owner_reply=reply, photos=["p" * 500] * 500, date="2025-01-01"
    )
    one = tools.data("get_review", {"id": "a"})
    location = (
        "https://reviews.example/api/reviews/search?since=2025-01-01&until=2025-01-01&limit=100"
    )
    for shortened, rest in ((listed, "get_review has more of it"), (one["review"], location)):
        assert ("short", "2025-01-02") == (shortened["text"], shortened["owner_reply"]["date"])
        assert "photos" not in shortened
        assert shortened["truncated"].endswith(rest)
    assert tools.size("search_reviews") < 7_000
    assert tools.size("get_review", {"id": "a"}) < 7_000
    assert one["next_text_offset"] is None


def test_long_insight_is_shortened(tmp_path: Path) -> None:
    published = {
        "aspects": [{"id": f"a{n}", "phrase": "x" * 900} for n in range(900)],
        "odd": "y" * 9_000,
    }
    tools = publish_reviews(tmp_path, review("a"), insights={"per_review": {"a": published}})
    insight = tools.data("get_review", {"id": "a"})["insight"]
    assert 5 <= len(insight["aspects"]) <= 100
    assert "odd" not in insight
    assert insight["truncated"].endswith("the whole is in https://reviews.example/insights.json")
    assert tools.size("get_review", {"id": "a"}) < 7_000


def test_a_text_can_be_read_from_anywhere(tmp_path: Path) -> None:
    tools = publish_reviews(tmp_path, review("a", text="0123456789"), review("b", text=None))
    assert "789" == tools.data("get_review", {"id": "a", "text_offset": 7})["review"]["text"]
    assert "0123456789" == tools.data("get_review", {"id": "a", "text_offset": 0})["review"]["text"]
    expected = "get_review: text_offset must be less than {}, the characters of the text."
    assert expected.format(10) == tools.error("get_review", {"id": "a", "text_offset": 10})
    assert expected.format(0) == tools.error("get_review", {"id": "b", "text_offset": 1})


# -- notes on results without a match


def test_note_for_unknown_name_lists_the_known_ids(demo: Tools) -> None:
    data = demo.data("search_reviews", {"mentions_technician": "Be"})
    assert (0, []) == (data["matched"], data["reviews"])
    assert data["note"].startswith('no technician is called "Be"; the nearest is "ben-okafor"')
    assert "no service is called" in demo.data("search_reviews", {"mentions_service": "x"})["note"]
    # for a known name the reason is not certain
    second = demo.data("search_reviews", {"mentions_technician": "Ben Okafor", "query": "zzzzz"})
    assert (0, False) == (second["matched"], "note" in second)
    assert "note" not in demo.data("search_reviews", {"mentions_technician": "Ben Okafor"})
    for kind in ("aspect", "problem", "topic", "area"):
        other_data = demo.data("search_reviews", {f"mentions_{kind}": "zzz", "limit": 1})
        assert other_data["note"].startswith(f'no {kind} is called "zzz". Known ids: ')


def test_filter_by_mention_is_refused_without_insights(tmp_path: Path) -> None:
    """A count of 0 would be wrong."""
    bare = publish_reviews(tmp_path, review("a"))
    message = (
        "search_reviews: no insights are published for this business, so it is not known what "
        "reviews mention: leave out {}, use query."
    )
    for name in (*MENTIONS, "sentiment"):
        assert message.format(name) == bare.error("search_reviews", {name: "positive"})
    both = {"sentiment": "negative", "mentions_aspect": "pricing", "rating": 1}
    assert message.format("mentions_aspect, sentiment") == bare.error("search_reviews", both)


def test_name_that_only_a_review_mentions_is_known(tmp_path: Path) -> None:
    """A name in a review need not be an entity."""
    insights = {"per_review": {"a": {"technicians": ["Bob"]}}}
    tools = publish_reviews(tmp_path, review("a", rating=5), insights=insights)
    for rating, expected in ((5, 1), (1, 0)):
        answer = tools.data("search_reviews", {"mentions_technician": "bob", "rating": rating})
        assert (expected, False) == (answer["matched"], "note" in answer)


def test_note_explains_a_query_of_several_words(demo: Tools) -> None:
    """No review has these words side by side."""
    expected = "the query is matched as one phrase: try a single word of it"
    for name in ("search_reviews", "get_faq"):
        assert expected == demo.data(name, {"query": "boiler leak price"})["note"]
        assert "note" not in demo.data(name, {"query": "zzzzz"})
        assert "note" not in demo.data(name, {"query": "the "})


def test_note_reports_dates_in_the_wrong_order(demo: Tools) -> None:
    data = demo.data("search_reviews", {"since": "2025-02-01", "until": "2025-01-01"})
    assert "since is after until" == data["note"]


def test_tools_work_without_reviews(tmp_path: Path) -> None:
    tools = publish_reviews(tmp_path)
    assert "get_review: there are no reviews yet." == tools.error("get_review", {"id": "a"})
    assert 0 == tools.data("search_reviews")["matched"]
    assert tools.data("get_business")["aggregate_rating"]["rating_value"] is None


# -- the business, and hostile texts


def test_the_business_is_that_of_the_dataset(demo: Tools) -> None:
    dataset = json.loads(bytes(demo.snapshot.documents["/reviews.json"].body))
    assert {
        "business": dataset["business"],
        "aggregate_rating": dataset["aggregate_rating"],
        "review_count": len(dataset["reviews"]),
    } == demo.data("get_business")


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    """The text of a review must not change the structure of a result."""
    reviews = [review('"\\', text=HOSTILE), review("b", text=HOSTILE * 50)]
    for record in reviews:
        record["author"] = HOSTILE
    tools = publish_reviews(
        tmp_path, *reviews, insights={"per_review": {'"\\': {"sentiment": "positive"}}}
    )
    page = tools.data("search_reviews", {"query": HOSTILE[:20]})
    assert [HOSTILE * 50, HOSTILE] == [record["text"] for record in page["reviews"]]
    one = tools.data("get_review", {"id": '"\\'})
    assert (HOSTILE, "positive") == (one["review"]["text"], one["insight"]["sentiment"])


@pytest.mark.parametrize("parameter", ["rating", "stars", "query", "cursor"])
def test_error_repeats_a_hostile_argument_shortened(demo: Tools, parameter: str) -> None:
    assert len(demo.error("search_reviews", {parameter: HOSTILE * 400})) < 600
