import datetime
import re
from dataclasses import replace
from typing import Final

import msgspec
import pytest

from reviewsd.analysis.counting import BlockCounter, Catalogue
from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.labels import WORDLESS, AspectLabel, EntityLabel, Labels
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.analysis.totals import Totals
from reviewsd.analysis.value import MadeInsights
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Business, Review
from reviewsd.pages.locales import words_of_insights

_CATALOGUE = Catalogue(
    aspects={"pricing": "Pricing", "punctuality": "Punctuality"},
    technicians={"priya-raman": "Priya Raman"},
    services={"drains": "Drains", "leaks": "Leaks"},
    problems={"no-show": "No-show"},
    service_areas={"ellery": "Ellery"},
    topics={"drains": "Pipes", "leaks": "Pipes"},
)
_EVIDENCE = Evidence(Rules(Business(name="B"), InsightSettings()))
_DAY = datetime.date(2026, 6, 15)


def _review(
    name: str, rating: int = 5, day: datetime.date = _DAY, text: str | None = "Fair price."
) -> Review:
    return Review(
        id=name, author="Ann", rating=rating, date=day, text=text, source="x", verified=True
    )


def _priced(sentiment: Sentiment, strength: float = 0.5, phrase: str = "Fair price") -> Labels:
    label = AspectLabel(
        id="pricing", sentiment=sentiment, phrase=phrase, strength=strength, wordings=(phrase,)
    )
    return Labels(aspects=(label,))


def _count(
    *labelled: tuple[Review, Labels], catalogue: Catalogue = _CATALOGUE, language: str = "en"
) -> MadeInsights:
    counter = BlockCounter(catalogue)
    totals = Totals(catalogue, _EVIDENCE, words_of_insights(Business(name="B", language=language)))
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
        (_review("e", 3), _priced("neutral", 0.1, "The price")),
        (_review("f", 2), _priced("negative", 0.4, "Steep price")),
    )
    (aspect,) = insights.aspects
    assert (aspect.mention_count, aspect.positive_count, aspect.negative_count) == (5, 2, 2)
    assert (aspect.positive_pct, aspect.score) == (40.0, 0.0)
    assert aspect.top_phrases == ("fair price",)
    assert aspect.example_review_ids == ("c", "b", "a", "f", "e")


@pytest.mark.parametrize(("mentions", "has_share"), [(4, False), (5, True)])
def test_share_of_an_aspect_needs_five_mentions(mentions: int, *, has_share: bool) -> None:
    """With four, a missed one moves the share by a fifth."""
    (aspect,) = _count(*[(_review(f"r{i}"), _priced("positive")) for i in range(mentions)]).aspects
    assert mentions == aspect.mention_count
    assert has_share is (aspect.positive_pct is not msgspec.UNSET)


def _spelled(*wordings: str) -> tuple[str, ...]:
    insights = _count(
        *[
            (_review(f"r{n}"), _priced("positive", phrase=text))
            for n, text in enumerate((*wordings, "a", "b", "c"))
        ]
    )
    return insights.aspects[0].top_phrases


def test_wording_is_spelled_as_most_reviews_spell_it() -> None:
    assert ("Fair price",) == _spelled("FAIR PRICE", "Fair price", "Fair price", "too much")


def test_inflections_are_one_wording() -> None:
    assert ("charges little",) == _spelled("charges little", "charged little")


def test_spellings_without_accents_are_one_wording() -> None:
    assert ("fair price",) == _spelled("fair pric\u00e9", "fair price")


def test_shortest_of_equally_frequent_spellings_is_shown() -> None:
    """The others are more often inflected, or the beginning of a sentence."""
    assert ("fair price",) == _spelled("fairest prices", "Fair price", "fair price")


def test_wording_of_one_review_is_not_shown() -> None:
    """A single review is an anecdote, and most of its wordings read oddly alone."""
    assert () == _spelled("fair price", "honest people")


def test_longer_wording_replaces_the_shorter_one_in_it() -> None:
    longer = ["expensive repair"] * 2
    assert ("expensive repair",) == _spelled(*longer, "expensive")
    assert ("expensive",) == _spelled(*longer, *["expensive"] * 5)[:1]


