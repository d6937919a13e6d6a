"""Spreadsheets for tests: XLSX as Excel writes it, made of a CSV."""

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def spreadsheet(table: Path, path: Path) -> Path:
    """Texts are shared strings (long ones in runs), numbers are numbers, empty cells are left out."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    strings: dict[str, int] = {}
    sheet = "".join(
        f'<row r="{number}">{"".join(_cells(number, row, strings))}</row>'
        for number, row in enumerate(rows, start=1)
    )
    items = "".join(f"<si>{_runs(text)}</si>" for text in strings)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>'
            '<sheet name="Reviews" sheetId="7" r:id="rId3"/></sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}">'
            '<Relationship Id="rId3" Target="worksheets/sheet7.xml" Type="x"/></Relationships>',
        )
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_MAIN}">{items}</sst>')
        archive.writestr(
            "xl/worksheets/sheet7.xml",
            f'<worksheet xmlns="{_MAIN}"><sheetData>{sheet}</sheetData></worksheet>',
        )
    return path


def _cells(number: int, row: list[str], strings: dict[str, int]) -> Iterator[str]:
    for column, text in enumerate(row):
        place = f"{_letters(column)}{number}"
        if text.isdigit():
            yield f'<c r="{place}"><v>{text}</v></c>'
        elif text:
            index = strings.setdefault(text, len(strings))
            yield f'<c r="{place}" t="s"><v>{index}</v></c>'


def _runs(text: str) -> str:
    middle = len(text) // 2
    halves = [text[:middle], text[middle:]] if middle > 4 else [text]
    runs = [f'<t xml:space="preserve">{escape(half)}</t>' for half in halves]
    return runs[0] if len(runs) == 1 else "".join(f"<r>{run}</r>" for run in runs)


def _letters(column: int) -> str:
    first, second = divmod(column, 26)
    return (chr(ord("A") + first - 1) if first else "") + chr(ord("A") + second)
