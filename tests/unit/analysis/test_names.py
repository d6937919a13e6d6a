"""The names that the owner configures, in the texts of customers (insights.md 10, 4 and 5)."""

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.reviews import Business

_BUSINESS = Business(name="B", service_areas=("Independence", "Bath", "Lake Hope"))
_NAMES = (
    "Dr. Grace Holloway",
    "Mark Delaney",
    "Rose Tiernan",
    "Will Okoye",
    "Hope Lind",
    "Kofi Ba",
)
_RULES = Rules(
    _BUSINESS, InsightSettings(technicians=tuple(NamedTechnician(name=name) for name in _NAMES))
)


def _people(text: str) -> list[str]:
    return [label.id.split("-")[-2] for label in _RULES.label(text, 5).technicians]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Grace was lovely.", ["grace"]),
        ("Dr. Holloway and Dr Grace", ["grace"]),
        ("Thanks to Mr. Delaney", ["mark"]),
        ("M. Delaney est venu, et Sig. Okoye", ["mark", "will"]),
        ("Frau Grace hilft", ["grace"]),
        ("Holloway Street is closed", []),
        ("our tech Mark", ["mark"]),
        ("Mark Delaney, Mark D. or Mark Delany", ["mark"]),
        ("kofi fixed it", ["kofi"]),
        ("Rose and Will are so patient", ["rose", "will"]),
        ("thanks mark, great job", ["mark"]),
    ],
)
def test_given_name_and_title_with_surname_are_the_person(text: str, names: list[str]) -> None:
    """An owner writes full names; customers hardly ever do."""
    assert names == _people(text)


def test_given_name_of_two_people_names_neither() -> None:
    people = (NamedTechnician(name="Ann Lee"), NamedTechnician(name="Ann Roe", aliases=("Annie",)))
    rules = Rules(_BUSINESS, InsightSettings(technicians=people))
    assert () == rules.label("Ann was great.", 5).technicians
    assert ["ann-roe"] == [item.id for item in rules.label("Annie was great.", 5).technicians]


@pytest.mark.parametrize(
    "text",
    [
        "My husband Mark was skeptical.",
        "She drew it for our son Will.",
        "my ex-husband mark",
        "My husband Kofi came. Kofi liked it.",
        "The late Grace Farrow set a high bar. The late Mark would agree.",
        "My grandmother's name was Grace too.",
        "We have a dog named Kofi.",
        "Kofi, my brother, came along.",
        "Our kids Rose and Will loved it.",
        "Mein Mann Kofi war dabei.",
        "Meine Frau Grace ist begeistert.",
        "Mon mari Kofi est venu.",
        "Mi marido Kofi vino.",
        "Mio marito Kofi era con me.",
        "Meu marido Kofi foi junto.",
        "Mijn man Kofi was erbij.",
        "Ich heiße Kofi.",
        "Je m'appelle Kofi.",
    ],
)
def test_relative_with_the_same_name_is_somebody_else(text: str) -> None:
    assert [] == _people(text)


def test_relative_hides_only_mentions_without_a_job() -> None:
    text = "Our daughter Rose is shy, but she adores nurse Rose. And nurse Mark."
    assert ["rose", "mark"] == _people(text)


@pytest.mark.parametrize(
    "text",
    [
        "Name's Will, same as the tech.",
        "My name is Hope.",
        "I'm Mark.",
        "So happy! - Kofi",
        "So happy! - Kofi!!!",
    ],
)
def test_author_with_the_same_name_is_somebody_else(text: str) -> None:
    assert [] == _people(text)


@pytest.mark.parametrize("text", ["His name is Will.", "The name's on the van: Mark."])
def test_introduced_employee_is_the_person(text: str) -> None:
    assert 1 == len(_people(text))


