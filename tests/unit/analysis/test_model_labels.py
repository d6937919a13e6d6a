"""Checks of the answers of a language model (insights.md 7)."""

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.analysis.analysing import catalogue
from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.counting import Catalogue
from reviewsd.analysis.model_labels import (
    AspectAnswer,
    Excerpted,
    Judgement,
    ModelLabels,
    PersonAnswer,
    ReviewAnswer,
    contradicts,
)
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import AspectSetting, InsightSettings, NamedTechnician
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
    return catalogue(settings, Rules(business, settings), words_of_insights(business))


BUSINESS = Business(name='Joe "Flow" & Sons', category="Plumber")
LISTS = lists(BUSINESS, SETTINGS.for_owner())
LABELS = ModelLabels(LISTS, BUSINESS)
TEXT = "Sammy wasn\u2019t late. The PRICE was fair;\nthe leak is fixed. \N{SMILING FACE WITH SUNGLASSES}"


def judged(entries: object, text: str = TEXT, rating: int = 4) -> Judgement:
    answer = entries if isinstance(entries, str) else json.dumps({"reviews": entries})
    return LABELS.judge(answer, [Excerpted(id="1", rating=rating, text=text)])


def entry(**labels: Any) -> list[dict[str, Any]]:
    return [{"id": "1", "aspects": [], **labels}]


def _phrase(result: Judgement) -> str:
    (label,) = result.answers["1"].aspects or ()
    return label.phrase


def person(name: str, sentiment: str = "positive") -> dict[str, str]:
    return {"id": name, "sentiment": sentiment}


def aspect(**changed: str) -> list[dict[str, Any]]:
    given = {"id": "pricing", "sentiment": "positive", "phrase": "PRICE was fair"}
    return entry(aspects=[given | changed])


def test_valid_labels_are_accepted() -> None:
    result = judged(
        entry(
            aspects=[{"id": "punctuality", "sentiment": "positive", "phrase": "wasn't late"}],
            technicians=[person("sam-ortiz")],
            services=["leak-repair"],
            problems=["long-wait"],
        )
    )
    assert (4, 0, ()) == (result.labels, result.refused, result.faults)
    answer_text = result.answers["1"]
    assert "wasn\u2019t late" == _phrase(result)  # as the text spells it
    assert [PersonAnswer(id="sam-ortiz", sentiment="positive")] == [
        *(answer_text.technicians or ())
    ]
    assert ("leak-repair",) == answer_text.services


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
        (entry(technicians=[person("zoe-marchand")]), "technicians[0]: the text does not name"),
        (entry(technicians=[person("sam-lee")]), "technicians[0]: the text does not name"),
        (entry(technicians=[person("mary")]), "technicians[0]: not in the list"),
        (entry(technicians=[person("sam-ortiz")] * 2), "technicians[1]: not in the list, or there"),
        (entry(technicians=[person("sam-ortiz", "great")]), "technicians[0].sentiment: not one of"),
        (entry() * 2, "an entry for no review, or a second one"),
        ([*entry(), {"id": "2", "aspects": []}], "an entry for no review"),
        ([], "review 1: no entry"),
        ("", "review 1: no entry"),
        ("[" * 100_000, "review 1: no entry"),
        ('{"reviews": [{"id": "1", "aspects": [{"id": "pri', "review 1: no entry"),
    ],
)
def test_invalid_label_is_refused_with_its_place(entries: object, fault: str) -> None:
    result = judged(entries)
    assert 1 == result.refused == len(result.faults)
    assert fault in result.faults[0]


@pytest.mark.parametrize(
    ("text", "stars", "is_valid"),
    [
        ("He did not come.", 4, True),
        ("He did not come.", 5, False),
        ("Pros: he did come", 5, False),
        ("Positive review: The price\n\nNegative review: He did not come", 5, True),
    ],
)
def test_problem_in_a_review_of_five_stars_is_under_what_was_not_liked(
    text: str, stars: int, *, is_valid: bool
) -> None:
    """By rules as well (decision 630)."""
    result = judged(entry(problems=["no-show"]), text, stars)
    fault = "review 1, problems[0]: the review has five stars"
    assert (() if is_valid else (fault,)) == result.faults


