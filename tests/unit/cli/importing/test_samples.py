"""Each format, read from files of exactly the published shapes, traps included (interfaces.md 2)."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CLI, reviewsctl, reviewsd
from tests.support.sheets import spreadsheet
from tests.support.shop import SAMPLES

pytestmark = pytest.mark.processes

ENVIRONMENT = {"PYTHONPATH": str(CLI), "PYTHONWARNINGS": "error", "PATH": "/usr/bin:/bin"}


class Imported:
    """The result of one run of ``reviewsctl import --json``."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        folder.mkdir(exist_ok=True)
        self.run = reviewsctl(ENVIRONMENT, "import", *arguments, "--data", str(folder), "--json")
        assert self.run.returncode == 0, self.run.stderr
        self.result: dict[str, Any] = json.loads(self.run.stdout)
        self.file: dict[str, Any] = json.loads((folder / "reviews.json").read_bytes())
        self.reviews: list[dict[str, Any]] = self.file["reviews"]
        for review in self.reviews:
            assert review.pop("added_at")

    def by_author(self, author: str) -> dict[str, Any]:
        (review,) = [candidate for candidate in self.reviews if candidate["author"] == author]
        return review


def sample(tmp_path: Path, name: str, *options: str) -> Imported:
    return Imported(tmp_path / "data", str(SAMPLES / name), *options)


def refusal(code: int, data: Path, *arguments: str) -> str:
    """What an import says that ends with ``code`` and writes nothing."""
    data.mkdir(exist_ok=True)
    before = list(data.iterdir())
    run = reviewsctl(ENVIRONMENT, "import", *arguments, "--data", str(data))
    assert code == run.returncode, run.stderr
    assert "Traceback" not in run.stderr
    assert before == list(data.iterdir())
    return run.stderr


def zipped(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(folder))
        file.writestr("Takeout/archive_browser.html", "<html></html>")
    return archive


EVERY = {
    "takeout": ["takeout"],
    "google-api": ["google_api.json", "--set", "name=Acme"],
    "places": ["places.json"],
    "outscraper": ["outscraper.csv"],
    "apify": ["apify.json"],
    "trustpilot": ["trustpilot.csv"],
    "trustpilot-api": ["trustpilot_api.json"],
    "podium": ["podium.json", "--set", "name=Acme"],
    "yelp": ["yelp.json", "--set", "name=Acme"],
    "csv": ["bom.csv", "--set", "name=Acme", "--source", "website"],
    "reviewsd": ["own.json"],
}


@pytest.mark.parametrize("name", EVERY)
def test_a_format_is_recognized_the_daemon_accepts_it_and_again_it_changes_nothing(
    tmp_path: Path, name: str
) -> None:
    file, *options = EVERY[name]
    first = sample(tmp_path, file, *options)
    config = tmp_path / "reviewsd.yaml"
    config.write_text("base_url: https://a.example\ndata_dir: data\nstate_dir: state\n")
    config.chmod(0o600)
    check = reviewsd(ENVIRONMENT, "--check", "--config", str(config))
    before = (tmp_path / "data/reviews.json").stat()
    again = sample(tmp_path, file, *options)

    assert name == first.result["format"]
    assert (0, "") == (check.returncode, check.stderr)
    assert (0, 0, len(first.reviews)) == (
        again.result["new"],
        again.result["changed"],
        again.result["unchanged"],
    )
    assert before == (tmp_path / "data/reviews.json").stat()


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
    } == done.by_author("Jane Doe")  # edited later under the other account


def test_takeout_keeps_the_original_of_both_forms_of_translation(tmp_path: Path) -> None:
    done = sample(tmp_path, "takeout")

    assert "Muy bueno" == done.by_author("José Ñandú")["text"]
    assert "Gracias" == done.by_author("José Ñandú")["owner_reply"]["text"]
    assert "Ging so." == done.by_author("Jörg")["text"]
    assert 'It said "(Translated by Google)" on the van.' == done.by_author("Quoter")["text"]


