"""Pages as browsers receive them: complete, safe for any data, and without dead links (pages.md)."""

import hashlib
import json
import re
from base64 import b64encode
from pathlib import Path

import pytest

from reviewsd.config.schema import Pages
from reviewsd.http1 import urls
from tests.support.connections import BASE_URL
from tests.support.pages import Html, Place, demo, review

REVIEW = "/r/01M735509D7J01RS7WWV71AR47"
PAGES = (
    "/",
    "/reviews",
    "/reviews?min_rating=4",
    "/summary",
    "/about-reviews",
    "/developers/embed",
    "/developers/embed?theme=dark",
    REVIEW,
)


@pytest.mark.parametrize("target", PAGES)
def test_every_page_works_within_its_content_security_policy(harbor: Place, target: str) -> None:
    response = harbor.get(target)
    page = Html(response.body.decode())
    (policy,) = response.values("content-security-policy")
    sheet = re.search("<style>(.*?)</style>", page.source, re.DOTALL)
    assert sheet is not None
    digest = b64encode(hashlib.sha256(sheet[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "blockquote::before{content:open-quote" in sheet[1]
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert len(sheet[1]) < 10_000
    assert not any({"style", "onclick"} & element.attributes.keys() for element in page.elements)
    assert {"application/ld+json"} >= {script.get("type") for script in page.named("script")}
    assert not page.named("img")


def test_home_page_has_three_representations(harbor: Place) -> None:
    kinds = {
        "*/*": "text/html; charset=utf-8",
        "text/html,application/xhtml+xml,*/*;q=0.8": "text/html; charset=utf-8",
        "image/png": "text/html; charset=utf-8",
        "text/markdown": "text/markdown; charset=utf-8",
        "application/json": "application/json",
    }
    for accept, kind in kinds.items():
        assert [kind] == harbor.get("/", f"Accept: {accept}").values("content-type"), accept


def test_front_page_is_small(harbor: Place) -> None:
    assert len(harbor.get("/", "Accept-Encoding: gzip").body) < 20_000


@pytest.mark.parametrize(
    "path", ["/", "/reviews", "/reviews?min_rating=4&limit=5", REVIEW, "/summary"]
)
def test_negotiated_answer_is_private(harbor: Place, path: str) -> None:
    """Caches that do not look at Vary would serve Markdown to browsers; an address's default stays public."""
    kinds = {"text/markdown", *(["application/json"] if path == "/" else [])}
    default = harbor.get(path)
    (public,) = default.values("cache-control")
    assert "public, max-age=60" == public
    for kind in kinds:
        chosen = harbor.get(path, f"Accept: {kind}")
        (tag,) = chosen.values("etag")
        unmodified = harbor.get(path, f"Accept: {kind}", f"If-None-Match: {tag}")
        assert default.values("etag") != [tag]
        for response in (default, chosen):
            assert "Accept" in response.values("vary")[0].split(", ")
        assert (200, ["private, max-age=60"]) == (chosen.status, chosen.values("cache-control"))
        assert (304, ["private, max-age=60"]) == (
            unmodified.status,
            unmodified.values("cache-control"),
        )


@pytest.mark.parametrize("path", ["/index.md", "/index.json", "/reviews.md"])
def test_alternative_is_public_at_its_own_address(harbor: Place, path: str) -> None:
    assert ["public, max-age=60"] == harbor.get(path).values("cache-control")


def test_unknown_review_or_address_has_an_error_page(harbor: Place) -> None:
    response = harbor.get("/r/nobody")
    assert (404, ["no-store"]) == (response.status, response.values("cache-control"))
    assert "This review does not exist" in Html(response.body.decode()).text
    assert "nothing at this address" in harbor.page("/nope", 404).text
    assert ["application/json"] == harbor.get("/nope").values("content-type")


def test_links_to_invalid_fields_are_large_enough_for_a_finger(harbor: Place) -> None:
    """WCAG 2.2 2.5.8: lines of text are 21 pixels high, and a finger needs 24."""
    page = harbor.page("/reviews")
    (style,) = re.findall("<style>(.*?)</style>", page.source, re.DOTALL)
    assert ".foot a,.error a{display:inline-block;padding-block:.25rem;" in style


@pytest.mark.parametrize("image", [urls.BADGE, urls.ICON])
def test_weights_of_letters_in_images_are_hundreds(harbor: Place, image: str) -> None:
    """SVG knows no others as attributes, and vnu refuses them."""
    weights = re.findall(r'font-weight="(\d+)"', harbor.get(image).body.decode())
    assert [] == [weight for weight in weights if int(weight) % 100]


@pytest.mark.parametrize(
    ("path", "twin"), [("/reviews?rating=1", "/reviews.md?rating=1"), (REVIEW, f"{REVIEW}.md")]
)
def test_page_made_for_a_request_is_markdown_by_accept(harbor: Place, path: str, twin: str) -> None:
    """Agents ask so for any page, and would otherwise read HTML."""
    chosen, expected = harbor.get(path, "Accept: text/markdown, */*;q=0.1"), harbor.get(twin)
    assert expected.body == chosen.body
    for name in ("content-type", "etag", "link"):
        assert expected.values(name) == chosen.values(name)
    assert [] == expected.values("vary")
    for accept in ("*/*", "text/html", "text/html, text/markdown;q=0.9", "image/png"):
        response = harbor.get(path, f"Accept: {accept}")
        assert ["text/html; charset=utf-8"] == response.values("content-type"), accept


def test_entity_tag_of_a_review_survives_changes_of_others(place: Place) -> None:
    place.publish([review("a"), review("b")])
    tag = place.get("/r/a").values("etag")[0]
    other_tag = place.get("/r/b").values("etag")[0]
    place.publish([review("a"), review("b", text="Bad."), review("c", date="2026-01-01")])
    assert [tag] == place.get("/r/a").values("etag")
    assert [other_tag] != place.get("/r/b").values("etag")
    assert 304 == place.get("/r/a", f"If-None-Match: {tag}").status
    head = place.get("/r/a", method="HEAD")
    assert (200, b"") == (head.status, head.body)
    place.publish([review("a")], {"name": "Acme & Sons"})
    assert [tag] != place.get("/r/a").values("etag")


def test_home_page_without_reviews_is_complete(place: Place) -> None:
    place.publish([])
    assert "No reviews yet" in place.page("/").text
    assert "No reviews match these filters." not in place.page("/reviews").text
    assert "No reviews yet" in place.page("/reviews").text
    assert not place.page("/reviews").named("form")
    assert "There are no reviews yet." in place.page("/about-reviews").text
    assert "All ratings are shown" not in place.page("/about-reviews").text
    assert 404 == place.get("/summary").status
    (script,) = place.page("/").scripts
    assert "aggregateRating" not in script


def test_single_review_is_named_in_the_singular(place: Place) -> None:
    place.publish([review(rating=2, verified=False)], None, {"summary": "Good.", "review_count": 1})
    targets = ("/", "/reviews", "/summary", "/embed", "/index.md", "/summary.md")
    sources = [place.get(target).body.decode() for target in targets]
    assert not [
        target for target, source in zip(targets, sources, strict=True) if "1 reviews" in source
    ]
    assert "Acme: 1 customer review<" in sources[0]
    assert (
        "Acme has collected this review. It was not checked whether its author was a customer."
    ) in sources[0]
    assert "Reviews with three stars or fewer that have a reply: 0 of 1." in sources[0]
    assert "?rating=2" in sources[0]
    assert "?rating=5" not in sources[0]
    assert "Made from 1 review." in sources[2]
    assert "As of" not in Html(sources[2]).text
    assert "Read the review" in sources[3]
    assert "Newest first." not in sources[3]


def test_structured_data_says_what_the_page_shows(harbor: Place, tmp_path: Path) -> None:
    page = harbor.page("/")
    website, business, questions = json.loads(page.scripts[0])["@graph"]
    assert ["WebSite", "Plumber", "FAQPage"] == [
        node["@type"] for node in (website, business, questions)
    ]
    assert {
        "@type": "AggregateRating",
        "ratingValue": 4.37,
        "reviewCount": 122,
        "bestRating": 5,
        "worstRating": 1,
    } == business["aggregateRating"] | {"ratingValue": 4.37}
    assert 15 == len(business["review"])
    for node in business["review"]:
        assert "itemReviewed" not in node
        assert " ".join(node.get("reviewBody", "").split()) in page.text
        assert node["publisher"]["name"] in {"Google", "Trustpilot", "Facebook", "Yelp"}
    assert "23:59" in {opening["closes"] for opening in business["openingHoursSpecification"]}
    own, trail = json.loads(harbor.page("/r/01M739YG0D19M9F73VGTYNH9RZ").scripts[0])["@graph"]
    items = [item["item"].removeprefix(BASE_URL) for item in trail["itemListElement"]]
    assert ["/", "/reviews", "/r/01M739YG0D19M9F73VGTYNH9RZ"] == items
    assert {"@type", "@id", "name", "address"} == own["itemReviewed"].keys()
    assert own["isBasedOn"].startswith("https://google.example/")
    quiet = demo(tmp_path, Pages(jsonld_reviews=False))
    assert "aggregateRating" not in quiet.page("/").scripts[0]
    assert "Review" not in quiet.page("/r/01M739YG0D19M9F73VGTYNH9RZ").scripts[0].replace(
        "All reviews", ""
    )


def test_disabled_pages_are_not_published(tmp_path: Path) -> None:
    place = Place(tmp_path, settings=Pages(enabled=False))
    place.publish([review()])
    embeds = ("/embed", "/embed?layout=badge", "/embed.js", "/badge.svg?size=s")
    for target in ("/", "/reviews", "/r/a", *embeds, "/developers/embed?count=2"):
        assert 404 == place.get(target).status, target
    assert 200 == place.get("/reviews.json").status


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("home.html", "{% if %}", "home.html:1: Expected an expression"),
        ("card.html", "a\n{{ nobody }}", "card.html:2: UndefinedError: 'nobody' is undefined"),
        ("card.html", "{{ card.author|upper }}", "card.html:1: TypeError: card.author can be"),
        ("card.html", "{{ card.text == 'a' }}", "card.html:1: TypeError: card.text can be shown"),
        ("form.html", "{{ 1/0 }}", "form.html:1: ZeroDivisionError: division by zero"),
        ("home.html", "{% extends 'gone.html' %}", "home.html: there is no template gone.html"),
        *(
            (name, "{{ nobody }}", f"{name}:1: UndefinedError: 'nobody' is undefined")
            for name in ("embed.css", "embed_badge.html", "embed_card.html", "embed_issues.html")
        ),
        ("words.json", "[]", "words.json: Expected `object`, got `array`"),
        ("words.json", '{"home": "{oops}"}', "words.json: \"home\": KeyError('oops')"),
    ],
)
def test_faulty_template_is_refused_while_the_last_good_pages_stay(
    place: Place, name: str, text: str, problem: str
) -> None:
    """Also in what only some options of a request show."""
    (place.templates / "style.css").write_text("body { color: red }")
    place.publish([review()])
    (place.templates / name).write_text(text)
    outcome = place.again()
    assert outcome.result == "refused"
    assert outcome.problems[0].startswith(f"{place.templates}/{problem}")
    assert "<style>body{color:red}</style>" in place.page("/r/a").source


def test_words_of_the_operator_come_before_ours(place: Place) -> None:
    (place.templates / "words.json").write_text('{"all_reviews": "Alle Bewertungen"}')
    place.publish([review()])
    assert "Alle Bewertungen" in place.page("/r/a").text
    assert place.again().result == "unchanged"


def test_card_of_the_operator_may_depend_on_its_source_and_rating(place: Place) -> None:
    """A template is rendered once for all cards with the same parts; percent signs are no formats."""
    (place.templates / "card.html").write_text(
        "<p>100 % {{ card.source if card.rating > 3 }}{% if card.url %} {{ card.url }}{% endif %}</p>"
    )
    place.publish(
        [
            review(id="a", source="yelp", source_url="https://a.example/%20?a&b"),
            review(id="b", source="google"),
            review(id="c", rating=3),
        ]
    )
    expected = {"a": "100 % Yelp https://a.example/%20?a&amp;b", "b": "100 % Google", "c": "100 % "}
    for name, text in expected.items():
        assert f"<p>{text}</p>" in place.page(f"/r/{name}").source


def test_more_kinds_of_cards_than_outlines_are_kept_are_all_shown(place: Place) -> None:
    """A business may have any number of sources, and outlines are memory of the process."""
    place.publish([review(id=f"r{at}", source=f"source {at}") for at in range(300)])
    for at in (*range(300), 0):
        assert b"<bdi>source %d</bdi>" % at in place.get(f"/r/r{at}").body


@pytest.mark.parametrize(
    ("language", "direction", "date"),
    [
        ("en-GB", "ltr", "14 March 2025"),
        ("de", "ltr", "14. März 2025"),
        ("ar", "rtl", "14 مارس 2025"),
    ],
)
def test_page_is_in_the_language_of_the_business(
    place: Place, language: str, direction: str, date: str
) -> None:
    place.publish([review()], {"name": "Acme", "language": language})
    page = place.page("/r/a")
    assert [{"lang": language, "dir": direction}] == page.named("html")
    assert date in page.text
    (footer,) = page.named("footer")
    assert (None if direction == "ltr" else "en") == footer.get("lang")
