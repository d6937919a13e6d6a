"""What answers each route, by the name that ``http1.routes`` gives it.

An answerer takes the request, and what stands in its address.
"""

from collections.abc import Callable, Mapping

from twisted.internet.defer import Deferred

from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.monitoring.readiness import Readiness
from reviewsd.web.feeds import FeedReads
from reviewsd.web.mcp import McpRoute
from reviewsd.web.pages import PageReads
from reviewsd.web.reads import Answer, Reads
from reviewsd.web.websub import HubRoute

Answerer = Callable[..., Answer]


def answerers(
    reads: Reads,
    hub: HubRoute | None = None,
    mcp: McpRoute | None = None,
    pages: PageReads | None = None,
    readiness: Readiness | None = None,
    feeds: FeedReads | None = None,
) -> Mapping[str, Answerer]:
    """The answerers of a process.

    Args:
        reads: Answers reads.
        hub: Answers at the hub's address.
        mcp: The same for MCP.
        pages: Answers pages that are made for a request.
        readiness: Whether the service should be sent clients, where everybody may know.
        feeds: Answers older pages of the feeds.
    """
    found: dict[str, Answerer] = {
        "document": reads.document,
        "search": reads.search,
        "since": reads.since,
        "review": reads.review,
        "health": lambda _: reads.health(),
    }
    if hub is not None:
        answer = hub.answer
        found["hub"] = lambda request: Deferred.fromCoroutine(answer(request))
    if mcp is not None:
        found["mcp"] = mcp.answer
    if pages is not None:
        found["reviews_page"] = pages.reviews
        found["review_page"] = pages.review
    if feeds is not None:
        found["json_page"] = feeds.json_page
        found["atom_page"] = feeds.atom_page
    if readiness is not None:
        state = readiness.answer

        def ready(_request: Request) -> Response:
            status, document = state()
            return reads.responses.no_store_json(document, status)

        found["ready"] = ready
    return found