def test_takeout_has_ratings_without_words_and_people_without_names(tmp_path: Path) -> None:
    done = sample(tmp_path, "takeout")
    nameless = [review for review in done.reviews if review["author"] == "A Google user"]

    assert done.by_author("Max Power")["text"] is None
    assert {"Never came.", None} == {review["text"] for review in nameless}
    assert "Hidden" not in json.dumps(done.file)


def test_takeout_is_read_as_zip_folder_location_and_single_page_alike(tmp_path: Path) -> None:
    archive = zipped(SAMPLES / "takeout", tmp_path / "takeout.zip")
    place = SAMPLES / "takeout/Takeout/Google Business Profile/account-101/location-2001"
    takeout = sample(tmp_path, "takeout")
    zipped_ = Imported(tmp_path / "zip", str(archive))
    location = Imported(tmp_path / "location", str(place))
    page = Imported(tmp_path / "page", str(place / "reviews.json"), "--set", "name=Acme")

    assert takeout.file == zipped_.file
    assert {review["id"] for review in takeout.reviews} == {
        review["id"] for review in location.reviews
    }
    assert "Acme Plumbing" == location.file["business"]["name"]
    assert 3 == len(page.reviews)


def test_the_day_is_that_of_the_business(tmp_path: Path) -> None:
    utc = sample(tmp_path, "takeout")
    there = Imported(
        tmp_path / "ny", str(SAMPLES / "takeout"), "--set", "timezone=America/New_York"
    )

    assert "2025-03-14" == utc.by_author("Jane Doe")["date"]
    assert "2025-03-13" == there.by_author("Jane Doe")["date"]
    assert utc.by_author("Jane Doe")["id"] == there.by_author("Jane Doe")["id"]


def test_a_location_without_reviews_is_no_fault(tmp_path: Path) -> None:
    place = tmp_path / "location-5"
    place.mkdir()
    (place / "data.json").write_text('{"title": "New place"}')
    (place / "reviews.json").write_text("{}")
    done = Imported(tmp_path / "data", str(place))

    assert ({"name": "New place"}, []) == (done.file["business"], done.reviews)


