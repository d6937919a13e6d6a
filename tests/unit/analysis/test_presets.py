"""The aspects that a trade has beyond those of every trade (insights.md 3, decision 624)."""

from pathlib import Path

import pytest

from reviewsd.analysis.analysing import catalogue
from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.presets import with_aspects
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import AspectSetting, InsightSettings
from reviewsd.domain.reviews import Business
from reviewsd.pages.locales import words_of_insights

LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pt")
HOTEL = {"work_quality", "location", "comfort", "food", "parking", "rooms", "breakfast", "pool"}
RESTAURANT = {"work_quality", "service", "atmosphere"}
BAR = {"work_quality", "service", "atmosphere", "food", "equipment"}
BANK = {"work_quality", "service", "app", "loans"}
INSURER = {"work_quality", "service", "app", "claims"}
ACCOUNTANT = {"work_quality", "service", "app"}


def business(category: str | None, language: str = "en") -> Business:
    return Business(name="Seeblick", category=category, language=language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("category", "ids"),
    [
        ("hotel", HOTEL),
        ("Restaurant", RESTAURANT),
        ("BarOrPub", BAR),
        ("BankOrCreditUnion", BANK),
        ("InsuranceAgency", INSURER),
        ("AccountingService", ACCOUNTANT),
    ],
)
def test_aspects_of_a_trade_have_words_and_a_name_in_each_language(
    category: str, ids: set[str], language: str
) -> None:
    aspects = with_aspects(InsightSettings(), business(category, language)).aspects
    english = with_aspects(InsightSettings(), business(category)).aspects
    assert ids == {*aspects}
    labels = {aspect.label for aspect in aspects.values()}
    assert language == "en" or labels != {aspect.label for aspect in english.values()}
    for name in ids - {*ASPECTS}:
        aspect = aspects[name]
        words, english_words = set(aspect.words), set(english[name].words)
        assert words == english_words if language == "en" else words > english_words
        assert [] == list(InsightSettings(aspects={name: aspect}).faults())


