"""Imports over weeks: an import neither loses what the owner has nor turns time back."""

import datetime
import json
import zoneinfo
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.report import ImportResult, details
from reviewsctl.importing.settings import Settings
from reviewsd.domain.corrections import Action
from tests.support.edited import correct
from tests.support.shop import SAMPLES, Shop, google, outscraper, table


def tabled(shop: Shop, text: str, **options: Any) -> ImportResult:
    """Import a table of one's own website, of authors who are not verified."""
    return shop.imported(table(shop.folder / "export.csv", text), **{"verified": False} | options)


def imported(
    shop: Shop, *rows: dict[str, Any], total: int | None = None, **options: Any
) -> ImportResult:
    """Import a page of Google Business Profile, which may say how many reviews there are."""
    beside = {} if total is None else {"totalReviewCount": total}
    return shop.imported(google(shop.folder / "export.json", *rows, **beside), **options)


def moved(shop: Shop, folder: Path) -> Shop:
    """Import the reviews.json of a shop into a new one."""
    own = folder / "own.json"
    own.write_bytes((shop.folder / "reviews.json").read_bytes())
    target = Shop(folder / "other")
    target.folder.mkdir()
    target.imported(own)
    return target


# Members that an export does not have


def test_reply_written_by_hand_is_kept_when_export_has_none(shop: Shop, tmp_path: Path) -> None:
    """Google sees only the replies that were written there."""
    export = google(
        tmp_path / "a.json", {"author": "Ann", "text": "Fine"}, {"author": "Bo", "reply": "Thanks"}
    )
    shop.imported(export)
    reply = {"text": "By hand", "date": "2026-02-01"}
    shop.edit("Ann", owner_reply=reply)
    for _ in range(3):
        shop.imported(export)
    assert reply == shop.reviews["Ann"]["owner_reply"]


def test_reply_removed_at_the_platform_goes_and_is_named_before(shop: Shop) -> None:
    ann, bo = {"author": "Ann"}, {"author": "Bo", "reply": "Thanks"}
    new = {"author": "Cy", "at": "2026-03-01T10:00:00Z"}
    imported(shop, {**ann, "reply": "Sorry"}, bo)
    imported(shop, ann, bo, new)
    assert shop.reviews["Ann"]["owner_reply"] is None
    assert "  Ann, 2026-01-01, google" in shop.lines


def test_reply_is_kept_when_no_row_of_the_export_has_one(shop: Shop) -> None:
    """The export may have been made without replies."""
    imported(shop, {"author": "Ann", "reply": "Sorry"})
    imported(shop, {"author": "Ann"})
    assert "Sorry" == shop.reviews["Ann"]["owner_reply"]["text"]


def test_empty_cells_of_a_table_remove_nothing(shop: Shop) -> None:
    head = "id,date,rating,author,text,reply,url,avatar,source\n"
    full = "1,2026-01-01,5,Ann Lee,Fine work,Thanks,https://a.example/1,https://a.example/a,web\n"
    second_row = "2,2026-01-02,5,Bo Li,Good work,Hi,https://a.example/2,https://a.example/b,web\n"
    tabled(shop, head + full + second_row)
    before = shop.reviews
    empty = "1,2026-01-01,5,,,,,,web\n"
    result = tabled(shop, head + empty + second_row)
    assert before == shop.reviews
    (note,) = [note for note in result.notes if note.startswith("not in the table any more")]
    assert "author 1, author_avatar_url 1, text 1, source_url 1, owner_reply 1; to take" in note
    members = "author, author_avatar_url, text, source_url, owner_reply"
    assert f"  emptied: Ann Lee, 2026-01-01, web: {members}" in [*details(result)]


def emptied(result: ImportResult) -> list[str]:
    """Return the note on what a table has no more."""
    return [note for note in result.notes if note.startswith("not in the table any more")]