@pytest.mark.parametrize("cut", [100, 4000])
def test_truncated_zip_is_reported(tmp_path: Path, cut: int) -> None:
    archive_bytes = zipped(SAMPLES / "takeout", tmp_path / "whole.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(archive_bytes[:-cut] + (b"" if cut == 100 else bytes(cut)))

    assert "File is not a zip file" in refusal(1, tmp_path / "data", str(tmp_path / "cut.zip"))


def test_a_member_that_is_damaged_leaves_everything_as_it_was(tmp_path: Path) -> None:
    archive = zipped(SAMPLES / "takeout", tmp_path / "takeout.zip")
    content = bytearray(archive.read_bytes())
    at = content.index(b"reviews-Cj4ABC.json") + 60
    content[at : at + 20] = bytes(20)
    archive.write_bytes(content)

    assert "is damaged" in refusal(1, tmp_path / "data", str(archive))


def test_several_locations_have_to_be_told_apart(tmp_path: Path) -> None:
    export = str(SAMPLES / "two")
    unanswered = refusal(2, tmp_path / "data", export)
    one = Imported(tmp_path / "one", export, "--set", "location=2002")
    titled = Imported(tmp_path / "titled", export, "--set", "location=acme plumbing 1")
    both = Imported(tmp_path / "both", export, "--set", "location=all", "--set", "name=Acme")

    assert "Acme Plumbing 1 (2001, 1 review), Acme Plumbing 2 (2002, 1 review)" in unanswered
    assert "--set location=ID" in unanswered
    assert ["At 2."] == [review["text"] for review in one.reviews]
    assert "Acme Plumbing 2" == one.file["business"]["name"]
    assert 1 == one.result["elsewhere"]
    assert ["At 1."] == [review["text"] for review in titled.reviews]
    assert 2 == len(both.reviews)


@pytest.mark.parametrize("name", ["maps", "maps/Reviews.json"])
def test_reviews_that_the_account_wrote_are_refused_with_an_explanation(
    tmp_path: Path, name: str
) -> None:
    message = refusal(1, tmp_path, str(SAMPLES / name))

    assert "that the Google account wrote about other places" in message
    assert "Google Business Profile" in message


# The others


def test_the_api_warns_of_further_pages(tmp_path: Path) -> None:
    done = sample(tmp_path, "google_api.json", "--set", "name=Acme")

    assert "the platform has 120 reviews (totalReviewCount), here are 1" in done.result["notes"][0]
    assert "https://lh3.googleusercontent.com/x" == done.reviews[0]["author_avatar_url"]


def test_places_gives_the_original_text_and_a_warning(tmp_path: Path) -> None:
    done = sample(tmp_path, "places.json")

    assert "Sehr gut" == done.by_author("Uwe B")["text"]
    assert 5 == done.by_author("Star Only")["rating"]
    assert (
        "no archive: the Places API gives five reviews of a business at most"
        in done.result["notes"][1]
    )
    assert "Acme Plumbing" == done.file["business"]["name"]


def test_outscraper_is_the_same_review_in_all_its_spellings(tmp_path: Path) -> None:
    table = sample(tmp_path, "outscraper.csv")
    nested = Imported(tmp_path / "json", str(SAMPLES / "outscraper.json"))
    sheet = spreadsheet(SAMPLES / "outscraper.csv", tmp_path / "outscraper.xlsx")
    third = Imported(tmp_path / "xlsx", str(sheet))
    old = Imported(tmp_path / "old", str(SAMPLES / "outscraper_old.json"))

    assert table.file == nested.file == third.file
    assert "Thank you!" == table.by_author("Jane Doe")["owner_reply"]["text"]
    assert "row 4" == table.result["refusals"][0]["where"]
    assert "Jane Doe" == old.reviews[0]["author"]  # autor_name


def test_apify_takes_the_text_and_not_its_translation(tmp_path: Path) -> None:
    done = sample(tmp_path, "apify.json")

    assert "Sehr gut" == done.by_author("Uwe B")["text"]
    assert {"text": "Danke!", "date": "2025-03-15"} == done.by_author("Uwe B")["owner_reply"]
    assert done.by_author("Star Only")["text"] is None


def test_apify_as_lines_is_the_same(tmp_path: Path) -> None:
    items = json.loads((SAMPLES / "apify.json").read_bytes())
    lines = tmp_path / "dataset.jsonl"
    lines.write_text("".join(json.dumps(item) + "\n" for item in items))

    assert sample(tmp_path, "apify.json").file == Imported(tmp_path / "lines", str(lines)).file


def test_trustpilot_is_read_in_the_spellings_of_all_years_and_without_addresses(
    tmp_path: Path,
) -> None:
    done = sample(tmp_path, "trustpilot.csv")
    newer = Imported(tmp_path / "newer", str(SAMPLES / "trustpilot_newer.csv"))
    api = Imported(tmp_path / "api", str(SAMPLES / "trustpilot_api.json"))

    assert {**done.by_author("Jane Doe"), "location": "Portsmouth"} == newer.reviews[0]
    assert {**done.by_author("Jane Doe"), "verified": True} == api.reviews[0]  # isVerified
    assert "Great firm\n\nThey came at once." == newer.reviews[0]["text"]
    assert "Title only" == done.by_author("Anonymous")["text"]
    assert "@" not in json.dumps(done.file) + json.dumps(api.file)


# Any table


def test_a_windows_table_with_semicolons_is_guessed_and_shown(tmp_path: Path) -> None:
    options = ["--set", "name=Acme", "--set", "verified=yes"]
    done = sample(tmp_path, "cp1252_semicolons.csv", *options)
    run = reviewsctl(
        ENVIRONMENT,
        "import",
        str(SAMPLES / "cp1252_semicolons.csv"),
        *options,
        *("--data", str(tmp_path / "data"), "--verbose"),
    )

    assert "Schnell und „gut“" == done.by_author("Jörg Müller")["text"]
    assert "2025-03-14" == done.by_author("Jörg Müller")["date"]
    assert all(review["verified"] for review in done.reviews)
    assert run.stdout.splitlines() == [
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
    options = ["--data", str(tmp_path), "--set", "name=Acme", "--dry-run", "--verbose"]
    silent = reviewsctl(ENVIRONMENT, "import", str(export), *options)
    answered = reviewsctl(ENVIRONMENT, "import", str(export), *options, "--set", "verified=no")

    assert (0, 0) == (silent.returncode, answered.returncode)
    assert "(--set verified=yes if you know that they are)" in silent.stdout
    assert "not verified" not in answered.stdout


def test_dates_that_can_be_read_in_two_ways_are_asked_about(tmp_path: Path) -> None:
    options = ["--set", "name=Acme", "--source", "website"]
    message = refusal(2, tmp_path, str(SAMPLES / "ambiguous.csv"), *options)
    done = sample(tmp_path, "ambiguous.csv", *options, "--set", "date_format=%d/%m/%Y")

    assert "can be read in two ways, for example 03/04/2025" in message
    assert '--set "date_format=%m/%d/%Y" or --set "date_format=%d/%m/%Y"' in message
    assert "2025-04-03" == done.by_author("Jane")["date"]


def test_columns_are_mapped_by_the_operator(tmp_path: Path) -> None:
    table = tmp_path / "odd.csv"
    table.write_text("Wertung,Wann,Wer\n5,2025-03-14,Jane\n")
    options = ["--set", "name=Acme", "--source", "Website", "--set", "scale=5"]
    missing = refusal(2, tmp_path, str(table), *options)
    wrong = refusal(2, tmp_path, str(table), *options, "--map", "rating=Stars")
    done = Imported(
        tmp_path / "data",
        *(str(table), *options),
        *("--map", "rating=wertung", "--map", "date=Wann", "--map", "author=Wer"),
    )

    assert "no column looks like rating or date; there are: Wertung, Wann, Wer" in missing
    assert "Name it, as in --map rating=COLUMN\nDates are days such as 2026-03-14" in missing
    assert 'there is no column "Stars"' in wrong
    assert ("Jane", 5, "website") == tuple(
        done.reviews[0][name] for name in ("author", "rating", "source")
    )


def test_invalid_link_is_left_out(tmp_path: Path) -> None:
    done = sample(tmp_path, *EVERY["csv"])

    assert done.by_author("Max")["source_url"] is None
    assert "https://example.com/1" == done.by_author("Jane Doe")["source_url"]


def test_unknown_export_is_described_with_a_remedy(tmp_path: Path) -> None:
    message = refusal(1, tmp_path, str(SAMPLES / "unknown.json"))

    assert 'JSON with the members "score", "when", "who"' in message
    assert "takeout" in message
    assert "--map rating=COLUMN" in message


def test_a_wrong_from_says_what_it_is_not(tmp_path: Path) -> None:
    export = str(SAMPLES / "apify.json")
    not_it = refusal(1, tmp_path, export, "--from", "podium")
    no_such = refusal(2, tmp_path, export, "--from", "nope")

    assert "this is not podium" in not_it
    assert "There are: auto, google-api, takeout" in no_such


def test_a_folder_of_two_kinds_is_not_guessed_about(tmp_path: Path) -> None:
    both = tmp_path / "both"
    both.mkdir()
    for name in ("apify.json", "trustpilot.csv"):
        shutil.copy(SAMPLES / name, both / name)
    message = refusal(2, tmp_path, str(both))
    one = Imported(tmp_path / "data", str(both), "--from", "trustpilot")

    assert "several kinds of exports" in message
    assert 2 == len(one.reviews)


def test_names_are_shortened_on_request(tmp_path: Path) -> None:
    done = sample(tmp_path, "takeout", "--set", "names=short")

    assert {"Jane D.", "Max P.", "José Ñ.", "Jörg", "Quoter", "A Google user"} == {
        review["author"] for review in done.reviews
    }


def test_our_own_keep_unknown_members_and_are_checked(tmp_path: Path) -> None:
    done = sample(tmp_path, "own.json")

    assert {"name": "Acme Plumbing", "x_since": 1990} == done.file["business"]
    assert 1.5 == done.file["x_top"]
    assert b'"x_mood":{"a":1.1}' in (tmp_path / "data/reviews.json").read_bytes()
    assert 1 == done.result["refused"]
