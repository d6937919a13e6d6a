"""The documentation: Markdown templates filled from the OpenAPI document, each a page with its twin (pages.md 1)."""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Final
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from reviewsd.http1 import problems, urls
from reviewsd.http1.problems import Problem
from reviewsd.pages.catalogs import REVISIONS
from reviewsd.pages.developers import html as markdown
from reviewsd.pages.developers import schemas
from reviewsd.pages.developers.schemas import Json
from reviewsd.pages.document import FixedDocument
from reviewsd.pages.environment import Verbatim
from reviewsd.pages.rendering import Page, Renderer
from reviewsd.pages.text import line


@dataclass(frozen=True, slots=True)
class DeveloperPage:
    """One page."""

    path: str
    title: str
    description: str
    """One sentence for search engines and the overview."""

    @property
    def template(self) -> str:
        """The template of its text, named as its path ends."""
        return f"developers/{self.path.rpartition('/')[2]}.md"


PAGES: Final = (
    DeveloperPage(
        urls.DEVELOPERS,
        "For developers",
        "The reviews as data: HTTP API, feeds, notifications, AI agents, badge.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_API,
        "HTTP API",
        "Every address of the HTTP API with its parameters, answers and examples.",
    ),
    DeveloperPage(
        urls.DATA_BUSINESS,
        "Business",
        "The members of the business and of its aggregate rating.",
    ),
    DeveloperPage(
        urls.DATA_REVIEWS,
        "Reviews",
        "The members of a review, of the answers that list reviews, and of the feed.",
    ),
    DeveloperPage(
        urls.DATA_INSIGHTS,
        "Insights",
        "The members of the insights: sentiment, aspects, entities, topics, months.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_ERRORS,
        "Errors",
        "Every error that the service answers with, and what to do about it.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_AUTHENTICATION,
        "Authentication",
        "No account, no key and no login: everything here is public and read-only.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_WEBHOOKS,
        "Notifications (WebSub)",
        "How to be sent new reviews: topics, subscribing, verification, signatures.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_MCP,
        "MCP for AI agents",
        "How to give the reviews to an AI agent by the Model Context Protocol.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_TOOLS,
        "MCP tools",
        "Every tool of the MCP server with its arguments and what it answers.",
    ),
)
"""All pages but the one about the embed."""

EMBED: Final = DeveloperPage(
    urls.DEVELOPERS_EMBED,
    "On your website",
    "One line that shows the rating and the newest reviews on a website of yours.",
)
"""The page that configures the embed; ``pages.embed`` renders it."""

MENU: Final = (PAGES[0], EMBED, *PAGES[1:])
"""All pages, in the order in which they link to each other."""


def documents(renderer: Renderer, openapi: bytes, tools: str) -> Iterator[FixedDocument]:
    """Render all pages of the documentation from the OpenAPI document and the result of ``tools/list``.

    Raises:
        TemplateError: A template is faulty.
    """
    site = renderer.site
    context = {
        "absent": site.disabled_paths,
        "api": _resolved(msgspec.json.decode(openapi)),
        "base_url": site.base_url,
        "html_name": html.escape(line(site.business.name)),
        "indented": _indented,
        "joined": schemas.joined,
        "kinds": _kinds(),
        "notes": schemas.notes,
        "pages": MENU,
        "plain": schemas.plain,
        "revisions": REVISIONS,
        "schemas": schemas.SCHEMAS,
        "target": _target,
        "tools": msgspec.json.decode(tools)["tools"],
        "type": partial(schemas.type_of, base_url=site.base_url),
    }
    for page in PAGES:
        text = renderer.templates.render(page.template, page=page, **context)
        yield from renderer.documents(page_of(renderer, page, text))


def page_of(
    renderer: Renderer,
    page: DeveloperPage,
    text: str,
    template: str = "developers.html",
    *,
    has_frame: bool = False,
) -> Page:
    """Return a page of the documentation with a text of Markdown."""
    base_url, name = renderer.site.base_url, renderer.site.business.name
    trail = [MENU[0]] if page is MENU[0] else [MENU[0], page]
    convert = partial(markdown.render, base_url=base_url, path=page.path)
    return Page(
        path=page.path,
        twin=urls.twin(page.path),
        template=template,
        title=f"{page.title}: {name}",
        description=page.description,
        script=renderer.crumbs(*((each.title, each.path) for each in trail)),
        dated=False,
        has_frame=has_frame,
        context={
            "documentation": page,
            "menu": MENU,
            "content": Markup(renderer.bytecode.html(text, convert)),  # noqa: S704  escaped
            "text": Verbatim(text),
        },
    )


def _resolved(api: Json) -> object:
    """Return the OpenAPI document with its parameters and responses in place of references to them."""
    components = msgspec.convert(api["components"], dict[str, dict[str, object]])
    shared = {
        f"#/components/{kind}/{name}": part
        for kind in ("parameters", "responses")
        for name, part in components[kind].items()
    }

    def resolve(part: object) -> object:
        match part:
            case {"$ref": str(reference)} if reference in shared:
                return shared[reference]
            case dict():
                return {name: resolve(value) for name, value in part.items()}
            case list():
                return [resolve(item) for item in part]
        return part

    return resolve(api)


def _indented(value: object) -> str:
    """Return a value as JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _target(path: str, parameters: list[Mapping[str, object]]) -> str:
    """Return an address to try: the path with its examples, and for a search two filters."""
    for parameter in parameters:
        if parameter["in"] == "path":
            example = quote(schemas.plain(parameter["example"]), safe="")
            path = path.replace(f"{{{parameter['name']}}}", example)
    return f"{path}?min_rating=4&limit=5" if path == urls.SEARCH else path


def _kinds() -> dict[str, list[Problem]]:
    """Return the problems that are sent as JSON, by kind, in the order of their statuses.

    The ``type`` of a problem leads to its kind (RFC 9457, contract 2).
    """
    every = (value for value in vars(problems).values() if isinstance(value, Problem))
    by_kind: dict[str, list[Problem]] = {}
    for problem in sorted(every, key=attrgetter("status")):
        if not problem.plain:
            by_kind.setdefault(problem.kind, []).append(problem)
    return by_kind
