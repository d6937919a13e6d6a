"""Imports into a reviews.json that declares locations (pages.md 8)."""

import json
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.settings import Settings
from reviewsd.domain.dataset import load
from tests.support.shop import Shop, google, outscraper, table

DOVER = {"id": "dover", "name": "Dover Harbor", "aliases": ["22", "ChIJ1"]}
KITTERY = {"id": "kittery", "name": "Kittery"}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    folder = tmp_path / "data"
    folder.mkdir()
    shop = Shop(folder)
    declare(shop, DOVER, KITTERY)
    return shop


def declare(shop: Shop, *locations: dict[str, Any], **business: object) -> None:
    content = {"business": {"name": "Acme", "locations": locations, **business}, "reviews": []}
    (shop.folder / "reviews.json").write_text(json.dumps(content))


def located(shop: Shop) -> dict[str, object]:
    """Return the location of each review by its author; the daemon takes the file."""
    load((shop.folder / "reviews.json").read_bytes(), None)
    return {name: review.get("location") for name, review in shop.reviews.items()}


def declared(shop: Shop) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = shop.file["business"]["locations"]
    return listed


CSV = "author,rating,date,text\nJo,5,2026-01-01,Good.\nAnn,4,2026-01-02,Fine.\n"


@pytest.mark.parametrize("name", ["dover", "DOVER ", "ChIJ1", "dover harbor"])
def test_reviews_get_the_location_of_the_operator(shop: Shop, tmp_path: Path, name: str) -> None:
    """Most tables of one's own are of one place."""
    shop.imported(table(tmp_path / "a.csv", CSV), location=name)
    assert {"Jo": "dover", "Ann": "dover"} == located(shop)
    assert [DOVER, KITTERY] == declared(shop)


def test_second_import_of_a_table_keeps_the_location(shop: Shop, tmp_path: Path) -> None:
    export = table(tmp_path / "a.csv", CSV)
    shop.imported(export, location="kittery")
    shop.imported(export)
    assert {"Jo": "kittery", "Ann": "kittery"} == located(shop)


def test_import_with_location_adds_it_to_reviews_that_are_there(shop: Shop, tmp_path: Path) -> None:
    """Locations may be declared long after the first import."""
    export = table(tmp_path / "a.csv", CSV)
    shop.imported(export)
    assert {"Jo": None, "Ann": None} == located(shop)
    shop.imported(export, location="dover")
    assert {"Jo": "dover", "Ann": "dover"} == located(shop)


