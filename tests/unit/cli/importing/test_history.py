"""The last versions of reviews.json are kept, within limits, and can be put back."""

import datetime
import gzip
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.files.folders import opened
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.history import MAX_BYTES, keeping, versions
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.reviews_file import EXAMPLES, commit
from reviewsctl.importing.undo import listing, undo
from reviewsd.publish.sources import fingerprint
from tests.support.shop import NOW, Shop, google, outscraper

DAY = datetime.timedelta(days=1)


def replace(
    folder: Path, content: bytes, now: datetime.datetime, max_bytes: int = MAX_BYTES
) -> None:
    """Replace reviews.json, and keep both versions."""
    with opened(folder) as data, data.draft("reviews.json") as new:
        new.file.write(content)
        with keeping(data, "reviews.json", new, None, now) as versions_:
            versions_.put_old()
            new.put(0o644)
            versions_.put_new(max_bytes)


def kept(folder: Path) -> list[bytes]:
    """The versions that are kept, the newest first."""
    with opened(folder) as data, data.folder(".reviewsctl") as own, own.folder("history") as here:
        return [
            gzip.decompress((folder / ".reviewsctl/history" / version.file).read_bytes())
            for version in versions(here)
        ]


def test_ten_versions_are_kept_in_order_and_private(tmp_path: Path) -> None:
    for number in range(12):
        replace(tmp_path, b"%d" % number, NOW + number * DAY)
    files = list((tmp_path / ".reviewsctl/history").iterdir())
    assert [b"%d" % number for number in range(11, 1, -1)] == kept(tmp_path)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in files}


def test_version_edited_by_hand_is_kept_before_it_is_replaced(tmp_path: Path) -> None:
    replace(tmp_path, b"1", NOW)
    (tmp_path / "reviews.json").write_text("by hand")
    replace(tmp_path, b"2", NOW + DAY)
    assert [b"2", b"by hand", b"1"] == kept(tmp_path)


def test_older_version_that_was_put_back_is_kept_again_as_the_newest(tmp_path: Path) -> None:
    """An archive was restored, for example: else undo would pass over it."""
    replace(tmp_path, b"1", NOW)
    replace(tmp_path, b"2", NOW + DAY)
    (tmp_path / "reviews.json").write_text("1")
    replace(tmp_path, b"3", NOW + 2 * DAY)
    assert [b"3", b"1", b"2", b"1"] == kept(tmp_path)


def test_clock_set_back_does_not_change_the_order(tmp_path: Path) -> None:
    for number in range(3):
        replace(tmp_path, b"%d" % number, NOW - number * DAY)
    assert [b"2", b"1", b"0"] == kept(tmp_path)


def test_oldest_versions_go_when_all_are_too_large(tmp_path: Path) -> None:
    """The newest stays whatever its size."""
    contents = [os.urandom(1_000) for _ in range(4)]
    for number, content in enumerate(contents):
        replace(tmp_path, content, NOW + number * DAY, 2_500)
    assert contents[:1:-1] == kept(tmp_path)
    large = os.urandom(5_000)
    replace(tmp_path, large, NOW + 9 * DAY, 2_500)
    assert [large] == kept(tmp_path)


def test_daemon_does_not_see_what_is_kept(shop: Shop, tmp_path: Path) -> None:
    """Each import would publish twice."""
    export = google(tmp_path / "a.json", {"author": "Ann"})
    shop.imported(export)
    before = fingerprint(shop.folder)
    shop.imported(export)
    assert (shop.folder / ".reviewsctl/imports.json").exists()
    assert before == fingerprint(shop.folder)


def changes(shop: Shop) -> list[str]:
    """Return the changes that made the versions that an undo lists."""
    document, _ = listing(shop.folder / "reviews.json")
    assert isinstance(document["versions"], list)
    return [version["change"] for version in document["versions"]]


def test_first_import_keeps_nothing_and_has_nothing_to_undo(shop: Shop, tmp_path: Path) -> None:
    result = shop.imported(google(tmp_path / "a.json", {"author": "Ann"}))
    assert result.merge.backup is None
    assert [] == changes(shop)
    with pytest.raises(ImportRefusedError, match="versions: 0"):
        undo(shop.folder / "reviews.json", 1, NOW)


