"""Names that an owner has shortened stay short, those of new reviews too, and have no portrait (decision 667)."""

import json
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.settings import parsed
from reviewsctl.importing.undo import undo
from tests.support.edited import correct
from tests.support.shop import NOW, Shop, google, table

HEADER = "date,rating,name,avatar,text\n"
ANN = "2026-03-14,5,Ann Lee,https://example.com/ann.png,Quick and clean.\n"
BO, CY = (ANN.replace("Ann Lee", name) for name in ("Bo Li", "Cy Ito"))
KARL = "2026-03-15,5,Karl-Heinz Rummenigge,https://example.com/karl.png,Came late.\n"


def imported(shop: Shop, source: str, *rows: str, **options: Any) -> list[str]:
    """Import a table, and return the notes on names that were shortened."""
    export = table(shop.folder / f"{source}.csv", HEADER + "".join(rows))
    notes = shop.imported(export, source=source, **options).notes
    return [note for note in notes if note.startswith("shortened as before")]


def portraits(shop: Shop) -> dict[str, object]:
    return {name: review.get("author_avatar_url") for name, review in shop.reviews.items()}


def test_new_names_of_a_source_with_short_ones_are_shortened(shop: Shop) -> None:
    imported(shop, "booking", ANN, BO, CY, names="short")
    assert ["shortened as before: 4 names (--set names=full for full ones)"] == (
        imported(shop, "booking", ANN, BO, CY, KARL)
    )
    assert dict.fromkeys(("Ann L.", "Bo L.", "Cy I.", "Karl-Heinz R.")) == portraits(shop)


def test_names_of_a_new_source_are_shortened_where_all_are_short(shop: Shop) -> None:
    imported(shop, "booking", ANN, BO, CY, names="short")
    assert imported(shop, "portal", KARL, ANN.replace("Ann Lee", "J"))
    assert "Karl-Heinz R." in shop.reviews
    assert None is portraits(shop)["J"]


def test_short_names_that_no_import_made_are_no_rule(shop: Shop) -> None:
    """Customers may call themselves so, and platforms show them so."""
    rows = [ANN.replace("Ann Lee", name) for name in ("Ann L.", "Bo L.", "Cy I.", "Di O.")]
    imported(shop, "booking", *rows)
    for source in ("booking", "portal"):
        assert [] == imported(shop, source, *rows, KARL, yes=True)
        shop.edit("Karl-Heinz Rummenigge", author="Karl-Heinz")


def test_new_names_are_shortened_beside_full_ones_of_the_source(shop: Shop) -> None:
    """A review that had left the export kept a full name, and those of all new ones were full again."""
    imported(shop, "booking", BO, CY)
    imported(shop, "booking", ANN, names="short")
    assert {"Ann L.", "Bo Li", "Cy Ito"} == shop.reviews.keys()
    assert imported(shop, "booking", ANN, KARL)
    assert "Karl-Heinz R." in shop.reviews


def test_undo_takes_the_choice_of_short_names_back(shop: Shop) -> None:
    imported(shop, "booking", ANN)
    imported(shop, "booking", ANN, names="short")
    undo(shop.folder / "reviews.json", 1, shop.now)
    assert [] == imported(shop, "booking", ANN, BO)
    assert {"Ann Lee", "Bo Li"} == shop.reviews.keys()


def test_names_stay_short_under_the_right_name_of_a_source(shop: Shop) -> None:
    imported(shop, "boking", ANN, names="short")
    imported(shop, "portal", CY, names="full")
    assert imported(shop, "booking", ANN, KARL, earlier_source="boking")
    assert {"Ann L.", "Cy Ito", "Karl-Heinz R."} == shop.reviews.keys()


def test_source_with_full_names_keeps_them(shop: Shop) -> None:
    imported(shop, "booking", ANN, BO, CY, names="short")
    imported(shop, "portal", KARL, names="full")
    assert [] == imported(shop, "portal", KARL, KARL.replace("Karl-Heinz", "Uli"))
    assert [] == imported(shop, "website", KARL.replace("Karl-Heinz", "Jo"), yes=True)
    assert {"Uli Rummenigge", "Jo Rummenigge", "Ann L."} <= shop.reviews.keys()
    assert imported(shop, "booking", ANN, KARL.replace("Karl-Heinz", "Eva"))
    assert "Eva R." in shop.reviews


def test_full_names_are_said_to_return(shop: Shop) -> None:
    imported(shop, "booking", ANN, BO, CY, names="short")
    assert [] == imported(shop, "booking", ANN, BO, CY, KARL, names="full")
    assert {"Ann Lee", "Bo Li", "Cy Ito", "Karl-Heinz Rummenigge"} == shop.reviews.keys()


def test_shortening_removes_portraits_that_an_import_wrote(shop: Shop) -> None:
    imported(shop, "booking", ANN, KARL)
    assert "https://example.com/ann.png" == portraits(shop)["Ann Lee"]
    imported(shop, "booking", ANN, KARL, names="short")
    assert {"Ann L.": None, "Karl-Heinz R.": None} == portraits(shop)


