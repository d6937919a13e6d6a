"""The rules for languages other than English."""

from pathlib import Path

import pytest

from reviewsd.analysis.labels import Labels
from reviewsd.analysis.language_data import has_data, load
from reviewsd.analysis.patterns import parse
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import AspectSetting, InsightSettings
from reviewsd.domain.reviews import Business
from tests.support.detector import needs_detector

_FILES = sorted((Path(__file__).parent / "languages").glob("*.txt"))
_SIGNS = {"+": "positive", "-": "negative"}


def _labels(language: str, text: str, stars: int) -> Labels:
    return Rules(Business(name="B", language=language), InsightSettings()).label(text, stars)


def _aspects(language: str, text: str, stars: int) -> dict[str, str]:
    return {item.id: item.sentiment for item in _labels(language, text, stars).aspects}


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_reviews_keep_their_figures(file: Path) -> None:
    """Not a measure of how good it is on other reviews, as the words were chosen with these."""
    matches = right = same = labelled = 0
    rules = Rules(Business(name="B", language=file.stem), InsightSettings())
    for line in file.read_text("utf-8").splitlines():
        head, _, text = line.partition(" | ")
        if not text:
            continue
        stars, *opinions = head.split()
        expected = {opinion[:-1]: _SIGNS[opinion[-1]] for opinion in opinions}
        got = {item.id: item.sentiment for item in rules.label(text, int(stars)).aspects}
        labelled += len(expected)
        matches += len(got)
        right += len(got.keys() & expected.keys())
        same += sum(got.get(aspect) == sentiment for aspect, sentiment in expected.items())
    assert right / matches >= 0.85
    assert right / labelled >= 0.9
    assert same / right >= 0.95


def test_each_language_has_reviews() -> None:
    assert ["de", "es", "fr", "it", "nl", "pt"] == [file.stem for file in _FILES]
    assert all(has_data(file.stem) for file in _FILES)


def _sentences() -> list[tuple[str, str, str, str]]:
    result = []
    for file in sorted(Path(__file__).parent.glob("sentences-*.txt")):
        lines = file.read_text("utf-8").splitlines()
        for line in (line for line in lines if line and not line.startswith("#")):
            aspect, sign, text = line.split(" ", 2)
            result.append((file.stem.removeprefix("sentences-"), aspect, sign, text))
    return result


@pytest.mark.parametrize(("language", "aspect", "sign", "text"), _sentences())
def test_usual_praise_and_complaints(language: str, aspect: str, sign: str, text: str) -> None:
    """The stars agree, so what is tested is that the words are known."""
    stars = {"+": [5], "-": [1, 2], "0": [5, 1]}[sign]
    expected = [_SIGNS.get(sign)] * len(stars)
    assert expected == [_aspects(language, text, count).get(aspect) for count in stars]


@pytest.mark.parametrize(
    "text",
    [
        "Mein Zahn war abgebrochen, Frau Vogt hat ihn gerettet.",
        "Der Wagen klapperte, und die Bremse quietscht.",
        "Bei uns tropft der Hahn, sie kamen am Freitag.",
        "Die Heizung streikt jetzt wieder, wir rufen Sie an.",
    ],
)
def test_trouble_that_a_german_customer_came_with_is_no_complaint(text: str) -> None:
    assert {"negative"}.isdisjoint(_aspects("de", text, 4).values())


@needs_detector
def test_review_is_read_in_its_language_whatever_that_of_the_business() -> None:
    text = "Das Essen war ausgezeichnet und die Bedienung sehr freundlich."
    assert _aspects("de", text, 5) == _aspects("en", text, 5) != {}
    assert "de" == _labels("en", text, 5).language


@pytest.mark.parametrize("language", ["de", "es", "fr", "it", "nl", "pt", "pl"])
@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000,
        "ü" * 10_000,
        "'" * 10_000,
        "l'" * 5_000,
        "preis" * 2_000,
        "\U0001f600" * 5_000,
        "\u202e\u0645\u0631\u062d\u0628\u0627 " * 1_000,
        "sehr " * 2_000,
        "\ud800 pünktlich",
        "Great service, sehr freundlich, très bien, muy amables!",
        "TOP",
        "ok",
    ],
)
def test_hostile_texts(language: str, text: str) -> None:
    settings = InsightSettings(language=language)
    labels = Rules(Business(name="B", language=language), settings).label(text, 3)
    assert all(item.phrase is not None and item.phrase in text for item in labels.aspects)


