"""The tools about the insights: names, order, pages and sizes (mcp.md 5.4, 5.5)."""

import json
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import load
from reviewsd.mcp.results import DEFAULT_BUDGET
from reviewsd.publish.excerpts import MAX_EXCERPT
from tests.support.broken import INSIGHTS, Document, nearly
from tests.support.columns import review
from tests.support.daemon import HAND_MADE
from tests.support.examples import examples
from tests.support.publishing import Directories, in_memory
from tests.support.tools import Data, Tools, demo_snapshot, published

DEMO_INSIGHTS = json.loads(HAND_MADE.read_bytes())
HOSTILE = "\"\\\n\t\x01\x7f\u2028\ud7ff\ufffe🎉</script>}],\u202e'`${}%s%d"
ENTITIES = {
    "get_aspect_sentiment": ("aspect", DEMO_INSIGHTS["aspects"]),
    "get_technician": ("name", DEMO_INSIGHTS["entities"]["technicians"]),
    "get_service": ("service", DEMO_INSIGHTS["entities"]["services"]),
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


def publish_insights(place: Path, insights: object) -> Tools:
    """Publish one review with insights."""
    directories = Directories(place)
    directories.write(review("a"), insights=insights)
    return Tools(published(directories))


def mentioned(entities: list[Data]) -> list[Data]:
    return sorted(entities, key=lambda entity: -entity["mention_count"])


def leading(parameter: str, entity: Data) -> Data:
    """Return an entity with the arguments that list its reviews."""
    return entity | {"search_reviews": {parameter: entity["id"]}}


# -- aspects, technicians, services


@pytest.mark.parametrize("name", ENTITIES)
def test_an_entity_is_found_by_id_and_label(demo: Tools, name: str) -> None:
    argument, entities = ENTITIES[name]
    for entity in entities:
        for spelled in (entity["id"], entity["label"], f" {entity['label'].upper()} "):
            data = demo.data(name, {argument: spelled})
            members = {key: value for key, value in entity.items() if key != "review_ids"}
            assert members.items() <= data.items()
            assert "review_ids" not in data


@pytest.mark.parametrize("technician", ["Réparation A/C", {"label": "Réparation A/C"}])
def test_missing_members_are_derived(tmp_path: Path, technician: object) -> None:
    tools = publish_insights(tmp_path, {"entities": {"technicians": [technician]}})
    expected = {
        "id": "reparation-a-c",
        "name": "Réparation A/C",
        "label": "Réparation A/C",
        "praised_for": {},
        "top_phrases": [],
        "example_review_ids": [],
        "note": "not in the published insights: mention_count, positive_count, neutral_count,"
        " negative_count, positive_pct, score, average_rating",
        "search_reviews": {"mentions_technician": "reparation-a-c"},
    }
    assert expected == tools.data("get_technician", {"name": "REPARATION-a-c"})
    assert list(expected) == list(tools.data("get_technician", {"name": "réparation a/c"}))


def test_id_has_precedence_over_label(tmp_path: Path) -> None:
    """The more often mentioned of two equal labels is returned."""
    aspects = [
        {"id": "x", "label": "Speed", "mention_count": 9},
        {"id": "speed", "label": "Haste", "mention_count": 1},
        {"id": "y", "label": "haste", "mention_count": 5},
    ]
    tools = publish_insights(tmp_path, {"aspects": aspects})
    ids = {
        name: tools.data("get_aspect_sentiment", {"aspect": name})["id"]
        for name in ("Speed", "HASTE", "x")
    }
    assert {"Speed": "speed", "HASTE": "y", "x": "x"} == ids


def test_error_for_unknown_name_lists_the_known_ids(demo: Tools) -> None:
    ids = ", ".join(entity["id"] for entity in mentioned(DEMO_INSIGHTS["entities"]["technicians"]))
    assert (
        'get_technician: no technician is called "Be"; the nearest is "ben-okafor" (Ben Okafor). '
        f"Known ids: {ids}."
    ) == demo.error("get_technician", {"name": "Be"})
    assert (f'get_technician: no technician is called "Zzz". Known ids: {ids}.') == demo.error(
        "get_technician", {"name": "Zzz"}
    )
    assert demo.error("get_aspect_sentiment", {"aspect": "pricng"}).startswith(
        'get_aspect_sentiment: no aspect is called "pricng"; the nearest is "pricing" (Pricing). '
    )


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Jhon", "john"), ("Marya", "maria"), ("anne-lise", "annelise"), ("Bob", None), ("", None)],
)
def test_misspelled_name_suggests_nearest(tmp_path: Path, name: str, nearest: str | None) -> None:
    tools = publish_insights(tmp_path, {"entities": {"technicians": ["John", "Maria", "Annelise"]}})
    message = tools.result("get_technician", json.dumps({"name": name or "?"}).encode()).text
    assert (nearest is not None) == ("the nearest is" in message)
    assert nearest is None or f'"{nearest}"' in message