ANN, BO, CY = (
    {"author": author, "at": f"2026-01-0{day}T10:00:00Z", "text": "Fine"}
    for day, author in enumerate(("Ann", "Bo", "Cy"), start=1)
)


@pytest.fixture
def three(shop: Shop, tmp_path: Path) -> Shop:
    """A shop after three imports."""
    shop.imported(google(tmp_path / "1.json", ANN))
    shop.imported(google(tmp_path / "2.json", ANN, BO))
    worse = {**ANN, "text": "Bad", "edited": "2026-03-01T10:00:00Z"}
    shop.imported(google(tmp_path / "3.json", worse, BO, CY))
    return shop


def test_undo_puts_the_version_before_the_last_import_back(three: Shop) -> None:
    result = undo(three.folder / "reviews.json", 1, NOW + 9 * DAY)

    assert ["Ann", "Bo"] == list(three.reviews)
    assert (2, 0, 1, 1) == (result.total, result.back, result.changed, result.gone)
    # a copy that is kept by changed_since learns of what was taken back
    assert ["2026-06-10T12:00:00Z", None] == [
        review.get("changed_at") for review in three.reviews.values()
    ]
    assert [("2026-06-10T12:00:00Z", None)] == [
        (entry["at"], entry.get("successor")) for entry in three.file["removed"]
    ]
    undo(three.folder / "reviews.json", 1, NOW + 10 * DAY)
    assert "removed" not in three.file


def test_undo_of_an_undo_brings_all_back(three: Shop) -> None:
    before = three.reviews
    for number in range(2):
        undo(three.folder / "reviews.json", 1, NOW + (9 + number) * DAY)
    stamps = {"changed_at": "2026-06-11T12:00:00Z"}
    assert {**before, "Ann": before["Ann"] | stamps, "Cy": before["Cy"] | stamps} == three.reviews
    assert 2 == len(changes(three))


def test_undo_says_which_change_made_the_version(three: Shop) -> None:
    """Both printed the same counts, and an owner did not know whether his reply was there."""
    target = three.folder / "reviews.json"
    said = [
        [line for line in undo(target, 1, NOW).lines(target, 1, "undo") if line.startswith("it ")]
        for _ in range(2)
    ]
    first, second = "the import of 2.json", "the import of 3.json"
    assert [
        [f"it is as after {first}", f"it was as after {second}"],
        [f"it is as after {second}", f"it was as after {first}"],
    ] == [[line.partition(" (")[0] for line in lines] for lines in said]


def test_versions_are_named_by_the_imports_that_made_them(three: Shop, tmp_path: Path) -> None:
    """An import that changed nothing made none."""
    third = "the import of 3.json (google), 2026-06-04T12:00:00Z: 1 new, 1 changed, 0 removed"
    second = "the import of 2.json (google), 2026-06-03T12:00:00Z: 1 new, 0 changed, 0 removed"
    first = (
        "the import of 1.json (google), 2026-06-02T12:00:00Z: 1 new, 0 changed, 0 removed"
        "; your business: name"
    )
    target = three.folder / "reviews.json"

    three.imported(tmp_path / "3.json", yes=True)
    assert [second, first] == changes(three)
    assert f"now  after {third}" == listing(target)[1][0]
    undo(target, 1, NOW + 9 * DAY)
    assert [third, first] == changes(three)
    three.edit("Ann", text="By hand")
    assert [second, third, first] == changes(three)
    undo(target, 1, NOW + 10 * DAY)
    assert ["an edit by hand", third, first] == changes(three)


def test_edit_by_hand_before_an_import_is_a_change_of_its_own(three: Shop, tmp_path: Path) -> None:
    three.edit("Bo", text="By hand")
    three.imported(google(tmp_path / "4.json", ANN, BO, {**CY, "author": "Di"}), yes=True)
    edit, third, second, _ = changes(three)
    assert "an edit by hand" == edit
    assert third.startswith("the import of 3.json")
    assert second.startswith("the import of 2.json")


