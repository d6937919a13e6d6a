"""What computed answers may cost, shared fairly among clients."""

from collections.abc import Generator
from functools import partial
from typing import TypeVar

from twisted.internet.defer import Deferred

from reviewsd.web.asked import Asked
from reviewsd.web.clients import ClientNetworks
from reviewsd.web.cooperative import CooperativeScheduler

T = TypeVar("T")


class Workload:
    """Computes answers.

    Args:
        scheduler: Shares the time.
        networks: Tells for whom a request is.
    """

    def __init__(self, scheduler: CooperativeScheduler, networks: ClientNetworks) -> None:
        self._scheduler = scheduler
        self.networks = networks

    def run(self, asked: Asked, steps: Generator[None, None, T]) -> T | Deferred[T]:
        """Do the work for a request.

        Raises:
            QueueFullError: The client has too much waiting already.
            Exception: What the work raised.
        """
        return self._scheduler.run(steps, partial(self.networks.of, asked))

    def counts(self) -> dict[str, float]:
        """What waits (O9)."""
        return {"computations_waiting": self._scheduler.waiting}
