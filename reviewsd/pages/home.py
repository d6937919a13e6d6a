"""The page at ``/``: what a customer wants to know first, and an index for programs (pages.md 3)."""

from collections.abc import Iterator

import msgspec

from reviewsd.http1 import urls
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.rendering import Page, Renderer

JSON = "application/json"

SHOWN = 20
"""Newest reviews on the page."""


def documents(renderer: Renderer) -> Iterator[FixedDocument]:
    """The home page in its three forms."""
    site = renderer.site
    yield FixedDocument(path=urls.HOME_INDEX, media_type=JSON, content=_index(renderer))
    yield from renderer.documents(
        Page(
            path=urls.HOME,
            twin=urls.HOME_MARKDOWN,
            template="home.html",
            title=renderer.words("home_title", name=site.business.name),
            description=renderer.words("home_description", name=site.business.name),
            topic=True,
            others={JSON: urls.HOME_INDEX},
            context={"reviews": site.newest[:SHOWN]},
        )
    )


def _index(renderer: Renderer) -> bytes:
    """Where everything is, for programs."""
    base_url, business = renderer.site.base_url, renderer.site.business
    links = {
        "self": urls.HOME,
        "reviews": urls.REVIEWS,
        "search": urls.SEARCH,
        "json_feed": urls.JSON_FEED,
        "atom_feed": urls.ATOM_FEED,
        "openapi": urls.OPENAPI,
        "mcp": urls.MCP,
        "hub": urls.HUB,
        "developers": urls.DEVELOPERS,
    }
    if renderer.site.insights is not None:
        links["insights"] = urls.INSIGHTS
    absolute = {name: base_url + path for name, path in links.items()}
    return msgspec.json.encode({"name": business.name, "links": absolute})
