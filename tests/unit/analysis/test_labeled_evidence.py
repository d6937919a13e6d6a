"""Quotations of reviews that a language model has labeled (insights.md 12; decision 562)."""

import datetime

import pytest

from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.model_labels import AspectAnswer
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Business, Review

_RULES = Rules(Business(name="B"), InsightSettings())

Labels = list[tuple[str, Sentiment, str]]


def _evidence(labels: Labels) -> Evidence:
    answers = tuple(AspectAnswer(id=i, sentiment=s, phrase=p) for i, s, p in labels)
    return Evidence(_RULES, lambda _review: answers)


def _review(text: str, rating: int) -> Review:
    day = datetime.date(2026, 6, 15)
    return Review(
        id="a", author="Ann", rating=rating, date=day, text=text, source="x", verified=True
    )


def _quotation(text: str, labels: Labels, aspect: str, sentiment: Sentiment, rating: int) -> str:
    quotation = _evidence(labels).quotation(_review(text, rating), aspect, sentiment, "")
    return "" if quotation is None else quotation.text


@pytest.mark.parametrize(
    ("text", "labels", "aspect", "sentiment", "expected"),
    [
        pytest.param(
            "Bad hair day. Here I always know why. Bye.",
            [("communication", "positive", "I always know why")],
            "communication",
            "positive",
            "Here I always know why.",
            id="words that no rule knows",
        ),
        pytest.param(
            "The staff was friendly. It took an age.",
            [("response_time", "negative", "took an age")],
            "friendliness",
            "positive",
            "",
            id="an opinion of the rules that the model does not share",
        ),
        pytest.param(
            "The pie was a dream and it took an age.",
            [("work_quality", "positive", "a dream"), ("response_time", "negative", "an age")],
            "work_quality",
            "positive",
            "",
            id="praise with blame in one sentence",
        ),
        pytest.param(
            "But here I always know why.",
            [("communication", "positive", "I always know why")],
            "communication",
            "positive",
            "",
            id="a sentence that needs the one before",
        ),
        pytest.param(
            "My bairn was in tears with hunger by the time we were fed.",
            [("response_time", "negative", "in tears with hunger")],
            "response_time",
            "negative",
            "My bairn was in tears with hunger by the time we were fed.",
            id="blame by a customer's child",
        ),
    ],
)
def test_sentence_around_the_phrase_of_a_model_shows_its_label(
    text: str, labels: Labels, aspect: str, sentiment: Sentiment, expected: str
) -> None:
    rating = 5 if sentiment == "positive" else 1
    assert expected == _quotation(text, labels, aspect, sentiment, rating)


def test_blame_of_a_content_customer_is_quoted_if_a_model_labeled_it() -> None:
    """Rules read it from the stars alone, and a model from the words."""
    text = "You wait for the food."
    labels: Labels = [("response_time", "negative", "You wait")]
    assert text == _quotation(text, labels, "response_time", "negative", 5)


def test_label_that_stars_and_rules_bear_out_is_quoted_first() -> None:
    """Few false labels of a weak model agree with both."""
    evidence = _evidence([("friendliness", "negative", "staff")])

    def clarity(text: str, rating: int) -> int:
        quotation = evidence.quotation(_review(text, rating), "friendliness", "negative", "")
        assert quotation is not None
        return quotation.clarity

    clear, unclear = "The staff was rude to us.", "The staff was a wall to us."
    assert clarity(clear, 1) == clarity(clear, 3) > clarity(unclear, 1) > clarity(unclear, 5)
    assert clarity(unclear, 1) > clarity(clear, 5)  # content customers take blame back


def test_pull_quote_of_a_labeled_review_praises_and_blames_nothing() -> None:
    text = (
        "The staff was so friendly to my whole family. "
        "They are truly lovely people, and I always know what comes next."
    )
    labels: Labels = [
        ("communication", "positive", "I always know what comes next"),
        ("friendliness", "negative", "so friendly"),
    ]
    quotation = _evidence(labels).praise(_review(text, 5), 40, 160, ["communication"])
    assert quotation is not None
    assert "They are truly lovely people, and I always know what comes next." == quotation.text
