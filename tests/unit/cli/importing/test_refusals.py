"""Messages repeat names and cells of strangers: on one line, and unable to steer a terminal."""

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.settings import Settings
from tests.support.sheets import spreadsheet
from tests.support.shop import Shop

EVIL = "a\x1b]0;owned\x07\x1b[2J\x9b2J\u202e\nError: forged"


def table(*rows: list[str]) -> bytes:
    """A CSV."""
    cells = ((cell.replace('"', '""') for cell in row) for row in rows)
    return "\r\n".join(",".join(f'"{cell}"' for cell in row) for row in cells).encode()


def archive(path: Path, members: dict[str, bytes]) -> Path:
    """A zip."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def takeout(place: str) -> bytes:
    """A page of the Business Profile API's."""
    review = {
        "name": f"accounts/1/locations/{place}/reviews/x",
        "reviewer": {"displayName": "A"},
        "starRating": "FIVE",
        "createTime": "2025-01-01T00:00:00Z",
    }
    return json.dumps({"reviews": [review]}).encode()


def damaged(path: Path) -> Path:
    """A zip with a byte changed within a member."""
    content = archive(path, {f"{EVIL}.csv": table(["date", "rating"], ["2025-01-01", "5"])})
    content.write_bytes(content.read_bytes().replace(b"2025-01", b"2026-01", 1))
    return content


def sheet(folder: Path) -> Path:
    """A spreadsheet with a workbook that names a missing sheet."""
    (folder / "x.csv").write_bytes(table(["date"], ["1"]))
    book = spreadsheet(folder / "x.csv", folder / "whole.xlsx")
    with zipfile.ZipFile(book) as workbook:
        members = {name: workbook.read(name) for name in workbook.namelist()}
    links = members["xl/_rels/workbook.xml.rels"]
    members["xl/_rels/workbook.xml.rels"] = links.replace(b"sheet1", "\x85&#x202e;".encode())
    return archive(folder / "x.xlsx", members)


CASES: dict[str, Callable[[Path], Path]] = {
    "a member": lambda folder: archive(folder / "x.zip", {f"{EVIL}.json": b'{"a": 1}'}),
    "a member that is no table": lambda folder: archive(folder / "x.zip", {f"{EVIL}.csv": b"x"}),
    "a member that is damaged": lambda folder: damaged(folder / "x.zip"),
    "a member that is no JSON": lambda folder: archive(folder / "x.zip", {f"{EVIL}.json": b"[{"}),
    "a sheet": sheet,
    "members of JSON": lambda folder: written(folder, "x.json", json.dumps({EVIL: 1}).encode()),
    "columns": lambda folder: written(folder, "x.csv", table([EVIL, "b"], ["1", "2"])),
    "cells": lambda folder: written(
        folder, "x.csv", table(["date", "rating"], [EVIL, EVIL], ["2025-01-01", EVIL])
    ),
    "a column of dates": lambda folder: written(
        folder, "x.csv", table(["rating", "date \x9b\n"], ["5", "1/2/2025\n"])
    ),
    "a column that looks like text": lambda folder: written(
        folder, "x.csv", table(["date", "rating", EVIL], ["2025-01-01", "5", f"a b c d {EVIL} f"])
    ),
    "ages": lambda folder: written(
        folder, "x.csv", table(["rating", f"date {EVIL}"], ["5", f"{EVIL} weeks ago"])
    ),
    "a cell too many": lambda folder: written(
        folder, "x.csv", table(["date", "rating"], ["2025-01-01", "5", EVIL])
    ),
    "ten points": lambda folder: written(
        folder, "x.csv", table(["date", "rating"], ["2025-01-01", "9"], ["2025-01-01", EVIL])
    ),
    "gzip": lambda folder: written(folder, "x.gz", gzip.compress(EVIL.encode() + b"\n1")),
    "locations": lambda folder: archive(
        folder / "x.zip", {f"{letter}.json": takeout(f"{letter}{EVIL}") for letter in "ab"}
    ),
}


def written(folder: Path, name: str, content: bytes) -> Path:
    """A file."""
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("case", "mapped", "location"),
    [
        *((case, {}, None) for case in CASES),
        ("columns", {"date": "nothing"}, None),
        ("ages", {"date": f"date {EVIL}"}, None),
        ("locations", {}, "nowhere"),
    ],
)
def test_a_refusal_is_made_of_printable_lines(
    tmp_path: Path, case: str, mapped: dict[str, str], location: str | None
) -> None:
    export = CASES[case](tmp_path)
    settings = Settings(verified=False, columns=mapped, location=location)
    with pytest.raises(ImportRefusedError) as caught:
        Shop(tmp_path).imported(export, settings=settings)
    lines = f"{caught.value.detail}\n{caught.value.remedy}".split("\n")

    assert all(line.isprintable() and not line.startswith("Error") for line in lines), lines
