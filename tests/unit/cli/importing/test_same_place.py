"""Locations of an export that are declared already, though no alias says so."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import SayMoreError
from tests.support.shop import Shop, google

GENT: dict[str, Any] = {"id": "g", "name": "Gent"}
ANTWERP: dict[str, Any] = {"id": "a", "name": "Antwerpen"}
KORENAAR = "Bakkerij De Korenaar"
MARKET = {"locality": "Gent", "addressLines": ["Korenmarkt 5"]}


@pytest.fixture
def shop(shop: Shop) -> Shop:
    declare(shop, GENT, ANTWERP)
    return shop


def declare(shop: Shop, *locations: dict[str, Any]) -> None:
    business = {"name": KORENAAR, "locations": locations}
    (shop.folder / "reviews.json").write_text(json.dumps({"business": business, "reviews": []}))


def takeout(folder: Path, **listings: dict[str, Any]) -> Path:
    """A Takeout with a location of each number, as its data.json describes it, and one review of each."""
    path = folder / "takeout.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, listing in listings.items():
            row = {"author": f"Jo of {number}", "place": number.removeprefix("n")}
            page = google(folder / "page", row).read_bytes()
            place = f"Takeout/Google Business Profile/account-1/location-{number.removeprefix('n')}"
            archive.writestr(f"{place}/reviews.json", page)
            archive.writestr(f"{place}/data.json", json.dumps(listing))
    return path


def titled(title: str, **listing: object) -> dict[str, Any]:
    return {"title": f"{KORENAAR} {title}".strip(), **listing}


def aliases(shop: Shop) -> dict[str, list[str]]:
    """Return the aliases of each declared location."""
    return {place["name"]: place.get("aliases", []) for place in shop.file["business"]["locations"]}


def test_location_whose_title_adds_the_name_of_a_declared_one_is_that_one(shop: Shop) -> None:
    """A Takeout of both shops was a question, and made four places of two."""
    result = shop.imported(takeout(shop.folder, n1=titled("Gent"), n2=titled("Antwerpen")))
    assert {"Gent": ["1"], "Antwerpen": ["2"]} == aliases(shop)
    (note,) = [note for note in result.notes if "place" in note]
    assert note.endswith(f" name them: g ({KORENAAR} Gent, 1), a ({KORENAAR} Antwerpen, 2)")


@pytest.mark.parametrize(
    ("declared", "listing"),
    [
        (GENT, titled("- GENT")),
        ({"id": "gent", "name": "Korenmarkt"}, titled("Gent")),
        ({"id": "g", "name": "De Korenaar Gent"}, titled("Gent")),
        (GENT, {"title": "Korenaar Gent"}),
        (GENT, titled("", storefrontAddress=MARKET)),
        (
            {"id": "x", "name": "De Korenaar", "address": {"city": "Gent"}},
            titled("", storefrontAddress=MARKET),
        ),
    ],
)
def test_location_is_known_by_its_title_or_its_city(
    shop: Shop, declared: dict[str, Any], listing: dict[str, Any]
) -> None:
    declare(shop, declared, ANTWERP)
    shop.imported(takeout(shop.folder, n1=listing))
    assert {declared["name"]: ["1"], "Antwerpen": []} == aliases(shop)


def test_location_of_another_name_is_a_question(shop: Shop) -> None:
    """It may be a shop of the owner's whose name at Google he does not know."""
    export = takeout(shop.folder, n1=titled("Gent Zuid", storefrontAddress=MARKET))
    text = (
        f'"{KORENAAR} Gent Zuid" \\(1\\) would become a place of its own beside g \\(Gent\\), a \\('
    )
    with pytest.raises(SayMoreError, match=text) as question:
        shop.imported(export)
    assert question.value.remedy == (
        'If it is one of these: --set location=ID, or write "1" into its aliases; if it is a place of its own: --yes'
    )
    assert {"Gent": [], "Antwerpen": []} == aliases(shop)
    shop.imported(export, location="g")
    assert {"Gent": ["1"], "Antwerpen": []} == aliases(shop)


def test_shops_of_a_chain_with_one_title_are_not_one(shop: Shop) -> None:
    """All three became aliases of the first."""
    main = {"id": "main", "name": KORENAAR, "address": {"city": "Gent"}}
    cities = ("Gent", "Brugge", "Oostende")
    listings = [titled("", storefrontAddress={"locality": city}) for city in cities]
    declare(shop, main)
    with pytest.raises(SayMoreError, match="would become a place of its own"):
        shop.imported(takeout(shop.folder, n2=listings[1]))
    shop.imported(
        takeout(shop.folder, n1=listings[0], n2=listings[1], n3=listings[2]), location="all"
    )
    assert [["1"], ["2"], ["3"]] == sorted(aliases(shop).values())


