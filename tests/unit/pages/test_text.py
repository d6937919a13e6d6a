import html

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
def test_line_has_no_end_and_no_control_of_direction(original: str) -> None:
    line = text.line(original)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert set("\0\x1b\u202e\u2066\ufffe").isdisjoint(line)
    assert line == text.line(line)


@given(HOSTILE, st.integers(1, 20))
def test_shortened_text_has_at_most_its_length(original: str, length: int) -> None:
    assert len(text.shortened(original, length)) <= length
    assert len(text.beginning(original, length)) <= length


@pytest.mark.parametrize(
    ("original", "expected"),
    [
        ("Very good.", "Very good."),
        ("Very  good\nwork", "Very good…"),
        ("Verygoodwork.", "Verygoodwo…"),
        (" " * 200 + "Good.", "…"),
        ("Good." + " " * 200, "Good. …"),
    ],
)
def test_long_text_is_cut_at_a_blank_if_it_has_one(original: str, expected: str) -> None:
    assert expected == text.shortened(original, 11)


def test_beginning_keeps_lines_and_cuts_at_a_blank() -> None:
    assert "Good.\nVery…" == text.beginning("Good.\nVery good.", 12)
    assert "…" == text.beginning(" " * 20 + "x", 12)


@pytest.mark.parametrize(
    ("original", "expected"),
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
def test_markup_in_a_text_by_a_customer_is_escaped(original: str, expected: str) -> None:
    assert expected == text.markdown(original)


@given(HOSTILE)
def test_every_line_of_a_quotation_is_quoted(original: str) -> None:
    for line in text.quotation(original).splitlines():
        assert line == ">" or line.startswith("> ")
        assert not line.startswith(("> #", "> -", "> >", "> `", "> ="))


def test_quotation_keeps_lines() -> None:
    assert "> Good.\n>\n> \\# Very good." == text.quotation("Good.\r\n\n  # Very good.\n")


def test_link_is_closed_by_nothing_in_its_name_or_address() -> None:
    assert "[a \\](b](https://a.example/%28x%29%29)" == text.link("a ](b", "https://a.example/(x))")


NASTY = "aAsSſßẞiIİı\u0307eﬁf<>&\"' 😀\n"  # noqa: RUF001  characters that fold to several, and markup


def _marked(original: str, needle: str) -> str:
    """Return the HTML of a highlighted text."""
    return text.marked(html.escape(text.highlighted(original, needle)))


@given(st.text(NASTY, max_size=12), st.text(NASTY, min_size=1, max_size=3))
def test_highlighted_text_has_the_words_of_the_text(original: str, query: str) -> None:
    """The marks are the only markup, and each one ends with a match."""
    needle = query.casefold()
    marked = _marked(original, needle)
    if needle not in original.casefold():
        assert original == html.unescape(marked)
        return
    parts = marked.replace("</mark>", "<mark>").split("<mark>")
    assert original == html.unescape("".join(parts))
    assert "<" not in "".join(parts)
    matches = [html.unescape(part).casefold() for part in parts[1::2]]
    assert matches
    assert all(needle[-1] in match for match in matches)


@pytest.mark.parametrize(
    ("original", "query", "expected"),
    [
        ("a boiler, Boiler", "BOILER", "a <mark>boiler</mark>, <mark>Boiler</mark>"),
        ("Straße", "ss", "Stra<mark>ß</mark>e"),
        ("Straße", "sse", "Stra<mark>ße</mark>"),
        ("ßß", "s", "<mark>ß</mark><mark>ß</mark>"),
        ("ﬁne", "in", "<mark>ﬁn</mark>e"),
        ("aaa", "aa", "<mark>aa</mark>a"),
        ("<b>", "b", "&lt;<mark>b</mark>&gt;"),
    ],
)
def test_match_is_highlighted_as_search_finds_it(original: str, query: str, expected: str) -> None:
    assert expected == _marked(original, query.casefold())


def test_number_of_highlighted_matches_is_bounded() -> None:
    """A page with a million marks would be many times as large as its text."""
    marked = _marked("a" * 10_000, "a")
    assert 100 == marked.count("<mark>")
    assert 10_000 == marked.replace("mark>", "").count("a")