def test_column_that_is_left_out_is_noted(shop: Shop) -> None:
    """Its cells stay on the page, and the owner believes that they are gone."""
    export = (
        "id,date,rating,author,text,reply,house,source\n1,2026-01-01,5,Ann,Fine,Thanks,Dover,web\n"
    )
    all_columns = Settings(columns={"location": "house"}, name="Acme")
    assert [] == emptied(tabled(shop, export, settings=all_columns))
    fewer = Settings(columns={"reply": "", "text": ""})
    (note,) = emptied(tabled(shop, export, settings=fewer))
    assert note.endswith(
        "text 1, owner_reply 1, location 1; to take it off the page: reviewsctl reviews hide ID --reason WHY --text, "
        "reviewsctl reviews reply ID '', edit reviews.json"
    )
    assert [] == emptied(tabled(shop, export, settings=all_columns))


@pytest.mark.parametrize("action", ["hide", "hide-text"])
def test_emptied_cell_of_a_hidden_text_is_not_noted(shop: Shop, action: Action) -> None:
    export = "id,date,rating,author,text,source\n1,2026-01-01,5,Ann,Fine work,web\n"
    tabled(shop, export)
    correct(shop, "Ann", action)
    assert [] == emptied(tabled(shop, export.replace("Fine work", "")))


def test_members_that_no_table_had_are_no_emptied_ones(shop: Shop) -> None:
    """The owner has replied by himself, and corrected a text; the table never had more."""
    export = "id,date,rating,author,text,reply,source\n1,2026-01-01,5,Ann Lee,,,web\n2,2026-01-02,5,Bo,Fine,,web\n"
    tabled(shop, export)
    shop.edit("Ann Lee", owner_reply={"text": "Thanks", "date": "2026-01-05"})
    shop.edit("Bo", text="Corrected")
    assert [] == emptied(tabled(shop, export.replace("Fine", "")))


def test_verified_is_kept_when_the_export_does_not_say(shop: Shop, tmp_path: Path) -> None:
    export = google(tmp_path / "a.json", {"author": "Ann"})
    shop.imported(export)
    shop.edit("Ann", verified=True)
    shop.imported(export)
    assert shop.reviews["Ann"]["verified"] is True


def test_author_that_becomes_anonymous_loses_name_and_picture(shop: Shop) -> None:
    """The platform says so, so that nothing is kept of either."""
    picture = {"profilePhotoUrl": "https://a.example/ann"}
    imported(shop, {"author": "Ann", "reviewer": picture})
    hidden = {"author": "Ann", "edited": "2026-02-01T10:00:00Z", "reviewer": {"isAnonymous": True}}
    imported(shop, hidden)
    (review,) = shop.file["reviews"]
    assert ("A Google user", None) == (review["author"], review["author_avatar_url"])


# Reviews that an export does not have


def many(count: int) -> list[dict[str, Any]]:
    """Reviews of as many days from 2026-01-01 on."""
    first = datetime.date(2026, 1, 1)
    days = (first + datetime.timedelta(days=number) for number in range(count))
    return [{"author": f"A{day}", "at": f"{day}T10:00:00Z"} for day in days]


@pytest.mark.parametrize("columns", ["id,author", "reference,author"])
def test_review_that_is_no_longer_public_leaves(shop: Shop, columns: str) -> None:
    """Its platform says so, whether its rows have ids or not; the rows beside it stay."""
    rows = "{0},date,rating,text,status,source\n1,Ann,2026-01-01,5,Fine,{1},web\n2,Bo,2026-01-02,5,Good,approved,web\n"
    tabled(shop, rows.format(columns, "approved"))
    assert {"Ann", "Bo"} == shop.reviews.keys()
    tabled(shop, rows.format(columns, "spam"))
    assert {"Bo"} == shop.reviews.keys()
    assert '  Ann, 2026-01-01, web, 5/5, "Fine"' in shop.lines
    again = rows.format(columns, "approved") + "3,Cy,2026-03-01,5,Good,approved,web\n"
    result = tabled(shop, again)
    assert {"Ann", "Bo", "Cy"} == shop.reviews.keys()
    assert 0 == result.merge.count(Fate.RETURNED)


