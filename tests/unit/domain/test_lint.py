"""Warnings about valid data (data-model.md 5, second table)."""

import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.manual.keys import SHIPPED
from reviewsd.domain.dataset import load
from reviewsd.domain.diagnostic_text import headline
from reviewsd.domain.lint import doubts

NOW = datetime.datetime(2026, 11, 22, 9, 30, tzinfo=datetime.UTC)
IDS = ("01JGFJJZ00EXAMP1E000000001", "01JGFJJZ00EXAMP1E000000002")
ROWS = re.findall(
    r"^(\w+) (.+)\n((?:=> .+\n)*)",
    (Path(__file__).parent / "lint.txt")
    .read_text("utf-8")
    .replace("<id>", IDS[0])
    .replace("<id 2>", IDS[1]),
    re.MULTILINE,
)
NO_INSIGHTS: dict[str, Any] = {}
WHOLE_INSIGHTS: dict[str, Any] = {
    "version": 1,
    "generated_at": "2026-01-01T00:00:00Z",
    "model": "m",
    "review_count": 2,
    "date_range": {"earliest": "2026-01-01", "latest": "2026-01-02"},
    "overall_sentiment": {
        "score": 0,
        "positive_pct": 33.3,
        "neutral_pct": 33.3,
        "negative_pct": 33.3,
    },
    "aspects": ["Price"],
    "entities": {"technicians": [{"name": "Sam"}], "services": ["Boilers"]},
    "topics": ["Heat"],
    "temporal": {},
    "per_review": {
        IDS[0]: {"aspects": ["price", {"id": "Price"}], "technicians": ["SAM"]},
        IDS[1]: {"topics": ["heat"], "services": ["boilers"]},
    },
    "faq": [{"question": "q", "answer": "a", "example_review_ids": [IDS[0]]}],
}


def review(index: int, **members: object) -> dict[str, object]:
    return {
        "id": IDS[index],
        "author": "A",
        "rating": 4 + index,
        "date": f"2026-01-0{index + 1}",
        "text": f"text {index}",
        "source": "google",
        "verified": True,
        **members,
    }


def found(
    first: dict[str, object],
    second: dict[str, object] | None = None,
    top: dict[str, object] | None = None,
    insights: dict[str, object] | None = None,
    *,
    hidden: str = "",
) -> list[str]:
    """Return the warnings without the file's name; ``hidden`` is the id of a hidden review."""
    document = {"business": {"name": "B"}, "reviews": [first, second or review(1)], **(top or {})}
    text = b"\xef\xbb\xbf" + json.dumps(document).encode()
    entry = {"action": "hide", "at": "2026-01-03T00:00:00Z", "reason": "duplicate"}
    corrections = {"version": 1, "reviews": {hidden: entry} if hidden else {}}
    dataset = load(
        text,
        None if insights is None else json.dumps(insights).encode(),
        corrections=json.dumps(corrections).encode(),
    )
    return [headline(warning).partition(": ")[2] for warning in doubts(text, dataset, NOW)]


NO_TYPE = "no type below https://schema.org/LocalBusiness, so search engines are told LocalBusiness"
GENERAL = (
    "; more general ones are AutomotiveBusiness, FinancialService, FoodEstablishment, "
    "HealthAndBeautyBusiness, HomeAndConstructionBusiness, LegalService, LodgingBusiness, "
    "MedicalBusiness, ProfessionalService, SportsActivityLocation, Store"
)


def test_name_that_init_has_written_is_reported() -> None:
    """All pages said REPLACE ME, and the check said that all is well."""
    shipped = json.loads((SHIPPED / "reviews.json").read_text())["business"]
    (warning,) = found(review(0), top={"business": shipped})
    assert warning.startswith("$.business.name: ")
    assert "still to be replaced" in warning
    assert "reviewsctl import EXPORT --set name=NAME" in warning


def test_good_data_leaves_no_doubt() -> None:
    assert [] == found(review(0), insights=WHOLE_INSIGHTS)


@pytest.mark.parametrize(("part", "members", "expected"), ROWS)
def test_valid_data_have_these_warnings(part: str, members: str, expected: str) -> None:
    given = json.loads(members)
    warnings = {
        "review": lambda: found(review(0, **given)),
        "top": lambda: found(review(0), top=given),
        "business": lambda: found(review(0), top={"business": {"name": "B", **given}}),
        "insights": lambda: found(review(0), insights={**WHOLE_INSIGHTS, **given}),
    }[part]()
    assert expected == "".join(f"=> {warning}\n" for warning in warnings)


def test_duplicate_words_are_reported_at_the_second_review() -> None:
    again = review(1, date="2026-01-01", text="text 0")
    (warning,) = found(review(0), again)
    assert warning == (
        f"$.reviews[1] (id {IDS[1]}): same author, date and text as {IDS[0]}; if it is the same review: "
        f"reviewsctl reviews hide {IDS[1]} --reason duplicate"
    )