@pytest.mark.parametrize(
    "text", ["charged", "fair", "didn't", "honest people", "fair price only once", "nearly cheap"]
)
def test_wording_that_does_not_say_what_customers_praise_is_not_shown(text: str) -> None:
    assert () == _spelled(text, text)
    assert ("fair price",) == _spelled(text, text, text, "fair price", "fair price")


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
    assert (person.positive_count, person.negative_count, person.score) == (2, 2, 0)
    assert insights.entities.service_areas[0].name is msgspec.UNSET
    (topic,) = insights.topics
    assert (topic.id, topic.label, topic.mention_count) == ("pipes", "Pipes", 4)
    assert insights.per_review["a"].topics == ("pipes",)


def test_person_has_the_sentiment_of_the_clauses_and_the_stars_of_the_reviews() -> None:
    """ "Priya was super apologetic" in a review of one star is praise of Priya."""
    label = EntityLabel(id="priya-raman", sentiment="positive", wordings=("patient",))
    named = Labels(technicians=(label,))
    insights = _count(*[(_review(name, 1), named) for name in "abc"])
    (person,) = insights.entities.technicians
    assert (3, 100, 1, 1) == (
        person.positive_count,
        person.positive_pct,
        person.score,
        person.average_rating,
    )
    assert ("patient",) == person.top_phrases


@pytest.mark.parametrize(
    ("opinions", "figures"),
    [
        (("positive",) * 19, (100, 1, 19, 0)),
        (("positive",) * 18, (msgspec.UNSET,) * 4),  # more than one of twenty is not understood
        (("positive", "negative"), (msgspec.UNSET,) * 4),
    ],
)
def test_share_of_a_person_needs_opinions_in_nearly_all_reviews(
    opinions: tuple[Sentiment, ...], figures: tuple[object, ...]
) -> None:
    labelled = [
        (_review(f"r{i}", 1), Labels(technicians=(EntityLabel(id="priya-raman", sentiment=said),)))
        for i, said in enumerate((*opinions, "neutral"))
    ]
    (person,) = _count(*labelled).entities.technicians
    assert (len(labelled), 1) == (person.mention_count, person.average_rating)
    assert figures == (
        person.positive_pct,
        person.score,
        person.positive_count,
        person.negative_count,
    )
    assert person.neutral_count is msgspec.UNSET


def test_few_mentions_have_a_count_only() -> None:
    """ "100 % positive, 1 mention" is no statement."""
    named = Labels(
        aspects=_priced("positive").aspects,
        services=(EntityLabel(id="drains"),),
        service_areas=(EntityLabel(id="ellery"),),
    )
    insights = _count((_review("a"), named), (_review("b"), named))
    areas, services = insights.entities.service_areas, insights.entities.services
    for few in map(msgspec.to_builtins, (*insights.aspects, *areas, *services, *insights.topics)):
        assert {"id", "label", "mention_count", "top_phrases", "example_review_ids"} == few.keys()
        assert (2, ()) == (few["mention_count"], few["top_phrases"])


def test_problems_are_always_negative() -> None:
    late = Labels(problems=(EntityLabel(id="no-show", phrase="no"),))
    insights = _count(*[(_review(name, 3), late) for name in "abc"])
    (problem,) = insights.entities.problems
    assert (problem.negative_count, problem.positive_pct, problem.score) == (3, 0, -1)


def test_problem_of_one_review_is_not_listed() -> None:
    late = Labels(problems=(EntityLabel(id="no-show", phrase="no"),))
    insights = _count((_review("a", 4), late))
    assert ((), ("no-show",)) == (insights.entities.problems, insights.per_review["a"].problems)
    assert 1 == len(_count((_review("a", 3), late), (_review("b", 4), late)).entities.problems)


