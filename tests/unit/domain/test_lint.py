"""Warnings about valid data (data-model.md 5, second table)."""

import datetime
import json
from typing import Any

import pytest

from reviewsctl.manual.keys import SHIPPED
from reviewsd.domain.dataset import load
from reviewsd.domain.diagnostic_text import headline
from reviewsd.domain.lint import doubts

NOW = datetime.datetime(2026, 11, 22, 9, 30, tzinfo=datetime.UTC)
IDS = ("01JGFJJZ00EXAMP1E000000001", "01JGFJJZ00EXAMP1E000000002")
NO_INSIGHTS: dict[str, Any] = {}
PARTS = {"positive_count": 2, "negative_count": 1}
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
) -> list[str]:
    """Return the warnings without the file's name."""
    document = {"business": {"name": "B"}, "reviews": [first, second or review(1)], **(top or {})}
    text = b"\xef\xbb\xbf" + json.dumps(document).encode()
    dataset = load(text, None if insights is None else json.dumps(insights).encode())
    return [headline(warning).partition(": ")[2] for warning in doubts(text, dataset, NOW)]


NO_TYPE = "no type below https://schema.org/LocalBusiness, so search engines are told LocalBusiness"
GENERAL = (
    "; more general ones are AutomotiveBusiness, FinancialService, FoodEstablishment, "
    "HealthAndBeautyBusiness, HomeAndConstructionBusiness, LegalService, LodgingBusiness, "
    "MedicalBusiness, ProfessionalService, SportsActivityLocation, Store"
)


def hours(*openings: str) -> list[dict[str, str]]:
    days = [opening.split("-") for opening in openings]
    return [{"day": "monday", "opens": opens, "closes": closes} for opens, closes in days]


def test_name_that_init_has_written_is_reported() -> None:
    """All pages said REPLACE ME, and the check said that all is well."""
    shipped = json.loads((SHIPPED / "reviews.json").read_text())["business"]
    (warning,) = found(review(0), top={"business": shipped})
    assert warning.startswith("$.business.name: ")
    assert "still to be replaced" in warning
    assert "reviewsctl import EXPORT --set name=NAME" in warning


def test_member_that_is_not_served_is_reported() -> None:
    """The service writes its own ``withheld``, and two members of each removed review."""
    removed = [{"id": "r", "at": "2026-01-01T00:00:00Z", "why": "spam"}]
    assert [
        "$.withheld: not served: it counts the reviews of corrections.json",
        "$.removed[0].why: not served: only id and at are",
    ] == found(review(0), top={"withheld": {"note": "n"}, "removed": removed})


def test_good_data_leaves_no_doubt() -> None:
    assert [] == found(review(0), insights=WHOLE_INSIGHTS)


@pytest.mark.parametrize(
    ("members", "odd"),
    [
        ({"id": "r1"}, '$.reviews[0].id (id r1): not a ULID, got "r1"'),
        (
            {"author": " \u200b"},
            '$.reviews[0].author (id <id>): blank, got " \\u200b"',
        ),
        ({"date": "2026-11-23"}, '$.reviews[0].date (id <id>): in the future, got "2026-11-23"'),
        (
            {"added_at": "2026-11-22T09:30:01Z"},
            '$.reviews[0].added_at (id <id>): in the future, got "2026-11-22T09:30:01Z"',
        ),
        (
            {"changed_at": "2026-11-22T11:00:00+01:00"},
            '$.reviews[0].changed_at (id <id>): in the future, got "2026-11-22T10:00:00Z"',
        ),
        (
            {"owner_reply": {"text": "t", "date": "2026-11-23"}},
            '$.reviews[0].owner_reply.date (id <id>): in the future, got "2026-11-23"',
        ),
        (
            {
                "owner_reply": {"text": "t", "date": "2026-11-21"},
                "added_at": "2026-11-20T09:59:59Z",
            },
            (
                "$.reviews[0].owner_reply.date (id <id>): later than added_at and changed_at, "
                "so feeds and changed_since miss the reply; set changed_at"
            ),
        ),
        (
            {"owner_reply": {"text": "t", "date": "2025-12-31"}},
            '$.reviews[0].owner_reply.date (id <id>): before the review of 2026-01-01, got "2025-12-31"',
        ),
        (
            {"soruce_url": "x"},
            '$.reviews[0].soruce_url (id <id>): unknown member; did you mean "source_url"?',
        ),
        (
            {"owner_repl": 1},
            '$.reviews[0].owner_repl (id <id>): unknown member; did you mean "owner_reply"?',
        ),
        (
            {"reply": 1},
            '$.reviews[0].reply (id <id>): unknown member; did you mean "owner_reply"?',
        ),
        (
            {"ownerXreply": 1},
            '$.reviews[0].ownerXreply (id <id>): unknown member; did you mean "owner_reply"?',
        ),
        (
            {"private_note": "a friend of ours"},
            "$.reviews[0].private_note (id <id>): everybody can read it; keep it in another file",
        ),
        (
            {"customerEmail": "jane@mail.example"},
            "$.reviews[0].customerEmail (id <id>): everybody can read it; keep it in another file",
        ),
    ],
)
def test_odd_review_has_warnings(members: dict[str, object], odd: str) -> None:
    assert [odd.replace("<id>", IDS[0])] == found(review(0, **members))


