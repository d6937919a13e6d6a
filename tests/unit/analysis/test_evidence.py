"""Quotations, wordings and the sentiment of people, from texts as customers write them (insights.md 10)."""

import datetime

import pytest

from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.labels import AspectLabel, EntityLabel
from reviewsd.analysis.presets import with_aspects
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Business, Review

_PEOPLE = ("Grace Holloway", "Frank Castellano")
_RULES = Rules(
    Business(name="B"),
    InsightSettings(technicians=tuple(NamedTechnician(name=name) for name in _PEOPLE)),
)


def _quotation(text: str, aspect: str, sentiment: Sentiment, rating: int | None = None) -> str:
    day = datetime.date(2026, 6, 15)
    if rating is None:
        rating = 5 if sentiment == "positive" else 2
    review = Review(
        id="a", author="Ann", rating=rating, date=day, text=text, source="x", verified=True
    )
    quotation = Evidence(_RULES).quotation(review, aspect, sentiment, "")
    return "" if quotation is None else quotation.text


@pytest.mark.parametrize(
    ("text", "aspect", "sentiment", "expected"),
    [
        (
            "We called. The staff was so friendly to us. Bye.",
            "friendliness",
            "positive",
            "The staff was so friendly to us.",
        ),
        ("The staff was not friendly.", "friendliness", "negative", "The staff was not friendly."),
        ("Still waiting.", "response_time", "negative", ""),
        ("To be fair Sophie is lovely.", "pricing", "positive", ""),
        ("I only wish I'd booked it sooner.", "scheduling", "positive", ""),
        ("The doctor (forgot the name?) was friendly.", "friendliness", "positive", ""),
        ("The filling fell out in four days.", "response_time", "positive", ""),
        (
            "The staff was friendly (the one with red hair!) to us. Bye.",
            "friendliness",
            "positive",
            "The staff was friendly (the one with red hair!) to us.",
        ),
        ("The brake fell off on the way home!", "communication", "positive", ""),
        ("Friendly staff, but they were two hours late.", "friendliness", "positive", ""),
        ("Friendly staff, but they were two hours late.", "friendliness", "negative", ""),
        ("The last plumber was friendly.", "friendliness", "positive", ""),
        ("Would have been five stars if they had been friendly.", "friendliness", "positive", ""),
        ("I wish they were friendly.", "friendliness", "negative", ""),
        ("But the staff was friendly.", "friendliness", "positive", ""),
        ("Is the staff friendly?", "friendliness", "positive", ""),
        ("FRIENDLY STAFF", "friendliness", "positive", ""),
        ("The staff was friendly.", "pricing", "positive", ""),
        # without a word of the very aspect
        ("Also very fair about my allergies and so kind.", "pricing", "positive", ""),
        ("Honest and reliable.", "work_quality", "positive", ""),
        ("They were always on time.", "punctuality", "positive", "They were always on time."),
        ("The office was quick to get us on the schedule.", "punctuality", "positive", ""),
        ("Top place, top staff.", "friendliness", "positive", ""),
        ("I got a $100 penalty.", "pricing", "negative", ""),
        # comparisons and half praise
        ("Prices are reasonable compared with the others.", "pricing", "positive", ""),
        ("Decent company, friendly people.", "friendliness", "positive", ""),
        # contrasts, doubts, irony and reports
        ("The staff was friendly, though the bill was not.", "friendliness", "positive", ""),
        ("The staff was friendly, they are just too few.", "friendliness", "positive", ""),
        ("The staff was friendly only once.", "friendliness", "positive", ""),
        ("Oh yes, such friendly staff!!", "friendliness", "positive", ""),
        ('They call that a "friendly" staff.', "friendliness", "positive", ""),
        ("If the staff is friendly we come back.", "friendliness", "positive", ""),
        ("My wife said the staff was friendly.", "friendliness", "positive", ""),
        ("The friendly staff never called us back.", "friendliness", "positive", ""),
        # about a relative or a pet
        ("My dog is very friendly and loves it here.", "friendliness", "positive", ""),
        ("Son's a very skilled player and happy.", "technical_knowledge", "positive", ""),
        ("He is a competent driver now.", "technical_knowledge", "positive", ""),
        ("I'm a competent driver now.", "technical_knowledge", "positive", ""),
        # what the customer may have done
        ("Cleaned up all the dirt with my own hose.", "cleanliness", "negative", ""),
        ("Cancelled the night before.", "scheduling", "negative", ""),
        (
            "They cancelled the night before.",
            "scheduling",
            "negative",
            "They cancelled the night before.",
        ),
        # tied to the sentence before
        ("Because the staff was so friendly.", "friendliness", "positive", ""),
        ("Took in a laptop with a slow fan.", "response_time", "negative", ""),
        # among too much else
        (
            "She said hello, and we talked of the dog, and they were friendly, and we left at once.",
            "friendliness",
            "positive",
            "",
        ),
        # the clearest of several
        (
            "She is friendly and quick, and they came on time. Very friendly staff all around.",
            "friendliness",
            "positive",
            "Very friendly staff all around.",
        ),
        (
            "Came to a friendly place. They were friendly to us.",
            "friendliness",
            "positive",
            "They were friendly to us.",
        ),
        (
            "They were friendly to us. They were very friendly indeed.",
            "friendliness",
            "positive",
            "They were very friendly indeed.",
        ),
        (
            "The tellers are great and always helpful. They were friendly to us.",
            "friendliness",
            "positive",
            "They were friendly to us.",
        ),
        ("The staff is helpful.", "friendliness", "positive", "The staff is helpful."),
    ],
)
def test_quotation_is_a_sentence_that_shows_the_statement(
    text: str, aspect: str, sentiment: Sentiment, expected: str
) -> None:
    assert expected == _quotation(text, aspect, sentiment)