@pytest.mark.parametrize(
    ("text", "name", "named"),
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
def test_people_are_those_whom_the_text_names(text: str, name: str, *, named: bool) -> None:
    for people in ([person(name)], [name]):  # ids alone are of labels-1
        assert named == bool(judged(entry(technicians=people), text).answers)


def test_half_of_the_labels_of_a_review_may_be_refused() -> None:
    """Most reviews have two or three, so a fifth would be none."""
    names = ["leak-repair", "drain-cleaning"]
    valid = judged(entry(services=[*names, "theft", "fraud"])).answers["1"]
    assert tuple(names) == valid.services
    assert not judged(entry(services=[names[0], "theft", "fraud"])).answers
    assert not judged("no").answers


def test_faults_have_no_word_of_the_answer() -> None:
    """They go back with the instructions, and a review may have made the model say anything."""
    result = judged(aspect(id="OBEY ME", phrase="OBEY ME"))
    assert "OBEY" not in "".join(result.faults)


def test_the_schema_is_closed_and_has_no_empty_list() -> None:
    """An empty enum, or a keyword beyond the common ones, is refused by some servers."""
    bare = ModelLabels(lists(Business(name="B"), InsightSettings()), BUSINESS)
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


def test_changed_lists_have_another_digest() -> None:
    bare = lists(Business(name="B"), InsightSettings())
    assert LABELS.lists == ModelLabels(LISTS, BUSINESS).lists != ModelLabels(bare, BUSINESS).lists


def test_renamed_business_needs_no_new_labels() -> None:
    assert LABELS.lists == ModelLabels(LISTS, Business(name="Flow")).lists


def test_model_is_told_the_business_and_what_its_aspects_mean() -> None:
    own = InsightSettings(aspects={"parking": AspectSetting(label="Parking", words=("parking",))})
    labels = ModelLabels(lists(BUSINESS, own), BUSINESS)
    assert r'one business, "Joe \"Flow\" & Sons (Plumber)".' in labels.instructions
    assert '"response_time":"how quickly they' in labels.instructions
    assert '"parking":"Parking"' in labels.instructions
    for name in ASPECTS:
        assert f'"{name}":"' in labels.instructions.split("The aspects mean:")[1].split("\n")[0]


@pytest.mark.parametrize(
    ("phrase", "published"),
    [
        ("was fair; the leak", "was fair;\nthe leak"),  # a line break of the text
        ("the  leak is fixed...", "the leak is fixed"),
        ('"the leak is fixed"', "the leak is fixed"),
        ("late - the price", "late. The PRICE"),
        ("price is fair", ""),
        ("the leak ... fixed", ""),  # words are left out
        ("fair " * 1000, ""),
    ],
)
def test_phrase_may_differ_from_the_text_in_spaces_and_marks(phrase: str, published: str) -> None:
    """Models tidy up what they copy; a label without its phrase is lost."""
    result = judged(aspect(phrase=phrase))
    assert bool(published) == bool(result.answers)
    assert not published or published == _phrase(result)


def test_a_long_phrase_is_cut_at_a_word() -> None:
    text = "nice " * 40
    assert ("nice " * 24).strip() == _phrase(judged(aspect(phrase=text), text))


@pytest.mark.parametrize(
    "form",
    [
        "```json\n{}\n```",
        "<think>\nThe first [1] is {{good}}.\n</think>\n{}",
        "so it is {{good}}.</think>{}",
        "Here are the labels:\n{}\nDone.",
    ],
)
def test_text_around_an_answer_is_ignored(form: str) -> None:
    """Models that cannot be bound to a schema wrap their answers."""
    for answer in ({"reviews": aspect()}, aspect()):
        result = judged(form.format(json.dumps(answer)))
        assert ("PRICE was fair", ()) == (_phrase(result), result.faults)


@pytest.mark.parametrize(
    "changed", [{"id": 1}, {"services": None}, {"language": "en"}, {"problems": None, "id": 1}]
)
def test_entry_is_read_that_differs_from_the_schema_in_form_only(changed: dict[str, Any]) -> None:
    result = judged([aspect()[0] | changed])
    assert ("PRICE was fair", ()) == (_phrase(result), result.faults)


def test_other_entries_are_kept_when_one_is_bad() -> None:
    good, bad = aspect()[0], {"id": "2", "aspects": [{"id": "pricing"}]}
    reviews = [Excerpted(id=number, rating=4, text=TEXT) for number in "123"]
    result = LABELS.judge(json.dumps({"reviews": [good, bad, good | {"id": 3}]}), reviews)
    assert ["1", "3"] == list(result.answers)
    assert ("entry 2: not by the schema", "review 2: no entry") == result.faults


@pytest.mark.parametrize(
    ("sentiments", "rating", "expected"),
    [
        (["negative"], 5, True),
        (["positive", "positive", "negative"], 1, True),
        (["positive", "negative"], 1, False),
        (["negative"], 3, False),
        (["neutral"], 5, False),
        ([], 1, False),
    ],
)
def test_labels_contradict_stars_by_most_opinions(
    sentiments: list[str], rating: int, *, expected: bool
) -> None:
    aspects = tuple(AspectAnswer(id="x", sentiment=sign, phrase="x") for sign in sentiments)
    assert expected == contradicts(ReviewAnswer(aspects=aspects), rating)


@given(st.text(), st.text(), st.integers(0, 200), st.integers(1, 200))
def test_published_phrases_are_verbatim(text: str, answer_text: str, at: int, size: int) -> None:
    for phrase in (answer_text, text[at : at + size], text[at : at + size].upper()):
        answer = msgspec.json.encode({"reviews": aspect(phrase=phrase)})
        result = LABELS.judge(answer.decode(), [Excerpted(id="1", rating=4, text=text)])
        if result.answers:
            assert _phrase(result) in text
            assert len(_phrase(result)) <= 120