@pytest.mark.parametrize(
    "members",
    [
        {"date": "2026-11-22"},
        {"owner_reply": {"text": "t", "date": "2026-11-22"}},
        {"owner_reply": {"text": "t", "date": "2026-11-21"}, "added_at": "2026-11-20T10:00:00Z"},
        {"added_at": "2026-11-22T09:30:00Z", "changed_at": None},
    ],
)
def test_day_that_has_begun_somewhere_is_not_in_the_future(members: dict[str, object]) -> None:
    """It is 14 hours later in Kiribati, where a reply may come from."""
    assert [] == found(review(0, **members))


def test_updated_at_in_the_future_is_odd() -> None:
    """Readers of the data would wait for it."""
    assert ['$.updated_at: in the future, got "2026-11-22T10:30:00Z"'] == found(
        review(0), top={"updated_at": "2026-11-22T11:30:00+01:00"}
    )


@pytest.mark.parametrize("name", ["ratings", "datee", "mood", "x", "texts"])
def test_typing_error_is_reported_only_without_the_right_name(name: str) -> None:
    """The platform may well have a member "ratings" some day."""
    assert [] == found(review(0, **{name: 1}))


def test_duplicate_words_are_reported_at_the_second_review() -> None:
    again = review(1, date="2026-01-01", text="text 0")
    assert [f"$.reviews[1] (id {IDS[1]}): same author, date and text as $.reviews[0]"] == found(
        review(0), again
    )


def test_edited_text_is_reported_at_the_second_review() -> None:
    """An import of a table without ids adds it beside the old one."""
    (warning,) = found(review(0), review(1, date="2026-01-01", rating=4))
    assert warning == (
        f"$.reviews[1] (id {IDS[1]}): same author, date and stars as $.reviews[0], with another text: "
        "was it edited?"
    )


@pytest.mark.parametrize(
    "members",
    [
        {"rating": 5},
        {"source": "website"},
        {"location": "north"},
        {"author": "Anonymous"},
        {"author": "A Google user"},
    ],
)
def test_reviews_of_two_places_or_people_may_be_alike(members: dict[str, object]) -> None:
    author = {"author": members.get("author", "A")}
    second: dict[str, object] = {"date": "2026-01-01", "rating": 4, **members}
    assert [] == found(review(0, **author), review(1, **second))


def test_ratings_without_words_may_be_alike() -> None:
    assert [] == found(review(0, text=None), review(1, date="2026-01-01", text=None))


def test_the_aggregate_should_be_that_of_the_reviews() -> None:
    given = {"rating_value": 4.9, "review_count": 7, "distribution": {"4": 1, "5": 2}}
    assert [
        "$.aggregate_rating.rating_value: the reviews give 4.5, got 4.9",
        "$.aggregate_rating.review_count: the reviews give 2, got 7",
        '$.aggregate_rating.distribution["5"]: the reviews give 1, got 2',
    ] == found(review(0), top={"aggregate_rating": given})


def test_slips_are_seen_at_the_top_too() -> None:
    assert ['$.updatet_at: unknown member; did you mean "updated_at"?'] == found(
        review(0), top={"updatet_at": "x"}
    )


