"""Locations of a business, and the reviews that name them (pages.md 8)."""

import json
from typing import Any

import pytest

from reviewsd.domain import locations
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import load
from reviewsd.domain.locations import MAX_LOCATIONS, Locations
from reviewsd.domain.reviews import Address, Business, Location
from tests.support.columns import review

DOVER = {"id": "dover", "name": "Dover Harbor", "aliases": ["1234", "ChIJ/x y"]}
KITTERY = {"id": "Kittery", "name": "Kittery"}


def refused(declared: object, *named: object) -> list[tuple[str, str]]:
    """Return path and reason of each finding about declared locations, and reviews that name some."""
    reviews = [review(f"r{at}") | {"location": name} for at, name in enumerate(named)]
    content = {"business": {"name": "Acme", "locations": declared}, "reviews": reviews}
    try:
        load(json.dumps(content).encode(), None)
    except DataError as error:
        return [(finding.path, finding.reason) for finding in error.findings]
    return []


@pytest.mark.parametrize(
    "name", ["dover", "DOVER ", "1234", "chij/X Y", "kittery", "Kittery", "", None]
)
def test_review_may_name_a_location_by_id_or_alias(name: str | None) -> None:
    """Exports spell ids as they like, and blanks around them mean nothing."""
    assert [] == refused([DOVER, KITTERY], name)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("dovr", '"dovr"', '; did you mean "dover"?'),
        ("Dover Harbor", '"Dover Harbor"', ""),  # a name may change, an id stays
        ("\x1b[2J\u2028", r'"\u001b[2J\u2028"', ""),
        ("x" * 100_000, f'"{"x" * 36}...', ""),
    ],
)
def test_review_with_an_unknown_location_is_refused(name: str, message: str, hint: str) -> None:
    remedy = hint or "; add it to the aliases of its location, or import again"
    reason = f"expected an id or alias of business.locations, got {message}{remedy}"
    assert [("$.reviews[1].location", reason)] == refused([DOVER, KITTERY], "dover", name)


def test_unknown_location_of_many_reviews_is_one_finding() -> None:
    """An id that was renamed was a fault of each review, and hid all others."""
    paths = [path for path, _ in refused([DOVER], "rye", "dover", "york", "rye", "york")]
    assert ["$.reviews[0].location", "$.reviews[2].location"] == paths


@pytest.mark.parametrize("declared", [[], None])
def test_review_may_name_any_location_where_none_is_declared(declared: list[object] | None) -> None:
    """Imports keep the location of an export without asking for more."""
    business = {"name": "Acme"} | ({} if declared is None else {"locations": declared})
    content = {"business": business, "reviews": [review("a") | {"location": "https://x/ \x00"}]}
    assert 1 == len(load(json.dumps(content).encode(), None).records)


PATH = "$.business.locations"


@pytest.mark.parametrize(
    ("declared", "findings"),
    [
        (None, [(PATH, "expected array, got null")]),
        ([7], [(f"{PATH}[0]", "expected object, got integer 7")]),
        ([{"name": "Dover"}], [(f"{PATH}[0].id", "missing")]),
        ([{"id": "dover"}], [(f"{PATH}[0].name", "missing")]),
        (
            [{"id": "a/b", "name": ""}],
            [
                (f"{PATH}[0].id", 'expected 1..64 letters, digits, - and _, got "a/b"'),
                (f"{PATH}[0].name", "must not be empty"),
            ],
        ),
        (
            [DOVER, {"id": "dover.md", "name": "x", "aliases": [""], "address": {"city": 7}}],
            [
                (f"{PATH}[1].id", 'expected 1..64 letters, digits, - and _, got "dover.md"'),
                (f"{PATH}[1].aliases[0]", "must not be empty"),
                (f"{PATH}[1].address.city", "expected string or null, got integer 7"),
            ],
        ),
        ([DOVER, DOVER | {"aliases": []}], [(f"{PATH}[1].id", f"duplicate of {PATH}[0].id")]),
        (
            [DOVER, {"id": "DOVER", "name": "x", "aliases": [" 1234 "]}],
            [
                (f"{PATH}[1].id", f"duplicate of {PATH}[0].id"),
                (f"{PATH}[1].aliases[0]", f"duplicate of {PATH}[0].aliases[0]"),
            ],
        ),
        (
            [{"id": f"l{at}", "name": "x"} for at in range(MAX_LOCATIONS + 1)],
            [(PATH, "expected at most 1,000 items, got 1,001")],
        ),
    ],
    ids=range(9),
)
def test_faulty_location_is_refused(declared: object, findings: list[tuple[str, str]]) -> None:
    assert findings == refused(declared)


def test_alias_may_repeat_the_id_of_its_own_location() -> None:
    """An owner wrote the name of the house beside its id, and nothing was served any more."""
    assert [] == refused([DOVER, {"id": "mill", "name": "Mill", "aliases": ["Mill", "mill "]}])


def test_one_location_is_not_several() -> None:
    """Its page would repeat the page of the business."""
    dover = Location(id="dover", name="Dover")
    assert () == locations.several(Business(name="Acme"))
    assert () == locations.several(Business(name="Acme", locations=(dover,)))
    both = (dover, Location(id="kittery", name="Kittery"))
    assert both == locations.several(Business(name="Acme", locations=both))


@pytest.mark.parametrize(
    ("name", "expected"), [(" DOVER", "dover"), ("chij/x Y", "dover"), ("Elsewhere", "elsewhere")]
)
def test_alias_has_the_key_of_its_location(name: str, expected: str) -> None:
    business = Business(name="Acme", locations=(Location(**DOVER), Location(**KITTERY)))  # type: ignore[arg-type]
    assert expected == Locations.of(business).key_of(name)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ({"name": "Dover"}, {"name": "Acme, Dover", "phone": "1", "address": None}),
        ({"name": "ACME Dover"}, {"name": "ACME Dover"}),
        ({"name": "x", "phone": "2", "url": "https://d.example"}, {"phone": "2"}),
        ({"name": "x", "address": Address(city="Dover")}, {"address": Address(city="Dover")}),
    ],
)
def test_location_as_a_business_has_the_address_of_its_own_alone(
    location: dict[str, Any], expected: dict[str, Any]
) -> None:
    """The address of the head office would send customers to another town."""
    business = Business(name="Acme", phone="1", address=Address(city="Rye"))
    message = locations.as_business(business, Location(id="dover", **location))
    assert expected == {name: getattr(message, name) for name in expected}
