"""Checks of the answers of a language model (insights.md 7)."""

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.analysis.analysing import catalogue
from reviewsd.analysis.counting import Catalogue
from reviewsd.analysis.labels import AspectLabel, EntityLabel, Labels
from reviewsd.analysis.model_labels import (
    AspectAnswer,
    Excerpted,
    Judgement,
    ModelLabels,
    ReviewAnswer,
    merged,
)
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.reviews import Business
from reviewsd.pages.locales import words_of_insights

SETTINGS = InsightSettings(
    technicians=(
        NamedTechnician(name="Sam Ortiz", aliases=("Sammy",)),
        NamedTechnician(name="Sam Lee"),
        NamedTechnician(name="Zoë Marchand"),
    )
)


def lists(business: Business, settings: InsightSettings) -> Catalogue:
    return catalogue(settings, Rules(business, settings), words_of_insights("en"))


LISTS = lists(Business(name="B", category="Plumber"), SETTINGS.for_owner())
LABELS = ModelLabels(LISTS, "tiny")
TEXT = "Sammy wasn\u2019t late. The PRICE was fair;\nthe leak is fixed. \N{SMILING FACE WITH SUNGLASSES}"


def judged(entries: object, text: str = TEXT, rating: int = 4) -> Judgement:
    answer = entries if isinstance(entries, str) else json.dumps({"reviews": entries})
    return LABELS.judge(answer, [Excerpted(id="1", rating=rating, text=text)])


def entry(**labels: Any) -> list[dict[str, Any]]:  # noqa: ANN401  JSON
    return [{"id": "1", "aspects": [], **labels}]


def aspect(**changed: str) -> list[dict[str, Any]]:
    given = {"id": "pricing", "sentiment": "positive", "phrase": "PRICE was fair"}
    return entry(aspects=[given | changed])


def test_valid_labels_are_accepted() -> None:
    result = judged(
        entry(
            aspects=[{"id": "punctuality", "sentiment": "positive", "phrase": "wasn't late"}],
            technicians=["sam-ortiz"],
            services=["leak-repair"],
            problems=["long-wait"],
        )
    )
    assert (4, 0, ()) == (result.labels, result.refused, result.faults)
    answer_text = result.said["1"]
    assert "wasn\u2019t late" == answer_text.aspects[0].phrase  # as the text spells it
    assert (("sam-ortiz",), ("leak-repair",)) == (answer_text.technicians, answer_text.services)


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        (aspect(id="looks"), "review 1, aspects[0].id: not in the list"),
        (aspect(sentiment="great"), "review 1, aspects[0].sentiment: not one of"),
        (aspect(phrase="a fair price"), "review 1, aspects[0].phrase: not a verbatim piece"),
        (aspect(phrase=""), "review 1, aspects[0].phrase: not a verbatim piece"),
        (aspect(phrase=" ;\n"), "review 1, aspects[0].phrase: not a verbatim piece"),
        (entry(services=["theft"]), "review 1, services[0]: not in the list"),
        (entry(services=["leak-repair"] * 2), "review 1, services[1]: not in the list, or there"),
        (entry(technicians=["zoe-marchand"]), "technicians[0]: the text does not name"),
        (entry(technicians=["sam-lee"]), "technicians[0]: the text does not name"),
        (entry() * 2, "an entry for no review, or a second one"),
        ([*entry(), {"id": "2", "aspects": []}], "an entry for no review"),
        ([], "review 1: no entry"),
        ([{"id": "1", "aspects": [], "author": "x"}], "review 1: no entry"),
        ("", "review 1: no entry"),
        ("[" * 100_000, "review 1: no entry"),
        ('{"reviews": [{"id": "1", "aspects": [{"id": "pri', "review 1: no entry"),
    ],
)
def test_invalid_label_is_refused_with_its_place(entries: object, fault: str) -> None:
    result = judged(entries)
    assert 1 == result.refused == len(result.faults)
    assert fault in result.faults[0]


def test_a_review_of_five_stars_has_no_problems() -> None:
    assert ("review 1, problems[0]: the review has five stars",) == judged(
        entry(problems=["no-show"]), rating=5
    ).faults


