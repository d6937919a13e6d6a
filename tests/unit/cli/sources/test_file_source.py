"""Sources of the type ``file``, and what holds for the import of every source."""

import datetime
import json
import os
from pathlib import Path

import pytest

from reviewsctl.files.folders import opened
from reviewsctl.importing.outcomes import Fate
from reviewsctl.sources import report
from reviewsctl.sources.state import BusyError, StateUnreadableError, locked
from tests.support.sources import Business, table

SHOP = "  - {name: shop, type: file, path: in/*.csv, gone: 1, import: {verified: true, source: shop, name: Harbor}}\n"
SEVEN_HOURS = datetime.timedelta(hours=7)
ALL = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def business(tmp_path: Path) -> Business:
    return Business(tmp_path, SHOP)


def put(business: Business, content: str, name: str = "a.csv", *, age: float = 3600) -> None:
    file = business.folder / "in" / name
    file.write_text(content)
    file_text = business.now.timestamp() - age
    os.utime(file, (file_text, file_text))


def test_deleted_row_of_a_place_that_got_another_name_is_gone(business: Business) -> None:
    place = {"id": "dover", "name": "Dover", "aliases": ["Harbor House"]}
    shops = [place, {"id": "rye", "name": "Rye"}]
    business.reviews_file.write_text(
        json.dumps({"business": {"name": "Harbor", "locations": shops}, "reviews": []})
    )
    business.configure(SHOP.replace("name: Harbor", "map: {location: house}"))

    def rows(numbers: str, house: str) -> str:
        header, *lines = table(numbers).splitlines()
        return "\n".join([f"{header},house", *(f"{line},{house}" for line in lines), ""])

    put(business, rows("ab", "Dover"))
    business.sync()
    put(business, rows("a", "Harbor House"))
    (outcome,) = business.sync()
    assert outcome.merge is not None
    assert 1 == outcome.merge.count(Fate.REMOVED)
    assert ["Ann a"] == business.authors


def test_settings_that_have_changed_apply_to_what_is_there(business: Business) -> None:
    """An owner who asked for short names was told "unchanged", and the full ones stayed public."""
    put(business, table("ab"))
    business.sync()
    business.configure(SHOP.replace("source: shop", "source: shop, names: short"))
    (second,) = business.sync()
    (third,) = business.sync()
    assert (False, True) == (second.is_unchanged, third.is_unchanged)
    assert ["Ann A.", "Ann B."] == business.authors


def test_newest_file_counts(business: Business) -> None:
    put(business, table("ab"), "b.csv", age=100)
    put(business, table("z"), "a.csv", age=200)
    business.sync()
    assert ["Ann a", "Ann b"] == business.authors


@pytest.mark.parametrize("name", ["~$b.csv", ".~lock.b.csv", ".b.csv"])
def test_lock_file_of_a_spreadsheet_is_not_the_newest(business: Business, name: str) -> None:
    """Excel puts ``~$cards.xlsx`` beside a table that is open, so each sync failed."""
    put(business, table("ab"), "b.csv", age=200)
    put(business, "locked", name, age=100)
    assert "ok" == business.state().state
    assert ["Ann a", "Ann b"] == business.authors


def test_file_that_may_grow_is_waited_for(business: Business) -> None:
    """It was called a failure, which whoever had just saved a table took for an error of his."""
    put(business, table("ab"), age=59)
    (outcome,) = business.sync()
    assert ("new", 0, "") == (outcome.state.state, outcome.state.failures, outcome.state.detail)
    path = f"{business.folder}/in/*.csv"
    assert [
        f"shop  waiting: {path} was written less than a minute ago, and may grow; sync again in a minute"
    ] == [*report.lines(outcome, 0, 4, dry_run=False)]
    assert "waiting" in report.document(outcome)
    assert not outcome.is_notable
    assert not business.reviews_file.exists()
    business.now += datetime.timedelta(minutes=1)
    (read,) = business.sync(due=True)
    assert "ok" == read.state.state


def test_missing_file_is_a_failure_with_the_pattern(business: Business) -> None:
    state = business.state()
    assert ("failed", 1) == (state.state, state.failures)
    assert f"there is no file {business.folder}/in/*.csv" == state.detail


def test_only_due_sources_are_run(business: Business) -> None:
    put(business, table("ab"))
    assert 1 == len(business.sync(due=True))
    assert [] == business.sync(due=True)
    business.now += datetime.timedelta(hours=1)
    assert 1 == len(business.sync(due=True))


def test_disabled_source_is_run_only_by_name(business: Business) -> None:
    business.configure(SHOP.replace("gone: 1", "enabled: false"))
    put(business, table("ab"))
    assert [] == business.sync()
    assert 1 == len(business.sync(["shop"]))


