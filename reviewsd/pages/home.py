"""The page at ``/`` for customers, its index for programs, and the page of each location (pages.md 3, 8).

``/l/{id}`` is rendered as the home page is for the business (decision 365).
"""

from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from reviewsd.domain.locations import as_business
from reviewsd.http1 import urls
from reviewsd.pages import about, charts, contact, mentions, structured_data
from reviewsd.pages.cards import short
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.filters import address
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.site import LocationReviews, Site

JSON = "application/json"

FIRST = 3
"""Newest reviews before everything else: a row of the page."""

SHOWN = 15
"""Newest reviews on the page and in its structured data, at most; full rows of one, two and three cards."""

MAX_PLACES = 11
"""Locations up to which links to them are open on the home page, and are on the page of each."""

_QUESTIONS = 12
_SOURCES = 8
_NAMED = 4
"""Places named beside the rating, at most."""

_OF_THE_BUSINESS = (
    *("summary", "quote", "aspects", "groups", "folded", "months", "faq", "about", "sources"),
    "years",
)
"""The parts of the home page that are about the whole business, and that a location does not have."""


def documents(renderer: Renderer) -> Iterator[FixedDocument]:
    """Render the home page as HTML, Markdown and a JSON index, and the page of each location."""
    index = renderer.json("machines/index.json")
    yield FixedDocument(path=urls.HOME_INDEX, media_type=JSON, content=index)
    yield from renderer.documents(_page(renderer))
    yield from _locations(renderer)


def _page(renderer: Renderer) -> Page:
    site, insights = renderer.site, renderer.site.insights
    title, description = titles(renderer)
    aspects = () if insights is None else mentions.aspects(renderer, insights)
    groups = () if insights is None else mentions.groups(renderer, insights)
    return Page(
        path=urls.HOME,
        twin=urls.HOME_MARKDOWN,
        template="home.html",
        title=title,
        description=description,
        topic=True,
        others={JSON: urls.HOME_INDEX},
        script=structured_data.script(_graph(site)),
        context={
            **overview(renderer),
            "places": places(renderer),
            "summary": [] if insights is None else paragraphs(insights.summary),
            "quote": None if insights is None else insights.pull_quote,
            "aspects": aspects,
            "groups": groups,
            "folded": mentions.are_folded(aspects, groups),
            "months": charts.months(renderer),
            "faq": () if insights is None else insights.faq[:_QUESTIONS],
            "about": list(about.sentences(renderer)),
            "sources": [
                (
                    renderer.words.source(name),
                    renderer.language.number(site.statistics.average(name), 1),
                    count,
                )
                for name, count in site.statistics.sources[:_SOURCES]
            ],
            "years": site.statistics.years(),
        },
    )


def _total(renderer: Renderer) -> str:
    """Return the number of reviews, and the places that have the most of them."""
    site = renderer.site
    names = list(dict.fromkeys(renderer.words.source(name) for name, _ in site.statistics.sources))
    if len(names) > _NAMED:
        names[_NAMED - 1 :] = [renderer.words("other_sources")]
    return renderer.plural("reviews_from", site.count, sources=renderer.formats.listed(names))


def titles(renderer: Renderer) -> tuple[str, str]:
    """Return title and description, with rating and number of reviews if there are any."""
    site, words = renderer.site, renderer.words
    name, average = site.business.name, renderer.average()
    if average is None:
        return words("home_title_empty", name=name), words("home_description_empty", name=name)
    return (
        renderer.plural("home_title", site.count, name=name),
        renderer.plural("home_description", site.count, name=name, average=average),
    )


def overview(renderer: Renderer, location: str = "") -> dict[str, object]:
    """Return what the page shows of the business, or of a location by its id: rating, newest reviews, contact."""
    site = renderer.site
    within = {"location": location} if location else {}
    return {
        "shown": site.business,
        "count": site.count,
        "location": location,
        "listed": address(within),
        "starred": address({**within, "rating": ""}),
        "place": contact.place(site.business),
        "rated": site.average is not None,
        "average": renderer.average(),
        "total": _total(renderer),
        "filled": stars_filled(site.average),
        "distribution": charts.distribution(site),
        "write": contact.write_buttons(renderer),
        "call": contact.call(renderer),
        "buttons": contact.buttons(renderer),
        "first": renderer.cards.shortened(site.newest[:FIRST]),
        "html_cards": renderer.cards.html,
        "others": renderer.cards.shortened(site.newest[FIRST:SHOWN]),
        "notes": list(_notes(renderer)),
        "address": contact.address_lines(site.business),
        "ways": contact.ways(renderer),
        "hours": contact.hours(renderer),
    }


