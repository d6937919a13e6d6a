"""Words, dates and numbers in the language of the business (pages.md 2)."""

import datetime
import json
import string
from gettext import c2py
from pathlib import Path

import pytest
from babel import Locale
from babel.dates import format_date
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

from reviewsd.domain.reviews import Business
from reviewsd.pages.environment import Bytecode
from reviewsd.pages.locales import formats_of
from reviewsd.pages.words import CATALOGS, Words, english, load
from tests.support.detector import needs_detector
from tests.support.pages import Html, Place, review
from tests.support.words import merged

LANGUAGES = ("de", "es", "fr", "it", "nl", "pt")

SAME = 15
"""Words that are the same in English and in another language, such as "Aspect" in French, at most."""


def catalog(tag: str) -> Catalog:
    with (CATALOGS / f"{tag}.po").open("rb") as file:
        return read_po(file)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def words(tag: str, category: str | None = None) -> Words:
    business = Business(name="B", language=tag, category=category)
    return Words(load(business, {}, Bytecode({})), formats_of(tag).language)


@pytest.mark.parametrize(
    ("category", "tag", "question", "title"),
    [
        (None, "de", "Würden Kunden wiederkommen?", "A: Kundenbewertungen"),
        ("Dentist", "de", "Würden Patienten wiederkommen?", "A: Patientenbewertungen"),
        ("physician", "fr", "Les patients reviendraient-ils ?", "A\u00a0: avis patients"),
        ("Physician", "it", "I pazienti tornerebbero?", "A: recensioni dei pazienti"),
        ("Hotel", "es", "¿Volverían los huéspedes?", "A: reseñas de huéspedes"),
        ("Hotel", "de", "Würden Gäste wiederkommen?", "A: Gästebewertungen"),
        ("Hotel", "pl", "Would guests come again?", "A: guest reviews"),
        ("LegalService", "en", "Would clients come again?", "A: client reviews"),
        ("VeterinaryCare", "en", "Would customers come again?", "A: customer reviews"),
    ],
)
def test_customers_are_called_as_the_trade_calls_them(
    category: str | None, tag: str, question: str, title: str
) -> None:
    said = words(tag, category)
    assert (question, title) == (
        said("question_recommendation"),
        said("home_title_empty", name="A"),
    )


@pytest.mark.parametrize("tag", ["en", *LANGUAGES])
def test_no_word_of_customers_is_left_for_patients(tag: str) -> None:
    stems = ("customer", "kunde", "client", "klant")
    texts = words(tag, "Dentist").texts.values()
    assert [] == [text for text in texts if any(stem in text.lower() for stem in stems)]


def test_each_language_has_a_catalog() -> None:
    assert LANGUAGES == tuple(sorted(path.stem for path in CATALOGS.glob("*.po")))


@pytest.mark.parametrize("tag", LANGUAGES)
def test_catalog_has_the_messages_of_the_english_words(tag: str) -> None:
    """``python -m tests.support.words`` merges them."""
    path = CATALOGS / f"{tag}.po"
    assert path.read_bytes() == merged(path.read_bytes())
    assert english().keys() == words(tag).texts.keys() - {""}


@pytest.mark.parametrize("tag", LANGUAGES)
def test_each_message_is_translated(tag: str) -> None:
    texts = english()
    same = 0
    for message in catalog(tag):
        if message.context is None:
            continue
        string = message.string or ""
        forms = [string] if isinstance(string, str) else list(string)
        assert not message.fuzzy, message.context
        assert all(forms), message.context
        assert fields(texts[message.context]) == fields(forms[-1]), message.context
        one = fields(texts.get(f"{message.context}_one", texts[message.context]))
        assert one <= fields(forms[0]) <= fields(forms[-1]), message.context
        same += forms[-1] == texts[message.context] and any(map(str.isalpha, _plain(forms[-1])))
    assert same <= SAME


def _plain(text: str) -> str:
    return "".join(literal for literal, *_ in string.Formatter().parse(text))


