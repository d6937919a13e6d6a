import datetime
import re
from dataclasses import replace

import msgspec
import pytest

from reviewsd.analysis.counting import BlockCounter, Catalogue
from reviewsd.analysis.labels import WORDLESS, AspectLabel, EntityLabel, Labels
from reviewsd.analysis.totals import Totals
from reviewsd.analysis.value import MadeInsights
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Review

_CATALOGUE = Catalogue(
    aspects={"pricing": "Pricing", "punctuality": "Punctuality"},
    technicians={"priya-raman": "Priya Raman"},
    services={"drains": "Drains", "leaks": "Leaks"},
    problems={"no-show": "No-show"},
    service_areas={"ellery": "Ellery"},
    topics={"drains": "Pipes", "leaks": "Pipes"},
)
_DAY = datetime.date(2026, 6, 15)


def _review(
    name: str, rating: int = 5, day: datetime.date = _DAY, text: str | None = "Fair price."
) -> Review:
    return Review(
        id=name, author="Ann", rating=rating, date=day, text=text, source="x", verified=True
    )


def _priced(sentiment: Sentiment, strength: float = 0.5, phrase: str = "Fair price") -> Labels:
    label = AspectLabel(id="pricing", sentiment=sentiment, phrase=phrase, strength=strength)
    return Labels(aspects=(label,))


def _count(*labelled: tuple[Review, Labels], catalogue: Catalogue = _CATALOGUE) -> MadeInsights:
    counter, totals = BlockCounter(catalogue), Totals(catalogue)
    entries = {review.id: counter.add(review, labels) for review, labels in labelled}
    totals.add(counter.counts)
    return totals.insights({review.id: review for review, _ in labelled}.__getitem__, entries)


def test_no_reviews() -> None:
    insights = _count()
    assert (insights.review_count, insights.aspects, insights.temporal.monthly, insights.faq) == (
        0,
        (),
        (),
        (),
    )
    assert insights.summary is msgspec.UNSET
    assert insights.pull_quote is msgspec.UNSET
    assert insights.overall_sentiment.positive_pct is msgspec.UNSET


def test_overall_sentiment_is_that_of_the_stars() -> None:
    insights = _count(*[(_review(f"r{i}", rating), WORDLESS) for i, rating in enumerate((5, 4, 3))])
    overall = insights.overall_sentiment
    assert (overall.positive_pct, overall.neutral_pct, overall.negative_pct) == (66.7, 33.3, 0)
    assert overall.score == 0.5
    assert insights.method.not_analysed == 3


def test_words_move_the_score_by_a_fifth_at_most() -> None:
    insights = _count((_review("a", 4), Labels(words=-1.0)), (_review("b", 5), Labels(words=1.0)))
    assert [entry.score for entry in insights.per_review.values()] == [0.3, 1.0]


def test_an_aspect_counts_reviews() -> None:
    insights = _count(
        (_review("a"), _priced("positive")),
        (_review("b"), _priced("positive", phrase="fair price")),
        (_review("c", 2), _priced("negative", 0.9, "Too much")),
        (_review("d"), WORDLESS),
    )
    (aspect,) = insights.aspects
    assert (aspect.mention_count, aspect.positive_count, aspect.negative_count) == (3, 2, 1)
    assert (aspect.positive_pct, aspect.score) == (66.7, 0.33)
    assert aspect.top_phrases == ("fair price", "Too much")
    assert aspect.example_review_ids == ("c", "b", "a")


def test_a_wording_is_spelled_as_most_reviews_spell_it() -> None:
    spelled = ("FAIR PRICE", "Fair price", "Fair price", "too much")
    insights = _count(
        *[(_review(f"r{n}"), _priced("positive", phrase=item)) for n, item in enumerate(spelled)]
    )
    assert insights.aspects[0].top_phrases == ("Fair price", "too much")


def test_examples_have_both_signs() -> None:
    many = [(_review(f"p{i}"), _priced("positive", 0.9)) for i in range(9)]
    insights = _count(*many, (_review("n", 1), _priced("negative", 0.4)))
    examples = insights.aspects[0].example_review_ids
    assert len(examples) == 5
    assert examples[-1] == "n"


def test_entities_take_the_sentiment_of_their_reviews() -> None:
    named = Labels(
        technicians=(EntityLabel(id="priya-raman", phrase="Priya"),),
        services=(EntityLabel(id="drains"), EntityLabel(id="leaks")),
        service_areas=(EntityLabel(id="ellery"),),
    )
    insights = _count(
        *[(_review(name, stars), named) for name, stars in zip("abcd", (5, 2, 5, 2), strict=True)]
    )
    (person,) = insights.entities.technicians
    assert (person.name, person.label, person.average_rating) == ("Priya Raman", "Priya Raman", 3.5)
    assert (person.positive_count, person.negative_count, person.score) == (2, 2, 0.25)
    assert insights.entities.service_areas[0].name is msgspec.UNSET
    (topic,) = insights.topics
    assert (topic.id, topic.label, topic.mention_count) == ("pipes", "Pipes", 4)
    assert insights.per_review["a"].topics == ("pipes",)


def test_problems_are_always_negative() -> None:
    insights = _count((_review("a", 4), Labels(problems=(EntityLabel(id="no-show", phrase="no"),))))
    (problem,) = insights.entities.problems
    assert (problem.negative_count, problem.positive_pct, problem.score) == (1, 0, -1)


