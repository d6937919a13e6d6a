"""The embed, its script, the badge, and the page that configures them (pages.md 7)."""

import hashlib
import json
import re
from base64 import b64encode
from html import unescape
from urllib.parse import urlsplit

import pytest

from reviewsd.domain.embed_options import BadgeOptions, EmbedOptions
from reviewsd.http1 import urls
from reviewsd.pages import theme
from reviewsd.pages.embed_lines import badge_line, frame_line, script_line
from tests.support.connections import BASE_URL
from tests.support.pages import Html, Place, review

EMBEDS = ("/embed", "/embed?layout=grid&count=12&theme=dark", "/embed?layout=badge&theme=auto")


def digest(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("target", [*EMBEDS, "/embed?count=99"])
def test_embed_runs_its_script_and_may_be_framed_by_any_site(harbor: Place, target: str) -> None:
    response = harbor.get(target)
    page = Html(response.body.decode())
    (script,) = page.scripts
    (sheet,) = re.findall("<style>(.*?)</style>", page.source, re.DOTALL)
    assert [
        (
            f"default-src 'none'; style-src {digest(sheet)}; script-src {digest(script)}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors *"
        )
    ] == response.values("content-security-policy")
    assert "postMessage" in script
    assert not any({"style", "onclick"} & element.attributes.keys() for element in page.elements)
    assert {"name": "robots", "content": "noindex, follow"} in page.named("meta")


@pytest.mark.parametrize("target", EMBEDS)
def test_embed_is_small(harbor: Place, target: str) -> None:
    assert len(harbor.get(target, "Accept-Encoding: gzip").body) < 6_000


@pytest.mark.parametrize("target", [*EMBEDS, "/developers/embed?layout=grid", "/badge.svg?size=l"])
def test_variant_is_served_like_other_reads(harbor: Place, target: str) -> None:
    full, packed = harbor.get(target), harbor.get(target, "Accept-Encoding: gzip")
    head = harbor.get(target, method="HEAD")
    tags = full.values("etag") + packed.values("etag")
    assert [200, 200, 200] == [full.status, packed.status, head.status]
    assert full.values("etag") == head.values("etag")
    assert ["public, max-age=60"] == full.values("cache-control")
    assert "Accept-Encoding" in full.values("vary")[0]
    assert ["gzip"] == packed.values("content-encoding")
    assert 2 == len(set(tags))
    assert [304, 304] == [
        harbor.get(target, f"If-None-Match: {tags[0]}").status,
        harbor.get(target, "Accept-Encoding: gzip", f"If-None-Match: {tags[1]}").status,
    ]


@pytest.mark.parametrize(
    "query",
    ["utm_source=x", "theme=light&layout=list&count=3&min_rating=&accent=", "accent=0b6e6e", "_=1"],
)
def test_usual_options_are_those_of_the_published_document(harbor: Place, query: str) -> None:
    assert harbor.get("/embed").body == harbor.get(f"/embed?{query}").body


@pytest.mark.parametrize(("query", "count"), [("", 3), ("?count=12", 12), ("?layout=badge", 0)])
def test_embed_shows_as_many_reviews_as_asked(harbor: Place, query: str, count: int) -> None:
    assert count == len(harbor.page(f"/embed{query}").named("article"))


@pytest.mark.parametrize(
    ("min_rating", "note"),
    [
        (1, None),
        (4, "Only reviews of 4 stars and more are shown here."),
        (5, "Only reviews of 5 stars are shown here."),
    ],
)
def test_choice_by_stars_is_stated(harbor: Place, min_rating: int, note: str | None) -> None:
    """To present chosen reviews as all is banned (corrections.md)."""
    page = harbor.page(f"/embed?min_rating={min_rating}&count=12")
    ratings = re.findall(r'aria-label="(\d) out of 5 stars"', page.source)
    assert min(map(int, ratings)) >= min_rating
    assert "4.4" in page.text
    assert "122 reviews" in page.text
    assert (note in page.text) if note else ("Only reviews" not in page.text)


def test_embed_states_order_checks_and_hidden_reviews(place: Place) -> None:
    correction = {"action": "hide", "reason": "spam", "at": "2026-11-24T09:12:00Z"}
    corrections = {"version": 1, "reviews": {"b": correction}}
    (place.directories.data / "corrections.json").write_text(json.dumps(corrections))
    place.publish([review(verified=False), review("b", text="Hidden words."), review("c")])
    page = place.page("/embed?count=12")
    assert "Newest first." in page.text
    assert "1 of 3 reviews is not shown (spam: 1)." in page.text
    assert f"{BASE_URL}{urls.ABOUT}" in page.links
    assert "Hidden words." not in page.source


def test_embed_without_reviews_is_complete(place: Place) -> None:
    place.publish([])
    for target in EMBEDS:
        assert "No reviews yet" in place.page(target).text
    place.publish([review(rating=2)])
    assert "There are no such reviews yet." in place.page("/embed?min_rating=3").text


def test_long_review_ends_with_an_ellipsis(place: Place) -> None:
    place.publish([review(text="word " * 500)])
    (text,) = re.findall('<p class="said" dir="auto">(.*?)</p>', place.page("/embed").source)
    assert text.endswith("word…")
    assert len(text) <= 220


def test_links_lead_out_of_the_frame(harbor: Place) -> None:
    """A page of the site would be refused within the frame."""
    for target in EMBEDS:
        for link in harbor.page(target).named("a"):
            assert {"target": "_blank", "rel": "noopener"}.items() <= link.items()
            assert 200 == harbor.get(urlsplit(link["href"]).path or "/").status


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        ("/embed?theme=x", "“theme” must be one of light, dark, auto."),
        ("/embed?count=99", "“count” must be a whole number from 1 to 12."),
        ("/embed?accent=red", "“accent” must be a color as six hexadecimal digits"),
        ("/embed?colour=0b6e6e", "The options are theme, layout, count, min_rating, accent."),
        ("/badge.svg?size=x", "“size” must be one of s, m, l."),
        ("/developers/embed?count=99", "“count” must be a whole number from 1 to 12."),
    ],
)
def test_invalid_option_is_answered_by_its_rule(harbor: Place, target: str, advice: str) -> None:
    response = harbor.get(target)
    assert (400, ["no-store"]) == (response.status, response.values("cache-control"))
    assert advice in Html(response.body.decode()).text


