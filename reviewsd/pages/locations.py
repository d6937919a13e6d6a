"""The pages of several locations: ``/l/{id}``, as the home page has it for the business (pages.md 8)."""

from collections.abc import Iterator
from dataclasses import replace

from reviewsd.domain.locations import as_business
from reviewsd.http1 import urls
from reviewsd.pages import home, structured_data
from reviewsd.pages.cards import short
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.site import LocationReviews, Site

_OF_THE_BUSINESS: dict[str, object] = {
    "summary": (),
    "quote": None,
    "aspects": (),
    "groups": (),
    "folded": False,
    "months": None,
    "faq": (),
    "about": (),
    "sources": (),
    "years": (),
}
"""The parts of the home page that are about the whole business."""


def documents(renderer: Renderer) -> Iterator[FixedDocument]:
    """Render the page of each location as HTML and as Markdown, if there are several."""
    for reviews in renderer.site.statistics.locations:
        yield from renderer.documents(_page(renderer, reviews))


def _page(renderer: Renderer, reviews: LocationReviews) -> Page:
    site, location = renderer.site, reviews.location
    within = renderer.within(
        replace(
            site,
            business=as_business(site.business, location),
            rating=reviews.rating,
            count=reviews.count,
            newest=reviews.newest,
            statistics=replace(site.statistics, sources=reviews.sources),
            insights=None,
        )
    )
    path = urls.location(location.id)
    title, description = home.titles(within)
    return Page(
        path=path,
        twin=urls.twin(path),
        template="home.html",
        title=title,
        description=description,
        script=structured_data.script(_graph(site, reviews)),
        context={
            **_OF_THE_BUSINESS,
            **home.overview(within, location.id),
            "places": home.places(renderer, location.id),
        },
    )


def _graph(site: Site, reviews: LocationReviews) -> structured_data.Node:
    business, location = site.business, reviews.location
    node = structured_data.location_node(site.base_url, business, location, site.logo_url)
    if site.settings.jsonld_reviews and reviews.count:
        node["aggregateRating"] = structured_data.aggregate(reviews.rating)
        node["review"] = [
            structured_data.review_node(site.base_url, review, business.name)
            for review in map(short, reviews.newest)
        ]
    trail = ((business.name, urls.HOME), (location.name, urls.location(location.id)))
    return structured_data.graph(node, structured_data.breadcrumbs(site.base_url, trail))
