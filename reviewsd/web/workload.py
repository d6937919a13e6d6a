"""What computed answers may cost, in time and in memory, shared fairly among clients."""

from collections.abc import Callable, Generator
from functools import partial
from typing import TypeVar

from twisted.internet.defer import Deferred

from reviewsd.http1.representation import Buffer
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.runtime.cooperative import CooperativeScheduler
from reviewsd.web.clients import ClientNetworks
from reviewsd.web.memory import SMALL, AnswerMemory, MemoryFullError, Room, own_size
from reviewsd.web.read_limit import ReadLimit

T = TypeVar("T")


class Workload:
    """Computes answers.

    Args:
        scheduler: Shares the time.
        memory: Counts what is held.
        networks: Tells for whom a request is.
        limit: How often one may ask, where there is such a limit.
    """

    def __init__(
        self,
        scheduler: CooperativeScheduler,
        memory: AnswerMemory,
        networks: ClientNetworks,
        limit: ReadLimit | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._memory = memory
        self.networks = networks
        self.limit = limit

    def run(self, request: Request, steps: Generator[None, None, T]) -> T | Deferred[T]:
        """Do the work for a request.

        Raises:
            QueueFullError: The client has too much waiting already.
            Exception: What the work raised.
        """
        return self._scheduler.run(steps, partial(self.networks.of, request))

    def room(self, request: Request) -> Room:
        """Where an answer grows that takes several steps."""
        return Room(self._memory, partial(self.networks.of, request))

    def admit(self, request: Request, response: Response) -> Response:
        """An answer that may be sent; a large one is counted while its client takes it.

        Raises:
            MemoryFullError: It is large, and too much is held already.
        """
        if own_size(response.body) <= SMALL:
            return response
        if self._memory.full(partial(self.networks.of, request)):
            raise MemoryFullError
        reserve = partial(self._reserve, request, response.body)
        return Response(response.status, response.block, response.body, reserve)

    def _reserve(self, request: Request, body: tuple[Buffer, ...]) -> Callable[[], None]:
        room = self.room(request)
        room.reserve(body)
        return room.release

    def counts(self) -> dict[str, float]:
        """What waits, and what is held (O9)."""
        return {
            "computations_waiting": self._scheduler.waiting,
            "answer_bytes_held": self._memory.in_use,
        }
