"""Small archives that unpack to much, and spreadsheets that Excel would not write."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.sheets import ROOT, book, links

Pieces = Iterable[bytes | tuple[bytes, int]]
"""Pieces of a member, in order; a piece with a number is repeated that often."""

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HEADER = b'<row><c t="inlineStr"><is><t>date</t></is></c><c t="inlineStr"><is><t>rating</t></is></c></row>'


def archive(
    path: Path | io.BytesIO, members: Mapping[str, Pieces], method: int = zipfile.ZIP_DEFLATED
) -> None:
    """Write a zip, without ever having its members in memory."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, pieces in members.items():
            with file.open(name, "w") as member:
                for piece in pieces:
                    content, times = piece if isinstance(piece, tuple) else (piece, 1)
                    block = content * max(1, 65_536 // len(content))
                    full_blocks, rest = divmod(len(content) * times, len(block))
                    for _ in range(full_blocks):
                        member.write(block)
                    member.write(block[:rest])


def spreadsheet(
    path: Path | io.BytesIO,
    *,
    rows: Pieces = (),
    strings: Pieces = (),
    prologue: Pieces = (),
) -> None:
    """Write an XLSX with the columns date and rating in its first sheet.

    Args:
        path: Where.
        rows: Below the header, as XML.
        strings: The shared ones, as XML.
        prologue: What the sheet begins with.
    """
    start = f'<worksheet xmlns="{_MAIN}"><sheetData>'.encode()
    archive(
        path,
        {
            "_rels/.rels": [ROOT.encode()],
            "xl/workbook.xml": [book(["R"]).encode()],
            "xl/_rels/workbook.xml.rels": [links(1).encode()],
            "xl/sharedStrings.xml": [f'<sst xmlns="{_MAIN}">'.encode(), *strings, b"</sst>"],
            "xl/worksheets/sheet1.xml": [
                *(*prologue, start, HEADER, *rows),
                b"</sheetData></worksheet>",
            ],
        },
    )
