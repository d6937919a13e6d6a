"""Tables of no known platform: each column is used, or a question, and never lost silently."""

import datetime
import gzip
import json
from pathlib import Path

import pytest

from reviewsctl.commands import import_
from reviewsctl.importing.errors import RowRefusedError, SayMoreError
from reviewsctl.importing.format import Fields
from reviewsctl.importing.platforms.columns import chosen
from reviewsctl.importing.platforms.dates import dates_of
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import source_of
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.vocabulary.words import GUESSES
from tests.support.sheets import spreadsheet
from tests.support.shop import part

ROW: Fields = {
    "Posted": "2025-03-14",
    "Stars": "5",
    "What was said": "They came at once and were friendly.",
    "Said by": "Jane Doe",
    "Order": "A-1",
}


def asked(mapped: dict[str, str]) -> SayMoreError:
    with pytest.raises(SayMoreError) as caught:
        chosen([ROW], Settings(columns=mapped), ())
    return caught.value


def test_columns_that_look_like_text_or_people_are_questions() -> None:
    text = asked({})
    author = asked({"text": "What was said"})
    mapped = chosen([ROW], Settings(columns={"text": "what WAS said", "author": "Said by"}), ())
    none = chosen([ROW], Settings(columns={"text": "", "author": ""}), ())

    assert 'column "What was said" has texts and was not recognized' in text.detail
    assert "--map 'text=What was said' if it is part of the review" in text.remedy
    assert "or --map text= if it is neither" in text.remedy
    assert '"Said by" looks like it, for example "Jane Doe"' in author.detail
    assert (["What was said"], ["Said by"]) == (mapped["text"], mapped["author"])
    assert {"rating": ["Stars"], "date": ["Posted"]} == none


LANGUAGES = """
rating: Rating (1-10), Note sur 20, Rating (out of 5), Stars (1 to 5), Bewertung von 10, Score /5, Your rating
rating: Étoiles, Puntuación, Valutazione, Avaliação, Beoordeling, Gesamtbewertung
author: Guest, Diner, Member, Gast, Mitglied, Huésped, Ospite, Hóspede, Naam, Nombre del cliente
author: Kundin, Kundinnen, Kund*in, Kund:innen, Kunde/in, Kunde/Kundin, Autorin, Verfasserin, Käuferin
author: Rezensentin, Bewerterin, Patientin, Autrice, Auteure, Voyageuse, Acheteuse, Patiente, Nom de la cliente
author: Clienta, Cliente, Usuaria, Compradora, Autora, Nombre de la clienta, Recensora, Recensitrice
author: Avaliadora, Nome da cliente, Klante
text: Recensione, Opmerking, Témoignage, Opinião, reviewBody, review.text
title: Überschrift
verified: Achat vérifié
reply: Réponse du propriétaire, Risposta, Resposta, Antwoord, Property reply, Unsere Antwort
reply_date: Reply date, Antwort am, Datum der Antwort, Date de réponse, Fecha de respuesta
reply_date: Data della risposta, Data de resposta, Datum van antwoord
date: Veröffentlicht am, createdAt, datePublished, Data, attributes.created_at
id: Review ID, Bewertungs-ID, ID de l'avis, ID reseña, ID recensione, ID da avaliação, Beoordeling-ID
reply: owner_reply_text
reply_date: owner_reply_date
url: source_url
avatar: author_avatar_url
"""
"""Our members with columns: first those of our own documents, and last those of an export of ours, whose replies were
not taken where an owner had written them into another table."""

HEADERS = [line.split(": ") for line in LANGUAGES.strip().splitlines()]


@pytest.mark.parametrize(
    ("header", "ours"),
    [(header, ours) for ours, headers in HEADERS for header in headers.split(", ")],
)
def test_columns_are_known_in_seven_languages(header: str, ours: str) -> None:
    row = {"Date": "2025-03-14", "Stars": "5", header: "x"}
    row.pop({"rating": "Stars", "date": "Date"}.get(ours, ""), None)
    assert [header] == chosen([row], Settings(), ())[ours]


