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


GRADED = {
    "en": ["great work", "excellent", "just awful"],
    "de": ["super, eine glatte Eins", "sehr gut", "ganz furchtbar"],
    "fr": ["parfait", "Excellente coiffeuse", "service décevant"],
    "es": ["Perfecto", "Excelente trato", "pésimo"],
    "it": ["Ottimo", "perfetto!", "pessimo servizio"],
    "pt": ["Ótimo", "perfeito", "horrível"],
    "nl": ["Geweldig", "heel goed", "erg slecht"],
}


@pytest.mark.parametrize("name", ["Bewertung (1-5)", "Rating (1-6)", "Rating", "Note /5"])
@pytest.mark.parametrize("texts", GRADED.values(), ids=GRADED)
def test_words_that_contradict_the_numbers_are_a_question(name: str, texts: list[str]) -> None:
    """With 1 as the best, as of school grades, praise would be shown with one star."""
    numbers = ["1", "2", "5"]
    rows: list[Fields] = [
        {name: number, "Text": text} for number, text in zip(numbers, texts, strict=True)
    ]
    columns = {"rating": name, "text": "Text"}
    with pytest.raises(SayMoreError, match="texts say the opposite, as 1 beside"):
        scale_of(rows, columns, Scale())
    agreeing = [{**row, name: str(6 - int(str(row[name])))} for row in rows]
    scale, _ = scale_of(agreeing, columns, Scale(best=5))

    assert [5, 4, 1] == [scale(row).stars(row[name]).stars for row in agreeing]


def test_praise_beside_four_of_five_agrees() -> None:
    rows: list[Fields] = [{"Rating": number, "Text": "Great"} for number in ["4", "4", "4", "5"]]
    scale, _ = scale_of(rows, {"rating": "Rating", "text": "Text"}, Scale())
    assert 4 == scale(rows[0]).stars("4").stars


@pytest.mark.parametrize(
    "text",
    [
        "Wasn't good",
        "Wasn\u2019t good",
        "The food isnt great",
        "Ce n'était guère excellent",
        f"Great {'idea ' * 30}but it was awful" * 2,
        f"{'We went ' * 12}goodness knows why",
        "so badly that nothing was good",
    ],
)
def test_text_that_turns_its_praise_around_is_no_contradiction(text: str) -> None:
    """Texts were cut at 100 characters, within words, and contractions taken apart."""
    rows: list[Fields] = [{"Rating": number, "Text": text} for number in ["1", "1", "2"]]
    rows += [{"Rating": "5", "Text": ""}] * 9
    scale, _ = scale_of(rows, {"rating": "Rating", "text": "Text"}, Scale())

    assert 1 == scale(rows[0]).stars("1").stars


def test_praise_at_the_end_of_a_long_text_contradicts_a_low_rating() -> None:
    text = f"{'We had been there often. ' * 10}Great place!"
    rows: list[Fields] = [{"Rating": number, "Text": text} for number in ["1", "1", "5"]]
    with pytest.raises(SayMoreError, match='texts say the opposite, as 1 beside "great"'):
        scale_of(rows, {"rating": "Rating", "text": "Text"}, Scale())


def test_irony_in_one_text_is_no_question() -> None:
    texts = ["Super, wieder nichts", "Super, wieder zu spät", "Sehr gut", "Toll", "Prima"]
    rows: list[Fields] = [
        {"Rating /5": number, "Text": text}
        for number, text in zip(["1", "1", "5", "5", "4"], texts, strict=True)
    ]
    scale, _ = scale_of(rows, {"rating": "Rating /5", "text": "Text"}, Scale())
    assert [1, 5] == [scale(rows[0]).stars("1").stars, scale(rows[0]).stars("5").stars]


def test_bad_ratings_are_stars_where_three_texts_agree() -> None:
    """The table of an insurer with thirty reviews of one star was refused as one of school grades."""
    columns = {"rating": "Rating", "text": "Text"}
    cells = (("5", "Excellent."), ("1", "Terrible."), ("1", ""), ("1", ""), ("2", "Rude."))
    rows: list[Fields] = [{"Rating": rating, "Text": text} for rating, text in cells]
    assert 5 == scale_of(rows, columns, Scale())[0](rows[0]).best
    with pytest.raises(SayMoreError, match="they are from 1 to 5"):
        scale_of(rows[:-1], columns, Scale())


@pytest.mark.parametrize("name", ["Bewertung (1-5)", "Bewertung 1 bis 6"])
def test_low_numbers_of_a_scale_are_a_question_unless_texts_agree(name: str) -> None:
    with pytest.raises(SayMoreError, match="may have 1 as the best: most are low"):
        column(name, ["1", "2", "1"])
    rows: list[Fields] = [{name: number, "Text": "Einfach schlecht"} for number in ["1", "2", "1"]]
    rows.append({name: "4", "Text": "Passt"})
    scale, _ = scale_of(rows, {"rating": name, "text": "Text"}, Scale())
    assert 1 == scale(rows[0]).stars("1").stars


@pytest.mark.parametrize("name", ["Bewertung 1-5 (1 = sehr gut)", "Rating (1 = bad, 5 = good)"])
def test_heading_that_explains_its_numbers_is_a_question(name: str) -> None:
    with pytest.raises(SayMoreError, match="its name says what they mean"):
        column(name, OUT_OF_FIVE)


def test_missing_worst_grade_is_pointed_out() -> None:
    """In Austria 5 is the worst, which 6-1 shows with two stars."""
    _, austria = scale_of([{"Note": "1"}, {"Note": "5"}], {"rating": "Note"}, Scale.parsed("6-1"))
    _, germany = scale_of([{"Note": "5"}, {"Note": "6"}], {"rating": "Note"}, Scale.parsed("6-1"))
    assert "say --set scale=5-1" in austria
    assert "5-1" not in germany


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
