"""Spreadsheets for tests: XLSX as Excel writes it, and ODS as LibreOffice writes it."""

import csv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"

ROOT = (
    f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r1" Type="{_RELATIONS}/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>'
)
"""The member ``_rels/.rels``, which names the workbook."""


def book(names: Iterable[str], properties: str = "") -> str:
    """The member ``xl/workbook.xml``, with the names of the sheets."""
    sheets = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        for number, name in enumerate(names, start=1)
    )
    return (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">{properties}<sheets>{sheets}</sheets>'
        "</workbook>"
    )


def links(count: int) -> str:
    """The member ``xl/_rels/workbook.xml.rels``, with links to as many sheets and to the styles."""
    sheets = "".join(
        f'<Relationship Id="r{number}" Type="{_RELATIONS}/worksheet" '
        f'Target="worksheets/sheet{number}.xml"/>'
        for number in range(1, count + 1)
    )
    styles = f'<Relationship Id="styles" Type="{_RELATIONS}/styles" Target="styles.xml"/>'
    return f'<Relationships xmlns="{_PACKAGE}">{sheets}{styles}</Relationships>'


def spreadsheet(table: Path, path: Path, **more: Path) -> Path:
    """Texts are shared strings (long ones in runs), numbers are numbers, empty cells are left out.

    Args:
        table: The sheet "Reviews".
        path: Where it is to be.
        more: Other sheets, by their names.
    """
    strings: dict[str, int] = {}
    sheets = {name: _sheet(rows, strings) for name, rows in {"Reviews": table, **more}.items()}
    items = "".join(f"<si>{_runs(text)}</si>" for text in strings)
    shared = {"xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{items}</sst>'}
    return _written(path, book(sheets), list(sheets.values()), shared)


def dated(path: Path, date1904: str) -> Path:
    """Write an XLSX with a cell that is formatted as a date, below the header ``date``.

    Args:
        path: Where.
        date1904: Whether the days of its dates are counted from 1904.
    """
    styles = (
        f'<styleSheet xmlns="{_MAIN}"><fonts><font/></fonts><fills><fill/></fills><borders><border/>'
        '</borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
        "</cellXfs></styleSheet>"
    )
    rows = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>date</t></is></c></row>'
        '<row r="2"><c r="A2" s="1"><v>45730</v></c></row>'
    )
    properties = f'<workbookPr date1904="{date1904}"/>'
    return _written(path, book(["R"], properties), [rows], {"xl/styles.xml": styles})


def _written(path: Path, workbook: str, sheets: list[str], more: Mapping[str, str]) -> Path:
    """Write a workbook with the rows of some sheets, and other members."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_rels/.rels", ROOT)
        archive.writestr("xl/workbook.xml", workbook)
        archive.writestr("xl/_rels/workbook.xml.rels", links(len(sheets)))
        for number, rows in enumerate(sheets, start=1):
            sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
            archive.writestr(f"xl/worksheets/sheet{number}.xml", sheet)
        for name, content in more.items():
            archive.writestr(name, content)
    return path


_OPENDOCUMENT = "urn:oasis:names:tc:opendocument:xmlns"
_ODS_ROWS = """
<table:table-row><table:table-cell office:value-type="string"><text:p>Date</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Stars</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Customer</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Review</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Verified</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="date" office:date-value="2025-03-14"><text:p>14.03.25</text:p></table:table-cell>
<table:table-cell office:value-type="float" office:value="5"><text:p>5</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Jörg</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Gut &amp; schnell,</text:p><text:p>wirklich</text:p></table:table-cell>
<table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>WAHR</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="date" office:date-value="2025-02-03T23:30:00"><text:p>03.02.25</text:p></table:table-cell>
<table:table-cell office:value-type="float" office:value="4"><text:p>4</text:p></table:table-cell>
<table:table-cell office:value-type="string"><text:p>Max</text:p></table:table-cell><table:table-cell/>
<table:table-cell office:value-type="boolean" office:boolean-value="false"><text:p>FALSCH</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="1048573"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
"""


def opendocument(path: Path, *, hidden: bool = False) -> Path:
    """Write an ODS with two reviews in the sheet "Reviews"."""
    display = "false" if hidden else "true"
    content = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="{_OPENDOCUMENT}:office:1.0" xmlns:style="{_OPENDOCUMENT}:style:1.0" \
xmlns:table="{_OPENDOCUMENT}:table:1.0" xmlns:text="{_OPENDOCUMENT}:text:1.0" office:version="1.3">
<office:automatic-styles><style:style style:name="ta1" style:family="table">
<style:table-properties table:display="{display}"/></style:style></office:automatic-styles>
<office:body><office:spreadsheet><table:table table:name="Reviews" table:style-name="ta1">{_ODS_ROWS}
</table:table></office:spreadsheet></office:body></office:document-content>"""
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content.replace("\n", ""))
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
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
