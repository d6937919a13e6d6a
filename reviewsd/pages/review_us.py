"""The page ``/review-us``: where a customer can write a review, with a QR code for paper (pages.md 1).

It shows the same buttons to everybody and asks for no rating first: to send only satisfied customers to a
platform is review gating, which platforms and the law forbid (US 16 CFR 465; corrections.md C34).
"""

from collections.abc import Iterator

from markupsafe import Markup

from reviewsd.http1 import urls
from reviewsd.pages import contact, structured_data
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.naming import site_name
from reviewsd.pages.rendering import Page, Renderer

MAX_ADDRESS = 300
"""Characters of an address in a QR code; the code of a longer one has too many dots for a telephone."""


def documents(renderer: Renderer) -> Iterator[FixedDocument]:
    """Render the page as HTML and as Markdown; nothing without ``business.review_urls``."""
    if renderer.site.business.review_urls:
        yield from renderer.documents(_page(renderer))


def _page(renderer: Renderer) -> Page:
    site, words = renderer.site, renderer.words
    heading = words("review_us", name=site.business.name)
    address = _address(renderer)
    trail = ((site.business.name, urls.HOME), (words("write_review"), urls.REVIEW_US))
    return Page(
        path=urls.REVIEW_US,
        twin=urls.REVIEW_US_MARKDOWN,
        template="review_us.html",
        title=heading,
        description=words("review_us_text"),
        script=structured_data.crumbs(site.base_url, trail),
        dated=False,
        context={
            "heading": heading,
            "write": contact.write_buttons(renderer),
            "address": address,
            "shown": address and site_name(address),
            "code": address and _code(renderer, address),
        },
    )


def _code(renderer: Renderer, address: str) -> Markup:
    """Return the code of an address, drawn now or by an earlier publication."""
    drawn = renderer.bytecode.result("qr", address.encode(), lambda: code(address).encode())
    return Markup(drawn.decode())  # noqa: S704  squares alone


def code(address: str) -> str:
    """Return the QR code of an address as an SVG element, black on white in both themes."""
    import segno  # noqa: PLC0415  an earlier publication has drawn most codes

    return segno.make_qr(address, error="m").svg_inline(
        omitsize=True, border=4, dark="#000", light="#fff", svgclass="qr", lineclass=None
    )


def _address(renderer: Renderer) -> str | None:
    """Return the address in the code: the only platform's, or this page's; None if both are too long."""
    site = renderer.site
    addresses = [site.url(urls.REVIEW_US)]
    if len(site.business.review_urls) == 1:
        addresses = [*site.business.review_urls.values(), *addresses]
    return next((address for address in addresses if len(address) <= MAX_ADDRESS), None)
