"""How often one client network may read (S14): off unless ``server.read_limit`` is set.

A search, an older page of a feed and every message of MCP cost five times as much as a document. The hub has limits of its
own; health is never limited.
"""

from collections.abc import Callable
from math import ceil, floor
from typing import Final

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from reviewsd.http1 import problems
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.server.site import Routes
from reviewsd.web.clients import ClientNetworks
from reviewsd.websub.rate_limits import TokenBuckets

COSTLY: Final = 5
"""What a search, an older page of a feed or a message of MCP costs; S14."""

LABEL: Final = "reads"
"""Of the limit in ``ratelimited_total``."""


class ReadLimit:
    """Counts what client networks ask.

    Args:
        per_second: What a network gains, in documents.
        burst: What it may have at most.
        networks: Tells for whom a request is.
        now: Monotonic seconds.
        count: Told of each refusal.
    """

    def __init__(
        self,
        per_second: float,
        burst: int,
        networks: ClientNetworks,
        now: Callable[[], float],
        count: Callable[[str, str], None],
    ) -> None:
        self._burst = burst
        self._buckets = TokenBuckets(burst, burst / per_second)
        self._networks = networks
        self._now = now
        self._count = count
        policy = f'"default";q={burst};w={max(1, round(burst / per_second))}'
        self._policy = (
            f"RateLimit-Policy: {policy}\r\n"
            "Access-Control-Expose-Headers: RateLimit, RateLimit-Policy\r\n"
        )

    def wait(self, request: Request, cost: int) -> float:
        """Count a request; 0.0, or the seconds until it may be asked, then it was not counted.

        What costs more than a network may have at all takes all of it.
        """
        network = self._networks.of(request)
        wait = self._buckets.take(network, self._now(), min(cost, self._burst))
        if wait > 0:
            self._count("ratelimited_total", LABEL)
        return wait

    def marked(self, response: Response, request: Request) -> Response:
        """Return a response with fields that say what is left (draft-ietf-httpapi-ratelimit-headers-10)."""
        left, full_in = self._buckets.left(self._networks.of(request), self._now())
        fields = f'{self._policy}RateLimit: "default";r={floor(left)};t={ceil(full_in)}\r\n'
        block = response.block + fields.encode()
        return replace(response, block=block)


class LimitedReads:
    """Routes whose requests are counted, and refused if there are too many.

    Args:
        routes: The routes.
        limit: Counts the requests.
        responses: Makes the refusals.
    """

    def __init__(self, routes: Routes, limit: ReadLimit, responses: Responses) -> None:
        self._routes = routes
        self._limit = limit
        self._responses = responses
        self.find = routes.find

    def respond(self, request: Request) -> Response | Deferred[Response]:
        """Answer a request if its client network may read."""
        route = self.find(request.path)
        cost = 1 if route is None else route.cost
        if cost == 0:
            return self._routes.respond(request)
        wait = self._limit.wait(request, cost)
        if wait > 0:
            retry = ((b"Retry-After", b"%d" % ceil(wait)),)
            refused = self._responses.problem(request, problems.TOO_MANY_READS, retry)
            return self._limit.marked(refused, request)
        answer = self._routes.respond(request)
        if isinstance(answer, Deferred):
            return answer.addCallback(self._limit.marked, request)
        return self._limit.marked(answer, request)