def test_problem_of_content_reviews_alone_is_not_listed() -> None:
    """ "A day late starting, but they called ahead" is no accusation."""
    late = Labels(problems=(EntityLabel(id="no-show", phrase="no"),))
    assert () == _count((_review("a", 4), late), (_review("b", 4), late)).entities.problems


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
    [(3, 5, 10, "improving"), (5, 3, 10, "declining"), (5, 5, 10, "stable"), (3, 5, 9, "stable")],
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
        "Most reviews that mention pricing are positive (5 counted)."
        " \u201cFair price.\u201d \u2013 Ann, June 15, 2026"
    )
    assert len(entry.example_review_ids) == 5
    assert _count(*[(_review(f"r{i}"), _priced("positive")) for i in range(4)]).faq == ()


def test_faq_names_nobody_in_the_language_of_the_business() -> None:
    reviews = [msgspec.structs.replace(_review(f"r{i}"), author="Anonymous") for i in range(5)]
    insights = _count(*[(review, _priced("positive")) for review in reviews], language="de")
    (entry,) = insights.faq
    assert "\u2013 Anonym, 15. Juni 2026" in entry.answer


_STEEP: Final = "The price is steep."


def _answer(positive: int, neutral: int, negative: int, steep: str = _STEEP) -> str:
    """Return the answer on prices, with quotations but without authors; "" if there is none."""
    labelled = [(_review(f"p{i}"), _priced("positive")) for i in range(positive)]
    labelled += [(_review(f"o{i}", 3), _priced("neutral")) for i in range(neutral)]
    labelled += [(_review(f"n{i}", 1, text=steep), _priced("negative")) for i in range(negative)]
    (answer,) = [entry.answer for entry in _count(*labelled).faq] or [""]
    return answer.replace(" \u2013 Ann, June 15, 2026", "")


@pytest.mark.parametrize(
    ("positive", "neutral", "negative", "expected"),
    [
        (7, 1, 0, "Most reviews that mention pricing are positive (7 of the 8 counted)."),
        (2, 0, 5, "Most reviews that mention pricing are critical (5 of the 7 counted)."),
        (0, 0, 5, "Most reviews that mention pricing are critical (5 counted)."),
        (
            5,
            0,
            4,
            "Opinions on pricing differ: of the reviews counted, 5 are positive and 4 critical.",
        ),
        (5, 0, 3, ""),
        (6, 1, 1, ""),
        (5, 1, 2, ""),
        (3, 2, 0, ""),
        (4, 0, 1, ""),
        (4, 3, 1, ""),
    ],
)
def test_answer_claims_what_missed_mentions_leave_true(
    positive: int, neutral: int, negative: int, expected: str
) -> None:
    assert expected == _answer(positive, neutral, negative).partition(" \u201c")[0]


def test_divided_opinions_are_not_illustrated_by_praise_alone() -> None:
    assert _answer(5, 0, 5).endswith(f" \u201cFair price.\u201d; \u201c{_STEEP}\u201d")
    assert not _answer(5, 0, 5, steep="The price.")


def test_quotation_is_looked_for_in_many_reviews() -> None:
    """The strongest mentions are seldom the ones that stand alone."""
    silent = [(_review(f"s{i}", text="The price."), _priced("positive", 0.9)) for i in range(20)]
    (entry,) = _count(*silent, (_review("a"), _priced("positive", 0.4))).faq
    assert "\u201cFair price.\u201d" in entry.answer


def test_faq_without_apt_quotation_is_left_out() -> None:
    """The filling that fell out in four days is no evidence of quick answers."""
    text = "The price of the filling."
    insights = _count(*[(_review(f"r{i}", text=text), _priced("positive")) for i in range(5)])
    assert () == insights.faq


def test_quotation_is_shown_once() -> None:
    """An answer needs it more than the head of the summary does."""
    labels = _mentioned("punctuality", 5, 0)
    labelled = [(_review(f"r{i}", text=_PULLED), element) for i, element in enumerate(labels)]
    assert (_PULLED, ()) == ((first := _count(*labelled[:4])).pull_quote, first.faq)
    insights = _count(*labelled)
    assert _PULLED in insights.faq[0].answer
    assert insights.pull_quote is msgspec.UNSET


