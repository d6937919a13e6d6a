"""Filters by insights, of HTTP and of search_reviews (insights.md 6)."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from twisted.internet.task import Clock

from reviewsd.domain.issues import InvalidParametersError
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.reads import Reads
from tests.support.budgets import budgets
from tests.support.columns import review
from tests.support.publishing import Directories, in_memory
from tests.support.tools import Tools

REVIEWS = [
    review(name, rating=rating, date=f"2025-03-{9 - number:02}", text="Fine.")
    for number, (name, rating) in enumerate(zip("abcdef", (5, 4, 3, 2, 1, 1), strict=True))
]
REVIEWS[0] |= {"source": "Trustpilot", "verified": False}
REVIEWS[2] |= {"source": "trustpilot", "owner_reply": {"text": "", "date": "2025-03-10"}}
REVIEWS[5] |= {"source": "Straße", "owner_reply": {"text": "Sorry.", "date": "2025-03-10"}}
INSIGHTS = {
    "aspects": [
        {"id": "pricing", "label": "Price and value"},
        {"id": "speed", "example_review_ids": ["f"]},
    ],
    "entities": {
        "technicians": [
            {"id": "sj", "label": "Sam Jones", "aliases": ["Jonesy", "The boss"]},
            {"id": "ss", "label": "Sam Smith", "aliases": ["Smithy", "The boss"]},
            {"label": "Zo\u00eb Marchand"},
            {"label": "Jos\u00e9"},
            {"label": "Jose"},
        ],
        "services": ["AC repair", "Drain cleaning", {"id": "pipes", "label": "Pipe fitting"}],
        "problems": [{"id": "no-callback", "label": "Nobody called back"}, "Late arrival"],
        "service_areas": ["Portsmouth", "New Castle"],
    },
    "topics": [{"id": "boilers", "label": "Boilers and heat"}],
    "per_review": {
        "a": {
            "sentiment": "positive",
            "aspects": [{"id": "pricing", "sentiment": "negative"}],
            "technicians": ["sj"],
            "services": ["ac-repair"],
            "topics": ["boilers"],
        },
        "b": {
            "sentiment": "positive",
            "aspects": [{"id": "pricing", "sentiment": "positive"}, "speed"],
            "technicians": ["ss", "Bob"],
            "service_areas": ["portsmouth"],
        },
        "c": {"sentiment": "neutral", "aspects": ["pricing"], "technicians": ["zoe-marchand"]},
        "d": {
            "sentiment": "negative",
            "problems": ["no-callback"],
            "services": ["Drain cleaning", "pipes"],
            "technicians": ["jose"],
        },
        "e": {
            "sentiment": "negative",
            "aspects": [{"id": "pricing", "sentiment": "negative"}],
            "problems": ["late-arrival", "no-callback"],
        },
    },
}


class FilteredSite:
    """One data set, searched over HTTP and by an agent."""

    def __init__(self, directories: Directories, insights: object) -> None:
        directories.write(*REVIEWS, insights=insights)
        directories.publish()
        self.snapshots = Snapshots(directories.snapshots)
        self.snapshots.refresh()
        self.tools = Tools(self.snapshots.current)
        responses = Responses("https://a.example", "public", lambda: 0.0)
        self.reads = Reads(self.snapshots, responses, budgets(Clock()))

    def ids(self, **filters: object) -> str:
        """Return the ids of the matching reviews, which are the same over HTTP and for an agent."""
        answer = self.reads.search(Request(b"GET", b"", urlencode(filters).encode()))
        assert isinstance(answer, Response)
        ids = ids_of(json.loads(b"".join(answer.body)))
        result = self.tools.data("search_reviews", filters)
        assert ids == ids_of(result)
        assert "limit" in filters or len(ids) == result["matched"]
        return "".join(ids)


def ids_of(result: Any) -> list[str]:
    return [item["id"] for item in result["reviews"]]


@pytest.fixture(scope="module")
def site() -> Iterator[FilteredSite]:
    with in_memory() as place:
        yield FilteredSite(Directories(place), INSIGHTS)


MATCHES: list[tuple[dict[str, object], str]] = [
    # people, services and problems by id, label, alias and first word, without accents or punctuation
    ({"mentions_technician": "sj"}, "a"),
    ({"mentions_technician": "SAM JONES "}, "a"),
    ({"mentions_technician": "jonesy"}, "a"),
    ({"mentions_technician": "sam-smith"}, "b"),
    ({"mentions_technician": "Zoe"}, "c"),
    ({"mentions_technician": "Jose"}, "d"),
    ({"mentions_technician": "JOS\u00c9"}, "d"),  # both have the id that the review spells
    ({"mentions_technician": "bob"}, "b"),
    ({"mentions_service": "ac"}, "a"),
    ({"mentions_service": "pipe"}, "d"),
    ({"mentions_problem": "no-callback"}, "de"),
    ({"mentions_problem": "nobody called back"}, "de"),
    ({"mentions_problem": "late_arrival"}, "e"),
    ({"mentions_problem": "late"}, ""),  # first words are those of people and services
    ({"mentions_topic": "Boilers and heat"}, "a"),
    ({"mentions_area": "portsmouth"}, "b"),
    ({"mentions_area": "New Castle"}, ""),
    # aspects and their sentiment
    ({"mentions_aspect": "pricing"}, "abce"),
    ({"mentions_aspect": "price and VALUE"}, "abce"),
    ({"mentions_aspect": "speed"}, "bf"),
    ({"mentions_aspect": "pricing", "sentiment": "negative"}, "ae"),
    ({"mentions_aspect": "Price-and-value", "sentiment": "positive"}, "b"),
    ({"mentions_aspect": "speed", "sentiment": "positive"}, ""),
    # sentiment of the review
    ({"sentiment": "negative"}, "de"),
    ({"sentiment": "negative", "mentions_service": "drain"}, "d"),
    # ratings, days and texts
    ({"rating": "3.0"}, "c"),
    ({"min_rating": 3.5}, "ab"),
    ({"since": "2025-03-05", "until": "2025-03-07"}, "cde"),
    ({"query": "FINE", "rating": 5}, "a"),
    ({"query": "google"}, ""),  # a source
    ({"max_rating": 2.9}, "def"),
    ({"min_rating": 2, "max_rating": 4}, "bcd"),
    # sources as reviews carry them, in upper or lower case
    ({"source": "TRUSTPILOT"}, "ac"),
    ({"source": "strasse"}, "f"),
    # checked authors and replies
    ({"verified": "false"}, "a"),
    ({"has_reply": "true"}, "cf"),
    # orders
    ({"sort": "oldest"}, "fedcba"),
    ({"sort": "lowest"}, "efdcba"),
    ({"sort": "highest", "max_rating": 2}, "def"),
    ({"sort": "lowest", "source": "google", "limit": 2}, "ed"),
]


@pytest.mark.parametrize(("filters", "expected"), MATCHES)
def test_filter_finds_the_reviews(
    site: FilteredSite, filters: dict[str, object], expected: str
) -> None:
    assert expected == site.ids(**filters)


AMBIGUOUS = [
    ("Sam", ["Sam Jones", "Sam Smith"]),
    ("the BOSS", ["Sam Jones", "Sam Smith"]),
    ("J\u00f6se", ["Jos\u00e9", "Jose"]),
]


@pytest.mark.parametrize(("name", "labels"), AMBIGUOUS)
def test_name_of_two_entities_is_an_error_with_both_labels(
    site: FilteredSite, name: str, labels: list[str]
) -> None:
    query = urlencode({"mentions_technician": name, "mentions_service": "nothing"}).encode()
    with pytest.raises(InvalidParametersError) as refused:
        site.reads.search(Request(b"GET", b"", query))
    issue = refused.value.issues[0].as_json()
    assert 1 == len(refused.value.issues)
    message = str(issue.pop("message"))
    assert all(f'"{label}"' in message for label in labels)
    assert issue == {"code": "invalid_value", "path": ["mentions_technician"], "values": labels}
    error = site.tools.error("search_reviews", {"mentions_technician": name})
    assert error == f"search_reviews: {message}."
    for label in labels:
        assert site.ids(mentions_technician=label)


def test_error_lists_ten_of_many_entities() -> None:
    people = [f"Sam {'x' * 80}{number}" for number in range(50)]
    with in_memory() as place:
        site = FilteredSite(Directories(place), {"entities": {"technicians": people}})
        error = site.tools.error("search_reviews", {"mentions_technician": "sam"})
    assert 10 == error.count('"Sam ')
    assert len(error) < 1_000


def test_name_of_any_length_is_searched(site: FilteredSite) -> None:
    assert site.ids(mentions_technician="\u00e9" * 5_000) == ""


def test_filters_match_nothing_without_insights() -> None:
    """An agent gets an error instead (test_review_tools)."""
    with in_memory() as place:
        site = FilteredSite(Directories(place), None)
        for filters in (b"sentiment=positive", b"mentions_aspect=pricing", b"mentions_area=x"):
            answer = site.reads.search(Request(b"GET", b"", filters))
            assert isinstance(answer, Response)
            assert 0 == json.loads(b"".join(answer.body))["matched"]
