"""The sample business is plausible in detail: it is the first data that a newcomer sees.

Every figure in its insights is recomputed here from ``per_review``. Where data-model.md leaves the
formula open, the sample says: an aspect's score is its balance of mentions, every other score the
mean over reviews; an entity counts the sentiment of the reviews that mention it.
"""

import datetime
import json
import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewsd import demo
from reviewsd.domain import times
from reviewsd.domain.insights import Insights
from reviewsd.domain.reviews import Business, Review

ROOT = Path(demo.__path__[0])
REVIEWS_TEXT = (ROOT / "reviews.json").read_text(encoding="utf-8")
INSIGHTS_TEXT = (ROOT / "insights.json").read_text(encoding="utf-8")
REVIEWS_FILE = json.loads(REVIEWS_TEXT)
INSIGHTS_FILE = json.loads(INSIGHTS_TEXT)

REVIEWS = msgspec.convert(REVIEWS_FILE["reviews"], list[Review])
BY_ID = {review.id: review for review in REVIEWS}
PER_REVIEW: dict[str, dict[str, Any]] = INSIGHTS_FILE["per_review"]

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SENTIMENTS = ("positive", "neutral", "negative")
RATED_SCORE = {5: 0.8, 4: 0.4, 3: 0.0, 2: -0.4, 1: -0.8}
"""The score of a review that has a rating and no text."""

GROUPS = ("technicians", "services", "problems", "service_areas", "topics")
ENTITIES = [
    (group, entity)
    for group in GROUPS
    for entity in (
        INSIGHTS_FILE["topics"] if group == "topics" else INSIGHTS_FILE["entities"][group]
    )
]

# data-model.md 2: what the table of the insights names for each object.
NAMES = {"id", "label", "mention_count", "positive_pct", "score", "top_phrases"}
COUNTED = NAMES | {"example_review_ids", "positive_count", "neutral_count", "negative_count"}
MEMBERS = {
    "technicians": COUNTED | {"name", "average_rating"},
    "services": COUNTED | {"average_rating"},
    "problems": NAMES | {"example_review_ids"},
    "service_areas": NAMES | {"example_review_ids"},
    "topics": NAMES | {"example_review_ids"},
}

each_entity = pytest.mark.parametrize(
    ("group", "entity"), ENTITIES, ids=[f"{group}-{entity['id']}" for group, entity in ENTITIES]
)
each_aspect = pytest.mark.parametrize(
    "aspect", INSIGHTS_FILE["aspects"], ids=[aspect["id"] for aspect in INSIGHTS_FILE["aspects"]]
)


