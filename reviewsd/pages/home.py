"""The page at ``/`` for customers, and its index for programs (pages.md 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import msgspec

from reviewsd.domain.reviews import Distribution, OpeningHours
from reviewsd.http1 import urls
from reviewsd.pages import mentions, structured_data
from reviewsd.pages.cards import short
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.naming import mail_link, phone_link, site_name, source_name
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.site import Site

JSON = "application/json"

SHOWN = 20
"""Newest reviews on the page and in its structured data, at most."""

_QUESTIONS = 12
_MONTHS = 24
_CHART = 56
"""Height of the highest bar, of 64."""

_BEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthBar:
    """A bar of the chart."""

    label: str
    count: int
    height: int


def documents(renderer: Renderer) -> Iterator[FixedDocument]:
    """Render the home page as HTML, Markdown and a JSON index."""
    yield FixedDocument(path=urls.HOME_INDEX, media_type=JSON, content=_index(renderer))
    yield from renderer.documents(_page(renderer))


def _page(renderer: Renderer) -> Page:
    site, words = renderer.site, renderer.words
    business, rated = site.business, site.rating.rating_value
    facts = {"name": business.name}
    insights = site.insights
    months = _months(renderer)
    title, description = (
        words("home_title_empty", **facts),
        words("home_description_empty", **facts),
    )
    if site.count and rated is not None:
        average = renderer.language.number(rated, 1)
        title = renderer.plural("home_title", site.count, **facts)
        description = renderer.plural("home_description", site.count, **facts, average=average)
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
            "place": _place(site),
            "contact": _contact(renderer),
            "average": None if rated is None else renderer.language.number(rated, 1),
            "filled": stars_filled(rated),
            "distribution": _distribution(site),
            "summary": [] if insights is None else paragraphs(insights.summary),
            "quote": None if insights is None else insights.pull_quote,
            "aspects": () if insights is None else mentions.aspects(renderer, insights),
            "groups": () if insights is None else mentions.groups(renderer, insights),
            "months": months,
            "months_caption": months
            and words("months_caption", first=months[0].label, last=months[-1].label),
            "faq": () if insights is None else insights.faq[:_QUESTIONS],
            "cards": renderer.cards.shortened(site.newest[:SHOWN]),
            "level": 3,
            "original": False,
            "about": list(about(renderer)),
            "sources": [(source_name(name), count) for name, count in site.statistics.sources[:8]],
            "years": site.years(),
            "hours": _hours(business.hours),
        },
    )


def paragraphs(text: str | None) -> list[str]:
    """Split a text into its paragraphs."""
    lines = (text or "").replace("\r\n", "\n").split("\n\n")
    return [line.strip() for line in lines if line.strip()]


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
        case 1:
            yield words("about_reply_time_one")
        case days:
            yield words("about_reply_time", days=number(days))
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


def _graph(site: Site) -> structured_data.Node:
    base_url, business = site.base_url, site.business
    node = structured_data.business_node(base_url, business)
    if site.settings.jsonld_reviews and site.count and site.rating.rating_value is not None:
        node["aggregateRating"] = structured_data.aggregate(site.rating)
        node["review"] = [
            structured_data.review_node(base_url, review, business.name)
            for review in map(short, site.newest[:SHOWN])
        ]
    nodes = [structured_data.website(base_url, business), node]
    if site.insights is not None and site.insights.faq:
        nodes.append(structured_data.questions(base_url, site.insights.faq[:_QUESTIONS]))
    return structured_data.graph(*nodes)


def stars_filled(rating: float | None) -> float | None:
    """Return the filled part of a row of five stars, per cent."""
    return None if rating is None else round(rating * 20, 1)


def _place(site: Site) -> str | None:
    address = site.business.address
    parts = () if address is None else (address.street, address.city, address.region)
    return ", ".join(part for part in parts if part) or None


def _contact(renderer: Renderer) -> list[tuple[str, str, str]]:
    """Return (kind, text, address) of each way to reach the business."""
    business, words = renderer.site.business, renderer.words
    entries = []
    if business.url:
        entries.append((words("website"), site_name(business.url), business.url))
    if business.phone and (link := phone_link(business.phone)):
        entries.append((words("call"), business.phone, link))
    if business.email and (link := mail_link(business.email)):
        entries.append((words("write"), business.email, link))
    return entries


def _distribution(site: Site) -> list[tuple[int, int, float]]:
    """Return (stars, reviews, per cent), the best first."""
    stars = site.rating.distribution or Distribution()
    counts = [count or 0 for count in (stars.five, stars.four, stars.three, stars.two, stars.one)]
    total = sum(counts) or 1
    return [(_BEST - at, count, round(100 * count / total, 1)) for at, count in enumerate(counts)]


def _months(renderer: Renderer) -> list[MonthBar]:
    months = renderer.site.months(_MONTHS)
    most = max((count for _, _, count in months), default=0) or 1
    return [
        MonthBar(
            label=renderer.language.month(year, month),
            count=count,
            height=max(1, count * _CHART // most),
        )
        for year, month, count in months
    ]


def _hours(hours: Sequence[OpeningHours]) -> list[tuple[str, str]]:
    """Return (day, times) in the order of the file."""
    return [
        (day, ", ".join(f"{opening.opens}\N{EN DASH}{opening.closes}" for opening in group))
        for day, group in groupby(hours, key=attrgetter("day"))
    ]


def _index(renderer: Renderer) -> bytes:
    """Return the addresses of all interfaces as JSON."""
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
        "about_reviews": urls.ABOUT,
    }
    if renderer.site.insights is not None:
        links["insights"] = urls.INSIGHTS
    absolute = {name: base_url + path for name, path in links.items()}
    return msgspec.json.encode({"name": business.name, "links": absolute})