def test_error_lists_only_complete_ids(tmp_path: Path) -> None:
    """A shortened id finds nothing."""
    services = [
        {"id": "s" * 128, "label": "Roof " * 100},
        {"id": "t" * 129, "label": "Roofs"},
        {"id": "u", "label": "Gutter"},
    ]
    tools = publish_insights(tmp_path, {"entities": {"services": services}})
    message = tools.error("get_service", {"service": "oof"})
    roof = ("Roof " * 8)[:40]
    assert message == (
        f'get_service: no service is called "oof"; the nearest is "{"s" * 128}" ({roof}...). '
        f"Known ids: {'s' * 128}, u."
    )


def test_search_for_the_nearest_name_is_linear(tmp_path: Path) -> None:
    """A quadratic comparison took 0.4 s for each call."""
    letters = random.Random(7)
    names = ["".join(letters.choices("abcdefgh", k=100)) for _ in range(2_000)]
    tools = publish_insights(tmp_path, {"entities": {"technicians": names}})

    def seconds(name: str) -> float:
        body = json.dumps({"name": name}).encode()
        start = time.process_time()
        tools.result("get_technician", body)
        return time.process_time() - start

    def least(name: str) -> float:
        return min(seconds(name) for _ in range(5))

    assert least("".join(letters.choices("abcdefgh", k=100))) < 100 * least(names[0][:1])


def test_error_lists_the_most_mentioned_ids(tmp_path: Path) -> None:
    services = [{"id": f"s{n:02}", "mention_count": n} for n in range(35)]
    tools = publish_insights(tmp_path, {"entities": {"services": services}})
    ids = ", ".join(f"s{n:02}" for n in range(34, 14, -1))
    assert (
        f'get_service: no service is called "zzz". Known ids: the 20 most mentioned of 35: {ids}; '
        'get_topics with kind "services" has all.'
    ) == tools.error("get_service", {"service": "zzz"})


def test_hostile_name_is_found(tmp_path: Path) -> None:
    technicians = [HOSTILE, "\x00", "a\x005", "a", {"id": "\uffff", "label": "\U0010ffff"}]
    tools = publish_insights(tmp_path, {"entities": {"technicians": technicians}})
    for name in (HOSTILE, "\x00", "a\x005", "a", "\U0010ffff"):
        assert name == tools.data("get_technician", {"name": name})["label"]
    assert len(tools.error("get_technician", {"name": HOSTILE * 1_000})) < 1_000


# -- lists


def test_topics_are_those_mentioned_most_first(demo: Tools) -> None:
    data = demo.data("get_topics")
    assert len(DEMO_INSIGHTS["topics"]) == data["returned"]
    assert [
        leading("mentions_topic", topic) for topic in mentioned(DEMO_INSIGHTS["topics"])
    ] == data["topics"]


@pytest.mark.parametrize(("arguments", "months"), [({}, 24), ({"months": "3"}, 3)])
def test_trend_has_newest_months(demo: Tools, arguments: dict[str, object], months: int) -> None:
    newest = DEMO_INSIGHTS["temporal"]["monthly"][-months:]
    assert {
        "trend": DEMO_INSIGHTS["temporal"]["trend"],
        "matched": len(DEMO_INSIGHTS["temporal"]["monthly"]),
        "returned": months,
        "monthly": newest,
        "next_offset": months,
    } == demo.data("get_sentiment_trend", arguments)


def test_months_are_sorted_oldest_first(tmp_path: Path) -> None:
    monthly = [{"month": month} for month in ("2025-02", "2024-12", "2025-01")]
    tools = publish_insights(tmp_path, {"temporal": {"monthly": monthly}})
    months = tools.data("get_sentiment_trend", {"months": 2})["monthly"]
    assert ["2025-01", "2025-02"] == [month["month"] for month in months]
    assert 120 >= len(tools.data("get_sentiment_trend", {"months": 120})["monthly"])


@pytest.mark.parametrize("query", ["", "NIGHT", "the", "?", "zzz", '"', "Straße"])
def test_the_faq_is_searched_in_questions_and_answers(demo: Tools, query: str) -> None:
    expected = [
        entry
        for entry in DEMO_INSIGHTS["faq"]
        if any(query.casefold() in entry[part].casefold() for part in ("question", "answer"))
    ]
    assert {
        "matched": len(expected),
        "returned": len(expected),
        "faq": expected,
        "next_offset": None,
    } == demo.data("get_faq", {"query": query})


