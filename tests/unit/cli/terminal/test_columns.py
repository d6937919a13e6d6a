"""Long tables: in columns whatever is in them, and within the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from reviewsctl.terminal.columns import Colored, Columns, Row

WIDE = st.text(st.sampled_from("ab é漢字かな안녕"), max_size=30)


def shown(rows: list[Row], width: int | None, *, heading: bool = True) -> list[str]:
    lines = Columns(("id", "what", "note"), 1, width).lines(rows, heading=heading)
    return [Text.from_ansi(line).plain for line in lines]


def test_columns_are_as_wide_as_their_texts_and_never_narrower_than_before() -> None:
    columns = Columns(("id", "what", "note"), 1, None)
    assert "1   a     x" == list(columns.lines([("1", "a", "x")], heading=True))[-1]
    assert ["1000  long text  x"] == list(
        columns.lines([("1000", "long text", "x")], heading=False)
    )
    assert ["2     b          x"] == list(columns.lines([("2", "b", "x")], heading=False))
    assert [] == list(columns.lines([], heading=False))


def test_without_rows_there_are_the_headings() -> None:
    assert ["id  what  note"] == shown([], None)


def test_where_no_terminal_says_a_row_is_one_line() -> None:
    assert 2 == len(shown([("1", "x" * 5_000, "n")], None))


def test_on_a_narrow_terminal_one_column_is_folded() -> None:
    assert [
        "id  what         note",
        "1   abcdefghijk  n",
        "    lmnopqrstuv",
        "    wxyz",
    ] == shown([("1", "abcdefghijklmnopqrstuvwxyz", "n")], 21)


def test_a_terminal_that_is_too_narrow_folds_itself() -> None:
    assert ["1   abcdefgh  a note", "    ij"] == shown([("1", "abcdefghij", "a note")], 5)[1:]


def test_colours_are_for_those_who_want_them_and_take_no_room() -> None:
    rows: list[Row] = [("1", Colored("behind", "yellow"), "x"), ("2", "ok", "x")]
    painted = list(Columns(("id", "what", "note"), 1, None).lines(rows, heading=True))
    assert ["1   \x1b[33mbehind\x1b[0m  x", "2   ok      x"] == painted[1:]
    assert painted[0].startswith("\x1b[2mid\x1b[0m  \x1b[2mwhat\x1b[0m")


@given(st.lists(st.tuples(WIDE, WIDE), max_size=5))
def test_wide_characters_take_two_places(texts: list[tuple[str, str]]) -> None:
    rows: list[Row] = [(first, second, "|") for first, second in texts]
    ends = {cell_len(line) for line in shown(rows, None, heading=False)}
    assert 1 >= len(ends)


@pytest.mark.parametrize("width", [None, 40])
def test_twenty_thousand_rows_cost_no_more_than_a_few_looks_at_each(width: int | None) -> None:
    """rich took half a millisecond for each; counted in calls, since time is a bad judge."""

    class Counted(str):
        looks = 0
        __slots__ = ()

        def isascii(self) -> bool:
            Counted.looks += 1
            return super().isascii()

    rows: list[Row] = [("1", Counted("x" * 30), "n")] * 1_000
    assert len(shown(rows, width)) >= 1_000
    assert Counted.looks <= 4 * len(rows)
