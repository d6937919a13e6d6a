"""The list of reviews with its form, its filters and their errors (pages.md 1)."""

import json
import re
from typing import Any

import pytest

from tests.support.connections import BASE_URL
from tests.support.pages import Html, Place, review

REPLY = {"text": "Thanks.", "date": "2025-03-15"}
DIVIDED = [review(), review("b", source="yelp", verified=False, owner_reply=REPLY)]


@pytest.mark.parametrize("language", ["en", "de", "fr", "pt"])
def test_title_of_a_filtered_list_is_short_in_every_language(place: Place, language: str) -> None:
    """Search engines cut longer ones, and html-validate refuses more than 70 characters."""
    name = "Harbor Heating & Plumbing"
    place.publish([review()], {"name": name, "language": language})
    source = place.page("/reviews?since=2026-01-01&until=2025-01-01&min_rating=4").source
    (title,) = re.findall("<title>(.*?)</title>", source)
    assert 60 < len(title) <= 70
    assert title.endswith(" · Harbor Heating &amp; Plumbing")


def test_issue_is_shown_beside_its_field(harbor: Place) -> None:
    page = harbor.page("/reviews?min_rating=9&rating=0&since=x&query=boiler&limit=0", 400)
    texts = {element["id"]: element for element in page.named("p") if "id" in element}
    wrong = {
        element["name"]: element["aria-describedby"]
        for element in page.named("input") + page.named("select")
        if "aria-invalid" in element
    }
    names = ("min_rating", "since", "limit")
    assert {name: f"e-{name}-1" for name in names} == wrong
    (chips,) = [group for group in page.named("div") if group.get("id") == "f-rating"]
    assert "e-rating-1" == chips["aria-describedby"]
    assert {*wrong.values(), "e-rating-1"} <= texts.keys()
    for message in (
        "Stars must be at least 1, got 0.",
        "Minimum stars must be at most 5, got 9.",
        "From must be a date as YYYY-MM-DD, got x.",
    ):
        assert 2 == page.text.count(message), message
    assert {f"#f-{name}" for name in (*names, "rating")} <= {*page.hrefs}
    assert "9" not in {option["value"] for option in page.named("option")}
    assert "<title>Error: Search · " in page.source
    assert not [link for link in page.links if "since=" in link]
    assert {"query": "boiler"}.items() <= {
        field["name"]: field["value"] for field in page.named("input")
    }.items()


@pytest.mark.parametrize(
    ("query", "field", "href"),
    [
        ("stars=4", "rating", "/reviews?rating=4"),
        ("q=a+boiler&min_rating=3", "query", "/reviews?min_rating=3&query=a+boiler"),
        ("Source=%22%3E%3Cscript%3E", "source", "/reviews?source=%22%3E%3Cscript%3E"),
    ],
)
def test_similar_name_leads_to_the_filter(harbor: Place, query: str, field: str, href: str) -> None:
    """All reviews under a heading that names no filter would look like the answer."""
    page = harbor.page(f"/reviews?{query}", 400)
    assert "Please fix the highlighted field." in page.text
    assert [f"e-{field}-1"] == [
        element.attributes["aria-describedby"]
        for element in page.elements
        if "aria-describedby" in element.attributes
    ]
    assert href in page.links
    assert not page.named("script")


@pytest.mark.parametrize(
    "query", ["rating=1", "query=boiler&limit=5", "min_rating=4&mentions_technician=ben-okafor"]
)
def test_markdown_twin_of_a_filtered_list_is_filtered(harbor: Place, query: str) -> None:
    """An agent that reads all reviews at the address of a filter draws wrong conclusions."""
    page = harbor.get(f"/reviews?{query}")
    twin = harbor.get(f"/reviews.md?{query}")
    text = twin.body.decode()
    html = Html(page.body.decode())
    heading = next(line for line in text.splitlines() if line)
    next_links = [link["href"] for link in html.named("a") if link.get("rel") == "next"]

    assert (200, ["text/markdown; charset=utf-8"]) == (twin.status, twin.values("content-type"))
    assert html.reviews == re.findall(rf"^<{BASE_URL}(/r/[^>]+)>$", text, re.MULTILINE)
    assert heading.startswith("# Reviews: ")
    assert page.values("etag") != twin.values("etag")
    assert f'<{BASE_URL}/reviews?{query}>; rel="canonical"' in twin.values("link")[0]
    assert f'</reviews.md?{query}>; rel="alternate"; type="text/markdown"' in page.values("link")[0]
    for link in next_links:
        assert f"({BASE_URL}{link.replace('/reviews?', '/reviews.md?')})" in text