def test_many_that_are_no_longer_public_are_a_question(shop: Shop, tmp_path: Path) -> None:
    """A column may mean something else than it seems."""
    rows = [f"{number},A{number},2026-01-01,5,Fine" for number in range(20)]

    def export(name: str, statuses: dict[int, str]) -> Path:
        lines = (f"{row},{statuses.get(number, 'approved')},web" for number, row in enumerate(rows))
        return table(
            tmp_path / name, "id,author,date,rating,text,status,source\n" + "\n".join(lines) + "\n"
        )

    shop.imported(export("a.csv", {}), verified=False)
    with pytest.raises(SayMoreError, match="6 of 20"):
        shop.imported(export("b.csv", dict.fromkeys(range(6), "spam")), verified=False)
    assert 20 == len(shop.reviews)


@pytest.mark.parametrize("losses", [6, 7])
def test_loss_of_more_than_a_tenth_is_refused_without_a_terminal(shop: Shop, losses: int) -> None:
    rows = many(60)
    imported(shop, *rows)
    before = (shop.folder / "reviews.json").read_bytes()
    fewer = (rows[0], *rows[losses + 1 :])
    if losses > 6:
        with pytest.raises(SayMoreError, match="7 of 60"):
            imported(shop, *fewer, replace=True)
        assert before == (shop.folder / "reviews.json").read_bytes()
    imported(shop, *fewer, replace=True, yes=losses > 6)
    assert 60 - losses == len(shop.reviews)


def test_reviews_older_than_the_oldest_of_the_export_are_not_removed(shop: Shop) -> None:
    """The export of one month says nothing of the years before."""
    rows = many(60)
    imported(shop, *rows)
    imported(shop, *rows[40:45], *rows[47:], replace=True)
    assert 58 == len(shop.reviews)


def test_complete_export_removes_old_reviews_too(shop: Shop) -> None:
    """The total of the platform says that no other page is missing."""
    rows = many(60)
    imported(shop, *rows, total=60)
    imported(shop, *rows[3:], total=57, replace=True)
    assert 57 == len(shop.reviews)


# Exports that are older than the last one

OLD = {"author": "Ann", "stars": "ONE", "text": "Bad"}
EDITED = {"edited": "2026-02-01T10:00:00Z", "reply": "Sorry", "replied": "2026-02-02T10:00:00Z"}
NEW = {**OLD, "stars": "THREE", "text": "Better", **EDITED}


@pytest.mark.parametrize("yes", [False, True])
def test_older_row_never_takes_back_an_edit_or_a_reply(shop: Shop, yes: bool) -> None:
    imported(shop, NEW)
    before = shop.reviews
    imported(shop, OLD, yes=yes)
    assert before == shop.reviews


def test_row_whose_reply_alone_is_older_keeps_the_newer_reply(shop: Shop) -> None:
    row, new = {"author": "Ann", "text": "Bad"}, {"author": "Bo", "at": "2026-04-01T10:00:00Z"}
    first = {**row, "reply": "First", "replied": "2026-02-01T10:00:00Z"}
    second = {**row, "reply": "Second", "replied": "2026-02-02T10:00:00Z"}
    imported(shop, second)
    imported(shop, first, new)
    assert "Second" == shop.reviews["Ann"]["owner_reply"]["text"]


def test_older_export_with_something_to_change_is_a_question(shop: Shop, tmp_path: Path) -> None:
    """A table has no times of edits, so that only its newest review says how old it is, be it by a day."""
    head = "id,date,rating,author,text,source\n9,2025-01-01,5,Cy Do,Good,web\n"
    old = table(tmp_path / "old.csv", f"{head}1,2026-01-01,1,Ann Lee,Bad work,web\n")
    new = f"{head}1,2026-01-01,3,Ann Lee,Better work,web\n2,2026-01-02,5,Bo Li,Good,web\n"
    tabled(shop, new)
    before = (shop.folder / "reviews.json").read_bytes()
    with pytest.raises(SayMoreError, match="older than the last import"):
        shop.imported(old, verified=False)
    assert before == (shop.folder / "reviews.json").read_bytes()
    shop.answer = False
    with pytest.raises(ImportRefusedError):
        shop.imported(old, verified=False)
    shop.imported(old, verified=False, yes=True)
    assert 1 == shop.reviews["Ann Lee"]["rating"]