def test_location_that_is_not_declared_is_no_answer(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(SayMoreError, match='none is called "rye"') as refused:
        shop.imported(table(tmp_path / "a.csv", CSV), location="rye")
    assert "reviews.json declares: dover (Dover Harbor), kittery (Kittery)" in str(
        refused.value.remedy
    )


def test_export_is_chosen_from_by_name_of_declared_location(shop: Shop, tmp_path: Path) -> None:
    rows = ({"author": "Jo"}, {"author": "Ann", "place": "99"})
    shop.imported(google(tmp_path / "g.json", *rows), location="dover harbor")
    assert {"Jo": "22"} == located(shop)


def test_export_of_declared_locations_is_no_question(shop: Shop, tmp_path: Path) -> None:
    rows = ({"author": "Jo"}, {"author": "Ann", "place": "kittery"})
    shop.imported(google(tmp_path / "g.json", *rows))
    assert {"Jo": "22", "Ann": "kittery"} == located(shop)
    shop.imported(outscraper(tmp_path / "o.json", "Acme Dover", "ChIJ1", "Bo"))
    assert {"Jo": "22", "Ann": "kittery", "Bo": "ChIJ1"} == located(shop)


def test_export_of_ours_with_a_review_of_no_place_is_no_question(shop: Shop) -> None:
    """Who replied in a spreadsheet was asked which of her two offices it was of."""
    rows = "Jo,5,2026-01-01,dover\nAnn,4,2026-01-02,kittery\nBo,3,2026-01-03,\n"
    file = table(shop.folder / "cards.csv", f"author,rating,date,branch\n{rows}")
    shop.imported(file, settings=Settings(source="web", columns={"location": "branch"}))
    (shop.folder / "own.json").write_text(json.dumps(shop.file))
    shop.imported(shop.folder / "own.json")
    assert {"Jo": "dover", "Ann": "kittery", "Bo": None} == located(shop)


def test_export_of_trustpilot_is_of_the_whole_business(shop: Shop) -> None:
    """Its business unit became a place of its own beside two offices, with a button and a page."""
    header = "Review Id,Review Created (UTC),Review Username,Review Stars,Domain Url,Webshop Name,Business Unit Id"
    rows = "a,2026-08-14 11:20:31,Hannah,5,acme.example,Acme,bu1\n"
    shop.imported(table(shop.folder / "tp.csv", f"{header}\n{rows}"))
    assert ["dover", "kittery"] == [place["id"] for place in declared(shop)]
    shop.imported(table(shop.folder / "tp.csv", f"{header}\n{rows}"), location="kittery")
    assert {"Hannah": "kittery"} == located(shop)


def test_location_that_is_new_is_declared(shop: Shop, tmp_path: Path) -> None:
    """The daemon would refuse reviews of an undeclared location."""
    export = outscraper(tmp_path / "o.json", "Acme Rye/Beach", "ChIJ/99", "Bo")
    shop.imported(export, yes=True)
    new = {"id": "acme-rye-beach", "name": "Acme Rye/Beach", "aliases": ["ChIJ/99"]}
    assert [DOVER, KITTERY, new] == declared(shop)
    assert {"Bo": "ChIJ/99"} == located(shop)
    before = (shop.folder / "reviews.json").read_bytes()
    shop.imported(export)
    assert before == (shop.folder / "reviews.json").read_bytes()


def test_new_locations_of_one_title_are_told_apart(shop: Shop, tmp_path: Path) -> None:
    """Two offices of one name were two equal buttons."""
    exports = [
        outscraper(tmp_path / f"{place}.json", "Acme", place, place) for place in ("77", "88")
    ]
    shop.imported(*exports, location="all", yes=True)
    assert [("acme", "Acme (77)"), ("acme-2", "Acme (88)")] == [
        (place["id"], place["name"]) for place in declared(shop)[2:]
    ]


@pytest.mark.parametrize(
    ("title", "place", "expected"),
    [
        ("", "99", {"id": "99", "name": "99", "aliases": []}),
        ("★", "ChIJ_9-x", {"id": "ChIJ_9-x", "name": "★", "aliases": []}),
        ("★", "★/", {"id": "location", "name": "★", "aliases": ["★/"]}),
        ("x" * 300, "a b", {"id": "x" * 60, "name": "x" * 200, "aliases": ["a b"]}),
    ],
)
def test_new_location_has_a_short_id_that_no_other_has(
    shop: Shop, tmp_path: Path, title: str, place: str, expected: dict[str, Any]
) -> None:
    shop.imported(outscraper(tmp_path / "o.json", title, place, "Bo"), yes=True)
    assert expected == declared(shop)[-1]
    assert {"Bo": place} == located(shop)


def test_file_that_declares_none_stays_without(shop: Shop, tmp_path: Path) -> None:
    declare(shop)
    rows = ({"author": "Jo"}, {"author": "Ann", "place": "99"})
    shop.imported(google(tmp_path / "g.json", *rows), location="all")
    assert [] == declared(shop)
    assert {"Jo": "22", "Ann": "99"} == located(shop)


def test_column_may_be_mapped_to_the_location(shop: Shop, tmp_path: Path) -> None:
    text = "Store,rating,date,text,author\nDover Harbor,5,2026-01-01,Good.,Jo\nRye,4,2026-01-02,So.,Ann\n,3,2026-01-03,Hm.,Bo\n"
    settings = Settings(columns={"location": "Store"})
    shop.imported(table(tmp_path / "a.csv", text), settings=settings, yes=True)
    assert {"Jo": "Dover Harbor", "Ann": "Rye", "Bo": None} == located(shop)
    assert {"id": "rye", "name": "Rye", "aliases": []} == declared(shop)[-1]
    assert [*DOVER["aliases"], "Dover Harbor"] == declared(shop)[0]["aliases"]


HOUSES = Settings(columns={"location": "Store"}, source="web")


def houses(shop: Shop, *rows: str) -> Path:
    """Write a table with the house of each review."""
    return table(shop.folder / "a.csv", "\n".join(["id,Store,rating,date,text,author", *rows, ""]))


JO, BO = "1,Dover,5,2026-01-01,Good.,Jo", "3,Dover Harbor,3,2026-01-03,Hm.,Bo"


def test_place_that_is_spelled_in_two_ways_is_one(shop: Shop) -> None:
    rows = (
        "1,York,5,2026-01-01,Good.,Jo",
        "2,YORK,4,2026-01-02,So.,Ann",
        "3,Kittery ,4,2026-01-02,So.,Cy",
    )
    shop.imported(houses(shop, *rows), settings=HOUSES)
    assert [[*DOVER["aliases"]], [], []] == [place.get("aliases", []) for place in declared(shop)]
    assert {"Jo": "York", "Ann": "YORK", "Cy": "Kittery"} == located(shop)


def test_location_that_becomes_a_place_is_named(shop: Shop) -> None:
    export = houses(shop, JO, "2,York,4,2026-01-02,So.,Ann", BO)
    trial = shop.imported(export, settings=HOUSES, dry_run=True)
    assert "new place: York" in trial.notes
    done = shop.imported(export, settings=HOUSES)
    assert "new place: York" in done.notes
    aliases = (
        "your places got aliases, by which reviews of the export name them: dover (Dover Harbor)"
    )
    assert aliases in done.notes
    assert not [note for note in done.notes if "locations" in note]
    again = shop.imported(export, settings=HOUSES)
    assert not [note for note in again.notes if "new place" in note]


@pytest.mark.parametrize("day", ["2026-01-02", "2026-01-04"])
def test_new_place_that_is_like_a_known_one_is_a_question(shop: Shop, day: str) -> None:
    """A mistyped one had a page at once; of the newest row it was called an older export."""
    row = f"2,{{}},4,{day},So.,Ann"
    shop.imported(houses(shop, JO, row.format("Kittery"), BO), settings=HOUSES)
    with pytest.raises(
        SayMoreError, match='"Kitery" is a new place, of 1 review; did you mean "Kittery"'
    ) as question:
        shop.imported(houses(shop, JO, row.format("Kitery"), BO), settings=HOUSES)
    assert "Correct it in the table; if it is a place of its own: --yes" == question.value.remedy
    shop.imported(houses(shop, JO, row.format("Kitery"), BO), settings=HOUSES, yes=True)
    assert "Kitery" == located(shop)["Ann"]
    shop.imported(houses(shop, JO, row.format("Kitery"), BO), settings=HOUSES)


def test_declared_places_keep_their_lines_in_the_file(shop: Shop) -> None:
    """The operator edits the business by hand; one long line had all of it."""
    (shop.folder / "reviews.json").write_text(
        '{\n  "business": {\n    "name": "Acme",\n    "locations": [\n      {"id": "dover",\n       "name": "Dover"},\n'
        '      {"id": "rye", "name": "Rye House"}\n    ]\n  },\n  "reviews": []\n}\n'
    )
    rows = (
        "1,dover,5,2026-01-01,Good.,Jo",
        "2,Rye House,4,2026-01-02,So.,Ann",
        "3,York,5,2026-01-03,,Bo",
    )
    shop.imported(houses(shop, *rows), settings=HOUSES)
    business, _, _ = (shop.folder / "reviews.json").read_text().partition('"reviews"')
    assert (
        '{\n"business": {\n  "name": "Acme",\n  "locations": [\n    {"id": "dover",\n       "name": "Dover"},\n'
        '    {"id":"rye","name":"Rye House","aliases":["Rye House"]},\n'
        '    {"id":"york","name":"York","aliases":[]}\n  ]\n},\n' == business
    )


def test_place_that_takes_reviews_of_a_declared_one_is_a_question(shop: Shop) -> None:
    """A column of scores made places of 7.5 and 10, and emptied the page of the house."""
    export = table(
        shop.folder / "a.csv",
        "id,Location,rating,date,text,author\n1,10,5,2026-01-01,Good.,Jo\n2,7.5,4,2026-01-02,Fine.,Ann\n",
    )
    shop.imported(export, settings=Settings(source="web", location="dover"))
    by_column = Settings(columns={"location": "Location"}, source="web")
    moves = '1 review of "dover" would move to "10", 1 of "dover" to "7.5": new places'
    with pytest.raises(SayMoreError, match=moves) as question:
        shop.imported(export, settings=by_column)
    assert (
        'If you have renamed "Dover Harbor": write "10" into its aliases in reviews.json; '
        "if they are places of their own: --yes; if the column has no places: --map location="
        == question.value.remedy
    )
    assert {"Jo": "dover", "Ann": "dover"} == located(shop)
    (note,) = [
        note
        for note in shop.imported(export, settings=by_column, dry_run=True).notes
        if "would move" in note
    ]
    assert note.startswith(moves)
    shop.imported(export, settings=by_column, yes=True)
    assert {"Jo": "10", "Ann": "7.5"} == located(shop)


def test_platform_that_moves_reviews_to_a_new_place_is_asked_about(
    shop: Shop, tmp_path: Path
) -> None:
    """An export of a platform has no column that could be left out."""
    export = tmp_path / "o.json"
    row = {"review_id": "1", "author_title": "Jo", "review_rating": 5, "name": "Acme Dover"}
    row |= {"place_id": "22", "review_text": "Fine", "review_datetime_utc": "01/01/2026 10:00:00"}
    export.write_text(json.dumps([row]))
    shop.imported(export)
    export.write_text(json.dumps([row | {"place_id": "99", "name": "Acme York"}]))
    with pytest.raises(
        SayMoreError, match='1 review of "22" would move to "Acme York"'
    ) as question:
        shop.imported(export)
    assert question.value.remedy == (
        'If you have renamed "Dover Harbor": write "99" into its aliases in reviews.json; '
        "if it is a place of its own: --yes"
    )


RENAMED = DOVER | {"aliases": ["Dover", "Harbor House"]}


def test_deleted_row_leaves_though_its_place_is_called_otherwise_now(shop: Shop) -> None:
    """It stayed on the page for ever, as no row had the place by its earlier name."""
    declare(shop, RENAMED, KITTERY)
    rows = [JO, "2,Dover,1,2026-01-02,So.,Ann", "4,Kittery,5,2026-01-04,Well.,Cy"]
    shop.imported(houses(shop, *rows), settings=HOUSES)
    remaining = [JO.replace("Dover", "Harbor House"), rows[2]]
    notes = shop.imported(houses(shop, *remaining), settings=HOUSES, replace=True, yes=True).notes
    assert {"Jo": "Harbor House", "Cy": "Kittery"} == located(shop)
    assert not [note for note in notes if note.startswith("kept")]


def test_edited_row_without_an_id_is_its_review_under_a_renamed_place(shop: Shop) -> None:
    """A second review beside it would be shown, even if it is hidden."""
    declare(shop, RENAMED, KITTERY)
    rows = ["Dover,5,2026-01-01,Good work all the day.,Jo", "Kittery,5,2026-01-04,Well.,Cy"]
    header = "Store,rating,date,text,author"
    shop.imported(table(shop.folder / "a.csv", "\n".join([header, *rows, ""])), settings=HOUSES)
    jo = shop.reviews["Jo"]["id"]
    edited = rows[0].replace("Dover", "Harbor House").replace("all the day", "all the long day")
    shop.imported(
        table(shop.folder / "a.csv", "\n".join([header, edited, rows[1], ""])), settings=HOUSES
    )
    assert [jo, shop.reviews["Cy"]["id"]] == [each["id"] for each in shop.file["reviews"]]


def test_export_of_the_wrong_place_is_a_question(shop: Shop, tmp_path: Path) -> None:
    """The file of one house, imported as that of the other, moved its reviews there, and "all is well"."""
    export = table(tmp_path / "a.csv", CSV)
    shop.imported(export, location="dover")
    moves = '2 reviews of "dover" would move to "kittery"'
    with pytest.raises(SayMoreError, match=moves) as question:
        shop.imported(export, location="kittery")
    remedy = "If this export is of dover: --set location=dover; if they are to move: --yes"
    assert remedy == question.value.remedy
    assert {"Jo": "dover", "Ann": "dover"} == located(shop)
    more = table(tmp_path / "b.csv", CSV + "Bo,3,2026-01-03,New.\nCy,3,2026-01-04,New.\n")
    with pytest.raises(SayMoreError, match=moves):
        shop.imported(more, location="kittery")
    shop.imported(export, location="kittery", yes=True)
    assert {"Jo": "kittery", "Ann": "kittery"} == located(shop)


def test_review_shared_with_another_place_is_no_question(shop: Shop, tmp_path: Path) -> None:
    """Two guests of one day without a name and words have one id, which a sync would be stopped by."""
    shop.imported(table(tmp_path / "a.csv", CSV), location="dover")
    guests = "".join(f"Al,{star},2026-01-03,\n" for star in (5, 4, 3))
    shop.imported(
        table(tmp_path / "b.csv", CSV.splitlines()[0] + "\n" + guests), location="kittery"
    )
    both = table(tmp_path / "b.csv", f"{CSV}{guests}".replace("Jo,5,2026-01-01,Good.\n", ""))
    shop.imported(both, location="kittery")
    assert {"Jo": "dover", "Ann": "kittery", "Al": "kittery"} == located(shop)


@pytest.mark.parametrize(("swapped", "is_question"), [(2, False), (3, True)])
def test_swapped_places_are_a_question(shop: Shop, swapped: int, *, is_question: bool) -> None:
    """One row that was corrected is none."""
    rows = [f"{n},{'Dover' if n % 2 else 'Kittery'},5,2026-01-0{n},Good.,A{n}" for n in range(1, 8)]
    swap = {"Dover": "Kittery", "Kittery": "dover"}
    shop.imported(houses(shop, *rows), settings=HOUSES)
    for n, row in enumerate(rows[:swapped]):
        place = row.split(",")[1]
        rows[n] = row.replace(place, swap[place])
    trial = shop.imported(houses(shop, *rows), settings=HOUSES, dry_run=True)
    assert is_question is any("would move" in note for note in trial.notes)
    if is_question:
        with pytest.raises(SayMoreError, match="would move") as question:
            shop.imported(houses(shop, *rows), settings=HOUSES)
        assert "Correct the table; if they are to move: --yes" == question.value.remedy


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("Gmünd", "Gmuend"), ("Gmünd", "Gmund"), ("Malmö", "Malmoe"), ("Liège", "Liege")],
)
def test_place_with_and_without_umlauts_is_a_question(shop: Shop, spelling: str, name: str) -> None:
    """One shop had two public pages."""
    for places in ((spelling,), ()):
        declare(shop, DOVER, *({"id": "x", "name": place} for place in places))
        rows = [f"1,{spelling},5,2026-01-01,Good.,Jo", f"2,{name},5,2026-01-02,Good.,Ann"]
        with pytest.raises(SayMoreError, match=f'"{name}"|"{spelling}"') as question:
            shop.imported(houses(shop, *rows), settings=HOUSES)
        assert "did you mean" in question.value.detail


