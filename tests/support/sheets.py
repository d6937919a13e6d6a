"""Spreadsheets for tests: XLSX as Excel writes it, made of a CSV."""

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def spreadsheet(table: Path, path: Path, **more: Path) -> Path:
    """Texts are shared strings (long ones in runs), numbers are numbers, empty cells are left out.

    Args:
        table: The sheet "Reviews".
        path: Where it is to be.
        more: Other sheets, by their names.
    """
    strings: dict[str, int] = {}
    sheets = {name: _sheet(each, strings) for name, each in {"Reviews": table, **more}.items()}
    items = "".join(f"<si>{_runs(text)}</si>" for text in strings)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>'
            + "".join(
                f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
                for number, name in enumerate(sheets, start=7)
            )
            + "</sheets></workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}">'
            + "".join(
                f'<Relationship Id="rId{number}" Target="worksheets/sheet{number}.xml" Type="x"/>'
                for number, _ in enumerate(sheets, start=7)
            )
            + "</Relationships>",
        )
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_MAIN}">{items}</sst>')
        for number, sheet in enumerate(sheets.values(), start=7):
            archive.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{sheet}</sheetData></worksheet>',
            )
    return path


def _sheet(table: Path, strings: dict[str, int]) -> str:
    with table.open(newline="", encoding="utf-8") as file:
        return "".join(
            f'<row r="{number}">{"".join(_cells(number, row, strings))}</row>'
            for number, row in enumerate(csv.reader(file), start=1)
        )


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