@pytest.mark.parametrize(
    ("stars", "header"),
    [
        ("Sterne", "Bewertung"),
        ("Étoiles", "Évaluation"),
        ("Estrellas", "Valoración"),
        ("Stelle", "Valutazione"),
        ("Estrelas", "Avaliação"),
        ("Sterren", "Beoordeling"),
    ],
)
def test_word_for_ratings_and_texts_is_the_text_beside_stars(stars: str, header: str) -> None:
    """Short texts of a German shop were left out."""
    row = {"Datum": "2025-03-14", stars: "5", header: "Super Service"}
    names = chosen([row], Settings(), ())
    assert ([stars], [header]) == (names["rating"], names["text"])
    assert "text" not in chosen([{**row, header: "5"}], Settings(), ())


PARTS = """
author: First Name+Last Name, Vorname+Nachname, Vorname+Name, Prénom+Nom, Nombre+Apellidos
author: Nome+Cognome, Name+Surname, author.firstName+author.lastName, First Name
text: Positive review+Negative review, likedText+dislikedText, content.positive+content.negative
text: Positiv+Negativ, Points forts+Points faibles, Lo mejor+Lo peor, Pregi+Difetti
text: Pontos positivos+Pontos negativos, Pluspunten+Minpunten, Review+Pros+Cons
"""
JOINED = [line.split(": ") for line in PARTS.strip().splitlines()]


@pytest.mark.parametrize(
    ("header", "ours", "columns"),
    [
        *((names, ours, names) for ours, line in JOINED for names in line.split(", ")),
        ("last_name+first_name", "author", "first_name+last_name"),
        ("First Name+Last Name+Username", "author", "First Name+Last Name"),
        ("First Name+Last Name+Display Name", "author", "Display Name"),
        ("Author+Last Name", "author", "Author"),
        ("Cons+Pros", "text", "Pros+Cons"),
    ],
)
def test_parts_of_a_name_or_text_are_one(header: str, ours: str, columns: str) -> None:
    """Half a name was published."""
    row = {"Date": "2025-03-14", "Stars": "5"} | dict.fromkeys(header.split("+"), "The staff.")
    assert columns.split("+") == chosen([row], Settings(), ())[ours]


def test_counts_of_likes_are_no_text() -> None:
    row = {"Date": "2025-03-14", "Stars": "5", "Positive": "12", "Negative": 0.5, "Pros": "yes"}
    assert "text" not in chosen([row], Settings(), ())


def test_operator_names_several_columns() -> None:
    row = {"Date": "2025-03-14", "Stars": "5", "A": "x", "B": "y", "C+D": "z"}

    def text(mapped: str) -> object:
        return chosen([row], Settings(columns={"text": mapped}), ())["text"]

    assert (["A", "B"], ["B", "C+D"][1:], ["A"]) == (text("a+B"), text("C+D"), text("A"))
    with pytest.raises(SayMoreError, match='there is no column "E"'):
        text("A+E")
    with pytest.raises(SayMoreError, match="there is no column"):
        chosen([row], Settings(columns={"rating": "A+B"}), ())


def test_rating_is_the_column_that_has_ratings() -> None:
    """A "Bewertung" is a rating or a text; the text was taken, and every row refused."""
    texts = ("Sehr schön.", "Alles gut.", "5")
    rows = [{"Datum": "12.06.2026", "Note": "1", "Bewertung": text} for text in texts]
    names = chosen(rows, Settings(), ())
    assert (["Note"], ["Bewertung"]) == (names["rating"], names["text"])
    mistyped = [{"Datum": "12.06.2026", "Rating": text, "Note": "fine"} for text in ("4", "5", "x")]
    assert ["Rating"] == chosen(mistyped, Settings(), ())["rating"]


@pytest.mark.parametrize(
    ("row", "missing", "option"),
    [
        (
            {
                "Room": "12",
                "Stars": "5",
                "Guest left on": "12/06/2026",
                "Answered on": "13/06/2026",
            },
            "date",
            "'date=Guest left on'",
        ),
        ({"Wertung": "5", "Wann": "bald", "Wer": "Jane"}, "rating or date", "rating=COLUMN"),
    ],
    ids=["dates", "none"],
)
def test_column_with_dates_is_named_where_none_is_called_so(
    row: Fields, missing: str, option: str
) -> None:
    """A hotel has the day of departure; the message said --map date=COLUMN."""
    with pytest.raises(SayMoreError) as caught:
        chosen([row], Settings(), ())
    assert f"no column looks like {missing}; there are: {', '.join(row)}" == caught.value.detail
    remedy = f"Name it, as in --map {option}\nDates are days such as 2026-03-14"
    assert caught.value.remedy.startswith(remedy)


