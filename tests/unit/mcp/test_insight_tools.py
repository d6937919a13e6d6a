"""The tools about the insights: derived names, order, bounds, look-ups (mcp.md 5.4, 5.5)."""

import json
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import load
from reviewsd.mcp.results import DEFAULT_BUDGET
from reviewsd.publish.excerpts import MAX_EXCERPT
from tests.support.broken import INSIGHTS, Document, nearly
from tests.support.columns import review
from tests.support.daemon import DEMO
from tests.support.examples import examples
from tests.support.publishing import Directories
from tests.support.tools import Data, Tools, demo_snapshot, published

GIVEN = json.loads((DEMO / "insights.json").read_bytes())
HOSTILE = "\"\\\n\t\x01\x7f\u2028\ud7ff\ufffe🎉</script>}],\u202e'`${}%s%d"
ENTITIES = {
    "get_aspect_sentiment": ("aspect", GIVEN["aspects"]),
    "get_technician": ("name", GIVEN["entities"]["technicians"]),
    "get_service": ("service", GIVEN["entities"]["services"]),
}
LISTS = ("aspects", "technicians", "services", "problems", "service_areas", "topics")
PARAMETERS = ("aspect", "technician", "service", "problem", "area", "topic")
FILTERS = {kind: f"mentions_{name}" for kind, name in zip(LISTS, PARAMETERS, strict=True)}
ALL: dict[str, dict[str, object]] = {
    "get_aspect_sentiment": {"aspect": "a"},
    "get_technician": {"name": "a"},
    "get_service": {"service": "a"},
    "get_topics": {},
    "get_sentiment_trend": {},
    "get_faq": {},
    "get_summary": {},
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return Tools(demo_snapshot(Directories(tmp_path_factory.mktemp("demo"))))


def told(place: Path, insights: object) -> Tools:
    """One review and what is said of it."""
    directories = Directories(place)
    directories.write(review("a"), insights=insights)
    return Tools(published(directories))


def mentioned(entities: list[Data]) -> list[Data]:
    return sorted(entities, key=lambda each: -each["mention_count"])


def leading(parameter: str, entity: Data) -> Data:
    """An entity with the arguments that list its reviews."""
    return entity | {"search_reviews": {parameter: entity["id"]}}


# -- aspects, technicians, services


@pytest.mark.parametrize("name", ENTITIES)
def test_an_entity_is_found_by_id_and_label(demo: Tools, name: str) -> None:
    argument, entities = ENTITIES[name]
    for each in entities:
        for spelled in (each["id"], each["label"], f" {each['label'].upper()} "):
            found = demo.data(name, {argument: spelled})
            given = {key: value for key, value in each.items() if key != "review_ids"}
            assert given.items() <= found.items()
            assert "review_ids" not in found


@pytest.mark.parametrize("written", ["Réparation A/C", {"label": "Réparation A/C"}])
def test_what_is_left_out_is_derived(tmp_path: Path, written: object) -> None:
    found = told(tmp_path, {"entities": {"technicians": [written]}})
    expected = {
        "id": "reparation-a-c",
        "name": "Réparation A/C",
        "label": "Réparation A/C",
        "top_phrases": [],
        "example_review_ids": [],
        "note": "not in the published insights: mention_count, positive_count, neutral_count,"
        " negative_count, positive_pct, score, average_rating",
        "search_reviews": {"mentions_technician": "reparation-a-c"},
    }
    assert expected == found.data("get_technician", {"name": "REPARATION-a-c"})
    assert list(expected) == list(found.data("get_technician", {"name": "réparation a/c"}))


def test_an_id_comes_before_a_label(tmp_path: Path) -> None:
    """And among equals what is mentioned more often."""
    aspects = [
        {"id": "x", "label": "Speed", "mention_count": 9},
        {"id": "speed", "label": "Haste", "mention_count": 1},
        {"id": "y", "label": "haste", "mention_count": 5},
    ]
    found = told(tmp_path, {"aspects": aspects})
    ids = {
        name: found.data("get_aspect_sentiment", {"aspect": name})["id"]
        for name in ("Speed", "HASTE", "x")
    }
    assert {"Speed": "speed", "HASTE": "y", "x": "x"} == ids


def test_an_unknown_name_lists_the_known_ones(demo: Tools) -> None:
    known = ", ".join(each["id"] for each in mentioned(GIVEN["entities"]["technicians"]))
    assert (
        'get_technician: no technician is called "Be"; the nearest is "ben-okafor" (Ben Okafor). '
        f"Known ids: {known}."
    ) == demo.error("get_technician", {"name": "Be"})
    assert (f'get_technician: no technician is called "Zzz". Known ids: {known}.') == demo.error(
        "get_technician", {"name": "Zzz"}
    )
    assert demo.error("get_aspect_sentiment", {"aspect": "pricng"}).startswith(
        'get_aspect_sentiment: no aspect is called "pricng"; the nearest is "pricing" (Pricing). '
    )


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Jhon", "john"), ("Marya", "maria"), ("anne-lise", "annelise"), ("Bob", None), ("", None)],
)
def test_a_name_that_is_nearly_right_is_recognised(
    tmp_path: Path, name: str, nearest: str | None
) -> None:
    found = told(tmp_path, {"entities": {"technicians": ["John", "Maria", "Annelise"]}})
    said = found.result("get_technician", json.dumps({"name": name or "?"}).encode()).text
    assert (nearest is not None) == ("the nearest is" in said)
    assert nearest is None or f'"{nearest}"' in said