def _mentioned(aspect: str, positive: int, negative: int, *wordings: str) -> list[Labels]:
    signs: list[Sentiment] = ["positive"] * positive
    signs += ["negative"] * negative
    return [
        Labels(aspects=(AspectLabel(id=aspect, sentiment=sign, strength=0.5, wordings=wordings),))
        for sign in signs
    ]


_TEXTS: Final[dict[tuple[str, Sentiment], tuple[int, str]]] = {
    ("pricing", "positive"): (5, "Fair price."),
    ("pricing", "negative"): (1, "The price is steep."),
    ("punctuality", "positive"): (5, "They were always on time."),
    ("cleanliness", "positive"): (5, "The place is clean."),
    ("work_quality", "positive"): (5, "The work is good."),
    ("communication", "positive"): (5, "They explained it."),
    ("recommendation", "positive"): (5, "I recommend them."),
    ("recommendation", "negative"): (1, "Stay away from them."),
    ("punctuality", "negative"): (1, "They came an hour late."),
}


_RECOMMENDING: Final = replace(_CATALOGUE, aspects={"recommendation": "Recommendation"})


def _named(*labels: Labels, catalogue: Catalogue = _CATALOGUE) -> str:
    """Return the second sentence of the summary; "" if there is one only."""
    counted = []
    for index, item in enumerate(labels):
        (label,) = item.aspects
        stars, text = _TEXTS[label.id, label.sentiment]
        counted.append((_review(f"r{index}", stars, text=text), item))
    sentences = (_count(*counted, catalogue=catalogue).summary or "").split(". ")
    return sentences[1].removesuffix(".") if len(sentences) > 1 else ""


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        (5, 0, "Mostly praised: pricing (5 counted)"),
        (6, 1, "Mostly praised: pricing (6 of the 7 counted)"),
        (11, 4, "Mostly praised: pricing (11 of the 15 counted)"),
        (4, 0, ""),
        (5, 1, ""),
        (6, 2, ""),
        (6, 4, "Opinions differ on pricing (6 of the 10 counted praise, 4 criticize)"),
        (4, 6, ""),
        (5, 3, ""),
        (3, 5, ""),
        (2, 5, "Mostly criticized: pricing (5 of the 7 counted)"),
        (8, 11, ""),
        (7, 13, "Mostly criticized: pricing (13 of the 20 counted)"),
        (3, 2, ""),
        (2, 2, ""),
        (0, 4, ""),
    ],
)
def test_praise_and_criticism_are_shares(positive: int, negative: int, expected: str) -> None:
    """By counts, the same aspect was most praised and most criticized (decision 473)."""
    assert expected == _named(*_mentioned("pricing", positive, negative))


def test_summary_names_what_most_reviews_share() -> None:
    labels = [
        *_mentioned("punctuality", 20, 0, "on time"),
        *_mentioned("pricing", 5, 0, "fair price", "good value"),
    ]
    assert (
        "Mostly praised: punctuality (20 counted; some say \u201con time\u201d)"
        " and pricing (5 counted;"
        " some say \u201cfair price\u201d and \u201cgood value\u201d)"
    ) == _named(*labels)


def test_summary_repeats_no_wording() -> None:
    labels = [
        *_mentioned("punctuality", 6, 0, "fair price on time"),
        *_mentioned("pricing", 5, 0, "Fair price on time", "good value"),
    ]
    assert _named(*labels).endswith(
        "(6 counted; some say \u201cfair price on time\u201d) and pricing (5 counted;"
        " some say \u201cgood value\u201d)"
    )


def test_what_most_reviews_praise_is_named_first() -> None:
    labels = (*_mentioned("pricing", 15, 5), *_mentioned("punctuality", 5, 0))
    assert _named(*labels).startswith("Mostly praised: pricing (")


@pytest.mark.parametrize(("good", "named"), [(4, True), (6, False)])
def test_good_reviews_are_not_summed_up_by_criticism_alone(good: int, *, named: bool) -> None:
    silent_reviews = [(_review(f"g{i}", text="Thanks!"), WORDLESS) for i in range(good)]
    priced = [(_review(f"n{i}", 1, text=_STEEP), _priced("negative")) for i in range(5)]
    assert named is ("criticized" in str(_count(*silent_reviews, *priced).summary))