PHONES = "Phone, Tél., Téléphone, Portable, Mobile, Telefon, Handynummer, Teléfono, Cellulare, Telefone, Telefoon, Fax"
LONG = "They came at once and were friendly."


@pytest.mark.parametrize(
    ("header", "mapped", "error"),
    [
        ("Review,Our words", {}, "review, --map 'reply=Our words' if it is the owner's reply, or --map reply="),
        ("Review,Our words", {"text": "Review"}, "--map 'reply=Our words' if it is the owner's reply"),
        ("Review,Reply,More", {}, "Say --map text=Review+More if it is part of the review, or --map text=Rev"),
        ("Review,Reply,More", {"text": "Review"}, None),
        ("Review,More", {"reply": ""}, None),
        ("Review,More", {"text": "Review+More", "reply": ""}, None),
        ("Review,Product description", {}, None),
        ("Review,Private feedback", {}, None),
        ("Review,Rejection reason", {}, None),
        ("Review,Product review", {}, "--map 'text=Review+Product review'"),
        *((f"Review,{name}", {}, None) for name in PHONES.split(", ")),
    ],
)  # fmt: skip
def test_texts_that_are_left_over_are_a_question(
    header: str, mapped: dict[str, str], error: str | None
) -> None:
    row = {"Date": "2025-03-14", "Stars": "5"} | dict.fromkeys(header.split(","), LONG)
    if error is None:
        assert chosen([row], Settings(columns=mapped), ())
        return
    with pytest.raises(SayMoreError) as caught:
        chosen([row], Settings(columns=mapped), ())
    assert error in caught.value.remedy


@pytest.mark.parametrize(
    "cell", ["06 12 34 56 00", "06 12 34 56 00 / 04 78 12 34 56", "+33 6 12 34 56 78"]
)
def test_column_of_phone_numbers_is_not_offered_as_text(cell: str) -> None:
    """53 of them were published, as the message said."""
    row = {"Date": "2025-03-14", "Stars": "5", "Review": "Fine.", "Joignable": cell}
    assert ["Review"] == chosen([row], Settings(), ())["text"]


@pytest.mark.parametrize("cell", ["06 12 34 56 00", "(207) 555-0100", "jo@mail.example"])
@pytest.mark.parametrize(
    ("mapped", "remedy"),
    [
        ({"text": "Review+Contact"}, "--map text=Review"),
        ({"text": "Contact"}, "--map text="),
        ({"title": "Contact"}, "--map title="),
        ({"reply": "Contact"}, "--map reply="),
    ],
)
def test_column_of_addresses_is_no_text(cell: str, mapped: dict[str, str], remedy: str) -> None:
    row = {"Date": "2025-03-14", "Stars": "5", "Review": "Fine.", "Contact": cell}
    with pytest.raises(SayMoreError, match='"Contact" has phone numbers') as caught:
        chosen([row, {**row, "Contact": ""}], Settings(columns=mapped), ())
    assert f"Leave it out: {remedy}" == caught.value.remedy


def test_texts_with_phone_numbers_or_days_are_texts() -> None:
    row = {
        "Date": "2025-03-14",
        "Stars": "5",
        "Review": "Call 06 12 34 56 00.",
        "Title": "14/03/2025",
    }
    names = chosen([row], Settings(), ())
    assert (["Review"], ["Title"]) == (names["text"], names["title"])


def test_columns_of_reviews_win_over_those_of_the_place() -> None:
    """Outscraper has both in one table: each review had the average of the place, and its name."""
    row = {"name": "Acme", "rating": "3.6", "author_title": "Jane", "review_rating": "5",
           "title": "Acme", "text": "About", "review_text": "Fine.", "date": "2025-11-01",
           "review_datetime_utc": "2025-03-14", "review_title": "Top"}  # fmt: skip

    assert {
        "rating": ["review_rating"],
        "date": ["review_datetime_utc"],
        "author": ["author_title"],
        "text": ["review_text"],
        "title": ["review_title"],
    } == chosen([row], Settings(), ())


