"""The whole way from reviews to insights: what holds for any text."""

import datetime
import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.analysis.analysing import Analyser
from reviewsd.analysis.explaining import explain
from reviewsd.analysis.labels import WORDLESS, Labels
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import AspectSetting, InsightSettings, NamedTechnician
from reviewsd.domain.dataset import load
from reviewsd.domain.diagnostic_text import headline
from reviewsd.domain.lint import doubts
from reviewsd.domain.reviews import Business, Review
from reviewsd.pages.locales import words_of_insights
from tests.support.analysing import Made, analyse
from tests.support.examples import examples
from tests.support.growth import Thunk, assert_linear

_BUSINESS = Business(name="B", category="Plumber", service_areas=("North Ellery", "Saltmarsh"))
_SETTINGS = InsightSettings(
    technicians=(
        NamedTechnician(name="Priya Raman", aliases=("Priya",)),
        NamedTechnician(name="Will Stone", aliases=("Will",)),
    )
)
_DAY = datetime.date(2026, 6, 15)
_NOW = datetime.datetime(2026, 6, 15, tzinfo=datetime.UTC)
_LABELLED = json.loads((Path(__file__).parent / "reviews.json").read_text("utf-8"))


class _File(msgspec.Struct):
    business: Business
    reviews: list[Review]


def _reviews(texts: Iterable[tuple[str | None, int]]) -> list[Review]:
    return [
        Review(
            id=f"01J000000000000000000{at:05}",
            author=f"A{at}",
            rating=rating,
            date=_DAY - datetime.timedelta(days=11 * at),
            text=text,
            source="x",
            verified=True,
        )
        for at, (text, rating) in enumerate(texts)
    ]


def _findings(reviews: list[Review], analysis: Made) -> list[str]:
    given = msgspec.json.encode(_File(_BUSINESS, reviews))
    dataset = load(given, msgspec.json.encode(analysis.insights))
    return [headline(item) for item in doubts(given, dataset, _NOW)]


_WORDS = st.sampled_from(
    [
        "They",
        "were",
        "on",
        "time,",
        "late.",
        "but",
        "never",
        "rude!",
        "Priya's",
        "crew",
        "(not)",
        "fixed",
        "the",
        "leak",
        "for",
        "$1,200\n",
        "in",
        "North",
        "Ellery",
        "\u2013",
        "left",
        "a",
        "mess;",
        "didn\u2019t",
        "call",
        "back?!",
        "Été",
        "le",
        "la",
        "😀",
    ]
)
_TEXTS = st.one_of(st.text(max_size=300), st.lists(_WORDS, max_size=60).map(" ".join))


@examples(20)
@given(st.lists(st.tuples(st.none() | _TEXTS, st.integers(1, 5)), max_size=25))
def test_any_text_makes_valid_insights_verbatim(texts: list[tuple[str | None, int]]) -> None:
    reviews = _reviews(texts)
    analysis = analyse(reviews, _BUSINESS, _SETTINGS)
    assert _findings(reviews, analysis) == []
    by_id = {review.id: review.text or "" for review in reviews}
    for name, entry in analysis.insights.per_review.items():
        for mention in entry.aspects:
            assert not isinstance(mention, str)
            assert mention.phrase
            assert mention.phrase in by_id[name]
            assert len(mention.phrase) <= 120
    every = "\0".join(by_id.values())
    entities = analysis.insights.entities
    counted = [
        *analysis.insights.topics,
        *entities.technicians,
        *entities.services,
        *entities.problems,
        *entities.service_areas,
    ]
    phrases = [item.top_phrases for item in analysis.insights.aspects]
    phrases += [item.top_phrases for item in counted]
    assert all(phrase in every for top in phrases for phrase in top)
    if analysis.insights.pull_quote is not msgspec.UNSET:
        assert analysis.insights.pull_quote in every


def analysed() -> bytes:
    analysis = analyse(_reviews((e["text"], e["rating"]) for e in _LABELLED), _BUSINESS, _SETTINGS)
    return msgspec.json.encode([analysis.insights, analysis.labels])


_SCRIPT = """
import sys
from tests.unit.analysis.test_analysing import analysed
sys.stdout.buffer.write(analysed())
"""


