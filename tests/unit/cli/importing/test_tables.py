"""Tables: encodings, delimiters, spreadsheets, and the round trip of our own."""

import csv
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.readers import csv_file
from reviewsctl.importing.readers import spreadsheet as workbook
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import source_of
from reviewsctl.importing.times import moment
from tests.support.sheets import dated, opendocument, spreadsheet
from tests.support.shop import SAMPLES, Shop, part, table


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
def test_file_without_a_table_is_refused(content: bytes) -> None:
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
def test_tables_of_the_csv_module_are_read_back(rows: list[list[str]]) -> None:
    """Also line breaks of all kinds, quotes and the byte order mark within cells."""
    line = io.StringIO(newline="")
    table = csv.writer(line)
    table.writerow(["a", "b", "c"])
    table.writerows(rows)
    content = line.getvalue().encode()
    assert rows == [list(fields.values()) for _, fields in read(content)]


def test_spreadsheet_is_its_csv(tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text('name,text,stars,,last\nJörg,"a <b> & long text\nof two lines",5,,x\n,,4,,\n')
    (file,) = parts_of(spreadsheet(table, tmp_path / "x.xlsx"))
    assert [
        (2, {"name": "Jörg", "text": "a <b> & long text\nof two lines", "stars": 5.0, "last": "x"}),
        (3, {"name": "", "text": "", "stars": 4.0, "last": ""}),
    ] == list(workbook.rows(workbook.converted(file)))


ROWS = [
    ("row 2", ["2025-03-14T00:00:00", 5.0, "Jörg", "Gut & schnell,\nwirklich", "true"]),
    ("row 3", ["2025-02-03T23:30:00", 4.0, "Max", "", "false"]),
]


def rows_of(path: Path) -> list[tuple[str, list[object]]]:
    """Return the rows of a workbook, with its dates as the importer reads them."""
    (file,) = parts_of(path)
    source = source_of(file)
    rows = []
    for where, row in source.rows():
        day, *cells = row.fields.values()
        rows.append((where, [moment(day).isoformat(), *cells]))
    return rows


def test_xls_is_read() -> None:
    """Written by xlwt, with a cover before the reviews and a hidden sheet behind them."""
    assert ROWS == rows_of(SAMPLES / "excel97.xls")


@pytest.mark.parametrize("name", ["x.ods", "x.zip"])
def test_ods_is_read(tmp_path: Path, name: str) -> None:
    """Also within another archive. LibreOffice repeats empty rows to the end of the sheet."""
    opendocument(tmp_path / "x.ods")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(tmp_path / "x.ods", "reviews.ods")
    assert ROWS == rows_of(tmp_path / name)


def test_hidden_sheet_is_not_read_and_named() -> None:
    (file,) = parts_of(SAMPLES / "excel97.xls")
    assert ['sheet "Old" (hidden)'] == source_of(file).unread


def test_sheets_with_the_same_columns_are_one_table(shop: Shop, tmp_path: Path) -> None:
    first, old, fees = (
        table(tmp_path / name, text)
        for name, text in (
            ("a", "id,date,rating,author\n1,2025-01-01,5,Ann Lee\n"),
            ("b", "id,date,rating,author\n2,2024-01-01,4,Bo Li\n3,2024-01-01,none,Bo Li\n"),
            ("c", "date,price\n2025-01-01,5\n"),
        )
    )
    done = shop.imported(spreadsheet(first, tmp_path / "x.xlsx", Old=old, Fees=fees))
    assert {"Ann Lee", "Bo Li"} == shop.reviews.keys()
    assert [('row 3 of sheet Old, id "3"', 'rating "none" is not')] == [
        (where, reason[:20]) for where, reason in done.rows.refusals
    ]
    assert 'not read: x.xlsx: sheet "Fees" (other columns)' in shop.lines


def test_workbook_with_only_hidden_tables_is_refused(tmp_path: Path) -> None:
    opendocument(tmp_path / "x.ods", hidden=True)
    (file,) = parts_of(tmp_path / "x.ods")
    with pytest.raises(ImportRefusedError, match='sheet "Reviews" is hidden'):
        source_of(file)


@pytest.mark.parametrize(("flag", "day"), [("0", "2025-03-14"), ("1", "2029-03-15")])
def test_date_of_a_cell_is_the_one_that_excel_shows(tmp_path: Path, flag: str, day: str) -> None:
    """Excel for Mac counted the days from 1904 until 2011, and a workbook keeps its count."""
    dated(tmp_path / "x.xlsx", flag)
    (file,) = parts_of(tmp_path / "x.xlsx")
    (row,) = (fields for _, fields in workbook.rows(workbook.converted(file)))
    assert day == moment(row["date"]).date().isoformat()


@pytest.mark.parametrize("content", [b"PK\x03\x04 broken", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_broken_workbook_is_refused_with_a_way_out(content: bytes) -> None:
    with pytest.raises(ImportRefusedError) as caught:
        workbook.converted(part(content))
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
def test_windows_mac_and_dos_tables_are_told_apart(encoding: str, end: str, sentence: str) -> None:
    """Excel's "CSV (Macintosh)" and "CSV (MS-DOS)": Müller became MŸller."""
    line = sentence.translate(NOT_IN_DOS) if encoding == "cp850" else sentence
    name, text = line.split(";")
    content = f"a;b{end}{name};{text}{end}".encode(encoding)
    assert [(2, {"a": name, "b": text})] == read(content)


def test_name_of_a_source_of_ones_own_stays_as_it_is_written(shop: Shop, tmp_path: Path) -> None:
    """It was published in small letters; a second spelling is the same source."""
    first = table(tmp_path / "a.csv", "author,rating,date,text\nJo,5,2026-01-01,Good.\n")
    shop.imported(first, source="Praxis  Linde")
    result = shop.imported(first, source="praxis linde")
    assert 1 == result.merge.count(Fate.UNCHANGED)
    rows = "Ann,5,2026-01-02,Fine.,SALON\nBo,4,2026-01-03,Fine.,Salon\nCy,4,2026-01-03,Ok,GOOGLE\n"
    shop.imported(table(tmp_path / "b.csv", f"author,rating,date,text,source\n{rows}"))
    sources = [review["source"] for review in shop.reviews.values()]
    assert ["Praxis Linde", "SALON", "SALON", "google"] == sources