def test_help_names_all_that_can_be_mapped() -> None:
    _, _, names = import_.EPILOG.partition("NAME being one of\n")
    listed, _, _ = names.partition(".\n")
    assert list(GUESSES) == [name.strip() for name in listed.split(",")]


@pytest.mark.parametrize("cells", [[], [""], ["a month ago", None]])
def test_column_of_ages_is_refused_with_the_reason(cells: list[str | None]) -> None:
    rows = [{"when": value} for value in ("3 weeks ago", *cells)]
    with pytest.raises(SayMoreError, match='are ages, for example "3 weeks ago"'):
        dates_of(rows, Settings(), ["when"])


@pytest.mark.parametrize("date", ["2025-03-14", "14.03.2025"])
def test_age_among_dates_is_refused_alone(date: str) -> None:
    read, _ = dates_of([{"when": date}, {"when": "3 weeks ago"}], Settings(), ["when"])
    assert datetime.date(2025, 3, 14) == read(date).date()
    with pytest.raises(RowRefusedError, match=r'"3 weeks ago" is an age.* write the day'):
        read("3 weeks ago")


def test_a_text_with_a_comma_that_is_not_in_quotes_is_not_cut() -> None:
    content = b"date,rating,text\n2025-03-14,5,Quick, and clean,,x\n2025-03-14,5,Fine\n"
    rows = [row.fault for _, row in source_of(part(content)).rows()]
    assert ['more cells than columns: " and clean", "x"', ""] == rows


def test_titles_above_the_header_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "Reviews of Acme,,\nExported on,2025-06-01,\n,,\n"
        "Date,Stars,Customer\n2025-03-14,5,Jane\n2025-02-03,4,Max\n"
    )
    (file,) = parts_of(spreadsheet(tmp_path / "t.csv", tmp_path / "t.xlsx"))
    source = source_of(file)

    assert 'spreadsheet, sheet "Reviews", header in row 4' == source.writing
    assert [
        ("row 5", {"Date": "2025-03-14", "Stars": 5.0, "Customer": "Jane"}),
        ("row 6", {"Date": "2025-02-03", "Stars": 4.0, "Customer": "Max"}),
    ] == [(where, dict(row.fields)) for where, row in source.rows()]


def test_a_cover_sheet_is_passed_over(tmp_path: Path) -> None:
    """A sheet of notes may be a table too; the one with ratings and dates is meant."""
    (tmp_path / "cover").write_text("Report,Owner\nReviews,Acme\na,b\n")
    (tmp_path / "data").write_text("Review Date,Rating,Review\n2025-03-14,5,Fine\n")
    spreadsheet(tmp_path / "cover", tmp_path / "x.xlsx", Data=tmp_path / "data")
    (file,) = parts_of(tmp_path / "x.xlsx")
    source = source_of(file)
    assert 'spreadsheet, sheet "Data", header in row 1' == source.writing
    assert ["Fine"] == [row.fields["Review"] for _, row in source.rows()]


@pytest.mark.parametrize(
    "content",
    [b"date,rating\n2025-03-14,5\n", json.dumps([{"date": "2025-03-14", "rating": 5}]).encode()],
)
def test_gzip_file_is_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(content))
    (file,) = parts_of(path)
    assert 1 == len(list(source_of(file).rows()))


def test_dates_that_can_be_read_in_one_way_alone_are_read_beside_others() -> None:
    """People write a table over months."""
    column = [
        "26/10/2025",
        "03/11/2025",
        "26th October 2025",
        "14 Nov 2025",
        "27.10.25",
        "2025-10-28",
    ]
    read, pattern = dates_of([{"when": value} for value in column], Settings(), ["when"])
    assert "%d/%m/%Y" in pattern
    days = [read(value).date().isoformat()[5:] for value in column]
    assert ["10-26", "11-03", "10-26", "11-14", "10-27", "10-28"] == days
    with pytest.raises(RowRefusedError):
        read("10/26/2025")


def test_number_that_can_be_read_in_two_ways_is_refused_beside_names_of_months() -> None:
    column = ["26 October 2025", "14 Nov 2025", "1 May 2025", "03/04/2025"]
    read, _ = dates_of([{"when": value} for value in column], Settings(), ["when"])
    assert "2025-11-14" == read("14 Nov 2025").date().isoformat()
    with pytest.raises(RowRefusedError):
        read("03/04/2025")
