"""llms.txt and llms-full.txt: the service for language models (llmstxt.org, pages.md 1).

Names and texts come from customers and owners; the templates escape the markup in them (``pages.text``).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from reviewsd.domain.insights import Entity, named
from reviewsd.http1 import urls
from reviewsd.pages.rendering import Renderer

MAX_FULL: Final = 100_000
"""Bytes of llms-full.txt, which must fit into a model's context (pages.md 1)."""

_MAX_INSIGHTS: Final = 60_000  # bytes; the rest is for reviews
_MOST: Final = 30  # entries of each list

_GAP: Final = "\n\n"
_CUT: Final = "\0"
"""Divides the parts of a template; no text of a page has it."""


def render(renderer: Renderer) -> bytes:
    """Return llms.txt."""
    return renderer.templates.render("machines/llms.txt").encode()


def render_full(renderer: Renderer) -> bytes:
    """Return llms-full.txt: the insights, and as many of the newest reviews as fit."""
    site, render_template = renderer.site, renderer.templates.render
    parts = [render_template("machines/llms_head.txt").strip("\n")]
    if site.insights is not None:
        insights = render_template(
            "machines/llms_insights.txt",
            cut=_CUT,
            insights=site.insights,
            most_mentioned=_most_mentioned,
        )
        parts += _within(insights, _MAX_INSIGHTS)
    parts.append("## Newest reviews")
    end = f"All reviews ({site.count}): {site.url(urls.REVIEWS)}"
    reviews = render_template("machines/llms_reviews.txt", cut=_CUT)
    newest = _within(reviews, MAX_FULL - len(_document([*parts, end])))
    return _document([*parts, *newest, end])


def _most_mentioned(entities: Iterable[str | Entity]) -> list[Entity]:
    return sorted(map(named, entities), key=lambda entity: -(entity.mention_count or 0))[:_MOST]


def _within(parts: str, size: int) -> Iterator[str]:
    """Yield the first parts, at most ``size`` bytes together."""
    for part in parts.split(_CUT)[:-1]:
        size -= len(part.strip("\n").encode()) + len(_GAP)
        if size < 0:
            break
        yield part.strip("\n")


def _document(parts: Iterable[str]) -> bytes:
    return _GAP.join(parts).encode() + b"\n"
