"""An export of strangers takes little memory, time and disk, or is refused; never a traceback."""

import gzip
import io
import json
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewsctl.importing import bounds
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.readers import csv_file
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.readers.spreadsheet import converted
from reviewsctl.importing.readers.spreadsheet import rows as sheet_rows
from reviewsctl.importing.recognize import source_of
from tests.support import limits
from tests.support.bombs import Pieces, archive, spreadsheet
from tests.support.commands import CLI
from tests.support.shop import part

pytestmark = pytest.mark.processes

MIB = 1 << 20
DAY = b"<row><c><v>45000</v></c><c><v>5</v></c></row>"


# Archives


@pytest.mark.parametrize("name", ["x.json", "x.csv", "xl/workbook.xml"])
def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path, name: str) -> None:
    archive(tmp_path / "x.zip", {name: [(b"0", 9 * MIB)]})
    with pytest.raises(ImportRefusedError, match=r"unpacks to 9,437,184 bytes"):
        list(map(source_of, parts_of(tmp_path / "x.zip")))


def test_a_large_archive_may_unpack_to_a_multiple_of_its_size(tmp_path: Path) -> None:
    member = os.urandom(MIB // 2) + bytes(19 * MIB)
    archive(tmp_path / "x.zip", {"x.json": [member]})
    assert ["x.json"] == [file.name for file in parts_of(tmp_path / "x.zip")]


def test_an_archive_in_an_archive_has_no_room_of_its_own(tmp_path: Path) -> None:
    """Each of a thousand spreadsheets in a zip may otherwise write megabytes to the disk."""
    inner = io.BytesIO()
    spreadsheet(inner, strings=[(b"<si><t>a</t></si>", 400_000)])
    archive(tmp_path / "x.zip", {"x.xlsx": [inner.getvalue()]})
    (outer,) = parts_of(tmp_path / "x.zip")
    with pytest.raises(ImportRefusedError, match="far more than it has"):
        source_of(outer)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_compression_is_refused(tmp_path: Path, method: int) -> None:
    """LZMA allocates what the file says, bzip2 reaches a ratio of a million."""
    archive(tmp_path / "x.zip", {"x.json": [b"{}"]}, method)
    with pytest.raises(ImportRefusedError, match="uses a compression method"):
        parts_of(tmp_path / "x.zip")


@pytest.mark.parametrize("name", ["x.json", "xl/workbook.xml"])
def test_an_encrypted_archive_is_refused(tmp_path: Path, name: str) -> None:
    archive(tmp_path / "x.zip", {name: [b"{}"]})
    content = bytearray((tmp_path / "x.zip").read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flags in the directory
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(ImportRefusedError, match="is encrypted"):
        list(map(source_of, parts_of(tmp_path / "x.zip")))


def test_member_without_a_name_is_ignored(tmp_path: Path) -> None:
    archive(tmp_path / "x.zip", {"": [b"x"], "x.json": [b"{}"]})
    assert ["x.json"] == [file.name for file in parts_of(tmp_path / "x.zip")]


# JSON


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"reviews":[' * 100_000,
        b'{"reviews":[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b'}\n{"a":1}\n',
    ],
)
def test_deep_json_is_refused(text: bytes) -> None:
    with pytest.raises(ImportRefusedError, match="nested too deeply"):
        source_of(part(text))


# Tables


@pytest.mark.parametrize(
    "row",
    [
        b"," * 3 * MIB,
        b"x" * 3 * MIB,
        b'"' + b"x" * 3 * MIB,
        b'"a\n",' * MIB,
        b'"' + b"\n" * 3 * MIB,
    ],
)
def test_a_row_of_a_table_has_an_end(row: bytes) -> None:
    file = part(b"date,rating\n" + row)
    with pytest.raises(ImportRefusedError, match=r"row 2: more than 2,097,152 characters|limit"):
        list(csv_file.rows(file, csv_file.dialect_of(file)))


def test_a_table_has_few_columns() -> None:
    file = part(b"date,rating" + b",x" * 999 + b"\n1,2\n")
    with pytest.raises(ImportRefusedError, match="more than 1,000 columns"):
        list(csv_file.rows(file, csv_file.dialect_of(file)))


def test_guesses_look_at_no_more_rows_than_memory_has_room_for() -> None:
    source = source_of(part(b"date,rating,text\n" + b"1,2,%b\n" % (b"x" * MIB) * 20))
    assert 16 == len(source.head.sample)


# Spreadsheets


def sheet(**parts: object) -> Callable[[], bytes]:
    def make() -> bytes:
        file = io.BytesIO()
        spreadsheet(file, **parts)  # type: ignore[arg-type]
        return file.getvalue()

    return make


FAR = "its cells take more than 384 MB of memory"
CELL = b'<c t="s"><v>0</v></c>'
STRING, BROKEN = "more than 2,097,152 characters", "cannot be read"
DOCTYPE = b'<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
ENTITY = b'<row><c t="str"><v>&b;</v></c></row>'
CORNER = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'


def string(size: int) -> Pieces:
    """A shared string."""
    return [b"<si><t>", (b"x", size), b"</t></si>"]


SHEETS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a long string": (sheet(strings=string(3 * MIB), rows=[b"<row>%b</row>" % CELL]), STRING),
    "cells of a row": (
        sheet(rows=[b"<row>", (b"<c><v>1</v></c>", 1001), b"</row>"]),
        "more than 1,000 columns",
    ),
    "a far column": (sheet(rows=[b'<row><c r="ALM1"><v>1</v></c></row>']), "1,000 columns"),
    "a far row": (sheet(rows=[DAY, DAY.replace(b"<row>", b'<row r="4000000000">')]), FAR),
    "a far corner": (sheet(rows=[DAY, CORNER]), FAR),
    "entities": (sheet(prologue=[DOCTYPE], rows=[ENTITY]), "unrecognized entity"),
    "a string repeated": (
        sheet(strings=string(MIB), rows=[(b"<row>%b</row>" % CELL, 129)]),
        "repeat too much text",
    ),
    "a string repeated in a row": (
        sheet(strings=string(MIB), rows=[b"<row>", (CELL, 3), b"</row>"]),
        "a row or string of more than 2,097,152",
    ),
    "no string": (sheet(rows=[b'<row><c t="s"><v>-1</v></c></row>']), BROKEN),
}


