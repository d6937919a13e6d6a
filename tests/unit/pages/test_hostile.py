"""A business with texts that would break a page, in every member that holds one (pages.md 2)."""

import json

import pytest

from reviewsd.http1 import urls
from tests.support.connections import BASE_URL
from tests.support.pages import LONG, NASTY, Html, Place, review

IDS = ["a/b?c#d", "..", ".", "a//b", "%2e", "x.md", "a&b;'\"<>", "~"]
CONTACT = {
    **dict.fromkeys(("description", "phone"), NASTY),
    "name": NASTY[:200],
    "email": f"{NASTY}@x.example",
    "url": LONG,
    "address": dict.fromkeys(("street", "city", "region", "postal_code", "country"), NASTY),
    "hours": [{"day": "monday", "opens": "08:00", "closes": "24:00"}],
    "service_areas": [NASTY],
    "review_urls": {NASTY: LONG},
}
BUSINESS = CONTACT | {
    **dict.fromkeys(("category", "verification_statement", "language"), NASTY),
    **dict.fromkeys(("logo_url", "reports"), LONG),
    "social_urls": [LONG],
    "locations": [CONTACT | {"id": "a", "aliases": [NASTY]}, CONTACT | {"id": "b"}],
}
ENTITY = {"id": NASTY, "label": NASTY, "mention_count": 2, "positive_count": 1, "negative_count": 1}
INSIGHTS = {
    **dict.fromkeys(("model", "summary", "pull_quote"), NASTY),
    **dict.fromkeys(("aspects", "topics"), (ENTITY,)),
    "entities": dict.fromkeys(("technicians", "services", "problems"), (ENTITY,)),
    "faq": [{"question": NASTY, "answer": NASTY}],
}
MADE = ("/reviews?rating=4", "/reviews?location=a", "/r/x.md")
PAGES = ("/", "/reviews", "/summary", "/about-reviews", "/review-us", "/l/a", *MADE)
EMBEDS = ("/embed", "/embed?layout=grid&count=12", "/embed?layout=badge", "/embed?min_rating=2")


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("nasty"))
    texts = dict.fromkeys(("author", "text", "source", "location"), NASTY)
    reply = {"text": NASTY, "date": "2025-03-15"}
    reviews = [review(name, **texts, source_url=LONG, owner_reply=reply) for name in IDS]
    assert place.publish(reviews, BUSINESS, INSIGHTS).result == "published"
    return place


def names(page: Html) -> set[str]:
    return {element.name for element in page.elements}


@pytest.mark.parametrize("target", PAGES)
def test_text_adds_no_markup_to_a_page(nasty: Place, harbor: Place, target: str) -> None:
    page = nasty.page(target)
    assert names(page) <= names(harbor.page("/")) | names(harbor.page("/reviews?query=boiler"))
    for link in page.links:
        own = link.startswith(("/", BASE_URL)) and not link.startswith("//")
        assert own or link in {LONG, BASE_URL} or link.split(":")[0] in {"https", "tel", "mailto"}
    for script in page.scripts:
        json.loads(script)


@pytest.mark.parametrize("review_id", IDS)
def test_review_with_any_id_has_its_page(nasty: Place, review_id: str) -> None:
    page = nasty.page(urls.permalink(review_id))
    node = json.loads(page.scripts[0])["@graph"][0]
    assert (BASE_URL + urls.permalink(review_id), NASTY) == (node["@id"], node["reviewBody"])
    (original,) = [link for link in page.named("a") if "ugc" in link.get("rel", "")]
    assert ("nofollow ugc noopener", LONG) == (original["rel"], original["href"])
    assert 200 == nasty.get(f"{urls.permalink(review_id)}.md").status


@pytest.mark.parametrize("target", [*PAGES, *EMBEDS, "/developers/embed?theme=dark"])
def test_page_has_no_character_that_html_cannot_hold(nasty: Place, target: str) -> None:
    """Neither does one turn the text around it; what is made for a request had no guard for owners' texts."""
    source, _, rest = nasty.page(target).source.partition('<script type="application/ld+json">')
    assert set("\x00\x07\u202e").isdisjoint(source + rest.partition("</script>")[2])


@pytest.mark.parametrize("target", [*EMBEDS, "/embed?theme=%3C/script%3E", "/embed?count=99"])
def test_embed_runs_no_script_but_its_own(nasty: Place, target: str) -> None:
    page = Html(nasty.get(target).body.decode())
    assert 1 == len(page.named("script"))
    assert "b" not in names(page)


def test_text_adds_no_markup_to_pictures_or_scripts(nasty: Place) -> None:
    for target in (urls.BADGE, "/badge.svg?size=l"):
        assert not Html(nasty.get(target).body.decode()).named("script")
    assert b"</" not in nasty.get(urls.EMBED_SCRIPT).body


@pytest.mark.parametrize(
    "target",
    ["/index.md", "/reviews.md", "/r/~.md", "/l/a.md", "/reviews.md?location=a", "/llms.txt"],
)
def test_markup_is_escaped_in_markdown(nasty: Place, target: str) -> None:
    assert b"<script" not in nasty.get(target).body.replace(b"\\<", b"")


def test_customer_text_makes_no_heading_in_markdown(place: Place) -> None:
    text = "# Buy now\n\n[here](https://evil.example)\n- one"
    place.publish([review(text=text, author="a\n# b")])
    for target in ("/index.md", "/reviews.md", "/r/a.md"):
        text = place.get(target).body.decode()
        assert "\n\\# Buy now\n" in text
        assert "\n\\- one\n" in text
        assert "[here]" not in text
        assert "\n# b" not in text
