"""Google Takeout in several parts: none of them alone says which reviews are gone."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.exports import part_name
from tests.support.shop import Shop, google

STEM = "takeout-20261121T070000Z"
PLACE = "Takeout/Google Business Profile/account-1/location-22"


def part(folder: Path, number: int, *rows: dict[str, Any], stem: str = STEM) -> Path:
    """A part with a page of reviews; without rows it has a photo and its description."""
    path = folder / f"{stem}-{number:03}.zip"
    page = google(folder / "page", *rows).read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        if rows:
            archive.writestr(f"{PLACE}/reviews-{number}.json", page)
        else:
            archive.writestr(f"{PLACE}/media-1.jpg", b"x")
            archive.writestr(f"{PLACE}/media-1.json", json.dumps({"mediaFormat": "PHOTO"}))
    return path


ANN, BO, CY = ({"author": author, "at": "2026-01-01T10:00:00Z"} for author in ("Ann", "Bo", "Cy"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("takeout-20261121T070000Z-001.zip", ("takeout-20261121T070000Z", 1)),
        ("takeout-20261121T070000Z-1-002.zip", ("takeout-20261121T070000Z-1", 2)),
        ("takeout-20261121T070000Z-001 (1).zip", ("takeout-20261121T070000Z", 1)),
        ("takeout-20261121T070000Z-012", ("takeout-20261121T070000Z", 12)),
        ("takeout.zip", None),
        ("reviews-001.zip", None),
    ],
)
def test_name_of_a_part_is_recognized(name: str, expected: tuple[str, int] | None) -> None:
    assert expected == part_name(Path("/x") / name)


def test_replace_by_one_part_asks_for_the_part_beside_it(shop: Shop, tmp_path: Path) -> None:
    one, two = part(tmp_path, 1, ANN, BO), part(tmp_path, 2, CY)
    shop.imported(one, two)
    for export, missing in ((one, 2), (two, 1)):
        with pytest.raises(ImportRefusedError, match=f"of this Takeout: {STEM}-00{missing}.zip"):
            shop.imported(export, replace=True, yes=True)
    shop.imported(one, two, replace=True)
    assert {"Ann", "Bo", "Cy"} == shop.reviews.keys()


def test_part_before_the_one_that_is_named_is_missing(shop: Shop, tmp_path: Path) -> None:
    """The numbers begin with 1, whatever else is on this machine."""
    with pytest.raises(ImportRefusedError, match=r"-001\.zip, .*-002\.zip"):
        shop.imported(part(tmp_path, 3, ANN), replace=True)


def test_only_part_of_another_takeout_replaces(shop: Shop, tmp_path: Path) -> None:
    shop.imported(part(tmp_path, 1, ANN, BO), part(tmp_path, 2, CY))
    new = {**BO, "edited": "2026-02-01T10:00:00Z"}
    later = part(tmp_path, 1, ANN, new, stem="takeout-20261221T070000Z")
    shop.imported(later, replace=True)
    assert {"Ann", "Bo"} == shop.reviews.keys()


def test_part_with_photos_alone_is_left_out(shop: Shop, tmp_path: Path) -> None:
    """All parts have to be named, and some have no reviews."""
    parts = (part(tmp_path, 1), part(tmp_path, 2, ANN), part(tmp_path, 3))
    shop.imported(*parts, replace=True)
    assert ["Ann"] == list(shop.reviews)


@pytest.mark.parametrize("numbers", [[1], [1, 2]])
def test_takeout_without_reviews_is_refused(shop: Shop, tmp_path: Path, numbers: list[int]) -> None:
    with pytest.raises(ImportRefusedError):
        shop.imported(*(part(tmp_path, number) for number in numbers))
    assert not (shop.folder / "reviews.json").exists()


def test_damaged_part_is_refused(shop: Shop, tmp_path: Path) -> None:
    one, two = part(tmp_path, 1, ANN), part(tmp_path, 2)
    two.write_bytes(two.read_bytes()[:-30])
    with pytest.raises(ImportRefusedError, match="cannot read"):
        shop.imported(one, two)
