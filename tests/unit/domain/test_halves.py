"""The halves of a text: what was liked, and what was not (insights.md 4, rule 5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.halves import halves


def _texts(text: str) -> list[tuple[bool, str]]:
    return [(half.liked, text[half.start : half.end].strip()) for half in halves(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Positive review: Lovely hosts\n\nNegative review: No parking",
        "A title\n\nPros: Lovely hosts\nCons: No parking",
        "Liked text: Lovely hosts\r\nDisliked text: No parking",
        "Vorteile: Lovely hosts\nNicht gefallen: No parking",
        "Points positifs: Lovely hosts\nPoints négatifs: No parking",
        "PROS: Lovely hosts\ncons : No parking\n\nI would come again: surely",
    ],
)
def test_each_half_begins_after_its_heading(text: str) -> None:
    assert [(True, "Lovely hosts"), (False, "No parking")] == _texts(text)


@pytest.mark.parametrize(
    "text",
    ["No halves", "The pros: none. The cons: all.", "Opening hours: 9 to 5", ": alone", "Liked it"],
)
def test_text_without_such_headings_has_no_halves(text: str) -> None:
    assert [] == halves(text)


def test_half_ends_at_an_empty_line() -> None:
    assert [(True, "The view\nand the hosts")] == _texts(
        "Pros: The view\nand the hosts\n\nAll in all"
    )


@given(st.lists(st.sampled_from(["Pros:", "Cons: ", "a: b", "", " ", "wifi"])))
def test_halves_follow_each_other_within_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    edges = [edge for half in halves(text) for edge in (half.begin, half.start, half.end)]
    assert sorted(edges) == edges
    assert all(edge <= len(text) for edge in edges)
    assert all(half.liked is text[half.begin :].startswith("Pros") for half in halves(text))
