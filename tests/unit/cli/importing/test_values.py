"""Values of exports as members of a review."""

import contextlib
import datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.importing.errors import RowRefusedError, SayMoreError
from reviewsctl.importing.ratings import Scale, stars
from reviewsctl.importing.times import PATTERNS, moment, reading_of
from reviewsctl.importing.values import (
    address,
    display_name,
    has_contact,
    original,
    short_name,
    titled,
    truth,
    word,
    words,
)
from reviewsd.domain.reviews import Url

STARS: dict[int, list[object]] = {
    5: [5, "5", "5.0", "FIVE", "*****"],
    4: [4.0, "4,0", "4/5", "4 out of 5", "4*"],
    3: ["3 stars", "⭐️⭐️⭐️", "* * *"],
    2: ["★★☆☆☆", "⭐⭐☆☆☆"],
    1: [" 1 "],
}


@pytest.mark.parametrize(
    ("value", "expected"), [(value, count) for count, values in STARS.items() for value in values]
)
def test_stars_in_many_spellings(value: object, expected: int) -> None:
    assert expected == stars(value)


@pytest.mark.parametrize(
    "value",
    [0, 6, 4.5, "4.5", "", None, True, "10", "8/10", "-1", [], "NaN", float("nan"), "★★★☆☆☆"],
)
def test_nothing_is_rounded_or_rescaled(value: object) -> None:
    with pytest.raises(RowRefusedError):
        stars(value)


@given(st.text() | st.integers() | st.floats() | st.none() | st.lists(st.text()))
def test_any_value_has_stars_or_a_reason(value: object) -> None:
    with contextlib.suppress(RowRefusedError):
        assert 1 <= stars(value) <= 5


@given(st.text() | st.integers() | st.floats() | st.none() | st.lists(st.text()))
def test_any_value_is_a_time_or_has_a_reason(value: object) -> None:
    with contextlib.suppress(RowRefusedError):
        assert isinstance(moment(value), datetime.datetime)


@pytest.mark.parametrize(
    ("value", "best", "expected"),
    [
        ("9", 10, 5),
        ("10", 10, 5),
        ("7", 10, 4),
        ("1", 10, 1),
        ("4.5", 5, 5),
        ("4,4", 5, 4),
        ("4.5/5", 10, 5),  # the refusal named another scale than the operator's
        (3.5, 5, 4),
        ("80 %", 100, 4),
        ("7/10", None, 4),
        ("9 von 10", None, 5),
        ("4/5", 10, 4),
        ("4 Sterne", None, 4),
        ("★★★", None, 3),
        ("⭐️⭐️⭐️⭐️", None, 4),
        ("⭐ ⭐ ⭐", None, 3),
        ("★★★★★★★☆☆☆", None, 4),
        ("★★☆☆☆☆☆☆☆☆", None, 1),
        ("4 ⭐️", None, 4),
        ("4,0 von 5 Sternen", None, 4),
        ("5 su 5 stelle", None, 5),
        ("60 %", None, 3),
        ("3 stars", 10, 2),
        ("★★★★½", 5, 5),
        ("★★★½☆", 5, 4),
        ("4½", 5, 5),
        ("3 1/2", 5, 4),
        ("3 ½ stars", 5, 4),
        ("7½/10", None, 4),
        ("2 1/4 von 5", 5, 2),
    ],
)
def test_ratings_are_brought_to_stars_by_the_scale_that_is_said(
    value: object, best: int | None, expected: int
) -> None:
    assert expected == Scale(best=best).stars(value).stars


UNSET, TEN, SHOWN = Scale(), Scale(best=10), Scale(best=5, is_set=False)


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        *((value, UNSET) for value in ("9", 9.0, "4.5", "★★★★★★★")),
        *((value, UNSET) for value in ("4.5/5", "4½/5", "★★★★½", "41/2", "Recommended")),
        *((value, TEN) for value in ("", None, "many")),
        # only the table shows this scale
        *((value, SHOWN) for value in ("4.5", "9", "4.5/5")),
        # beyond any scale: some were published as some stars
        *((value, TEN) for value in ("0", "11", "-3")),
        *((value, UNSET) for value in ("11/10", "4/0", "9/2000", "4" + " " * 57 + "/10")),
        ("0.5", Scale.parsed("1-5")),
    ],
)
def test_rating_outside_its_scale_is_refused(value: object, scale: Scale) -> None:
    with pytest.raises(RowRefusedError):
        scale.stars(value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("6-1", {"1": 5, "1,0": 5, "2": 4, "2,3": 4, "3": 3, "4,0": 3, "5": 2, "6": 1}),
        ("5-1", {"1": 5, "2": 4, "3": 3, "4": 2, "5": 1}),
        ("0-10", {"0": 1, "5": 3, "10": 5}),
        ("1 - 10", {"1": 1, "5": 3, "8": 4, "10": 5}),
        ("1-5", {"1": 1, "4": 4, "4.5": 5}),
        ("20", {"20": 5, "15.5": 4, "1": 1}),
    ],
)
def test_scale_is_read_from_its_worst_to_its_best(text: str, values: dict[str, int]) -> None:
    scale = Scale.parsed(text)
    assert values == {value: scale.stars(value).stars for value in values}


