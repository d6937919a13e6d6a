"""The files of an export: found, or refused with what is wrong."""

import gzip
import io
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen
from tests.support.shop import Shop

TABLE = b"date,rating\n2025-03-14,5\n"
FILES = {
    "a.xls": b"<html xmlns:o='urn:x'><table><tr><td>5</td></tr></table>",
    "b.csv": b"<!DOCTYPE html>\n<html><head><title>Log in, please</title>",
    "c.xml": b'\xef\xbb\xbf<?xml version="1.0"?>\n<rss xmlns:wp="http://wordpress.org/export/1.2/">',
    "d.pdf": b"%PDF-1.7\n",
    "e.db": b"SQLite format 3\0, of tables",
}
"""Files that are not read: each is refused with what to do, not as damaged."""


def refusal(path: Path) -> ImportRefusedError:
    with pytest.raises(ImportRefusedError) as caught:
        chosen(parts_of(path), "auto")
    return caught.value


@pytest.mark.parametrize("name", ["takeout.tgz", "takeout.tar"])
def test_tar_archive_is_recognized_by_its_first_bytes(tmp_path: Path, name: str) -> None:
    """With photos it unpacks to more than it may, which was said instead."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        photo = tarfile.TarInfo("photo.jpg")
        photo.size = 9 * 1024 * 1024
        archive.addfile(photo, io.BytesIO(bytes(photo.size)))
    text = content.getvalue()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("tgz") else text)
    assert f"{name} is a tar archive" in refusal(tmp_path / name).detail


def test_pipe_is_to_be_standard_input(tmp_path: Path) -> None:
    """It is read twice, and lost its first bytes."""
    os.mkfifo(tmp_path / "pipe")
    assert "reviewsctl import -" in refusal(tmp_path / "pipe").remedy


def with_wrong_offset(archive: bytes) -> bytes:
    """It was blamed on permissions."""
    at = archive.index(b"PK\x05\x06") + 16
    return archive[:at] + struct.pack("<I", 0x7FFFFFFF) + archive[at + 4 :]


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (with_wrong_offset, "Download or export it again."),
        (lambda archive: archive[:-20], "File is not a zip file"),
        (lambda archive: archive[:-90] + bytes(90), "File is not a zip file"),
        (lambda archive: archive.replace(b"2025", b"2026", 1), "is damaged: Bad CRC-32"),
    ],
    ids=["wrong offset", "cut", "zeros at its end", "member"],
)
def test_damaged_archive_is_refused_and_nothing_is_written(
    tmp_path: Path, damage: Callable[[bytes], bytes], text: str
) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", TABLE)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ImportRefusedError) as caught:
        Shop(tmp_path).imported(path)

    assert text in f"{caught.value.detail}\n{caught.value.remedy}"
    assert [path] == list(tmp_path.iterdir())


def test_bad_listing_of_a_location_keeps_no_reviews_back(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Takeout/location-1/reviews.json", '{"reviews": []}')
        archive.writestr("Takeout/location-1/data.json", '{"title": "Acme"}')
    path.write_bytes(path.read_bytes().replace(b'"Acme"', b'"Bcme"'))
    (part,) = parts_of(path)
    assert ("1", "") == (part.location.id, part.location.title)


def test_folder_with_an_archive_alone_names_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "takeout-1.zip", "w") as archive:
        archive.writestr("a.csv", TABLE)
    assert "takeout-1.zip" in refusal(tmp_path).remedy


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads all folders")
def test_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TABLE)
    (tmp_path / "b").mkdir(mode=0)
    assert str(tmp_path / "b") in refusal(tmp_path).detail


def test_too_many_files_are_no_part_without_reviews(tmp_path: Path) -> None:
    """A part of a Takeout would be passed over for it."""
    for number in range(1_001):
        (tmp_path / f"{number}.csv").write_bytes(TABLE)
    assert not isinstance(refusal(tmp_path), NoReviewsError)


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
