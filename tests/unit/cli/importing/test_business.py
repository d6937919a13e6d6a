"""The business: what an export says of it, and whether it is the same."""

import json
from pathlib import Path

import pytest

from reviewsctl.importing.business import (
    Likeness,
    filled,
    likeness,
    listing,
    older_place,
    place,
)
from reviewsctl.importing.format import Fields
from reviewsctl.importing.reviews_file import EXAMPLES, NO_NAME

SAMPLES = Path(__file__).parent / "samples"

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
            {
                "openDay": "MONDAY",
                "openTime": {"hours": 8},
                "closeDay": "MONDAY",
                "closeTime": {"hours": 17, "minutes": 30},
            },
            {
                "openDay": "TUESDAY",
                "openTime": {},
                "closeDay": "TUESDAY",
                "closeTime": {"hours": 24},
            },
        ]
    },
}
NEW: Fields = {
    "displayName": {"text": "Acme Plumbing"},
    "primaryTypeDisplayName": {"text": "Plumber"},
    "internationalPhoneNumber": "+1 555-0100",
    "websiteUri": "https://acme.example/",
    "postalAddress": LISTING["storefrontAddress"],
    "location": {"latitude": 43.07, "longitude": -70.76},
    "regularOpeningHours": {
        "periods": [
            {
                "open": {"day": 1, "hour": 8, "minute": 0},
                "close": {"day": 1, "hour": 17, "minute": 30},
            }
        ]
    },
}
ADDRESS = {
    "street": "12 Quay St, Unit 3",
    "city": "Portsmouth",
    "region": "NH",
    "postal_code": "03801",
    "country": "US",
}
MONDAY = {"day": "monday", "opens": "08:00", "closes": "17:30"}


def test_takeout_and_places_describe_the_business() -> None:
    common = {
        "name": "Acme Plumbing",
        "category": "Plumber",
        "phone": "+1 555-0100",
        "url": "https://acme.example/",
        "address": ADDRESS,
    }
    tuesday = {"day": "tuesday", "opens": "00:00", "closes": "24:00"}
    older = older_place(json.loads((SAMPLES / "places_legacy.json").read_text())["result"])

    assert {**common, "hours": [MONDAY, tuesday]} == listing(LISTING)
    assert {
        **common,
        "geo": {"latitude": 43.07, "longitude": -70.76},
        "hours": [MONDAY],
    } == place(NEW)
    assert ("+1 555-555-0100", "12 Quay Street", [{**MONDAY, "closes": "17:00"}]) == (
        older["phone"],
        dict(older["address"])["street"],  # type: ignore[call-overload]
        older["hours"],
    )


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
        ("Harbor Law Group", "harborlaw", Likeness.SAME),
        ("Harbor Law", "harborlaw", Likeness.SAME),
        ("Zoe", "", Likeness.SAME),
        ("Acme Plumbing", "Acme Plumbing Dover", Likeness.RELATED),
        ("Acme Plumbing", "Dover Acme Plumbing", Likeness.RELATED),
        ("Acme Plumbing", "Acme Plumbing & Heating", Likeness.SAME),
        ("Acme Plumbing", "Acme Plumbing und Söhne", Likeness.SAME),
        ("Smith & Sons", "Smith Sons", Likeness.SAME),
        ("Acme Plumbing", "Acme Plumbing & Heating Dover", Likeness.RELATED),
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
