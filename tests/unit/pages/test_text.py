import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.pages import text

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("#>-*_`[]()!|<&~=+.\\1\n\r\t\v\x85\u2028\u202e\x00 "), st.characters()
    )
)


@given(HOSTILE)
def test_a_line_has_no_end_and_turns_nothing_about(given: str) -> None:
    line = text.line(given)

    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert set("\0\x1b\u202e\u2066\ufffe").isdisjoint(line)
    assert line == text.line(line)


@given(HOSTILE, st.integers(1, 20))
def test_a_shortened_text_is_no_longer_than_it_may_be(given: str, length: int) -> None:
    assert len(text.shortened(given, length)) <= length


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("# Buy now", "\\# Buy now"),
        ("- a list", "\\- a list"),
        ("+1 from me", "\\+1 from me"),
        ("1. first", "1\\. first"),
        ("12) twelfth", "12\\) twelfth"),
        ("12 stars", "12 stars"),
        ("===", "\\==="),
        ("[here](javascript:alert(1))", "\\[here\\](javascript:alert(1))"),
        ("<script>&amp;", "\\<script\\>\\&amp;"),
        ("Bob & Sons, B&B, &#60;", "Bob & Sons, B\\&B, &\\#60;"),
        ("a\n\n# b", "a \\# b"),
        ("`code` *b* _i_ ~s~ |", "\\`code\\` \\*b\\* \\_i\\_ \\~s\\~ \\|"),
    ],
)
def test_markdown_of_strangers_means_nothing(given: str, expected: str) -> None:
    assert expected == text.markdown(given)


@given(HOSTILE)
def test_every_line_of_a_quotation_is_quoted(given: str) -> None:
    for line in text.quotation(given).splitlines():
        assert line == ">" or line.startswith("> ")
        assert not line.startswith(("> #", "> -", "> >", "> `", "> ="))


def test_the_lines_of_a_quotation_stay_lines() -> None:
    assert "> Good.\n>\n> \\# Very good." == text.quotation("Good.\r\n\n  # Very good.\n")


def test_a_link_ends_where_its_address_does() -> None:
    assert "[a \\](b](https://a.example/%28x%29%29)" == text.link("a ](b", "https://a.example/(x))")
