"""The scale of ratings: decided by evidence or a question, never five stars by default."""

from collections.abc import Sequence

import pytest

from reviewsctl.importing.errors import RowRefusedError, SayMoreError
from reviewsctl.importing.format import Fields
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.scales import scale_of

OUT_OF_FIVE = ["5", "4", "5", "3", "5"]
LOW = ["4", "3", "4"]


def read(rows: Sequence[Fields], rating: str, operator: Scale | None = None) -> list[int | str]:
    """Return the stars of rows, or why there are none."""
    columns = {"rating": rating} | ({"best": "bestRating"} if "bestRating" in rows[0] else {})
    scale, _ = scale_of(rows, columns, operator or Scale())
    results: list[int | str] = []
    for row in rows:
        try:
            results.append(scale(row).stars(row[rating]).stars)
        except RowRefusedError as refusal:
            results.append(str(refusal))
    return results


def column(name: str, values: Sequence[object], **cells: object) -> list[int | str]:
    return read([{name: value, **cells} for value in values], name)


@pytest.mark.parametrize(
    "name", ["Stars", "Sterne", "Étoiles", "Estrellas", "Stelle", "starRating"]
)
def test_column_that_is_named_after_stars_has_five(name: str) -> None:
    assert [4, 3, 4] == column(name, LOW)


@pytest.mark.parametrize(
    "name", ["Rating", "Bewertung", "Calificación", "Valutazione", "Avaliação"]
)
def test_ratings_with_five_as_the_most_are_stars(name: str) -> None:
    assert [5, 4, 5, 3, 5] == column(name, OUT_OF_FIVE)
    assert [5] == column(name, ["5"])


@pytest.mark.parametrize("name", ["Score", "Punkte", "Points", "Wertung"])
def test_points_are_stars_only_where_many_show_it(name: str) -> None:
    assert [5, 4, 5, 3, 5] == column(name, OUT_OF_FIVE)
    with pytest.raises(SayMoreError):
        column(name, OUT_OF_FIVE[:2])


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Rating", LOW, "they are from 3 to 4"),
        ("Rating", ["1", "2", "1", "5"], "they are from 1 to 5"),
        ("Rating", ["1,0", "1,3", "2,7", "5"], "they are from 1 to 5"),
        ("Rating", ["8", "4"], "1 is above five"),
        ("Stars", ["8", "4"], "1 is above five"),
        ("Rating", ["8/10", "4"], "others say that they are of 10"),
        ("Rating", ["★★★★★★★", "★★★"], "1 is above five"),
        ("Note", OUT_OF_FIVE, "it may be a school grade"),
        ("Schulnote", ["1", "2"], "it may be a school grade"),
        ("Note (1-6)", ["1", "2"], "it may be a school grade"),
        ("Nota", OUT_OF_FIVE, "it may be a school grade"),
        ("Cijfer", OUT_OF_FIVE, "it may be a school grade"),
    ],
)
def test_ratings_that_show_no_scale_are_a_question(name: str, values: list[str], why: str) -> None:
    with pytest.raises(SayMoreError) as caught:
        column(name, values)
    assert "nothing says of how many the ratings in column" in caught.value.detail
    assert why in caught.value.detail
    assert "--set scale=10" in caught.value.remedy
    assert "--set scale=5-1" in caught.value.remedy
    assert "scale=6-1" in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "values", "typos"),
    [
        ("Stars", ["5", "9", "3", "4", "4"], 1),
        ("Rating", [*OUT_OF_FIVE, "55"], 1),
        ("Score", ["6", *OUT_OF_FIVE], 1),
        ("Rating", [*OUT_OF_FIVE * 8, "9", "45"], 2),
    ],
)
def test_typo_above_five_refuses_its_row_alone(name: str, values: list[str], typos: int) -> None:
    """One mistyped row would otherwise stop the import of all others."""
    results = column(name, values)
    refused = [result for result in results if isinstance(result, str)]
    assert (typos, len(values) - typos) == (len(refused), len(results) - len(refused))
    assert all("is above five; correct it in the file" in reason for reason in refused)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Stars", ["5", "9", "3", "4"], "1 is above five"),
        ("Rating", [*OUT_OF_FIVE, "7", "9"], "2 are above five"),
        ("Rating", ["2", "1", "1", "2", "5", "9"], "they are from 1 to 9"),
        ("Points", ["3", "4", "4", "3", "4", "9"], "they are from 3 to 9"),
        ("Nota", [*OUT_OF_FIVE, "9"], "it may be a school grade"),
    ],
)
def test_rating_above_five_is_a_question_unless_all_others_are_stars(
    name: str, values: list[str], why: str
) -> None:
    """Two points of ten would otherwise become two stars."""
    with pytest.raises(SayMoreError, match=why):
        column(name, values)