@pytest.mark.parametrize("case", SHEETS)
def test_workbook_that_excel_would_not_write_is_refused(case: str) -> None:
    make, reason = SHEETS[case]
    with pytest.raises(ImportRefusedError, match=reason):
        list(sheet_rows(converted(part(make(), 64 * MIB))))


def test_number_that_is_not_finite_is_no_value() -> None:
    content = sheet(rows=[b"<row><c><v>1e999</v></c><c><v>5</v></c></row>"])()
    assert [(2, {"date": None, "rating": 5.0})] == list(sheet_rows(converted(part(content))))


# The whole command


ROW = b'{"starRating":"FIVE","createTime":"2025-01-01T00:00:00Z","x":['


def strings(folder: Path) -> Path:
    spreadsheet(folder / "x.xlsx", strings=[(b"<si><t>%b</t></si>" % (b"x" * 1000), 64 * 1024)])
    return folder / "x.xlsx"


def far_corner(folder: Path) -> Path:
    """The library would allocate 17 billion cells."""
    cell = b'<row r="1048576"><c r="ALL1048576"><v>1</v></c></row>'
    spreadsheet(folder / "x.xlsx", rows=[DAY, cell])
    return folder / "x.xlsx"


def rows_that_are_none(folder: Path) -> Path:
    archive(folder / "x.zip", {"x.json": [b"[%b1]}" % ROW, (b",{}", 2 * MIB), b"]"]})
    return folder / "x.zip"


def gzipped(folder: Path) -> Path:
    with gzip.open(folder / "x.json.gz", "wb") as file:
        for _ in range(64 * 16):
            file.write(ROW + b'"' + b"x" * (MIB // 16) + b'"]}\n')
    return folder / "x.json.gz"


def many_large_heads(folder: Path) -> Path:
    """Each file of a folder is within its bounds."""
    row = ROW + '"\N{SLIGHTLY SMILING FACE}'.encode() + b"x" * (bounds.MAX_RECORD - 1000) + b'"]}'
    for place in range(60):
        page = folder / "export" / f"location-{place}" / "reviews.json"
        page.parent.mkdir(parents=True)
        page.write_bytes(b'{"reviews":[%b]}' % row)
    return folder / "export"


def many_elements(folder: Path) -> Path:
    """A place for each of them is twenty times what they are in the file."""
    (folder / "x.json").write_bytes(b"[%b{}]" % (b"{}," * (8 * MIB)))
    return folder / "x.json"


EXPORTS: dict[Callable[[Path], Path], str] = {
    strings: "unpacks to",
    far_corner: "its cells take more than 384 MB of memory",
    rows_that_are_none: "not one in ten of its first 100,001 rows can be imported",
    gzipped: "which is far more than it has: that is no export",
    many_large_heads: "takes more memory than an import may have",
    many_elements: "takes more memory than an import may have",
}


@pytest.mark.parametrize("make", EXPORTS)
def test_an_import_ends_within_its_bounds(
    environment: dict[str, str], tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    """512 MB of memory, 30 s, nothing left on the disk, and a sentence instead of a traceback."""
    data, temporary = tmp_path / "data", tmp_path / "tmp"
    data.mkdir()
    temporary.mkdir()
    command = [sys.executable, "-m", "reviewsctl.main", "import", str(make(tmp_path)), "--json"]
    used = limits.measured(
        [*command, "--data", str(data), "--set", "location=all", "--set", "name=A"],
        {**environment, "PYTHONPATH": str(CLI), "TMPDIR": str(temporary)},
    )

    assert EXPORTS[make] in json.loads(used.said)["error"]["detail"]
    assert 1 == used.status
    assert used.peak < 512 * 1024
    assert used.seconds < 30
    assert [] == [*data.iterdir(), *temporary.iterdir()]


def test_memory_of_an_import_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command in a process of others, as in tests, left them without memory for a thread."""
    monkeypatch.setattr(bounds, "MEMORY", 1 << 31)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.raises(MemoryError), bounds.bounded_memory(tmp_path / "reviews.json"):
        bytearray(2 * bounds.MEMORY)
    assert before == resource.getrlimit(resource.RLIMIT_DATA)


def test_own_file_may_be_larger_than_export(environment: dict[str, str], tmp_path: Path) -> None:
    """It is in memory while it is written again, which the limit for exports does not count."""
    (tmp_path / "reviews.json").write_bytes(
        b'{"business": {"name": "A"}, "reviews": [], "more": "%b"}' % (b"x" * (160 * MIB))
    )
    (tmp_path / "x.csv").write_text("rating,date,author\n5,2025-03-14,Ann Doe\n")
    command = [sys.executable, "-m", "reviewsctl.main", "import", str(tmp_path / "x.csv")]
    run = subprocess.run(
        [*command, "--source", "web", "--data", str(tmp_path), "--json"],
        env={**environment, "PYTHONPATH": str(CLI)},
        capture_output=True,
        check=False,
    )
    size = (tmp_path / "reviews.json").stat().st_size
    (tmp_path / "reviews.json").unlink()

    assert (0, 1) == (run.returncode, json.loads(run.stdout)["new"])
    assert size > 160 * MIB