@pytest.mark.parametrize(
    ("bad", "is_public", "named"), [(5, False, True), (6, False, False), (6, True, True)]
)
def test_bad_reviews_are_not_summed_up_by_praise_alone(
    bad: int, *, is_public: bool, named: bool
) -> None:
    """Half of an insurer's reviews had one star, and its speed alone was named (decision 666)."""
    late, priced = _mentioned("punctuality", 0, 1)[0], _mentioned("pricing", 5, 0)
    counted = [(_review(f"p{i}"), labels) for i, labels in enumerate(priced)]
    counted += [(_review(f"n{i}", 1, text="Two hours late."), late) for i in range(bad)]
    catalogue = _CATALOGUE if is_public else replace(_CATALOGUE, problems={})
    summary = str(_count(*counted, catalogue=catalogue).summary)
    assert (named, is_public) == ("praised" in summary, "criticized" in summary)


def test_divided_opinions_do_not_stand_in_place_of_hidden_criticism() -> None:
    """A page with thirty reviews of one star sounded balanced."""
    late = _mentioned("punctuality", 0, 6)
    divided = _mentioned("pricing", 6, 4)
    counted = [(_review(f"n{i}", 1, text="Late."), labels) for i, labels in enumerate(late)]
    counted += [(_review(f"p{i}"), labels) for i, labels in enumerate(divided)]
    counted += [(_review(f"w{i}", 1), WORDLESS) for i in range(8)]
    private = replace(_CATALOGUE, problems={})
    summaries = [str(_count(*counted, catalogue=each).summary) for each in (_CATALOGUE, private)]
    assert [True, False] == ["differ" in summary for summary in summaries]


@pytest.mark.parametrize(("positive", "negative", "differ"), [(9, 8, False), (9, 6, True)])
def test_opinions_differ_among_bad_reviews_where_praise_outweighs_complaints(
    positive: int, negative: int, *, differ: bool
) -> None:
    """Of a service that 8 of 22 praised, 9 were counted, and 8 of 14 complaints."""
    labels = _mentioned("pricing", positive, negative)
    counted = []
    for index, item in enumerate(labels):
        (label,) = item.aspects
        stars, text = _TEXTS[label.id, label.sentiment]
        counted.append((_review(f"r{index}", stars, text=text), item))
    counted += [(_review(f"w{i}", 1), WORDLESS) for i in range(20)]
    assert differ is bool(_count(*counted).faq)


def test_question_begins_with_a_capital() -> None:
    """In Portuguese it begins with the label, which is in small letters inside of sentences."""
    reviews = [(_review(f"r{i}"), _priced("positive")) for i in range(5)]
    catalogue = replace(_CATALOGUE, aspects={"pricing": "Custo"})
    (entry,) = _count(*reviews, catalogue=catalogue, language="pt").faq
    assert "Custo: o que dizem os clientes?" == entry.question


def test_criticism_is_private_without_problems() -> None:
    assert not _named(*_mentioned("pricing", 0, 5), catalogue=replace(_CATALOGUE, problems={}))


def test_four_aspects_are_named_the_most_praised_first() -> None:
    counts = {
        "communication": 5,
        "cleanliness": 6,
        "work_quality": 7,
        "pricing": 8,
        "punctuality": 9,
    }
    labels = {name: name.capitalize() for name in counts}
    praised = [item for name, count in counts.items() for item in _mentioned(name, count, 0)]
    assert _named(*praised, catalogue=replace(_CATALOGUE, aspects=labels)) == (
        "Mostly praised: punctuality (9 counted), pricing (8 counted)"
        ", work_quality (7 counted) and cleanliness (6 counted)"
    )


