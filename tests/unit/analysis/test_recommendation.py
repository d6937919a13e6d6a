"""Whether customers would come again or recommend the business, in seven languages (insights.md 4, decision 628)."""

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.reviews import Business


def _said(text: str, stars: int, language: str = "en") -> str | None:
    rules = Rules(Business(name="Blake", language=language), InsightSettings(language=language))
    sentiments = [a.sentiment for a in rules.label(text, stars).aspects if a.id == "recommendation"]
    return sentiments[0] if sentiments else None


@pytest.mark.parametrize(
    "text",
    [
        "I highly recommend them.",
        "Can't recommend them enough!",
        "We'll definitely be back.",
        "I would not hesitate to use them again.",
        "Looking forward to coming back next year.",
        "Well worth a visit.",
        "You won't be disappointed.",
        "We have been coming here for years.",
        "I would never go anywhere else.",
        "This is my go to place.",
        "Give them a call.",
        "I take my cats here.",
        "I can not wait to go back.",
        "We have stayed at this hotel more than 15 times.",
    ],
)
def test_who_would_come_again_recommends(text: str) -> None:
    assert "positive" == _said(text, 5)


@pytest.mark.parametrize(
    "text",
    [
        "Never again.",
        "I would not recommend this place.",
        "We won't be going back.",
        "I will never use them again.",
        "Stay away!",
        "Avoid this place.",
        "Take your business elsewhere.",
        "I am looking for another dentist.",
        "That was my last visit.",
        "Not recommended.",
    ],
)
def test_who_warns_others_does_not_recommend(text: str) -> None:
    assert "negative" == _said(text, 1)


@pytest.mark.parametrize(
    "text",
    [
        "They recommended a new filter.",
        "He said he would be back on Monday.",
        "The waiter will recommend a wine.",
        "I had to come back twice.",
        "The soup was good.",
    ],
)
def test_what_staff_recommends_or_does_is_no_recommendation(text: str) -> None:
    assert _said(text, 3) is None


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        ("de", "Wir kommen gerne wieder.", "Nie wieder!"),
        ("de", "Sehr zu empfehlen.", "Nicht zu empfehlen."),
        ("fr", "Nous reviendrons avec plaisir.", "Je n'y retournerai pas."),
        ("fr", "Je recommande vivement.", "À fuir !"),
        ("es", "Volveremos seguro.", "No volveré nunca."),
        ("es", "Muy recomendable.", "No lo recomiendo."),
        ("it", "Ci torneremo sicuramente.", "Da evitare."),
        ("it", "Lo consiglio a tutti.", "Non lo consiglio."),
        ("nl", "Wij komen zeker terug.", "Wij komen nooit meer terug."),
        ("nl", "Een aanrader!", "Niet aan te raden."),
        ("pt", "Voltaremos com certeza.", "Nunca mais volto."),
        ("pt", "Super recomendo.", "Não recomendo."),
    ],
)
def test_every_language_tells_coming_again_from_never_again(
    language: str, good: str, bad: str
) -> None:
    assert ("positive", "negative") == (_said(good, 5, language), _said(bad, 1, language))


@pytest.mark.parametrize(
    ("language", "text"), [("de", "Immer wieder fantastisch!"), ("it", "La torta era eccezionale.")]
)
def test_praise_alone_is_no_recommendation(language: str, text: str) -> None:
    assert _said(text, 5, language) is None