def places(renderer: Renderer, location: str = "") -> list[tuple[str, str, int]]:
    """Return (name, path, reviews) of the business and of each of several locations.

    The page of one of many locations, given by its id, links to itself alone: all pages together would grow by
    the square of their number.
    """
    listed = renderer.site.statistics.locations
    if not listed:
        return []
    if location and len(listed) > MAX_PLACES:
        listed = tuple(place for place in listed if place.location.id == location)
    locations = [
        (place.location.name, urls.location(place.location.id), place.count) for place in listed
    ]
    return [(renderer.words("all_locations"), urls.HOME, renderer.site.count), *locations]


def paragraphs(text: str | None) -> list[str]:
    """Split a text into its paragraphs."""
    lines = (text or "").replace("\r\n", "\n").split("\n\n")
    return [line.strip() for line in lines if line.strip()]


def _notes(renderer: Renderer) -> Iterator[str]:
    """Yield what the mark "Verified" means, and how many reviews are not shown."""
    if renderer.site.statistics.verified and (note := renderer.verified_note()) is not None:
        yield note
    if (note := renderer.withheld_note()) is not None:
        yield note


def _graph(site: Site) -> structured_data.Node:
    base_url, business = site.base_url, site.business
    node = structured_data.business_node(base_url, business, site.logo_url)
    nodes = [structured_data.website(base_url, business), _rated(site, node, business.name)]
    if site.insights is not None and site.insights.faq:
        nodes.append(structured_data.questions(base_url, site.insights.faq[:_QUESTIONS]))
    return structured_data.graph(*nodes)


def _rated(site: Site, node: structured_data.Node, reply_from: str) -> structured_data.Node:
    """Return the node of the business or of a location, with its rating and its newest reviews."""
    if site.settings.jsonld_reviews and site.average is not None:
        node["aggregateRating"] = structured_data.aggregate(site.rating)
        node["review"] = [
            structured_data.review_node(site.base_url, review, reply_from)
            for review in map(short, site.newest[:SHOWN])
        ]
    return node


def stars_filled(rating: float | None) -> float | None:
    """Return the filled part of a row of five stars, per cent."""
    return None if rating is None else round(rating * 20, 1)


def _locations(renderer: Renderer) -> Iterator[FixedDocument]:
    """Render the page of each location as HTML and as Markdown, if there are several."""
    for reviews in renderer.site.statistics.locations:
        yield from renderer.documents(_location_page(renderer, reviews))


def _location_page(renderer: Renderer, reviews: LocationReviews) -> Page:
    site, location = renderer.site, reviews.location
    known = site.statistics.known_locations
    within = renderer.within(
        replace(
            site,
            business=as_business(site.business, location),
            rating=reviews.rating,
            count=reviews.count,
            newest=tuple(reviews.newest),
            statistics=structs.replace(site.statistics, by_source=reviews.by_source),
            withheld=site.withheld.at(lambda name: known.find(name) is location),
            insights=None,
        )
    )
    path, logo = urls.location(location.id), site.logo_url
    node = structured_data.location_node(site.base_url, site.business, location, logo)
    graph = structured_data.graph(
        _rated(within.site, node, site.business.name),
        structured_data.breadcrumbs(site.base_url, site.business, (location.name, path)),
    )
    title, description = titles(within)
    return Page(
        path=path,
        twin=urls.twin(path),
        template="home.html",
        title=title,
        description=description,
        script=structured_data.script(graph),
        context={
            **dict.fromkeys(_OF_THE_BUSINESS, ()),
            **overview(within, location.id),
            "places": places(renderer, location.id),
        },
    )