@pytest.mark.parametrize(
    ("name", "place_id"),
    [("Gmünd", "gmund"), ("Große Łódź", "grosse-lodz"), ("Saint-Étienne", "saint-etienne")],
)
def test_id_of_place_keeps_letters_that_have_accents(shop: Shop, name: str, place_id: str) -> None:
    """The page was at /l/gm-nd."""
    shop.imported(houses(shop, f"1,{name},5,2026-01-01,Good.,Jo"), settings=HOUSES)
    assert place_id == declared(shop)[-1]["id"]


def test_alias_of_a_place_may_be_mistyped_too(shop: Shop) -> None:
    declare(shop, DOVER | {"aliases": ["Harbor House"]})
    with pytest.raises(SayMoreError, match='did you mean "Harbor House"'):
        shop.imported(houses(shop, "1,Habor House,5,2026-01-01,Good.,Jo"), settings=HOUSES)


@pytest.mark.parametrize(
    "names",
    [
        ("dover", "Dover Harbor", "Kittery"),  # an import adds a name of a declared place to it
        ("", "York"),
        *(("Kittery 2",), ("Kit",), ("KITTERY",), ("Rye",)),  # like no known one
    ],
    ids=", ".join,
)
def test_place_of_a_review_is_no_question(shop: Shop, names: tuple[str, ...]) -> None:
    for name in names:
        shop.imported(houses(shop, JO.replace("Dover", name)), settings=HOUSES)
    assert names[-1] == located(shop)["Jo"]


