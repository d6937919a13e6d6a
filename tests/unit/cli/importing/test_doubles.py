"""Reviews that are there under another source are a question, as they would count twice."""

import json
import shutil
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.settings import parsed
from reviewsctl.manual.keys import SHIPPED
from tests.support.edited import correct
from tests.support.shop import NOW, Shop, table

HEADER = "date,rating,name,text\n"
ANN = "2026-03-14,5,Ann,Quick and clean.\n"
BO = "2026-03-15,4,Bo,Came late.\n"
CY = "2026-03-16,1,Cy,\n"
DI = "2026-03-17,3,Di,Fine.\n"
EVE = "2026-03-18,5,Eve,Good.\n"


def imported(shop: Shop, source: str, *rows: str, **options: object) -> list[str]:
    """Import a table, and return the notes of the result."""
    export = table(shop.folder / f"{source}.csv", HEADER + "".join(rows))
    return list(shop.imported(export, source=source, **options).notes)


def count(shop: Shop) -> int:
    return len(shop.file["reviews"])


@pytest.mark.parametrize(
    ("rows", "doubled"),
    [
        ((ANN, BO, CY), "3 of 3"),
        ((ANN, BO, CY, DI, EVE, EVE.replace("Eve", "Flo")), "3 of 6"),
        ((ANN, BO, CY.replace(",\n", ",Too dear.\n"), DI), "2 of 4"),
        ((ANN, DI, EVE), ""),  # customers write to two sites
        ((ANN, BO, CY, DI, *(EVE.replace("Eve", name) for name in ("Flo", "Gus", "Hal"))), ""),
        (tuple(row.replace("2026", "2025") for row in (ANN, BO, CY)), ""),
        ((ANN.replace(",5,", ",4,"), BO.replace(",4,", ",5,"), CY), ""),
    ],
)
def test_half_of_the_new_reviews_under_another_source_is_a_question(
    shop: Shop, rows: tuple[str, ...], doubled: str
) -> None:
    imported(shop, "website", ANN, BO, CY)
    if not doubled:
        imported(shop, "portal", *rows)
        assert 3 + len(rows) == count(shop)
        return
    with pytest.raises(SayMoreError, match=f'{doubled} new reviews .* "website"') as refusal:
        imported(shop, "portal", *rows)
    assert "the source of a table: --source website;" in refusal.value.remedy
    assert 3 == count(shop)


def test_doubles_of_several_sources_name_all_of_these(shop: Shop) -> None:
    """The source of most was named for all."""
    imported(shop, "website", ANN, BO)
    imported(shop, "cards", CY, DI, EVE)
    with pytest.raises(SayMoreError, match='from the sources "cards", "website"') as refusal:
        imported(shop, "portal", ANN, BO, CY, DI, EVE)
    assert "If they are the same reviews, leave this export out; to add" in refusal.value.remedy


def test_erased_doubles_are_none_that_were_added(shop: Shop) -> None:
    """Reviews that are kept out of the file do not say that its owner wants others twice."""
    erased = [EVE.replace("Eve", name) for name in ("Flo Berg", "Gus Hall", "Hal Ivens")]
    imported(shop, "portal", *erased)
    for name in ("Flo Berg", "Gus Hall", "Hal Ivens"):
        correct(shop, name, "erase")
    edited = [row.replace("Good.", "Very good.") for row in erased]
    imported(shop, "website", *edited, ANN, BO, CY)
    with pytest.raises(SayMoreError, match="3 of 3 new reviews are there already"):
        imported(shop, "portal", *edited, ANN, BO, CY)


def test_stars_without_a_name_are_no_doubles(shop: Shop) -> None:
    """Two ratings without name and text on one day may be two customers'."""
    rows = [f"2026-03-0{day},5,,\n" for day in range(1, 6)]
    imported(shop, "website", *rows)
    imported(shop, "portal", *rows)
    assert 10 == count(shop)


def test_owner_adds_doubles_at_a_terminal(shop: Shop) -> None:
    imported(shop, "website", ANN, BO, CY)
    shop.answer = False
    with pytest.raises(ImportRefusedError, match="you answered no"):
        imported(shop, "portal", ANN, BO, CY)
    assert (3, ["Import it all the same?"]) == (count(shop), shop.questions)
    shop.answer = True
    imported(shop, "portal", ANN, BO, CY)
    assert 6 == count(shop)


