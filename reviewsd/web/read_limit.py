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
from reviewsd.http1.routes import route_of
from reviewsd.server.server import Respond
from reviewsd.web.clients import ClientNetworks
from reviewsd.websub.rate_limits import TokenBuckets

COSTLY: Final = 5
"""What a search, an older page of a feed or a message of MCP costs; S14."""

LABEL: Final = "reads"
"""Of the limit in ``ratelimited_total``."""

_FREE: Final = frozenset(("hub", "health", "ready"))
_COMPUTED: Final = frozenset(("search", "json_page", "atom_page"))
_OWN: Final = "mcp"  # counts itself, since what it costs is in the body


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

    def fields(self, request: Request) -> bytes:
        """What is left to the client, as draft-ietf-httpapi-ratelimit-headers-10 has it."""
        left, full_in = self._buckets.available(self._networks.of(request), self._now())
        return f'{self._policy}RateLimit: "default";r={floor(left)};t={ceil(full_in)}\r\n'.encode()


class LimitedReads:
    """Answers, or says that it was asked too often.

    Args:
        respond: Answers what it is asked.
        limit: Counts.
        responses: What answers are made of.
    """

    def __init__(self, respond: Respond, limit: ReadLimit, responses: Responses) -> None:
        self._respond = respond
        self._limit = limit
        self._responses = responses

    def respond(self, request: Request) -> Response | Deferred[Response]:
        """Answer a request, if its network may ask."""
        route = route_of(request.path)
        kind = "" if route is None else route.answerer
        if kind in _FREE:
            return self._respond(request)
        if kind != _OWN:
            wait = self._limit.wait(request, COSTLY if kind in _COMPUTED else 1)
            if wait > 0:
                retry = ((b"Retry-After", b"%d" % ceil(wait)),)
                refused = self._responses.problem(request, problems.TOO_MANY_READS, retry)
                return self._counted(refused, request)
        answer = self._respond(request)
        if isinstance(answer, Deferred):
            return answer.addCallback(self._counted, request)
        return self._counted(answer, request)

    def _counted(self, answer: Response, request: Request) -> Response:
        """An answer that says what is left.

        What is held is not remembered by its connection (decision 46), so the next request is counted.
        """
        block = answer.block + self._limit.fields(request)
        return replace(answer, block=block, reserve=answer.reserve or _nothing_reserved)


def _nothing_reserved() -> Callable[[], None]:
    return _release


def _release() -> None:
    pass