def test_wording_that_adds_to_an_earlier_one_is_not_named() -> None:
    """ "Delicious" and "food was delicious" say the same."""
    labels = [
        *_mentioned("punctuality", 4, 0, "on time"),
        *_mentioned("punctuality", 2, 0, "on time", "always on time"),
        *_mentioned("pricing", 5, 0, "fair price on time", "good value"),
    ]
    assert _named(*labels).endswith(
        "(6 counted; some say \u201con time\u201d) and pricing (5 counted;"
        " some say \u201cgood value\u201d)"
    )


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        (5, 0, "Would come again or recommend it: 5 counted"),
        (6, 4, "Would come again or recommend it: 6 of the 10 counted"),
        (4, 0, ""),
        (5, 2, ""),
    ],
)
def test_summary_says_how_many_would_come_again(
    positive: int, negative: int, expected: str
) -> None:
    labels = _mentioned("recommendation", positive, negative)
    assert expected == _named(*labels, catalogue=_RECOMMENDING)


@pytest.mark.parametrize("is_public", [True, False])
def test_that_most_would_not_come_again_is_criticism(*, is_public: bool) -> None:
    catalogue = _RECOMMENDING if is_public else replace(_RECOMMENDING, problems={})
    expected = "Would come again or recommend it: 1 of the 8 counted" if is_public else ""
    assert expected == _named(*_mentioned("recommendation", 1, 7), catalogue=catalogue)


def test_wording_that_repeats_the_aspect_is_not_named() -> None:
    """ "Punctual" tells a reader nothing that "punctuality" does not."""
    named = _named(*_mentioned("punctuality", 5, 0, "punctual", "on time"))
    assert "(5 counted; some say \u201con time\u201d)" in named
    assert named.endswith("on time\u201d)")


def test_summary_names_what_most_say_although_no_quotation_shows_it() -> None:
    """Complaints are told as stories, so a summary that asked for quotations was praise alone."""
    silent = [(_review(f"r{i}", text="The price."), _priced("positive")) for i in range(6)]
    assert "Mostly praised: pricing (6 counted" in str(_count(*silent).summary)


def test_divided_opinions_stand_between_praise_and_criticism() -> None:
    named = _named(*_mentioned("punctuality", 5, 0), *_mentioned("pricing", 5, 4))
    assert named.endswith("; opinions differ on pricing (5 of the 9 counted praise, 4 criticize)")


@pytest.mark.parametrize(("silent", "is_named"), [(30, True), (60, False)])
def test_sentences_name_what_a_seventh_of_reviews_mention(silent: int, *, is_named: bool) -> None:
    """Five of 58 reviews spoke of the speed of a vet; summary and answer said that all praise it."""
    silent_reviews = [(_review(f"s{i}", text="Thanks!"), WORDLESS) for i in range(silent)]
    praise = [(_review(f"p{i}", text="Fair price."), _priced("positive")) for i in range(5)]
    insights = _count(*silent_reviews, *praise)
    assert is_named is ("praised" in str(insights.summary))
    assert is_named is (len(insights.faq) == 1)


def test_most_criticized_of_divided_opinions_is_named_first() -> None:
    """A German practice with five divided aspects had its waits left out, which 13 of 60 patients criticize."""
    named = _named(*_mentioned("punctuality", 8, 5), *_mentioned("pricing", 5, 7))
    assert named.startswith(
        "Opinions differ on pricing (5 of the 12 counted praise, 7 criticize) and punct"
    )


def test_divided_opinions_are_public_without_problems() -> None:
    """The answers to questions say as much."""
    catalogue = replace(_CATALOGUE, problems={})
    assert "differ" in _named(*_mentioned("pricing", 5, 4), catalogue=catalogue)


def _praised(person: str, *aspects: str) -> Labels:
    return Labels(technicians=(EntityLabel(id=person, sentiment="positive", praised_for=aspects),))


def test_person_is_praised_for_what_several_reviews_praise() -> None:
    praise = ("punctuality", "pricing"), ("punctuality",), ("punctuality",), ("pricing",), ()
    labelled = [_review(f"r{i}") for i in range(len(praise))]
    labels = [_praised("priya-raman", *aspects) for aspects in praise]
    (priya,) = _count(*zip(labelled, labels, strict=True)).entities.technicians
    assert '{"punctuality":3,"pricing":2}' == msgspec.json.encode(priya.praised_for).decode()


