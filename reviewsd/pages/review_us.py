"""The page ``/review-us``: where a customer can write a review, with a QR code for paper (pages.md 1).

It shows the same buttons to everybody and asks for no rating first: to send only satisfied customers to a
platform is review gating, which platforms and the law forbid (US 16 CFR 465; corrections.md C34).
"""

import string
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from reviewsd.http1 import urls
from reviewsd.pages import contact
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.naming import site_name
from reviewsd.pages.rendering import Page, Renderer

MAX_ADDRESS = 300
"""Bytes of an address in a QR code; the code of a longer one has too many dots for a telephone."""


_ERROR_LEVEL = "m"
_SVG_OPTIONS: Final[dict[str, Any]] = {
    "omitsize": True,
    "border": 4,
    "dark": "#000",
    "light": "#fff",
    "svgclass": "qr",
    "lineclass": None,
}


def documents(renderer: Renderer) -> Iterator[FixedDocument]:
    """Render the page as HTML and as Markdown; nothing without ``business.review_urls``."""
    if renderer.site.business.review_urls:
        yield from renderer.documents(_page(renderer))


def _page(renderer: Renderer) -> Page:
    site, words = renderer.site, renderer.words
    heading = words("review_us", name=site.business.name)
    address = _qr_address(renderer)
    return Page(
        path=urls.REVIEW_US,
        twin=urls.REVIEW_US_MARKDOWN,
        template="review_us.html",
        title=heading,
        description=words("review_us_text"),
        script=renderer.crumbs((words("write_review"), urls.REVIEW_US)),
        dated=False,
        context={
            "heading": heading,
            "write": contact.write_buttons(renderer),
            "address": address,
            "shown": address and site_name(address),
            "code": address and _cached_qr_svg(renderer, address),
        },
    )


def _cached_qr_svg(renderer: Renderer, address: str) -> Markup:
    """Return the code of an address, drawn now or by an earlier publication."""
    key = repr((address, _ERROR_LEVEL, sorted(_SVG_OPTIONS.items()), version("segno"))).encode()
    svg = renderer.bytecode.result("qr", key, lambda: qr_svg(address).encode())
    return Markup(svg.decode())  # noqa: S704  squares alone


def qr_svg(address: str) -> str:
    """Return the QR code of an address as an SVG element, black on white in both themes."""
    import segno  # noqa: PLC0415  an earlier publication has drawn most codes

    return segno.make_qr(_ascii(address), error=_ERROR_LEVEL).svg_inline(**_SVG_OPTIONS)


def _ascii(address: str) -> str:
    """Return an address with other characters percent-encoded: a code has no charset that all cameras know."""
    return quote(address, safe=string.printable)


def _qr_address(renderer: Renderer) -> str | None:
    """Return the address for the QR code: the platform's if there is exactly one, else this page's.

    None if none is short enough.
    """
    site = renderer.site
    addresses = [site.url(urls.REVIEW_US)]
    if len(site.business.review_urls) == 1:
        addresses = [*site.business.review_urls.values(), *addresses]
    return next((address for address in addresses if len(_ascii(address)) <= MAX_ADDRESS), None)
