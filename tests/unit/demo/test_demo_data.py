"""The sample business is plausible in detail: it is the first data that a newcomer sees."""

import json
import re
import unicodedata
from pathlib import Path

import msgspec
import pytest

from reviewsd import demo
from reviewsd.analysis.value import MadeInsights
from reviewsd.domain import times
from reviewsd.domain.reviews import Business, Review
from reviewsd.publish.insights_settings import examine
from tests.support.analysing import analyse

ROOT = Path(demo.__path__[0])
REVIEWS_TEXT = (ROOT / "reviews.json").read_text(encoding="utf-8")
REVIEWS_FILE = json.loads(REVIEWS_TEXT)

REVIEWS = msgspec.convert(REVIEWS_FILE["reviews"], list[Review])
BY_ID = {review.id: review for review in REVIEWS}


def plain_words(text: str) -> set[str]:
    """Words without case and accents: customers write Zoe for Zoë."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return set(re.findall(r"\w+", "".join(c for c in folded if not unicodedata.combining(c))))


def test_business_is_complete() -> None:
    business = msgspec.convert(REVIEWS_FILE["business"], Business)
    assert {*Business.__struct_fields__} - {"locations"} == set(REVIEWS_FILE["business"])
    assert None not in msgspec.structs.astuple(business)
    assert business.language == "en"


def test_every_address_is_an_example() -> None:
    """RFC 2606: the sample must not link to a real site."""
    urls = re.findall(r'https?://([^/"?#\s]+)', REVIEWS_TEXT)
    assert urls
    assert not [host for host in urls if not host.endswith(".example")]


def test_reviews_are_complete_and_newest_first() -> None:
    absent = {*times.STAMPS, "location"}  # the sample has one location
    members = tuple(name for name in Review.__struct_fields__ if name not in absent)
    assert {members} == {tuple(raw) for raw in REVIEWS_FILE["reviews"]}
    assert 118 <= len(REVIEWS) <= 124
    assert sorted(REVIEWS, key=lambda r: (r.date, r.id), reverse=True) == REVIEWS


@pytest.mark.parametrize(
    "sample",
    ["naïve", "Québec", "Zoë", "🦕", "❤️", "&", "<b>", '"', "\n\n", "¡R", "Merci", "Pünktlich"],
)
def test_texts_contain_cases_that_break_careless_parsers(sample: str) -> None:
    assert any(sample in (review.text or "") for review in REVIEWS)


@pytest.fixture(scope="module")
def insights() -> MadeInsights:
    business = msgspec.convert(REVIEWS_FILE["business"], Business)
    settings, faults = examine((ROOT / "insights.yaml").read_bytes())
    assert not faults
    return analyse(REVIEWS, business, settings).insights


def test_rules_find_the_people_and_places_that_texts_name(insights: MadeInsights) -> None:
    """The demo shows what owners get: its insights are made by the rules."""
    people = {person.label: person.mention_count for person in insights.entities.technicians}
    assert people == {
        name: sum(plain_words(name.split()[0]) <= plain_words(r.text or "") for r in REVIEWS)
        for name in people
    }
    places = {area.label: area.mention_count for area in insights.entities.service_areas}
    assert places == {
        name: sum(name in (review.text or "") for review in REVIEWS) for name in places
    }
    assert (6, 5) <= (len(people), len(places))


def test_rules_have_statements_with_verbatim_evidence(insights: MadeInsights) -> None:
    texts = [review.text or "" for review in REVIEWS]
    assert "Mostly praised: " in str(insights.summary)
    quotations = [str(insights.pull_quote)]
    quotations += [
        entry.answer.split("\u201c")[1].split("\u201d \u2013")[0] for entry in insights.faq
    ]
    assert len(quotations) > 4
    assert len(set(quotations)) == len(quotations)
    assert not [quotation for quotation in quotations if not any(quotation in t for t in texts)]