@pytest.mark.parametrize(
    ("members", "slips"),
    [
        ({"phonee": "1"}, ['phonee: unknown member; did you mean "phone"?']),
        ({"telephone": "1"}, ['telephone: unknown member; did you mean "phone"?']),
        ({"openingHours": []}, ['openingHours: unknown member; did you mean "hours"?']),
        ({"telephone": "1", "phone": "1"}, []),
        ({"address": {"zip": "1"}}, ['address.zip: unknown member; did you mean "postal_code"?']),
        (
            {"address": {"Town": "G", "eircode": "H91", "County": "Galway"}},
            [
                'address.Town: unknown member; did you mean "city"?',
                'address.eircode: unknown member; did you mean "postal_code"?',
                'address.County: unknown member; did you mean "region"?',
            ],
        ),
        (
            {"address": {"post code": "H91", "province": "Connacht"}},
            [
                'address["post code"]: unknown member; did you mean "postal_code"?',
                'address.province: unknown member; did you mean "region"?',
            ],
        ),
        ({"web": "x"}, ['web: unknown member; did you mean "url"?']),
        ({"mobile": "1"}, ['mobile: unknown member; did you mean "phone"?']),
        ({"mobile": "1", "phone": "1"}, []),
        ({"address": None}, []),
        (
            {"locations": [{"id": "a", "name": "A", "tel": "1", "address": {"town": "G"}}]},
            [
                'locations[0].tel: unknown member; did you mean "phone"?',
                'locations[0].address.town: unknown member; did you mean "city"?',
            ],
        ),
        ({"phone": "091 555 012", "email": "a@b.ie"}, []),
        ({"phone": "", "email": ""}, []),
        (
            {"phone": "on request", "email": "info at example.ie"},
            [
                'phone: no digit in a phone number, got "on request"',
                'email: no "@" in an e-mail address, got "info at example.ie"',
            ],
        ),
        (
            {"locations": [{"id": "a", "name": "A", "email": "example.ie"}]},
            ['locations[0].email: no "@" in an e-mail address, got "example.ie"'],
        ),
        ({"fax": "1"}, []),
        ({"category": "Plumber"}, []),
        ({"category": "LocalBusiness"}, []),
        ({"category": None}, []),
        ({"language": "pt-BR"}, []),
        (
            {"language": "english"},
            ['language: expected a language tag such as "en" or "de", got "english"'],
        ),
        (
            {"language": "en_IE"},
            [
                'language: expected a language tag such as "en" or "de", got "en_IE"; write "en-IE"',
            ],
        ),
        ({"hours": hours("09:00-12:00", "12:00-18:00")}, []),
        ({"hours": hours("00:00-00:00")}, []),
        (
            {"hours": hours("10:00-10:00")},
            [
                (
                    "hours[0].closes: the same as opens, which is open for 24 hours; "
                    "write when it closes, or leave out a day that is closed"
                ),
            ],
        ),
        (
            {"hours": hours("09:00-18:00", "10:00-12:00")},
            ["hours[1]: overlaps with $.business.hours[0], which is of monday too"],
        ),
        (
            {"hours": hours("18:00-02:00", "23:00-23:30")},
            ["hours[1]: overlaps with $.business.hours[0], which is of monday too"],
        ),
        (
            {"hours": hours("10:00-12:00", "09:00-18:00")},
            ["hours[0]: overlaps with $.business.hours[1], which is of monday too"],
        ),
        (
            {"hours": hours("11:00-13:00", "09:00-18:00", "10:00-11:00")},
            [
                "hours[0]: overlaps with $.business.hours[1], which is of monday too",
                "hours[2]: overlaps with $.business.hours[1], which is of monday too",
            ],
        ),
    ],
)
def test_facts_of_the_business_under_another_name_are_seen(
    members: dict[str, object], slips: list[str]
) -> None:
    """They would be shown nowhere."""
    assert [f"$.business.{slip}" for slip in slips] == found(
        review(0), top={"business": {"name": "B", **members}}
    )


@pytest.mark.parametrize(
    ("category", "meant"),
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
    ],
)
def test_category_with_a_word_of_a_type_is_recognized(category: str, meant: str) -> None:
    assert [f'$.business.category: {NO_TYPE}, got "{category}"; did you mean "{meant}"?'] == found(
        review(0), top={"business": {"name": "B", "category": category}}
    )


