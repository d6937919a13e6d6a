"""Budgets that clients share: the time of the reactor, and the memory of responses (S5, S14).

Documents, MCP resources and the records of a search are views of mapped files, so a slow reader of them holds
no memory. Other responses are memory of this process until their client has read them. So large ones are counted, in
all and for each client network (S6). At the limit a further one is refused with 503.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from functools import partial
from ipaddress import IPv4Network, IPv6Network
from math import ceil, floor
from mmap import mmap
from typing import Final, NamedTuple, TypeVar

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from reviewsd.domain.addresses import client_network
from reviewsd.domain.clients import client_address, is_trusted
from reviewsd.http1.representation import Buffer
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.runtime.counters import key
from reviewsd.runtime.turns import CooperativeScheduler
from reviewsd.websub.rate_limits import TokenBuckets

COSTLY: Final = 5  # documents that a search, a message of MCP or an older page of a feed counts as
BURST: Final = 100  # documents that a client network may read at once (S14)

TOTAL: Final = 134_217_728  # bytes that all clients may hold: 128 MiB
SHARE: Final = 4  # one client network may hold this fraction of the total
SMALL: Final = 16_384  # bytes of a response that is always sent: it fits into the kernel's buffers
BATCH: Final = 4_194_304  # bytes of the responses to one batch of MCP: 50 searches without a limit
PART: Final = 256  # bytes that a part of a body takes beside its content

RETRY_SOON: Final = (b"Retry-After", b"5")  # where a refusal depends on the load alone

T = TypeVar("T")


class ClientNetworks:
    """Finds the client network of a request, behind ``server.trusted_proxies``."""

    _log = Logger()

    def __init__(self, trusted: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        self._trusted = trusted
        self._warned = False

    def of(self, request: Request) -> str:
        """Return an IPv4 /32 or IPv6 /64; ``clients.LOCAL`` for a UNIX socket without X-Forwarded-For."""
        host = request.client
        forwarded = request.lines(b"x-forwarded-for")
        if forwarded and not self._warned and not is_trusted(host, self._trusted):
            self._warned = True  # once: any client can send it
            self._log.warn(
                "X-Forwarded-For from {host} is ignored; server.trusted_proxies can name a proxy",
                host=host,
            )
        lines = [line.decode("latin-1") for line in forwarded]
        return client_network(client_address(host, lines, self._trusted))


class TimeBudget:
    """Shares the time of the reactor among client networks, and limits how often one may read.

    Args:
        scheduler: Runs work in steps.
        networks: Finds the client network of a request.
        now: Monotonic seconds.
        per_second: Documents a second that a network may read (``server.read_limit``); 0 for no limit.
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
        self._scheduler, self._now, self._burst = scheduler, now, burst
        self._refusals = 0
        period = burst / per_second if per_second else 1.0
        self._buckets = TokenBuckets(burst, period)
        self._policy = (
            f'RateLimit-Policy: "default";q={burst};w={max(1, round(period))}\r\n'
            "Access-Control-Expose-Headers: RateLimit, RateLimit-Policy\r\n"
        )

    def run(self, request: Request, steps: Generator[None, None, T]) -> T | Deferred[T]:
        """Do the work for a request (``CooperativeScheduler.run``)."""
        return self._scheduler.run(steps, partial(self.networks.of, request))

    def charge(self, request: Request, cost: int) -> float:
        """Take the cost of a request, or return the seconds until its network may read again."""
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
    """Counts the memory of responses that their clients have not taken yet."""

    def __init__(self, networks: ClientNetworks, total: int = TOTAL) -> None:
        self.in_use = 0  # bytes that all clients hold now
        self._networks, self._total, self._share = networks, total, total // SHARE
        self._per_network = Counter[str]()

    def is_full(self, request: Request) -> bool:
        """Return whether the client of a request may hold no more."""
        if self._share <= self.in_use < self._total:
            return self._per_network[self._networks.of(request)] >= self._share
        return self.in_use >= self._total

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
            reservation = Reservation(self, request)
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
    """The memory that the response to one request holds."""

    def __init__(self, budget: MemoryBudget, request: Request) -> None:
        self._budget, self._request, self._size = budget, request, 0

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
    own = [len(part) for part in parts if not (type(part) is memoryview and type(part.obj) is mmap)]
    return PART * len(parts) + sum(own)