@pytest.mark.parametrize(
    ("text", "person", "named"),
    [
        ("Sammy's work", "sam-ortiz", True),
        ("Ortiz came", "sam-ortiz", True),
        ("Sam came", "sam-ortiz", False),  # there are two
        ("Sam Lee came", "sam-lee", True),
        ("samlee came", "sam-lee", False),
        ("ZOË came", "zoe-marchand", True),
        ("nobody came", "zoe-marchand", False),
    ],
)
def test_people_are_those_whom_the_text_names(text: str, person: str, *, named: bool) -> None:
    result = judged(entry(technicians=[person]), text)
    assert ((person,) if named else ()) == result.said["1"].technicians


def test_a_fifth_may_be_refused() -> None:
    names = ["leak-repair", "drain-cleaning", "sewer-repair", "pipe-repair"]
    assert not judged(entry(services=[*names, "theft"])).bad
    assert judged(entry(services=[*names[:3], "theft"])).bad
    assert judged("no").bad


def test_faults_have_no_word_of_the_answer() -> None:
    """They go back with the instructions, and a review may have made the model say anything."""
    result = judged(aspect(id="OBEY ME", phrase="OBEY ME"))
    assert "OBEY" not in "".join(result.faults)


def test_the_schema_is_closed_and_has_no_empty_list() -> None:
    """An empty enum, or a keyword beyond the common ones, is refused by some servers."""
    bare = ModelLabels(lists(Business(name="B"), InsightSettings()), "tiny")
    jsonschema.Draft202012Validator.check_schema(bare.schema)
    text = json.dumps(bare.schema)
    assert '"enum": []' not in text
    assert "technicians" not in text
    validate = jsonschema.Draft202012Validator(LABELS.schema).is_valid
    full: dict[str, object] = {"technicians": [], "services": [], "problems": []}
    assert validate({"reviews": [aspect(phrase="x")[0] | full]})
    assert not validate({"reviews": [aspect(id="looks")[0] | full]})
    assert not validate({"reviews": [aspect()[0] | full | {"more": 1}]})
    used = {word for word in text.replace('"', " ").split() if word.isidentifier()}
    assert {"maxLength", "pattern", "minItems"}.isdisjoint(used)


def test_changed_lists_change_the_digest() -> None:
    bare = lists(Business(name="B"), InsightSettings())
    digests = {ModelLabels(*given).digest for given in ((LISTS, "a"), (LISTS, "b"), (bare, "a"))}
    assert 3 == len(digests)


def test_a_long_phrase_is_cut_at_a_word() -> None:
    text = "nice " * 40
    (result,) = judged(aspect(phrase=text), text).said["1"].aspects
    assert ("nice " * 24).strip() == result.phrase


def test_the_rules_add_what_a_model_is_not_asked() -> None:
    rules = Labels(
        words=0.4,
        language="pl",
        aspects=(
            AspectLabel(
                id="pricing", sentiment="positive", phrase="x", strength=0.9, wordings=("fair",)
            ),
        ),
        technicians=(EntityLabel(id="priya-raman", sentiment="negative", wordings=("rude",)),),
        services=(EntityLabel(id="leak-repair", phrase="the leak"),),
        service_areas=(EntityLabel(id="north"),),
    )
    answer_text = ReviewAnswer(
        aspects=(
            AspectAnswer(id="pricing", sentiment="positive", phrase="fair"),
            AspectAnswer(id="scheduling", sentiment="negative", phrase="late"),
        ),
        technicians=("priya-raman",),
        services=("leak-repair", "pipe-repair"),
    )
    result = merged(answer_text, rules)
    assert [0.9, 0.5] == [label.strength for label in result.aspects]
    assert [("fair",), ()] == [label.wordings for label in result.aspects]
    assert rules.technicians == result.technicians
    assert ["the leak", None] == [label.phrase for label in result.services]
    assert (0.4, rules.service_areas, "pl") == (
        result.words,
        result.service_areas,
        result.language,
    )


@given(st.text(), st.text(), st.integers(0, 200), st.integers(1, 200))
def test_published_phrases_are_verbatim(text: str, answer_text: str, at: int, size: int) -> None:
    for phrase in (answer_text, text[at : at + size], text[at : at + size].upper()):
        answer = msgspec.json.encode({"reviews": aspect(phrase=phrase)})
        result = LABELS.judge(answer.decode(), [Excerpted(id="1", rating=4, text=text)])
        for label in result.said["1"].aspects if result.said else ():
            assert label.phrase in text
            assert len(label.phrase) <= 120
