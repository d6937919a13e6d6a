"""Problems that rules find are the owner's to publish (pages.md 3, insights.md 3)."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewsd.http1 import urls
from reviewsd.pages.words import english
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.columns import Review, review
from tests.support.pages import Place
from tests.support.publishing import Directories
from tests.support.tools import Tools

REVIEWS = (
    review("a", text="Priya was on time and friendly. The price was fair.", rating=5),
    review("b", text="Nobody showed up, and they never called back.", rating=1),
    review("c", text="Priya was careless and never called back.", rating=2),
    *(review(name, text="They never called back.", rating=2) for name in "xy"),
    review("d", text="Nobody showed up, and they never called back.", rating=1),
    *(review(name, text="Very friendly people.", rating=5) for name in "efgh"),
)
PEOPLE = "technicians: [{name: Priya Raman, aliases: [Priya]}, {name: Ben Cole}]\n"
NAMES = ("No reply or call back", "No-show", "no-callback", "no-show")
TEMPTING = ("/", "/index.md", "/reviews", "/summary", "/llms-full.txt", urls.INSIGHTS)


def published(place: Path, settings: str = "", *more: Review) -> Directories:
    directories = Directories(place)
    directories.write(*REVIEWS, *more)
    (directories.data / "insights.yaml").write_text(settings)
    directories.publish(insights="auto")
    return directories


def insights_json(directories: Directories) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((directories.current / "insights.json").read_bytes())
    return result


def tools(directories: Directories) -> Tools:
    return Tools(Snapshot(directories.current.resolve()))


def test_problems_are_made_and_not_published(tmp_path: Path) -> None:
    """They are found with a precision of 0.56: "Billing mistake 2" stood on a fresh import's front page."""
    insights = insights_json(published(tmp_path))
    assert [] == insights["entities"]["problems"]
    assert {()} == {tuple(entry["problems"]) for entry in insights["per_review"].values()}
    assert ["problems"] == insights["method"]["not_published"]
    assert "Mostly praised: friendliness" in insights["summary"]
    assert "critici" not in insights["summary"]


def test_aspects_keep_both_shares(tmp_path: Path) -> None:
    """The specification has them, and a rating with its complaints left out would be selecting."""
    aspects = {entry["id"]: entry for entry in insights_json(published(tmp_path))["aspects"]}
    assert (0, 5) == (
        aspects["response_time"]["positive_count"],
        aspects["response_time"]["negative_count"],
    )


def test_owner_may_publish_them(tmp_path: Path) -> None:
    insights = insights_json(published(tmp_path, "publish: [problems]"))
    assert ["no-callback", "no-show"] == [entry["id"] for entry in insights["entities"]["problems"]]
    assert ["no-show", "no-callback"] == insights["per_review"]["b"]["problems"]
    assert "mostly criticized: speed (5" in insights["summary"]
    assert "not_published" not in insights["method"]


def test_problem_of_one_review_is_in_no_list(tmp_path: Path) -> None:
    """``per_review`` named it, as if the list of problems had it."""
    rude = review("z", text="The technician was rude to me. Nobody showed up.", rating=1)
    directories = published(tmp_path, "publish: [problems]", rude)
    insights = insights_json(directories)
    assert ["no-callback", "no-show"] == [item["id"] for item in insights["entities"]["problems"]]
    assert ["no-show"] == insights["per_review"]["z"]["problems"]
    assert 11 == len(insights["per_review"])
    answer = tools(directories).data("search_reviews", {"mentions_problem": "rude-staff"})
    assert 0 == answer["matched"]


def test_setting_knows_nothing_else(tmp_path: Path) -> None:
    directories = published(tmp_path)
    (directories.data / "insights.yaml").write_text("publish: [complaints]")
    (problem,) = directories.publish(insights="auto").problems
    assert 'insights.yaml:1:11: publish[0]: expected one of "problems"' in problem


def test_tools_say_that_problems_are_not_published(tmp_path: Path) -> None:
    """A model that reads "none" answers that there are none."""
    client = tools(published(tmp_path))
    why = "not in the published insights: problems"
    result = client.data("search_reviews", {"mentions_problem": "no-callback"})
    assert (0, f"{why}; use search_reviews with query") == (result["matched"], result["note"])
    topics = client.data("get_topics", {"kind": "problems"})
    assert ([], why) == (topics["topics"], topics["note"])
    summary = client.data("get_summary")
    assert ([], 0) == (summary["problems"], summary["totals"]["problems"])
    assert ["problems"] == summary["method"]["not_published"]
    assert [] == client.data("get_review", {"id": "b"})["insight"]["problems"]


def test_tools_have_problems_that_are_published(tmp_path: Path) -> None:
    client = tools(published(tmp_path, "publish: [problems]"))
    assert 5 == client.data("search_reviews", {"mentions_problem": "no-callback"})["matched"]
    assert 2 == client.data("get_topics", {"kind": "problems"})["matched"]
    assert "note" not in client.data("get_topics", {"kind": "problems"})


@pytest.mark.parametrize("target", ["/", "/summary", "/summary.md", "/llms-full.txt"])
def test_note_on_the_method_is_where_the_summary_is(tmp_path: Path, target: str) -> None:
    """A reader must know that a program counted, wherever figures are read."""
    place = Place(tmp_path)
    place.directories.order = msgspec.structs.replace(place.directories.order, insights="auto")
    place.publish([{**entry, "verified": True} for entry in REVIEWS])
    body = place.get(target).body.decode()
    assert "Mostly praised: friendliness" in body
    note = english()["method_note"].removesuffix(".")
    assert note in body
    assert f"{note}.\n8 reviews" not in body  # the summary is a paragraph of its own


@pytest.mark.parametrize("settings", ["", "publish: [problems]"])
def test_pages_show_problems_only_where_they_are_published(tmp_path: Path, settings: str) -> None:
    place = Place(tmp_path)
    place.directories.order = msgspec.structs.replace(place.directories.order, insights="auto")
    (place.directories.data / "insights.yaml").write_text(settings)
    place.publish([{**entry, "verified": True} for entry in REVIEWS])
    headings = {
        (target, name)
        for target in TEMPTING
        for name in NAMES
        if name in place.get(target).body.decode()
    }
    assert bool(settings) is bool(headings)
    assert bool(settings) is ("mentions_problem" in place.page("/reviews").source)
    if settings:
        assert ("/", "No reply or call back") in headings


def test_person_has_a_percentage_from_three_mentions_on(tmp_path: Path) -> None:
    """ "0 % positive, 2 mentions" judges an employee by two customers."""
    directories = published(tmp_path, PEOPLE)
    (person,) = insights_json(directories)["entities"]["technicians"]
    expected = {"id", "name", "label", "aliases", "mention_count", "top_phrases"}
    assert expected | {"example_review_ids"} == person.keys()
    assert (2, []) == (person["mention_count"], person["top_phrases"])
    answer = tools(directories).data("get_technician", {"name": "priya"})
    assert not answer.keys() & {"positive_pct", "positive_count", "score", "average_rating"}
    (listed,) = tools(directories).data("get_summary")["technicians"]
    assert {"id": "priya-raman", "name": "Priya Raman", "mention_count": 2} == listed

    directories.write(*REVIEWS, review("i", text="Thanks to Priya!", rating=5))
    directories.publish(insights="auto")
    (person,) = insights_json(directories)["entities"]["technicians"]
    figures = person["positive_pct"], person["negative_count"], person["average_rating"]
    assert (3, 66.7, 1, 4) == (person["mention_count"], *figures)
