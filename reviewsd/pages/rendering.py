"""One page in the frame: title, links, style, header fields, and its Markdown twin (pages.md 1, 4)."""

import copy
import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
from markupsafe import Markup

from reviewsd.domain.locations import Locations
from reviewsd.http1 import urls
from reviewsd.pages import structured_data, theme
from reviewsd.pages.cards import Cards
from reviewsd.pages.document import HTML, MARKDOWN, FixedDocument
from reviewsd.pages.environment import Bytecode, Sheet, Templates, style
from reviewsd.pages.naming import initials
from reviewsd.pages.site import Site
from reviewsd.pages.words import WORDS, Words, has_catalog, load

_POLICY = (
    "default-src 'none'; connect-src 'self'; style-src '{style}'; img-src 'self' https: data:; "
    "font-src 'self'; {frames}form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Title, links and content of one page."""

    path: str
    title: str
    """Title of the document; search engines show at most 60 characters."""
    description: str
    template: str
    twin: str | None = None
    """The path of the page as Markdown; its template has the ending ``.md``."""
    context: Mapping[str, object] = field(default_factory=dict)
    """Values for its template."""
    script: Markup | None = None
    """Structured data (``structured_data.script``), if any."""
    indexed: bool = True
    """Whether search engines may list it."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Paths of the documents in other media types, as in ``FixedDocument``."""
    dated: bool = True
    """Whether it shows the day of the last change, which changes with other reviews."""
    has_frame: bool = False
    """Whether it shows a page of this site in a frame."""
    topic: bool = False
    """Whether it names hub and self, for subscribers (WebSub 4)."""


def shared(words: Words, name: str) -> dict[str, object]:
    """Return the values for every template, also for those rendered for a request."""
    language = words.language
    return {
        "date": language.date,
        "initials": initials,
        "language": language,
        "name": name,
        "number": language.number,
        "plural": words.plural,
        "permalink": urls.permalink,
        "source": words.source,
        "t": words,
        "urls": urls,
    }


class Renderer:
    """Renders the pages of one site, with the help of results of the publication before.

    Raises:
        TemplateError: A file of the operator is faulty.
    """

    def __init__(self, site: Site, bytecode: Bytecode | None = None) -> None:
        from reviewsd.pages.locales import formats_of  # noqa: PLC0415  serving processes need no Babel

        self.site = site
        self.bytecode = bytecode or Bytecode({})
        self.formats = formats_of(site.business.language)
        self.language = self.formats.language
        self.words = Words(load(site.business, site.templates, self.bytecode), self.language)
        self.plural = self.words.plural
        self.templates = Templates(
            site.templates,
            {
                **shared(self.words, site.business.name),
                "site": site,
                "business": site.business,
                "rating": site.rating,
                "base_url": site.base_url,
                "foreign": self._foreign(),
                "navigation": self._navigation(),
                "legal": self._legal_links(),
                "site_has_insights": site.insights is not None,
                "as_of": self.as_of(),
                "verified_note": self.verified_note(),
                "withheld_note": self.withheld_note(),
            },
            bytecode=self.bytecode,
        )
        locations = Locations.several(site.business)
        self.cards = Cards(self.words, site.business.name, self.templates, locations)

    def within(self, site: Site) -> "Renderer":
        """Return the renderer of a part of the site, with the same words and templates."""
        renderer = copy.copy(self)
        renderer.site = site
        return renderer

    def average(self) -> str | None:
        """Return the average rating in the language of the pages; None without reviews."""
        average = self.site.average
        return None if average is None else self.language.number(average, 1)

    def count(self) -> str:
        """Return the number of reviews in words."""
        count = self.site.count
        return self.plural("review_count", count) if count else self.words("no_reviews")

    def crumbs(self, *trail: tuple[str, str]) -> Markup:
        """Return breadcrumbs as all structured data of a page: (name, path) below the home page."""
        site = self.site
        crumbs = structured_data.breadcrumbs(site.base_url, site.business, *trail)
        return structured_data.script(structured_data.graph(crumbs))

    def _foreign(self) -> bool:
        """Return whether our words are English on a page in another language (WCAG 2.2, 3.1.2)."""
        return not has_catalog(self.language.tag) and WORDS not in self.site.templates

    def _navigation(self) -> list[tuple[str, str]]:
        """Return (text, path) of the links in the head of each page."""
        insights = self.site.insights
        pages = [("home", urls.HOME), ("all_reviews", urls.LIST)]
        if insights is not None and insights.summary:
            pages.append(("summary", urls.SUMMARY))
        return [(self.words(key), path) for key, path in pages]

    def _legal_links(self) -> list[tuple[str, str]]:
        """Return (text, address) of the owner's legal notice and privacy policy, as far as given."""
        business = self.site.business
        links = {"legal_notice": business.legal_notice_url, "privacy": business.privacy_url}
        return [(self.words(key), address) for key, address in links.items() if address]

    def verified_note(self) -> str | None:
        """Return what ``verified`` means here, or that nothing was checked; None without reviews."""
        if not self.site.count:
            return None
        statement = self.site.business.verification_statement
        if self.site.statistics.verified:
            return statement or self.words("verified_meaning")
        unverified = self.plural("unverified", self.site.count)
        return f"{statement} {unverified}" if statement else unverified

    def withheld_note(self) -> str | None:
        """Return how many reviews are not shown and why; None where all are."""
        withheld = self.site.withheld
        if not withheld.count:
            return None
        reasons = "; ".join(
            self.words(
                "withheld_reason", count=self.language.number(count), reason=self.words(name)
            )
            for name, count in withheld.reasons.items()
        )
        total = self.site.count + withheld.count - withheld.wordless
        return self.plural(
            f"withheld_{withheld.extent}",
            withheld.count,
            total=self.language.number(total),
            reasons=reasons,
        )

    def as_of(self) -> str | None:
        """Return the day of the last change."""
        moment = self.site.updated_at
        return moment and self.language.date(datetime.date.fromisoformat(moment[:10]))

    @cached_property
    def style(self) -> Sheet:
        """The style sheet."""
        colours = theme.colours(self.site.settings.accent)
        return style(self.templates.render("style.css", **colours))

    def headers(self, page: Page) -> dict[str, str]:
        """Return the header fields of a page."""
        frames = "frame-src 'self'; " if page.has_frame else ""
        return {
            "Content-Security-Policy": _POLICY.format(style=self.style.digest, frames=frames),
            "Link": ", ".join(_links(page, self.site.base_url)),
        }

    def text(self, page: Page, **more: object) -> str:
        """Render a page as HTML."""
        context = {**page.context, **more, "css": self.style.text}
        return self.templates.render(page.template, page=page, **context)

    def json(self, name: str, **context: object) -> bytes:
        """Render a template of JSON, without white space."""
        return msgspec.json.format(self.templates.render(name, **context), indent=-1).encode()

    def documents(
        self, page: Page, content: bytes | None = None, twin: bytes | None = None
    ) -> Iterator[FixedDocument]:
        """Render a page as HTML, and as Markdown if it has a twin.

        Args:
            page: The page.
            content: The HTML, if it is rendered already.
            twin: The Markdown, if it is rendered already.
        """
        headers = self.headers(page)
        others = dict(page.others)
        if page.twin is not None:
            others = {"text/markdown": page.twin, **others}
        yield FixedDocument(
            path=page.path,
            media_type=HTML,
            content=self.text(page).encode() if content is None else content,
            headers=headers,
            others=others,
        )
        if page.twin is not None:
            if twin is None:
                template = page.template.removesuffix(".html") + ".md"
                twin = self.templates.render(template, page=page, **page.context).encode()
            yield FixedDocument(
                path=page.twin,
                media_type=MARKDOWN,
                content=twin,
                headers={"Link": f'<{self.site.base_url}{page.path}>; rel="canonical"'},
            )


def _links(page: Page, base_url: str) -> Iterator[str]:
    """Yield the links of a page, in the order of pages-documents 2.1."""
    yield f'<{urls.API_CATALOG}>; rel="api-catalog"'
    yield f'<{urls.OPENAPI}>; rel="service-desc"; type="application/vnd.oai.openapi+json"'
    yield f'<{urls.DEVELOPERS}>; rel="service-doc"; type="text/html"'
    yield f'<{urls.LLMS}>; rel="describedby"; type="text/plain"'
    yield f'<{urls.ATOM_FEED}>; rel="alternate"; type="application/atom+xml"'
    yield f'<{urls.JSON_FEED}>; rel="alternate"; type="application/feed+json"'
    if page.twin is not None:
        yield f'<{page.twin}>; rel="alternate"; type="text/markdown"'
    if page.topic:
        yield f'<{base_url}{urls.HUB}>; rel="hub"'
        yield f'<{base_url}{page.path}>; rel="self"'