def test_ids_are_told_whole_or_not_at_all(tmp_path: Path) -> None:
    """Half an id finds nothing."""
    services = [
        {"id": "s" * 128, "label": "Roof " * 100},
        {"id": "t" * 129, "label": "Roofs"},
        {"id": "u", "label": "Gutter"},
    ]
    found = told(tmp_path, {"entities": {"services": services}})
    said = found.error("get_service", {"service": "oof"})
    roof = ("Roof " * 8)[:40]
    assert said == (
        f'get_service: no service is called "oof"; the nearest is "{"s" * 128}" ({roof}...). '
        f"Known ids: {'s' * 128}, u."
    )


def test_a_name_that_is_far_from_right_costs_little(tmp_path: Path) -> None:
    """Comparing texts letter by letter is quadratic: it was 0.4 s for each call of anybody."""
    letters = random.Random(7)
    names = ["".join(letters.choices("abcdefgh", k=100)) for _ in range(2_000)]
    found = told(tmp_path, {"entities": {"technicians": names}})

    def seconds(name: str) -> float:
        given = json.dumps({"name": name}).encode()
        start = time.process_time()
        found.result("get_technician", given)
        return time.process_time() - start

    def least(name: str) -> float:
        return min(seconds(name) for _ in range(5))

    assert least("".join(letters.choices("abcdefgh", k=100))) < 10 * least(names[0][:1])


def test_of_many_the_most_mentioned_are_listed(tmp_path: Path) -> None:
    services = [{"id": f"s{n:02}", "mention_count": n} for n in range(35)]
    found = told(tmp_path, {"entities": {"services": services}})
    known = ", ".join(f"s{n:02}" for n in range(34, 14, -1))
    assert (
        f'get_service: no service is called "zzz". Known ids: the 20 most mentioned of 35: {known}; '
        'get_topics with kind "services" has all.'
    ) == found.error("get_service", {"service": "zzz"})


def test_hostile_names_are_names(tmp_path: Path) -> None:
    technicians = [HOSTILE, "\x00", "a\x005", "a", {"id": "\uffff", "label": "\U0010ffff"}]
    found = told(tmp_path, {"entities": {"technicians": technicians}})
    for name in (HOSTILE, "\x00", "a\x005", "a", "\U0010ffff"):
        assert name == found.data("get_technician", {"name": name})["label"]
    assert len(found.error("get_technician", {"name": HOSTILE * 1_000})) < 1_000


# -- lists


def test_topics_are_those_mentioned_most_first(demo: Tools) -> None:
    found = demo.data("get_topics")
    assert len(GIVEN["topics"]) == found["returned"]
    assert [leading("mentions_topic", each) for each in mentioned(GIVEN["topics"])] == found[
        "topics"
    ]


@pytest.mark.parametrize(("arguments", "months"), [({}, 24), ({"months": "3"}, 3)])
def test_the_trend_has_the_newest_months(
    demo: Tools, arguments: dict[str, object], months: int
) -> None:
    newest = GIVEN["temporal"]["monthly"][-months:]
    assert {
        "trend": GIVEN["temporal"]["trend"],
        "matched": len(GIVEN["temporal"]["monthly"]),
        "returned": months,
        "monthly": newest,
        "next_offset": months,
    } == demo.data("get_sentiment_trend", arguments)