def test_version_that_is_there_again_is_named_by_its_own_change(three: Shop) -> None:
    """It was named as the change after that version, as after a restore."""
    target = three.folder / "reviews.json"
    second = sorted((three.folder / ".reviewsctl/history").glob("reviews-*"))[-2]
    target.write_bytes(gzip.decompress(second.read_bytes()))
    document, _ = listing(target)
    assert ["the import of 2.json", "the import of 3.json", "the import of 1.json"] == [
        str(change).partition(" (")[0] for change in (document["change"], *changes(three))
    ]
    undo(target, 2, NOW + 9 * DAY)
    assert ["Ann"] == list(three.reviews)


def test_import_that_changes_business_alone_is_named_as_change(shop: Shop, tmp_path: Path) -> None:
    target = shop.folder / "reviews.json"
    business = {"name": "Acme", "locations": [{"id": "dover", "name": "Acme Dover"}]}
    target.write_text(json.dumps({"business": business, "reviews": []}))
    export = outscraper(tmp_path / "1.json", "Acme Dover", "ChIJ1", "Ann")
    shop.imported(export)
    target.write_text(json.dumps({**shop.file, "business": business}))
    result = shop.imported(export)
    assert 1 == result.merge.count(Fate.UNCHANGED)

    assert "an edit by hand" == changes(shop)[0]
    assert undo(target, 1, NOW + 9 * DAY).change_before == (
        "the import of 1.json (google), 2026-06-03T12:00:00Z: "
        "0 new, 0 changed, 0 removed; your business: locations"
    )
    assert business == shop.file["business"]


def test_undo_takes_the_import_log_back_too(three: Shop, tmp_path: Path) -> None:
    """Else the right export would be older than the one that was taken back."""
    undo(three.folder / "reviews.json", 1, NOW + 9 * DAY)
    three.imported(google(tmp_path / "4.json", {**ANN, "text": "Good"}, BO))
    assert "Good" == three.reviews["Ann"]["text"]


@pytest.mark.parametrize("content", [None, "", '{"business": {', "[]"])
def test_undo_restores_last_version_of_destroyed_file(three: Shop, content: str | None) -> None:
    """``reviewsctl export --jsonl > reviews.json``."""
    path = three.folder / "reviews.json"
    before = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_text(content)
    result = undo(path, 1, NOW + 9 * DAY)
    assert before == path.read_bytes()
    assert (3, 3, 0, 0) == (result.total, result.back, result.changed, result.gone)


def test_undo_after_an_edit_by_hand_takes_the_edit_back(three: Shop) -> None:
    path = three.folder / "reviews.json"
    three.edit("Bo", text="By hand")
    undo(path, 1, NOW + 9 * DAY)
    assert ["Bad", "Fine", "Fine"] == [review["text"] for review in three.reviews.values()]
    undo(path, 1, NOW + 10 * DAY)
    assert "By hand" == three.reviews["Bo"]["text"]


def test_damaged_version_is_refused_and_nothing_is_written(three: Shop) -> None:
    before = (three.folder / "reviews.json").read_bytes()
    last = sorted((three.folder / ".reviewsctl/history").glob("reviews-*"))[-2]
    last.write_bytes(last.read_bytes()[:-20])
    with pytest.raises(ImportRefusedError):
        undo(three.folder / "reviews.json", 1, NOW + 9 * DAY)
    last.write_bytes(gzip.compress(b'{"reviews": ['))
    with pytest.raises(ImportRefusedError, match="invalid JSON"):
        undo(three.folder / "reviews.json", 1, NOW + 9 * DAY)
    assert before == (three.folder / "reviews.json").read_bytes()


def test_undo_without_valid_corrections_is_refused(three: Shop) -> None:
    """It would count as shown what is hidden."""
    before = (three.folder / "reviews.json").read_bytes()
    (three.folder / "corrections.json").write_text("{")
    with pytest.raises(ImportRefusedError):
        undo(three.folder / "reviews.json", 1, NOW + 9 * DAY)
    assert before == (three.folder / "reviews.json").read_bytes()