def test_words_that_an_older_snapshot_lacks_are_english() -> None:
    """Pages for requests have the words of the snapshot, which another version may have written."""
    older = Words({"": "n != 1"}, formats_of("de").language)
    assert ("our website", "Google") == (older.source("website"), older.source("google"))


@pytest.mark.parametrize("tag", ["en", *LANGUAGES])
def test_plural_forms_are_those_of_cldr(tag: str) -> None:
    """The form "many" of CLDR is for words such as "million", which the pages never write."""
    form, rule = c2py(words(tag).texts[""]), Locale(tag).plural_form
    numbers = (*range(300), 1_000, 1_001, 1_000_000)
    assert [0 if rule(number) == "one" else 1 for number in numbers] == list(map(form, numbers))


@pytest.mark.parametrize(
    ("tag", "none", "one", "many"),
    [
        ("en", "0 reviews", "1 review", "1,234 reviews"),
        ("fr", "0 avis", "1 avis", "1\u202f234 avis"),
        ("pt", "0 avaliação", "1 avaliação", "1.234 avaliações"),
        ("pl", "0 reviews", "1 review", "1\u00a0234 reviews"),
    ],
)
def test_counts_have_the_form_of_their_language(tag: str, none: str, one: str, many: str) -> None:
    plural = words(tag).plural
    counts = (0, 1, 1234)
    assert [none, one, many] == [plural("review_count", count) for count in counts]


@pytest.mark.parametrize(
    ("tag", "number", "date", "direction"),
    [
        ("en", "1,234.5", "March 1, 2025", "ltr"),
        ("fr", "1\u202f234,5", "1er mars 2025", "ltr"),
        ("he", "1,234.5", "1 במרץ 2025", "rtl"),
        ("th", "1,234.5", "2025-03-01", "ltr"),
        ("az-Arab", "1,234.5", "2025-03-01", "rtl"),
        ("ur-Latn", "1,234.5", "2025-03-01", "ltr"),
        ("-", "1,234.5", "2025-03-01", "ltr"),
        ("xx", "1,234.5", "2025-03-01", "ltr"),
    ],
)
def test_formats_for_requests(tag: str, number: str, date: str, direction: str) -> None:
    language = formats_of(tag).language
    assert (number, date, direction) == (
        language.number(1234.5, 1),
        language.date(datetime.date(2025, 3, 1)),
        language.direction,
    )


@pytest.mark.parametrize("tag", ["en-GB", "de-AT", "pt-BR", "pt-PT", "pl", "ja", *LANGUAGES])
def test_patterns_agree_with_babel(tag: str) -> None:
    """Requests fill in a pattern, because Babel takes a hundred times as long."""
    language, locale = formats_of(tag).language, Locale.parse(tag, sep="-")
    for month in range(1, 13):
        day = datetime.date(2026, month, month * 2)
        assert format_date(day, "long", locale=locale) == language.date(day)
    for number in (0, 7, 12_345, 1_234_567):
        assert format_decimal(number, locale=locale) == language.number(number)
    assert format_decimal(4.5, locale=locale) == language.number(4.5, 1)


def test_half_is_rounded_up_as_in_the_average_rating() -> None:
    number = formats_of("en").language.number
    assert ("4.3", "3.9", "3", "1,234.6") == (
        number(4.25, 1),
        number(3.85, 1),
        number(2.5),
        number(1234.55, 1),
    )