def test_markdown_twin_links_to_its_next_page(harbor: Place) -> None:
    text = harbor.get("/reviews.md").body.decode()
    (next_path,) = re.findall(rf"\({BASE_URL}(/reviews\.md\?cursor=[^)]+)\)", text)
    second = harbor.get(next_path)
    assert (200, ["text/markdown; charset=utf-8"]) == (second.status, second.values("content-type"))
    assert second.body != text.encode()


@pytest.mark.parametrize("query", ["rating=9", "stars=1", "mentions_service=boiler", "cursor=zzz"])
def test_markdown_twin_answers_invalid_parameters_with_a_problem(harbor: Place, query: str) -> None:
    by_accept = harbor.get(f"/reviews?{query}", "Accept: text/markdown")
    response = harbor.get(f"/reviews.md?{query}")
    assert by_accept.body == response.body
    assert ["Accept"] == harbor.get(f"/reviews?{query}").values("vary")
    assert (400, ["application/json"]) == (response.status, response.values("content-type"))
    assert json.loads(response.body)["issues"]


@pytest.mark.parametrize("query", ["utm_source=x", "fbclid=x&_=1", "from=timeline"])
def test_parameter_of_another_program_changes_nothing(harbor: Place, query: str) -> None:
    assert harbor.get("/reviews").body == harbor.get(f"/reviews?{query}").body