def test_age_of_an_export_is_that_of_its_reviews_without_their_replies(shop: Shop) -> None:
    """The column with the dates of replies may be left out of the next import."""
    head = "id,date,rating,author,reply,{},source\n"
    row = "1,2026-01-01,5,Ann Lee,{},2026-03-01,web\n"
    dated = head.format("Reply date") + row.format("Thanks")
    tabled(shop, dated)
    undated = head.format("Extra") + row.format("Thanks a lot")
    tabled(shop, undated)
    assert "Thanks a lot" == shop.reviews["Ann Lee"]["owner_reply"]["text"]


def test_export_of_earlier_years_is_no_question(shop: Shop) -> None:
    """It has no review that is there, so it is no older version of anything."""
    head = "id,date,rating,author,source\n"
    for number, year in enumerate((2025, 2023, 2024)):
        rows = f"{head}{number},{year}-06-01,5,Ann {year},web\n"
        tabled(shop, rows)
    assert 3 == len(shop.reviews)
    with pytest.raises(SayMoreError, match="older than"):
        tabled(shop, f"{head}2,2024-06-01,5,Ann Lee,web\n")


def test_date_in_the_future_does_not_make_later_exports_old(shop: Shop, tmp_path: Path) -> None:
    """The clock of the platform may be ahead, and each later import would be a question."""
    wrong = {"author": "Bo", "at": "2026-06-03T10:00:00Z"}
    ann = {"author": "Ann"}
    imported(shop, ann, wrong)
    later = google(tmp_path / "b.json", {**ann, "edited": "2026-06-02T10:00:00Z", "stars": "ONE"})
    shop.imported(later)
    assert 1 == shop.reviews["Ann"]["rating"]


# Corrections by hand


def test_overwritten_edit_by_hand_is_listed_before(shop: Shop, tmp_path: Path) -> None:
    export = google(
        tmp_path / "a.json", {"author": "Ann", "text": "Sam was rude"}, {"author": "Bo"}
    )
    shop.imported(export)
    shop.edit("Ann", text="S. was rude")
    shop.imported(export)
    at = shop.lines.index("overwritten, though edited by hand since the last import: 1 review")
    assert "  Ann, 2026-01-01, google: text" == shop.lines[at + 1]
    shop.imported(export)
    assert not [line for line in shop.lines if line.startswith("overwritten")]


def test_edit_on_the_platform_is_not_called_an_edit_by_hand(shop: Shop) -> None:
    imported(shop, OLD)
    imported(shop, NEW)
    assert not [line for line in shop.lines if line.startswith("overwritten")]


def test_review_removed_by_hand_is_listed_when_it_comes_back(shop: Shop, tmp_path: Path) -> None:
    export = google(tmp_path / "a.json", {"author": "Ann"}, {"author": "Bo"})
    shop.imported(export)
    content = shop.file
    content["reviews"].pop(0)
    (shop.folder / "reviews.json").write_text(json.dumps(content))
    shop.imported(export)
    assert "back, though removed by hand since the last import: 1 review" in shop.lines


# Times of reviews


def test_new_and_changed_reviews_are_stamped(shop: Shop) -> None:
    ann, bo = {"author": "Ann"}, {"author": "Bo", "at": "2026-01-02T10:00:00Z"}
    imported(shop, ann)
    changed = {**ann, "stars": "ONE", "edited": "2026-02-02T10:00:00Z"}
    imported(shop, changed, bo)
    imported(shop, changed, bo)
    first, second = "2026-06-02T12:00:00Z", "2026-06-03T12:00:00Z"
    assert [(first, second), (second, None)] == [
        (review["added_at"], review.get("changed_at")) for review in shop.file["reviews"]
    ]


def test_review_without_stamps_gets_none_until_it_changes(shop: Shop, tmp_path: Path) -> None:
    """Else every entry of the feeds would look new."""
    export = google(tmp_path / "a.json", {"author": "Ann"}, {"author": "Bo"})
    shop.imported(export)
    for author in ("Ann", "Bo"):
        shop.edit(author, added_at=None)
    imported(shop, {"author": "Ann", "stars": "ONE"}, {"author": "Bo"})
    assert [(None, "2026-06-03T12:00:00Z"), (None, None)] == [
        (review["added_at"], review.get("changed_at")) for review in shop.file["reviews"]
    ]


