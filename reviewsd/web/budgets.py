"""Budgets that clients share: the time of the reactor, and the memory of responses (S5, S14).

Documents, MCP resources and the records of a search are views of mapped files, so a slow reader of them holds
no memory. The response of an MCP tool is memory of this process until its client has read it. So such responses are
counted, in all and for each client network. At the limit a further large one is refused with 503.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from functools import partial
from math import ceil, floor
from mmap import mmap
from typing import Final, NamedTuple, TypeVar

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from reviewsd.http1.representation import Buffer
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.runtime.counters import key
from reviewsd.runtime.turns import CooperativeScheduler
from reviewsd.web.clients import ClientNetworks
from reviewsd.websub.rate_limits import TokenBuckets

COSTLY: Final = 5
"""Cost of a search, an older page of a feed or a message of MCP, in documents (S14)."""

BURST: Final = 100
"""Documents that a client network may read at once (S14)."""

TOTAL: Final = 134_217_728
"""Bytes that all clients may hold: 128 MiB."""

SHARE: Final = 4
"""One client network may hold this fraction of the total."""

SMALL: Final = 16_384
"""Bytes of a response that is always sent: it fits into the buffers of the kernel."""

BATCH: Final = 4_194_304
"""Bytes of the responses to one batch of MCP, 4 MiB: 50 searches without a limit of their own."""

PART: Final = 256
"""Bytes that a part of a body takes beside its content; a batch may have 300 parts."""

T = TypeVar("T")


class TimeBudget:
    """Shares the time of the reactor among client networks, and limits how often one may read.

    Args:
        scheduler: Runs work in steps.
        networks: Finds the client network of a request.
        now: Monotonic seconds.
        per_second: Documents a second that a network may read; 0 for no limit (``server.read_limit.per_second``).
        burst: Documents that it may read at once.
    """

    def __init__(
        self,
        scheduler: CooperativeScheduler,
        networks: ClientNetworks,
        now: Callable[[], float],
        per_second: float = 0.0,
        burst: int = BURST,
    ) -> None:
        self.networks = networks
        self.is_limited = per_second > 0
        """Whether a network may read only so often."""
        self._scheduler = scheduler
        self._now = now
        self._burst = burst
        self._refusals = 0
        period = burst / per_second if per_second else 1.0
        self._buckets = TokenBuckets(burst, period)
        self._policy = (
            f'RateLimit-Policy: "default";q={burst};w={max(1, round(period))}\r\n'
            "Access-Control-Expose-Headers: RateLimit, RateLimit-Policy\r\n"
        )

    def run(self, request: Request, steps: Generator[None, None, T]) -> T | Deferred[T]:
        """Do the work for a request.

        Raises:
            QueueFullError: The client has too much work waiting.
            Exception: The work raised it.
        """
        return self._scheduler.run(steps, partial(self.networks.of, request))

    def charge(self, request: Request, cost: int) -> float:
        """Take the cost of a request, at most the whole burst.

        Returns:
            0.0; or the seconds until the network may read again, and nothing is taken.
        """
        network = self.networks.of(request)
        wait = self._buckets.take(network, self._now(), min(cost, self._burst))
        self._refusals += wait > 0
        return wait

    def with_fields(self, response: Response, request: Request) -> Response:
        """Return a response with the RateLimit fields of its client (draft-ietf-httpapi-ratelimit-headers-10)."""
        tokens, full_in = self._buckets.available(self.networks.of(request), self._now())
        state = f'RateLimit: "default";r={floor(tokens)};t={ceil(full_in)}\r\n'
        return replace(response, block=response.block + (self._policy + state).encode())

    def counts(self) -> dict[str, float]:
        """Return the numbers of waiting computations and refused requests (O9)."""
        counts: dict[str, float] = {"computations_waiting": self._scheduler.waiting}
        if self._refusals:
            counts[key("ratelimited_total", "reads")] = self._refusals
        return counts


class MemoryFullError(Exception):
    """No further large response may begin, for this client or for any."""


class MemoryBudget:
    """Counts the memory of responses that their clients have not taken yet.

    Args:
        networks: Finds the client network of a request.
        total: Bytes that all clients may hold.
    """

    def __init__(self, networks: ClientNetworks, total: int = TOTAL) -> None:
        self.in_use = 0
        """Bytes that all clients hold now."""
        self._networks = networks
        self._total = total
        self._share = total // SHARE
        self._per_network = Counter[str]()

    def is_full(self, request: Request) -> bool:
        """Return whether the client of a request may hold no more."""
        if self.in_use < self._share:
            return False
        if self.in_use >= self._total:
            return True
        return self._per_network[self._networks.of(request)] >= self._share

    def reservation(self, request: Request) -> "Reservation":
        """Return the memory of a request, of which nothing is reserved yet."""
        return Reservation(self, request)

    def admit(self, request: Request, response: Response) -> Response:
        """Return the response; a large one is counted until its client has read it.

        Raises:
            MemoryFullError: It is large, and too much is held already.
        """
        if own_size(response.body) <= SMALL:
            return response
        if self.is_full(request):
            raise MemoryFullError

        def reserve() -> Callable[[], None]:
            reservation = self.reservation(request)
            reservation.reserve(response.body)
            return reservation.release

        return replace(response, reserve=reserve)

    def add(self, request: Request, size: int) -> None:
        """Count bytes for the client of a request; negative ones are given back."""
        network = self._networks.of(request)
        self.in_use += size
        self._per_network[network] += size
        if not self._per_network[network]:
            del self._per_network[network]

    def counts(self) -> dict[str, float]:
        """Return the bytes that are held (O9)."""
        return {"answer_bytes_held": self.in_use}


class Reservation:
    """The memory that the response to one request holds.

    Args:
        budget: The memory of all.
        request: The request.
    """

    def __init__(self, budget: MemoryBudget, request: Request) -> None:
        self._budget = budget
        self._request = request
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether the response should not grow, for its own size or for want of memory."""
        return self._size >= BATCH or self._budget.is_full(self._request)

    def reserve(self, parts: Sequence[Buffer]) -> None:
        """Hold the bytes of some parts, also beyond the limit."""
        if size := own_size(parts):
            self._budget.add(self._request, size)
            self._size += size

    def release(self) -> None:
        """Give all bytes back; a second call does nothing."""
        if self._size:
            self._budget.add(self._request, -self._size)
            self._size = 0


class Budgets(NamedTuple):
    """Both budgets of a process."""

    time: TimeBudget
    memory: MemoryBudget


def own_size(parts: Sequence[Buffer]) -> int:
    """Return the bytes of memory that a body takes; of a view of a mapped file only the view."""
    own = [len(part) for part in parts if type(part) is bytes or not _is_mapped(part)]
    return PART * len(parts) + sum(own)


def _is_mapped(part: Buffer) -> bool:
    return type(part) is memoryview and type(part.obj) is mmap
