"""Pages of a business with several locations (pages.md 8)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import Html, Place, review

DOVER = {
    "id": "dover",
    "name": "Dover Harbor",
    "aliases": ["1234"],
    "address": {"street": "1 Elm St", "city": "Dover"},
    "hours": [{"day": "monday", "opens": "08:00", "closes": "24:00"}],
}
KITTERY = {"id": "Kittery", "name": "Kittery", "phone": "030 99", "url": "https://k.example"}
EMPTY = {"id": "rye", "name": "Rye"}
BUSINESS = {
    "name": "Acme",
    "phone": "030 12",
    "url": "https://acme.example",
    "address": {"street": "9 Head Office", "city": "Boston"},
}
REVIEWS = [
    review("a", rating=5, location="dover", date="2025-03-09"),
    review("b", rating=4, location="1234", date="2025-03-08", source="yelp"),
    review("c", rating=1, location="KITTERY", date="2025-03-07"),
    review("d", rating=2, date="2025-03-06"),
]
INSIGHTS = {"summary": "All of Acme.", "faq": [{"question": "Open?", "answer": "Yes."}]}


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("acme"))
    place.publish(REVIEWS, BUSINESS | {"locations": [DOVER, KITTERY, EMPTY]}, INSIGHTS)
    return place


def graph(page: Html) -> dict[str, dict[str, Any]]:
    """Return the nodes of the structured data by type."""
    (script,) = page.scripts
    return {node["@type"]: node for node in json.loads(script)["@graph"]}


def test_page_of_a_location_has_its_own_reviews_and_rating(acme: Place) -> None:
    page = acme.page("/l/dover")
    assert ["/r/a", "/r/b"] == page.reviews
    assert "4.5" in page.text
    assert "2 reviews" in page.text
    assert {"/reviews?location=dover", "/reviews?location=dover&rating=5"} <= {*page.hrefs}
    assert "/reviews?location=dover&rating=1" not in page.hrefs  # no review has one star
    assert "Acme, Dover Harbor: 2 customer reviews" in page.source


def test_page_of_a_location_has_its_own_address_and_hours(acme: Place) -> None:
    dover, kittery = acme.page("/l/dover"), acme.page("/l/Kittery")
    assert "1 Elm St" in dover.text
    assert "Opening hours" in dover.text
    assert {"tel:03012", "https://acme.example"} <= {*dover.hrefs}  # those of the business
    assert {"tel:03099", "https://k.example"} <= {*kittery.hrefs}
    for page in (dover, kittery, acme.page("/l/rye")):
        assert "Head Office" not in page.text
        assert "All of Acme." not in page.text  # insights are of the whole business


def test_page_of_a_location_counts_its_own_hidden_reviews(tmp_path: Path) -> None:
    """Each page counted those of all places."""
    place = Place(tmp_path)
    hidden = {
        id_: {"action": action, "reason": "spam", "at": "2026-11-24T09:12:00Z"}
        for id_, action in (("a", "hide"), ("b", "hide-text"), ("d", "hide"))
    }
    corrections = {"version": 1, "reviews": hidden}
    (place.directories.data / "corrections.json").write_text(json.dumps(corrections))
    place.publish(REVIEWS, BUSINESS | {"locations": [DOVER, KITTERY, EMPTY]})
    texts = {name: place.page(f"/l/{name}").text for name in ("dover", "Kittery", "rye")}
    assert "2 of 2 reviews are not shown, or" in texts["dover"]
    assert "spam: 2" in texts["dover"]
    assert "spam" not in texts["Kittery"] + texts["rye"]


def test_location_without_reviews_says_so(acme: Place) -> None:
    page = acme.page("/l/rye")
    assert [] == page.reviews
    assert "No reviews yet" in page.text
    assert "aggregateRating" not in graph(page)["LocalBusiness"]


@pytest.mark.parametrize("path", ["/", "/l/dover", "/l/Kittery", "/l/rye"])
def test_each_page_links_to_all_locations_and_marks_itself(acme: Place, path: str) -> None:
    page = acme.page(path)
    (start,) = [
        at
        for at, item in enumerate(page.elements)
        if item.attributes.get("aria-label") == "Locations"
    ]
    places = [item.attributes for item in page.elements[start:] if item.name == "a"][:4]
    assert ["/", "/l/dover", "/l/Kittery", "/l/rye"] == [place["href"] for place in places]
    assert [path] == [place["href"] for place in places if "aria-current" in place]


def test_page_of_one_of_many_locations_links_to_itself_alone(tmp_path: Path) -> None:
    """All pages together would else grow by the square of their number."""
    locations = [{"id": f"l{at}", "name": f"Place {at}"} for at in range(12)]
    for count, expected in ((11, 11), (12, 1)):
        (tmp_path / str(count)).mkdir()
        place = Place(tmp_path / str(count))
        place.publish([review("a")], BUSINESS | {"locations": locations[:count]})
        own = [link for link in place.page("/l/l3").hrefs if link.startswith("/l/")]
        assert (expected, True) == (len(own), "/l/l3" in own)
        assert count == sum(link.startswith("/l/") for link in place.page("/").hrefs)
        folded = [item for item in place.page("/").named("summary") if not item]
        assert (count > 11) == bool(folded)


def test_markdown_twin_is_the_same_page(acme: Place) -> None:
    response = acme.get("/l/dover.md")
    assert ["text/markdown; charset=utf-8"] == response.values("content-type")
    text = response.body.decode()
    assert text.startswith("# Acme, Dover Harbor\n")
    assert "- [Kittery](https://reviews.example/l/Kittery): 1\n" in text
    assert "<https://reviews.example/r/a>" in text
    assert "/r/c>" not in text
    negotiated = acme.get("/l/dover", "Accept: text/markdown")
    assert response.body == negotiated.body


def test_structured_data_of_a_location_belongs_to_the_business(acme: Place) -> None:
    node = graph(acme.page("/l/dover"))["LocalBusiness"]
    assert "https://reviews.example/l/dover#business" == node["@id"]
    assert "https://reviews.example/l/dover" == node["url"]
    assert "https://reviews.example/#business" == node["parentOrganization"]["@id"]
    assert ("Acme, Dover Harbor", "1 Elm St") == (node["name"], node["address"]["streetAddress"])
    assert (4.5, 2) == tuple(node["aggregateRating"][key] for key in ("ratingValue", "reviewCount"))
    assert ["/r/a", "/r/b"] == [item["@id"].partition(".example")[2] for item in node["review"]]
    places = graph(acme.page("/"))["LocalBusiness"]["subOrganization"]
    assert ["dover", "Kittery", "rye"] == [item["url"].rpartition("/")[2] for item in places]
    reviewed = graph(acme.page("/r/b"))["Review"]["itemReviewed"]
    assert node["@id"] == reviewed["@id"]
    assert (
        "https://reviews.example/#business"
        == graph(acme.page("/r/d"))["Review"]["itemReviewed"]["@id"]
    )


@pytest.mark.parametrize(
    ("query", "found", "heading"),
    [
        ("location=1234&rating=4", ["/r/b"], "Reviews: 4 stars, Dover Harbor"),
        ("location=dover+harbor&sort=oldest", ["/r/b", "/r/a"], "Reviews: Dover Harbor"),
        ("location=nowhere", [], "Reviews: Location: nowhere"),
    ],
)
def test_list_is_filtered_by_location(
    acme: Place, query: str, found: list[str], heading: str
) -> None:
    page = acme.page(f"/reviews?{query}")
    assert found == page.reviews
    assert heading in page.text
    text = acme.get(f"/reviews.md?{query}").body.decode()
    assert len(found) == text.count("/r/")


def test_form_chooses_among_the_locations(acme: Place) -> None:
    page = acme.page("/reviews?location=1234")
    assert {"id": "f-location", "name": "location"} in page.named("select")
    options = {option["value"]: "selected" in option for option in page.named("option")}
    assert {"dover": True, "Kittery": False, "rye": False}.items() <= options.items()
    assert "No reviews match" in acme.page("/reviews?location=nowhere").text


def test_cards_name_their_location_but_on_its_own_page(acme: Place) -> None:
    assert acme.page("/reviews").source.count("<bdi>Dover Harbor</bdi>") == 2
    assert acme.page("/r/c").source.count("<bdi>Kittery</bdi>") == 1
    assert (
        acme.page("/l/dover").source.count("<bdi>Dover Harbor</bdi>") == 1
    )  # the link of the page
    assert " · Kittery\n" in acme.get("/reviews.md").body.decode().replace(" · Verified", "")


def test_location_pages_are_in_the_sitemap_and_for_agents(acme: Place) -> None:
    sitemap = acme.get("/sitemap.xml").body.decode()
    assert 3 == sitemap.count("<loc>https://reviews.example/l/")
    listing = acme.get("/llms.txt").body.decode()
    assert (
        "- [Dover Harbor](https://reviews.example/l/dover.md): 4.5 of 5 stars from 2 ratings"
        in listing
    )
    assert "- [Rye](https://reviews.example/l/rye.md): no reviews" in listing


def test_unknown_location_is_not_found(acme: Place) -> None:
    for path in ("/l/nowhere", "/l/", "/l/DOVER", "/l/dover.md.md", "/l/dover/x"):
        assert 404 == acme.get(path).status, path


def test_one_location_changes_no_page(tmp_path: Path) -> None:
    """A business with one place has nothing to choose."""
    (tmp_path / "none").mkdir()
    (tmp_path / "one").mkdir()
    none, one = Place(tmp_path / "none"), Place(tmp_path / "one")
    reviews = [item | {"location": "dover"} for item in REVIEWS]
    none.publish(reviews, BUSINESS, INSIGHTS)
    one.publish(reviews, BUSINESS | {"locations": [DOVER]}, INSIGHTS)
    documents = none.snapshots.current.documents
    assert documents.keys() == one.snapshots.current.documents.keys()
    for path in [*documents.keys() - {"/reviews.json"}, "/r/a", "/reviews?rating=5", "/embed"]:
        assert none.get(path).body == one.get(path).body, path