def test_damaged_log_is_reported_and_replaced(three: Shop, tmp_path: Path) -> None:
    log = three.folder / ".reviewsctl/imports.json"
    export = google(tmp_path / "4.json", ANN, BO, {**CY, "stars": "ONE"})
    for content in ("{", '{"version": 2}', '{"reviews": {"a": 1}}', '{"places": [{"newest": -1}]}'):
        log.write_text(content)
        result = three.imported(export, yes=True)
        assert [note for note in result.notes if "imports.json cannot be read" in note]
        assert 1 == json.loads(log.read_text())["version"]


@pytest.mark.parametrize("before", [None, "old"])
def test_file_of_another_program_is_not_overwritten(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "reviews.json"
    if before is not None:
        path.write_text(before)
    with opened(tmp_path) as folder, folder.draft(path.name) as new:
        new.file.write(b"new")
        path.write_text("theirs")
        with pytest.raises(ImportRefusedError):
            commit(new)

    assert {"reviews.json": "theirs"} == {
        file.name: file.read_text() for file in tmp_path.iterdir()
    }


def test_undo_of_the_first_import_brings_no_example_back(shop: Shop, tmp_path: Path) -> None:
    """They were on the public page again, as reviews of customers."""
    target, names = shop.folder / "reviews.json", sorted(EXAMPLES)
    example = {"author": "Example A.", "rating": 5, "date": "2025-01-01", "source": "example"}
    reviews = [example | {"id": name, "verified": False} for name in names]
    target.write_text(json.dumps({"business": {"name": "Acme"}, "reviews": reviews}))
    shop.imported(google(tmp_path / "a.json", {"author": "Jo"}))
    result = undo(target, 1, shop.now)
    assert (0, 0, 1, []) == (result.total, result.back, result.gone, shop.file["reviews"])
    undo(target, 1, shop.now)
    assert ["Jo"] == list(shop.reviews)


# What an undo says is what happens, after any imports and undos before it

Texts = dict[str, str]
"""Texts of reviews, by their authors."""

AUTHORS: Final = ("Ann", "Bo", "Cy")
STEPS: Final = st.one_of(
    st.dictionaries(st.sampled_from(AUTHORS), st.sampled_from(["Fine", "Bad"]), min_size=1),
    st.integers(1, 4),
)


def texts(shop: Shop) -> Texts:
    return {author: review["text"] for author, review in shop.reviews.items()}


def imported(shop: Shop, number: int, rows: Texts) -> str:
    """Import an export, and return its name."""
    export = google(
        shop.folder / f"{number}.json",
        *(
            {
                "author": author,
                "at": f"2026-01-0{AUTHORS.index(author) + 1}T10:00:00Z",
                "text": text,
                "edited": f"2026-03-{number + 1:02}T10:00:00Z",
            }
            for author, text in rows.items()
        ),
    )
    shop.imported(export, yes=True)
    return f"the import of {number}.json"


def name(change: object) -> str:
    """Return the name of a change, without its time and counts."""
    return str(change).partition(" (")[0]


@given(steps=st.lists(STEPS, min_size=2, max_size=8))
def test_undo_says_which_version_is_there_in_any_order_of_steps(steps: list[Texts | int]) -> None:
    """Its counts are those of the files, and the version that it names is the one that the change made."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        target = shop.folder / "reviews.json"
        there = imported(shop, 0, {"Ann": "Fine"})
        contents = {there: texts(shop)}
        for number, step in enumerate(steps, start=1):
            before, change_before = texts(shop), there
            if isinstance(step, dict):
                change = imported(shop, number, step)
                if texts(shop) != before:
                    there, contents[change] = change, texts(shop)
                continue
            (document, _) = listing(target)
            versions = document["versions"]
            assert isinstance(versions, list)
            assert there == name(document["change"])
            assert sorted([there, *(name(version["change"]) for version in versions)]) == sorted(
                contents
            )
            if step > len(versions):
                continue
            result = undo(target, step, shop.now)
            there, after = name(result.change), texts(shop)
            assert there == name(versions[step - 1]["change"])
            assert contents[there] == after
            assert (name(result.change_before), result.total) == (change_before, len(after))
            assert (result.back, result.changed, result.gone) == (
                len(after.keys() - before.keys()),
                sum(before[author] != after[author] for author in after.keys() & before.keys()),
                len(before.keys() - after.keys()),
            )