def test_no_text_is_found_across_question_and_answer(tmp_path: Path) -> None:
    tools = publish_insights(tmp_path, {"faq": [{"question": "ab", "answer": "cd"}]})
    assert [1, 0, 1] == [
        tools.data("get_faq", {"query": query})["matched"] for query in ("AB", "bc", "d")
    ]


def test_a_long_faq_is_cut_to_the_budget(tmp_path: Path) -> None:
    faq = [{"question": f"{n}?", "answer": "ж" * 1_000} for n in range(500)]
    tools = publish_insights(tmp_path, {"faq": faq})
    answer = tools.data("get_faq")
    assert 500 == answer["matched"]
    assert 9 == answer["returned"] == answer["next_offset"]
    assert faq[0].items() <= answer["faq"][0].items()
    assert tools.size("get_faq") <= DEFAULT_BUDGET
    assert 19 == tools.data("get_faq", {"limit": 100})["returned"]


# -- pages


def pages(tools: Tools, name: str, arguments: Mapping[str, object], entries: str) -> list[Data]:
    """Return all entries of a list, and check each of its pages."""
    listed: list[Data] = []
    offset = 0
    while True:
        answer = tools.data(name, {**arguments, "offset": offset} if offset else arguments)
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
def test_pages_contain_every_entity(many: Tools, kind: str, limit: dict[str, object]) -> None:
    """The entities do not fit into one result."""
    named = limit if kind == "topics" else {"kind": kind, **limit}
    listed = pages(many, "get_topics", named, "topics")
    assert [f"{kind}-{n}" for n in range(MANY)] == [entity["id"] for entity in listed]
    assert kind == many.data("get_topics", named)["kind"]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """Publish many entities of every kind."""
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
    return publish_insights(tmp_path_factory.mktemp("many"), insights)


def test_pages_contain_every_question(many: Tools) -> None:
    listed = pages(many, "get_faq", {"limit": 100}, "faq")
    assert [f"{n}?" for n in range(MANY)] == [entry["question"] for entry in listed]
    some = pages(many, "get_faq", {"limit": 100, "query": "YES"}, "faq")
    assert [f"{n}?" for n in range(1, MANY, 2)] == [entry["question"] for entry in some]


def test_pages_contain_every_month(many: Tools) -> None:
    months = [month["month"] for month in pages(many, "get_sentiment_trend", {}, "monthly")]
    assert 600 == len(months)
    assert sorted(months, reverse=True) == months


@pytest.mark.parametrize("name", ["get_topics", "get_faq", "get_sentiment_trend"])
def test_page_beyond_the_end_is_empty(many: Tools, name: str) -> None:
    answer = many.data(name, {"offset": 1_000_000})
    assert (0, None) == (answer["returned"], answer["next_offset"])
    assert answer["matched"] >= MANY


def test_summary_has_the_totals(many: Tools, demo: Tools) -> None:
    data = many.data("get_summary")
    assert dict.fromkeys(KINDS, MANY) == data["totals"]
    assert [20] * 6 == [len(data[kind]) for kind in KINDS]
    small = demo.data("get_summary")
    assert small["totals"] == {
        kind: demo.data("get_topics", {"kind": kind})["matched"] for kind in KINDS
    }


# -- the overview


def test_summary_lists_the_entities_of_other_tools(demo: Tools) -> None:
    data = demo.data("get_summary")
    for name in ("summary", "pull_quote", "review_count", "date_range", "generated_at", "model"):
        assert DEMO_INSIGHTS[name] == data[name]
    assert DEMO_INSIGHTS["overall_sentiment"] == data["overall_sentiment"]
    lists = DEMO_INSIGHTS["entities"] | {
        "aspects": DEMO_INSIGHTS["aspects"],
        "topics": DEMO_INSIGHTS["topics"],
    }
    for name in LISTS:
        spelled = "name" if name == "technicians" else "label"
        short = [
            {key: entity[key] for key in ("id", spelled, "mention_count", "positive_pct")}
            for entity in mentioned(lists[name])[:20]
        ]
        if name in {"aspects", "problems"}:
            short = [leading(FILTERS[name], entity) for entity in short]
        assert short == data[name]
    for tool, argument, name in (
        ("get_aspect_sentiment", "aspect", "aspects"),
        ("get_technician", "name", "technicians"),
        ("get_service", "service", "services"),
    ):
        for entity in data[name]:
            assert entity["id"] == demo.data(tool, {argument: entity["id"]})["id"]