def test_aspect_that_one_review_praises_in_a_person_is_not_published() -> None:
    (priya,) = _count((_review("r"), _praised("priya-raman", "pricing"))).entities.technicians
    assert priya.praised_for is msgspec.UNSET


def test_aspect_that_the_owner_has_removed_praises_nobody() -> None:
    """Labels may be older than the settings."""
    labelled = [(_review(f"r{i}"), _praised("priya-raman", "vibe")) for i in range(2)]
    (priya,) = _count(*labelled).entities.technicians
    assert priya.praised_for is msgspec.UNSET


@pytest.mark.parametrize(
    ("count", "days", "before_them"),
    [(10, 705, "in the twelve before"), (9, 705, ""), (10, 400, "earlier")],
)
def test_summary_compares_years_of_enough_reviews_and_names_a_part_as_earlier(
    count: int, days: int, before_them: str
) -> None:
    """Of a business whose reviews begin five months before the last year, these were the year before."""
    year_ago = _DAY - datetime.timedelta(days=days)
    now = [(_review(f"a{i}"), WORDLESS) for i in range(count)]
    before = [(_review(f"b{i}", 1, year_ago), WORDLESS) for i in range(count)]
    years = (
        f" In the twelve calendar months up to the newest review: {count} reviews with 5.0 stars on average;"
        f" {before_them}: {count} reviews with 1.0 stars on average."
    )
    rated = f"{2 * count} reviews give 3.0 of 5 stars on average; 50% of them give 4 or 5."
    assert rated + years * bool(before_them) == _count(*now, *before).summary


def test_summary_compares_no_year_with_none() -> None:
    assert "1 review gives 4 of 5 stars." == _count((_review("a", 4), WORDLESS)).summary


_PULLED: Final = "They were always on time and so friendly to us."


@pytest.mark.parametrize(
    ("text", "rating", "quoted"),
    [
        (f"Thanks! {_PULLED} Bye.", 5, True),
        (_PULLED, 3, False),
        ("Very friendly.", 5, False),  # too short
        (f"They were so friendly {'and so on ' * 20}.", 5, False),  # too long
        (_PULLED.lower(), 5, False),
        ("Mail me@home.example about the very friendly staff that they have.", 5, False),
        ("They were always on time and so friendly, but they were horribly rude.", 5, False),
        ("Would have been nice to hear of the very friendly staff before.", 5, False),
        # not for the whole business
        ("Left with a very friendly smile from the staff there.", 5, False),
        ("They were very friendly and it was a fair price as well.", 5, False),
        ("They were very friendly to all of our 12 guests this year.", 5, False),
        ("She was so friendly to us and always on time.", 5, False),
        ("They ate it anyway and were so very friendly to us.", 5, False),
        ("They were friendlier and more polite than the other place.", 5, False),
        ("They were on the phone with me and friendly.", 5, False),
    ],
)
def test_pull_quote(text: str, rating: int, *, quoted: bool) -> None:
    insights = _count((_review("a", rating, text=text), _priced("positive", phrase="fair price")))
    assert (_PULLED if quoted else msgspec.UNSET) == insights.pull_quote


def test_pull_quote_is_the_clearest_of_the_best() -> None:
    texts = (
        "She was so friendly to us, and they came on time, and we were very happy.",
        "They were so friendly to all of us from the first day on.",
    )
    labelled = [(_review(f"r{i}", text=text), _priced("positive")) for i, text in enumerate(texts)]
    assert {texts[1]} == {_count(*order).pull_quote for order in (labelled, labelled[::-1])}


def test_pull_quote_names_what_most_reviews_praise() -> None:
    punctual = [
        "They were really very good and always on time for us.",
        "We were so very happy that they were right on time.",
    ]
    texts = ["They were so friendly to all of us from the first day on."] * 5 + punctual
    labels = _mentioned("punctuality", 7, 0)
    labelled = [(_review(f"r{i}", text=text), labels[i]) for i, text in enumerate(texts)]
    insights = _count(*labelled)
    assert insights.pull_quote in punctual
    assert str(insights.pull_quote) not in insights.faq[0].answer


