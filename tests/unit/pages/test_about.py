"""``/about-reviews`` and "Report this review": the origin of reviews for readers."""

import json

import pytest

from tests.support.pages import Html, Place, review

ALL = "All ratings are shown, good and bad"


def test_places_and_their_checks_are_counted(place: Place) -> None:
    reviews = [
        review("a", verified=False),
        review("b", verified=False),
        review("c", source="trustpilot"),
    ]
    place.publish(reviews, {"name": "Acme", "verification_statement": "We ask all customers."})
    page = place.page("/about-reviews")
    assert "Acme collects these reviews from the places where they were written" in page.text
    assert page.text.index("We ask all customers.") < page.text.index("Google")
    rows = [
        " ".join(row.split()) for row in place.get("/about-reviews.md").body.decode().splitlines()
    ]
    assert "- Google: 2 (Authors checked to be customers: 0)" in rows
    assert "- Trustpilot: 1 (Authors checked to be customers: 1)" in rows
    for text in (ALL, "The newest review is of March 14, 2025."):
        assert text in page.text


@pytest.mark.parametrize("target", ["/about-reviews", "/about-reviews.md"])
@pytest.mark.parametrize("source", ["booking", "booking.com"])
def test_readers_are_told_how_points_became_stars(place: Place, target: str, source: str) -> None:
    """Seven points of ten are four stars."""
    place.publish([review("a", source=source), review("b")])
    text = " ".join(place.get(target).body.decode().split())
    assert "On Booking.com customers give up to ten points: two points are one star here" in text


def test_withheld_reviews_are_counted_with_their_reasons(place: Place) -> None:
    hidden = {
        id_: {"action": "hide", "reason": reason, "at": "2026-11-24T09:12:00Z"}
        for id_, reason in (("a", "spam"), ("b", "request"))
    }
    corrections = {"version": 1, "reviews": hidden}
    (place.directories.data / "corrections.json").write_text(json.dumps(corrections))
    place.publish([review(id_, verified=False) for id_ in "abc"])
    for target in ("/about-reviews", "/about-reviews.md"):
        content = place.get(target).body.decode()
        text = content if target.endswith(".md") else Html(content).text
        assert "2 of 3 reviews are not shown (" in text
        assert "spam: 1" in text
        assert "at the request of the author: 1" in text
        assert ALL not in text


@pytest.mark.parametrize("target", ["/about-reviews", "/about-reviews.md"])
def test_it_says_once_who_collects(place: Place, target: str) -> None:
    """Where nothing was checked, the sentence on that says it."""
    place.publish([review(verified=False), review("b", verified=False)], {"name": "Acme"})
    text = place.get(target).body.decode()
    assert 1 == text.count("Acme has collected these reviews.")
    assert "Acme collects these reviews" not in text


def test_reviews_that_were_all_checked_are_called_so(place: Place) -> None:
    place.publish([review(), review("b")])
    assert (
        "All of these reviews come from a source that checks" in place.page("/about-reviews").text
    )


def test_every_page_links_to_it(place: Place) -> None:
    place.publish([review("a", verified=False)])
    for target in ("/", "/reviews", "/reviews?rating=4", "/r/a", "/developers", "/r/nobody"):
        assert "/about-reviews" in Html(place.get(target).body.decode()).links, target
    assert "/about-reviews.md" in place.get("/llms.txt").body.decode()
    assert "/about-reviews</loc>" in place.get("/sitemap.xml").body.decode()
    assert place.get("/index.json").body.decode().count("/about-reviews") == 1


def test_every_page_links_to_the_legal_notice_and_the_privacy_policy(place: Place) -> None:
    """A page of a business in Germany needs both (DDG 5, GDPR 13), one click away."""
    notice, policy = "https://acme.example/impressum?a=1&b=2", "https://acme.example/datenschutz"
    links = {"legal_notice_url": notice, "privacy_url": policy}
    place.publish([review("a")], {"name": "Acme", "language": "de", **links})
    for target in ("/", "/reviews", "/reviews?rating=4", "/r/a", "/about-reviews", "/r/nobody"):
        html = Html(place.get(target).body.decode())
        assert {notice, policy} <= set(html.links), target
        assert "Impressum Datenschutz" in html.text, target
    assert (
        f"- [Impressum](<{notice}>)\n- [Datenschutz](<{policy}>)\n"
        in place.get("/index.md").body.decode()
    )


@pytest.mark.parametrize(
    ("reports", "href"),
    [
        ("https://acme.example/report?a=1&b=2", "https://acme.example/report?a=1&b=2"),
        (
            "reviews@acme.example",
            "mailto:reviews@acme.example?subject=https%3A%2F%2Freviews.example%2Fr%2Fa",
        ),
    ],
)
def test_review_can_be_reported_to_the_business(place: Place, reports: str, href: str) -> None:
    place.publish([review("a", verified=False)], {"name": "Acme", "reports": reports})
    page = place.page("/r/a")
    assert href in page.links
    assert "Report this review" in page.text
    assert f"[Report this review]({href})" in place.get("/r/a.md").body.decode()
    assert href.partition("?subject")[0] in place.page("/about-reviews").links
    served = json.loads(place.get("/reviews.json").body)
    assert reports == served["business"]["reports"]


@pytest.mark.parametrize("words", ["Legal notice", "Privacy policy", "Report", "points"])
def test_fact_that_is_absent_has_no_words(place: Place, words: str) -> None:
    """Of the notices, of the contact for reports, and of a scale that was converted."""
    place.publish([review("a", verified=False), review("b", source="trustpilot")])
    for target in ("/", "/r/a", "/r/a.md", "/about-reviews", "/about-reviews.md"):
        assert words not in place.get(target).body.decode(), target
