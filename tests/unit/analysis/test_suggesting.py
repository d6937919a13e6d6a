"""Candidates for insights.yaml (insights.md 3 and 8)."""

import datetime
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.analysis import suggesting
from reviewsd.analysis.settings import AspectSetting, InsightSettings, NamedTechnician
from reviewsd.analysis.suggesting import Suggestions, suggest
from reviewsd.domain.reviews import Business, Review
from tests.support.examples import examples
from tests.support.growth import Thunk, assert_linear

BUSINESS = Business(name="Acme Plumbing", category="Plumber", service_areas=("Boston",))


def reviews(*texts: str) -> Iterator[Review]:
    for number, text in enumerate(texts):
        yield Review(
            id=str(number),
            author="Jane D.",
            rating=4,
            date=datetime.date(2026, 1, 1),
            text=text,
            source="google",
            verified=True,
        )


def suggested(*texts: str, owner: InsightSettings | None = None) -> Suggestions:
    return suggest(reviews(*texts), BUSINESS, owner or InsightSettings())


TEXTS = (
    "Sam Ortiz came out and he fixed our garage door.",
    "Great work by Sam. Parking was easy.",
    "They repaired the garage doors in Boston. Google it.",
    "sam knew what to do. My wife Anna called on Monday, and they replaced the garage door.",
    "Sam's helper was nice, but the parking is terrible.",
    "Great. Prompt. The parking was awful.",
)


def test_people_services_and_aspects_are_told_with_counts_and_a_quotation() -> None:
    suggestions = suggested(*TEXTS)
    sam, anna = suggestions.technicians
    assert ("Sam Ortiz", ("Sam",), 3) == (sam.name, sam.also, sam.reviews)
    assert ("0", "Sam Ortiz came out and he fixed our garage door.") == (
        sam.review_id,
        sam.quotation,
    )
    assert "Anna" == anna.name  # a wife: the owner sees the sentence, and decides
    assert "My wife Anna called on Monday" in anna.quotation
    (door,) = suggestions.services
    assert ("garage door", ("garage doors",), 3) == (door.name, door.also, door.reviews)
    assert ["parking"] == [candidate.name for candidate in suggestions.aspects]
    assert suggestions.preset  # which a list of services would replace


def test_two_people_are_not_one() -> None:
    suggestions = suggested("Thanks to Sam & Ben, they came on time. Sam/Ben did it.")
    assert ["Ben", "Sam"] == sorted(candidate.name for candidate in suggestions.technicians)


@pytest.mark.parametrize("role", ["Hosts", "Owners", "Chefs"])
def test_plural_of_a_role_is_no_person(role: str) -> None:
    suggestions = suggested(f"Lovely stay. {role} told us where to eat, and Anna told us more.")
    assert ["Anna"] == [candidate.name for candidate in suggestions.technicians]


def test_heading_of_a_half_is_no_person() -> None:
    """An import puts the name of the column before each half."""
    text = "What did you like: My teacher Karen came and she fixed it.\n\nWhat could be better: Parking"
    assert ["Karen"] == [person.name for person in suggested(text, text).technicians]


def test_configured_names_are_no_candidates() -> None:
    owner = InsightSettings(
        technicians=(NamedTechnician(name="Sam Ortiz"), NamedTechnician(name="Anna")),
        services=(),
        aspects={"parking": AspectSetting(label="Parking", words=("parking",))},
    )
    suggestions = suggested(*TEXTS, owner=owner)
    assert ((), (), ()) == (suggestions.technicians, suggestions.aspects, suggestions.preset)


@pytest.mark.parametrize(
    "text",
    [
        "GREAT WORK BY SAM",  # says nothing of how names are written
        "Sehr gut, und Anna hat die Heizung repariert, das war nicht teuer.",
        "Great guy came. Thanks to Google.",
        "",
        "★★★★★",
    ],
)
def test_words_that_are_no_person(text: str) -> None:
    assert () == suggested(text).technicians


@examples(20)
@given(st.lists(st.text("SamBob theandfixedby.,'\u2019\u0130 \n", max_size=60), max_size=4))
def test_quotations_are_verbatim(texts: list[str]) -> None:
    suggestions = suggested(*texts)
    for candidate in (*suggestions.technicians, *suggestions.services, *suggestions.aspects):
        assert candidate.quotation in texts[int(candidate.review_id)]


def test_memory_is_bounded_and_what_is_frequent_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggesting, "_MAX_COUNTED", 50)
    names = ("".join(chr(ord("a") + int(digit)) for digit in f"{n:04}") for n in range(1000))
    texts = [f"Great work by Sam and then by B{name}." for name in names]
    first = suggested(*texts).technicians[0]
    assert ("Sam", 1000) == (first.name, first.reviews)


@pytest.mark.parametrize("piece", ["Sam ", "the door ", "by Ann. ", "new ", "the Ann's "])
def test_a_long_text_takes_time_in_proportion(piece: str) -> None:
    def making(size: int) -> Thunk:
        text = piece * (size // len(piece))
        return lambda: suggested(text)

    assert_linear(making)
