"""The summary, the icons and the picture of a shared link (pages.md 1)."""

from collections.abc import Iterator
from pathlib import Path

from reviewsd.http1 import urls
from reviewsd.pages import icons, share_card, theme
from reviewsd.pages.document import SVG, FixedDocument
from reviewsd.pages.home import paragraphs
from reviewsd.pages.naming import initials
from reviewsd.pages.pictures import Picture
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.request_pages import MAX_DESCRIPTION
from reviewsd.pages.text import shortened

FONT_FILE = Path(__file__).parent / "fonts" / "manrope-latin.woff2"
"""The font of headings with all its weights, in Latin letters; names in other scripts have a font of the system."""

LOGO_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'"
)
"""The policy of the logo, which is the only document that the owner writes."""


def documents(renderer: Renderer) -> Iterator[FixedDocument]:
    """Render them."""
    insights = renderer.site.insights
    if insights is not None and insights.summary:
        yield from renderer.documents(_summary(renderer, insights.summary))
    yield from _pictures(renderer)
    if renderer.site.logo is not None:
        yield _owned(urls.LOGO, renderer.site.logo)


def _summary(renderer: Renderer, text: str) -> Page:
    site, words = renderer.site, renderer.words
    insights = site.insights
    assert insights is not None  # noqa: S101  they have the text
    count = site.count if insights.review_count is None else insights.review_count
    source = renderer.plural("summary_source", count)
    if insights.generated_at is not None:
        day = renderer.language.date(insights.generated_at.date())
        source = renderer.plural("summary_dated", count, date=day)
    return Page(
        path=urls.SUMMARY,
        twin=urls.SUMMARY_MARKDOWN,
        template="summary.html",
        title=words("summary_title", name=site.business.name),
        description=shortened(text, MAX_DESCRIPTION),
        script=renderer.crumbs((words("summary"), urls.SUMMARY)),
        dated=False,
        context={
            "paragraphs": paragraphs(text),
            "quote": insights.pull_quote,
            "made": source,
            "note": site.insights_note,
        },
    )


def _owned(path: str, picture: Picture) -> FixedDocument:
    """Return the owner's picture; its own policy forbids scripts also where it is opened by itself."""
    return FixedDocument(
        path=path,
        media_type=picture.media_type,
        content=picture.content,
        headers={"Content-Security-Policy": LOGO_POLICY},
    )


def _pictures(renderer: Renderer) -> Iterator[FixedDocument]:
    site = renderer.site
    accent = theme.colours(site.settings.accent)["accent"]
    logo = None if icons.TEMPLATE in site.templates else site.svg_logo
    if logo is not None:
        yield _owned(urls.ICON, logo)
    else:
        icon = renderer.templates.render(icons.TEMPLATE, accent=accent)
        yield FixedDocument(path=urls.ICON, media_type=SVG, content=icon.encode())
    small, touch = icons.icons(site.raster_logo, accent)
    yield FixedDocument(path=urls.ICON_ICO, media_type="image/vnd.microsoft.icon", content=small)
    yield FixedDocument(path=urls.TOUCH_ICON, media_type="image/png", content=touch)
    yield FixedDocument(
        path=urls.CARD,
        media_type="image/png",
        content=share_card.render(_share_card(renderer)),
    )
    yield FixedDocument(
        path=urls.FONT,
        media_type="font/woff2",
        content=FONT_FILE.read_bytes(),
        headers={"Cache-Control": "public, max-age=604800"},
    )


def _share_card(renderer: Renderer) -> share_card.ShareCard:
    site = renderer.site
    return share_card.ShareCard(
        name=site.business.name,
        host=site.host,
        average=renderer.average(),
        rating=site.average or 0,
        count=renderer.count(),
        initials=initials(site.business.name),
        accent=theme.colours(site.settings.accent)["accent"],
        logo=site.raster_logo,
    )
