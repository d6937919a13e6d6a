"""Dates of exports that a spreadsheet has saved again: read as they were, asked about, or refused."""

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.settings import Settings
from tests.support.sheets import spreadsheet
from tests.support.shop import Shop, records, table

TRUSTPILOT = (
    "Review Created (UTC),Review Username,Review Stars,Company Reply Date (UTC),Company Reply"
)
OUTSCRAPER = (
    "name,rating,author_title,review_text,review_rating,review_timestamp,review_datetime_utc,"
    "owner_answer,owner_answer_timestamp,owner_answer_timestamp_datetime_utc"
)


def readings(
    tmp_path: Path, header: str, *rows: str, date_format: str | None = None, sheet: bool = False
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the reviews of a table, and why its other rows are refused."""
    file = table(tmp_path / "x.csv", "\n".join((header, *rows, "")))
    file = spreadsheet(file, tmp_path / "x.xlsx") if sheet else file
    reviews, reasons = records(parts_of(file), Settings(date_format=date_format))
    return [json.loads(review) for review in reviews], reasons


def days(reviews: tuple[list[dict[str, Any]], list[str]]) -> list[str]:
    """When each was written; none is refused."""
    assert [] == reviews[1]
    return [review["date"] for review in reviews[0]]


def answered(reviews: Sequence[dict[str, Any]]) -> list[str | None]:
    """When each was answered, where its row says so."""
    replies = [review["owner_reply"] for review in reviews]
    return [None if reply.get("undated") else reply["date"] for reply in replies]


def test_days_of_a_platform_are_read_in_the_order_that_one_of_them_proves(tmp_path: Path) -> None:
    """A British Excel had saved it, and 05/03/2025 became the third of May without a word."""
    many = [f"05/03/2025 09:{minute:02},A,5,," for minute in range(30)]
    british = readings(tmp_path, TRUSTPILOT, *many, "2025-03-02 09:10:11,B,5,,", "25/03/2025,C,5,,")
    american = readings(tmp_path, TRUSTPILOT, "05/03/2025 09:10,A,5,,", "05/25/2025 09:10:11,B,5,,")
    german = readings(tmp_path, TRUSTPILOT, "05.03.2025 09:10,A,5,06.03.2025 10:00,Thanks")
    assert ["2025-03-05"] * 30 + ["2025-03-02", "2025-03-25"] == days(british)
    assert ["2025-05-03", "2025-05-25"] == days(american)
    assert (["2025-03-05"], ["2025-03-06"]) == (days(german), answered(german[0]))


@pytest.mark.parametrize(
    ("header", "rows", "example", "remedy"),
    [
        (
            TRUSTPILOT,
            ("2025-03-05 09:10:11,A,5,,", "05/03/2025 09:10:11,B,5,2025-03-06,Thanks"),
            '"Review Created (UTC)" can be read in two ways, for example 05/03/2025 09:10:11',
            '--set "date_format=%m/%d/%Y %H:%M:%S" or --set "date_format=%d/%m/%Y %H:%M:%S"',
        ),
        (
            "Date,Rating,Name",
            ("05/03/2025,5,Jane", "05/03/2025,4,Max"),
            '"Date" can be read in two ways, for example 05/03/2025',
            '--set "date_format=%m/%d/%Y" or --set "date_format=%d/%m/%Y"',
        ),
    ],
    ids=["platform", "own"],
)
def test_days_that_can_be_read_in_two_ways_are_a_question(
    tmp_path: Path, header: str, rows: tuple[str, str], example: str, remedy: str
) -> None:
    with pytest.raises(SayMoreError) as caught:
        readings(tmp_path, header, *rows)
    formatted = readings(tmp_path, header, *rows, date_format="%d/%m/%Y")
    assert f"the dates in column {example}" == caught.value.detail
    assert remedy in caught.value.remedy
    assert ["2025-03-05", "2025-03-05"] == days(formatted)


def test_a_count_of_seconds_that_excel_has_rounded_gives_way_to_the_date(tmp_path: Path) -> None:
    results = readings(
        tmp_path,
        OUTSCRAPER,
        'Acme,"3,6",Jane,Fine,5,"1,74E+09",01.02.2025 23:30,Thanks,"1,74E+09",10.10.2025 08:00',
        "Acme,3.6,Max,Bad,1,1739000000,01/02/2025 23:30:00,,,",
    )
    itself = readings(tmp_path, OUTSCRAPER, "Acme,3.6,Max,Bad,1,,01/02/2025 23:30:00,,,")

    assert ["2025-02-01", "2025-02-08"] == days(results)
    assert ["2025-10-10"] == answered(results[0][:1])
    assert ["2025-01-02"] == days(itself), "as Outscraper writes it"


def test_the_date_of_a_reply_is_read_or_said_and_never_made_up(tmp_path: Path) -> None:
    """45901 is what Excel has in a cell that is a date."""
    rows = [
        f"14.03.2025,5,Fine,Thanks,{when}" for when in ("45901", "02.09.2025 08:00", "", "soon")
    ]
    reviews, reasons = readings(
        tmp_path,
        "Datum,Sterne,Kommentar,Antwort,Antwortdatum",
        *rows,
        "14.03.2025,5,Fine,Thanks,vor 2 Wochen",
    )

    assert ["2025-09-01", "2025-09-02", None] == answered(reviews)
    assert [
        'reply\'s date "soon" is not "%d.%m.%Y" (day.month.year)',
        'reply\'s date "vor 2 Wochen" is an age, which says no day: write the day, as 2026-03-14',
    ] == reasons


def test_dates_and_texts_in_one_column_are_both_read(tmp_path: Path) -> None:
    """Some dates of a spreadsheet are typed, and others pasted."""
    results = readings(
        tmp_path,
        "Datum,Sterne",
        "45730,5",
        "14.03.2025,4",
        "14.03.2025 8:30,4",
        "45750,3",
        sheet=True,
    )

    assert ["2025-03-14", "2025-03-14", "2025-03-14", "2025-04-03"] == days(results)


def test_empty_column_of_dates_is_refused_with_the_option(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError, match="row 2: no date") as refusal:
        shop.imported(table(tmp_path / "a.csv", "date,rating,name,visit\n,5,Ann,2026-01-01\n"))
    assert "--map date=COLUMN" in refusal.value.remedy


TODAY = datetime.date(2026, 6, 1)
DATED = "id,date,rating,author,reply,reply date,source\n1,2026-05-30,5,Ann,,,x\n2,{},4,Bo,Hi,{},x\n"


@pytest.mark.parametrize(
    ("date", "replied", "reason"),
    [
        ("2052-05-23", "", "date 2052-05-23"),
        ("2026-06-03", "", "date 2026-06-03"),
        ("2026-05-30", "2026-12-01", "reply's date 2026-12-01"),
    ],
)
def test_row_of_the_future_is_refused(shop: Shop, date: str, replied: str, reason: str) -> None:
    """It would be the first of the page for years. The review that is there stays."""
    export = shop.folder / "a.csv"
    settings = Settings(today=TODAY, name="Acme")
    shop.imported(table(export, DATED.format("2026-05-29", "")), settings=settings)
    shop.imported(table(export, DATED.format(date, replied)), settings=settings, replace=True)
    done = shop.imported(export, settings=settings, replace=True)
    today = "today is 2026-06-01 by the clock of this computer"
    assert [("row 3", f"{reason} is in the future; {today}")] == done.rows.refusals
    assert [note for note in done.notes if note.startswith("dated in the future: 1; correct")]
    assert "2026-05-29" == shop.reviews["Bo"]["date"]


def test_day_that_has_begun_elsewhere_is_not_of_the_future(shop: Shop) -> None:
    export = table(shop.folder / "a.csv", DATED.format("2026-06-02", "2026-06-02"))
    shop.imported(export, settings=Settings(today=TODAY, name="Acme"))
    assert {"Ann", "Bo"} == shop.reviews.keys()


def test_future_row_of_an_export_of_reviewsd_is_refused(shop: Shop) -> None:
    export = table(shop.folder / "a.csv", DATED.format("2026-05-29", "2026-05-29"))
    shop.imported(export, settings=Settings(today=TODAY, name="Acme"))
    own = table(shop.folder / "own.json", json.dumps(shop.file).replace("2026-05-29", "2052-05-29"))
    done = shop.imported(own, settings=Settings(today=TODAY), replace=True, yes=True)
    assert 1 == done.rows.refused
    assert "2026-05-29" == shop.reviews["Bo"]["date"]


def test_clock_that_is_years_behind_stops_an_import(shop: Shop) -> None:
    """Nothing of it is lost without a word."""
    export = table(shop.folder / "a.csv", DATED.format("2026-05-29", ""))
    settings = Settings(today=datetime.date(2000, 1, 1), name="Acme")
    with pytest.raises(ImportRefusedError, match="none of its 2 rows can be imported") as caught:
        shop.imported(export, settings=settings)
    assert "Set the clock of this computer, or correct the dates." == caught.value.remedy
