"""The options of the embed and of the badge: what is read, and what is refused (pages.md 7)."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.embed_options import BadgeOptions, EmbedOptions
from reviewsd.domain.issues import InvalidParametersError

ARABIC_ONE = "\N{ARABIC-INDIC DIGIT ONE}"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (b"", EmbedOptions()),
        (b"theme=&layout=&count=&min_rating=&accent=", EmbedOptions()),
        (b"utm_source=newsletter&fbclid=1&_=2", EmbedOptions()),
        (b"theme=dark&layout=grid&count=12", EmbedOptions("dark", "grid", 12)),
        (b"theme=auto&layout=badge", EmbedOptions("auto", "badge")),
        (b"min_rating=5", EmbedOptions(min_rating=5)),
        (b"accent=0B6E6E", EmbedOptions(accent="#0b6e6e")),
        (b"accent=%230b6e6e", EmbedOptions(accent="#0b6e6e")),
    ],
)
def test_options_are_read(query: bytes, expected: EmbedOptions) -> None:
    assert expected == EmbedOptions.read(query)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (b"theme=Dark", ["theme"]),
        (b"layout=carousel", ["layout"]),
        (b"count=0", ["count"]),
        (b"count=13", ["count"]),
        (b"count=3.5", ["count"]),
        (b"count=3&count=4", ["count"]),
        (b"min_rating=6", ["min_rating"]),
        (b"accent=red", ["accent"]),
        (b"accent=fff", ["accent"]),
        (b"accent=0b6e6e0", ["accent"]),
        (b"accent=%23%230b6e6e", ["accent"]),
        (f"accent={quote(ARABIC_ONE * 6)}".encode(), ["accent"]),
        (b"accent=%zz", ["accent"]),
        (b"accent=0b6e6e;}body{", ["accent"]),
        (b"theme=x&count=x&accent=x", ["theme", "count", "accent"]),
        (b"minRating=4", ["minRating"]),
        (b"colour=ff0000", ["colour"]),
        (b"limit=5", ["limit"]),
        (b"themes=dark", ["themes"]),
        (b"coutn=6", ["coutn"]),
    ],
)
def test_invalid_options_are_named(query: bytes, names: list[str]) -> None:
    with pytest.raises(InvalidParametersError) as refused:
        EmbedOptions.read(query)
    assert names == [issue.path[0] for issue in refused.value.issues]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (b"", BadgeOptions()),
        (b"size=s&theme=dark", BadgeOptions("s", "dark")),
        (b"size=&v=2", BadgeOptions()),
    ],
)
def test_options_of_the_badge_are_read(query: bytes, expected: BadgeOptions) -> None:
    assert expected == BadgeOptions.read(query)


@given(
    st.builds(
        EmbedOptions,
        theme=st.sampled_from(["light", "dark", "auto"]),
        layout=st.sampled_from(["list", "grid", "badge"]),
        count=st.integers(1, 12),
        min_rating=st.integers(1, 5),
        accent=st.none() | st.from_regex("#[0-9a-f]{6}", fullmatch=True),
    )
)
def test_query_string_of_options_leads_back_to_them(options: EmbedOptions) -> None:
    """It is the address in lines that owners copy, and a part of the entity tag."""
    assert options == EmbedOptions.read(options.query().encode())


@pytest.mark.parametrize("options", [EmbedOptions, BadgeOptions])
def test_name_that_resembles_no_option_is_ignored(
    options: type[EmbedOptions] | type[BadgeOptions],
) -> None:
    """Links carry such names; ``embed.md`` says that a location cannot be chosen."""
    assert options() == options.read(b"location=see&utm_source=mail")