def test_place_of_fewer_rows_is_the_mistyped_one(shop: Shop) -> None:
    """The first table has nothing that it could be compared with."""
    declare(shop)
    rows = [f"{number},Harbour,5,2026-01-0{number},Good.,A{number}" for number in range(1, 4)]
    with pytest.raises(SayMoreError, match='"Habour" is a new place, of 1 review; did you mean'):
        shop.imported(houses(shop, "9,Habour,5,2026-01-01,Good.,Z", *rows), settings=HOUSES)


def test_row_that_moves_to_another_place_makes_no_table_older(shop: Shop) -> None:
    """The newest row of one place was corrected; the age of the table is that of all its rows."""
    ann, cy = "2,Kittery,4,2026-01-02,So.,Ann", "4,Dover Harbor,5,2026-01-01,Well.,Cy"
    moved = BO.replace("Dover Harbor", "Kittery")
    shop.imported(houses(shop, JO, ann, BO, cy), settings=HOUSES)
    shop.imported(houses(shop, JO, ann, moved, cy), settings=HOUSES)
    assert "Kittery" == located(shop)["Bo"]
    with pytest.raises(SayMoreError, match="older than the last import") as question:
        shop.imported(houses(shop, JO, ann.replace("4", "1")), settings=HOUSES)
    assert (
        "newest review is of 2026-01-02, the last import's of 2026-01-03" in question.value.detail
    )


