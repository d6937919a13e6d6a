"""Long tables: in columns whatever is in them."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from reviewsctl.terminal.columns import table
from reviewsctl.terminal.output import colored

HEADINGS = ("id", "what", "note")
WIDE = st.text(st.sampled_from("ab é漢字かな안녕"), max_size=30)


def shown(rows: Sequence[Sequence[str]]) -> list[str]:
    return [Text.from_ansi(line).plain for line in table(HEADINGS, rows)]


def test_columns_are_as_wide_as_their_texts() -> None:
    rows = [("1", "a", "x"), ("1000", "long text", "x")]
    assert ["id    what       note", "1     a          x", "1000  long text  x"] == shown(rows)


def test_without_rows_there_are_the_headings() -> None:
    assert ["id  what  note"] == shown([])


def test_colors_take_no_room() -> None:
    rows = [("1", colored("behind", "yellow"), "x"), ("2", "ok", "x")]
    painted = list(table(HEADINGS, rows))
    assert ["1   \x1b[33mbehind\x1b[0m  x", "2   ok      x"] == painted[1:]
    assert painted[0].startswith("\x1b[2mid\x1b[0m  \x1b[2mwhat\x1b[0m")


@given(st.lists(st.tuples(WIDE, WIDE), max_size=5))
def test_wide_characters_take_two_places(texts: list[tuple[str, str]]) -> None:
    lines = shown([(first, second, "|") for first, second in texts])
    assert 1 >= len({cell_len(line) for line in lines[1:]})