@pytest.mark.parametrize(
    ("tag", "percent", "month", "hours", "half_hours", "day"),
    [
        ("en", "91%", "June 2026", "8 AM - 6 PM", "8:30 AM - 6:00 PM", "Monday"),
        ("en-GB", "91%", "June 2026", "08:00-18:00", "08:30-18:00", "Monday"),
        ("de", "91\xa0%", "Juni 2026", "08:00-18:00 Uhr", "08:30-18:00 Uhr", "Montag"),
        ("fr", "91\xa0%", "juin 2026", "08:00 - 18:00", "08:30 - 18:00", "Lundi"),
        ("es", "91\xa0%", "junio de 2026", "8:00-18:00", "8:30-18:00", "Lunes"),
        ("it", "91%", "giugno 2026", "08:00-18:00", "08:30-18:00", "Lunedì"),
        ("pl", "91%", "czerwiec 2026", "08:00-18:00", "08:30-18:00", "Monday"),
        ("xx", "91%", "2026-06", "08:00-18:00", "08:30-18:00", "Monday"),
    ],
)
def test_formats_for_publication(
    tag: str, percent: str, month: str, hours: str, half_hours: str, day: str
) -> None:
    formats = formats_of(tag)
    times = (formats.hours("08:00", "18:00"), formats.hours("08:30", "18:00"))
    assert percent == formats.percent(91.2).replace("\N{NARROW NO-BREAK SPACE}", "\xa0")
    assert month == formats.month(2026, 6)
    expected = [text.replace("-", "\N{EN DASH}") for text in (hours, half_hours)]
    assert expected == [_plain_spaces(text) for text in times]
    assert day == formats.weekday("monday")


