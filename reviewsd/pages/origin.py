"""Sentences on the origin of the reviews: checks, order, replies, and the making of insights (pages.md 3)."""

from collections.abc import Iterator

from reviewsd.pages.rendering import Renderer


def about(renderer: Renderer) -> Iterator[str]:
    """Yield sentences on the origin of reviews, their order, replies, and the making of insights."""
    if renderer.site.count:
        yield from checked(renderer)
        yield renderer.words(
            "about_order_withheld" if renderer.site.withheld.count else "about_order"
        )
        yield from more(renderer)


def more(renderer: Renderer) -> Iterator[str]:
    """Yield sentences on replies, and on the making of insights."""
    site, words, number = renderer.site, renderer.words, renderer.language.number
    plural, statistics = renderer.plural, site.statistics
    if not site.count:
        return
    if statistics.critical:
        yield plural(
            "about_replies",
            statistics.critical,
            answered=number(statistics.critical_answered),
            critical=number(statistics.critical),
        )
    match statistics.median_reply_days:
        case None:
            pass
        case 0:
            yield words("about_reply_time_same")
        case days:
            yield plural("about_reply_time", days)
    if site.insights is not None:
        yield site.insights_note or words("about_insights", model=site.insights.model)


def checked(renderer: Renderer) -> Iterator[str]:
    """Yield whether authors were checked to be customers: in the owner's words, and in ours."""
    site, number = renderer.site, renderer.language.number
    verified, statement = site.statistics.verified, site.business.verification_statement
    if statement:
        yield statement
    if not site.count:
        return
    if not verified:
        yield renderer.plural("about_unverified", site.count, name=site.business.name)
    elif not statement and verified == site.count:
        yield renderer.plural("about_all_verified", site.count)
    elif not statement:
        counts = {"verified": number(verified), "count": number(site.count)}
        yield renderer.words("about_verified", **counts)
