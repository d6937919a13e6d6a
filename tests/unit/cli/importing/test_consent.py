"""Possible mistakes are questions: another business, another location, terms that forbid it."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.options import SyncedRead
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.questions import is_loss
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.settings import Settings
from tests.support.shop import SAMPLES, Shop, google, outscraper, table


def test_location_with_a_longer_name_is_a_question(shop: Shop, tmp_path: Path) -> None:
    """ "Acme Plumbing Dover" was taken for "Acme Plumbing" without a word."""
    here = outscraper(tmp_path / "a.json", "Acme Plumbing", "place-1", "Ann")
    dover = outscraper(tmp_path / "b.json", "Acme Plumbing Dover", "place-2", "Bo")
    shop.imported(here, name=None)
    with pytest.raises(SayMoreError, match="that may be another location"):
        shop.imported(dover)
    shop.imported(dover, yes=True)
    shop.imported(dover)
    assert {"Ann", "Bo"} == shop.reviews.keys()


@pytest.mark.parametrize(
    ("export", "named"),
    [
        (lambda folder: outscraper(folder / "b.json", "Acme", "place-2", "Bo"), '"Acme" (place-2)'),
        (
            lambda folder: google(folder / "b.json", {"author": "Bo", "place": "place-2"}),
            '"place-2"',
        ),
    ],
    ids=["same name", "no name"],
)
def test_other_location_without_another_name_is_a_question(
    shop: Shop, tmp_path: Path, export: Callable[[Path], Path], named: str
) -> None:
    """All shops of a chain have one name."""
    shop.imported(outscraper(tmp_path / "a.json", "Acme", "place-1", "Ann"))
    question = f'has reviews of location "place-1" at "google", the export of {named}'
    with pytest.raises(SayMoreError, match=re.escape(question)):
        shop.imported(export(tmp_path))
    shop.imported(export(tmp_path), yes=True)
    assert {"Ann", "Bo"} == shop.reviews.keys()


def test_longer_name_is_no_question_for_the_only_reviews(shop: Shop, tmp_path: Path) -> None:
    """The first import after ``reviewsctl init --name``."""
    (shop.folder / "reviews.json").write_text('{"business": {"name": "Acme"}, "reviews": []}')
    shop.imported(outscraper(tmp_path / "a.json", "Acme Plumbing of Dover", "place-1", "Ann"))
    assert ["Ann"] == list(shop.reviews)


def test_renamed_business_is_no_question_with_its_reviews(shop: Shop, tmp_path: Path) -> None:
    shop.imported(outscraper(tmp_path / "a.json", "Acme", "place-1", "Ann"), name=None)
    shop.imported(outscraper(tmp_path / "b.json", "Summit Heating", "place-1", "Ann", "Bo"))
    assert {"Ann", "Bo"} == shop.reviews.keys()


def test_new_file_needs_the_name_of_the_business(shop: Shop) -> None:
    with pytest.raises(SayMoreError, match="does not say what the business is called") as caught:
        shop.imported(SAMPLES / "yelp.json", name=None)
    assert 'Say it with --set "name=Acme Plumbing"' in caught.value.remedy
    shop.imported(SAMPLES / "yelp.json", name="Acme")
    assert {"name": "Acme"} == shop.file["business"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"business": {"name": "x"}, "reviews": [{]}', "reviews.json:1:42: invalid JSON"),
        ("[]", "reviews.json: it is no object of JSON"),
    ],
)
def test_broken_file_is_not_overwritten(shop: Shop, text: str, message: str) -> None:
    (shop.folder / "reviews.json").write_text(text)
    with pytest.raises(ImportRefusedError, match=message) as caught:
        shop.imported(SAMPLES / "takeout")
    assert "Fix it, or move it away" in caught.value.remedy
    assert ["reviews.json"] == [file.name for file in shop.folder.iterdir()]
    assert text == (shop.folder / "reviews.json").read_text()


@pytest.mark.parametrize("name", ["Acme", "Acme Dover"])
def test_two_businesses_in_one_export_are_a_question(shop: Shop, tmp_path: Path, name: str) -> None:
    """One of them is the right one, or like it, and the other came along with ``location=all``."""
    (shop.folder / "reviews.json").write_text('{"business": {"name": "Acme"}, "reviews": []}')
    exports = [
        outscraper(tmp_path / "a.json", name, "place-1", "Ann"),
        outscraper(tmp_path / "b.json", "Joe's Pizza", "place-2", "Bo"),
    ]
    with pytest.raises(SayMoreError, match='the export of "Joe\'s Pizza"'):
        shop.imported(*exports, location="all")


def test_loss_of_each_source_is_named(shop: Shop, tmp_path: Path) -> None:
    """That of the second one went with the yes to the first."""

    def rows(*days: int) -> str:
        sources = ("cards", "portal")
        lines = (f"2026-01-0{day},5,Ann {day},{source}\n" for source in sources for day in days)
        return f"date,rating,name,source\n{''.join(lines)}"

    export = table(tmp_path / "x.csv", rows(1, 2, 3, 4, 5))
    shop.imported(export)
    table(export, rows(1, 5))
    lost = '3 of 5 reviews of "cards", 3 of 5 reviews of "portal" would be removed'
    with pytest.raises(SayMoreError, match=lost):
        shop.imported(export, replace=True)


@pytest.mark.parametrize(
    ("name", "value", "option", "key"),
    [
        ("location", "dover", "--set location=dover", "import.location: dover"),
        ("source", "my shop", "--source 'my shop'", "import.source: my shop"),
        ("map", "id=Number", "--map id=Number", 'import.map: {id: "Number"}'),
        ("map", "id=", "--map id=", 'import.map: {id: ""}'),
    ],
)
def test_remedy_is_an_option_or_for_a_sync_a_key_of_its_source(
    shop: Shop, tmp_path: Path, name: str, value: str, option: str, key: str
) -> None:
    """The configuration has no ``--map``."""
    shop.imported(outscraper(tmp_path / "a.json", "Acme", "place-1", "Ann"))
    synced = SyncedRead(
        name="shop", is_current=True, is_gone=lambda _: False, check=lambda *_: None
    )
    assert option == shop.options.setting(name, value)
    assert key == replace(shop.options, synced=synced).setting(name, value)


@pytest.mark.parametrize(
    "name",
    [
        "places.json",
        "places_legacy.json",
        "yelp.json",
        "tripadvisor.json",
        "apify_tripadvisor.json",
    ],
)
def test_import_says_that_the_terms_forbid_storing(shop: Shop, name: str) -> None:
    result = shop.imported(SAMPLES / name, location="all")
    assert [note for note in result.notes if "terms" in note and "forbid storing" in note]


def test_import_of_ones_own_data_says_nothing_of_terms(shop: Shop) -> None:
    result = shop.imported(SAMPLES / "takeout")
    assert not [note for note in result.notes if "terms" in note]


NUMBERED = (
    "Nr,date,rating,author,text,source\n1,2026-01-01,5,Ann,Fine,{0}\n2,2026-01-02,4,Bo,,{0}\n"
)


def numbered(shop: Shop, source: str = "web", *, mapped: bool, **options: Any) -> ImportResult:
    """Import a table with a column of numbers, which is the one of ids or is forgotten."""
    columns = {"id": "Nr"} if mapped else {}
    export = table(shop.folder / "a.csv", NUMBERED.format(source))
    return shop.imported(export, settings=Settings(columns=columns, name="Acme"), **options)


@pytest.mark.parametrize("source", ["google", "web"])
@pytest.mark.parametrize("mapped", [True, False])
def test_reviews_are_the_same_with_or_without_ids(shop: Shop, source: str, *, mapped: bool) -> None:
    """The column was forgotten, or is new; stars alone are known by their author and day."""
    numbered(shop, source, mapped=mapped)
    before = shop.reviews
    for is_mapped in (not mapped, mapped, not mapped):
        numbered(shop, source, mapped=is_mapped, yes=True)
        assert before == shop.reviews


def test_table_without_the_ids_of_the_last_import_is_a_question(shop: Shop) -> None:
    """Twelve rows whose texts, days and stars were corrected were there twice, and a hidden one was shown."""
    numbered(shop, mapped=True)
    before = shop.reviews
    with pytest.raises(SayMoreError, match='"web" have the ids of a table') as asked:
        numbered(shop, mapped=False)
    assert "--map id=Number" in asked.value.remedy
    shop.answer = False
    with pytest.raises(ImportRefusedError, match="you answered no") as refused:
        numbered(shop, mapped=False)
    assert "Nothing was written. Name the column that has them, such as --map id=Number" in (
        refused.value.remedy
    )
    assert before == shop.reviews
    numbered(shop, mapped=True)
    shop.answer = None
    numbered(shop, mapped=False, yes=True)
    assert before.keys() == shop.reviews.keys()


@pytest.mark.parametrize(
    ("source", "second", "mapped"),
    [("google", "google", True), ("web", "shop", True), ("web", "web", False)],
)
def test_table_without_ids_is_no_question_where_none_were(
    shop: Shop, source: str, second: str, *, mapped: bool
) -> None:
    """Two tools read a platform, one of them with its ids; or the source is new, or had none."""
    numbered(shop, source, mapped=mapped)
    numbered(shop, second, mapped=False, yes=second == "shop")
    assert [] == [line for line in shop.lines if "--map id=COLUMN" in line]


def test_other_stars_of_most_reviews_are_a_question(shop: Shop, tmp_path: Path) -> None:
    """Customers change theirs one by one; a forgotten scale changes all."""
    rows = "".join(f"{day},2026-01-0{day},{day},Ann {day}\n" for day in (1, 2, 4, 5))
    export = table(tmp_path / "x.csv", f"id,date,Stars,author\n{rows}")

    def graded(scale: str) -> ImportResult:
        settings = Settings(source="cards", name="Acme", scale=Scale.parsed(scale))
        return shop.imported(export, settings=settings)

    graded("5-1")
    with pytest.raises(SayMoreError, match="4 of 4 reviews that are there would get other stars"):
        graded("5")
    table(export, f"id,date,Stars,author\n{rows.replace('04,4', '04,3')}")

    assert 1 == graded("5-1").merge.count(Fate.CHANGED)


def test_letters_that_an_encoding_damaged_are_a_question(shop: Shop, tmp_path: Path) -> None:
    """Excel saves plain CSV with "?" in place of what its encoding has not."""
    row = {"author": "Antonín Dvořák", "text": "Mit Kindern 👶👍", "reply": "Köszönöm, őszintén"}
    shop.imported(google(tmp_path / "a.json", row))
    content = shop.file
    members = ("id", "source", "author", "rating", "date", "text")
    cells = [str(content["reviews"][0][name]) for name in members]
    right = f"{';'.join(members)}\n{';'.join(cells)}\n"
    export = tmp_path / "b.csv"
    export.write_bytes(right.encode("cp1252", "replace"))
    with pytest.raises(SayMoreError, match=r"letters of 1 review are damaged .*: author, text"):
        shop.imported(export)

    assert content == shop.file
    export.write_text(right)
    assert 1 == shop.imported(export).merge.count(Fate.UNCHANGED)


def test_damaged_letters_of_a_new_review_are_a_question(shop: Shop, tmp_path: Path) -> None:
    export = table(tmp_path / "x.csv", "id,date,Stars,author\n1,2026-01-02,5,Zukunft ZÃ¶hrer\n")
    with pytest.raises(SayMoreError, match="letters of 1 review are damaged") as asked:
        shop.imported(export, source="cards")
    shop.imported(export, source="cards", yes=True)
    assert "CSV UTF-8" in asked.value.remedy
    assert 1 == shop.imported(export, source="cards").merge.count(Fate.UNCHANGED)


@pytest.mark.parametrize(
    ("absent", "there", "percent", "expected"),
    [
        *((2, 2, 10, False), (3, 3, 10, True), (4, 17, 10, True), (3, 15, 10, False)),
        *((5, 25, 10, False), (5, 24, 10, True), (6, 60, 10, False), (6, 59, 10, True)),
        *((3, 3, 100, False), (3, 5, 50, True), (3, 6, 50, False), (0, 0, 10, False)),
    ],
)
def test_loss_is_more_than_two_and_more_than_a_tenth_or_of_five_a_fifth(
    *, absent: int, there: int, percent: int, expected: bool
) -> None:
    """A small house lost all of its reviews, and the state of the source was ok."""
    assert expected is is_loss(absent, there, percent)
