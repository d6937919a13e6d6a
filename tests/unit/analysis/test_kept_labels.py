"""The labels that are kept in insights.labels (insights.md 12)."""

import pytest

from reviewsd.analysis.kept_labels import KeptLabel, KeptLabels, encoded, merged
from reviewsd.analysis.labels import AspectLabel, EntityLabel, Labels, text_key
from reviewsd.analysis.model_labels import AspectAnswer, PersonAnswer, ReviewAnswer
from reviewsd.api.files import Diagnostic

GOOD = ReviewAnswer(services=("leak-repair",))


def line(text: str, rating: int = 5, labels: ReviewAnswer = GOOD) -> bytes:
    key = text_key(text, rating)
    return encoded(KeptLabel(text=key, model="tiny", lists="x", labels=labels))


def test_label_is_found_by_text_with_rating() -> None:
    labels_file = KeptLabels(line("a") + line("a", labels=ReviewAnswer()) + line("b"))
    last = labels_file.find(text_key("a", 5))
    assert last is not None
    assert (ReviewAnswer(), None) == (last.labels, labels_file.find(text_key("a", 4)))
    assert line("b") == labels_file.encoded({text_key("b", 5)})
    assert line("a", labels=ReviewAnswer()) + line("b") == labels_file.encoded()


def test_broken_lines_are_a_finding() -> None:
    """The other lines are used, and a last line without an end was cut, which is none."""
    labels_file = KeptLabels(b"{}\n" + line("a") + b"[" * 100_000 + b"\n\xff\n" + line("b")[:9])
    reason = "3 lines, the first is 1, are not of a label; rules read the reviews"
    assert [Diagnostic(file="insights.labels", reason=reason)] == labels_file.faults()
    assert labels_file.find(text_key("a", 5)) is not None
    assert [] == KeptLabels(line("a")).faults()


def test_digest_follows_the_labels() -> None:
    digests = [KeptLabels(c).digest for c in (b"", b"x\n", line("a"), line("a") + line("b"))]
    assert [b"", b""] == digests[:2]
    assert 3 == len(set(digests))


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
    result = merged(answer_text, rules, "tiny", is_current=True)
    assert [0.9, 0.5] == [label.strength for label in result.aspects]
    assert [("fair",), ()] == [label.wordings for label in result.aspects]
    assert rules.technicians == result.technicians
    assert ["the leak", None] == [label.phrase for label in result.services]
    assert "tiny" == result.model
    assert (0.4, rules.service_areas, "pl") == (result.words, result.service_areas, result.language)


def test_entities_of_rules_are_added_to_labels_by_earlier_lists() -> None:
    """A person added to the settings after the run is found at once."""
    rules = Labels(technicians=(EntityLabel(id="priya-raman"), EntityLabel(id="sam-ortiz")))
    answer = ReviewAnswer(technicians=("priya-raman",))
    for is_current, count in ((True, 1), (False, 2)):
        result = merged(answer, rules, "tiny", is_current=is_current)
        assert rules.technicians[:count] == result.technicians


def test_own_aspect_of_rules_is_added_to_labels_by_earlier_lists() -> None:
    """The model may not have known it; those of every trade it did."""
    opinions = [AspectLabel(id=name, sentiment="positive") for name in ("parking", "pricing")]
    answer = ReviewAnswer(aspects=())
    result = merged(answer, Labels(aspects=tuple(opinions)), "tiny", is_current=False)
    assert (opinions[0],) == result.aspects
    parking = AspectAnswer(id="parking", sentiment="negative", phrase="far away")
    answer = ReviewAnswer(aspects=(parking,))
    (label,) = merged(answer, Labels(aspects=tuple(opinions)), "tiny", is_current=False).aspects
    assert "negative" == label.sentiment


@pytest.mark.parametrize(
    ("sentiment", "praised_for"), [("positive", ("communication", "friendliness")), ("neutral", ())]
)
def test_person_is_praised_for_what_a_model_found_in_the_words_about_them(
    sentiment: str, praised_for: tuple[str, ...]
) -> None:
    """Findings of the rules count if the model has them in the review. Prices praise no person."""
    person = EntityLabel(
        id="priya-raman",
        phrase="Priya drew me a plan for a fair sum",
        sentiment="positive",
        praised_for=("friendliness", "cleanliness"),
    )
    answer = ReviewAnswer(
        technicians=(PersonAnswer(id="priya-raman", sentiment=sentiment),),
        aspects=tuple(
            AspectAnswer(id=name, sentiment=sign, phrase=phrase)
            for name, sign, phrase in (
                ("communication", "positive", "drew me a plan"),
                ("pricing", "positive", "fair sum"),
                ("punctuality", "negative", "Priya drew"),
                ("friendliness", "positive", "we laughed"),
                ("work_quality", "positive", "never leaked again"),
            )
        ),
    )
    (label,) = merged(answer, Labels(technicians=(person,)), "tiny", is_current=True).technicians
    assert praised_for == label.praised_for


def test_problems_of_rules_are_not_added_to_labels_by_earlier_lists() -> None:
    """Their list is always the same, so the model has denied them."""
    rules = Labels(problems=(EntityLabel(id="no-show"),))
    assert () == merged(ReviewAnswer(), rules, "tiny", is_current=False).problems


@pytest.mark.parametrize(
    ("by_model", "sentiment", "wordings"),
    [
        (PersonAnswer(id="priya-raman", sentiment="negative"), "negative", ("rude",)),
        (PersonAnswer(id="priya-raman", sentiment="positive"), "positive", ()),
        ("priya-raman", "negative", ("rude",)),  # of labels-1
    ],
)
def test_sentiment_of_a_person_is_that_of_the_model(
    by_model: PersonAnswer | str, sentiment: str, wordings: tuple[str, ...]
) -> None:
    rules = Labels(
        technicians=(
            EntityLabel(id="priya-raman", phrase="x", sentiment="negative", wordings=("rude",)),
        )
    )
    answer = ReviewAnswer(technicians=(by_model, PersonAnswer(id="sam", sentiment="neutral")))
    priya, sam = merged(answer, rules, "tiny", is_current=True).technicians
    assert ("x", sentiment, wordings) == (priya.phrase, priya.sentiment, priya.wordings)
    assert EntityLabel(id="sam", sentiment="neutral") == sam
