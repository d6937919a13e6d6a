"""Pages rendered for a request: cards are put into the frames of a snapshot (pages.md 1, 2, 3)."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qsl

from markupsafe import Markup, escape
from msgspec.structs import replace

from reviewsd.domain.issues import Issue
from reviewsd.domain.reviews import OwnerReply, Review
from reviewsd.domain.search_query import Cursor, SearchQuery
from reviewsd.http1 import urls
from reviewsd.pages import form, structured_data
from reviewsd.pages.cards import Cards
from reviewsd.pages.environment import Templates
from reviewsd.pages.filters import (
    CURSOR,
    MAX_VALUE,
    Filter,
    Filters,
    address,
    by_field,
    instead_of,
    values_of,
)
from reviewsd.pages.form import Form
from reviewsd.pages.frames import Frame, Frames
from reviewsd.pages.issues import examples, sentence
from reviewsd.pages.naming import report_link
from reviewsd.pages.text import printable, shortened
from reviewsd.pages.words import Words

MAX_DESCRIPTION = 155
"""Characters of a page's description that search engines show."""

_MAX_FILTERS = 80
"""Characters of the filters in a heading."""

_MAX_TITLE, _LEAST_FILTERS = 66, 20
"""Characters of the title of a filtered list, and of the filters beside any name."""