def _sentences() -> list[list[str]]:
    lines = (Path(__file__).parent / "trades.txt").read_text("utf-8").splitlines()
    return [line.split(" ", 4) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(("language", "category", "aspect", "sign", "text"), _sentences())
def test_common_ways_to_speak_of_an_aspect_of_a_trade(
    language: str, category: str, aspect: str, sign: str, text: str
) -> None:
    """The stars agree, as they do in the sentences of every trade."""
    place = business(category, language)
    rules = Rules(place, with_aspects(InsightSettings(language=language), place))
    stars, sentiment = {"+": ([5], "positive"), "-": ([1], "negative"), "0": ([5, 1], None)}[sign]
    for count in stars:
        found = {label.id: label.sentiment for label in rules.label(text, count).aspects}
        assert sentiment == found.get(aspect)


@pytest.mark.parametrize(
    ("language", "label", "praise", "blame"),
    [
        ("en", "Care and treatment", "The best vet in town.", "Terrible service."),
        ("de", "Behandlung und Betreuung", "Tolle Betreuung.", "Ich wurde nicht mal untersucht."),
        ("es", "Atención y tratamiento", "Excelente veterinario.", "Pésimo servicio."),
        ("fr", "Soins", "Excellent vétérinaire.", "Mauvaise prise en charge."),
        ("it", "Cure e trattamenti", "Ottimo veterinario.", "Pessimo servizio."),
        ("nl", "Zorg en behandeling", "Beste dierenarts.", "Slechte behandeling."),
        ("pt", "Cuidados e tratamento", "Excelente veterinário.", "Péssimo serviço."),
    ],
)
def test_quality_of_a_doctor_is_the_care(
    language: str, label: str, praise: str, blame: str
) -> None:
    """Half of the reviews of a vet praised the care as a whole, which was of no aspect."""
    vet = business("VeterinaryCare", language)
    settings = with_aspects(InsightSettings(), vet)
    assert {"work_quality": label} == {name: a.label for name, a in settings.aspects.items()}
    rules = Rules(vet, settings)
    for text, stars, sentiment in ((praise, 5, "positive"), (blame, 1, "negative")):
        expected = {aspect.id: aspect.sentiment for aspect in rules.label(text, stars).aspects}
        assert sentiment == expected.get("work_quality")


def test_one_of_the_nine_has_a_label_and_no_words_of_its_own() -> None:
    quality = with_aspects(InsightSettings(), business("Bakery")).aspects
    assert {} == quality
    quality = with_aspects(InsightSettings(), business("Restaurant", "de")).aspects
    assert AspectSetting(label="Essen und Getränke", words=()) == quality["work_quality"]


@pytest.mark.parametrize(
    ("category", "own"),
    [("Hotel", "comfort"), ("BarOrPub", "equipment"), ("InsuranceAgency", "claims")],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_quality_is_not_counted_where_it_would_mix_many_things(
    category: str, own: str, language: str
) -> None:
    place = business(category, language)
    settings = with_aspects(InsightSettings(), place)
    counted = catalogue(settings, Rules(place, settings), words_of_insights(place)).aspects
    assert {"friendliness", own} <= counted.keys()
    assert "work_quality" not in counted


@pytest.mark.parametrize("category", [None, "Plumber"])
def test_other_trades_have_no_more_than_the_owner_names(category: str | None) -> None:
    settings = InsightSettings(aspects={"parking": AspectSetting(label="P", words=("parking",))})
    assert settings == with_aspects(settings, business(category))


def test_language_without_words_has_those_of_english() -> None:
    assert with_aspects(InsightSettings(), business("Hotel")) == with_aspects(
        InsightSettings(), business("Hotel", "pl")
    )


def test_aspect_of_the_owner_comes_before_that_of_the_trade() -> None:
    own = AspectSetting(label="Our rooms", words=("chamber",))
    settings = with_aspects(InsightSettings(aspects={"rooms": own}), business("Hotel"))
    assert own == settings.aspects["rooms"]
    assert HOTEL == {*settings.aspects}


@pytest.mark.parametrize(
    ("text", "stars", "expected"),
    [
        ("Das Zimmer war geräumig.", 5, {"rooms": "positive"}),
        ("The hotel is in the perfect location.", 5, {"location": "positive"}),
        ("Renovierungsbedürftig, leider.", 2, {"rooms": "negative"}),
        ("Great location, and breakfast was poor.", 4, {"location": "positive", "breakfast": "negative"}),
    ],
)  # fmt: skip
def test_reviews_in_both_languages_are_read(
    text: str, stars: int, expected: dict[str, str]
) -> None:
    hotel = business("Hotel", "de")
    labels = Rules(hotel, with_aspects(InsightSettings(), hotel)).label(text, stars)
    assert expected.items() <= {aspect.id: aspect.sentiment for aspect in labels.aspects}.items()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Outstanding customer service."),
        ("de", "Eine sehr gute Bedienung."),
        ("fr", "Un service au top."),
        ("it", "Il servizio è eccellente."),
        ("nl", "Zeer goede bediening."),
        ("pt", "O atendimento foi excelente."),
        ("pt", "Fomos muito bem atendidos."),
    ],
)
def test_praise_of_service_is_no_kindness_where_service_is_aspect(language: str, text: str) -> None:
    """A Portuguese page had 37 mentions of kindness, where a reader counted twelve."""
    place = business("Restaurant", language)
    rules = Rules(place, with_aspects(InsightSettings(), place))
    assert ["service"] == [aspect.id for aspect in rules.label(text, 5).aspects]
    plain = Rules(business(None, language), InsightSettings())
    assert "friendliness" in {aspect.id for aspect in plain.label(text, 5).aspects}


def test_kind_waiter_is_praise_of_the_service_and_kindness() -> None:
    place = business("Restaurant")
    rules = Rules(place, with_aspects(InsightSettings(), place))
    expected = {aspect.id for aspect in rules.label("The waiter was kind and friendly.", 5).aspects}
    assert {"service", "friendliness"} <= expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Wir wurden sehr gut bedient.", True), ("Mit den Klassikern ist man besser bedient.", False)],
)
def test_idiom_of_being_served_is_not_about_the_service(text: str, *, expected: bool) -> None:
    place = business("Restaurant", "de")
    labels = Rules(place, with_aspects(InsightSettings(), place)).label(text, 4)
    assert expected is ("service" in {aspect.id for aspect in labels.aspects})


@pytest.mark.parametrize(
    ("language", "far"),
    [
        ("en", "The hotel is far from the center."),
        ("de", "Das Hotel liegt weit außerhalb."),
        ("es", "El hotel está lejos del centro."),
        ("fr", "L'hôtel est loin du centre."),
        ("it", "L'hotel è lontano dal centro."),
        ("nl", "Het hotel ligt ver van het centrum."),
        ("pt", "O hotel fica longe do centro."),
    ],
)
def test_hotel_far_from_center_is_complaint_about_its_location(language: str, far: str) -> None:
    """Of 32 guests eight wrote so, and the page said that all praise the location."""
    hotel = business("Hotel", language)
    labels = Rules(hotel, with_aspects(InsightSettings(), hotel)).label(far, 4)
    assert ["negative"] == [a.sentiment for a in labels.aspects if a.id == "location"]


def test_location_that_is_a_branch_is_none() -> None:
    hotel = business("Hotel")
    rules = Rules(hotel, with_aspects(InsightSettings(), hotel))
    labels = rules.label("I recommend this location, the staff at this location were kind.", 5)
    assert "location" not in {aspect.id for aspect in labels.aspects}
