"""Checks of the sentences that a language model writes (insights.md 12)."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.analysis import model_summary
from reviewsd.analysis.labels import text_key
from reviewsd.analysis.model_summary import Figure, Ground, Sentence, foreign, untrue
from reviewsd.analysis.text import words_of
from reviewsd.domain.insights import Entity, Insights, OverallSentiment
from reviewsd.domain.reviews import Review
from reviewsd.pages.words import CATALOGS
from tests.support.columns import review as record

TEXT = "Priya was on time. Certified by NASA, they say."


def review(text: str = TEXT) -> Review:
    return msgspec.convert(record("a", text=text, rating=5), Review)


INSIGHTS = Insights(
    review_count=1204,
    overall_sentiment=OverallSentiment(positive_pct=91.3),
    aspects=(
        Entity(
            id="punctuality",
            label="Punctuality",
            mention_count=40,
            positive_count=30,
            negative_count=10,
            positive_pct=75.0,
        ),
        Entity(id="pricing", label="Pricing", mention_count=2),
    ),
)
FIGURES = model_summary.figures_of(INSIGHTS, 4.63, criticism=True)
GROUND = Ground(figures=FIGURES, review_of={"a": review()}.get, language="en")


def sentence(text: str, **members: Any) -> Sentence:
    given = {"about": "punctuality", "sentiment": "positive", "reviews": {"a": text_key(TEXT, 5)}}
    return Sentence(text=text, **given | members)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("Customers praise punctuality: 30 of 40.", {}),
        ("75 % praise it, some \u201con time\u201d.", {}),
        ('They are "on TIME".', {}),
        ("10 of 40 were kept waiting.", {"sentiment": "negative"}),
        ("1,204 reviews give 4.6 stars; 91 % are good.", {"about": "reviews"}),
        ("1.204 give 4,63 stars.", {"about": "reviews"}),
        ("1\u202f204 give stars.", {"about": "reviews"}),
    ],
)
def test_sentence_of_figures_and_quotations_is_true(text: str, members: dict[str, Any]) -> None:
    assert "" == untrue(sentence(text, **members), GROUND)


@pytest.mark.parametrize(
    ("text", "members", "fault"),
    [
        ("Customers praise punctuality.", {}, "neither a number nor a quotation"),
        ("31 of 40 praise it.", {}, "not one of the figures"),
        ("10 praise it.", {}, "not one of the figures"),  # so many complain
        ("30,5 praise it.", {}, "not one of the figures"),
        ("30.0 praise it.", {}, "not one of the figures"),
        (f"0.{'9' * 400} praise it.", {}, "longer than 300"),
        ("30 praise it.", {"question": "?" * 400}, "longer than 300"),
        ("At 8:30 or 30 they come.", {}, "not one of the figures"),
        ("5 stars on average.", {"about": "reviews"}, "not one of the figures"),
        ("They give 4.7 stars.", {"about": "reviews"}, "not one of the figures"),
        ("\u00bd of 40 praise it.", {}, "not in digits"),
        ("All 40 praise it.", {}, "in words"),
        ("30 praise it.", {"question": "Are twenty enough?"}, "in words"),
        ('They are "never late".', {}, "not a verbatim piece"),
        ('They are "time".', {}, "not a verbatim piece"),  # a word shows nothing
        ('They are "on time.', {}, "has no end"),
        ("30 praise it.", {"reviews": {}}, "names no review"),
        ("30 praise it.", {"reviews": {"b": text_key(TEXT, 5)}}, "not there"),
        ("30 praise it.", {"reviews": {"a": text_key("edited", 5)}}, "has changed"),
        ("2 praise it.", {"about": "pricing"}, "no figures"),
        ("30 praise it.", {"sentiment": "neutral"}, "no figures"),
    ],
)
def test_untrue_sentence_is_refused(text: str, members: dict[str, Any], fault: str) -> None:
    assert fault in untrue(sentence(text, **members), GROUND)


@given(st.text() | st.text("0123456789.,:$ \"'\u00bd\u0663a"), st.text())
def test_any_text_is_judged(text: str, question: str) -> None:
    """The answer of a model may be anything, and so may a line that was edited."""
    own = sentence(text, question=question)
    if untrue(own, GROUND) == "":
        assert any(c.isdecimal() or c in '"\u201c' for c in text)
    assert isinstance(foreign(own, "en", (), {}), str)


def test_criticism_is_written_only_if_it_is_public() -> None:
    figures = model_summary.figures_of(INSIGHTS, None, criticism=False)
    assert {("reviews", "positive"), ("punctuality", "positive")} == set(figures)
    assert Figure("all reviews", 1204) in figures["punctuality", "positive"]


SPREAD = dict.fromkeys(words_of(TEXT), 1) | {"time": 9, "they": 9, "certified": 1, "priya": 3}


@pytest.mark.parametrize(
    ("text", "question", "fault"),
    [
        ("Customers are glad: 30 of 40.", "Are they on time?", ""),
        ('"Certified by NASA" is praised.', "", ""),
        (
            "They are certified (30 of 40).",
            "",
            "single review has stands outside of a quotation: certified",
        ),
        ("30 of 40 praise NASA.", "", "a name that is not in the lists"),
        ("30 of 40 praise Priya.", "", ""),
        ("30 of 40 praise Sam.", "", "a name that is not in the lists"),
        ("30 of 40 praise it.", "Are they certified?", "a word that a single review has"),
        ("30 of 40 praise it.", "Is it Sam?", "a name that is not in the lists: sam"),
        ("30 of 40 praise it.", "Can I come? May I, or must I\u2019ve called?", ""),
        ("30 of 40 praise it.", 'Are they "good"?', "it has a number or a quotation"),
        ("30 of 40 praise it.", "Are 30 enough?", "it has a number or a quotation"),
        ("30 of 40: https://evil.example", "", "an address"),
        ("30 of 40 praise it.\x1b[2J", "", "a control character"),
    ],
)
def test_words_of_a_single_review_stand_in_quotations(text: str, question: str, fault: str) -> None:
    """A review that tells the model what to say brings in no claim of its own."""
    result = foreign(sentence(text, question=question), "en", {"priya"}, SPREAD)
    assert fault in result
    assert bool(fault) == bool(result)


def test_german_nouns_are_no_names() -> None:
    """Their capitals say nothing, so a name is known by being in a single review."""
    own = sentence("30 von 40 loben den Termin.")
    assert "" == foreign(own, "de", (), {"termin": 4})
    assert foreign(own, "de", (), {"termin": 1})
    assert foreign(sentence("30 von 40 loben die NASA."), "de", (), {})


def test_each_catalog_has_words_of_numbers() -> None:
    languages = {"en", *(path.stem for path in CATALOGS.glob("*.po"))}
    assert languages == set(model_summary._NUMBERS)


def test_quotations_have_the_marks_of_the_language() -> None:
    assert "It is \u00abgood\u00bb." == model_summary.shown(
        'It is "good".', "\u00ab{}\u00bb".format
    )