def test_sentence_that_names_an_aspect_of_the_trade_comes_first() -> None:
    """A spacious place was quoted for rooms."""
    business = Business(name="B", category="Hotel")
    rules = Rules(business, with_aspects(InsightSettings(), business))
    text = "Very clean and really spacious. The room was roomy."
    day = datetime.date(2026, 6, 15)
    review = Review(id="a", author="Ann", rating=5, date=day, text=text, source="x", verified=True)
    quotation = Evidence(rules).quotation(review, "rooms", "positive", "")
    assert quotation is not None
    assert "The room was roomy." == quotation.text


@pytest.mark.parametrize(
    ("stars", "sentiment"), [(3, "positive"), (1, "positive"), (4, "negative"), (5, "negative")]
)
def test_quotation_is_of_a_review_whose_stars_agree(stars: int, sentiment: Sentiment) -> None:
    text = "The staff was very friendly. The staff was very rude."
    assert not _quotation(text, "friendliness", sentiment, stars)


@pytest.mark.parametrize(
    ("language", "text", "aspect"),
    [
        ("de", "Das Personal war sehr freundlich.", "friendliness"),
        ("es", "Muy buen precio.", "pricing"),
        ("fr", "Des prix très raisonnables.", "pricing"),
        ("it", "Il personale è molto gentile.", "friendliness"),
        ("pt", "A equipe foi muito gentil com a gente.", "friendliness"),
        ("nl", "Het personeel was heel vriendelijk.", "friendliness"),
    ],
)
def test_words_of_each_language_show_an_aspect(language: str, text: str, aspect: str) -> None:
    rules = Rules(Business(name="B", language=language), InsightSettings(language=language))
    day = datetime.date(2026, 6, 15)
    review = Review(id="a", author="Ann", rating=5, date=day, text=text, source="x", verified=True)
    quotation = Evidence(rules).quotation(review, aspect, "positive", "")
    assert quotation is not None
    assert text == quotation.text