@pytest.mark.parametrize(
    ("category", "meant"),
    [
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
def test_category_with_another_name_of_a_trade_is_recognized(category: str, meant: str) -> None:
    """The words of "Guest House" have one of HousePainter."""
    assert [f'$.business.category: {NO_TYPE}, got "{category}"; did you mean "{meant}"?'] == found(
        review(0), top={"business": {"name": "B", "category": category}}
    )


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


@pytest.mark.parametrize("category", ["Physiotherapy", "Podiatric", "Dentist", "LocalBusiness"])
def test_medical_specialty_that_is_a_business_has_no_warning(category: str) -> None:
    """The release defines it as a member of an enumeration, and as a subclass of MedicalBusiness."""
    assert [] == found(review(0), top={"business": {"name": "B", "category": category}})


@pytest.mark.parametrize(
    ("members", "odd"),
    [
        ({"review_count": 3}, "$.review_count: per_review has 2, got 3"),
        (
            {"date_range": {"latest": "2026-01-01"}},
            '$.date_range.latest: there are reviews up to 2026-01-02, got "2026-01-01"',
        ),
        (
            {"overall_sentiment": {"positive_pct": 90.5}},
            "$.overall_sentiment: the three percentages make 90.5, not 100",
        ),
        (
            {"aspects": ["price", {"id": "x", "mention_count": 3, "positive_count": 2}]},
            "$.aspects[1].mention_count: its parts make 2, got 3",
        ),
        (
            {"aspects": ["price", {"id": "x", "mention_count": 2, **PARTS}]},
            "$.aspects[1].mention_count: its parts make 3, got 2",
        ),
        (
            {"topics": [{"id": "heat", "example_review_ids": [IDS[0], "gone"]}]},
            '$.topics[0].example_review_ids[1]: there is no review "gone"',
        ),
        (
            {
                "entities": {
                    "technicians": [{"id": "sam", "review_ids": ["gone"]}],
                    "services": ["boilers"],
                }
            },
            '$.entities.technicians[0].review_ids[0]: there is no review "gone"',
        ),
        (
            {"faq": [{"question": "q", "answer": "a", "example_review_ids": ["gone"]}]},
            '$.faq[0].example_review_ids[0]: there is no review "gone"',
        ),
        (
            {"per_review": {"gone": {}, IDS[0]: {}}},
            '$.per_review.gone: there is no review "gone"',
        ),
        (
            {"per_review": {IDS[0]: {"technicians": ["sam", "max"]}, IDS[1]: {}}},
            f'$.per_review["{IDS[0]}"].technicians[1]: $.entities.technicians has no "max"',
        ),
        (
            {"per_review": {IDS[0]: {"aspects": [{"id": "speed"}]}, IDS[1]: {}}},
            f'$.per_review["{IDS[0]}"].aspects[0]: $.aspects has no "speed"',
        ),
    ],
)
def test_insights_may_be_odd(members: dict[str, object], odd: str) -> None:
    assert [odd] == found(review(0), insights={**WHOLE_INSIGHTS, **members})


def test_locations_of_which_none_is_declared_are_reported() -> None:
    """They had no pages, and nothing said why."""
    named = [review(0, location="North"), review(1, location="South")]
    reason = (
        'missing: reviews name 2 locations ("North", "South"), which have no pages and no filter'
    )
    assert [f"$.business.locations: {reason}"] == found(*named)
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


def test_person_may_be_named_without_an_opinion() -> None:
    entities = {
        "technicians": [{"id": "sam", "mention_count": 4, **PARTS}],
        "services": ["boilers"],
    }
    assert [] == found(review(0), insights={**WHOLE_INSIGHTS, "entities": entities})


def test_missing_platform_members_are_reported() -> None:
    expected = [f"$.{name}: missing; clients of the platform expect it" for name in WHOLE_INSIGHTS]
    assert expected == found(review(0), insights=NO_INSIGHTS)


def test_large_data_tells_how_far_it_is() -> None:
    reviews = [{**review(0), "id": f"{IDS[0][:-5]}{n:05}", "text": None} for n in range(10_001)]
    text = json.dumps({"business": {"name": "B"}, "reviews": reviews}).encode()
    steps: list[tuple[str, int, int]] = []
    dataset = load(text, None)
    assert [] == list(doubts(text, dataset, NOW, lambda *step: steps.append(step)))
    assert [("comparing", done, 10_001) for done in (0, 10_000, 10_001)] == steps
