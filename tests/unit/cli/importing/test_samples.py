"""Each format, read from files of exactly the published shapes, traps included (interfaces.md 2)."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.report import document, lines
from reviewsctl.importing.settings import parsed
from reviewsd.domain.dataset import load
from tests.support.sheets import spreadsheet
from tests.support.shop import NOW, SAMPLES, Shop


class Imported(Shop):
    """A data directory after an import with these values of ``--set``."""

    def __init__(
        self, folder: Path, export: Path, *values: str, source: str | None = None, **options: object
    ) -> None:
        super().__init__(folder, platform=None)
        folder.mkdir(exist_ok=True)
        settings = parsed(values, NOW, source=source)
        result = self.imported(export, settings=settings, **options)
        self.report = lines(self.options, result, self.lines, undo="")
        self.result: dict[str, Any] = document(self.options, result)


def sample(tmp_path: Path, name: str, *values: str, **options: Any) -> Imported:
    return Imported(tmp_path / "data", SAMPLES / name, *values, **options)


def refusal(code: int, folder: Path, export: Path, *values: str) -> str:
    """What an import says that ends with ``code`` and writes nothing."""
    before = list(folder.iterdir())
    with pytest.raises(ImportRefusedError) as caught:
        Imported(folder, export, *values)
    assert code == caught.value.exit_code
    assert before == list(folder.iterdir())
    return f"{caught.value.detail}\n{caught.value.remedy}"


def zipped(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(folder))
        file.writestr("Takeout/archive_browser.html", "<html></html>")
    return archive


EVERY = {
    "takeout": ["takeout"],
    "google-api": ["google_api.json", "name=Acme"],
    "places": ["places.json"],
    "outscraper": ["outscraper.csv"],
    "apify": ["apify.json"],
    "trustpilot": ["trustpilot.csv"],
    "trustpilot-api": ["trustpilot_api.json"],
    "podium": ["podium.json", "name=Acme"],
    "yelp": ["yelp.json", "name=Acme"],
    "csv": ["bom.csv", "name=Acme"],
    "reviewsd": ["own.json"],
}


@pytest.mark.parametrize("name", EVERY)
def test_a_format_is_recognized_the_daemon_accepts_it_and_again_it_changes_nothing(
    tmp_path: Path, name: str
) -> None:
    source = "website" if name == "csv" else None
    first = sample(tmp_path, *EVERY[name], source=source)
    path = first.folder / "reviews.json"
    load(path.read_bytes(), None)
    before = path.stat()
    again = sample(tmp_path, *EVERY[name], source=source)

    assert name == first.result["format"]
    assert (0, 0, first.result["total"]) == tuple(
        again.result[count] for count in ("new", "changed", "unchanged")
    )
    assert before == path.stat()


# Google Takeout


def test_takeout_merges_pages_and_accounts_and_names_the_business(tmp_path: Path) -> None:
    done = sample(tmp_path, "takeout")

    assert {
        "name": "Acme Plumbing",
        "phone": "+1 555-0100",
        "address": {"city": "Portsmouth", "country": "US"},
    } == done.file["business"]
    assert "your business got from the export: name, phone, address" in done.result["notes"]
    assert (7, 1, 1, 1) == tuple(
        done.result[name] for name in ("new", "refused", "skipped", "twice")
    )
    assert [
        {
            "where": "Takeout/Google Business Profile/account-101/location-2001/reviews_001.json: "
            "reviews[1]",
            "reason": "no date",
        }
    ] == done.result["refusals"]
    assert {
        "id": "01JP97SC5V6MJSHKWYR9YF10G7",
        "author": "Jane Doe",
        "rating": 5,
        "date": "2025-03-14",
        "text": "Sam fixed the boiler in an hour. Edited: still works.",
        "source": "google",
        "owner_reply": {"text": "Thank you, Jane!", "date": "2025-03-15"},
        "verified": False,
        "location": "2001",
        "added_at": "2026-06-02T12:00:00Z",
    } == done.reviews["Jane Doe"]  # edited later under the other account


def test_takeout_is_read_as_zip_folder_location_and_single_page_alike(tmp_path: Path) -> None:
    archive = zipped(SAMPLES / "takeout", tmp_path / "takeout.zip")
    place = SAMPLES / "takeout/Takeout/Google Business Profile/account-101/location-2001"
    takeout = sample(tmp_path, "takeout")
    zipped_ = Imported(tmp_path / "zip", archive)
    location = Imported(tmp_path / "location", place)
    page = Imported(tmp_path / "page", place / "reviews.json", "name=Acme")

    assert takeout.file == zipped_.file
    assert {review["id"] for review in takeout.file["reviews"]} == {
        review["id"] for review in location.file["reviews"]
    }
    assert "Acme Plumbing" == location.file["business"]["name"]
    assert 3 == len(page.reviews)


def test_a_location_without_reviews_is_no_fault(tmp_path: Path) -> None:
    place = tmp_path / "location-5"
    place.mkdir()
    (place / "data.json").write_text('{"title": "New place"}')
    (place / "reviews.json").write_text("{}")
    done = Imported(tmp_path / "data", place)
    assert ({"name": "New place"}, {}) == (done.file["business"], done.reviews)


def test_several_locations_have_to_be_told_apart(tmp_path: Path) -> None:
    export = SAMPLES / "two"
    unanswered = refusal(2, tmp_path, export)
    one = Imported(tmp_path / "one", export, "location=2002")
    titled = Imported(tmp_path / "titled", export, "location=acme plumbing 1")
    both = Imported(tmp_path / "both", export, "location=all", "name=Acme")

    assert "Acme Plumbing 1 (2001, 1 review), Acme Plumbing 2 (2002, 1 review)" in unanswered
    assert "--set location=ID" in unanswered
    assert ["At 2."] == [review["text"] for review in one.file["reviews"]]
    assert "Acme Plumbing 2" == one.file["business"]["name"]
    assert 1 == one.result["elsewhere"]
    assert ["At 1."] == [review["text"] for review in titled.file["reviews"]]
    assert 2 == both.result["total"]


@pytest.mark.parametrize("name", ["maps", "maps/Reviews.json"])
def test_reviews_that_account_wrote_are_refused_with_explanation(tmp_path: Path, name: str) -> None:
    message = refusal(1, tmp_path, SAMPLES / name)
    assert "that the Google account wrote about other places" in message
    assert "Google Business Profile" in message


# The others


def test_outscraper_is_the_same_review_in_all_its_spellings(tmp_path: Path) -> None:
    table = sample(tmp_path, "outscraper.csv")
    nested = Imported(tmp_path / "json", SAMPLES / "outscraper.json")
    sheet = spreadsheet(SAMPLES / "outscraper.csv", tmp_path / "outscraper.xlsx")
    third = Imported(tmp_path / "xlsx", sheet)
    old = Imported(tmp_path / "old", SAMPLES / "outscraper_old.json")
    assert table.file == nested.file == third.file
    assert "Thank you!" == table.reviews["Jane Doe"]["owner_reply"]["text"]
    assert "row 4" == table.result["refusals"][0]["where"]
    assert "Jane Doe" in old.reviews  # autor_name


def test_apify_as_lines_is_the_same(tmp_path: Path) -> None:
    items = json.loads((SAMPLES / "apify.json").read_bytes())
    dataset = tmp_path / "dataset.jsonl"
    dataset.write_text("".join(json.dumps(item) + "\n" for item in items))
    assert sample(tmp_path, "apify.json").file == Imported(tmp_path / "lines", dataset).file


def test_trustpilot_is_read_in_spellings_of_all_years_and_without_addresses(tmp_path: Path) -> None:
    done = sample(tmp_path, "trustpilot.csv")
    newer = Imported(tmp_path / "newer", SAMPLES / "trustpilot_newer.csv")
    api = Imported(tmp_path / "api", SAMPLES / "trustpilot_api.json")

    assert {**done.reviews["Jane Doe"], "location": "Portsmouth"} == newer.reviews["Jane Doe"]
    assert {**done.reviews["Jane Doe"], "verified": True} == api.reviews["Jane Doe"]  # isVerified
    assert "Great firm\n\nThey came at once." == newer.reviews["Jane Doe"]["text"]
    assert "Title only" == done.reviews["Anonymous"]["text"]
    assert "@" not in json.dumps(done.file) + json.dumps(api.file)


# Any table


def test_a_windows_table_with_semicolons_is_guessed_and_shown(tmp_path: Path) -> None:
    values = ("name=Acme", "verified=yes")
    done = sample(tmp_path, "cp1252_semicolons.csv", *values)
    again = sample(tmp_path, "cp1252_semicolons.csv", *values, verbose=True)

    assert "Schnell und „gut“" == done.reviews["Jörg Müller"]["text"]
    assert "2025-03-14" == done.reviews["Jörg Müller"]["date"]
    assert all(review["verified"] for review in done.reviews.values())
    assert again.report == [
        "imported 0 new, 0 changed, 2 unchanged, 2 refused",
        f"{tmp_path}/data/reviews.json needs no change; nothing was written",
        "  row 4: no rating",
        '  row 5: date "31.02.2025" is not "%d.%m.%Y" (day.month.year)',
        "cp1252_semicolons.csv: a table with columns of its own (cp1252, semicolons)",
        (
            "columns: rating = Stars, date = Posted, author = Customer Name, text = Review, "
            "source = Source"
        ),
        "dates: %d.%m.%Y",
        'ratings: of 5 (column "Stars")',
        "not taken: Phone",
        (
            "note: without an id of their own: 2; theirs is made of source, author, date, stars and text, "
            "and one that is edited is known again by two of author, day and text"
        ),
    ]


def test_table_without_verification_is_not_verified(tmp_path: Path) -> None:
    """Nothing has to be said for a first import; a note names the setting."""
    export = tmp_path / "x.csv"
    export.write_text("rating,date,author,source\n5,2025-03-14,Ann,x\n")
    silent, answered = (
        "\n".join(Imported(tmp_path, export, *values, dry_run=True, verbose=True).report)
        for values in (["name=Acme"], ["name=Acme", "verified=no"])
    )
    assert "(--set verified=yes if you know that they are)" in silent
    assert "not verified" not in answered


def test_unknown_export_is_described_with_a_remedy(tmp_path: Path) -> None:
    message = refusal(1, tmp_path, SAMPLES / "unknown.json")
    assert 'JSON with the members "score", "when", "who"' in message
    assert "takeout" in message
    assert "--map rating=COLUMN" in message


def test_a_folder_of_two_kinds_is_not_guessed_about(tmp_path: Path) -> None:
    both = tmp_path / "both"
    both.mkdir()
    for name in ("apify.json", "trustpilot.csv"):
        shutil.copy(SAMPLES / name, both / name)
    message = refusal(2, tmp_path, both)
    one = Imported(tmp_path / "data", both, format_name="trustpilot")
    assert "several kinds of exports" in message
    assert 2 == one.result["total"]


def test_our_own_keep_unknown_members_and_are_checked(tmp_path: Path) -> None:
    done = sample(tmp_path, "own.json")
    assert {"name": "Acme Plumbing", "x_since": 1990} == done.file["business"]
    assert 1.5 == done.file["x_top"]
    assert b'"x_mood":{"a":1.1}' in (tmp_path / "data/reviews.json").read_bytes()
    assert 1 == done.result["refused"]
