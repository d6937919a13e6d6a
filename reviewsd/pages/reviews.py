"""The frames of the pages of reviews, made at publication: ``/r/{id}`` and ``/reviews`` (pages.md 1, 2, 3)."""

from collections.abc import Iterator

from reviewsd.domain.insights import Insights, named
from reviewsd.domain.naming import mention_key
from reviewsd.domain.search_query import LIMIT_DEFAULT, MENTIONS, Cursor, SearchQuery
from reviewsd.http1 import urls
from reviewsd.pages import embed
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.form import MAX_CHOICES
from reviewsd.pages.frames import Frame, Frames, frame, slot
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.request_pages import RequestPages, ReviewsFound, try_templates

TEMPLATES = (
    *("card.html", "list.html", "form.html", "field.html"),
    *("page_gone.html", "note.html", "report.html"),
    *("card.md", "review.md", "reviews.md"),
    *embed.TEMPLATES,
)
"""The templates that are rendered for a request."""

_CHOICES = 200
"""Names that a field of the form offers, at most."""


def frames(renderer: Renderer) -> Frames:
    """Return everything that pages rendered for a request need."""
    site, words = renderer.site, renderer.words
    review = Page(
        path=slot("path"),
        title=slot("title"),
        description=slot("description"),
        template="review.html",
        twin=slot("twin"),
        script=slot("script"),
        dated=False,
    )
    listed = _listed(renderer, indexed=False)
    return Frames(
        base_url=site.base_url,
        business=site.business,
        headers=renderer.headers(listed),
        words=dict(words.texts),
        language=renderer.language,
        templates={name: renderer.templates.source(name) for name in TEMPLATES},
        review=frame(renderer, review, "cards", "newer", "older", "note", "report"),
        listed=_list_frame(renderer, listed),
        embed=embed.frames(renderer),
        gone=_message(renderer, words("review_gone"), words("review_gone_text")),
        nothing=_message(renderer, words("not_found"), words("not_found_text")),
        names=_names(renderer),
        sources=_sources(renderer),
        booleans=_booleans(renderer),
        years=site.statistics.years(),
        jsonld_reviews=site.settings.jsonld_reviews,
    )


def documents(renderer: Renderer, published: Frames) -> Iterator[FixedDocument]:
    """Render the first page of all reviews."""
    site = renderer.site
    page = _listed(renderer, indexed=True)
    second = ""
    if site.count > LIMIT_DEFAULT:
        last = site.newest[LIMIT_DEFAULT - 1]
        second = f"?cursor={Cursor(last.date, last.id).encode()}"

    def result(path: str) -> ReviewsFound:
        next_page = path + second if second else None
        return ReviewsFound(
            matched=site.count, reviews=site.newest[:LIMIT_DEFAULT], following=next_page
        )

    pages = RequestPages(published, renderer.templates)
    if site.templates:
        try_templates(pages)
    yield from renderer.documents(
        page,
        pages.listed(SearchQuery(), result(urls.LIST), _list_frame(renderer, page)),
        pages.listed_markdown(SearchQuery(), result(urls.LIST_MARKDOWN)),
    )


def _listed(renderer: Renderer, *, indexed: bool) -> Page:
    site, words = renderer.site, renderer.words
    return Page(
        path=urls.LIST,
        title=slot("title"),
        description=renderer.plural("reviews_description", site.count, name=site.business.name),
        template="reviews.html",
        twin=urls.LIST_MARKDOWN if indexed else None,
        script=renderer.crumbs((words("all_reviews"), urls.LIST)) if indexed else None,
        indexed=indexed,
    )


def _list_frame(renderer: Renderer, page: Page) -> Frame:
    choices = [
        (field, labels) for field, labels in _names(renderer).items() if len(labels) > MAX_CHOICES
    ]
    return frame(renderer, page, "heading", "form", "found", choices=choices)


def _message(renderer: Renderer, heading: str, text: str) -> str:
    page = Page(
        path="",
        title=heading,
        description=text,
        template="message.html",
        indexed=False,
        dated=False,
    )
    return renderer.text(page, heading=heading, text=text)


def _sources(renderer: Renderer) -> tuple[str, ...]:
    """Return the most frequent sources; of one in several spellings the most frequent one."""
    spelled: dict[str, str] = {}
    for source, _ in renderer.site.statistics.sources:
        spelled.setdefault(mention_key(source), source)
    return tuple(spelled.values())[:_CHOICES]


def _booleans(renderer: Renderer) -> tuple[str, ...]:
    """Return the parameters of yes and no that exclude some reviews, but not all."""
    statistics, count = renderer.site.statistics, renderer.site.count
    counts = (("verified", statistics.verified), ("has_reply", statistics.replies))
    return tuple(name for name, matched in counts if 0 < matched < count)


def _names(renderer: Renderer) -> dict[str, dict[str, str]]:
    """Return the labels by id that the form suggests, by parameter; only those of the insights."""
    lists = (renderer.site.insights or Insights()).lists()
    return {
        parameter: {
            entity.id or "": entity.label or "" for entity in map(named, entries[:_CHOICES])
        }
        for parameter, kind in MENTIONS.items()
        if (entries := lists[kind])
    }