@pytest.mark.parametrize("accent", ["ffff00", "000000", "ffffff", "0b6e6e", "ff0000"])
def test_words_can_be_read_in_any_accent(harbor: Place, accent: str) -> None:
    for scheme, ground in (("light", theme.LIGHT), ("dark", theme.DARK)):
        source = harbor.page(f"/embed?accent={accent}&theme={scheme}").source
        colors = dict(re.findall("--([a-z]+):(#[0-9a-f]{6})", source))
        assert theme.contrast(colors["accent"], ground) >= theme.LEAST_CONTRAST
        assert theme.contrast(colors["accent"], colors["soft"]) >= theme.LEAST_CONTRAST
        assert theme.contrast(colors["star"], ground) >= theme.GRAPHIC_CONTRAST


def test_script_has_at_most_a_kilobyte_for_any_name(place: Place) -> None:
    place.publish([review()], {"name": "\N{SMILING FACE WITH SUNGLASSES}" * 200})
    response = place.get(urls.EMBED_SCRIPT)
    assert ["text/javascript; charset=utf-8"] == response.values("content-type")
    assert len(response.body) <= 1_000


@pytest.mark.parametrize("size", ["s", "m", "l"])
def test_badge_has_its_size_and_colors(harbor: Place, size: str) -> None:
    light, dark = (
        Html(harbor.get(f"/badge.svg?size={size}&theme={scheme}").body.decode())
        for scheme in ("light", "dark")
    )
    (box,) = light.named("svg")
    width, height = {"s": ("132", "28"), "m": ("220", "64"), "l": ("320", "96")}[size]
    assert (width, height) == (box["width"], box["height"])
    assert light.source != dark.source
    assert "4.4 out of 5 from 122 reviews" in light.text