def test_portrait_does_not_return_to_a_name_that_stays_short(shop: Shop) -> None:
    """Of a source whose names are not shortened, as the owner wrote the short one himself."""
    imported(shop, "booking", ANN, KARL)
    shop.edit("Ann Lee", author="Ann L.", author_avatar_url=None)
    assert [] == imported(shop, "booking", ANN, KARL)
    assert None is portraits(shop)["Ann L."]


def test_single_name_gets_no_portrait_where_names_are_short(shop: Shop) -> None:
    """An import without the option published it, and said that names are shortened."""
    jo = ANN.replace("Ann Lee", "J")
    imported(shop, "booking", ANN, BO, CY, jo, names="short")
    imported(shop, "booking", ANN, BO, CY, jo, jo.replace("J", "K"))
    assert dict.fromkeys(("Ann L.", "Bo L.", "Cy I.", "J", "K")) == portraits(shop)
    imported(shop, "booking", jo, names="full")
    assert portraits(shop)["J"]
    imported(shop, "booking", ANN, BO, CY, jo, names="short")
    assert None is portraits(shop)["J"]


def test_names_that_a_platform_shows_short_keep_their_portraits(shop: Shop, tmp_path: Path) -> None:
    portrait = {"profilePhotoUrl": "https://example.com/ann.png"}
    names = ("Ann L.", "Bo L.", "Cy I.", "J")
    export = google(
        tmp_path / "a.json", *({"author": name, "reviewer": portrait} for name in names)
    )
    for _ in range(2):
        shop.imported(export)
        assert dict.fromkeys(names, "https://example.com/ann.png") == portraits(shop)


def test_own_export_with_short_names_has_no_portraits(shop: Shop) -> None:
    imported(shop, "booking", ANN)
    own = shop.folder / "own.json"
    own.write_text(json.dumps(shop.file))
    shop.imported(own, names="short")
    assert {"Ann L.": None} == portraits(shop)


@pytest.mark.parametrize("value", ["short", "full"])
def test_slip_for_names_is_refused(value: str) -> None:
    with pytest.raises(SayMoreError) as refusal:
        parsed([f"name={value}"], NOW)
    assert f"For the names of customers: --set names={value}" == refusal.value.remedy


def test_new_reply_that_names_a_short_author_is_noted_once(shop: Shop, tmp_path: Path) -> None:
    """The name was hidden, and stood in the reply."""
    rows = "2026-03-14,5,Birgit Vogt,Gut.,Danke liebe Frau Vogt!\n2026-03-15,5,Bo Li,Gut.,Danke!\n"
    export = table(tmp_path / "a.csv", f"date,rating,name,text,reply\n{rows}")

    def notes() -> list[str]:
        result = shop.imported(export, source="website", names="short")
        return [note for note in result.notes if note.startswith("replies that may have")]

    (note,) = notes()
    assert note.startswith(
        "replies that may have the surname of a shortened name: 1 (2026-03-14); "
    )
    assert [] == notes()


@pytest.mark.parametrize("sees_reply", [True, False], ids=["shown", "hidden"])
def test_reply_is_noted_when_its_author_is_shortened_later(
    shop: Shop, tmp_path: Path, *, sees_reply: bool
) -> None:
    """The reply was there before, and so was never new where names were short."""
    rows = "2026-03-14,1,Sandra Höller,Naja.,\n2026-03-15,5,Eva Berger,Toll.,Danke Frau Berger!\n"
    export = table(tmp_path / "a.csv", f"date,rating,name,text,reply\n{rows}")
    shop.imported(export, source="website")
    own = {"text": "Liebe Frau Höller, schade!", "date": "2026-03-16"}
    shop.edit("Sandra Höller", owner_reply=own)
    if not sees_reply:
        correct(shop, "Sandra Höller")
        correct(shop, "Eva Berger")
    corrected = shop.imported(export, source="website", names="short").merge.corrected
    notes = [note for note in corrected if note.startswith("replies that may have")]
    assert sees_reply is bool(notes)
    if sees_reply:
        assert "shortened name: 2 (2026-03-14; 2026-03-15); " in notes[0]


def test_surname_in_reply_of_spreadsheet_is_noted_for_sync_too(shop: Shop, tmp_path: Path) -> None:
    """Of four ways to write a reply one pointed it out."""
    imported(shop, "website", ANN, names="short")
    shop.edit("Ann L.", owner_reply={"text": "Dear Ms Lee, thanks!", "date": "2026-03-16"})
    (tmp_path / "own.json").write_text(json.dumps(shop.file))
    shop.edit("Ann L.", owner_reply=None)
    (note,) = shop.imported(tmp_path / "own.json").merge.corrected
    assert note.startswith("replies that may have the surname of a shortened name: 1 (")