def test_months_are_oldest_first_however_they_are_written(tmp_path: Path) -> None:
    monthly = [{"month": month} for month in ("2025-02", "2024-12", "2025-01")]
    found = told(tmp_path, {"temporal": {"monthly": monthly}})
    months = found.data("get_sentiment_trend", {"months": 2})["monthly"]
    assert ["2025-01", "2025-02"] == [each["month"] for each in months]
    assert 120 >= len(found.data("get_sentiment_trend", {"months": 120})["monthly"])


@pytest.mark.parametrize("query", ["", "NIGHT", "the", "?", "zzz", '"', "Straße"])
def test_the_faq_is_searched_in_questions_and_answers(demo: Tools, query: str) -> None:
    expected = [
        each
        for each in GIVEN["faq"]
        if any(query.casefold() in each[part].casefold() for part in ("question", "answer"))
    ]
    assert {
        "matched": len(expected),
        "returned": len(expected),
        "faq": expected,
        "next_offset": None,
    } == demo.data("get_faq", {"query": query})


def test_no_text_is_found_across_question_and_answer(tmp_path: Path) -> None:
    found = told(tmp_path, {"faq": [{"question": "ab", "answer": "cd"}]})
    assert [1, 0, 1] == [
        found.data("get_faq", {"query": query})["matched"] for query in ("AB", "bc", "d")
    ]


def test_a_long_faq_is_cut_to_the_budget(tmp_path: Path) -> None:
    faq = [{"question": f"{n}?", "answer": "ж" * 1_000} for n in range(500)]
    found = told(tmp_path, {"faq": faq})
    answer = found.data("get_faq")
    assert 500 == answer["matched"]
    assert 9 == answer["returned"] == answer["next_offset"]
    assert faq[0].items() <= answer["faq"][0].items()
    assert found.size("get_faq") <= DEFAULT_BUDGET
    assert 19 == found.data("get_faq", {"limit": 100})["returned"]


# -- pages


def pages(found: Tools, name: str, arguments: Mapping[str, object], entries: str) -> list[Data]:
    """All entries of a list, page by page, with what holds of each page."""
    listed: list[Data] = []
    offset = 0
    while True:
        answer = found.data(name, {**arguments, "offset": offset} if offset else arguments)
        page = answer[entries]
        assert answer["returned"] == len(page) >= 1
        listed += page if entries != "monthly" else reversed(page)
        if answer["next_offset"] is None:
            assert answer["matched"] == len(listed)
            return listed
        offset = answer["next_offset"]
        assert offset == len(listed) < answer["matched"]


MANY = 500
KINDS = ("topics", "aspects", "technicians", "services", "problems", "service_areas")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [{}, {"limit": 100}])
def test_every_entry_of_every_kind_can_be_had(
    many: Tools, kind: str, limit: dict[str, object]
) -> None:
    """They are more than any answer holds."""
    named = limit if kind == "topics" else {"kind": kind, **limit}
    listed = pages(many, "get_topics", named, "topics")
    assert [f"{kind}-{n}" for n in range(MANY)] == [each["id"] for each in listed]
    assert kind == many.data("get_topics", named)["kind"]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """So many of everything."""
    lists: dict[str, list[Document]] = {
        kind: [{"id": f"{kind}-{n}", "mention_count": MANY - n} for n in range(MANY)]
        for kind in KINDS
    }
    topics, aspects = lists.pop("topics"), lists.pop("aspects")
    monthly = [{"month": f"{year}-{n:02}"} for year in range(1950, 2000) for n in range(1, 13)]
    insights = {
        "topics": topics,
        "aspects": aspects,
        "entities": lists,
        "faq": [{"question": f"{n}?", "answer": "yes" if n % 2 else "no"} for n in range(MANY)],
        "temporal": {"monthly": monthly},
    }
    return told(tmp_path_factory.mktemp("many"), insights)


