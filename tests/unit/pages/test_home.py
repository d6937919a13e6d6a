"""The front page: reviews first, ways to act, and what else there is to know (pages.md 3)."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from reviewsd.domain.reviews import Address, Business, Geo
from reviewsd.pages import charts, contact
from tests.support.pages import Place, review

ORDER = (
    "Harbor Heating & Plumbing",
    "Newest reviews",
    "What customers mention",
    "More reviews",
    "Summary",
    "Questions and answers",
    "Reviews per month",
    "About the business",
    "About these reviews",
)


def test_sections_have_the_order_in_which_a_customer_decides(harbor: Place) -> None:
    """Reviews come before everything that is computed from them."""
    source = harbor.page("/").source
    headings = re.findall(r"<h[12][^>]*>(?:<bdi>)?([^<]+)", source)
    twin = re.findall("^##? (.+)$", harbor.get("/index.md").body.decode(), re.MULTILINE)
    expected = [name.replace("&", "&amp;") for name in ORDER]
    assert expected == headings
    twins = [name for name in ORDER if name != "Reviews per month"]
    assert twins == [name.replace("\\&", "&") for name in twin]


def test_newest_reviews_stand_above_what_is_made_of_them(harbor: Place) -> None:
    page = harbor.page("/")
    listed = page.reviews
    assert 15 == len(listed)
    before = page.source[: page.source.index("h-mentioned")]
    assert listed[:3] == list(dict.fromkeys(re.findall(r'"(/r/\w+)"', before)))
    in_list = harbor.page("/reviews").source
    assert sorted(listed, key=in_list.index) == listed


def test_questions_and_the_table_of_months_are_closed(harbor: Place) -> None:
    assert not [details for details in harbor.page("/").named("details") if "open" in details]


def test_search_box_leads_to_the_list(harbor: Place) -> None:
    page = harbor.page("/")
    assert [{"action": "/reviews", "method": "get"}] == [
        {name: form[name] for name in ("action", "method")} for form in page.named("form")
    ]
    (box,) = page.named("input")
    assert ("query", "q") == (box["name"], box["id"])
    assert "q" in {label["for"] for label in page.named("label")}


def test_aspect_without_a_share_has_no_bar(place: Place) -> None:
    """A gray bar says that nobody praised it."""
    blamed = {"id": "slow", "mention_count": 5, "positive_count": 0, "negative_count": 5}
    few = {"id": "rare", "mention_count": 4}
    place.publish([review()], insights={"aspects": [blamed, few]})
    _, aspects = place.page("/").source.split('<ul class="aspects">')
    with_share, without_share, *_ = aspects.split("</li>")
    assert "slow</a>" in with_share
    assert "<svg" in with_share
    assert "rare</a>" in without_share
    assert "<svg" not in without_share


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_page_with_few_reviews_shows_each_once(place: Place, count: int) -> None:
    place.publish([review(f"r{at}") for at in range(count)])
    page = place.page("/")
    assert count == len(page.named("article"))
    assert (count > 3) == ("More reviews" in page.text)
    assert (count > 3) == bool(page.named("form"))


def test_one_platform_is_the_first_button(place: Place) -> None:
    urls = {"google": "https://g.example/r?a=1&b=2"}
    place.publish([review()], {"name": "Acme", "review_urls": urls, "phone": "030 1234"})
    page = place.page("/")
    strong = [link for link in page.named("a") if "strong" in link.get("class", "")]
    assert [urls["google"]] == [link["href"] for link in strong]
    assert "noopener" == strong[0]["rel"]
    assert page.hrefs.index(urls["google"]) < page.hrefs.index("tel:0301234")
    assert not [item for item in page.named("summary") if "class" in item]
    text = place.get("/index.md").body.decode()
    assert "[Write a review on Google](<https://g.example/r?a=1&b=2>)" in text


def test_several_platforms_are_a_list_in_the_order_of_the_owner(place: Place) -> None:
    urls = {"yelp": "https://y.example/r", "google": "https://g.example/r"}
    place.publish([review()], {"name": "Acme", "review_urls": urls})
    page = place.page("/")
    assert {"class": "button strong"} in page.named("summary")
    assert [*urls.values()] == [link for link in page.hrefs if link.endswith(".example/r")]


def test_reviews_are_the_first_button_where_none_can_be_written(place: Place) -> None:
    place.publish([review()])
    strong = [link for link in place.page("/").named("a") if "strong" in link.get("class", "")]
    assert ["/reviews"] == [link["href"] for link in strong]


@pytest.mark.parametrize(
    ("country", "language", "town"),
    [
        ("AT", "en", "4020 Linz"),
        (None, "de", "4020 Linz"),
        ("Österreich", "de-AT", "4020 Linz"),
        ("at ", "en", "4020 Linz"),
        ("GB", "de", "Linz 4020"),
        (None, "en", "Linz 4020"),
        (None, "pt-BR", "Linz 4020"),
    ],
)
def test_postal_code_stands_where_the_country_has_it(
    country: str | None, language: str, town: str
) -> None:
    """An Austrian read "Linz 4020"."""
    address = Address(street="Landstraße 12", city="Linz", postal_code="4020", country=country)
    business = Business(name="Salon", language=language, address=address)
    assert ["Landstraße 12", town] == contact.address_lines(business)


@pytest.mark.parametrize(
    ("business", "place"),
    [
        ({}, None),
        ({"address": Address(city="Dover")}, None),
        ({"address": Address(street=" ")}, None),
        ({"address": Address(street="1 Elm St", city="Dover & Co")}, "1+Elm+St%2C+Dover+%26+Co"),
        ({"geo": Geo(latitude=43.5, longitude=-70.25)}, "43.5%2C-70.25"),
    ],
)
def test_directions_need_street_or_position(business: Mapping[str, Any], place: str | None) -> None:
    result = contact.directions(Business(name="Acme", **business))
    assert (None if place is None else f"{contact.MAPS}{place}") == result


@pytest.mark.parametrize(
    ("sources", "total"),
    [
        (["google"], "1 review from Google"),
        (["google", "Google"], "2 reviews from Google"),
        (["yelp", "google", "google"], "3 reviews from Google and Yelp"),
        (["google", "google", "website"], "3 reviews from Google and our website"),
        (["a", "b", "c", "d"], "4 reviews from a, b, c, and d"),
        (["a", "b", "c", "d", "e"], "5 reviews from a, b, c, and others"),
    ],
)
def test_rating_names_the_largest_places(place: Place, sources: list[str], total: str) -> None:
    place.publish([review(f"r{at}", source=source) for at, source in enumerate(sources)])
    assert total in place.page("/").text
    assert total in place.get("/index.md").body.decode().replace("\n", " ")


def test_head_of_the_page_leads_once_to_all_reviews(harbor: Place) -> None:
    """Two links with other words would make a reader look for the difference."""
    head, _, _ = harbor.page("/").source.partition("<h2")
    assert 1 == head.partition("<main")[2].count('href="/reviews"')


def test_stars_with_reviews_are_links_to_them(place: Place) -> None:
    place.publish([review("a"), review("b", rating=1)])
    paths = [link for link in place.page("/").hrefs if "?rating=" in link]
    assert ["/reviews?rating=4", "/reviews?rating=1"] == paths


def test_hours_stand_with_the_rating_until_they_are_opened(harbor: Place) -> None:
    head, _, rest = harbor.page("/").source.partition("<h2")
    assert "<details><summary>Opening hours</summary>" in head
    assert (1, 1) == (head.count("<li>Monday"), rest.count("<li>Monday"))


@pytest.mark.parametrize(("topics", "folded"), [(3, False), (4, True)])
def test_long_lists_of_mentions_can_be_opened(place: Place, topics: int, *, folded: bool) -> None:
    """A telephone shows the first of them, so that more reviews are near."""
    named = [{"id": f"t{at}", "label": f"T{at}", "mention_count": 3} for at in range(topics)]
    place.publish([review()], insights={"topics": named})
    page = place.page("/")
    assert folded == ("Show all" in page.text)
    assert topics == page.source.count("?mentions_topic=")


@pytest.mark.parametrize("path", ["/", "/index.md"])
def test_count_of_a_person_is_not_read_as_a_rating(place: Place, path: str) -> None:
    """Readers take the number in "Grace Hall 5" for stars."""
    person = {"id": "grace-hall", "name": "Grace Hall", "mention_count": 5}
    aspect = {"id": "price", "label": "Price", "mention_count": 7}
    place.publish([review()], insights={"entities": {"technicians": [person]}, "aspects": [aspect]})
    text = " ".join(re.sub("<[^>]+>", "", place.get(path).body.decode()).split())
    assert re.search("Grace Hall:? 5 reviews", text)
    assert re.search("Price:? 7 mentions", text)


@pytest.mark.parametrize("path", ["/", "/index.md"])
def test_person_has_the_labels_of_the_aspects_that_are_praised(place: Place, path: str) -> None:
    """An unknown aspect has no label, so it is left out."""
    praised = {"kind": 4, "unknown": 3, "fast": 2}
    person = {"id": "g", "name": "Grace Hall", "mention_count": 5, "praised_for": praised}
    aspects = [{"id": "fast", "label": "Speed"}, {"id": "kind", "label": "Kindness"}]
    place.publish([review()], insights={"entities": {"technicians": [person]}, "aspects": aspects})
    text = place.get(path).body.decode()
    assert "5 reviews \u00b7 praised for: Kindness, Speed" in text
    assert "unknown" not in text


def test_topic_with_the_name_of_a_service_is_shown_once(place: Place) -> None:
    services = [{"id": "heating", "label": "Heating", "mention_count": 2}]
    topics = [
        {"id": "heat", "label": "heating", "mention_count": 2},
        {"id": "cold", "label": "Cold", "mention_count": 2},
    ]
    place.publish([review()], insights={"topics": topics, "entities": {"services": services}})
    hrefs = [link["href"] for link in place.page("/").named("a")]
    assert ["/reviews?mentions_service=heating", "/reviews?mentions_topic=cold"] == [
        href for href in hrefs if "mentions_" in href
    ]


def test_made_aspects_without_a_share_and_made_topics_are_not_shown(place: Place) -> None:
    """Strict readers found most of these misread, and the topics to repeat the services."""
    texts = [*["Friendly staff, and the pizza was delicious."] * 6, "The table was dirty."]
    reviews = [review(f"r{at}", text=f"{text} {at}.") for at, text in enumerate(texts)]
    business = {"name": "Acme", "category": "Restaurant"}

    def shown(count: int) -> set[str]:
        place.publish(reviews[-count:], business)
        place.directories.publish(insights="auto")
        place.snapshots.refresh()
        links = [str(link["href"]) for link in place.page("/").named("a")]
        return {href.partition("mentions_")[2] for href in links if "mentions_" in href}

    assert {"aspect=friendliness", "aspect=work_quality"} == {
        name for name in shown(7) if not name.startswith("service")
    }
    assert "aspect=cleanliness" in shown(3)


@pytest.mark.parametrize(
    ("count", "shown"), [(40, {"friendliness", "cleanliness"}), (60, {"friendliness"})]
)
def test_aspect_of_few_mentions_is_not_shown(place: Place, count: int, shown: set[str]) -> None:
    """With 5 to 7 mentions found half of the shares were more than 12 points off (decision 651)."""
    texts = ["Friendly staff."] * 9 + ["The table was clean."] * 6
    texts += ["We came on a Monday."] * (count - len(texts))
    place.publish([review(f"r{at}", text=f"{text} {at}.") for at, text in enumerate(texts)])
    place.directories.publish(insights="auto")
    place.snapshots.refresh()
    links = [str(link["href"]) for link in place.page("/").named("a")]
    assert shown == {href.partition("mentions_aspect=")[2] for href in links if "_aspect=" in href}


def test_telephone_is_called_before_all_reviews_are_read(place: Place) -> None:
    place.publish([review()], {"name": "Acme", "phone": "+1 207 555 0100"})
    classes = [link.get("class") for link in place.page("/").named("a")]
    assert classes.index("button call") < classes.index("button read strong")
    assert b"](<tel:+12075550100>)" in place.get("/index.md").body


def test_each_source_has_the_mean_of_its_ratings(place: Place) -> None:
    place.publish(
        [
            review("a", source="google", rating=5),
            review("b", source="google", rating=4),
            review("c", source="yelp", rating=2),
        ]
    )
    text = place.page("/").text
    assert "Google 4.5 out of 5 stars · 2 Yelp 2.0 out of 5 stars · 1" in text


def opening(day: str, opens: str = "08:00", closes: str = "17:00") -> dict[str, str]:
    return {"day": day, "opens": opens, "closes": closes}


@pytest.mark.parametrize(
    ("hours", "lines"),
    [
        ([opening("monday"), opening("tuesday")], ["Monday\N{EN DASH}Tuesday 8 AM"]),
        ([opening("monday"), opening("wednesday")], ["Monday 8 AM", "Wednesday 8 AM"]),
        ([opening("sunday"), opening("monday")], ["Sunday 8 AM", "Monday 8 AM"]),
        (
            [opening("monday"), opening("monday", "18:00", "20:00"), opening("tuesday")],
            ["Monday 8 AM \N{EN DASH} 5 PM, 6 \N{EN DASH} 8 PM", "Tuesday 8 AM"],
        ),
    ],
)
def test_days_in_a_row_with_the_same_hours_are_one_line(
    place: Place, hours: list[dict[str, str]], lines: list[str]
) -> None:
    place.publish([], {"name": "Acme", "hours": hours})
    text = place.page("/").text
    assert [] == [line for line in lines if line not in text]


@pytest.mark.parametrize(
    ("most", "step", "lines"),
    [
        (1, 1, 1),
        (4, 1, 4),
        (5, 2, 3),
        (8, 2, 4),
        (9, 5, 2),
        (12, 5, 3),
        (40, 10, 4),
        (41, 20, 3),
        (122, 50, 3),
        (1_000_000, 500_000, 2),
    ],
)
def test_scale_has_round_numbers_and_few_lines(most: int, step: int, lines: int) -> None:
    assert (step, lines) == charts.scale(most)


def test_text_leads_on_the_page_of_a_review(place: Place) -> None:
    reply = {"text": "Thank you!", "date": "2025-03-15"}
    place.publish([review(text="Sam came at once.", owner_reply=reply)])
    _, _, card = place.page("/r/a").source.partition("<article")
    places = [card.index(text) for text in ("Sam came", "<h1", "Thank you!")]
    assert sorted(places) == places
    twin = place.get("/r/a.md").body.decode()
    assert twin.index("Sam came") < twin.index("4 out of 5 stars") < twin.index("Thank you!")


@pytest.mark.parametrize(
    "target", ["/", "/reviews", "/reviews.md", "/r/a", "/r/a.md", "/llms-full.txt"]
)
def test_reply_of_an_unknown_day_is_shown_without_one(place: Place, target: str) -> None:
    """The file has the day of the review, which an import has put in its place."""
    reply = {"text": "Thank you!", "date": "2025-09-30"}
    for undated in (True, False):
        place.publish([review(owner_reply={**reply, "undated": undated})])
        text = place.get(target).body.decode().replace("As of September 30", "")
        assert "Thank you!" in text
        assert undated == (re.search("Sept|2025-09|09-30", text) is None), text


@pytest.mark.parametrize("target", ["/", "/reviews", "/r/a"])
def test_card_names_its_source_and_links_to_the_original(place: Place, target: str) -> None:
    place.publish([review(source_url="https://g.example/1", verified=True)])
    source = place.page(target).source
    assert 'href="https://g.example/1" aria-label="Original on Google"><bdi>Google</bdi>' in source
    (mark,) = re.findall(r'<span class="ok">(.*?)</span>', source)
    assert mark.endswith('<use href="#v"/></svg>Verified')
    assert "white-space:nowrap" in re.findall(r"\.ok\{(.*?)\}", source)[0]


@pytest.mark.parametrize(
    ("language", "label"), [("en", "our website"), ("de", "unsere Website"), ("pl", "our website")]
)
def test_own_website_is_named_in_language_of_page(place: Place, language: str, label: str) -> None:
    reviews = [review("a", source="website"), review("b", source="Website"), review("c")]
    form = {"website": "https://x.example/"}
    place.publish(reviews, {"name": "Acme", "language": language, "review_urls": form})
    for path in ("/", "/r/a", "/reviews?source=website", "/about-reviews", "/embed?source=website"):
        assert label in place.page(path).text
        assert "website" not in place.page(path).text.replace(label, "")
    assert label in place.page("/review-us").text
    assert f">{label}</option>" in place.page("/reviews?rating=4").source


def test_review_of_the_own_website_has_no_publisher_in_structured_data(place: Place) -> None:
    place.publish([review("a", source="website"), review("b", source="yelp")])
    assert '"publisher"' not in place.page("/r/a").source
    assert '"publisher":{"@type":"Organization","name":"Yelp"}' in place.page("/r/b").source