def _plain_spaces(text: str) -> str:
    """Return a text with plain spaces; those of CLDR are thin, and some break no line."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("opens", "closes", "hours"),
    [
        ("18:00", "02:00", "6 PM \N{EN DASH} 2 AM"),
        ("08:00", "24:00", "8 AM \N{EN DASH} 12 AM"),
        ("08:00", "08:00", "8 AM \N{EN DASH} 8 AM"),
        ("10:00", "02:00", "10 AM \N{EN DASH} 2 AM"),
        ("09:00", "11:30", "9:00 \N{EN DASH} 11:30 AM"),
    ],
)
def test_hours_at_the_ends_of_a_day(opens: str, closes: str, hours: str) -> None:
    assert hours == _plain_spaces(formats_of("en").hours(opens, closes))


PAGES = (  # but for errors of parameters, which are in the words of the API
    *("/", "/index.md", "/reviews", "/reviews.md", "/summary", "/about-reviews", "/review-us"),
    "/reviews?rating=5&min_rating=2&since=2025-01-01",
    "/reviews?rating=5&sort=lowest&verified=true",
    *("/r/a", "/r/a.md", "/r/none", "/embed?min_rating=4", "/embed?layout=x"),
)

NAMES = frozenset({"Google", "Trustpilot"})
"""Names of platforms, which are the same in all languages."""


_REVIEW = review(author="7", text=None, verified=False)
_REPLY = {"text": "2", "date": "2025-03-20"}


def published(folder: Path, tag: str) -> Place:
    """Publish a business without any words of its own."""
    folder.mkdir()
    place = Place(folder)
    week = ("monday", "tuesday", "sunday")
    outcome = place.publish(
        [
            {**_REVIEW, "id": "a", "verified": True, "text": "1", "owner_reply": _REPLY},
            {**_REVIEW, "id": "b", "date": "2024-12-01", "rating": 2},
        ],
        {
            "name": "3",
            "language": tag,
            "email": "a@b.example",
            "phone": "123456",
            "url": "https://b.example",
            "reports": "https://b.example/r",
            "review_urls": {"google": "https://g.example", "trustpilot": "https://t.example"},
            "hours": [{"day": day, "opens": "08:00", "closes": "24:00"} for day in week],
        },
        {
            "summary": "4",
            "aspects": [{"id": "5", "label": "5", "mention_count": 2, "positive_pct": 91}],
            "topics": [{"id": "6", "label": "6", "mention_count": 1}],
        },
    )
    assert outcome.result == "published", outcome
    return place


def texts(content: str, *, markup: bool) -> set[str]:
    """Return the texts of a page with its attributes for readers, if they have letters and no address."""
    if not markup:
        parts = [part.strip("#- ") for part in content.splitlines()]
    else:
        page = Html(content)
        names = ("aria-label", "placeholder", "title")
        parts = [element.attributes.get(name, "") for element in page.elements for name in names]
        parts += page.texts
    return {
        part.strip()
        for part in parts
        if any(map(str.isalpha, part))
        and ".example" not in part
        and not part.startswith((":root", "@font-face", "{"))
    }


@pytest.mark.parametrize("tag", LANGUAGES)
def test_page_has_no_english_words_in_another_language(tmp_path: Path, tag: str) -> None:
    """Text that both pages have is not translated, or is the same word in both languages."""
    english_place, place = published(tmp_path / "en", "en"), published(tmp_path / tag, tag)
    translated = words(tag).texts
    same = {text for key, text in english().items() if translated[key] == text}
    for path in PAGES:
        markup = not path.partition("?")[0].endswith(".md")
        sources = [shop.get(path).body.decode() for shop in (english_place, place)]
        left = texts(sources[0], markup=markup) & texts(sources[1], markup=markup)
        assert set() == left - same - NAMES, path


@pytest.mark.parametrize(
    ("tag", "sentence"),
    [
        ("en", "Rated 4 out of 5."),
        ("de", "Mit 4 von 5 bewertet."),
        ("es", "Valoración de 4 sobre 5."),
        ("fr", "Noté 4 sur 5."),
        ("it", "Valutazione: 4 su 5."),
        ("nl", "Beoordeeld met 4 van de 5."),
        ("pt", "Nota 4 de 5."),
    ],
)
def test_review_whose_words_are_hidden_is_not_said_to_have_none(
    place: Place, tag: str, sentence: str
) -> None:
    """The pages said "without comment" of a guest who did comment; what is published cannot tell the two apart."""
    decision = {"action": "hide-text", "reason": "offensive", "at": "2026-11-24T09:12:00Z"}
    corrections = {"version": 1, "key": "k", "reviews": {"a": decision}}
    (place.directories.data / "corrections.json").write_text(json.dumps(corrections))
    place.publish([{**_REVIEW, "id": "a", "text": "Rude."}], {"name": "3", "language": tag})
    for path in ("/", "/reviews", "/r/a", "/embed"):
        assert sentence in Html(place.get(path).body.decode()).texts, path
    for path in ("/index.md", "/reviews.md", "/r/a.md"):
        assert sentence in place.get(path).body.decode().splitlines(), path


@needs_detector
def test_review_in_another_language_than_the_page_is_marked(place: Place) -> None:
    """Else a screen reader pronounces it as German (WCAG 2.2, 3.1.2)."""
    texts = {
        "a": "Sehr freundlich, wir kommen gerne wieder und empfehlen das Haus weiter.",
        "b": "Very friendly people, and we would come back any time.",
        "c": "Świetna obsługa i bardzo dobre jedzenie, polecam wszystkim.",
        "d": "Super!",
    }
    reviews = [{**_REVIEW, "id": name, "text": text} for name, text in texts.items()]
    place.publish(reviews, {"name": "3", "language": "de-AT"})
    page = Html(place.get("/reviews").body.decode())
    result = {
        element.attributes.get("lang")
        for element in page.elements
        if element.attributes.get("class") == "said"
    }
    assert {None, "en", "pl"} == result


def test_insights_are_in_the_language_of_the_business(place: Place) -> None:
    place.publish(
        [
            {**_REVIEW, "id": name, "text": f"Sehr freundlich, und das Zimmer war schön {name}."}
            for name in "abcdef"
        ],
        {"name": "3", "language": "de", "category": "Hotel"},
    )
    place.directories.publish(insights="auto")
    place.snapshots.refresh()
    pages = "".join(place.get(path).body.decode() for path in ("/", "/summary"))
    assert "Überwiegend gelobt: Freundlichkeit (6 erkannte" in pages
    assert "Wie freundlich wird man behandelt?" in pages
    assert "/reviews?mentions_aspect=rooms" in pages
    assert "Friendliness" not in pages


@pytest.mark.parametrize("tag", LANGUAGES)
def test_words_in_the_field_of_the_search_fit_beside_its_button_on_a_telephone(tag: str) -> None:
    """On 360 pixels, "Bewertungen durchsuchen" was cut off."""
    text = words(tag)
    assert len(text("search_reviews")) + len(text("search")) <= 25
