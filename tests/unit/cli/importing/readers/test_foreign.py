"""Files that are not read are refused with what to do: not that they are damaged."""

import zipfile
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen

FILES = {
    "a.xls": b"<html xmlns:o='urn:x'><table><tr><td>5</td></tr></table>",
    "b.csv": b"<!DOCTYPE html>\n<html><head><title>Log in, please</title>",
    "c.xml": b'\xef\xbb\xbf<?xml version="1.0"?>\n<rss xmlns:wp="http://wordpress.org/export/1.2/">',
    "d.pdf": b"%PDF-1.7\n",
    "e.db": b"SQLite format 3\0, of tables",
}


def refusal(path: Path) -> ImportRefusedError:
    with pytest.raises(ImportRefusedError) as caught:
        chosen(parts_of(path), "auto")
    return caught.value


@pytest.mark.parametrize("name", FILES)
def test_document_is_to_be_saved_as_a_table(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    error = refusal(tmp_path / name)
    assert f"{name}: neither JSON, nor a spreadsheet" in error.detail
    assert "save it as CSV or XLSX" in error.remedy


@pytest.mark.parametrize("member", ["Index/Document.iwa", "xl/workbook.bin", "word/document.xml"])
def test_document_that_is_a_zip_is_to_be_saved_as_a_table(tmp_path: Path, member: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.numbers", "w") as archive:
        archive.writestr(member, "x")
    assert "as CSV or XLSX" in refusal(tmp_path / "a.numbers").remedy


def test_spreadsheet_beside_others_is_not_passed_over_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("date,rating\n2025-03-14,5\n")
    (tmp_path / "b.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    assert ["b.xls"] == chosen(parts_of(tmp_path), "auto").ignored
