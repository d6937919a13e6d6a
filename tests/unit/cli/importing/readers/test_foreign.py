"""Files that are not read say what they are, and what to do: not that they hold no reviews."""

import zipfile
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen

WXR = b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- generator="WordPress/6" -->\n<rss xmlns:wp="http://wordpress.org/export/1.2/">'
FILES: dict[str, tuple[bytes, str]] = {
    "a.xls": (b"\x09\x08\x10\x00" + bytes(600), "an Excel file from before 1993"),
    "b.xls": (b"<html xmlns:o='urn:x'><table><tr><td>5</td></tr></table>", "a web page (HTML)"),
    "c.csv": (b"<!DOCTYPE html>\n<html><head><title>Log in, please</title>", "a web page (HTML)"),
    "d.xml": (WXR, "an export of WordPress (WXR)"),
    "e.xml": (b"<?xml version='1.0'?><reviews><review/></reviews>", "an XML document"),
    "f.xls": (b"<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'>",
              "an XML table of Excel 2003"),
    "g.pdf": (b"%PDF-1.7\n", "a PDF"),
    "h.rtf": (b"{\\rtf1\\ansi 5 stars}", "a text document (RTF)"),
    "i.db": (b"SQLite format 3\0", "a database (SQLite)"),
}  # fmt: skip
ARCHIVES = {
    "a.odt": ("META-INF/manifest.xml", "an OpenDocument file that is no spreadsheet"),
    "b.numbers": ("Index/Document.iwa", "a document of Numbers or Pages"),
    "c.xlsb": ("xl/workbook.bin", "a binary Excel workbook (.xlsb)"),
    "d.docx": ("word/document.xml", "a Word document (.docx)"),
}


def refusal(path: Path) -> ImportRefusedError:
    with pytest.raises(ImportRefusedError) as caught:
        chosen(parts_of(path), "auto")
    return caught.value


@pytest.mark.parametrize("name", FILES)
def test_file_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    content, kind = FILES[name]
    (tmp_path / name).write_bytes(content)
    error = refusal(tmp_path / name)

    assert f"{name} is {kind}" in error.detail
    assert "CSV or XLSX" in error.remedy


@pytest.mark.parametrize("name", ARCHIVES)
def test_document_that_is_a_zip_is_named_with_what_to_do(tmp_path: Path, name: str) -> None:
    member, kind = ARCHIVES[name]
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr(member, "x")
    error = refusal(tmp_path / name)

    assert f"{name} is {kind}" == error.detail
    assert "save it as CSV or XLSX" in error.remedy


@pytest.mark.parametrize("name", ["x.fods", "x.xlsb", "x.html"])
def test_archive_and_folder_with_nothing_else_say_so(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(b"<html>")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(name, "<html>")

    assert "CSV" in refusal(folder).remedy
    assert "CSV" in refusal(tmp_path / "x.zip").remedy


def test_package_of_numbers_is_refused(tmp_path: Path) -> None:
    """Older versions write a folder."""
    (tmp_path / "x.numbers" / "Index").mkdir(parents=True)

    assert "save it as CSV or XLSX" in refusal(tmp_path / "x.numbers").remedy


def test_spreadsheet_beside_others_is_not_passed_over_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("date,rating\n2025-03-14,5\n")
    (tmp_path / "b.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")

    assert ["b.xls"] == chosen(parts_of(tmp_path), "auto").ignored
