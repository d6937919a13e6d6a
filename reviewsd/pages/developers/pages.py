"""All pages of the documentation, in the order in which they link to each other."""

from dataclasses import dataclass

from reviewsd.pages.developers import (
    api,
    authentication,
    data_model,
    errors,
    mcp,
    openapi,
    overview,
    webhooks,
)
from reviewsd.pages.developers.blocks import DeveloperPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Interfaces:
    """What is documented."""

    openapi: bytes
    """The OpenAPI document."""
    tools: bytes
    """The result of ``tools/list``."""
    revisions: tuple[str, ...]
    """Of MCP, that are served."""


def pages(
    interfaces: Interfaces, base_url: str, name: str, absent: frozenset[str] = frozenset()
) -> tuple[DeveloperPage, ...]:
    """The pages, the overview first.

    Args:
        interfaces: What is documented.
        base_url: Origin of all addresses.
        name: Of the business.
        absent: Paths of documents that there are not.
    """
    description = openapi.read_description(interfaces.openapi)
    tools = openapi.read_tools(interfaces.tools)
    others = (
        api.page(description, base_url),
        *data_model.pages(description),
        errors.page(description, base_url),
        authentication.page(base_url),
        webhooks.page(description, base_url),
        mcp.page(description, tools, interfaces.revisions, base_url, absent),
        mcp.tools_page(tools),
    )
    return overview.page(description, base_url, name, others, absent), *others