def test_owners_words_are_no_compounds() -> None:
    """The name of an aspect may end like another word."""
    aspect = AspectSetting(label="Wochenpreis", words=("Wochenpreis",))
    rules = Rules(
        Business(name="B", language="de"),
        InsightSettings(aspects={"weekly": aspect}, language="de"),
    )
    assert ["weekly"] == [item.id for item in rules.label("Der Wochenpreis ist gut.", 5).aspects]
    assert ["pricing"] == [item.id for item in rules.label("Der Preis ist gut.", 5).aspects]


def test_wished_kindness_is_no_praise() -> None:
    labels = _labels("de", "Ein freundliches Guten Tag wär schon drin gewesen.", 2)
    assert [] == [entry.id for entry in labels.aspects if entry.sentiment == "positive"]
    assert all(() == entry.wordings for entry in labels.aspects)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Ein nettes, freundliches Team.", ["freundliches Team"]),
        ("de", "Sie waren nett.", ["nett"]),
        ("nl", "Heel aardige mensen.", ["aardige mensen"]),
        ("en", "She showed me everything.", ["showed me everything"]),
        ("en", "I was called twice.", []),
    ],
)
def test_inflected_word_is_no_wording_alone(language: str, text: str, expected: list[str]) -> None:
    """A reader of "nettes" or "called" in a list of phrases learns nothing."""
    labels = _labels(language, text, 5)
    assert expected == [wording for item in labels.aspects for wording in item.wordings]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "Meilleur rapport qualité / prix.", ["Meilleur rapport qualité / prix"]),
        ("es", "Excelente relación calidad precio.", ["Excelente relación calidad precio"]),
        ("it", "Ottimo rapporto qualità-prezzo.", ["Ottimo rapporto qualità-prezzo"]),
        ("pt", "Bom custo / benefício.", ["Bom custo / benefício"]),
        ("pt", "Boa relação qualidade preço.", ["Boa relação qualidade preço"]),
        ("de", "Gutes Preis-Leistungs-Verhältnis.", ["Gutes Preis-Leistungs-Verhältnis"]),
        ("nl", "Goede prijs-kwaliteitsverhouding.", ["Goede prijs-kwaliteitsverhouding"]),
        ("pt", "Quarto bem gostoso.", ["Quarto bem gostoso", "gostoso"]),
        ("pt", "A torneira funciona bem.", ["torneira funciona bem", "funciona bem"]),
        ("es", "Habitación bien equipada.", ["bien equipada"]),
        ("de", "Das Zimmer ist gut ausgestattet.", []),
        ("nl", "De kamer is goed uitgerust.", []),
        ("en", "The room was well equipped.", []),
    ],
)
def test_no_wording_is_cut_out_of_an_expression(
    language: str, text: str, expected: list[str]
) -> None:
    """Pages showed "rapport qualité" and "Quarto bem"."""
    labels = _labels(language, text, 5)
    assert expected == [wording for item in labels.aspects for wording in item.wordings]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("es", "coche rayo salva silencio corriendo"),
        ("fr", "froid sec expérience coordonnées"),
        ("it", "marca marco compromesso specchio freddo"),
        ("nl", "gemaakt gebroken leuk warm open opgehangen gehoord"),
        ("pt", "curioso franquia tirou mostra frio seco caiu ouvir"),
    ],
)
def test_everyday_word_alone_is_no_opinion(language: str, words: str) -> None:
    """Stems and endings of a pattern made "coche" of "cochambroso": each car was a dirty one."""
    rules = Rules(Business(name="B", language=language), InsightSettings())
    assert [] == [word for word in words.split() if rules.label(word, 1).aspects]


@pytest.mark.parametrize("language", ["en", *(file.stem for file in _FILES)])
def test_no_phrase_of_a_pattern_is_glued_to_the_next_word(language: str) -> None:
    """A bracket behind another one has endings, so "(more |)(pain)" found "morepain" alone."""
    patterns = load(language).patterns
    assert [] == [text for text, _ in patterns if " )(" in text or " |)(" in text]


@pytest.mark.parametrize("language", ["fr", "it"])
def test_no_word_of_a_pattern_goes_on_behind_an_apostrophe(language: str) -> None:
    """An apostrophe ends a word there, so "s'est" in a pattern never matched, and "s' est" does."""
    data = load(language)
    words = {
        word
        for pattern, _ in data.patterns
        for alternatives in parse(pattern, data.endings)
        for sequence in alternatives
        for word in sequence
    }
    assert [] == [word for word in words if "'" in word[:-1]]


def test_shameless_price_is_no_rudeness() -> None:
    labels = Rules(Business(name="B", language="de"), InsightSettings()).label(
        "Unverschämt teuer.", 1
    )
    assert ["pricing"] == [aspect.id for aspect in labels.aspects]
