"""Refuses files in forms that are not read, naming the form and how to save the file instead."""

from collections.abc import Collection
from typing import Final

from reviewsctl.importing.errors import ImportRefusedError

WORKBOOKS: Final = (b"PK", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""The first bytes of workbooks that are read: archives (XLSX, ODS), and XLS."""

SHEETS: Final = (".numbers", ".xlsb", ".fods")
"""Suffixes of other spreadsheets."""

DOCUMENTS: Final = (".html", ".htm", ".xml", ".pdf", ".docx", ".rtf", ".sqlite", ".db", ".parquet")

_REMEDY: Final = "Open it, save it as CSV or XLSX, and import that."
_EXPORT: Final = "Export the reviews as CSV or JSON, or save it as CSV or XLSX, and import that."

_MAGIC: Final = {
    b"\x09\x08\x10\x00": "an Excel file from before 1993",
    b"\x09\x04\x06\x00": "an Excel file from before 1993",
    b"%PDF": "a PDF",
    b"{\\rtf": "a text document (RTF)",
    b"SQLite format 3\0": "a database (SQLite)",
    b"PAR1": "a Parquet file",
    b"bplist": "a property list",
}
_PAGES: Final = (b"<!doctype html", b"<html", b"<head", b"<body", b"<table", b"<meta", b"<div")
_MARKUP: Final = {
    b"wordpress.org/export": "an export of WordPress (WXR)",
    b"schemas-microsoft-com:office:spreadsheet": "an XML table of Excel 2003",
    b"opendocument": "an OpenDocument file (flat XML)",
    b"<rss": "an RSS feed",
    b"<feed": "an Atom feed",
}
_MEMBERS: Final = {
    "xl/workbook.bin": "a binary Excel workbook (.xlsb)",
    "Index/Document.iwa": "a document of Numbers or Pages",
    "Index.zip": "a document of Numbers or Pages",
    "word/document.xml": "a Word document (.docx)",
    "ppt/presentation.xml": "a presentation (.pptx)",
    "META-INF/manifest.xml": "an OpenDocument file that is no spreadsheet",
}
BLANK_OR_BOM: Final = b" \t\r\n\xef\xbb\xbf"
"""Bytes that may come before the first character of a text."""


def refuse(name: str, begins: bytes) -> None:
    """Refuse a file that is known by its beginning, and not read.

    Args:
        name: As messages name it.
        begins: Some kilobytes.

    Raises:
        ImportRefusedError: It is one.
    """
    for magic, kind in _MAGIC.items():
        if begins.startswith(magic):
            raise ImportRefusedError(f"{name} is {kind}", _REMEDY)
    text = begins.lstrip(BLANK_OR_BOM).lower()
    if not text.startswith(b"<"):
        return
    markup = next((kind for mark, kind in _MARKUP.items() if mark in text), None)
    if markup is None and (text.startswith(_PAGES) or b"<html" in text):
        raise ImportRefusedError(f"{name} is a web page (HTML)", _REMEDY)
    raise ImportRefusedError(f"{name} is {markup or 'an XML document'}", _EXPORT)


def refuse_archive(name: str, members: Collection[str]) -> None:
    """Refuse a document that is a zip archive, by the names in it.

    Raises:
        ImportRefusedError: It is one.
    """
    for member, kind in _MEMBERS.items():
        if member in members:
            raise ImportRefusedError(f"{name} is {kind}", _REMEDY)


def refuse_name(name: str) -> None:
    """Refuse a file by the end of its name, where nothing else is there to be read.

    Raises:
        ImportRefusedError: It is one that is not read.
    """
    if name.lower().endswith(SHEETS + DOCUMENTS):
        raise ImportRefusedError(
            f"{name} is not read: of spreadsheets, CSV, XLSX, XLS and ODS are", _REMEDY
        )