def test_reviews_of_no_place_are_counted_if_several_exist(shop: Shop, tmp_path: Path) -> None:
    """All reviews of Booking.com were missing from the pages of both houses, without a word."""
    export = table(tmp_path / "a.csv", CSV)

    def notes(location: str | None = None) -> list[str]:
        result = shop.imported(export, location=location)
        return [note for note in result.notes if "without a place" in note]

    note = (
        "2 reviews without a place, on the page of none: --set location=ID; "
        "there are dover (Dover Harbor), kittery (Kittery)"
    )
    assert [note] == notes()
    assert [note] == notes()
    assert [] == notes(location="dover")
    assert [] == notes()
    declare(shop, DOVER)
    assert [] == notes()


def test_reviews_that_name_no_place_beside_others_are_counted(shop: Shop) -> None:
    """An option would choose among the places of the table, so the table has to say it."""
    (note,) = [
        note
        for note in shop.imported(houses(shop, JO, ",,4,2026-01-02,So.,Ann"), settings=HOUSES).notes
        if "without a place" in note
    ]
    assert (
        "1 review without a place, on the page of none: fill in the table (Ann, 2026-01-02, web)"
        == note
    )


@pytest.mark.parametrize("replace", [True, False])
def test_deleted_rows_of_a_place_without_rows_are_named(shop: Shop, *, replace: bool) -> None:
    """They stayed, without a word, where the documents say that what is deleted leaves the page."""
    rows = ["Jo,5,2026-01-01,dover\n", "Ann,4,2026-01-02,kittery\n", "Bo,5,2026-01-03,\n"]
    settings = Settings(source="web", columns={"location": "branch"})
    header = "author,rating,date,branch\n"
    shop.imported(table(shop.folder / "a.csv", header + "".join(rows)), settings=settings)
    again = table(shop.folder / "a.csv", header + rows[0])
    notes = shop.imported(again, settings=settings, replace=replace, yes=True).notes
    note = (
        "kept, as no row is of the same place (kittery, no place): 2 reviews (Ann, 2026-01-02, web; "
        "Bo, 2026-01-03, web)"
    )
    assert replace is (note in notes), notes