@pytest.mark.parametrize("path", ["/reviews", "/reviews.md"])
@pytest.mark.parametrize(
    ("query", "clean"),
    [
        ("query=&rating=5&source=", "rating=5"),
        ("rating=5&sort=&query=caf%C3%A9+%26", "rating=5&query=caf%C3%A9+%26"),
        ("rating=9&query=", "rating=9"),
        ("utm_source=&fbclid=1", "fbclid=1"),
        ("query=&query=", ""),
        ("q=&stars=", ""),
        ("&&", ""),
        ("next=//evil.example&x=", "next=//evil.example"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_blank_parameters_are_taken_out_of_the_address(
    harbor: Place, path: str, query: str, clean: str, method: str
) -> None:
    """Browsers send every field of a form, and people pass the address on."""
    response = harbor.get(f"{path}?{query}", method=method)
    expected = f"{path}?{clean}" if clean else path
    assert (303, [expected], b"") == (response.status, response.values("location"), response.body)
    assert 303 != harbor.get(expected).status


def test_path_of_a_redirect_is_ours(harbor: Place) -> None:
    """A path that is spelled otherwise could be read as another host."""
    response = harbor.get("/%72eviews?query=&rating=5")
    assert (303, ["/reviews?rating=5"]) == (response.status, response.values("location"))


def test_matches_are_highlighted_in_the_cards(place: Place) -> None:
    place.publish([review(text="Große STRASSE, <b>strasse</b> & mehr"), review("b", text="Straße")])
    page = place.page("/reviews?query=STRA%C3%9Fe")
    assert (
        "Große <mark>STRASSE</mark>, &lt;b&gt;<mark>strasse</mark>&lt;/b&gt; &amp; mehr"
        in page.source
    )
    assert "<mark>Straße</mark>" in page.source
    assert "<mark>" not in place.get("/reviews.md?query=strasse").body.decode()
    assert "<mark>" not in place.page("/reviews?rating=4").source


def test_chips_of_stars_keep_the_other_filters(harbor: Place) -> None:
    page = harbor.page("/reviews?rating=4&min_rating=2&source=google&query=boiler&limit=5")
    chips = {
        link["aria-label"]: (link["href"], link.get("aria-current"))
        for link in page.named("a")
        if re.fullmatch("[1-5] stars?", link.get("aria-label", ""))
    }
    rest = "source=google&query=boiler&limit=5"
    assert {
        **{f"{stars} stars": (f"/reviews?rating={stars}&{rest}", None) for stars in (5, 3, 2)},
        "4 stars": (f"/reviews?{rest}", "true"),
        "1 star": (f"/reviews?rating=1&{rest}", None),
    } == chips
    assert {"type": "hidden", "name": "rating", "value": "4"} in page.named("input")


@pytest.mark.parametrize(
    ("query", "is_open"),
    [
        ("", False),
        ("?query=boiler&source=google&sort=lowest&rating=5", False),
        ("?verified=true&until=2026-01-01", False),
        ("?rating=9", False),
        ("?until=x", True),
    ],
)
def test_more_filters_are_open_for_an_error(harbor: Place, query: str, *, is_open: bool) -> None:
    """Filters in use are chips above the reviews; on telephones the open form hid these."""
    page = Html(harbor.get(f"/reviews{query}", "Accept: text/html").body.decode())
    assert [{"open": ""} if is_open else {}] == page.named("details")


@pytest.mark.parametrize(("count", "element"), [(30, "select"), (31, "input")])
def test_field_of_a_name_is_a_list_to_choose_from_unless_there_are_many(
    place: Place, count: int, element: str
) -> None:
    people = [{"id": f"p-{at}", "label": f"P {at}", "mention_count": 1} for at in range(count)]
    place.publish([review()], insights={"entities": {"technicians": people}})
    page = place.page("/reviews?mentions_technician=p-7")
    (field,) = (
        field for field in page.named(element) if field.get("name") == "mentions_technician"
    )
    options = [option["value"] for option in page.named("option")]
    assert (element == "input") == ("P 7" in options) == ("list" in field)
    assert (element == "select") == ("p-7" in options)


@pytest.mark.parametrize(
    ("reviews", "query", "fields"),
    [
        ([review(), review("b", source="Google")], "", set()),
        (DIVIDED, "", {"source", "verified", "has_reply"}),
        (DIVIDED, "?source=GOOGLE", {"source", "verified", "has_reply"}),
        ([review(verified=False)], "?verified=true", {"verified"}),
    ],
)
def test_form_offers_only_what_divides_the_reviews(
    place: Place, reviews: list[dict[str, Any]], query: str, fields: set[str]
) -> None:
    """A field that excludes nothing, or everything, is a question without a point."""
    place.publish(reviews)
    page = place.page(f"/reviews{query}")
    offered = {field["name"] for field in page.named("select")}
    assert fields == offered & {"source", "verified", "has_reply"}
    if "source" in query:
        assert {"value": "google", "selected": ""} in page.named("option")


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("source=google&sort=oldest", "Reviews: Google"),
        ("verified=true&has_reply=false", "Reviews: Verified, Without a reply"),
        ("verified=false&has_reply=true", "Reviews: Not verified, With a reply"),
        ("changed_since=2026-01-01T00:00:00Z", "Reviews: changed since January 1, 2026"),
        ("changed_since=2026-01-01T10:00:00Z", "Reviews: changed since 2026-01-01T10:00:00Z"),
    ],
)
def test_filters_are_named_in_the_heading(harbor: Place, query: str, heading: str) -> None:
    assert f'<h1 dir="auto">{heading}</h1>' in harbor.page(f"/reviews?{query}").source
    assert f"# {heading} · " in harbor.get(f"/reviews.md?{query}").body.decode()


@pytest.mark.parametrize("query", ["rating=5&cursor=zzz", "page=2&rating=5"])
def test_invalid_cursor_links_to_the_first_page(harbor: Place, query: str) -> None:
    page = harbor.page(f"/reviews?{query}", 400)
    assert "This page no longer exists" in page.text
    assert "next_cursor" not in page.source
    assert "/reviews?rating=5" in page.links


def test_each_filter_is_named_with_a_link_that_removes_it(harbor: Place) -> None:
    target = "/reviews?mentions_technician=ben-okafor&since=2026-01-01&until=2026-12-31"
    page = harbor.page(target)
    assert "<title>Reviews: 2026, Ben Okafor · " in page.source
    removing = {
        link["aria-label"]: link["href"]
        for link in page.named("a")
        if link.get("aria-label", "").startswith("Remove")
    }
    assert {
        "Remove the filter 2026": "/reviews?mentions_technician=ben-okafor",
        "Remove the filter Ben Okafor": "/reviews?since=2026-01-01&until=2026-12-31",
    } == removing
    current = [link["href"] for link in page.named("a") if link.get("aria-current") == "true"]
    assert ["/reviews?since=2026-01-01&until=2026-12-31&mentions_technician=ben-okafor"] == current
    assert '<h1 dir="auto">Reviews: 1 star</h1>' in harbor.page("/reviews?rating=1").source


def test_pages_follow_each_other_by_cursor(harbor: Place) -> None:
    paths: list[str] = []
    target = "/reviews?min_rating=4"
    while target:
        response = harbor.get(target)
        page = Html(response.body.decode())
        assert {"name": "robots", "content": "noindex, follow"} in page.named("meta")
        paths += page.reviews
        next_links = [link["href"] for link in page.named("a") if link.get("rel") == "next"]
        assert next_links == re.findall('<([^>]*)>; rel="next"', response.values("link")[0])
        target = next_links[0] if next_links else ""
    assert 105 == len(paths) == len(set(paths))
    first = harbor.page("/reviews")
    assert not any(meta.get("name") == "robots" for meta in first.named("meta"))