def test_own_export_keeps_its_stamps_in_a_new_file(shop: Shop, tmp_path: Path) -> None:
    """A move to another machine makes nothing new."""
    imported(shop, {"author": "Ann"})
    assert shop.reviews == moved(shop, tmp_path).reviews


@pytest.mark.parametrize("stamp", ["2099-01-01T00:00:00Z", None])
def test_impossible_stamps_are_replaced(shop: Shop, tmp_path: Path, stamp: object) -> None:
    imported(shop, {"author": "Ann"})
    shop.edit("Ann", added_at=stamp, changed_at=stamp)
    (review,) = moved(shop, tmp_path).file["reviews"]
    assert ("2026-06-02T12:00:00Z", None) == (review["added_at"], review.get("changed_at"))


def test_older_own_export_takes_nothing_back(shop: Shop, tmp_path: Path) -> None:
    imported(shop, OLD)
    own = tmp_path / "own.json"
    own.write_bytes((shop.folder / "reviews.json").read_bytes())
    imported(shop, NEW)
    before = shop.reviews
    shop.imported(own, yes=True)
    assert before == shop.reviews


# What nasty newcomers tried


def test_reply_without_a_date_does_not_replace_a_date_that_is_known(shop: Shop) -> None:
    """A missing date of a reply is made up for new reviews only."""
    head = "id,date,rating,author,text,source,reply,reply date\n"
    head += "2,2026-02-01,5,Bo Li,Fine work,web,,\n"
    row = "1,2026-01-01,5,Ann Lee,Fine work,web,Thank you,"
    tabled(shop, f"{head}{row}2026-01-09\n")
    tabled(shop, f"{head}{row}\n")
    reply = {"text": "Thank you", "date": "2026-01-09"}
    assert reply == shop.reviews["Ann Lee"]["owner_reply"]
    row = row.replace("Thank you", "Many thanks")
    tabled(shop, f"{head}{row}\n")
    assert "Many thanks" == shop.reviews["Ann Lee"]["owner_reply"]["text"]


def test_option_on_verification_does_not_overwrite_edit_by_hand(shop: Shop, tmp_path: Path) -> None:
    """A table that says nothing of verification changes nothing of what the owner knows."""
    rows = "id,date,rating,author,source\n1,2026-01-01,5,Ann,web\n2,2026-01-01,5,Bo,web\n"
    export = table(tmp_path / "a.csv", rows)
    shop.imported(export, verified=False)
    shop.edit("Ann", verified=True)
    shop.imported(export, verified=False)
    assert [True, False] == [review["verified"] for review in shop.file["reviews"]]
    shop.imported(export, verified=True)
    assert [True, True] == [review["verified"] for review in shop.file["reviews"]]


def test_day_of_the_business_does_not_make_an_export_old(shop: Shop, tmp_path: Path) -> None:
    """In Auckland it is tomorrow; without a log the days in the file are all there is."""
    export = google(tmp_path / "a.json", {"author": "Ann", "at": "2026-05-01T18:00:00Z"})
    shop.imported(export, timezone=zoneinfo.ZoneInfo("Pacific/Auckland"))
    assert "2026-05-02" == shop.reviews["Ann"]["date"]
    (shop.folder / ".reviewsctl/imports.json").unlink()
    imported(shop, {"author": "Ann", "at": "2026-05-01T18:00:00Z", "text": "x"})
    assert "x" == shop.reviews["Ann"]["text"]


def test_time_zone_is_remembered(shop: Shop, tmp_path: Path) -> None:
    """A forgotten one would move the days of reviews that are written in the evening."""
    late = {"author": "Ann", "at": "2026-05-01T23:30:00Z"}
    export = google(tmp_path / "a.json", late)
    vienna = zoneinfo.ZoneInfo("Europe/Vienna")
    shop.imported(export, timezone=vienna)
    again = shop.imported(export)
    shown = list(shop.lines)
    shop.imported(google(tmp_path / "b.json", late, {**late, "author": "Bo"}))

    assert 1 == again.merge.count(Fate.UNCHANGED)
    assert "days: those of Europe/Vienna, as before (--set timezone)" in shown
    assert {"2026-05-02"} == {review["date"] for review in shop.file["reviews"]}
    shop.imported(export, timezone=datetime.UTC)
    shop.imported(export)

    assert "2026-05-01" == shop.reviews["Ann"]["date"]


