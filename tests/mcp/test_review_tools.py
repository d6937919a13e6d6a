"""The tools about reviews: what HTTP answers, within what a language model can take (mcp.md 5.4)."""

import datetime
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewsd.domain.parameters import read_query
from reviewsd.formats import documents
from reviewsd.mcp.toolbox import Toolbox
from reviewsd.stores.snapshots import Snapshot
from tests.support import vocabulary
from tests.support.columns import Review, review
from tests.support.daemon import DEMO
from tests.support.generate import write_data
from tests.support.publishing import House
from tests.support.tools import Tools, demo_snapshot, published

HOSTILE = "\"\\\n\t\x01\x7f\u2028\ud7ff\ufffe🎉</script>}],\u202e'`${}%s%d"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return Tools(demo_snapshot(House(tmp_path_factory.mktemp("demo"))))


def tools(place: Path, *reviews: Review, insights: object = None) -> Tools:
    house = House(place)
    house.write(*reviews, insights=insights)
    return Tools(published(house))


# -- search


@cache
def generated() -> Snapshot:
    with TemporaryDirectory() as place:
        house = House(Path(place))
        write_data(house.data, reviews=300)
        return published(house)


def over_http(snapshot: Snapshot, values: dict[str, object]) -> bytes:
    """What the route of the public site answers."""
    query = read_query("&".join(f"{name}={value}" for name, value in values.items()).encode())
    steps = snapshot.search(query)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        hits = end.value
    records = [snapshot.record(position) for position in hits.positions]
    cursor = snapshot.cursor(hits)
    after = None if cursor is None else cursor.encode()
    return documents.search_result(hits.matched, len(records), b",".join(records), after)


DAYS = st.dates(datetime.date(2017, 1, 1), datetime.date(2026, 1, 1)).map(str)
FILTERS = {
    "rating": st.integers(1, 5),
    "min_rating": st.sampled_from([1, 2.5, 4, 4.5, 5]),
    "since": DAYS,
    "until": DAYS,
    "query": st.sampled_from(["the", "a", "BOILER", "no such text", "e"]),
    "mentions_technician": st.sampled_from(vocabulary.TECHNICIANS[:3]),
    "mentions_service": st.sampled_from(vocabulary.SERVICES[:3]),
    "limit": st.integers(1, 100),
}


@settings(max_examples=150, deadline=None)
@given(
    values=st.fixed_dictionaries({}, optional=FILTERS),
    spelled=st.booleans(),
    pages=st.integers(1, 3),
)
def test_a_search_is_that_over_http(
    *, values: dict[str, object], spelled: bool, pages: int
) -> None:
    """Same records, order, counts and cursors, byte for byte; numbers as such or as strings."""
    found = Tools(generated(), Toolbox(1 << 30))
    values.setdefault("limit", 20)  # else a smaller budget holds
    for _ in range(pages):
        given = {name: str(value) for name, value in values.items()} if spelled else values
        answer = found.answer("search_reviews", json.dumps(given).encode())
        assert answer.structured is not None
        expected = over_http(found.snapshot, values)
        assert expected == b"".join(answer.structured)
        cursor = json.loads(expected)["next_cursor"]
        if cursor is None:
            break
        values = values | {"cursor": cursor}


def test_reviews_are_those_of_the_dataset(demo: Tools) -> None:
    given = {
        each["id"]: each for each in json.loads((DEMO / "reviews.json").read_bytes())["reviews"]
    }
    reviews = demo.data("search_reviews", {"limit": 100})["reviews"]
    assert 100 == len(reviews)
    for each in reviews:
        assert given[each["id"]].items() <= each.items()


def test_reviews_since_a_day_are_a_search(demo: Tools) -> None:
    found = demo.data("get_reviews_since", {"date": "2026-09-01", "limit": 3})
    assert {"since": "2026-09-01"} | demo.data(
        "search_reviews", {"since": "2026-09-01", "limit": 3}
    ) == found
    following = demo.data(
        "get_reviews_since", {"date": "2026-09-01", "limit": 3, "cursor": found["next_cursor"]}
    )
    assert found["matched"] == following["matched"]
    assert found["reviews"][-1]["date"] >= following["reviews"][0]["date"]
    assert found["reviews"] != following["reviews"]


def test_the_future_has_no_reviews(demo: Tools) -> None:
    expected = {"matched": 0, "returned": 0, "reviews": [], "next_cursor": None}
    assert {"since": "9999-12-31"} | expected == demo.data(
        "get_reviews_since", {"date": "9999-12-31"}
    )
    assert expected == demo.data("search_reviews", {"query": "zzzzz"})


# -- budgets


def walk(found: Tools, name: str, arguments: dict[str, object], most: int) -> Iterator[str]:
    """The ids of all pages, each within its budget or of one review."""
    cursor = None
    while True:
        given = arguments if cursor is None else {**arguments, "cursor": cursor}
        page = found.data(name, given)
        assert page["returned"] == len(page["reviews"]) >= 1
        assert page["returned"] == 1 or found.size(name, given) <= most
        yield from (each["id"] for each in page["reviews"])
        cursor = page["next_cursor"]
        if cursor is None:
            return


