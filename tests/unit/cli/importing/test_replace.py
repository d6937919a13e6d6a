"""``--replace`` removes a review only where the export has all that its platform has."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.report import lines
from tests.support.shop import SAMPLES, Shop, google, table

A, B, C, D = ({"author": author} for author in "ABCD")
UNRATED = {"author": "B", "stars": "STAR_RATING_UNSPECIFIED"}


def facebook(folder: Path) -> Path:
    """A page of Facebook's that names the next one."""
    rating = {"created_time": "2025-01-01T00:00:00+0000", "rating": 5, "reviewer": {"id": "1"}}
    pages = {"data": [rating], "paging": {"next": "https://graph.facebook.com/x"}}
    return table(folder / "a.json", json.dumps(pages))


def batch(folder: Path) -> Path:
    """A page of several locations that names the next one."""
    content = json.loads((SAMPLES / "google_batch.json").read_text())
    return table(folder / "a.json", json.dumps(content | {"nextPageToken": "x"}))


OTHER_PAGES = "--replace would remove the reviews of pages that are not here"
LEFT_OUT = "--replace would remove the reviews that this export leaves out"
HINTS = {OTHER_PAGES: "other pages too", LEFT_OUT: "this is no archive: "}
"""Notes without ``--replace``."""

PARTIAL: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "one fewer than the total": (
        OTHER_PAGES,
        lambda folder: google(folder / "a.json", A, totalReviewCount=2),
    ),
    "a token": (OTHER_PAGES, lambda folder: google(folder / "a.json", A, B, nextPageToken="x")),
    "Facebook": (OTHER_PAGES, facebook),
    "a batch": (OTHER_PAGES, batch),
    "places": (LEFT_OUT, lambda _: SAMPLES / "places.json"),
    "places of old": (LEFT_OUT, lambda _: SAMPLES / "places_legacy.json"),
    "yelp": (LEFT_OUT, lambda _: SAMPLES / "yelp.json"),
    "empty": (
        "--replace would leave none",
        lambda folder: table(folder / "a.json", '{"business": {"name": "x"}, "reviews": []}'),
    ),
}


@pytest.mark.parametrize("name", PARTIAL)
def test_export_that_is_a_part_replaces_nothing(shop: Shop, tmp_path: Path, name: str) -> None:
    reason, made = PARTIAL[name]
    export = made(tmp_path)
    shop.imported(google(tmp_path / "before.json", C))
    before = (shop.folder / "reviews.json").read_bytes()
    with pytest.raises(ImportRefusedError, match=reason) as caught:
        shop.imported(export, replace=True)
    assert 1 == caught.value.exit_code
    assert before == (shop.folder / "reviews.json").read_bytes()
    notes = shop.imported(export, dry_run=True).notes
    assert [hint for hint in HINTS.values() if any(hint in note for note in notes)] == [
        hint for known, hint in HINTS.items() if known == reason
    ]


def test_replace_deletes_at_its_source_and_location_only(shop: Shop, tmp_path: Path) -> None:
    """An export says nothing of other platforms, nor of the other locations of a business."""
    shop.imported(google(tmp_path / "a.json", A, {**B, "text": "Old text"}))
    content = shop.file
    neighbors: dict[str, dict[str, Any]] = {
        "old": {"location": None},
        "elsewhere": {"location": "9"},
        "yelp": {"source": "yelp"},
    }
    for name, members in neighbors.items():
        content["reviews"].append({**shop.reviews["B"], **members, "id": name, "author": name})
    (shop.folder / "reviews.json").write_text(json.dumps(content))
    export = google(tmp_path / "b.json", A)
    for dry_run, is_done in ((True, "would be"), (False, "to be")):
        result = shop.imported(export, replace=True, dry_run=dry_run)
        heading = f"{is_done} removed, as they are not public, or not in the export: 1 review"
        listed = shop.lines[shop.lines.index(heading) :][1]
        assert '  B, 2026-01-01, google, 5/5, "Old text"' == listed
    report_lines = lines(shop.options, result, [], undo="")
    assert "imported 0 new, 0 changed, 1 unchanged, 1 removed, 0 refused" in report_lines[0]
    assert {"A", "old", "elsewhere", "yelp"} == shop.reviews.keys()


def test_pages_that_have_the_total_together_replace(shop: Shop, tmp_path: Path) -> None:
    """Whether their rows are imported or skipped."""
    shop.imported(google(tmp_path / "a.json", A, C))
    first = google(tmp_path / "1.json", A, nextPageToken="x", totalReviewCount=2)
    shop.imported(first, google(tmp_path / "2.json", UNRATED), replace=True)
    assert {"A"} == shop.reviews.keys()


def test_export_without_locations_replaces_only_such_reviews(shop: Shop, tmp_path: Path) -> None:
    shop.imported(google(tmp_path / "a.json", A, B))
    row = "id,date,rating,author,text,source\nx,2025-01-01,5,Ann Lee,Fine work,google\n"
    shop.imported(table(tmp_path / "one.csv", row), replace=True)
    assert {"A", "B", "Ann Lee"} == shop.reviews.keys()


def test_review_of_a_row_that_is_not_taken_is_not_replaced(shop: Shop, tmp_path: Path) -> None:
    """The platform's id in a row says of which review it is, whether it is refused or skipped."""
    shop.imported(google(tmp_path / "a.json", A, B, C, D))
    refused = google(tmp_path / "b.json", A, UNRATED, {**C, "at": "the day"})
    first = shop.imported(refused, replace=True)
    assert {"A", "B", "C"} == shop.reviews.keys()
    assert (1, 1) == (first.merge.count(Fate.REMOVED), first.rows.refused)
    note = "2 reviews not removed, since rows that were refused or skipped"
    assert [note for name in first.notes if name.startswith(note)]
    shop.imported(google(tmp_path / "c.json", A, UNRATED), replace=True)
    assert {"A", "B"} == shop.reviews.keys()