def test_every_question_can_be_had(many: Tools) -> None:
    listed = pages(many, "get_faq", {"limit": 100}, "faq")
    assert [f"{n}?" for n in range(MANY)] == [each["question"] for each in listed]
    some = pages(many, "get_faq", {"limit": 100, "query": "YES"}, "faq")
    assert [f"{n}?" for n in range(1, MANY, 2)] == [each["question"] for each in some]


def test_every_month_can_be_had(many: Tools) -> None:
    months = [each["month"] for each in pages(many, "get_sentiment_trend", {}, "monthly")]
    assert 600 == len(months)
    assert sorted(months, reverse=True) == months


@pytest.mark.parametrize("name", ["get_topics", "get_faq", "get_sentiment_trend"])
def test_behind_the_end_there_is_nothing(many: Tools, name: str) -> None:
    answer = many.data(name, {"offset": 1_000_000})
    assert (0, None) == (answer["returned"], answer["next_offset"])
    assert answer["matched"] >= MANY


def test_the_summary_says_how_many_there_are(many: Tools, demo: Tools) -> None:
    found = many.data("get_summary")
    assert dict.fromkeys(KINDS, MANY) == found["totals"]
    assert [20] * 6 == [len(found[kind]) for kind in KINDS]
    small = demo.data("get_summary")
    assert small["totals"] == {
        kind: demo.data("get_topics", {"kind": kind})["matched"] for kind in KINDS
    }


def test_who_is_unknown_is_looked_for_in_the_list(many: Tools) -> None:
    assert many.error("get_technician", {"name": "zzz"}).endswith(
        '; get_topics with kind "technicians" has all.'
    )


# -- the overview


def test_the_summary_names_what_the_other_tools_know(demo: Tools) -> None:
    found = demo.data("get_summary")
    for name in ("summary", "pull_quote", "review_count", "date_range", "generated_at", "model"):
        assert GIVEN[name] == found[name]
    assert GIVEN["overall_sentiment"] == found["overall_sentiment"]
    given = GIVEN["entities"] | {"aspects": GIVEN["aspects"], "topics": GIVEN["topics"]}
    for name in LISTS:
        spelled = "name" if name == "technicians" else "label"
        short = [
            {key: each[key] for key in ("id", spelled, "mention_count", "positive_pct")}
            for each in mentioned(given[name])[:20]
        ]
        if name in {"aspects", "problems"}:
            short = [leading(FILTERS[name], each) for each in short]
        assert short == found[name]
    for tool, argument, name in (
        ("get_aspect_sentiment", "aspect", "aspects"),
        ("get_technician", "name", "technicians"),
        ("get_service", "service", "services"),
    ):
        for each in found[name]:
            assert each["id"] == demo.data(tool, {argument: each["id"]})["id"]


def test_the_arguments_of_an_entity_list_its_reviews(demo: Tools) -> None:
    said = GIVEN["per_review"].values()
    for name in LISTS:
        for entity in demo.data("get_topics", {"kind": name, "limit": 100})["topics"]:
            named = sum(
                entity["id"] in {_id(each) for each in entry.get(name, ())} for entry in said
            )
            found = demo.data("search_reviews", entity["search_reviews"])
            assert 0 < named <= found["matched"]


def _id(mention: Data) -> str:
    return str(mention["id"] if isinstance(mention, dict) else mention)


def test_an_id_too_long_to_be_told_leads_nowhere(tmp_path: Path) -> None:
    found = told(tmp_path, {"topics": ["x", {"id": "y" * 129}]})
    listed = found.data("get_topics")["topics"]
    assert [{"mentions_topic": "x"}, None] == [each.get("search_reviews") for each in listed]


PEOPLE = [
    {"label": "Sam Jones", "aliases": ["Jonesy"]},
    {"label": "Sam Smith"},
    {"label": "Zo\u00eb Marchand"},
]


@pytest.mark.parametrize(
    ("name", "label"),
    [("JONESY", "Sam Jones"), ("Zoe", "Zo\u00eb Marchand"), ("sam_smith", "Sam Smith")],
)
def test_people_are_found_as_a_search_finds_them(tmp_path: Path, name: str, label: str) -> None:
    found = told(tmp_path, {"entities": {"technicians": PEOPLE}})
    assert label == found.data("get_technician", {"name": name})["label"]
    assert found.error("get_technician", {"name": "Sam"}) == (
        'get_technician: name must name one, got Sam: say "Sam Jones" or "Sam Smith".'
    )


