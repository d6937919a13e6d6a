"""Tables: encodings, delimiters, spreadsheets, and the round trip of our own."""

import codecs
import contextlib
import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.readers import csv_file, xlsx
from reviewsctl.importing.readers.parts import Part
from tests.support.bombs import BOOK, LINKS, archive
from tests.support.sheets import spreadsheet


def part(content: bytes) -> Part:
    return Part(name="x.csv", size=len(content), room=1 << 20, open=lambda: io.BytesIO(content))


def read(content: bytes) -> list[tuple[int, dict[str, object]]]:
    file = part(content)
    return [
        (number, dict(fields)) for number, fields in csv_file.rows(file, csv_file.dialect_of(file))
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_encoding_and_delimiter_are_found(encoding: str, delimiter: str, end: str) -> None:
    text = end.join(delimiter.join(row) for row in (["date", "név"], ["2025-01-01", '"Jö,;\trg"']))
    content = text.encode(encoding.replace("név", "nev"))

    assert [(2, {"date": "2025-01-01", "név": "Jö,;\trg"})] == read(content + end.encode(
        "utf-16-le" if encoding == "utf-16" else encoding.removesuffix("-sig")
    ))  # fmt: skip


def test_one_damaged_byte_does_not_turn_all_names_into_others() -> None:
    """The whole file was read as Windows writes: Jörg became JÃ¶rg."""
    damaged = "a,b\nJörg,José\nZoë,x\n".encode().replace(b"x", b"\xff")

    assert [(2, {"a": "Jörg", "b": "José"}), (3, {"a": "Zoë", "b": "\ufffd"})] == read(damaged)


def test_excels_first_line_is_passed_over() -> None:
    assert [(2, {"a": "1", "b": "2"})] == read(b"sep=;\r\na;b\r\n1;2\r\n")


def test_rows_have_the_number_that_a_spreadsheet_shows() -> None:
    """A cell may have many lines; an empty row is one."""
    content = b'a,b\n1,"two\nlines"\n,\n3,4\n'

    assert [2, 4] == [number for number, _ in read(content)]


@pytest.mark.parametrize("end", [b"", b'4,"Dee"\n5,Eve\n'])
def test_quote_that_is_not_closed_refuses_the_file(end: bytes) -> None:
    """It had taken the rows below into the text of its own."""
    with pytest.raises(ImportRefusedError, match="a quote is opened and not closed"):
        read(b'a,b\n1,"open\n2,Bob\n3,Cid\n' + end)


def test_a_cut_last_line_has_no_cells() -> None:
    assert [(2, {"a": "1"})] == read(b"a,b\n1")


@pytest.mark.parametrize("content", [b"", b"hello", b"one\ntwo\n", b"\x89PNG\r\n\x1a\n\0\0,\n,"])
def test_what_is_no_table_is_refused(content: bytes) -> None:
    with pytest.raises(ImportRefusedError):
        csv_file.dialect_of(part(content))


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=3, max_size=3).filter(
            any
        ),
        min_size=1,
    )
)
def test_what_the_csv_module_writes_is_read_back(rows: list[list[str]]) -> None:
    """Also line breaks of all kinds, quotes and the byte order mark within cells."""
    line = io.StringIO(newline="")
    table = csv.writer(line)
    table.writerow(["a", "b", "c"])
    table.writerows(rows)
    content = line.getvalue().encode()

    assert rows == [list(fields.values()) for _, fields in read(content)]


def test_a_spreadsheet_is_its_csv(tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text('name,text,stars,,last\nJörg,"a <b> & long text\nof two lines",5,,x\n,,4,,\n')
    path = spreadsheet(table, tmp_path / "x.xlsx")
    file = Part(name="x.xlsx", size=1, room=1 << 20, open=lambda: path.open("rb"))

    assert [
        (2, {"name": "Jörg", "text": "a <b> & long text\nof two lines", "stars": 5.0, "last": "x"}),
        (3, {"name": "", "text": "", "stars": 4.0, "last": ""}),
    ] == list(xlsx.rows(file))


@pytest.mark.parametrize(("said", "refused"), [("1", True), ("true", True), ("0", False)])
def test_a_workbook_that_counts_its_days_from_1904_is_not_read_four_years_off(
    tmp_path: Path,
    said: str,
    refused: bool,  # noqa: FBT001  a column of the table
) -> None:
    """Excel for Mac wrote these until 2011, and keeps what a workbook has."""
    book = BOOK.replace(b"<sheets>", b'<workbookPr date1904="%b"/><sheets>' % said.encode())
    path = tmp_path / "x.xlsx"
    archive(
        path,
        {
            "xl/workbook.xml": [book],
            "xl/_rels/workbook.xml.rels": [LINKS],
            "xl/worksheets/sheet1.xml": [b"<worksheet/>"],
        },
    )
    file = Part(name="x.xlsx", size=1, room=1 << 20, open=lambda: path.open("rb"))

    with contextlib.ExitStack() as stack:
        if refused:
            stack.enter_context(pytest.raises(ImportRefusedError, match="days from 1904"))
        assert [] == list(xlsx.sheets(file))


@pytest.mark.parametrize("content", [b"PK\x03\x04 broken", codecs.BOM_UTF8])
def test_a_broken_spreadsheet_is_answered_with_a_way_out(content: bytes) -> None:
    with pytest.raises(ImportRefusedError) as caught:
        list(xlsx.rows(part(content)))

    assert "save as CSV" in caught.value.remedy


SENTENCES = (
    "Jörg Müller;Schnell, und „gut“: 20 € für große Äpfel",
    "Camille Lefèvre;Très bien, à refaire où l\u2019été ça gèle",
    "José Ñandú;¡Qué rápido! Mañana será aún más fácil",
    "Zoë O\u2019Brien;Don\u2019t miss it — it\u2019s “great”… naïve café",
    "João Gonçalves;Não há melhor opção, ótimo pão",
    "Nicolò;È più bello così, perché sì",
)
NOT_IN_DOS = str.maketrans("„“”\u2019—…€", '"""\'-.E')


@pytest.mark.parametrize(
    ("encoding", "end"),
    [("cp1252", "\r\n"), ("mac_roman", "\r"), ("mac_roman", "\r\n"), ("cp850", "\r\n")],
)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_tables_of_windows_macs_and_dos_are_told_apart(
    encoding: str, end: str, sentence: str
) -> None:
    """Excel's "CSV (Macintosh)" and "CSV (MS-DOS)": Müller became MŸller."""
    written = sentence.translate(NOT_IN_DOS) if encoding == "cp850" else sentence
    name, text = written.split(";")
    content = f"a;b{end}{name};{text}{end}".encode(encoding)

    assert [(2, {"a": name, "b": text})] == read(content)