def test_the_arguments_of_an_entity_list_its_reviews(demo: Tools) -> None:
    insights = DEMO_INSIGHTS["per_review"].values()
    for name in LISTS:
        for entity in demo.data("get_topics", {"kind": name, "limit": 100})["topics"]:
            named = sum(
                entity["id"] in {_id(mention) for mention in entry.get(name, ())}
                for entry in insights
            )
            data = demo.data("search_reviews", entity["search_reviews"])
            assert 0 < named <= data["matched"]


def _id(mention: Data) -> str:
    return str(mention["id"] if isinstance(mention, dict) else mention)


def test_entity_with_long_id_has_no_search_arguments(tmp_path: Path) -> None:
    tools = publish_insights(tmp_path, {"topics": ["x", {"id": "y" * 129}]})
    listed = tools.data("get_topics")["topics"]
    assert [{"mentions_topic": "x"}, None] == [topic.get("search_reviews") for topic in listed]


PEOPLE = [
    {"label": "Sam Jones", "aliases": ["Jonesy"]},
    {"label": "Sam Smith"},
    {"label": "Zo\u00eb Marchand"},
]


@pytest.mark.parametrize(
    ("name", "label"),
    [("JONESY", "Sam Jones"), ("Zoe", "Zo\u00eb Marchand"), ("sam_smith", "Sam Smith")],
)
def test_technician_is_found_by_names_of_search(tmp_path: Path, name: str, label: str) -> None:
    tools = publish_insights(tmp_path, {"entities": {"technicians": PEOPLE}})
    assert label == tools.data("get_technician", {"name": name})["label"]
    assert tools.error("get_technician", {"name": "Sam"}) == (
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
    tools = publish_insights(tmp_path, EMPTY)
    nothing = {"matched": 0, "returned": 0, "next_offset": None}
    assert nothing | {"kind": "topics", "topics": []} == tools.data("get_topics")
    assert nothing | {"faq": []} == tools.data("get_faq")
    assert nothing | {"trend": "stable", "monthly": []} == tools.data("get_sentiment_trend")
    summary = tools.data("get_summary")
    assert (None, None, 0, {}) == tuple(
        summary[name] for name in ("summary", "pull_quote", "review_count", "overall_sentiment")
    )
    assert not any(summary[name] for name in LISTS)
    assert "note" not in summary
    assert (
        "get_service: the insights name no service; use search_reviews with query."
        == tools.error("get_service", {"service": "x"})
    )


def test_missing_parts_are_left_out_and_noted(tmp_path: Path) -> None:
    """Absent is not zero (insights.md 5): the part is left out, and a note names it."""
    tools = publish_insights(
        tmp_path, {"summary": "Quick.", "aspects": ["Pricing"], "temporal": {}}
    )
    absent = "not in the published insights: "
    nothing = {"matched": 0, "returned": 0, "next_offset": None}
    topics = {"kind": "topics", "topics": [], "note": f"{absent}topics"}
    assert nothing | topics == tools.data("get_topics")
    assert nothing | {"faq": [], "note": f"{absent}faq"} == tools.data("get_faq")
    trend = {"monthly": [], "note": f"{absent}trend, months"}
    assert nothing | trend == tools.data("get_sentiment_trend")
    summary = tools.data("get_summary")
    lists = "technicians, services, problems, service_areas, topics"
    assert f"{absent}review_count, overall_sentiment, {lists}" == summary["note"]
    assert ["id", "label", "search_reviews"] == list(summary["aspects"][0])
    assert {"aspects": 1} == summary["totals"]
    assert summary.keys().isdisjoint(summary["note"].removeprefix(absent).split(", "))
    assert f"get_service: {absent}services; use search_reviews with query." == tools.error(
        "get_service", {"service": "x"}
    )
    hits = tools.data("search_reviews", {"sentiment": "negative"})
    assert (0, f"{absent}per_review; the filter knows only the reviews that entities list") == (
        hits["matched"],
        hits["note"],
    )


def test_month_has_only_the_published_figures(tmp_path: Path) -> None:
    months = [{"month": "2025-01", "review_count": 0}, {"month": "2025-02", "score": None}]
    tools = publish_insights(tmp_path, {"temporal": {"monthly": months, "trend": "declining"}})
    assert ("declining", months) == tuple(
        tools.data("get_sentiment_trend")[name] for name in ("trend", "monthly")
    )


@pytest.mark.parametrize("method", [{"note": "Counted.", "rules": "x"}, "by hand", ["x"], None])
def test_summary_has_the_method_if_it_is_an_object(tmp_path: Path, method: object) -> None:
    data = publish_insights(tmp_path, EMPTY | {"method": method}).data("get_summary")
    assert (method if isinstance(method, dict) else None) == data.get("method")


def test_note_in_the_data_is_left_out(tmp_path: Path) -> None:
    figures = {"mention_count": 1, "positive_pct": 0, "score": 0}
    tools = publish_insights(tmp_path, {"topics": [{"label": "A", "note": 1, **figures}]})
    assert "note" not in tools.data("get_topics")["topics"][0]


def test_error_without_insights_refers_to_search(tmp_path: Path) -> None:
    tools = Tools(demo_snapshot(Directories(tmp_path), insights=False))
    for name, arguments in ALL.items():
        assert ("No insights are published for this business; use search_reviews.") == tools.error(
            name, arguments
        )
    assert tools.data("get_business")["review_count"]
    newest = tools.data("search_reviews", {"limit": 1})["reviews"][0]
    one = tools.data("get_review", {"id": newest["id"]})
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


def test_large_entities_are_shortened(tmp_path: Path) -> None:
    """A result must not fill the context of a model."""
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
    tools = publish_insights(tmp_path, insights)
    for name, arguments in ALL.items():
        assert tools.size(name, dict.fromkeys(arguments, "a3")) <= DEFAULT_BUDGET
    one = tools.data("get_technician", {"name": "a3"})
    assert len(one["example_review_ids"]) >= 5
    assert "embedding" not in one
    assert tools.size("get_technician", {"name": "a3"}) <= MAX_EXCERPT
    assert one["truncated"] == (
        "embedding: left out; example_review_ids: the first 20 of 1,000; top_phrases.each: the "
        "first 250 of 900 characters; the whole is in https://reviews.example/insights.json"
    )
    summary = tools.data("get_summary")
    assert summary["summary"].endswith("x…")
    assert "summary: the first 2,000 of 100,000 characters" in summary["truncated"]
    assert 20 == len(summary["topics"])
    newest = tools.data("get_sentiment_trend")
    assert ["2025-11", "2025-12"] == [month["month"] for month in newest["monthly"]]
    assert 2 == newest["next_offset"]


def test_a_list_has_at_least_one_entry(tmp_path: Path) -> None:
    tools = publish_insights(tmp_path, {"topics": ["a" * 500, "b"], "faq": INSIGHTS["faq"]})
    small = Tools(tools.snapshot, 500)
    assert 1 == small.data("get_topics")["returned"]
    assert 1 == small.data("get_faq")["returned"]


def test_a_name_of_any_length_is_answered(tmp_path: Path) -> None:
    aspect = {"id": "a", "label": "x" * 40_000, "top_phrases": ["y"]}
    tools = publish_insights(
        tmp_path, {"aspects": [aspect], "faq": [{"question": "q" * 40_000, "answer": "a"}]}
    )
    one = tools.data("get_aspect_sentiment", {"aspect": "a"})
    assert ("x" * 4_000 + "…", ["y"]) == (one["label"], one["top_phrases"])
    assert one["truncated"].startswith("label: the first 4,000 of 40,000 characters; the whole is ")
    assert "x" * 100 + "…" == tools.data("get_summary")["aspects"][0]["label"]
    assert tools.size("get_faq") < MAX_EXCERPT
    assert 1 == tools.data("get_faq", {"query": "q" * 200})["matched"]


def test_unknown_members_are_served(tmp_path: Path) -> None:
    topics = [{"label": "A", "colour": "\u00eb", "size": 1.10}]
    tools = publish_insights(
        tmp_path, {"topics": topics, "faq": [{"question": "?", "answer": "!", "x": 1}]}
    )
    (topic,) = tools.data("get_topics")["topics"]
    assert topics[0].items() <= topic.items()
    assert 1 == tools.data("get_faq")["faq"][0]["x"]


@examples(15)
@given(insights=nearly(INSIGHTS))
def test_results_of_random_insights_match_the_schemas(insights: Document) -> None:
    """``Tools.result`` validates every result."""
    with suppress(DataError):
        reviews = json.dumps({"business": {"name": "A"}, "reviews": [review("a")]}).encode()
        load(reviews, json.dumps(insights).encode())
        with in_memory() as place:
            tools = publish_insights(place, insights)
            for name, arguments in ALL.items():
                tools.result(name, json.dumps(arguments).encode())
