"""The page ``/about-reviews``: origin, checks, order and omissions of the reviews (corrections.md C31).

A business that shows its reviews must say whether and how it checks that they come from customers (EU
2005/29/EC art. 7(6)), and may not present them as all where some are withheld (US 16 CFR 465.7).
"""

from collections.abc import Iterator

from reviewsd.http1 import urls
from reviewsd.pages.naming import mail_link
from reviewsd.pages.rendering import Page, Renderer


def page(renderer: Renderer) -> Page:
    """Return the page."""
    site, words = renderer.site, renderer.words
    statistics, reports = site.statistics, site.business.reports
    title = f"{words('about')} · {site.business.name}"
    return Page(
        path=urls.ABOUT,
        twin=urls.ABOUT_MARKDOWN,
        template="about.html",
        title=title,
        description=words("about_description", name=site.business.name),
        script=renderer.crumbs((words("about"), urls.ABOUT)),
        context={
            "checked": list(_origin(renderer)),
            "sources": [
                (words.source(name), count, statistics.verified_sources.get(name, 0))
                for name, count in statistics.sources
            ],
            "shown": list(_shown(renderer)),
            "others": list(more(renderer)),
            "report": reports and (mail_link(reports) or reports),
        },
    )


def _origin(renderer: Renderer) -> Iterator[str]:
    """Yield who collects the reviews, and whether their authors were checked to be customers."""
    site = renderer.site
    if site.statistics.verified or not site.count:  # the sentence on unchecked reviews has it too
        yield renderer.words("about_collects", name=site.business.name)
    yield from checked(renderer)


def _shown(renderer: Renderer) -> Iterator[str]:
    """Yield which reviews are shown, in which order and by which stars, and how old they are."""
    site, words = renderer.site, renderer.words
    note = renderer.withheld_note()
    if note is not None:
        yield note
    if site.latest is None:
        yield words("about_empty")
        return
    yield words("about_order_withheld" if site.withheld.count else "about_order")
    if platforms := site.statistics.platforms_of_ten_points:
        yield words("about_points", sources=renderer.formats.listed(platforms))
    yield words("about_latest", date=renderer.language.date(site.latest))
    yield words("about_updated", date=renderer.as_of())


def sentences(renderer: Renderer) -> Iterator[str]:
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
        yield words(
            "about_replies",
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