@pytest.mark.parametrize(
    "text",
    [
        "Mark my words, you will be back.",
        "Will they ever know?",
        "Will never use them again.",
        "Will be back.",
        "Hope this helps.",
        "Rose to the occasion.",
        "Rose-colored glasses.",
        "What a Hope.",
        "Rose Bowl tickets",
        "we hope so, will they mark it?",
        "I WILL NEVER USE THEM",
        "mail mark@b.example",
    ],
)
def test_word_that_is_a_name_too_is_no_person(text: str) -> None:
    assert [] == _people(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("THANKS MARK", "mark"),
        ("THANKS WILL!!", "will"),
        ("WILL FIXED IT", "will"),
        ("Hope never told me.", "hope"),
        ("Hope and Kofi both taught me.", "hope"),
        ("Rose the nurse is great.", "rose"),
        ("Will explains it well.", "will"),
        ("Hope was great, so was the crew.", "hope"),
    ],
)
def test_word_that_is_a_name_too_is_a_person_where_it_acts(text: str, name: str) -> None:
    assert name in _people(text)


@pytest.mark.parametrize(
    ("text", "areas"),
    [
        ("Best vet in Independence.", ["independence"]),
        ("On Independence Day they fit us in.", []),
        ("The one on Bath Road", []),
        ("in Bath Maine", ["bath"]),
        ("From Lake Hope, with love", ["lake-hope"]),
        ("A HOT BATH", []),
        ("I LIVE IN BATH", ["bath"]),
    ],
)
def test_place_that_is_part_of_another_name_is_no_place(text: str, areas: list[str]) -> None:
    assert areas == [label.id for label in _RULES.label(text, 5).service_areas]


@pytest.mark.parametrize(
    ("language", "business", "text", "names"),
    [
        ("en", "Hill Garage", "Hill Garage is the best.", []),
        ("en", "Hill Garage", "I rang Hill on Monday.", []),
        ("en", "Hill Garage", "Mr. Hill fixed it himself.", ["gary-hill"]),
        ("en", "Hill Garage", "Gary fixed it himself.", ["gary-hill"]),
        ("en", "Gary Hill Motors", "Gary Hill Motors did it again.", []),
        ("en", "Gary Hill Motors", "Gary Hill did it himself.", ["gary-hill"]),
        ("en", "Gary's Garage", "Gary's Garage is great.", []),
        ("en", "Gary's Garage", "Gary's work is great.", ["gary-hill"]),
        ("en", "Oak Street Garage", "Hill was great.", ["gary-hill"]),
        ("de", "Autohaus Hill, Bonn", "Das Autohaus Hill ist toll.", []),
        ("de", "Autohaus Hill, Bonn", "Herr Hill war da.", ["gary-hill"]),
    ],
)
def test_name_of_the_business_is_not_the_person(
    language: str, business: str, text: str, names: list[str]
) -> None:
    """Owners add surnames as aliases, and many a business has its owner's name."""
    people = (NamedTechnician(name="Gary Hill", aliases=("Hill",)),)
    rules = Rules(
        Business(name=business, language=language),
        InsightSettings(language=language, technicians=people),
    )
    assert names == [label.id for label in rules.label(text, 5).technicians]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Bester Mann, der Demir.", ["emre-demir"]),
        ("Ich war beim Demir.", ["emre-demir"]),
        ("Ich hab dem Herrn Demir alles gesagt.", ["emre-demir"]),
        ("Ich hab es Herrn Demir gesagt.", ["emre-demir"]),
        ("Frau Koch nahm sich Zeit.", ["anna-koch"]),
        ("Der Koch war gut gelaunt.", []),
        ("Der Oral hat angerufen.", []),
    ],
)
def test_german_article_before_a_surname_shows_the_person(text: str, names: list[str]) -> None:
    people = tuple(NamedTechnician(name=name) for name in ("Emre Demir", "Anna Koch", "Can Oral"))
    rules = Rules(
        Business(name="Praxis Oral", language="de"),
        InsightSettings(language="de", technicians=people),
    )
    assert names == [label.id for label in rules.label(text, 5).technicians]


def test_name_without_letters_is_that_of_no_business() -> None:
    people = (NamedTechnician(name="***", aliases=("Bob",)),)
    rules = Rules(Business(name="Bob & Co"), InsightSettings(technicians=people))
    assert ["Bob"] == [label.phrase for label in rules.label("Bob", 5).technicians]
