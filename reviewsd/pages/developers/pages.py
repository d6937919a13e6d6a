"""The pages of the documentation: Markdown templates, filled from the OpenAPI document (pages.md 1)."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final
from urllib.parse import quote

import msgspec

from reviewsd.http1 import problems, urls
from reviewsd.http1.problems import Problem
from reviewsd.pages.developers.openapi import Operation, read_description, read_tools
from reviewsd.pages.developers.tables import SCHEMAS, Tables, plain
from reviewsd.pages.environment import Templates, Verbatim
from reviewsd.pages.text import line


@dataclass(frozen=True, slots=True, kw_only=True)
class Interfaces:
    """The interfaces that the pages document."""

    openapi: bytes
    """The OpenAPI document."""
    tools: bytes
    """The result of ``tools/list``."""
    revisions: tuple[str, ...]
    """Served revisions of MCP."""


@dataclass(frozen=True, slots=True)
class DeveloperPage:
    """One page."""

    path: str
    template: str
    title: str
    description: str
    """One sentence for search engines and the overview."""


PAGES: Final = (
    DeveloperPage(
        urls.DEVELOPERS,
        "overview.md",
        "For developers",
        "The reviews as data: HTTP API, feeds, notifications, AI agents, badge.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_API,
        "api.md",
        "HTTP API",
        "Every address of the HTTP API with its parameters, answers and examples.",
    ),
    DeveloperPage(
        urls.DATA_BUSINESS,
        "business.md",
        "Business",
        "The members of the business and of its aggregate rating.",
    ),
    DeveloperPage(
        urls.DATA_REVIEWS,
        "reviews.md",
        "Reviews",
        "The members of a review, of the answers that list reviews, and of the feed.",
    ),
    DeveloperPage(
        urls.DATA_INSIGHTS,
        "insights.md",
        "Insights",
        "The members of the insights: sentiment, aspects, entities, topics, months.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_ERRORS,
        "errors.md",
        "Errors",
        "Every error that the service answers with, and what to do about it.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_AUTHENTICATION,
        "authentication.md",
        "Authentication",
        "No account, no key and no login: everything here is public and read-only.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_WEBHOOKS,
        "webhooks.md",
        "Notifications (WebSub)",
        "How to be sent new reviews: topics, subscribing, verification, signatures.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_MCP,
        "mcp.md",
        "MCP for AI agents",
        "How to give the reviews to an AI agent by the Model Context Protocol.",
    ),
    DeveloperPage(
        urls.DEVELOPERS_TOOLS,
        "tools.md",
        "MCP tools",
        "Every tool of the MCP server with its arguments and what it answers.",
    ),
)
"""All pages but the one about the embed."""

EMBED: Final = DeveloperPage(
    urls.DEVELOPERS_EMBED,
    "embed.md",
    "On your website",
    "One line that shows the rating and the newest reviews on a website of yours.",
)
"""The page that configures the embed; ``pages.embed`` renders it."""

MENU: Final = (PAGES[0], EMBED, *PAGES[1:])
"""All pages, in the order in which they link to each other."""


def texts(
    templates: Templates,
    interfaces: Interfaces,
    base_url: str,
    name: str,
    absent: frozenset[str] = frozenset(),
) -> Iterator[tuple[DeveloperPage, str]]:
    """Render each page as Markdown.

    Args:
        templates: The templates of the site.
        interfaces: The interfaces that the pages document.
        base_url: Origin of all addresses.
        name: Name of the business.
        absent: Paths of documents that are not served.

    Raises:
        TemplateError: A template is faulty.
    """
    description = read_description(interfaces.openapi)
    context = {
        "absent": absent,
        "api": description,
        "base_url": Verbatim(base_url),
        "html_name": Verbatim(html.escape(line(name))),
        "json": _indented,
        "kinds": _kinds(),
        "pages": MENU,
        "revisions": interfaces.revisions,
        "schemas": SCHEMAS,
        "tables": Tables(description, base_url),
        "target": _target,
        "tools": read_tools(interfaces.tools),
    }
    for page in PAGES:
        yield page, templates.render(f"developers/{page.template}", page=page, **context)


def _indented(value: object) -> Verbatim:
    """Return a value as JSON for people."""
    return Verbatim(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _target(path: str, operation: Operation) -> Verbatim:
    """Return an address to try: the path with its examples, and for a search two filters."""
    for parameter in operation.parameters:
        if parameter.place == "path":
            example = quote(plain(parameter.example), safe="")
            path = path.replace(f"{{{parameter.name}}}", example)
    return Verbatim(f"{path}?min_rating=4&limit=5" if path == urls.SEARCH else path)


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