@pytest.mark.parametrize(("model", "quoted"), [("", False), ("tiny", True)])
def test_pull_quote_has_no_blame_unless_a_model_labeled_it(model: str, *, quoted: bool) -> None:
    """The sentence is chosen by its labels, so the blame stands in another one."""
    labels = Labels(
        model=model,
        aspects=(
            AspectLabel(id="punctuality", sentiment="positive", phrase="always on time"),
            AspectLabel(id="pricing", sentiment="negative", phrase="a fortune"),
        ),
    )
    insights = _count((_review("a", text=f"{_PULLED} It cost a fortune."), labels))
    assert (_PULLED if quoted else msgspec.UNSET) == insights.pull_quote


@pytest.mark.parametrize(("negative", "quoted"), [(3, True), (4, False), (6, False)])
def test_nothing_is_quoted_where_nothing_is_mostly_praised(negative: int, *, quoted: bool) -> None:
    """A practice of 3.1 stars, on all of which opinions differ, was shown by its praise."""
    blame = [(_review(f"n{i}", 1, text=_STEEP), _priced("negative")) for i in range(negative)]
    praise = [(_review(f"p{i}", text=_PULLED), _priced("positive")) for i in range(4)]
    insights = _count(*blame, *praise, (_review("q", text=_PULLED), Labels(words=0.9)))
    assert (_PULLED if quoted else msgspec.UNSET) == insights.pull_quote


def test_pull_quote_is_of_the_newest_year() -> None:
    old = _review("a", day=datetime.date(2025, 6, 1), text=_PULLED)
    insights = _count((old, _priced("positive")), (_review("b"), WORDLESS))
    assert insights.pull_quote is msgspec.UNSET


def test_sentences_are_in_the_language_of_the_business() -> None:
    reviews = [(_review(f"r{i}"), _priced("positive")) for i in range(5)]
    insights = _count(*reviews, language="de-AT")
    assert insights.faq[0].question == "Pricing: Was sagen Kunden?"  # no label of the pages
    assert insights.faq[0].answer == (
        "Die meisten Bewertungen zum Thema Pricing sind positiv (5 erkannte Erwähnungen)."
        " \u201eFair price.\u201c \u2013 Ann, 15. Juni 2026"
    )
    assert insights.summary == (
        "5 Bewertungen, im Durchschnitt 5,0 von 5 Sternen; 100 % mit 4 oder 5 Sternen."
        " \u00dcberwiegend gelobt: Pricing (5 erkannte Erwähnungen;"
        " einige schreiben \u201eFair price\u201c)."
    )


def test_statements_on_aspects_name_the_languages_with_rules() -> None:
    """Reviews that were not read are not called reviews without mentions."""
    priced = [
        (_review(f"r{i}"), msgspec.structs.replace(_priced("positive"), language="en"))
        for i in range(5)
    ]
    silent_reviews = [("de", 2), ("es", 1), ("pl", 1)]
    more = [
        (_review(f"{language}{i}"), Labels(language=language))
        for language, count in silent_reviews
        for i in range(count)
    ]
    insights = _count(*priced, *more)
    read = "of the 8 reviews in English, German and Spanish"
    praise = "most reviews that mention pricing are positive (5 counted)."
    assert insights.faq[0].answer.startswith(f"O{read[1:]}, {praise}")
    assert f"O{read[1:]}, mostly praised: pricing" in str(insights.summary)
    assert insights.method.note.endswith(f" Aspects are those {read}.")
    assert _count(*priced).method.note.endswith("misread.")


def test_method_counts_the_same_reviews_in_all_its_sentences() -> None:
    """Rules read no review in a language without data."""
    by_model = [(_review(f"m{i}"), Labels(language="en", model="tiny")) for i in range(2)]
    by_rules = [(_review(f"r{i}"), Labels(language="en")) for i in range(3)]
    method = _count(*by_model, *by_rules, (_review("p"), Labels(language="pl"))).method
    assert {"model": 2, "rules": 3} == method.labelled
    assert "2 read by the language model tiny, 3 by rules" in method.note
    assert method.note.endswith("Aspects are those of the 5 reviews in English.")


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