def test_doubles_that_were_added_once_are_no_question_again(shop: Shop) -> None:
    """A sync of two sites that share their reviews must not stop at each new one."""
    imported(shop, "website", ANN, BO, CY, DI, EVE, EVE.replace("Eve", "Flo"))
    imported(shop, "portal", ANN, BO, CY, yes=True)
    imported(shop, "portal", ANN, BO, CY, DI, EVE, EVE.replace("Eve", "Flo"))
    assert 12 == count(shop)


def test_sites_of_one_export_are_no_doubles(shop: Shop, tmp_path: Path) -> None:
    """A tool that exports several sites tells two reviews of one customer apart."""
    rows = [
        {"date": "2026-03-14", "rating": 5, "name": name, "text": "Fine.", "source": source}
        for name in ("Ann", "Bo", "Cy", "Di")
        for source in ("google", "yelp")
    ]
    export = tmp_path / "a.json"
    for part in (rows[::2], rows):
        export.write_text(json.dumps(part))
        shop.imported(export)
    assert 8 == count(shop)


@pytest.mark.parametrize(
    "name", ["booking", "Booking", "Booking.com", "booking.com", " booking ", "BOOKING.COM"]
)
def test_name_that_pages_show_is_the_source(shop: Shop, name: str) -> None:
    """An erased guest was new under the name that the page itself shows."""
    imported(shop, "booking", ANN, BO, CY)
    export = table(shop.folder / "more.csv", HEADER + ANN + DI)
    result = shop.imported(export, source=name)
    assert (1, 1) == (result.merge.count(Fate.NEW), result.merge.count(Fate.UNCHANGED))


def test_name_that_is_there_stays_a_source(shop: Shop) -> None:
    imported(shop, "website", ANN)
    shop.edit("Ann", source="booking.com")
    imported(shop, "Booking.com", EVE)
    assert {"booking.com"} == {review["source"] for review in shop.reviews.values()}


def test_source_like_another_one_is_a_question(shop: Shop) -> None:
    imported(shop, "booking", ANN)
    imported(shop, "google", EVE)
    with pytest.raises(SayMoreError) as refusal:
        imported(shop, "boking", EVE.replace("Eve", "Flo"))
    assert (
        '"boking" is a new source; there are reviews of booking, google; did you mean "booking"?'
        == refusal.value.detail
    )
    imported(shop, "boking", EVE.replace("Eve", "Flo"), yes=True)
    imported(shop, "boking", EVE.replace("Eve", "Gus"))
    assert 4 == count(shop)


def test_sources_of_a_column_are_compared_as_that_of_an_option_is(shop: Shop) -> None:
    """Trailing blanks and slips are in columns too, and an option names one source for all rows."""
    imported(shop, "booking", ANN)
    imported(shop, "google", EVE)
    rows = "".join(
        f"2026-04-0{day},5,Flo,Fine.,{source}\n"
        for day, source in enumerate(("Googel", "portal", "Trip Advisor", "booking.com"), start=1)
    )
    export = table(shop.folder / "all.csv", f"date,rating,name,text,source\n{rows}")
    slip, other = (
        f'"{source}" is a new source; there are reviews of booking, google'
        for source in ("Googel", "portal")
    )
    with pytest.raises(SayMoreError) as refusal:
        shop.imported(export)
    assert f'{slip}; did you mean "google"?' == refusal.value.detail
    notes = [note for note in shop.imported(export, dry_run=True).notes if "new source" in note]
    assert [f'{slip}; did you mean "google"?', other] == [note.partition(" (")[0] for note in notes]


def test_new_source_beside_others_is_a_note(shop: Shop) -> None:
    assert [] == [note for note in imported(shop, "booking", ANN) if "new source" in note]
    assert '"portal" is a new source; there are reviews of booking' in imported(shop, "portal", EVE)
    assert [] == [note for note in imported(shop, "portal", EVE, CY) if "new source" in note]


def test_examples_of_init_are_no_other_source(shop: Shop) -> None:
    shutil.copy(SHIPPED / "reviews.json", shop.folder)
    assert [] == [note for note in imported(shop, "website", ANN) if "new source" in note]


def test_blank_source_is_refused() -> None:
    with pytest.raises(SayMoreError, match="--source: expected a name"):
        parsed([], NOW, source=" ")
