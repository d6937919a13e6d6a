"""The decisions of a sync inside an import: what is spared, what stops it, what leaves without an export."""

import dataclasses
import datetime
import json
from collections.abc import Collection
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.merge import IsGone
from reviewsctl.importing.options import ImportOptions, Prompts, SyncedRead
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.pipeline import remove, run
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.staging import Place
from reviewsctl.importing.undo import versions
from reviewsd.api.texts import merge_key

NOW = datetime.datetime(2026, 11, 26, tzinfo=datetime.UTC)
PROMPTS = Prompts(progress=lambda _: None, show=lambda _: None, choose=None)
SHOP = Place("shop", "")


def accept(_result: MergeResult, _places: Collection[Place]) -> None:
    """Let everything go."""


def options(folder: Path, is_gone: IsGone = lambda _: True, *, numbers: str = "") -> ImportOptions:
    export = folder / "shop.csv"
    rows = "".join(f"{number},5,2026-01-0{number},Ann {number}\n" for number in numbers)
    export.write_text(f"id,rating,date,author\n{rows}")
    return ImportOptions(
        exports=[export],
        target=folder / "reviews.json",
        format_name="csv",
        settings=Settings(verified=False, source="shop", name="Harbor Plumbing"),
        replace=True,
        yes=False,
        dry_run=False,
        now=NOW,
        synced=SyncedRead(name="shop", is_current=True, is_gone=is_gone, check=accept),
    )


def authors(folder: Path) -> list[str]:
    return [
        review["author"] for review in json.loads((folder / "reviews.json").read_text())["reviews"]
    ]


def synced(folder: Path, numbers: str, is_gone: IsGone = lambda _: True) -> ImportResult:
    return run(options(folder, is_gone, numbers=numbers), PROMPTS)


def test_review_that_is_not_gone_yet_is_spared(tmp_path: Path) -> None:
    synced(tmp_path, "123")
    review = json.loads((tmp_path / "reviews.json").read_text())["reviews"][1]
    keys: list[str] = []

    def is_gone(key: str) -> bool:
        keys.append(key)
        return key != merge_key(review["id"])

    result = synced(tmp_path, "3", is_gone)

    assert ["Ann 2", "Ann 3"] == authors(tmp_path)
    assert 2 == len(keys)
    assert (1, 1) == (result.merge.count(Fate.SPARED), result.merge.count(Fate.REMOVED))


def test_review_older_than_all_of_a_complete_read_is_removed(tmp_path: Path) -> None:
    """An export may begin later than the reviews of the file; a complete read has all."""
    synced(tmp_path, "123")
    synced(tmp_path, "23")
    assert ["Ann 2", "Ann 3"] == authors(tmp_path)


def test_undo_names_the_source_of_a_sync(tmp_path: Path) -> None:
    synced(tmp_path, "1")
    later = NOW + datetime.timedelta(hours=1)
    run(dataclasses.replace(options(tmp_path, numbers="12"), now=later), PROMPTS)
    (version,) = versions(tmp_path / "reviews.json")
    assert version.change.startswith("takes back the sync of shop (shop), 2026-11-26")


def test_refused_row_removes_nothing(tmp_path: Path) -> None:
    """It may be of any review that is missing."""
    synced(tmp_path, "12")
    changed = options(tmp_path, numbers="1")
    changed.exports[0].write_text("id,rating,date,author\n1,5,2026-01-01,Ann 1\n2,,2026-01-02,Bo\n")
    run(changed, PROMPTS)
    assert ["Ann 1", "Ann 2"] == authors(tmp_path)


def test_refused_outcome_writes_nothing(tmp_path: Path) -> None:
    synced(tmp_path, "12")
    outcomes: list[tuple[int, list[Place]]] = []

    def refuse(result: MergeResult, places: Collection[Place]) -> None:
        outcomes.append((result.count(Fate.REMOVED), list(places)))
        raise ImportRefusedError("too many")

    changed = options(tmp_path, numbers="1")
    refusing = SyncedRead(name="shop", is_current=True, is_gone=lambda _: True, check=refuse)
    before = (tmp_path / "reviews.json").read_bytes()
    with pytest.raises(ImportRefusedError, match="too many"):
        run(dataclasses.replace(changed, synced=refusing), PROMPTS)

    assert [(1, [SHOP])] == outcomes
    assert before == (tmp_path / "reviews.json").read_bytes()


def test_removed_location_leaves_others_alone(tmp_path: Path) -> None:
    synced(tmp_path, "12")
    file = tmp_path / "reviews.json"
    data = json.loads(file.read_text())
    data["reviews"].append({**data["reviews"][0], "id": "x", "source": "google", "author": "Bo"})
    file.write_text(json.dumps(data))

    result = remove(options(tmp_path), PROMPTS, [SHOP])

    assert ["Bo"] == authors(tmp_path)
    assert 2 == result.count(Fate.REMOVED)


def test_removed_reviews_return_with_their_ids(tmp_path: Path) -> None:
    synced(tmp_path, "12")
    before = [
        review["id"] for review in json.loads((tmp_path / "reviews.json").read_text())["reviews"]
    ]
    remove(options(tmp_path), PROMPTS, [SHOP])
    synced(tmp_path, "12")
    after = [
        review["id"] for review in json.loads((tmp_path / "reviews.json").read_text())["reviews"]
    ]
    assert before == after