def test_ids_that_are_not_in_the_catalogue_are_left_out() -> None:
    odd = Labels(
        aspects=(AspectLabel(id="odd", sentiment="positive"),),
        technicians=(EntityLabel(id="odd"),),
        services=(EntityLabel(id="odd"),),
    )
    insights = _count((_review("a"), odd))
    assert (insights.aspects, insights.entities.technicians, insights.topics) == ((), (), ())
    assert insights.per_review["a"].aspects == ()


def test_a_month_without_reviews_has_no_averages() -> None:
    first, last = datetime.date(2025, 11, 30), datetime.date(2026, 1, 1)
    insights = _count((_review("a", 5, first), WORDLESS), (_review("b", 1, last), WORDLESS))
    months = insights.temporal.monthly
    assert [item.month for item in months] == ["2025-11", "2025-12", "2026-01"]
    assert (months[1].review_count, months[1].average_rating) == (0, None)
    assert (months[1].score, months[1].positive_pct) == (None, None)
    assert (months[2].average_rating, months[2].score, months[2].positive_pct) == (1, -1, 0)


@pytest.mark.parametrize(
    ("before", "now", "count", "trend"),
    [
        (3, 5, 10, "improving"),
        (5, 3, 10, "declining"),
        (5, 5, 10, "stable"),
        (3, 5, 9, "stable"),
    ],
)
def test_trend(before: int, now: int, count: int, trend: str) -> None:
    labelled = []
    for year, rating in ((2025, before), (2026, now)):
        day = datetime.date(year, 6, 1)
        labelled += [(_review(f"{year}{i}", rating, day), WORDLESS) for i in range(count)]
    assert _count(*labelled).temporal.trend == trend


def test_wrong_year_gives_a_bounded_table() -> None:
    insights = _count((_review("a", 5, datetime.date(1, 1, 1)), WORDLESS), (_review("b"), WORDLESS))
    assert len(insights.temporal.monthly) == 1200


def test_faq_answers_with_counts_and_a_quotation() -> None:
    insights = _count(*[(_review(f"r{i}"), _priced("positive")) for i in range(5)])
    (entry,) = insights.faq
    assert entry.question == "What do customers say about the prices?"
    assert entry.answer == (
        "5 reviews mention pricing: 5 positively. \u201cFair price.\u201d \u2013 Ann, 2026-06-15"
    )
    assert len(entry.example_review_ids) == 5
    assert _count(*[(_review(f"r{i}"), _priced("positive")) for i in range(4)]).faq == ()


def test_summary_is_three_sentences_of_counts() -> None:
    insights = _count((_review("a"), _priced("positive")), (_review("b", 1), _priced("negative")))
    assert insights.summary == (
        "2 reviews give 3.0 of 5 stars on average; 50 % of them are positive."
        " Most praised: pricing (1 of 2 mentions); most criticized: pricing (1 of 2 mentions)."
        " In the twelve months up to the newest review: 2 reviews with 3.0 stars on average;"
        " in the twelve before: none."
    )
    private = _count(
        (_review("a"), _priced("positive")),
        (_review("b", 1), _priced("negative")),
        catalogue=replace(_CATALOGUE, problems={}),
    )
    assert (private.summary or "").split(". ")[1] == "Most praised: pricing (1 of 2 mentions)"
    alone = _count((_review("a", 4), WORDLESS))
    assert alone.summary == (
        "1 review gives 4 of 5 stars. No aspect is mentioned."
        " In the twelve months up to the newest review: 1 review with 4.0 stars;"
        " in the twelve before: none."
    )


@pytest.mark.parametrize(
    ("text", "rating", "quoted"),
    [
        ("Thanks! They did it for a fair price and were gone by noon. Bye.", 5, True),
        ("They did it for a fair price and were gone by noon.", 3, False),
        ("Fair price.", 5, False),  # too short
        (f"It was a fair price {'and so on ' * 20}.", 5, False),  # too long
        ("they did it for a fair price and were gone by noon.", 5, False),
        ("Mail me@home.example about the fair price they gave me.", 5, False),
    ],
)
def test_pull_quote(text: str, rating: int, *, quoted: bool) -> None:
    insights = _count((_review("a", rating, text=text), _priced("positive", phrase="fair price")))
    if not quoted:
        assert insights.pull_quote is msgspec.UNSET
    else:
        assert insights.pull_quote == "They did it for a fair price and were gone by noon."


def test_pull_quote_is_of_the_newest_year() -> None:
    text = "They did it for a fair price and were gone by noon."
    old = _review("a", day=datetime.date(2025, 6, 1), text=text)
    insights = _count((old, _priced("positive", phrase="fair price")), (_review("b"), WORDLESS))
    assert insights.pull_quote is msgspec.UNSET


def test_method_says_what_was_read() -> None:
    insights = _count(
        (_review("a"), Labels(language="pl")),
        (_review("b"), Labels(language="en")),
        (_review("c"), Labels(language="en")),
        (_review("d"), WORDLESS),
    )
    method = insights.method
    assert (list(method.languages.items()), method.not_analysed) == ([("en", 2), ("pl", 1)], 1)
    assert re.fullmatch(r"lexicon-\d+", method.rules)