@pytest.mark.parametrize("text", ["", "1", "0", "101", "5-5", "ten", "1-2-3", "-5"])
def test_impossible_scale_is_refused(text: str) -> None:
    with pytest.raises(SayMoreError, match="scale: expected"):
        Scale.parsed(text)


def test_a_recommendation_is_five_or_one_where_that_is_wanted() -> None:
    scale = Scale(recommended=True)
    words = ("Recommended", "not recommended", "Doesn't recommend")
    note = ("recommendation",)
    assert [(5, note), (1, note), (1, note)] == [scale.stars(word) for word in words]


def test_a_title_stands_before_the_text_unless_it_is_its_beginning() -> None:
    assert "Great\n\nThey came." == titled("Great", "They came.")
    assert "Never came. I waited." == titled("Never came…", "Never came. I waited.")
    assert "Great\n\nGreatly annoyed." == titled("Great", "Greatly annoyed.")
    assert "Never came." == titled("Never came", "Never came.")
    assert "He explained every step." == titled("He explained every st", "He explained every step.")
    assert ("Great", "They came.", None) == (
        titled("Great", " "),
        titled(None, "They came."),
        titled("", None),
    )


def test_verified_is_what_the_export_says_or_nothing() -> None:
    assert [True] * 5 == [truth(value) for value in (True, "TRUE", "verified_buyer", "Ja", 1)]
    assert [False] * 4 == [truth(value) for value in (False, "no", "email", "Verified-Reviewer")]
    assert [True] * 5 == [truth(value) for value in ("wahr", "vero", "sim", "x", "✓")]  # any flag's
    assert [None, None] == [truth(None), truth(" ")]
    with pytest.raises(RowRefusedError, match='verified "perhaps" is neither yes nor no'):
        truth("perhaps")


DATES = """
2025-03-14: 3/14/25 | 14-Mar-25 | Friday, March 14, 2025 | 14. März 2025 | 14 mars 2025
2025-03-14: 14 de marzo de 2025 | 14.03.25 17:05 | 3/14/2025 10:23am | 3/14/2025 10:23:05PM
2025-03-14: 14/3/2025 10:23 a. m. | 3/14/2025, 10:23:05\N{NARROW NO-BREAK SPACE}AM
2025-03-14: March 14, 2025 at 10:23 AM | March 14th, 2025 | 2025-03-14 10:23 AM
2025-03-14: 14.03.2025, 10:23:05 | 14.03.2025 um 10:23 Uhr | Freitag, 14. März 2025
2025-03-14: vendredi 14 mars 2025 à 10h23 | viernes, 14 de marzo de 2025 | 14 marzo 2025
2025-03-14: 14 de março de 2025 às 10:23 | 14-mrt-2025 | Mar 14 2025
2025-01-14: 14 janv. 2025
2025-10-14: 14. Okt. 2025
2025-03-01: 1er mars 2025
2025-05-14: venerdì 14 mag 2025 | 14 mei 2025
"""
SPELLINGS = [line.split(": ", 1) for line in DATES.strip().splitlines()]


@pytest.mark.parametrize(
    ("text", "expected"), [(text, day) for day, texts in SPELLINGS for text in texts.split(" | ")]
)
def test_dates_as_people_write_them(text: str, expected: str) -> None:
    reading, _ = reading_of([("date", text)])
    assert expected == reading(text).date().isoformat()


@pytest.mark.parametrize(
    "age",
    [
        *("3 weeks ago", "vor 2 Tagen", "il y a 3 mois", "hace un año", "Yesterday"),
        *("3 settimane fa", "há 2 dias", "2 semanas atrás", "3 weken geleden", "ieri"),
    ],
)
def test_an_age_says_no_day(age: str) -> None:
    with pytest.raises(RowRefusedError, match="is an age, which says no day"):
        moment(age)


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_translation_is_taken_away_only_with_both_markers(one: str, second: str) -> None:
    both = f"(Translated by Google) {one}\n\n(Original)\n{second}"
    if "(Original)" not in one and second.strip():
        assert second == original(both)
    cut = f"(Translated by Google) {one}"
    if "(Original)" not in one and "\n\n" not in one:
        assert cut == original(cut)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2014-10-02T15:01:23.045123456Z", "2014-10-02T15:01:23.045123+00:00"),
        ("2014-10-02T15:01:23+05:30", "2014-10-02T15:01:23+05:30"),
        ("2014-10-02 15:01:23 UTC", "2014-10-02T15:01:23+00:00"),
        ("2014-10-02", "2014-10-02T00:00:00"),
        ("20141002", "2014-10-02T00:00:00"),
        ("1700000000", "2023-11-14T22:13:20+00:00"),
        (1700000000000, "2023-11-14T22:13:20+00:00"),
        (45000.5, "2023-03-15T12:00:00"),
        ("2014-10-02 15:01:23 -0500", "2014-10-02T15:01:23-05:00"),
        ("2014-10-02 15:01:23 +0000 UTC", "2014-10-02T15:01:23+00:00"),
        ("Thu, 02 Oct 2014 15:01:23 +0200", "2014-10-02T15:01:23+02:00"),
        ("Thu Oct 02 2014 15:01:23 GMT+0200 (Central European Time)", "2014-10-02T15:01:23+02:00"),
    ],
)
def test_moments_in_many_spellings(value: object, expected: str) -> None:
    assert expected == moment(value).isoformat()


