"""Where developers begin: what there is, at which address, and what to put on a website."""

import html
from collections.abc import Iterator
from typing import Final

from reviewsd.http1 import urls
from reviewsd.pages.developers.blocks import (
    Code,
    DeveloperPage,
    Link,
    Paragraph,
    Section,
    Table,
    Words,
)
from reviewsd.pages.developers.openapi import Description

_MACHINES: Final = {
    urls.LLMS: "What there is here, for language models (llmstxt.org)",
    urls.LLMS_FULL: "What reviewers say and the newest reviews, in one text",
    urls.ROBOTS: "What crawlers may read (RFC 9309)",
    urls.SITEMAP: "All pages",
    urls.OPENSEARCH: "The search, for browsers (OpenSearch 1.1)",
    urls.API_CATALOG: "The interfaces as links (RFC 9727)",
    urls.AI_CATALOG: "What AI agents can use here",
    urls.SERVER_CARD: "The MCP server, before one connects to it",
    urls.SKILLS: "Skills for agents",
    urls.SKILL: "How an agent reads and cites the reviews",
}
"""Documents for crawlers and agents, and what each is."""


def page(
    description: Description,
    base_url: str,
    name: str,
    others: tuple[DeveloperPage, ...],
    absent: frozenset[str] = frozenset(),
) -> DeveloperPage:
    """The page.

    Args:
        description: Names the addresses of the API.
        base_url: Origin of the addresses in examples.
        name: Of the business.
        others: The other pages of the documentation.
        absent: Paths of documents that there are not.
    """
    return DeveloperPage(
        path=urls.DEVELOPERS,
        title="For developers",
        description="The reviews as data: HTTP API, feeds, notifications, AI agents, badge.",
        blocks=(
            Paragraph(
                "Everything that these pages show is there as data too: public, read-only, without an "
                "account or a key, from any origin."
            ),
            Code(f"curl '{base_url}{urls.SEARCH}?min_rating=4&limit=5'", "sh"),
            Table(
                "Documentation",
                ("DeveloperPage", "What it says"),
                tuple((Link(each.title, each.path), each.description) for each in others),
            ),
        ),
        sections=(
            Section("data", "Data", (_table("Addresses of the API", tuple(_reads(description))),)),
            Section(
                "badge",
                "On your website",
                (
                    Paragraph(
                        "A badge with stars and number of reviews, which links to this site:"
                    ),
                    Code(_badge(base_url, name), "html"),
                    Paragraph("The rating with the three newest reviews:"),
                    Code(_frame(base_url, name), "html"),
                ),
            ),
            Section(
                "machines",
                "For crawlers and agents",
                (_table("Documents for crawlers and agents", tuple(_documents(absent))),),
            ),
        ),
    )


def _table(label: str, rows: tuple[tuple[Words, ...], ...]) -> Table:
    return Table(label, ("Address", "What it is"), rows)


def _reads(description: Description) -> Iterator[tuple[Words, ...]]:
    """Yield the main addresses of the API with their summaries in the OpenAPI document."""
    for path in urls.MAIN:
        methods = description.paths.get(path)
        if methods is not None:
            operation = next(iter(methods.values()))
            target = f"{urls.DEVELOPERS_API}#{operation.operation_id}"
            yield Link(f"`{path}`", target), operation.summary


def _documents(absent: frozenset[str]) -> Iterator[tuple[Words, ...]]:
    for path, summary in _MACHINES.items():
        if path not in absent:
            yield Link(f"`{path}`", path), summary


def _badge(base_url: str, name: str) -> str:
    title = html.escape(f"Customer reviews of {name}")
    return f'<a href="{base_url}/"><img src="{base_url}{urls.BADGE}" alt="{title}"></a>'


def _frame(base_url: str, name: str) -> str:
    title = html.escape(f"Customer reviews of {name}")
    return (
        f'<iframe src="{base_url}{urls.EMBED}" title="{title}" width="100%" height="480" '
        'loading="lazy"></iframe>'
    )