def test_shop_of_one_name_in_another_city_is_not_that_one(shop: Shop) -> None:
    """Reviews of a shop in Paris became those of "Acme Nord" in Lille."""
    declare(shop, {**GENT, "name": f"{KORENAAR} Noord", "address": {"city": "Gent"}}, ANTWERP)
    listing = titled("Noord", storefrontAddress={"locality": "Brugge"})
    with pytest.raises(SayMoreError, match="would become a place of its own"):
        shop.imported(takeout(shop.folder, n1=listing))


@pytest.mark.parametrize("name", ["Gent", "Zuid"])
def test_declared_location_without_id_is_no_location(shop: Shop, name: str) -> None:
    """It ended with a KeyError."""
    declare(shop, {"name": "Gent"}, ANTWERP)
    shop.imported(takeout(shop.folder, n1=titled(name)), yes=True)
    assert ["1"] == aliases(shop)[f"{KORENAAR} {name}"]


def test_location_of_another_name_is_a_new_place(shop: Shop) -> None:
    shop.imported(takeout(shop.folder, n1=titled("Brugge")), yes=True)
    assert {"Gent": [], "Antwerpen": [], f"{KORENAAR} Brugge": ["1"]} == aliases(shop)


def test_location_that_the_owner_names_is_the_one_of_an_export_of_one(shop: Shop) -> None:
    """It was refused, though check recommends it: none was called so."""
    shop.imported(takeout(shop.folder, n1=titled("Brugge")), location="antwerpen")
    assert {"Gent": [], "Antwerpen": ["1"]} == aliases(shop)


def test_export_of_another_declared_location_than_the_named_one_is_refused(shop: Shop) -> None:
    with pytest.raises(SayMoreError, match='none is called "antwerpen"'):
        shop.imported(takeout(shop.folder, n1=titled("Gent")), location="antwerpen")


FACTS = {"storefrontAddress": MARKET, "phoneNumbers": {"primaryPhone": "+32 9 123 45 67"}}


def test_places_get_address_and_phone_from_the_export(shop: Shop) -> None:
    """Of one shop the business got them, and of several nobody did."""
    declare(shop, GENT | {"phone": "09 1"}, ANTWERP)
    export = takeout(shop.folder, n1=titled("Gent", **FACTS), n2=titled("Brugge", **FACTS))
    result = shop.imported(export, location="all", yes=True)
    address = {"street": "Korenmarkt 5", "city": "Gent"}
    gent, antwerp, bruges = shop.file["business"]["locations"]
    assert GENT | {"phone": "09 1", "aliases": ["1"], "address": address} == gent
    assert ANTWERP == antwerp
    assert ("+32 9 123 45 67", address) == (bruges["phone"], bruges["address"])
    assert not {"phone", "address"} & shop.file["business"].keys()
    assert "your places got from the export: g (address)" in result.notes


def test_business_of_several_places_gets_no_address_of_one(shop: Shop) -> None:
    shop.imported(takeout(shop.folder, n1=titled("Gent", **FACTS)))
    assert not {"phone", "address"} & shop.file["business"].keys()
    assert "+32 9 123 45 67" == shop.file["business"]["locations"][0]["phone"]


def category(name: str) -> dict[str, Any]:
    return {"categories": {"primaryCategory": {"displayName": name}}}


def test_category_that_all_places_share_is_that_of_the_business(shop: Shop) -> None:
    baker = category("Bakkerij")
    export = takeout(shop.folder, n1=titled("Gent", **baker), n2=titled("Antwerpen", **baker))
    shop.imported(export)
    assert "Bakery" == shop.file["business"]["category"]


def test_new_places_of_one_title_are_told_apart_by_their_cities(shop: Shop) -> None:
    """The export has their addresses, and two buttons had numbers."""
    places = {
        f"n{number}": titled("", storefrontAddress={"locality": city})
        for number, city in enumerate(("Brugge", "Oostende", "Brussel", "Brussel"), start=1)
    }
    shop.imported(takeout(shop.folder, **places), location="all", yes=True)
    names = [place["name"].removeprefix(KORENAAR) for place in shop.file["business"]["locations"]]
    assert ["Gent", "Antwerpen", " (Brugge)", " (Oostende)", " (3)", " (4)"] == names