@given(
    st.lists(st.datetimes(datetime.datetime(1990, 1, 13), datetime.datetime(2040, 1, 1)), min_size=1),  # noqa: DTZ001
    st.sampled_from(list(PATTERNS)),
)  # fmt: skip
def test_column_of_dates_is_read_as_written(days: list[datetime.datetime], pattern: str) -> None:
    """Unless month and day could change places in all of them: that is a question."""
    cells = [day.strftime(pattern) for day in days]
    try:
        reading, _ = reading_of([("date", cell) for cell in cells])
    except SayMoreError:
        assert all(day.day <= 12 for day in days)
        return
    assert [day.date() for day in days] == [reading(cell).date() for cell in cells]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("3. Jänner 2026", "2026-01-03"),
        ("3. jän. 2026", "2026-01-03"),
        ("4. Feber 2026", "2026-02-04"),
        ("5. 11. 2026", "2026-11-05"),
        ("15. 1. 2026, 10:30 Uhr", "2026-01-15"),
        ("7 de setiembre de 2026", "2026-09-07"),
    ],
)
def test_days_are_read_as_people_of_other_countries_write_them(text: str, day: str) -> None:
    reading, _ = reading_of([("date", text), ("date", "14.12.2026")])
    assert day == reading(text).date().isoformat()


def test_names_are_shortened_and_are_no_addresses() -> None:
    assert "Jane D." == short_name("Jane van der Doe")
    assert "Jane D." == short_name(short_name("Jane Doe"))
    assert "Jörg" == short_name("Jörg")
    assert "A Google user" == short_name("A Google user")
    assert display_name("jane.doe@example.com") is None
    assert "Jane @home" == display_name(" Jane @home ")


def test_only_web_addresses_are_links() -> None:
    assert "HTTPS://example.com/a?b" == address(" HTTPS://example.com/a?b ")
    for value in ("javascript:alert(1)", "//example.com", "https://", "https://a b", None, 5):
        assert address(value) is None


def test_characters_that_no_address_holds_are_escaped() -> None:
    """The daemon refuses them; an export may well have them, and a browser follows the link."""
    for text, expected in (
        (
            'https://a.example/<2>?q="é"|`{}^\\',
            "https://a.example/%3C2%3E?q=%22é%22%7C%60%7B%7D%5E%5C",
        ),
        ("https://[::1]:80/?a[]=100%&b=%41", "https://[::1]:80/?a%5B%5D=100%25&b=%41"),
        ("https://a.example#b#c", "https://a.example#b%23c"),
        ("https://a.example/\x00", "https://a.example/%00"),
    ):
        assert expected == address(text)
        assert expected == address(expected)
    for value in ("https://a<b/", "https://a:b/", "https://[a/", "https://a%"):
        assert address(value) is None


@given(st.builds("https://a{}".format, st.text()))
def test_any_address_is_valid_to_the_daemon(text: str) -> None:
    if (url := address(text)) is not None:
        assert url == msgspec.convert(url, Url)


def test_texts_are_verbatim_and_blanks_are_none() -> None:
    assert " a\n" == words(" a\n")
    assert "a" == word(" a\n")
    assert words("\n ") is None
    assert "5" == words(5.0)


@pytest.mark.parametrize("name", ["A Google user", "A Yelp user"])
def test_author_without_a_name_is_not_shortened(name: str) -> None:
    """Earlier imports wrote "A Yelp user"; of that "A U." would be made."""
    assert name == short_name(name)


@pytest.mark.parametrize(
    "name", ["0470 12 34 56", "+32 (0)470/12.34.56", "(020) 7946 0000", "jo@example.com"]
)
def test_name_that_is_a_phone_number_or_an_address_is_none(name: str) -> None:
    """Such a name stayed, as it has no surname to be shortened."""
    assert None is display_name(name)
    assert "Anonymous" == short_name(name)


@pytest.mark.parametrize("name", ["Guest 4711", "Jo 2", "1234", "24 7", "R2D2"])
def test_name_with_a_number_is_a_name(name: str) -> None:
    assert name == display_name(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call me on 07700 900111.", True),
        ("Bel 0470/12.34.56", True),
        ("Tel. +32 (0)470 12 34 56!", True),
        ("mail me: emma@gmail.com", True),
        ("On 01/02/2026 10:30 they came", False),
        ("01.02.2026 - 10 minutes late, at 12-03-2026 20", False),
        ("Order 1234567890123", False),
        ("Paid 1,000,000 in 2026, 5/5, @home", False),
        ("Version 2.0.12345678", False),
    ],
)
def test_phone_number_or_address_in_a_text_is_found(text: str, *, expected: bool) -> None:
    assert expected == has_contact(text)
