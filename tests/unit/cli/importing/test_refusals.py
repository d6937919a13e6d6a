"""Messages repeat names and cells of strangers: on one line, and unable to steer a terminal."""

import gzip
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.settings import Settings
from tests.support.sheets import ROOT, book, links
from tests.support.shop import Shop

EVIL = "a\x1b]0;owned\x07\x1b[2J\x9b2J\u202e\nError: forged"


def table(*rows: list[str]) -> bytes:
    """A CSV."""
    cells = ((cell.replace('"', '""') for cell in row) for row in rows)
    return "\r\n".join(",".join(f'"{cell}"' for cell in row) for row in cells).encode()


def archive(members: Mapping[str, bytes]) -> bytes:
    """A zip."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, member in members.items():
            file.writestr(name, member)
    return content.getvalue()


def takeout(place: str) -> bytes:
    """A page of the Business Profile API's."""
    review = {
        "name": f"accounts/1/locations/{place}/reviews/x",
        "reviewer": {"displayName": "A"},
        "starRating": "FIVE",
        "createTime": "2025-01-01T00:00:00Z",
    }
    return json.dumps({"reviews": [review]}).encode()


def damaged() -> bytes:
    """A zip with a byte changed within a member."""
    content = archive({f"{EVIL}.csv": table(["date", "rating"], ["2025-01-01", "5"])})
    return content.replace(b"2025-01", b"2026-01", 1)


def sheet() -> bytes:
    """A spreadsheet with a workbook that names a missing sheet."""
    return archive(
        {
            "_rels/.rels": ROOT.encode(),
            "xl/workbook.xml": book(["R"]).encode(),
            "xl/_rels/workbook.xml.rels": links(1).replace("sheet1", "\x85&#x202e;").encode(),
        }
    )


EXPORTS = {
    "a member": ("x.zip", archive({f"{EVIL}.json": b'{"a": 1}'})),
    "a member that is no table": ("x.zip", archive({f"{EVIL}.csv": b"x"})),
    "a member that is damaged": ("x.zip", damaged()),
    "a member that is no JSON": ("x.zip", archive({f"{EVIL}.json": b"[{"})),
    "a sheet": ("x.xlsx", sheet()),
    "members of JSON": ("x.json", json.dumps({EVIL: 1}).encode()),
    "gzip": ("x.gz", gzip.compress(EVIL.encode() + b"\n1")),
    "locations": ("x.zip", archive({f"{name}.json": takeout(f"{name}{EVIL}") for name in "ab"})),
}
TABLES = {
    "columns": [[EVIL, "b"], ["1", "2"]],
    "cells": [["date", "rating"], [EVIL, EVIL], ["2025-01-01", EVIL]],
    "a column of dates": [["rating", "date \x9b\n"], ["5", "1/2/2025\n"]],
    "a column that looks like text": [
        ["date", "rating", EVIL],
        ["2025-01-01", "5", f"a b c d {EVIL} f"],
    ],
    "ages": [["rating", f"date {EVIL}"], ["5", f"{EVIL} weeks ago"]],
    "a cell too many": [["date", "rating"], ["2025-01-01", "5", EVIL]],
    "ten points": [["date", "rating"], ["2025-01-01", "9"], ["2025-01-01", EVIL]],
}
CASES = EXPORTS | {case: ("x.csv", table(*rows)) for case, rows in TABLES.items()}


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
    name, content = CASES[case]
    export = tmp_path / name
    export.write_bytes(content)
    settings = Settings(verified=False, columns=mapped, location=location)
    with pytest.raises(ImportRefusedError) as caught:
        Shop(tmp_path).imported(export, settings=settings)
    lines = f"{caught.value.detail}\n{caught.value.remedy}".split("\n")

    assert all(line.isprintable() and not line.startswith("Error") for line in lines), lines