def test_ids_that_are_numbers_of_rows_are_a_question(shop: Shop) -> None:
    """With a new row on top each review would become another one, and keep its reply."""
    people = [(f"Person {letter}", day) for day, letter in enumerate("KJIHGFEDCB", start=10)]

    def rows(people: list[tuple[str, int]]) -> str:
        lines = (
            f"{number},2026-01-{day},5,{name},Text by {name} on it,web"
            for number, (name, day) in enumerate(reversed(people))
        )
        return "\n".join(["id,date,rating,author,text,source", *lines])

    tabled(shop, rows(people))
    before = shop.reviews
    with pytest.raises(SayMoreError, match="another author, day and text"):
        tabled(shop, rows([*people, ("Person A", 30)]))
    assert before == shop.reviews


def test_short_names_are_noted_when_new_ones_are_full(shop: Shop) -> None:
    ann, bo = {"author": "Ann Lee"}, {"author": "Bo Li", "at": "2026-03-01T10:00:00Z"}
    imported(shop, ann)
    shop.edit("Ann Lee", author="Ann L.")
    result = imported(shop, ann, bo)
    (note,) = [note for note in result.notes if "--set names=short" in note]
    assert note.startswith("new names are in full, beside 1 that stay short; to shorten them")
    assert note in result.merge.corrected, "a sync tells it too"


def test_import_of_the_owners_own_table_counts_as_edits_by_hand(shop: Shop, tmp_path: Path) -> None:
    """``export --csv``, a spreadsheet, ``import``: no platform has said so."""
    export = google(
        tmp_path / "a.json", {"author": "Ann", "text": "Bad"}, {"author": "Bo", "reply": "Hi"}
    )
    shop.imported(export)
    own = shop.file
    own["reviews"][0] |= {"text": "Good", "owner_reply": {"text": "By hand", "date": "2026-05-01"}}
    (tmp_path / "own.json").write_text(json.dumps(own))
    shop.imported(tmp_path / "own.json")
    assert "Good" == shop.reviews["Ann"]["text"]
    shop.imported(export)
    assert "  Ann, 2026-01-01, google: text" in shop.lines
    assert ("Bad", "By hand") == (
        shop.reviews["Ann"]["text"],
        shop.reviews["Ann"]["owner_reply"]["text"],
    )