@pytest.mark.parametrize("hidden", IDS)
def test_review_of_which_a_copy_is_hidden_is_no_duplicate(hidden: str) -> None:
    """The warning stayed for ever, though the owner had hidden one as a duplicate."""
    again = review(1, date="2026-01-01", text="text 0")
    assert [] == found(review(0), again, hidden=hidden)


def test_ratings_without_words_may_be_alike() -> None:
    assert [] == found(review(0, text=None), review(1, date="2026-01-01", text=None))


@pytest.mark.parametrize(
    ("category", "category_type"),
    [
        ("plumber", "Plumber"),
        ("Bike shop", "BikeStore"),
        ("physiotherapist", "Physiotherapy"),
        ("Physiotherapy clinic", "Physiotherapy"),
        ("Physio", "Physiotherapy"),
        ("Physical Therapy", "Physiotherapy"),
        ("hair dresser", "HairSalon"),
        ("Beauty", "BeautySalon"),
        ("Cafe", "CafeOrCoffeeShop"),
        ("Car repair", "AutoRepair"),
        # by another name of the trade: the words of "Guest House" have one of HousePainter
        ("Guest House", "BedAndBreakfast"),
        ("guesthouse", "BedAndBreakfast"),
        ("GuestHouse", "BedAndBreakfast"),
        ("B&B", "BedAndBreakfast"),
        ("Holiday cottage", "VacationRental"),
        ("Campsite", "Campground"),
        ("Garage", "AutoRepair"),
        ("Public house", "BarOrPub"),
        ("Coffee house", "CafeOrCoffeeShop"),
    ],
)
def test_category_with_a_word_of_a_type_or_trade_is_recognized(
    category: str, category_type: str
) -> None:
    assert [
        f'$.business.category: {NO_TYPE}, got "{category}"; did you mean "{category_type}"?'
    ] == found(review(0), top={"business": {"name": "B", "category": category}})


@pytest.mark.parametrize(
    "category",
    [
        "Zzz",
        "Cake shop",
        "Psychologist",
        "Plumbing",
        "Opera house",
        "Science park",
        "12 or 13",
        "-",
    ],
)
def test_category_that_resembles_no_type_has_the_general_ones(category: str) -> None:
    """Physician is a protected title, of which no one should be reminded by a few letters."""
    assert [f'$.business.category: {NO_TYPE}, got "{category}"{GENERAL}'] == found(
        review(0), top={"business": {"name": "B", "category": category}}
    )


def test_locations_of_which_none_is_declared_are_reported() -> None:
    """They had no pages, and nothing said why."""
    named = [review(0, location="North"), review(1, location="South")]
    (warning,) = found(*named)
    assert warning == (
        '$.business.locations: missing: reviews name 2 locations ("North", "South"), which have no pages and no '
        "filter; declare one of them, and import again, which adds the others by their titles"
    )
    assert [] == found(review(0, location="North"), review(1))


def test_reviews_of_no_location_are_reported_where_several_are_declared() -> None:
    """They are on the page of none, and nothing said so."""
    declared = [{"id": "mill", "name": "Mill"}, {"id": "lake", "name": "Lake"}]
    several: dict[str, object] = {"business": {"name": "B", "locations": declared}}
    one: dict[str, object] = {"business": {"name": "B", "locations": declared[:1]}}
    reason = '2 reviews of "google" without a location, on the page of none; an import with --set location=ID gives them one'
    assert [f"$.business.locations: {reason}"] == found(
        review(0), review(1, location=None), top=several
    )
    assert [] == found(review(0, location="mill"), review(1, location="lake"), top=several)
    assert [] == found(review(0), review(1, location="lake"), top=several), "one of the business"
    assert [] == found(review(0), top=one)


def test_location_without_reviews_that_is_like_another_one_is_reported() -> None:
    """A typing error in a table has made it, and stayed as a page when the table was corrected."""
    names = ("Haus Linde", "Haus Lidne", "Haus Linde 2", "Markt")
    declared = [{"id": f"p{number}", "name": name} for number, name in enumerate(names)]
    business: dict[str, object] = {"business": {"name": "B", "locations": declared}}
    reason = (
        'no review is of "Haus Lidne"; did you mean "Haus Linde"? If so, take this location out'
    )
    located = (review(0, location="p0"), review(1, location="p0"))
    assert [f"$.business.locations[1]: {reason}"] == found(*located, top=business)
    used = (review(0, location="p0"), review(1, location="P1 "))
    assert [] == found(*used, top=business)


def test_missing_platform_members_are_reported() -> None:
    expected = [f"$.{name}: missing; clients of the platform expect it" for name in WHOLE_INSIGHTS]
    assert expected == found(review(0), insights=NO_INSIGHTS)