EMPTY = {
    **{name: [] for name in ("aspects", "topics", "faq")},
    "entities": {name: [] for name in ("technicians", "services", "problems", "service_areas")},
    "temporal": {"monthly": [], "trend": "stable"},
    "per_review": {},
    "overall_sentiment": {},
}


def test_empty_insights_are_insights(tmp_path: Path) -> None:
    found = told(tmp_path, EMPTY)
    nothing = {"matched": 0, "returned": 0, "next_offset": None}
    assert nothing | {"kind": "topics", "topics": []} == found.data("get_topics")
    assert nothing | {"faq": []} == found.data("get_faq")
    assert nothing | {"trend": "stable", "monthly": []} == found.data("get_sentiment_trend")
    summary = found.data("get_summary")
    assert (None, None, 0, {}) == tuple(
        summary[name] for name in ("summary", "pull_quote", "review_count", "overall_sentiment")
    )
    assert not any(summary[name] for name in LISTS)
    assert "note" not in summary
    assert (
        "get_service: the insights name no service; use search_reviews with query."
        == found.error("get_service", {"service": "x"})
    )


def test_what_insights_leave_out_is_not_invented(tmp_path: Path) -> None:
    """Absent is not zero (insights.md 5): the part is left out, and a note says so."""
    found = told(tmp_path, {"summary": "Quick.", "aspects": ["Pricing"], "temporal": {}})
    absent = "not in the published insights: "
    nothing = {"matched": 0, "returned": 0, "next_offset": None}
    topics = {"kind": "topics", "topics": [], "note": f"{absent}topics"}
    assert nothing | topics == found.data("get_topics")
    assert nothing | {"faq": [], "note": f"{absent}faq"} == found.data("get_faq")
    trend = {"monthly": [], "note": f"{absent}trend, months"}
    assert nothing | trend == found.data("get_sentiment_trend")
    summary = found.data("get_summary")
    lists = "technicians, services, problems, service_areas, topics"
    assert f"{absent}review_count, overall_sentiment, {lists}" == summary["note"]
    assert ["id", "label", "search_reviews"] == list(summary["aspects"][0])
    assert {"aspects": 1} == summary["totals"]
    assert summary.keys().isdisjoint(summary["note"].removeprefix(absent).split(", "))
    assert f"get_service: {absent}services; use search_reviews with query." == found.error(
        "get_service", {"service": "x"}
    )
    hits = found.data("search_reviews", {"sentiment": "negative"})
    assert (0, f"{absent}per_review; the filter knows only the reviews that entities list") == (
        hits["matched"],
        hits["note"],
    )


def test_a_month_has_the_figures_that_are_given(tmp_path: Path) -> None:
    months = [{"month": "2025-01", "review_count": 0}, {"month": "2025-02", "score": None}]
    found = told(tmp_path, {"temporal": {"monthly": months, "trend": "declining"}})
    assert ("declining", months) == tuple(
        found.data("get_sentiment_trend")[name] for name in ("trend", "monthly")
    )


@pytest.mark.parametrize("method", [{"note": "Counted.", "rules": "x"}, "by hand", ["x"], None])
def test_the_summary_says_how_insights_were_made(tmp_path: Path, method: object) -> None:
    found = told(tmp_path, EMPTY | {"method": method}).data("get_summary")
    assert (method if isinstance(method, dict) else None) == found.get("method")


def test_only_we_say_what_is_not_known(tmp_path: Path) -> None:
    figures = {"mention_count": 1, "positive_pct": 0, "score": 0}
    found = told(tmp_path, {"topics": [{"label": "A", "note": 1, **figures}]})
    assert "note" not in found.data("get_topics")["topics"][0]


def test_without_insights_the_agent_is_sent_to_search(tmp_path: Path) -> None:
    found = Tools(demo_snapshot(Directories(tmp_path), insights=False))
    for name, arguments in ALL.items():
        assert ("No insights are published for this business; use search_reviews.") == found.error(
            name, arguments
        )
    assert found.data("get_business")["review_count"]
    newest = found.data("search_reviews", {"limit": 1})["reviews"][0]
    one = found.data("get_review", {"id": newest["id"]})
    assert newest.items() <= one["review"].items()
    assert (None, None) == (one["insight"], one["next_text_offset"])