@pytest.mark.processes
def test_same_bytes_in_every_process() -> None:
    """The hash seed of this one is another in each run."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        check=True,
    )
    assert analysed() == done.stdout


def test_what_is_read_together_changes_nothing() -> None:
    """Reviews are read in batches of 20,000 characters, the same text once."""
    texts = [(row["text"], row["rating"]) for row in _LABELLED]
    reviews = _reviews([(None, 5), *texts, ("10/10", 5), *texts, ("Friendly. " * 2_500, 5)])
    together, alone = (
        Analyser(_BUSINESS, _SETTINGS, words_of_insights(_BUSINESS)) for _ in range(2)
    )
    block = together.block(reviews)
    blocks = [alone.block([review]) for review in reviews]
    assert block.entries == [entry for single in blocks for entry in single.entries]
    assert block.labels == {key: found for single in blocks for key, found in single.labels.items()}
    assert len(set(texts)) + 1 == together.analysed == alone.analysed


def test_only_what_changed_is_read_again() -> None:
    texts = [(item["text"], item["rating"]) for item in _LABELLED]
    first = analyse(_reviews(texts), _BUSINESS, _SETTINGS)
    stored_labels = msgspec.json.decode(msgspec.json.encode(first.labels), type=dict[str, Labels])
    assert first.analysed == len(set(texts))
    texts[3] = (texts[3][0] + " And friendly.", texts[3][1])
    texts[4] = (texts[4][0], 3)
    second = analyse(_reviews(texts), _BUSINESS, _SETTINGS, known_labels=stored_labels)
    assert second.analysed == 2
    assert second.insights == analyse(_reviews(texts), _BUSINESS, _SETTINGS).insights
    assert len(second.labels) == len(first.labels)


@pytest.mark.parametrize(
    ("business", "owner"),
    [
        (_BUSINESS, InsightSettings(language="en")),
        (Business(name="B", category="Dentist"), _SETTINGS),
        (Business(name="B", category="Plumber", service_areas=("X",)), _SETTINGS),
    ],
)
def test_changed_settings_analyse_all_again(business: Business, owner: InsightSettings) -> None:
    reviews = _reviews([("They were on time.", 5)])
    stored_labels = analyse(reviews, _BUSINESS, _SETTINGS).labels
    assert analyse(reviews, business, owner, known_labels=stored_labels).analysed == 1


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000,
        "1" * 10_000,
        "$" * 10_000,
        "-" * 10_000,
        "late " * 2_000,
        "not very " * 1_000 + "late",
        "\U0001f600" * 5_000,
        "\u200b\u200d\ufeff" * 3_000,
        "\u202e\u0645\u0631\u062d\u0628\u0627 " * 1_000,
        "<script>alert('on time')</script>" * 300,
        "\ud800 on time",
        "I" * 5_000 + "\u0130" * 5_000,
    ],
)
def test_hostile_texts(text: str) -> None:
    labels = Rules(_BUSINESS, _SETTINGS).label(text, 3)
    for item in labels.aspects:
        assert item.phrase is not None
        assert item.phrase in text


@pytest.mark.parametrize(
    "piece",
    [
        "on time ",
        "great job ",
        "late night ",
        "x",
        "waited for a ",
        "not very ",
        ". but ",
        "$1 , ",
        "Priya ",
        "clog ",
        "WILL ",
        "waited an hour past my appointment ",
    ],
)
def test_time_grows_with_the_length_of_the_text(piece: str) -> None:
    rules = Rules(_BUSINESS, _SETTINGS)

    def labelling(characters: int) -> Thunk:
        text = piece * (characters // len(piece))
        return lambda: rules.label(text, 3)

    gc.disable()
    try:
        assert_linear(labelling)
    finally:
        gc.enable()


def test_labelled_reviews_keep_their_figures() -> None:
    """Not a measure of how good it is on other reviews, as the words were chosen with these."""
    rules = Rules(Business(name="B"), InsightSettings())
    result = right = same = labelled = contrary = contrary_found = 0
    for item in _LABELLED:
        expected = item["aspects"]
        got = {a.id: a.sentiment for a in rules.label(item["text"], item["rating"]).aspects}
        labelled += len(expected)
        result += len(got)
        right += len(got.keys() & expected.keys())
        same += sum(got.get(aspect) == sentiment for aspect, sentiment in expected.items())
        stars = {1: "negative", 2: "negative", 4: "positive", 5: "positive"}.get(item["rating"])
        against = [a for a, s in expected.items() if stars and s != stars]
        contrary += len(against)
        contrary_found += sum(got.get(aspect) == expected[aspect] for aspect in against)
    assert right / result >= 0.8
    assert right / labelled >= 0.8
    assert same / right >= 0.93
    assert contrary_found / contrary >= 0.7


def test_explanation() -> None:
    (review,) = _reviews(
        [("They weren't cheap, but Priya was on time. My last plumber was late.", 4)]
    )
    explanation = explain(review, _BUSINESS, _SETTINGS)
    first, second, third = explanation.clauses
    assert [item.text for item in explanation.clauses] == [
        "They weren't cheap,",
        "but Priya was on time",
        "My last plumber was late",
    ]
    assert [(a.aspect, a.sentiment, a.reason) for a in first.aspects] == [
        ("pricing", "negative", "the clause says the opposite of the stars")
    ]
    assert second.contrasted
    assert [(a.aspect, a.matched, a.reason) for a in second.aspects] == [
        ("punctuality", ("on time",), "the phrase says so")
    ]
    assert third.exclusion_reason == "speaks of another business"
    assert third.aspects[0].sentiment is None
    assert third.words[0][0] == "late"
    assert explanation.labels == Rules(_BUSINESS, _SETTINGS).label(review.text, 4)
    printed = msgspec.to_builtins(explanation)["clauses"][2]
    assert ("speaks of another business", "not counted") == (
        printed["set_aside"],
        printed["aspects"][0]["why"],
    )


@pytest.mark.parametrize("text", [None, "", "!!! :)", "10/10"])
def test_text_without_words_has_no_language(text: str | None) -> None:
    (review,) = _reviews([(text, 4)])
    explanation = explain(review, _BUSINESS, _SETTINGS)
    assert ((), "", False) == (explanation.clauses, explanation.language, explanation.is_read)
    assert WORDLESS == explanation.labels == Rules(_BUSINESS, _SETTINGS).label(text, 4)
    method = analyse([review], _BUSINESS, _SETTINGS).insights.method
    assert ({}, 1) == (method.languages, method.not_analysed)


def test_explanation_shows_only_the_matches_that_count() -> None:
    """ "expensive" is within "Less expensive", and decisions leave it out."""
    (review,) = _reviews([("Less expensive than the others.", 4)])
    (clause,) = explain(review, _BUSINESS, _SETTINGS).clauses
    assert [("Less expensive",)] == [aspect.matched for aspect in clause.aspects]


def test_aspect_of_the_owner_is_explained_within_a_phrase_of_another() -> None:
    aspect = AspectSetting(
        label="Breakfast", words=("breakfast",), praise=("breakfast to die for",)
    )
    settings = InsightSettings(aspects={"breakfast": aspect})
    reviews = _reviews([("Great breakfast.", 5), ("A breakfast to die for.", 5)])
    matched = [
        {result.aspect: result.matched for result in clause.aspects}
        for review in reviews
        for clause in explain(review, _BUSINESS, settings).clauses
    ]
    assert [("breakfast",), ("breakfast to die for",)] == [
        result["breakfast"] for result in matched
    ]


def test_labels_of_the_owner_keep_their_capitals() -> None:
    aspect = AspectSetting(label="HVAC", words=("hvac",), praise=("great hvac",))
    reviews = _reviews([("They did great HVAC work in our old house.", 5)] * 5)
    insights = analyse(reviews, _BUSINESS, InsightSettings(aspects={"hvac": aspect})).insights
    assert "praised: HVAC" in str(insights.summary)


def test_a_technician_has_the_aliases_that_the_owner_gave() -> None:
    """Searches find people by them."""
    analysis = analyse(_reviews([("Priya and Will Stone were great.", 5)]), _BUSINESS, _SETTINGS)
    result = {item.label: item.aliases for item in analysis.insights.entities.technicians}
    assert result == {"Priya Raman": ("Priya",), "Will Stone": ("Will",)}