_MAX_NAME = 40
"""Characters of an author's name in a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewsFound:
    """The result of a search."""

    matched: int
    reviews: Sequence[Review]
    following: str | None = None
    """Address of the next page."""


class RequestPages:
    """Renders pages for requests; ``templates`` are those of the frames, if they are compiled already."""

    def __init__(self, published: Frames, templates: Templates | None = None) -> None:
        self.frames = published
        self._templates = templates or published.templates_for_requests()
        self._words = Words(published.words, published.language)
        self._cards = Cards(
            self._words, published.business.name, self._templates, published.locations
        )
        self._notes: dict[bool, str] = {}
        self._form = Form(published, self._templates, self._words)
        self._filters = Filters(published, self._words)

    def review(self, review: Review) -> bytes:
        """Render the page of one review."""
        (card,) = self._cards.of((review,))
        author, path = card.author[:_MAX_NAME], card.path
        card = replace(card, heading=self._words("review_heading", author=author))
        description = review.text or f"{card.stars}, {card.date}."
        return self.frames.review.fill(
            path=escape(path),
            title=_escaped(f"{card.heading} · {self.frames.business.name}"),
            description=_escaped(shortened(description, MAX_DESCRIPTION)),
            twin=escape(f"{path}.md"),
            script=structured_data.script(self._graph(review, author)),
            cards=self._cards.html((card,), 1),
            # No link depends on other reviews, so the page stays the same when they change.
            newer=escape(f"{urls.LIST}?since={review.date}"),
            note=self._note(verified=review.verified),
            report=self.report(self._reports(path)),
            older=escape(f"{urls.LIST}?cursor={Cursor(review.date, review.id).encode()}"),
        )

    def _note(self, *, verified: bool) -> str:
        """Return what ``verified`` means, or that a review was not checked."""
        note = self._notes.get(verified)
        if note is None:
            statement = self.frames.business.verification_statement
            text = statement or self._words("verified_meaning" if verified else "unverified_one")
            note = self._notes[verified] = self._templates.render("note.html", text=text)
        return note

    def report(self, href: str | None) -> str:
        """Return the link by which a reader reports a review; empty if the business names no contact."""
        return "" if href is None else self._templates.render("report.html", href=href)

    def _reports(self, path: str) -> str | None:
        reports = self.frames.business.reports
        return None if reports is None else report_link(reports, self.frames.base_url + path)

    def review_markdown(self, review: Review) -> bytes:
        """Render the page of one review as Markdown."""
        return self._templates.render(
            "review.md",
            heading=self._words("review_heading", author=self._cards.author(review)[:_MAX_NAME]),
            cards=self._cards.of((review,)),
            base_url=self.frames.base_url,
            report=self._reports(urls.permalink(review.id)),
        ).encode()

    def _graph(self, review: Review, author: str) -> structured_data.Node:
        base_url, business = self.frames.base_url, self.frames.business
        own, listed = (author, urls.permalink(review.id)), (self._words("all_reviews"), urls.LIST)
        crumbs = structured_data.breadcrumbs(base_url, business, listed, own)
        if not self.frames.jsonld_reviews:
            return structured_data.graph(crumbs)
        node = structured_data.review_node(base_url, review, business.name)
        location = self.frames.locations.find(review.location)
        node["itemReviewed"] = (
            structured_data.brief(base_url, business)
            if location is None
            else structured_data.location_brief(base_url, business, location)
        )
        return structured_data.graph(node, crumbs)

    def listed(
        self, query: SearchQuery, result: ReviewsFound, within: Frame | None = None
    ) -> bytes:
        """Render a page of reviews, in the frame of pages with parameters or in another one."""
        first = query.first_page()
        parameters = dict(parse_qsl(first))
        filters = self._filters.of(parameters)
        cards = self._templates.render(
            "list.html",
            filters=[item for item in filters if item.name != form.RATING],  # a chip removes that
            filtered=bool(filters),
            matched=result.matched,
            reason="" if result.matched else self._filters.nothing(query),
            cards=self._cards.html(self._cards.of(result.reviews, query.query), 2),
            following=result.following,
            later=query.cursor is not None,
            first=f"{urls.LIST}?{first}" if first else urls.LIST,
        )
        name = self.frames.business.name
        title = self._words("reviews_title", name=name)
        if filters:
            rest = f"{self._words('reviews_heading', filters='')} · {name}"
            room = max(_MAX_TITLE - len(rest), _LEAST_FILTERS)
            title = f"{self._heading(filters, room)} · {name}"
        return (within or self.frames.listed).fill(
            title=_escaped(title),
            heading=_escaped(self._heading(filters)),
            form=self._form.render(
                parameters, self._filters.stars(parameters), self._filters.years(parameters)
            ),
            found=cards,
        )

    def _heading(self, filters: Sequence[Filter], room: int = _MAX_FILTERS) -> str:
        """Return the heading of a list, with its filters in at most ``room`` characters."""
        if not filters:
            return self._words("all_reviews")
        labels = ", ".join(item.label for item in filters)
        return self._words("reviews_heading", filters=shortened(labels, room))

    def listed_markdown(self, query: SearchQuery, result: ReviewsFound) -> bytes:
        """Render a page of reviews as Markdown."""
        filters = self._filters.of(dict(parse_qsl(query.first_page())))
        return self._templates.render(
            "reviews.md",
            heading=self._heading(filters),
            matched=result.matched,
            cards=self._cards.of(result.reviews),
            following=result.following,
            base_url=self.frames.base_url,
        ).encode()

    def invalid(self, query: bytes, issues: Sequence[Issue]) -> bytes:
        """Render the page with the issues of a search beside its fields.

        A cursor has no field; for one that is invalid the page says that the address is gone.
        """
        values = values_of(query)
        parameters = {name: text[:MAX_VALUE] for name, text in values.items() if name in form.NAMES}
        parameters.pop(CURSOR, None)
        wrong = by_field(issues, partial(sentence, self._words))
        instead = [search for issue in issues for search in instead_of(issue, parameters, values)]
        content = ""
        if wrong.pop(CURSOR, None):
            content = self._templates.render("page_gone.html", first=address(parameters))
        valid = {name: value for name, value in parameters.items() if name not in wrong}
        chips = self._filters.stars(valid)
        problem = self._words("error", problem=self._words("search" if wrong else "page_gone"))
        return self.frames.listed.fill(
            title=_escaped(f"{problem} · {self.frames.business.name}"),
            heading=_escaped(self._words("all_reviews")),
            form=self._form.render(parameters, chips, (), wrong, instead),
            found=content,
        )


def try_templates(pages: RequestPages) -> None:
    """Render the pages of requests, so that a faulty template is refused before a client needs it.

    Raises:
        TemplateError: A template is faulty.
    """
    day = datetime.date(2000, 1, 1)
    reply = OwnerReply(text="text", date=day)
    review = Review(
        id="id", author="name", rating=1, date=day, text="text", source="source",
        source_url="https://source.example/", owner_reply=reply, verified=True,
    )  # fmt: skip
    result = ReviewsFound(matched=2, reviews=(review,), following=urls.LIST)
    pages.review(review)
    pages.review_markdown(review)
    pages.report(urls.HOME)
    pages.listed(SearchQuery(cursor=Cursor(day, "id")), result)
    pages.listed(
        SearchQuery(
            rating=1, min_rating=1, max_rating=1, since=day, until=day, query="text",
            mentions_technician="name", sentiment="positive",
        ),
        result,
    )  # fmt: skip
    pages.listed(SearchQuery(min_rating=2, rating=1), ReviewsFound(matched=0, reviews=()))
    pages.listed_markdown(SearchQuery(rating=1), result)
    pages.invalid(b"", examples())


def _escaped(text: str) -> Markup:
    return escape(printable(text))
