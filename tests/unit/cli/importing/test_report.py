"""The report of an import: short, with the reasons for what was refused."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.readers.csv_file import EMPTY as EMPTY_EXPORT
from reviewsctl.importing.report import lines
from reviewsctl.importing.settings import Settings
from reviewsd.domain.corrections import Action
from tests.support.edited import correct, states
from tests.support.sheets import spreadsheet
from tests.support.shop import SAMPLES, Shop, table

HEADER = "Date,Stars,Name,Review"
GOOD = [f"2025-03-{day:02},{stars},Name {day},Fine" for day, stars in enumerate("5453544", 1)]


def export(shop: Shop, *rows: str) -> Path:
    file = shop.folder / "reviews.csv"
    file.write_text("\n".join([HEADER, *rows]))
    return file


def report(shop: Shop, file: Path, *, verbose: bool = False) -> list[str]:
    """Import a file, and return all lines that people get."""
    result = shop.imported(file, settings=Settings(name="Acme", source="web"), verbose=verbose)
    return lines(shop.options, result, shop.lines, undo="reviewsctl reviews undo")


def test_ordinary_import_is_reported_in_four_lines(shop: Shop) -> None:
    """Owners read the first two, which say what was done; --verbose has the rest."""
    assert [
        "imported 7 new, 0 changed, 0 unchanged, 0 refused (details with --verbose)",
        f"wrote {shop.folder}/reviews.json with 7 reviews",
        "reviews.csv: a table with columns of its own (utf-8, commas)",
        (
            "columns: rating = Stars, date = Date, author = Name, text = Review; dates: ISO 8601; "
            'ratings: of 5 (column "Stars")'
        ),
    ] == report(shop, export(shop, *GOOD))


def test_first_refused_rows_are_listed_and_the_others_counted(shop: Shop) -> None:
    bad = ["2025-03-20,9,Eve,Wow", ",5,Max,Nice", "2025-03-21,,Zoe,", "2025-03-22,,Al,", "x,5,Bo,"]
    file = export(shop, *GOOD, *bad)
    printed = report(shop, file)
    at = printed.index("imported 7 new, 0 changed, 0 unchanged, 5 refused (details with --verbose)")
    assert [
        '  row 9: rating "9" is above five; correct it in the file and import it again',
        "  row 10: no date",
        "  row 11: no rating",
        "  and 2 more refused",
    ] == printed[at + 2 : at + 6]
    assert '  row 13: date "x" is not understood: write the day, as 2026-03-14' in report(
        shop, file, verbose=True
    )


@pytest.mark.parametrize("total", [",4.5,Total,", ",31,Total,"])
def test_line_of_totals_is_refused_as_it_has_no_date(shop: Shop, total: str) -> None:
    """Its rating is no fault that the operator could correct."""
    assert "  row 9: no date" in report(shop, export(shop, *GOOD, total))


TOTALS = "Total, Moyenne, Note moyenne, Durchschnitt, Summe:, Media, Promedio, Totale, Média geral, Gemiddelde, Average, Ø"
CARDS = "Nr,Date,Name,Stars,Text\n1,2026-03-14,Ann,5,Fine\n"
BO = "2,2026-03-15,Bo,4,Good\n"


def followed(shop: Shop, *rows: str, **options: Any) -> list[str]:
    """Import a table of one review and what follows it, and return its notes and the reasons of refused rows."""
    file = table(shop.folder / "t.csv", "".join((CARDS, *rows)))
    result = shop.imported(file, source="desk", **options)
    return [*result.notes, *(reason for _, reason in result.rows.refusals)]


@pytest.mark.parametrize(
    "row",
    [
        *(f",,{label},4.5," for label in TOTALS.split(", ")),
        *("Total,,,4.5,", ",Total,,9,", ",,Total,4.5,2 reviews", "\n,,Moyenne,4.5,\n,,Total,9,"),
    ],
)
def test_row_of_totals_is_no_review_and_no_refusal(shop: Shop, row: str) -> None:
    """It took away the note on the numbers, and nothing could be removed from the table any more."""
    count = len(row.strip().splitlines())
    assert f"{count} skipped: a row of totals" in followed(shop, BO, row)
    assert "--map id=Nr" in "".join(shop.lines)
    followed(shop, row, replace=True, yes=True)
    assert {"Ann"} == shop.reviews.keys()


@pytest.mark.parametrize(
    "row", [",,Total,,Quick and clean.", ",,Media Markt,4,", "3,,Total,4,", ",,,4,"]
)
def test_row_without_a_day_that_may_be_a_review_is_refused(shop: Shop, row: str) -> None:
    assert "no date" in followed(shop, row)


def test_review_by_a_customer_called_total_is_taken(shop: Shop) -> None:
    followed(shop, ",2026-03-16,Total,4,")
    assert "Total" in shop.reviews


@pytest.mark.parametrize("bad", [7, 8])
def test_an_import_of_less_than_half_of_the_rows_warns(shop: Shop, bad: int) -> None:
    """It ends with 0, as one of which a row in a thousand is refused."""
    warning = "warning: most rows were refused (8 of 15)"
    assert (bad == 8) is (warning in report(shop, export(shop, *GOOD, *[",5,Max,Nice"] * bad)))


NO_ROWS = 'a table without rows; its first line is "{}"'
HEADING = "Date,Stars,Review\n"


@pytest.mark.parametrize(
    ("name", "content", "detail"),
    [
        *(("r.csv", text, "r.csv is empty") for text in ("", "\n \n", "\ufeff")),
        # blank rows were "no column looks like rating or date; there are: "
        *(
            ("r.csv", text, f"r.csv: {NO_ROWS.format('Date,Stars,Review')}")
            for text in (
                HEADING,
                HEADING.strip(),
                f"{HEADING}\n \n",
                f"{HEADING},,\n",
                f"sep=,\n{HEADING}",
            )
        ),
        ("r.xlsx", HEADING, f"r.xlsx: {NO_ROWS.format('Date, Stars, Review')}"),
        ("r.xlsx", "", "r.xlsx is empty"),
        *(("r.json", text, "r.json holds no reviews") for text in ("[]", '{"reviews": []}')),
    ],
)
def test_export_without_reviews_is_refused_as_that(
    shop: Shop, tmp_path: Path, name: str, content: str, detail: str
) -> None:
    export = table(tmp_path / name.replace("xlsx", "csv"), content)
    with pytest.raises(ImportRefusedError) as caught:
        shop.imported(spreadsheet(export, tmp_path / name) if name.endswith("x") else export)
    assert (detail, EMPTY_EXPORT) == (caught.value.detail, caught.value.remedy)


def test_many_rows_above_five_behind_the_first_ones_are_a_question(shop: Shop) -> None:
    """A table of ten points may begin with two thousand bad reviews."""
    many = GOOD * 300  # more than the rows that the scale is found by
    report(shop, export(shop, *many, *["2025-04-01,9,Eve,Wow"] * 100))
    with pytest.raises(SayMoreError, match=r"120 of 2,220 ratings are above five") as caught:
        report(shop, export(shop, *many, *["2025-04-01,9,Eve,Wow"] * 120))
    assert "Correct them in the file if they are mistyped." in caught.value.remedy


def test_reviews_that_left_a_table_are_named_as_long_as_they_stay(shop: Shop) -> None:
    note = "note: 2 reviews of this source not in the table; --replace removes such reviews"
    report(shop, export(shop, *GOOD))
    assert note in report(shop, export(shop, *GOOD[2:]))
    named = "note: not in the table: Name 1, 2025-03-01, web; Name 2, 2025-03-02, web"
    assert named not in report(shop, export(shop, *GOOD[2:]))
    assert named in report(shop, export(shop, *GOOD[2:]), verbose=True)
    assert note not in report(shop, export(shop, GOOD[-1])), "a table of new reviews alone"
    shop.imported(export(shop, *GOOD), settings=Settings(source="web"), replace=True)
    assert note not in report(shop, export(shop, *GOOD))


def test_row_with_the_id_of_another_review_is_refused(shop: Shop) -> None:
    """A slip in the table lost a review without a word."""
    table = export(shop, "2025-03-01,5,Ann,Fine", "2025-03-02,1,Zoe,Bad", "2025-03-03,5,Bo,Good")
    lines = table.read_text().splitlines()
    numbered = [f"{number},{line}" for number, line in zip(("id", 1, 1, 2), lines, strict=True)]
    table.write_text("\n".join(numbered) + "\n")
    refusal = "  row 3: row 2 has the same id, and another author and day; give each review an id of its own"
    assert refusal in report(shop, table)
    assert {"Ann", "Bo"} == shop.reviews.keys()


def test_two_rows_that_say_the_same_are_one_review_and_counted(shop: Shop) -> None:
    rows = ["2025-03-01,5,Anonymous,"] * 2
    assert "note: 1 row of the same review as another row: taken once" in report(
        shop, export(shop, *rows, *GOOD)
    )


def rewritten(row: str) -> str:
    return f"{row.rpartition(',')[0]},Nothing to add"


def test_rewritten_review_is_a_second_one_without_replace(shop: Shop) -> None:
    """It has the author and day of the other one, and other words."""
    report(shop, export(shop, *GOOD, "2025-03-20,5,Anonymous,Fine"))
    edited = export(shop, *GOOD[:-1], rewritten(GOOD[-1]), "2025-03-20,5,Anonymous,Good")
    report(shop, edited)
    assert 10 == len(shop.file["reviews"])
    shop.imported(edited, settings=Settings(source="web"), replace=True)
    assert "Nothing to add" == shop.reviews["Name 7"]["text"]
    assert 8 == len(shop.file["reviews"])


def test_a_dry_run_has_nothing_to_undo(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text("Date,Stars,Source\n2025-03-01,5,google\n2025-03-02,4,\n")
    dry, wet = (shop.imported(file, dry_run=dry_run).notes for dry_run in (True, False))
    assert any("to name it: import with --source NAME or" in note for note in dry)
    assert any(
        "to name it: reviewsctl reviews undo, then import again with" in note for note in wet
    )


def test_answer_about_a_table_is_not_for_the_table_of_a_platform(shop: Shop) -> None:
    shop.platform = "website"
    shop.imported(SAMPLES / "judgeme.csv", export(shop, *GOOD))
    assert ["website"] == shop.questions
    assert {"judge.me", "website"} == {review["source"] for review in shop.file["reviews"]}


def test_text_that_was_edited_by_hand_and_in_the_table_is_one_review(shop: Shop) -> None:
    report(shop, export(shop, *GOOD))
    shop.edit("Name 7", text="Fine work")
    edited = export(shop, *GOOD[:-1], f"{GOOD[-1]} work")
    assert (
        "note: there already, by another tool's export, with an id or edited by hand: 1; they stay one each, under the "
        "id they have"
    ) in report(shop, edited)
    assert 7 == len(shop.file["reviews"])


NUMBERED = "{},Date,Stars\n1,2025-03-14,5\n{},2025-03-15,4\n"
IDS = "has another value in each row; if it is the review's own number, which stays with it"
PLACES = "has the same values again and again; if they are places of yours"


def placed(*places: str, column: str = "House") -> str:
    """A table with a column of places, or of something else."""
    rows = "".join(f"2025-03-1{day},5,{place}\n" for day, place in enumerate(places))
    return f"Date,Stars,{column}\n{rows}"


def noted(shop: Shop, text: str, mapped: dict[str, str]) -> list[str]:
    """Import a table, and return the notes on its columns."""
    settings = Settings(name="Acme", source="web", columns=mapped)
    shop.imported(table(shop.folder / "k.csv", text), settings=settings)
    return [line for line in shop.lines if line.startswith("note: column")]


@pytest.mark.parametrize(
    "name",
    [
        *("Nr", "Nr.", "Nummer", "Lfd. Nr.", "Kennung", "No", "Number"),
        *("Card", "Card No", "Card ID", "Feedback ID", "Ref", "Karten-Nr."),
        *("#", "Review #", "# avis", "N° avis", "Nº reseña", "№ avis", "No. avis"),
        *("Numéro d'avis", "N. recensione", "Nr. Bewertung"),
        *("Número da avaliação", "Nr beoordeling", "Bewertungsnummer", "Avis n°"),
    ],
)
def test_column_that_may_have_ids_is_named(shop: Shop, name: str) -> None:
    """A hairdresser's "Nr" was her customers' own number, and each corrected row was a second review."""
    (note,) = noted(shop, NUMBERED.format(name, 2), {})
    assert f'note: column "{name}" {IDS}: --map {shlex.quote(f"id={name}")}' == note


def test_column_that_may_have_ids_is_named_though_a_row_is_there_twice(shop: Shop) -> None:
    (note,) = noted(shop, NUMBERED.format("N° avis", 2) + "2,2025-03-15,4\n", {})
    assert "'id=N° avis'" in note


PERSONAL = """
Reservation number, Booking No, Order ref, Invoice number, Guest number, Customer reference, Room No
Buchungs-Nr., Kunden-Nr., Rechnung Nr, Auftrags-Nummer, Zimmer Nr, Commande numero, Facture ref, Client no
Pedido numero, Factura ref, Prenotazione numero, Fattura num, Cliente ref, Reserva numero, Boeking nr, Klant nummer
"""


@pytest.mark.parametrize("name", PERSONAL.strip().replace("\n", ", ").split(", "))
def test_number_of_a_booking_or_customer_is_not_named_as_an_id(shop: Shop, name: str) -> None:
    """Behind an id it can be found; who takes it all the same is told."""
    (note,) = noted(shop, NUMBERED.format(name, 2), {"id": name})
    (shop.folder / "reviews.json").unlink()
    assert [] == noted(shop, NUMBERED.format(name, 2), {})
    assert note.startswith(f'note: column "{name}" is taken for the ids, which are public')


@pytest.mark.parametrize("name", ["Haus", "Filiale", "Building", "Punto vendita", "Gebäude"])
def test_column_that_may_have_places_is_named(shop: Shop, name: str) -> None:
    """It was listed as not taken, and nothing said that it could be."""
    (note,) = noted(shop, placed("North", "South", "North", column=name), {})
    assert f'note: column "{name}" {PLACES}: --map {shlex.quote(f"location={name}")}' == note


@pytest.mark.parametrize(
    ("text", "mapped"),
    [
        (NUMBERED.format("Nr", 1), {}),
        (NUMBERED.format("Nr", ""), {}),
        (NUMBERED.format("Order", 2), {}),
        (NUMBERED.format("Number of reviews", 2), {}),
        (NUMBERED.format("Nr", 2), {"id": "Nr"}),
        (NUMBERED.format("Nr", 2), {"id": ""}),
        (placed("North", "South", "North"), {"location": ""}),
        (placed("North", "North", "North"), {}),
        (placed("A", "B", "C"), {}),
        (placed("", "", ""), {}),
        (placed("10", "7.5", "10"), {}),
        (placed('"9,5"', '"9,5"', "8/10"), {}),
        (placed("10", "10", "-"), {}),
    ],
    ids=[
        *("id twice", "no id", "other name", "count"),
        *("id is taken", "id is refused", "place is refused"),
        *("one place", "all places", "no place", "scores", "with commas", "with a dash"),
    ],
)
def test_column_without_ids_or_places_is_not_named(
    shop: Shop, text: str, mapped: dict[str, str]
) -> None:
    assert [] == noted(shop, text, mapped)


def test_number_that_was_given_again_is_noted(shop: Shop) -> None:
    """A customer stood on the page with the reply to another one."""
    header = "id,date,stars,name,text\n1,2026-03-14,5,Jane,Quick.\n"
    shop.imported(table(shop.folder / "r.csv", f"{header}2,2026-03-20,1,Uwe,Bad.\n"), source="web")
    again = table(shop.folder / "r.csv", f"{header}2,2026-04-20,5,Lies,Lovely.\n")
    notes = shop.imported(again, source="web").notes
    assert [
        note
        for note in notes
        if note.startswith("rows with the id of a review of another author and day: 1;")
    ]
    assert [] == [
        note for note in shop.imported(again, source="web").notes if "another author" in note
    ]


@pytest.mark.parametrize("action", ["hide", "hide-text"])
def test_text_that_is_not_shown_has_no_note_on_its_number(shop: Shop, action: Action) -> None:
    header, text = "date,stars,name,text\n", "They broke the blue vase. Call 07700 900111"
    file = table(shop.folder / "a.csv", f"{header}2026-03-14,1,Ann,{text}\n")
    (first,) = [note for note in shop.imported(file, source="web").notes if "phone" in note]
    correct(shop, "Ann", action)
    edited = table(file, f"{header}2026-03-14,1,Ann,{text} now.\n")
    notes = [
        *shop.imported(edited, source="web").notes,
        *shop.imported(
            table(file, f"{header}2026-03-15,1,Ann,{text} today.\n"), source="web"
        ).notes,
    ]

    assert "which readers see: 1" in first
    assert {action} == {*states(shop).values()}
    assert [] == [note for note in notes if "phone" in note]


def test_text_with_a_phone_number_is_noted_once(shop: Shop) -> None:
    """It was published without a word, where the documents say that addresses are never taken."""
    file = table(
        shop.folder / "a.csv", "date,rating,name,text\n2026-03-14,5,Ann,Call 07700 900111\n"
    )

    def notes() -> list[str]:
        return [note for note in shop.imported(file, source="web").notes if "phone number" in note]

    (note,) = notes()
    assert note.startswith(
        "texts with a phone number or an e-mail address, which readers see: 1 (2026-03-14, "
        f"{shop.reviews['Ann']['id']}); to leave the stars alone: reviewsctl reviews hide ID "
    )
    assert [] == notes()
