"""Every sample by every format: each is one thing. An unknown value of an option is answered with the nearest."""

from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.platforms import tables
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen
from reviewsctl.importing.settings import Settings, parsed
from tests.support.shop import NOW, SAMPLES, Shop, table

KINDS = {
    "takeout": "takeout",
    "two": "takeout",
    "maps": "maps",
    "google_api.json": "google-api",
    "google_batch.json": "google-batch",
    "places.json": "places",
    "places_legacy.json": "places-legacy",
    "serpapi.json": "serpapi",
    "outscraper.csv": "outscraper",
    "outscraper.json": "outscraper",
    "outscraper_old.json": "outscraper",
    "outscraper_trustpilot.csv": "outscraper-trustpilot",
    "apify.json": "apify",
    "facebook.json": "facebook",
    "apify_facebook.json": "apify-facebook",
    "tripadvisor.json": "tripadvisor",
    "apify_tripadvisor.json": "apify-tripadvisor",
    "trustpilot.csv": "trustpilot",
    "trustpilot_newer.csv": "trustpilot",
    "trustpilot_api.json": "trustpilot-api",
    "podium.json": "podium",
    "birdeye.json": "birdeye",
    "yotpo.json": "yotpo",
    "yotpo.csv": "yotpo-csv",
    "judgeme.json": "judgeme",
    "judgeme.csv": "judgeme-csv",
    "stamped.json": "stamped",
    "yelp.json": "yelp",
    "own.json": "reviewsd",
    "ambiguous.csv": "csv",
    "bom.csv": "csv",
    "excel97.xls": "csv",
    "cp1252_semicolons.csv": "csv",
    "no_rating.csv": "csv",
    "deutsch.csv": "csv",
    "francais.csv": "csv",
    "espanol.csv": "csv",
}
UNKNOWN = {"unknown.json", "plain.json"}
"""Samples that are recognized only with ``--map``."""


def test_every_sample_and_every_format_is_in_the_table() -> None:
    assert {file.name for file in SAMPLES.iterdir()} == KINDS.keys() | UNKNOWN
    assert {format_.name for format_ in tables.FORMATS} == {*KINDS.values(), "json"}


@pytest.mark.parametrize("name", KINDS)
def test_a_sample_is_recognized_by_one_format_and_no_other(name: str) -> None:
    parts = parts_of(SAMPLES / name)
    export = chosen(parts, "auto")
    claims = {
        format_.name
        for source in export.sources
        for format_ in tables.FORMATS
        if not format_.generic and format_.recognizes(source.head)
    }

    assert KINDS[name] == export.format.name
    assert {export.format.name} - {"csv"} == claims


def test_columns_of_a_platforms_own_export_are_not_mapped(shop: Shop) -> None:
    """With --map it was a table without any column that was known, and the error led astray."""
    header = (
        "Review Id,Review Created (UTC),Review Username,Review Stars,Domain Url,Business Unit Id"
    )
    export = table(
        shop.folder / "tp.csv", f"{header}\na,2026-08-14 11:20:31,Hannah,5,a.example,b\n"
    )
    with pytest.raises(SayMoreError) as refused:
        shop.imported(export, settings=Settings(columns={"location": ""}))
    assert "--map works only for tables of no known platform; this is Trustpilot" in (
        refused.value.detail
    )


PATTERN = "--set date_format: expected a pattern as %d/%m/%Y, got"


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("--set", "timezone=Mars/Base", 'timezone: there is no time zone "Mars/Base"\nThey are named like '),
        ("--set", "timezone=Europe/Berln", 'zone "Europe/Berln"; did you mean "Europe/Berlin"?\n'),
        ("--set", "timezon=UTC", 'there is no setting "timezon"; did you mean "timezone"?\nThere are: location, '),
        ("--set", "zone=UTC", '--set: there is no setting "zone"'),
        ("--set", "names=none", '--set names: expected full or short, got "none"'),
        ("--set", "names", '--set: expected NAME=VALUE, got "names"'),
        ("--set", "verified=maybe", '--set verified: expected yes or no, got "maybe"'),
        ("--set", "date_format=x", f'{PATTERN} "x"\n'),
        ("--set", "date_format=DD/MM/YYYY", f'{PATTERN} "DD/MM/YYYY"\nWrite it as --set date_format=%d/%m/%Y'),
        ("--set", "date_format=d.m.yy", f'{PATTERN} "d.m.yy"\nWrite it as --set date_format=%d.%m.%y'),
        ("--set", "date_format=TT.MM.JJJJ", f'{PATTERN} "TT.MM.JJJJ"\nWrite it as --set date_format=%d.%m.%Y'),
        ("--set", "date_format=yyyy-mm-dd", f'{PATTERN} "yyyy-mm-dd"\nWrite it as --set date_format=%Y-%m-%d'),
        ("--map", "date", '--map: expected NAME=COLUMN, got "date"'),
        ("--map", "ratin=Points", '"ratin" is no member of a review; did you mean "rating"?\nThere are: '),
        ("--map", "rating=Point", 'no column "Point"; did you mean "Points"?\nThere are: Day, Points, Words'),
        ("--map", "points=rating", '"points" is no member of a review; did you mean "rating=points"?'),
        ("--from", "Trustpilt", 'no format "trustpilt"; did you mean "trustpilot"?\nThere are: auto, '),
        ("--from", "x", '--from: there is no format "x"\nThere are: auto, google-api, takeout'),
    ],
)  # fmt: skip
def test_unknown_value_is_answered_with_the_nearest(
    shop: Shop, tmp_path: Path, option: str, value: str, error: str
) -> None:
    sets, columns = ([value] if option == name else [] for name in ("--set", "--map"))
    export = table(tmp_path / "x.csv", "Day,Points,Words\n2025-01-01,5,Nice\n")
    with pytest.raises(SayMoreError) as caught:
        shop.imported(
            export,
            settings=parsed(sets, NOW, columns=columns),
            format_name=value if option == "--from" else "auto",
        )
    text = f"{caught.value.detail}\n{caught.value.remedy}"
    assert error in text
    assert text.startswith((option, "timezone"))


def test_format_that_is_none_of_the_exports_is_refused(shop: Shop) -> None:
    with pytest.raises(ImportRefusedError, match="this is not podium") as caught:
        shop.imported(SAMPLES / "apify.json", format_name="podium")
    assert 1 == caught.value.exit_code


@pytest.mark.parametrize("name", ["CSV", "Auto"])
def test_format_is_named_in_any_case(shop: Shop, tmp_path: Path, name: str) -> None:
    shop.imported(table(tmp_path / "x.csv", "date,rating\n2025-01-01,5\n"), format_name=name)
    assert 1 == len(shop.file["reviews"])
