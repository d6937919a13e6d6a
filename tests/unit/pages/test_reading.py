"""Pages explain in words what readers need to know, and how to correct a search (pages.md 1, 3)."""

import json
import re

import pytest

from tests.support.pages import Html, Place, review

MEANING = "come from a source that checks that their authors were customers."


def test_meaning_of_verified_is_explained_on_the_page(place: Place) -> None:
    """In the owner's words where there are any."""
    targets = ("/", "/reviews", "/reviews?min_rating=2", "/r/a")
    place.publish([review(), review("b", verified=False)])
    for target in targets:
        assert 1 == place.page(target).text.count(MEANING), target
    assert "1 of 2 reviews come from a source that checks" in place.page("/").text
    assert "the author of this review was a customer" in place.page("/r/b").text
    stated = {"name": "Acme", "verification_statement": "We ask each customer."}
    place.publish([review()], stated)
    for target in targets:
        text = place.page(target).text
        assert "We ask each customer." in text, target
        assert MEANING not in text, target


@pytest.mark.parametrize("stated", [None, "We ask each customer."])
def test_page_states_that_no_review_was_checked(place: Place, stated: str | None) -> None:
    """Silence reads as a check (EU 2005/29/EC art. 7(6)); "0 of 60" reads as a fault of the service."""
    reviews = [review(verified=False), review("b", verified=False)]
    place.publish(reviews, {"name": "Acme", "verification_statement": stated})
    lists = ("/", "/reviews", "/reviews?min_rating=2", "/embed", "/about-reviews")
    for target in (*lists, "/r/a", "/index.md"):
        content = place.get(target).body.decode()
        text = content if target.endswith(".md") else Html(content).text
        assert MEANING not in text, target
        assert "0 of" not in text, target
        if target != "/r/a" or stated is None:
            assert 1 == text.count("It was not checked whether"), target
        assert (stated is None) or text.index(stated) >= 0, target


@pytest.mark.parametrize(
    ("query", "explanation"),
    [
        ("since=2026-05-01&until=2025-01-01", "May 1, 2026 is after January 1, 2025"),
        ("min_rating=4&rating=2", "the filters exclude each other"),
        ("rating=5&max_rating=2", "the filters exclude each other"),
        ("min_rating=3.2&max_rating=3.8", "the filters exclude each other"),
        ("mentions_service=zzz", "Service: there is no “zzz” here."),
        ("mentions_technician=%3Cb%3E", "Person: there is no “<b>” here."),
        ("source=zzz&rating=5", "Source: there is no “zzz” here."),
    ],
)
def test_excluding_filters_are_explained(harbor: Place, query: str, explanation: str) -> None:
    """They are valid, as in the API: the answer is an empty list that says why."""
    text = harbor.page(f"/reviews?{query}").text
    assert "No reviews match these filters." in text
    assert explanation in text


@pytest.mark.parametrize(
    "query",
    [
        "query=zzzz",
        "mentions_service=boiler-repair&query=zzzz",
        "rating=3&since=2026-11-10",
        "source=GOOGLE&verified=true",
    ],
)
def test_filters_without_a_match_by_chance_are_not_explained(harbor: Place, query: str) -> None:
    text = harbor.page(f"/reviews?{query}").text
    assert "No reviews match these filters." in text
    assert "nothing here is called" not in text
    assert "leave out" not in text


def test_ambiguous_name_links_to_each_candidate(harbor: Place) -> None:
    page = harbor.page("/reviews?mentions_service=boiler&min_rating=4", 400)
    links = [link for link in page.links if "mentions_service=" in link]
    assert 2 == len(links)
    for link in links:
        assert "min_rating=4" in link
        assert "reviews found" in harbor.page(link).text


def test_long_texts_are_cut_on_the_front_page_only(place: Place) -> None:
    words = "word " * 400
    reply = {"text": "x" * 10_000, "date": "2025-03-15"}
    long = review(text=words + "end", owner_reply=reply)
    place.publish([long, review("b", text="word " * 56)])
    page = place.page("/")
    assert "Read the full review" in page.text
    assert 1 == page.text.count("word…")
    assert "x" * 225 not in page.source
    assert "end" not in page.scripts[0]
    for target in ("/reviews", "/r/a"):
        text = place.page(target).text
        assert words + "end" in text
        assert "x" * 10_000 in text
        assert "Read the full review" not in text


def test_review_page_links_to_newer_and_older_reviews(place: Place) -> None:
    place.publish([review(name, date=f"2025-0{at}-01") for at, name in enumerate("cba", 1)])
    page = place.page("/r/b")
    assert ["h1"] == [
        element.name for element in page.elements if element.name in {"h1", "h2", "h3"}
    ]
    newer = next(link for link in page.links if "since=" in link)
    older = next(link for link in page.links if "cursor=" in link)
    assert {"/r/a", "/r/b"} <= place.page(newer).links
    assert ["/r/c"] == place.page(older).reviews


@pytest.mark.parametrize(
    ("language", "author", "heading"),
    [
        ("de", " ", "Bewertung von Anonym"),
        ("de", "\u200b\t\u00a0", "Bewertung von Anonym"),
        ("de", "Anonymous", "Bewertung von Anonym"),
        ("de", "anonymous tip", "Bewertung von anonymous tip"),
        ("en", " ", "Review by Anonymous"),
        ("en", "Anonymous", "Review by Anonymous"),
    ],
)
def test_author_without_a_name_is_shown_in_the_language_of_the_page(
    place: Place, language: str, author: str, heading: str
) -> None:
    """Imports write "Anonymous" for nobody. Nothing is changed in the data."""
    place.publish([review(author=author)], {"name": "Acme", "language": language})
    assert f"<bdi>{heading.split(maxsplit=2)[2]}</bdi>" in place.page("/").source
    for target in ("/r/a", "/r/a.md"):
        assert re.search(rf"{heading}\b", place.get(target).body.decode())
    assert author == json.loads(place.get("/reviews.json").body)["reviews"][0]["author"]


def test_pages_for_people_name_no_analysis_program(harbor: Place) -> None:
    """The model of the insights is in insights.json (data-model.md); customers need plain words."""
    for target in ("/", "/reviews", "/summary"):
        assert "hand-labelled" not in harbor.page(target).text
