"""Every sample by every format: each is one thing, and what is near is said."""

import pytest

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.format import RECOGNIZED
from reviewsctl.importing.platforms import tables
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen
from reviewsctl.importing.settings import Settings
from tests.support.shop import SAMPLES, Shop, table

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
        if not format_.generic and format_.likeness(source.head) >= RECOGNIZED
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