def test_older_excerpt_takes_no_edit_back(shop: Shop, tmp_path: Path) -> None:
    """The Places API gives an edited review a new date, and five of them have no common age."""
    place = json.loads((SAMPLES / "places.json").read_text())
    old = json.loads(json.dumps(place))
    place["reviews"][0] |= {"rating": 1, "publishTime": "2026-05-01T10:00:00Z"}
    for name, content in (("new", place), ("old", old)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    shop.imported(tmp_path / "new.json", name=None)
    before = shop.reviews
    shop.imported(tmp_path / "old.json")
    assert before == shop.reviews


def test_review_unpublished_by_the_platform_goes_at_any_age(shop: Shop, tmp_path: Path) -> None:
    """The export has it, so that it does not begin after it."""
    head = "id,date,rating,author,source,status\n"
    rows = "2,2026-02-01,5,Bo,web,published\n3,2026-03-01,5,Cy,web,published\n"
    old = "1,2026-01-01,5,Ann,web,{}\n"
    tabled(shop, head + old.format("published") + rows)
    withheld = table(tmp_path / "b.csv", head + old.format("deleted") + rows)
    shop.imported(withheld, verified=False, replace=True)
    assert {"Bo", "Cy"} == shop.reviews.keys()


# What newcomers lost


def test_reviews_without_an_id_that_differ_in_stars_are_two(shop: Shop) -> None:
    rows = "date,rating,author,text,source\n2026-01-01,5,,,web\n2026-01-01,1,,,web\n"
    rows += "2026-01-02,2,Jane,Good,web\n2026-01-02,5,Jane,Good,web\n"
    tabled(shop, rows)
    assert [1, 2, 5, 5] == sorted(review["rating"] for review in shop.file["reviews"])


def test_removed_reviews_are_listed_for_ninety_days(shop: Shop) -> None:
    """Mirrors take them out too (corrections.md C15)."""
    rows = [
        {"author": str(number), "at": f"2026-01-{number + 10}T10:00:00Z"} for number in range(8)
    ]
    imported(shop, *rows)
    first = shop.reviews["3"]["id"]
    assert "removed" not in shop.file
    imported(shop, *rows[:3], *rows[4:], replace=True)
    removed_at = shop.now.isoformat().replace("+00:00", "Z")
    assert [{"id": first, "at": removed_at}] == shop.file["removed"]
    assert "removed" == list(shop.file)[-1]
    second = shop.reviews["4"]["id"]
    shop.now += datetime.timedelta(days=90)
    imported(shop, *rows[:3], *rows[5:], replace=True, yes=True)
    assert [second] == [review["id"] for review in shop.file["removed"]]


def test_copy_of_another_tool_is_one_review_and_fills_gaps(shop: Shop, tmp_path: Path) -> None:
    """Takeout and Outscraper give one review two ids."""
    row = {"author": "Ann", "at": "2026-01-01T10:00:00Z", "text": "Fine"}
    imported(shop, row)
    before = shop.reviews["Ann"]
    export = outscraper(tmp_path / "b.json", "Acme", "ChIJ1", "Ann")
    content = json.loads(export.read_bytes())
    content[0] |= {
        "review_id": "ChdDSUhN",
        "owner_answer": "Thanks",
        "owner_answer_timestamp_datetime_utc": "01/22/2026 10:00:00",
    }
    export.write_text(json.dumps(content))
    for expected in (1, 0):
        result = shop.imported(export, yes=True)
        assert (0, expected) == (result.merge.count(Fate.NEW), result.merge.count(Fate.CHANGED))
        assert 1 == result.merge.count(Fate.COPY)
    (after,) = shop.file["reviews"]
    assert ("Thanks", before["id"]) == (after["owner_reply"]["text"], after["id"])
    assert before["location"] == after["location"]
    again = imported(shop, row)
    assert 0 == again.merge.count(Fate.CHANGED)


def test_copies_of_authors_of_one_name_and_day_stay_one_each(shop: Shop, tmp_path: Path) -> None:
    """Of "A Google user" those after the tenth were added again."""
    users = [f"A Google user {number}" for number in range(14)]
    pages = [google(tmp_path / "a.json", *({"author": user, "text": user} for user in users))]
    content = pages[0].read_text()
    for number in range(14):
        content = content.replace(f'"displayName": "{users[number]}"', '"displayName": "A user"')
    pages[0].write_text(content)
    pages.append(tmp_path / "b.json")
    pages[1].write_text(content.replace("/reviews/A", "/reviews/B"))
    shop.imported(pages[0])
    again = shop.imported(pages[1], yes=True).merge
    assert (0, 14) == (again.count(Fate.NEW), again.count(Fate.COPY))


@pytest.mark.parametrize("members", [{"text": ""}, {"text": "Other words"}, {"place": "23"}])
def test_reviews_that_differ_stay_two(shop: Shop, tmp_path: Path, members: dict[str, str]) -> None:
    """Without words, with other words, and of another location as the same tool names it."""
    row = {"author": "Ann", "at": "2026-01-01T10:00:00Z", "text": "Fine"}
    first = {**row, "text": members.get("text", "Fine")} if not members.get("text") else row
    imported(shop, first)
    later = {**row, **members, "author": "Ann"}
    page = google(tmp_path / "b.json", later)
    content = json.loads(page.read_bytes())
    content["reviews"][0]["name"] += "-another"
    page.write_text(json.dumps(content))
    result = shop.imported(page, yes=True)
    assert (1, 0) == (result.merge.count(Fate.NEW), result.merge.count(Fate.COPY))