PLACED = "author,rating,date,text,{}\nJo,5,2026-01-01,Good.,{}\nAnn,4,2026-01-02,Fine.,{}\n"


@pytest.mark.parametrize("column", ["Site", "Standort", "Sede", "Local", "Winkel", "Garage"])
@pytest.mark.parametrize("name", ["Dover Harbor", "KITTERY", "ChIJ1"])
def test_column_with_declared_places_is_taken(shop: Shop, column: str, name: str) -> None:
    """A column "Site" with the names of two workshops was taken for the source."""
    export = table(shop.folder / "a.csv", PLACED.format(column, name, "Kittery"))
    shop.imported(export, source="desk")
    assert {"Jo": name, "Ann": "Kittery"} == located(shop)
    assert f"location = {column}" in "".join(shop.lines)


def test_column_with_undeclared_places_is_noted(shop: Shop) -> None:
    rows = PLACED.format("Site", "Lyon", "Lyon") + "Cy,4,2026-01-03,Bad.,Paris\n"
    shop.imported(table(shop.folder / "a.csv", rows), source="desk")
    assert {"Jo": None, "Ann": None, "Cy": None} == located(shop)
    assert "--map location=Site" in shop.lines[-1]


@pytest.mark.parametrize("answer", [{"location": "dover"}, {"columns": {"location": ""}}])
def test_place_of_the_operator_wins_over_a_column(shop: Shop, answer: dict[str, Any]) -> None:
    export = table(shop.folder / "a.csv", PLACED.format("Site", "Kittery", "Kittery"))
    shop.imported(export, settings=Settings(name="Acme", source="desk", **answer))
    place = answer.get("location")
    assert {"Jo": place, "Ann": place} == located(shop)


def test_new_place_beside_declared_ones_is_a_question(shop: Shop) -> None:
    rows = PLACED.format("Site", "Dover", "Kittery") + "Cy,4,2026-01-03,Bad.,Paris\n"
    with pytest.raises(SayMoreError, match="it holds the reviews of 3 locations"):
        shop.imported(table(shop.folder / "a.csv", rows), source="desk")
