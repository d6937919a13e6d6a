"""The business: what an export says of it, and whether it is the same."""

import pytest

from reviewsctl.importing.business import Likeness, filled, likeness, listing
from reviewsctl.importing.format import Fields
from reviewsctl.importing.reviews_file import EXAMPLES, NO_NAME
from reviewsctl.importing.values import normal
from reviewsctl.importing.vocabulary.words import words_in
from reviewsd.domain.local_business import local_business_types


def period(day: str, opens: Fields, closes: Fields) -> Fields:
    """Opening hours of a day, as Google has them."""
    return {"openDay": day, "openTime": opens, "closeDay": day, "closeTime": closes}


LISTING: Fields = {
    "title": "Acme Plumbing",
    "categories": {"primaryCategory": {"name": "gcid:plumber", "displayName": "Plumber"}},
    "phoneNumbers": {"primaryPhone": "+1 555-0100"},
    "websiteUri": "https://acme.example/",
    "storefrontAddress": {
        "regionCode": "US",
        "postalCode": "03801",
        "administrativeArea": "NH",
        "locality": "Portsmouth",
        "addressLines": ["12 Quay St", "Unit 3"],
    },
    "regularHours": {
        "periods": [
            period("MONDAY", {"hours": 8}, {"hours": 17, "minutes": 30}),
            period("TUESDAY", {}, {"hours": 24}),
        ]
    },
}
MONDAY = {"day": "monday", "opens": "08:00", "closes": "17:30"}


def test_takeout_describes_the_business() -> None:
    address = {
        "street": "12 Quay St, Unit 3",
        "city": "Portsmouth",
        "region": "NH",
        "postal_code": "03801",
        "country": "US",
    }

    assert {
        "name": "Acme Plumbing",
        "category": "Plumber",
        "phone": "+1 555-0100",
        "url": "https://acme.example/",
        "address": address,
        "hours": [MONDAY, {"day": "tuesday", "opens": "00:00", "closes": "24:00"}],
    } == listing(LISTING)


@pytest.mark.parametrize(
    ("identifier", "name", "expected"),
    [
        ("gcid:bakery", "Bakkerij", "Bakery"),
        ("categories/gcid:hair_salon", "Kapsalon", "HairSalon"),
        (None, "Bäckerei", "Bakery"),
        (None, "Driving school", "ProfessionalService"),
        ("gcid:anvil_forge", "Florist", "Florist"),
        ("gcid:anvil_forge", "Smederij", None),
        (None, None, None),
    ],
)
def test_category_is_a_type_of_schema_org(
    identifier: str | None, name: str | None, expected: str | None
) -> None:
    """An owner's first check warned of a category that the import itself had written."""
    category = {"name": identifier, "displayName": name}
    place: Fields = {"categories": {"primaryCategory": category}}
    assert expected == listing(place)["category"]


def test_names_of_trades_are_spelled_as_they_are_compared() -> None:
    types, names = local_business_types(), words_in("trades.toml").table
    words = [word for spelled in names.values() for word in spelled]
    assert names.keys() <= types
    assert sorted({normal(word) for word in words} - {*map(normal, types)}) == sorted(words)


@pytest.mark.parametrize("odd", [None, [], "x", 5, [None], {"periods": 1}, [{"openDay": "X"}]])
def test_odd_members_of_a_business_are_left_out(odd: object) -> None:
    names = ("regularHours", "categories", "storefrontAddress", "phoneNumbers", "websiteUri")
    location = listing(dict.fromkeys(names, odd) | {"title": "A"})
    assert {"name": "A"} == {name: value for name, value in location.items() if value}


def test_only_what_is_empty_is_filled() -> None:
    there: Fields = {"name": NO_NAME, "phone": "1", "url": None, "hours": [], "x": 1}
    facts = {"name": "Acme", "phone": "2", "url": "https://a.example", "hours": [MONDAY], "geo": {}}
    assert {"name": "Acme", "url": "https://a.example", "hours": [MONDAY]} == filled(there, facts)
    assert 2 == len(EXAMPLES)


@pytest.mark.parametrize(
    ("one", "second", "expected"),
    [
        ("Acme Plumbing", "ACME Plumbing, Inc.", Likeness.SAME),
        ("Acme Plumbing", "Plumbing Acme", Likeness.SAME),
        ("Müller Sanitär GmbH", "Muller Sanitar", Likeness.SAME),
        ("Harbor Law Group", "harborlaw", Likeness.RELATED),
        ("Harbor Law", "harborlaw", Likeness.SAME),
        ("Zoe", "", Likeness.SAME),
        ("Acme Plumbing", "Acme Plumbing Dover", Likeness.RELATED),
        ("Acme Plumbing", "Dover Acme Plumbing", Likeness.RELATED),
        ("Acme Plumbing", "Acme Plumbing & Heating", Likeness.RELATED),
        ("Smith & Sons", "Smith Sons", Likeness.SAME),
        ("Acme", "Acme Dover", Likeness.RELATED),
        ("Acme Plumbing", "Joe's Pizza", Likeness.OTHER),
        ("Acme Plumbing", "Best Plumbing", Likeness.OTHER),
        ("Harbor Law Group", "harborgrill", Likeness.OTHER),
    ],
)
def test_names_of_one_business_differ_from_those_of_others(
    one: str, second: str, expected: Likeness
) -> None:
    assert expected == likeness(one, second) == likeness(second, one)
