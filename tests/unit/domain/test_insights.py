"""Names that are derived where the insights leave them out (data-model.md 2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.insights import Entity, named, slug


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        ("AC repair", Entity(id="ac-repair", name="AC repair", label="AC repair")),
        (Entity(label="AC repair"), Entity(id="ac-repair", name="AC repair", label="AC repair")),
        (Entity(name="Sam B."), Entity(id="sam-b", name="Sam B.", label="Sam B.")),
        (Entity(id="ac_repair"), Entity(id="ac_repair", name="ac_repair", label="ac_repair")),
        (Entity(id="7", label="Sam"), Entity(id="7", name="Sam", label="Sam")),
        (Entity(id="7", name="Sam"), Entity(id="7", name="Sam", label="Sam")),
        (Entity(name="Samuel", label="Sam"), Entity(id="sam", name="Samuel", label="Sam")),
        (Entity(id="7", name="Samuel", label="Sam"), Entity(id="7", name="Samuel", label="Sam")),
    ],
)
def test_one_of_id_label_and_name_is_enough(entity: str | Entity, expected: Entity) -> None:
    assert expected == named(entity)
    assert expected == named(named(entity))


def test_everything_else_is_kept() -> None:
    entity = Entity(label="Sam", mention_count=3, top_phrases=("quick",), review_ids=("r1",))
    expected = Entity(
        id="sam",
        name="Sam",
        label="Sam",
        mention_count=3,
        top_phrases=("quick",),
        review_ids=("r1",),
    )
    assert expected == named(entity)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Boiler repair", "boiler-repair"),
        ("  Water -- heater!  ", "water-heater"),
        ("Réparation A/C", "reparation-a-c"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("İstanbul ½ ℡", "istanbul-1-2-tel"),
        ("ac_repair", "ac-repair"),
        ("給湯器 修理", "給湯器-修理"),
        ("24/7", "24-7"),
        ("★★★", "★★★"),
        ("?", "?"),
    ],
)
def test_a_slug_is_made_of_words(label: str, expected: str) -> None:
    """A label without words is its own slug, because an id must not be empty."""
    assert expected == slug(label)


@given(label=st.text(min_size=1))
def test_a_slug_stays_itself_and_is_never_empty(label: str) -> None:
    result = slug(label)
    assert result
    assert result == slug(result)
    assert result in {result.casefold(), label}