# -- sizes


def huge(entity_id: str) -> Document:
    return {
        "id": entity_id,
        "label": "A",
        "mention_count": 7,
        "top_phrases": ["ж" * 900] * 20,
        "example_review_ids": ["01J9ZK3V5Q8R2N7M4T6W1X0YAB"] * 1_000,
        "review_ids": ["01J9ZK3V5Q8R2N7M4T6W1X0YAB"] * 1_000,
        "embedding": "x" * MAX_EXCERPT,
    }


def test_what_is_too_large_is_made_smaller(tmp_path: Path) -> None:
    """No answer may fill the context of a model: lists end early, unknown members go."""
    many = [huge(f"a{n}") for n in range(25)]
    prose = {"summary": "x" * 100_000, "pull_quote": "y" * 100_000, "model": "z" * 100_000}
    months = [{"month": f"2025-{n:02}", "more": "x" * 9_000} for n in range(1, 13)]
    insights = {
        "aspects": many,
        "entities": dict.fromkeys(LISTS[1:5], many),
        "topics": many,
        "temporal": {"monthly": months},
        **prose,
    }
    found = told(tmp_path, insights)
    for name, arguments in ALL.items():
        given = dict.fromkeys(arguments, "a3")
        assert found.size(name, given) <= DEFAULT_BUDGET
    one = found.data("get_technician", {"name": "a3"})
    assert len(one["example_review_ids"]) >= 5
    assert "embedding" not in one
    assert found.size("get_technician", {"name": "a3"}) <= MAX_EXCERPT
    assert one["truncated"] == (
        "embedding: left out; example_review_ids: the first 20 of 1,000; top_phrases.each: the "
        "first 250 of 900 characters; the whole is in https://reviews.example/insights.json"
    )
    summary = found.data("get_summary")
    assert summary["summary"].endswith("x…")
    assert "summary: the first 2,000 of 100,000 characters" in summary["truncated"]
    assert 20 == len(summary["topics"])
    newest = found.data("get_sentiment_trend")
    assert ["2025-11", "2025-12"] == [each["month"] for each in newest["monthly"]]
    assert 2 == newest["next_offset"]


def test_a_list_has_at_least_one_entry(tmp_path: Path) -> None:
    found = told(tmp_path, {"topics": ["a" * 500, "b"], "faq": INSIGHTS["faq"]})
    small = Tools(found.snapshot, 500)
    assert 1 == small.data("get_topics")["returned"]
    assert 1 == small.data("get_faq")["returned"]


def test_a_name_of_any_length_is_answered(tmp_path: Path) -> None:
    aspect = {"id": "a", "label": "x" * 40_000, "top_phrases": ["y"]}
    found = told(
        tmp_path, {"aspects": [aspect], "faq": [{"question": "q" * 40_000, "answer": "a"}]}
    )
    one = found.data("get_aspect_sentiment", {"aspect": "a"})
    assert ("x" * 4_000 + "…", ["y"]) == (one["label"], one["top_phrases"])
    assert one["truncated"].startswith("label: the first 4,000 of 40,000 characters; the whole is ")
    assert "x" * 100 + "…" == found.data("get_summary")["aspects"][0]["label"]
    assert found.size("get_faq") < MAX_EXCERPT
    assert 1 == found.data("get_faq", {"query": "q" * 200})["matched"]


def test_unknown_members_are_served(tmp_path: Path) -> None:
    topics = [{"label": "A", "colour": "\u00eb", "size": 1.10}]
    found = told(tmp_path, {"topics": topics, "faq": [{"question": "?", "answer": "!", "x": 1}]})
    (topic,) = found.data("get_topics")["topics"]
    assert topics[0].items() <= topic.items()
    assert 1 == found.data("get_faq")["faq"][0]["x"]


@examples(15)
@given(insights=nearly(INSIGHTS))
def test_whatever_is_published_is_answered(insights: Document) -> None:
    """Each answer is checked against its schema."""
    with suppress(DataError):
        reviews = json.dumps({"business": {"name": "A"}, "reviews": [review("a")]}).encode()
        load(reviews, json.dumps(insights).encode())
        with TemporaryDirectory() as place:
            found = told(Path(place), insights)
            for name, arguments in ALL.items():
                found.result(name, json.dumps(arguments).encode())
