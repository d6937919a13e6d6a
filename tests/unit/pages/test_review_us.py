"""``/review-us``: buttons and a code that lead every customer to a platform (pages.md 1)."""

from xml.etree import ElementTree

import pytest

from reviewsd.pages import review_us
from tests.support.pages import Place, review

GOOGLE, YELP = "https://g.example/r", "https://y.example/r"


def business(**urls: str) -> dict[str, object]:
    return {"name": "Acme", "review_urls": urls}


@pytest.mark.parametrize("target", ["/review-us", "/review-us.md"])
def test_page_exists_only_where_a_review_can_be_written(place: Place, target: str) -> None:
    place.publish([review()])
    assert 404 == place.get(target).status
    assert "review-us" not in place.get("/sitemap.xml").body.decode()
    assert b"write_review" not in place.get("/index.json").body
    place.publish([review()], business(google=GOOGLE))
    assert 200 == place.get(target).status
    assert "/review-us</loc>" in place.get("/sitemap.xml").body.decode()
    assert b"/review-us" in place.get("/index.json").body


def test_everybody_sees_the_same_buttons_and_is_asked_nothing(place: Place) -> None:
    """A page before the platform's own would select the writers (review gating)."""
    place.publish([review()], business(yelp=YELP, google=GOOGLE))
    page = place.page("/review-us")
    buttons = [link for link in page.named("a") if "strong" in link.get("class", "")]
    assert [YELP, GOOGLE] == [link["href"] for link in buttons]
    assert not page.named("form")
    assert not page.named("input")
    assert "star" not in page.text.partition("}")[2].rpartition("}")[2]
    twin = place.get("/review-us.md").body.decode()
    assert twin.index(YELP) < twin.index(GOOGLE)


@pytest.mark.parametrize(
    ("urls", "address"),
    [
        ({"google": GOOGLE}, GOOGLE),
        ({"google": GOOGLE, "yelp": YELP}, "https://reviews.example/review-us"),
        ({"google": f"{GOOGLE}?{'a' * 3_000}"}, "https://reviews.example/review-us"),
    ],
)
def test_code_leads_to_the_only_platform_or_to_the_page(
    place: Place, urls: dict[str, str], address: str
) -> None:
    """A code with thousands of dots cannot be read from paper."""
    place.publish([review()], business(**urls))
    source = place.page("/review-us").source
    assert review_us.qr_svg(address) in source
    assert f'aria-label="QR code with the address {address}"' in source


def test_code_of_another_script_is_percent_encoded() -> None:
    """A QR code without a charset is read as Latin-1 by some cameras and as UTF-8 by others."""
    encoded = "https://g.example/caf%C3%A9?q=%41"
    assert review_us.qr_svg(encoded) == review_us.qr_svg("https://g.example/caf\xe9?q=%41")


def test_length_of_an_address_is_that_in_the_code(place: Place) -> None:
    address = "https://g.example/" + "\u00e9" * 100
    place.publish([review()], business(google=address))
    assert review_us.qr_svg("https://reviews.example/review-us") in place.page("/review-us").source


def test_code_is_a_picture_that_stands_out_in_both_themes() -> None:
    root = ElementTree.fromstring(review_us.qr_svg(GOOGLE))
    light, dark = root
    assert "#fff" == light.get("fill")
    assert "#000" == dark.get("stroke")
    assert "width" not in root.attrib
    assert not [name for element in root.iter() for name in element.attrib if name == "style"]