@pytest.mark.parametrize(
    ("author", "reads", "remaining"),
    [
        ("2", ("abc", "ac"), "abc"),
        ("2", ("abc", "ac", "ac"), "ac"),
        ("2", ("abc", "ac", "abc", "ac"), "abc"),
        ("keep", ("abc", "ac", "ac"), "abc"),
        ("1", ("abc", "bc", "bc"), "abc"),
    ],
    ids=["missed once", "missed twice", "returned", "kept", "before the oldest"],
)
def test_review_goes_after_the_reads_without_it(
    business: Business, author: str, reads: tuple[str, ...], remaining: str
) -> None:
    """An export may begin later than the reviews; only a platform that was asked has all."""
    business.configure(SHOP.replace("gone: 1", f"gone: {author}"))
    for number, numbers in enumerate(reads):
        business.now += SEVEN_HOURS
        put(business, table(numbers) + "\n" * number)
        business.sync()
    assert [f"Ann {name}" for name in remaining] == business.authors


def test_missing_reviews_are_told_with_the_time_of_their_removal(business: Business) -> None:
    """Else "0 gone" reads as if the source had them."""
    business.configure(SHOP.replace("gone: 1", "gone: 3"))
    messages = []
    for number in range(5):
        put(business, table("abcd" if number == 0 else "ad") + "\n" * number)
        (outcome,) = business.sync()
        messages.append([*report.lines(outcome, 0, 4, dry_run=False)][1:])
        listed = [line.strip() for line in report.lines(outcome, 0, 4, dry_run=False, verbose=True)]
        missing = ["missing: Ann b, 2026-01-15, shop", "missing: Ann c, 2026-01-16, shop"]
        assert missing * (number in (1, 2)) == [
            line for line in listed if line.startswith("missing:")
        ]
        business.now += SEVEN_HOURS
    text = "      2 missing; removed if a read after 2030-01-0{} UTC misses them too"
    assert [[], [text.format("1 19:00")], [text.format("1 20:00")], [], []] == messages


def test_edited_reviews_of_a_table_without_ids_are_not_missing(business: Business) -> None:
    """They counted as lost, and stopped the source."""
    business.configure(SHOP.replace("gone: 1", "gone: 2"))
    for word in ("quick", "fast"):
        rows = (
            f"5,2026-01-0{day},Ann {day},Lovely work {day} and very {word} indeed\n"
            for day in range(1, 9)
        )
        put(business, f"rating,date,author,text\n{''.join(rows)}")
        (outcome,) = business.sync()
    assert ("ok", 0) == (outcome.state.state, len(outcome.state.missing)), outcome.state.detail
    assert outcome.merge is not None
    assert 8 == outcome.merge.count(Fate.CHANGED)


@pytest.mark.parametrize(
    ("gone", "before", "after", "detail"),
    [
        (1, ALL, ALL[:20], "6 of 26 reviews are missing, more than max_loss (10%)"),
        # a broken export must not count as the first of two reads
        (2, ALL, ALL[:20], "6 of 26 reviews are missing, more than max_loss (10%)"),
        (1, ALL[:17], "a" + ALL[5:17], "4 of 17 reviews are missing, more than max_loss (10%)"),
        (1, ALL[:17], "abc" + ALL[5:17], ""),
    ],
)
def test_loss_stops_the_source_until_it_is_accepted(
    business: Business, gone: int, before: str, after: str, detail: str
) -> None:
    business.configure(SHOP.replace("gone: 1", f"gone: {gone}"))
    put(business, table(before))
    business.sync()
    content = business.reviews_file.read_bytes()
    put(business, table(after) + "\n", age=60)
    state = business.state()
    assert ("stopped" if detail else "ok", detail) == (state.state, state.detail)
    if detail:
        assert "reviewsctl sync shop --accept-loss" in state.remedy
        assert content == business.reviews_file.read_bytes()
        assert "missing" not in business.states["shop"]
        business.sync(["shop"], accept_loss=True)
    assert len(after) == len(business.authors)


MAP = "map: {id: nr, rating: Score, date: Visited, author: by}, scale: 5"
GUESSED = '[{"id": 1, "rating": 5, "date": "2026-11-02", "author": "Ann a"}]'
ROWS = '[{"nr": 1, "Score": 5, "Visited": "2026-11-02", "by": "Ann a"}]'
MANY_ROWS = json.dumps(
    [{"nr": n, "Score": 5, "Visited": "2026-11-02", "by": f"Ann {n:x}"} for n in range(1, 13)]
)