def rounded(value: Decimal, places: int) -> float:
    return float(value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def mean(values: Iterable[float]) -> float:
    numbers = [Decimal(str(value)) for value in values]
    return rounded(sum(numbers, Decimal()) / len(numbers), 2)


def percent(part: int, total: int) -> float:
    return rounded(Decimal(100 * part) / total, 1)


def shares(sentiments: list[str]) -> dict[str, float]:
    """The counts as the insights spell them, for the sentiments of all mentions."""
    return {
        "mention_count": len(sentiments),
        **{f"{name}_count": sentiments.count(name) for name in SENTIMENTS},
        "positive_pct": percent(sentiments.count("positive"), len(sentiments)),
    }


def text_of(review_id: str) -> str:
    return BY_ID[review_id].text or ""


def mentioning(group: str, entity_id: str) -> list[str]:
    return [review for review, labels in PER_REVIEW.items() if entity_id in labels[group]]


def aspect_mentions(aspect_id: str) -> dict[str, dict[str, Any]]:
    return {
        review: aspect
        for review, labels in PER_REVIEW.items()
        for aspect in labels["aspects"]
        if aspect["id"] == aspect_id
    }


def plain_words(text: str) -> set[str]:
    """Words without case and accents: customers write Zoe for Zoë."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return set(re.findall(r"\w+", "".join(c for c in folded if not unicodedata.combining(c))))


@pytest.mark.parametrize("text", [REVIEWS_TEXT, INSIGHTS_TEXT], ids=["reviews", "insights"])
def test_file_is_written_in_one_stable_form(text: str) -> None:
    assert json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n" == text


def test_business_is_complete() -> None:
    business = msgspec.convert(REVIEWS_FILE["business"], Business)

    assert {*Business.__struct_fields__} - {"locations"} == set(REVIEWS_FILE["business"])
    assert None not in msgspec.structs.astuple(business)
    assert business.language == "en"


def test_opening_hours_use_all_that_the_model_allows() -> None:
    hours = msgspec.convert(REVIEWS_FILE["business"], Business).hours

    assert len({opening.day for opening in hours}) < len(hours), "a day with two openings"
    assert any(opening.closes < opening.opens for opening in hours), "past midnight"
    assert any(opening.closes == "24:00" for opening in hours)


def test_every_address_is_an_example() -> None:
    """RFC 2606: the sample must not link to a real site."""
    urls = re.findall(r'https?://([^/"?#\s]+)', REVIEWS_TEXT + INSIGHTS_TEXT)

    assert urls
    assert not [host for host in urls if not host.endswith(".example")]


def test_reviews_are_complete_and_newest_first() -> None:
    absent = {*times.STAMPS, "location"}  # the sample has one location
    members = tuple(name for name in Review.__struct_fields__ if name not in absent)
    assert {members} == {tuple(raw) for raw in REVIEWS_FILE["reviews"]}
    assert 118 <= len(REVIEWS) <= 124
    assert sorted(REVIEWS, key=lambda r: (r.date, r.id), reverse=True) == REVIEWS


def test_ids_are_unique_ulids_of_the_day_of_the_review() -> None:
    assert len(REVIEWS) == len(BY_ID)
    for review in REVIEWS:
        assert re.fullmatch(f"[0-7][{CROCKFORD}]{{25}}", review.id)
        milliseconds = 0
        for character in review.id[:10]:
            milliseconds = milliseconds * 32 + CROCKFORD.index(character)
        moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
        assert review.date == moment.date(), review


def test_reviews_span_three_years_unevenly() -> None:
    days = [review.date for review in REVIEWS]

    assert datetime.date(2026, 11, 10) == max(days)
    assert datetime.timedelta(days=1000) < max(days) - min(days) < datetime.timedelta(days=1150)
    assert len(set(days)) < len(days), "several on one day"


def test_ratings_look_like_those_of_a_good_business() -> None:
    ratings = [review.rating for review in REVIEWS]

    assert {1, 2, 3, 4, 5} == set(ratings)
    assert 4.3 < sum(ratings) / len(ratings) < 4.5


def test_sources_and_verification_are_mixed() -> None:
    assert {"google", "yelp", "trustpilot", "facebook"} == {review.source for review in REVIEWS}
    checking = {"trustpilot"}  # as an import marks them: see docs/how-to/import.md
    assert all(review.verified == (review.source in checking) for review in REVIEWS)
    assert 0 < sum(review.source_url is None for review in REVIEWS) < len(REVIEWS)
    assert 0 < sum(review.author_avatar_url is not None for review in REVIEWS) < 15


def test_some_reviews_have_no_text_and_some_a_reply() -> None:
    bare = [review for review in REVIEWS if review.text is None]
    answered = [review for review in REVIEWS if review.owner_reply is not None]

    assert 0.15 < len(bare) / len(REVIEWS) < 0.21
    assert 0.30 < len(answered) / len(REVIEWS) < 0.40
    assert any(review.owner_reply for review in bare)


def test_no_reply_is_older_than_its_review_or_younger_than_the_set() -> None:
    replies = [(r.date, r.owner_reply.date) for r in REVIEWS if r.owner_reply]

    assert not [pair for pair in replies if not pair[0] <= pair[1] <= REVIEWS[0].date]


@pytest.mark.parametrize(
    "sample",
    ["naïve", "Québec", "Zoë", "🦕", "❤️", "&", "<b>", '"', "\n\n", "¡R", "Merci", "Pünktlich"],
)
def test_texts_contain_cases_that_break_careless_parsers(sample: str) -> None:
    assert any(sample in (review.text or "") for review in REVIEWS)


@pytest.mark.parametrize("direction", ["R", "AL"])
def test_author_writes_from_right_to_left(direction: str) -> None:
    assert any(unicodedata.bidirectional(review.author[0]) == direction for review in REVIEWS)


def test_texts_vary_in_length_and_are_unique() -> None:
    texts = [review.text for review in REVIEWS if review.text]

    assert len(set(texts)) == len(texts)
    assert "Great!" in texts
    assert 3 <= sum(800 <= len(text) <= 1800 for text in texts) <= 5
    assert max(map(len, texts)) <= 1800


def test_insights_decode_and_have_every_member() -> None:
    insights = msgspec.convert(INSIGHTS_FILE, Insights)

    assert Insights.__struct_fields__ == tuple(INSIGHTS_FILE)
    assert insights.generated_at is not None
    assert insights.generated_at.date() > REVIEWS[0].date
    assert len(INSIGHTS_FILE["faq"]) == 8


def test_insights_cover_exactly_the_reviews() -> None:
    assert list(PER_REVIEW) == [review.id for review in REVIEWS]
    assert len(REVIEWS) == INSIGHTS_FILE["review_count"]
    assert {
        "earliest": REVIEWS[-1].date.isoformat(),
        "latest": REVIEWS[0].date.isoformat(),
    } == INSIGHTS_FILE["date_range"]


def test_review_has_the_sentiment_of_its_score() -> None:
    for labels in PER_REVIEW.values():
        score = labels["score"]
        expected = "positive" if score >= 0.25 else "negative" if score <= -0.25 else "neutral"
        assert expected == labels["sentiment"], labels


def test_rating_without_text_has_no_mentions() -> None:
    for review in REVIEWS:
        labels = PER_REVIEW[review.id]
        if review.text is None:
            assert RATED_SCORE[review.rating] == labels["score"], review
            assert not any(labels[group] for group in ("aspects", *GROUPS)), review


def test_every_id_in_a_review_is_an_entity() -> None:
    ids = {group: {e["id"] for g, e in ENTITIES if g == group} for group in GROUPS}
    ids["aspects"] = {aspect["id"] for aspect in INSIGHTS_FILE["aspects"]}

    for review_id, labels in PER_REVIEW.items():
        for group in GROUPS:
            assert set() == set(labels[group]) - ids[group], review_id
            assert len(set(labels[group])) == len(labels[group]), review_id
        aspects = [aspect["id"] for aspect in labels["aspects"]]
        assert set() == set(aspects) - ids["aspects"], review_id
        assert len(set(aspects)) == len(aspects), review_id


def test_ids_of_aspects_and_entities_are_unique_in_their_list() -> None:
    ids = [(group, entity["id"]) for group, entity in ENTITIES]
    ids += [("aspects", aspect["id"]) for aspect in INSIGHTS_FILE["aspects"]]

    assert len(set(ids)) == len(ids)


def test_every_phrase_of_a_review_is_in_its_text() -> None:
    phrases = [
        (review_id, aspect["phrase"])
        for review_id, labels in PER_REVIEW.items()
        for aspect in labels["aspects"]
    ]

    assert phrases
    assert not [pair for pair in phrases if pair[1] not in text_of(pair[0])]


def test_overall_sentiment_adds_up() -> None:
    sentiments = [labels["sentiment"] for labels in PER_REVIEW.values()]

    assert {
        "score": mean(labels["score"] for labels in PER_REVIEW.values()),
        **{f"{s}_pct": percent(sentiments.count(s), len(sentiments)) for s in SENTIMENTS},
    } == INSIGHTS_FILE["overall_sentiment"]


@each_aspect
def test_figures_of_aspect_add_up(aspect: dict[str, Any]) -> None:
    mentions = aspect_mentions(aspect["id"])
    counts = shares([mention["sentiment"] for mention in mentions.values()])
    balance = Decimal(counts["positive_count"]) - Decimal(counts["negative_count"])

    assert set(aspect) == COUNTED
    assert counts == {name: aspect[name] for name in counts}
    assert rounded(balance / len(mentions), 2) == aspect["score"]
    assert set(aspect["example_review_ids"]) <= set(mentions)
    assert set(aspect["top_phrases"]) <= {mention["phrase"] for mention in mentions.values()}
    assert aspect["example_review_ids"]
    assert aspect["top_phrases"]


@each_entity
def test_figures_of_entity_add_up(group: str, entity: dict[str, Any]) -> None:
    reviews = mentioning(group, entity["id"])
    computed = {
        **shares([PER_REVIEW[review]["sentiment"] for review in reviews]),
        "score": mean(PER_REVIEW[review]["score"] for review in reviews),
        "average_rating": mean(BY_ID[review].rating for review in reviews),
    }
    figures = {name: entity[name] for name in computed if name in entity}

    assert set(entity) == MEMBERS[group]
    assert figures == {name: computed[name] for name in figures}


@each_entity
def test_examples_and_phrases_of_an_entity_are_real(group: str, entity: dict[str, Any]) -> None:
    reviews = mentioning(group, entity["id"])
    texts = [text_of(review) for review in reviews]

    assert 1 <= len(entity["example_review_ids"]) <= 4
    assert set(entity["example_review_ids"]) <= set(reviews)
    assert entity["top_phrases"]
    assert not [p for p in entity["top_phrases"] if not any(p in text for text in texts)]


@pytest.mark.parametrize("entity", INSIGHTS_FILE["entities"]["technicians"], ids=lambda e: e["id"])
def test_technician_is_mentioned_where_the_text_names_them(entity: dict[str, Any]) -> None:
    (first_name,) = plain_words(entity["name"].split()[0])
    naming = [r.id for r in REVIEWS if first_name in plain_words(r.text or "")]

    assert naming == mentioning("technicians", entity["id"])
    assert entity["name"] == entity["label"]


@pytest.mark.parametrize(
    "entity", INSIGHTS_FILE["entities"]["service_areas"], ids=lambda e: e["id"]
)
def test_service_area_is_mentioned_where_the_text_names_it(entity: dict[str, Any]) -> None:
    naming = [review.id for review in REVIEWS if entity["label"] in (review.text or "")]

    assert naming == mentioning("service_areas", entity["id"])
    assert entity["label"] in REVIEWS_FILE["business"]["service_areas"]


def test_months_are_complete_and_add_up() -> None:
    """A month without reviews stays in the row, so that a chart shows the gap."""
    first, last = f"{REVIEWS[-1].date:%Y-%m}", f"{REVIEWS[0].date:%Y-%m}"
    months = [f"{y}-{m:02}" for y in range(2023, 2027) for m in range(1, 13)]
    expected = []
    for month in months[months.index(first) : months.index(last) + 1]:
        reviews = [r for r in REVIEWS if r.date.isoformat().startswith(month)]
        labels = [PER_REVIEW[review.id] for review in reviews]
        positive = sum(label["sentiment"] == "positive" for label in labels)
        expected.append(
            {
                "month": month,
                "review_count": len(reviews),
                "average_rating": mean(r.rating for r in reviews) if reviews else None,
                "score": mean(label["score"] for label in labels) if reviews else 0.0,
                "positive_pct": percent(positive, len(reviews)) if reviews else 0.0,
            }
        )

    assert expected == INSIGHTS_FILE["temporal"]["monthly"]
    assert 0 in {month["review_count"] for month in expected}


def test_trend_is_that_of_the_last_year() -> None:
    def year_to(last: datetime.date) -> float:
        first = last.replace(year=last.year - 1)
        return mean(PER_REVIEW[r.id]["score"] for r in REVIEWS if first < r.date <= last)

    last = REVIEWS[0].date

    assert INSIGHTS_FILE["temporal"]["trend"] == "improving"
    assert year_to(last) - year_to(last.replace(year=last.year - 1)) > 0.05


@pytest.mark.parametrize("entry", INSIGHTS_FILE["faq"], ids=lambda entry: entry["question"])
def test_answer_cites_reviews_with_text(entry: dict[str, Any]) -> None:
    assert entry["example_review_ids"]
    assert not [review for review in entry["example_review_ids"] if not text_of(review)]


def test_amount_in_answer_is_in_its_review() -> None:
    """The figures are what readers check first."""
    for entry in INSIGHTS_FILE["faq"]:
        reviews = [BY_ID[review_id] for review_id in entry["example_review_ids"]]
        replies = [review.owner_reply.text for review in reviews if review.owner_reply]
        sources = " ".join([review.text or "" for review in reviews] + replies)
        assert not [a for a in re.findall(r"\$[0-9]+", entry["answer"]) if a not in sources]


def test_summary_is_short_and_the_pull_quote_verbatim() -> None:
    assert 2 <= len(INSIGHTS_FILE["summary"].split("\n\n")) <= 3
    assert any(INSIGHTS_FILE["pull_quote"] in (review.text or "") for review in REVIEWS)
