"""The sentiment of people, from the words about them alone (insights.md 10, 4)."""

import pytest

from reviewsd.analysis.labels import EntityLabel
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Business

_PEOPLE = (NamedTechnician(name="Grace Holloway"), NamedTechnician(name="Luca Moretti"))


def _sentiment(
    text: str, stars: int, language: str = "en", person: str = "grace-holloway"
) -> Sentiment | None:
    return _label(text, stars, language, person).sentiment


def _label(
    text: str, stars: int, language: str = "en", person: str = "grace-holloway"
) -> EntityLabel:
    settings = InsightSettings(language=language, technicians=_PEOPLE)
    labels = Rules(Business(name="B", language=language), settings).label(text, stars)
    return {label.id: label for label in labels.technicians}[person]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Grace was super kind, but the bill was a shock."),
        ("en", "Grace was kind and the bill was a terrible shock."),
        ("en", "Terrible food, Grace was friendly."),
        ("en", "Luca was rude to us and Grace was friendly."),
        ("de", "Grace ist sehr nett, aber die Wartezeiten sind eine Katastrophe."),
        ("de", "Grace war nett und die Rechnung war furchtbar."),
        ("de", "Schreckliches Essen, Grace war freundlich."),
        ("es", "Grace fue muy amable, pero la factura fue un desastre."),
        ("es", "Comida horrible, Grace fue amable."),
        ("fr", "Grace était très gentille, mais la facture était une catastrophe."),
        ("fr", "Repas horrible, Grace était gentille."),
        ("it", "Grace è stata molto gentile, ma il conto è stato un disastro."),
        ("it", "Cibo orribile, Grace è stata gentile."),
        ("pt", "Grace foi muito gentil, mas a conta foi um desastre."),
        ("pt", "Comida horrível, Grace foi gentil."),
        ("nl", "Grace was heel vriendelijk, maar de rekening was een ramp."),
        ("nl", "Vreselijk eten, Grace was vriendelijk."),
    ],
)
def test_blame_of_something_else_is_no_blame_of_the_person(language: str, text: str) -> None:
    assert "positive" == _sentiment(text, 2, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Grace was there. She was rude."),
        ("de", "Grace war da. Sie war unfreundlich."),
        ("es", "Grace estaba allí. Ella fue muy grosera."),
        ("fr", "Grace était là. Elle était désagréable."),
        ("it", "Grace era lì. Lei è stata maleducata."),
        ("pt", "Grace estava lá. Ela foi grossa."),
        ("nl", "Grace was er. Zij was onbeleefd."),
    ],
)
def test_sentence_with_a_pronoun_is_about_the_person_before(language: str, text: str) -> None:
    assert "negative" == _sentiment(text, 2, language)


@pytest.mark.parametrize(
    "text",
    [
        "Grace sat at the desk. The room was dirty and the manager rude.",
        "Grace promised a great result and it was gone in a week.",
        "Dirty room, rude porter, and Grace did nothing about it.",
        "The room was dirty. I asked Grace for it in writing and got a thumbs up.",
    ],
)
def test_person_in_a_bad_review_without_an_opinion_is_neutral(text: str) -> None:
    assert "neutral" == _sentiment(text, 2)


@pytest.mark.parametrize(
    "text",
    [
        "Our ferry was delayed and Grace was still at the gate for us.",
        "Grace read it out to him slowly and she acted like it was the first time.",
        "Grace lay in wet grass for forty minutes making squeaky noises.",
        "Grace fixed the awful leak.",
    ],
)
def test_person_in_a_good_review_without_an_opinion_is_praised(text: str) -> None:
    assert "positive" == _sentiment(text, 5)


def test_good_review_can_blame_a_person_with_an_opinion() -> None:
    text = "Grace couldn't have been sweeter, Luca was rude."
    assert "positive" == _sentiment(text, 4)
    assert "negative" == _sentiment(text, 4, person="luca-moretti")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Grace was friendly and explained everything. The price was fair.",
            {"friendliness", "communication"},
        ),
        ("Grace was there. She was so patient!", {"friendliness"}),
        ("Luca was rude to us and Grace was friendly.", {"friendliness"}),
        ("Grace promised that the price would be fair.", set()),
        ("Grace was there, fair price.", set()),
        ("Unlike Grace, Luca was friendly.", set()),
        ("Grace should be more friendly.", set()),
        ("Grace is less skilled and friendly than Luca.", set()),
    ],
)
def test_person_is_praised_for_aspects_of_their_own_clauses(text: str, expected: set[str]) -> None:
    assert expected == set(_label(text, 5).praised_for)


def test_person_who_is_blamed_is_praised_for_nothing() -> None:
    assert (
        ()
        == _label(
            "Grace was friendly at first. Then she was rude and shouted at us!", 1
        ).praised_for
    )


@pytest.mark.parametrize(
    ("text", "sentiment"),
    [
        ("Grace never called me back.", "negative"),
        ("Nobody called back, and Grace was there.", "neutral"),
        ("We waited two hours, Grace was there.", "neutral"),
    ],
)
def test_speed_is_of_business_except_call_that_person_owed(text: str, sentiment: str) -> None:
    assert sentiment == _sentiment(text, 1)


@pytest.mark.parametrize(
    ("language", "text", "stars", "sentiment"),
    [
        ("en", "The tap leaks. Grace wouldn't even look at it.", 1, "negative"),
        ("en", "We wrote. And Grace never wrote.", 1, "negative"),
        ("en", "Grace should take a course.", 1, "negative"),
        ("de", "Frau Holloway sollte einen Kurs machen.", 1, "negative"),
        ("fr", "Mme Holloway n'a rien voulu entendre.", 1, "negative"),
        ("en", "The tap leaks. Grace wouldn't even look at it.", 2, "neutral"),
        ("en", "The tap leaks. Grace wasn't there.", 1, "neutral"),
        ("en", "The tap leaks. I asked Grace not to come.", 1, "neutral"),
        ("en", "I gave it to Grace, nothing more.", 1, "neutral"),
        ("en", "It was told to Grace.", 1, "neutral"),
    ],
)
def test_what_a_person_did_not_do_is_blame_in_a_review_of_one_star(
    language: str, text: str, stars: int, sentiment: Sentiment
) -> None:
    assert sentiment == _sentiment(text, stars, language)