@pytest.mark.parametrize(
    ("options", "full", "empty"),
    [
        (MAP, ROWS, "[]"),
        (MAP, f'{{"entries": {ROWS}}}', '{"entries": []}'),
        (f"{MAP}, from: json", ROWS, "[]"),
        (MAP, MANY_ROWS, "[]"),
        ("scale: 5", GUESSED, "[]"),
        ("scale: 5", f'{{"data": {GUESSED}, "total": 1}}', '{"data": [], "total": 0}'),
        (MAP, "nr,Score,Visited,by\n1,5,2026-11-02,Ann a\n", "nr,Score,Visited,by\n"),
    ],
    ids=["mapped", "named", "from", "many", "guessed", "usual", "header"],
)
def test_empty_list_stops_the_source_until_it_is_accepted(
    business: Business, options: str, full: str, empty: str
) -> None:
    """A list without rows has no columns, so a fault of ``map`` hid that only the loss had to be accepted."""
    business.configure(SHOP.replace("name: Harbor", f"name: Harbor, {options}"))
    put(business, full)
    business.sync()
    put(business, empty, age=60)
    state = business.state()
    count = len(business.authors)
    assert f"it has no reviews any more, and had {count}" == state.detail
    assert "stopped" == state.state
    assert "reviewsctl sync shop --accept-loss" in state.remedy
    assert "Ann a" in business.authors

    (accepted,) = business.sync(["shop"], accept_loss=True)
    assert "ok" == accepted.state.state
    assert [] == business.authors


@pytest.mark.parametrize(
    "content",
    [
        "<!DOCTYPE html><html><title>Log in</title>",
        '{"reviews": [{"rating": 5, "da',
        "",
        "\0\1\2",
        "{}",
        '{"message": "try later", "errors": []}',
    ],
    ids=["page", "cut", "empty", "binary", "no list", "message"],
)
def test_file_that_is_no_export_is_a_failure_that_changes_nothing(
    business: Business, content: str
) -> None:
    put(business, table("ab"))
    business.sync()
    put(business, content, age=60)
    state = business.state()
    assert "failed" == state.state
    assert state.detail
    assert ["Ann a", "Ann b"] == business.authors


def test_older_export_stops_the_source(business: Business) -> None:
    put(business, table("abcdefgh"))
    business.sync()
    put(business, table("abcdefg").replace("Ann a", "Ann old"), "b.csv", age=60)
    state = business.state()
    assert "stopped" == state.state
    assert "older than the last import" in state.detail
    assert (
        f"once by hand: reviewsctl import {business.folder}/in/b.csv --source shop --set name=Harbor "
        f"--set verified=yes --data {business.reviews_file.parent} --yes" in state.remedy
    )


def test_newest_row_of_an_own_table_may_be_removed(business: Business) -> None:
    """It is one file that the owner edits, and no older export."""
    business.configure(SHOP.replace("in/*.csv", "in/a.csv"))
    put(business, table("abcd"))
    business.sync()
    put(business, table("abc") + "\n", age=60)
    assert "ok" == business.state().state
    assert ["Ann a", "Ann b", "Ann c"] == business.authors


def test_dry_run_writes_nothing(business: Business) -> None:
    put(business, table("ab"))
    (outcome,) = business.sync(dry_run=True)
    assert outcome.merge is not None
    assert 2 == outcome.merge.count(Fate.NEW)
    assert not business.reviews_file.exists()
    assert not (business.folder / "data" / ".reviewsctl" / "sources.json").exists()


def test_second_sync_does_not_run(business: Business) -> None:
    with (
        opened(business.folder / "data") as folder,
        locked(folder),
        pytest.raises(BusyError, match=r"not synced: a sync is running$"),
    ):
        business.sync()


def test_damaged_state_is_refused(business: Business) -> None:
    """Without it, what is missing since when and what stopped would be forgotten silently."""
    put(business, table("ab"))
    business.sync()
    (business.folder / "data" / ".reviewsctl" / "sources.json").write_text('{"version": 1')
    with pytest.raises(StateUnreadableError):
        business.sync()


def test_state_of_a_removed_source_is_dropped(business: Business) -> None:
    put(business, table("ab"))
    business.sync()
    business.configure(SHOP.replace("shop, type", "other, type"))
    business.sync()
    assert ["other"] == list(business.states)
    business.configure("  []\n")
    business.sync()
    assert {} == business.states


def test_one_failure_does_not_keep_others_from_running(business: Business) -> None:
    business.configure("  - {name: none, type: file, path: nowhere/*.csv}\n" + SHOP)
    put(business, table("ab"))
    assert ["failed", "ok"] == [outcome.state.state for outcome in business.sync()]