def test_text_in_another_language_counts_and_is_not_quoted() -> None:
    """An English page would show sentences and wordings that its readers may not understand."""
    text = "Das Team war sehr freundlich und hat alles genau erklärt."
    assert "" == _quotation(text, "friendliness", "positive")
    labels = _RULES.label(text, 5)
    assert ("de", {"friendliness"}) <= (labels.language, {entry.id for entry in labels.aspects})
    assert all(() == entry.wordings for entry in labels.aspects)


def test_long_sentence_is_cut_at_a_clause_that_stands_alone() -> None:
    long = f"We called {'and called ' * 20}and they were very friendly, and {'so on ' * 20}."
    assert "they were very friendly" == _quotation(long, "friendliness", "positive")
    long = f"A very friendly lady {'and another one ' * 20}."
    assert not _quotation(long, "friendliness", "positive")


@pytest.mark.parametrize(
    ("stars", "text", "aspect", "expected"),
    [
        (5, "She is so patient and kind.", "friendliness", ("patient", "kind")),
        (5, "She explains everything.", "communication", ("explains everything", "explains")),
        (5, "They'll clean up, that part's true.", "cleanliness", ()),  # no verb without its object
        (1, "The prices are steep.", "pricing", ("prices are steep",)),
        (1, "They were hardly on time.", "punctuality", ()),
        (4, "I wish they were friendly.", "friendliness", ()),
    ],
)
def test_wordings_begin_and_end_at_words_that_can(
    stars: int, text: str, aspect: str, expected: tuple[str, ...]
) -> None:
    labels: dict[str, AspectLabel] = {item.id: item for item in _RULES.label(text, stars).aspects}
    assert aspect in labels
    assert set(expected) <= set(labels[aspect].wordings)
    assert bool(expected) is bool(labels[aspect].wordings)


@pytest.mark.parametrize(
    ("language", "text", "wording"),
    [
        ("de", "Die Preise sind sehr fair.", "Preise sind sehr fair"),
        ("es", "El personal fue muy amable con nosotros.", "amable"),
        ("fr", "Le personnel est très aimable.", "aimable"),
        ("it", "Il personale è stato molto gentile con noi.", "gentile"),
        ("pt", "A equipe foi muito gentil com a gente.", "gentil"),
        ("nl", "Het personeel was heel vriendelijk.", "vriendelijk"),
    ],
)
def test_wordings_are_cut_by_their_language(language: str, text: str, wording: str) -> None:
    rules = Rules(Business(name="B", language=language), InsightSettings(language=language))
    assert wording in {item for label in rules.label(text, 5).aspects for item in label.wordings}


def test_relatives_and_titles_of_other_languages_are_known() -> None:
    people = (NamedTechnician(name="Dr. Anna Weber"), NamedTechnician(name="Max Huber"))
    rules = Rules(Business(name="B", language="de"), InsightSettings(technicians=people))
    labels = rules.label("Frau Weber war toll. Mein Mann Max war auch sehr zufrieden.", 5)
    assert ["dr-anna-weber"] == [person.id for person in labels.technicians]


@pytest.mark.parametrize(
    ("stars", "text", "sentiment"),
    [
        (1, "Nobody called. Grace was super apologetic and kind.", "positive"),
        (5, "Ask for Grace.", "positive"),
        (1, "Grace sat at the desk. They charged me twice.", "neutral"),
        (4, "Great place. Grace was very rude to me.", "negative"),
        (2, "I expected more from Grace. She was rude. The nurse was kind.", "negative"),
        (5, "They were late, but Grace was wonderful.", "positive"),
        (4, "The other one was rude. Grace came at noon.", "positive"),
    ],
)
def test_person_has_sentiment_of_own_clauses(stars: int, text: str, sentiment: Sentiment) -> None:
    (label,) = _RULES.label(text, stars).technicians
    assert isinstance(label, EntityLabel)
    assert sentiment == label.sentiment


def test_wording_has_more_than_an_adverb() -> None:
    """Two reviews with "perfectly nice" and "works perfectly" do not share a praise."""
    labels = _RULES.label("The work was done perfectly. The tap works perfectly now.", 5)
    assert "perfectly" not in [text for entry in labels.aspects for text in entry.wordings]
