"""The properties of a route that the server needs, beside the method that answers it."""

from dataclasses import dataclass
from enum import Enum


class BodyRule(Enum):
    """The body that a route takes."""

    IGNORED = "skipped, so that a POST to a read is answered with 405"
    FORM = "a form of the hub"
    JSON = "a JSON-RPC message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One address of the public site."""

    path: str
    """The address as OpenAPI and the metrics have it: ``{date}`` stands for one segment."""
    methods: tuple[str, ...] | None = ("GET",)
    """The methods that are answered, HEAD and OPTIONS aside; None if the answering method decides."""
    body: BodyRule = BodyRule.IGNORED
    any_host: bool = False
    """Whether the route is answered under any host name: probes know none, and MCP has its own error."""
    cost: int = 1
    """Documents that a request counts as in ``server.read_limit``; 0 if it is not limited here (S14)."""
    page: bool = False
    """Whether it is a page for people or a document for crawlers and agents, not a part of the API."""