NAME = 'Bob & "Sons"'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            script_line(BASE_URL, EmbedOptions(), NAME),
            (
                f'<script async src="{BASE_URL}/embed.js"></script><noscript>'
                f'<a href="{BASE_URL}/reviews">Bob &amp; "Sons"</a></noscript>'
            ),
        ),
        (
            script_line(BASE_URL, EmbedOptions("dark", min_rating=4, accent="#ff0000"), "x"),
            (
                f'<script async src="{BASE_URL}/embed.js" data-theme="dark" data-min-rating="4" '
                'data-accent="ff0000"></script><noscript>'
                f'<a href="{BASE_URL}/reviews">x</a></noscript>'
            ),
        ),
        (
            frame_line(BASE_URL, EmbedOptions("auto", "grid", 6), NAME),
            (
                f'<iframe src="{BASE_URL}/embed?theme=auto&amp;layout=grid&amp;count=6" '
                'title="Bob &amp; &quot;Sons&quot;" loading="lazy" height="900" '
                'style="width:100%;border:0;color-scheme:light dark"></iframe>'
            ),
        ),
        (
            badge_line(BASE_URL, BadgeOptions("l"), NAME),
            (
                f'<a href="{BASE_URL}/"><img src="{BASE_URL}/badge.svg?size=l" width="320" '
                'height="96" alt="Bob &amp; &quot;Sons&quot;"></a>'
            ),
        ),
    ],
)
def test_line_to_copy(line: str, expected: str) -> None:
    assert expected == line


def test_setup_page_shows_the_result_and_both_lines(harbor: Place) -> None:
    page = harbor.page(
        "/developers/embed?theme=dark&layout=grid&count=6&min_rating=&accent=%23ff0000"
    )
    (preview,) = page.named("iframe")
    query = "theme=dark&layout=grid&count=6&accent=ff0000"
    assert f"/embed?{query}" == preview["src"]
    assert 200 == harbor.get(preview["src"]).status
    title = "Customer reviews of Harbor Heating & Plumbing"
    options = EmbedOptions("dark", "grid", 6, accent="#ff0000")
    copied = [unescape(text) for text in re.findall('<pre class="copy">(.*?)</pre>', page.source)]
    assert [script_line(BASE_URL, options, title), frame_line(BASE_URL, options, title)] == copied
    assert page.source.index('<pre class="copy">') < page.source.index("<iframe")
    assert ".copy{-webkit-user-select:all;user-select:all}" in page.source
    chosen = {option["value"] for option in page.named("option") if "selected" in option}
    assert {"dark", "grid", "6", "1"} == chosen
    assert (
        "frame-src 'self'" in harbor.get("/developers/embed").values("content-security-policy")[0]
    )


def test_setup_page_has_its_heading_in_the_language_of_its_form(place: Place) -> None:
    place.publish([], {"name": "Acme", "language": "de"})
    source = place.page("/developers/embed").source
    head, heading, rest = source.partition("<h1>Auf Ihrer Website</h1>")
    assert heading
    assert "Auf Ihrer Website: Acme" in head
    assert '<div class="doc">' in head
    assert "Theme" not in rest.partition('<div class="doc" lang="en" dir="ltr">')[0]


def test_setup_page_has_no_links_to_the_documentation_of_programs(harbor: Place) -> None:
    """An owner chooses how the reviews look; one link leads to the rest."""
    links = {link["href"] for link in harbor.page("/developers/embed").named("a")}
    assert {"/developers"} == {link for link in links if link.startswith("/developers")}


def test_setup_page_shows_an_issue_beside_its_field(harbor: Place) -> None:
    page = harbor.page("/developers/embed?count=99&layout=grid&accent=red", 400)
    described = {
        field["name"]: field["aria-describedby"]
        for field in page.named("select") + page.named("input")
        if "aria-invalid" in field
    }
    assert {"count": "e-count", "accent": "e-accent"} == described
    assert set(described.values()) <= {text.get("id") for text in page.named("p")}
    assert not page.named("iframe")
    assert "grid" in {option["value"] for option in page.named("option") if "selected" in option}


def test_setup_page_is_there_as_markdown(harbor: Place) -> None:
    text = harbor.get("/developers/embed.md").body.decode()
    assert text == harbor.get("/developers/embed", "Accept: text/markdown").body.decode()
    for name in ("theme", "layout", "count", "min_rating", "accent"):
        assert f"| `{name}` |" in text
    assert f'<script async src="{BASE_URL}/embed.js"></script>' in text


def test_embed_is_in_no_sitemap(harbor: Place) -> None:
    listed = harbor.get("/sitemap.xml").body.decode()
    assert f"{BASE_URL}/developers/embed<" in listed
    assert f"{BASE_URL}/embed<" not in listed