@pytest.mark.parametrize(
    ("limit", "most"), [({}, 38_000), ({"limit": 100}, 80_000)], ids=["default", "limit"]
)
@pytest.mark.parametrize("letter", ["x", "ж", "🎉", '"', "\\", "\n"])
@pytest.mark.parametrize("name", ["search_reviews", "get_reviews_since"])
def test_long_texts_make_short_pages(
    tmp_path: Path, name: str, letter: str, limit: dict[str, object], most: int
) -> None:
    """A budget is characters of the text, whatever it takes to write them."""
    lengths = (7_000, 30_000, 10, 37_000, 90_000, 12_000, 12_000, 12_000, 12_000, 12_000)
    found = tools(
        tmp_path,
        *(review(f"r{n}", text=letter * length) for n, length in enumerate(lengths)),
    )
    given = limit | ({"date": "2000-01-01"} if name == "get_reviews_since" else {})
    ids = list(walk(found, name, given, most))
    assert sorted(ids, reverse=True) == ids
    assert len(lengths) == len(ids)


def test_the_budget_is_used(tmp_path: Path) -> None:
    found = tools(tmp_path, *(review(f"r{n:03}", text="x" * 1_000) for n in range(100)))
    assert 78_000 < found.size("search_reviews", {"limit": 100}) <= 80_000
    small = Tools(found.snapshot, Toolbox(5_000))
    assert 3_000 < small.size("search_reviews", {"limit": 100}) <= 5_000
    assert 3_000 < small.size("search_reviews") <= 5_000


# -- one review


def test_one_review_is_found_by_its_id(demo: Tools) -> None:
    insights = json.loads((DEMO / "insights.json").read_bytes())["per_review"]
    for each in demo.data("search_reviews", {"limit": 100})["reviews"]:
        for spelled in (each["id"], f" {each['id'].lower()}\n"):
            found = demo.data("get_review", {"id": spelled})
            assert each == found["review"]
            assert insights.get(each["id"]) == found["insight"]


def test_ids_that_differ_in_case_alone_are_two(tmp_path: Path) -> None:
    found = tools(tmp_path, review("ab"), review("AB"), review("Ab"), review("b"))
    for each in ("ab", "AB", "Ab", "b"):
        assert each == found.data("get_review", {"id": each})["review"]["id"]
    assert "ab" == found.data("get_review", {"id": "aB"})["review"]["id"]


def test_an_analysis_is_completed(tmp_path: Path) -> None:
    said = {"aspects": ["speed"], "odd": "\u00eb"}
    found = tools(tmp_path, review("a"), review("b"), insights={"per_review": {"a": said}})
    assert {
        "sentiment": None,
        "score": 0.0,
        "aspects": ["speed"],
        "technicians": [],
        "services": [],
        "problems": [],
        "service_areas": [],
        "topics": [],
        "odd": "ë",
    } == found.data("get_review", {"id": "a"})["insight"]
    assert found.data("get_review", {"id": "b"})["insight"] is None


def test_an_unknown_id_names_the_nearest(demo: Tools) -> None:
    said = demo.error("get_review", {"id": "01m739yg0d"})
    assert said.startswith(
        'get_review: no review has the id "01m739yg0d"; the nearest id is '
        '"01M739YG0D19M9F73VGTYNH9RZ". The newest ids: 01M739YG0D19M9F73VGTYNH9RZ, '
    )
    assert 19 == said.count(", 01")
    for strange in ("~~~", "!", "x" * 60_000, HOSTILE):
        assert len(demo.error("get_review", {"id": strange})) < 1_000


def test_without_reviews_there_is_nothing_to_name(tmp_path: Path) -> None:
    found = tools(tmp_path)
    assert "get_review: there are no reviews yet." == found.error("get_review", {"id": "a"})
    assert 0 == found.data("search_reviews")["matched"]
    assert found.data("get_business")["aggregate_rating"]["rating_value"] is None


# -- the business, and what is hostile


def test_the_business_is_that_of_the_dataset(demo: Tools) -> None:
    dataset = json.loads(b"".join(demo.snapshot.documents["/reviews.json"].identity.parts))
    assert {
        "business": dataset["business"],
        "aggregate_rating": dataset["aggregate_rating"],
        "review_count": len(dataset["reviews"]),
    } == demo.data("get_business")


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    """What reviewers write must neither break an answer nor become part of it."""
    given = [review('"\\', text=HOSTILE), review("b", text=HOSTILE * 50)]
    for each in given:
        each["author"] = HOSTILE
    found = tools(tmp_path, *given, insights={"per_review": {'"\\': {"sentiment": "positive"}}})
    page = found.data("search_reviews", {"query": HOSTILE[:20]})
    assert [HOSTILE * 50, HOSTILE] == [each["text"] for each in page["reviews"]]
    one = found.data("get_review", {"id": '"\\'})
    assert (HOSTILE, "positive") == (one["review"]["text"], one["insight"]["sentiment"])


@pytest.mark.parametrize("parameter", ["rating", "stars", "query", "cursor"])
def test_hostile_arguments_are_told_back_as_text(demo: Tools, parameter: str) -> None:
    assert len(demo.error("search_reviews", {parameter: HOSTILE * 400})) < 600