@pytest.mark.parametrize(
    ("name", "values", "stars"),
    [
        ("Rating (1-10)", ["10", "4"], [5, 2]),
        ("Rating 0 to 10", ["0", "10"], [1, 5]),
        ("Score /10", ["8", "3"], [4, 2]),
        ("Note sur 20", ["16", "4"], [4, 1]),
        ("Bewertung von 10", ["8"], [4]),
        ("Rating out of 5", ["4"], [4]),
        ("Rating (1-5)", ["4", "2"], [4, 2]),
        ("Rating %", ["80", "4"], [4, 1]),
        ("Note /5", ["4"], [4]),
        ("RATING 1 TO 10", ["10", "4"], [5, 2]),
        ("Bewertung 1 BIS 10", ["10", "4"], [5, 2]),
        ("Rating 1-10 (2024)", ["10", "4"], [5, 2]),
        (f"Rating{' of your stay' * 10} /10", ["10", "4"], [5, 2]),
    ],
)
def test_header_says_the_scale(name: str, values: list[str], stars: list[int]) -> None:
    assert stars == column(name, values)


@pytest.mark.parametrize(
    "date",
    ["as of 12/2024", "as of 12/24", "as of 12", "05/24", "01-12-2024", "2024-05-12", "von 12.24"],
)
def test_date_in_a_header_is_no_scale(date: str) -> None:
    assert [5, 4, 5, 3, 5] == column(f"Rating ({date})", OUT_OF_FIVE)


@pytest.mark.parametrize("name", ["Bewertung (1-5)", "Bewertung 1 bis 6"])
def test_low_numbers_of_a_scale_are_a_question(name: str) -> None:
    """With 1 as the best, as of school grades, praise would be shown with one star."""
    with pytest.raises(SayMoreError, match="may have 1 as the best: most are low"):
        column(name, ["1", "2", "1"])


@pytest.mark.parametrize("name", ["Bewertung 1-5 (1 = sehr gut)", "Rating (1 = bad, 5 = good)"])
def test_heading_that_explains_its_numbers_is_a_question(name: str) -> None:
    with pytest.raises(SayMoreError, match="its name says what they mean"):
        column(name, OUT_OF_FIVE)


def test_number_beside_the_rating_is_its_scale() -> None:
    """Each row has its own: an aggregator has ratings of several sites."""
    rows: list[Fields] = [
        {"rating": "4", "bestRating": "10"},
        {"rating": 4, "bestRating": 5},
        {"rating": "4", "bestRating": ""},
        {"rating": "11", "bestRating": "10"},
    ]

    assert [
        *(2, 4),
        'best rating "" is not understood',
        'rating "11" is not a rating of 10',
    ] == read(rows, "rating")


@pytest.mark.parametrize(
    ("rating", "row"),
    [
        ("Review score", {"Review score": "4", "Positive review": "Staff", "Guest name": "Ann"}),
        ("scoring.review_score", {"scoring.review_score": 4, "content.positive": "Staff"}),
        ("rating", {"rating": 4, "likedText": "Staff", "dislikedText": None}),
        ("rating", {"rating": 4, "publicReview": "Ok", "guestName": "Ann", "listingName": "A"}),
    ],
)
def test_platform_is_known_by_its_columns(rating: str, row: Fields) -> None:
    assert [2] == read([row], rating)


def test_ratings_that_say_it_themselves_are_no_question() -> None:
    assert [4, 4, 3] == column("Score", ["8/10", "4/5", "★★★"])


def test_operator_decides_before_all_evidence() -> None:
    assert [2] == read([{"Stars": "4"}], "Stars", Scale(best=10))
    assert [5] == read([{"Schulnote": "1,0"}], "Schulnote", Scale.parsed("6-1"))
