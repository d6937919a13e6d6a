"""Places of attempts: so many may be busy at the same time, and many more idle (H8).

An attempt is busy while it is new, while there is something to do for it, and while the callback takes
what it is sent. One that waits for DNS, a connection or an answer needs neither CPU nor bandwidth: it
leaves its place to another, so that callbacks that hang do not stop those that answer.

There are places for all attempts of one kind together, and fewer for those at one address network.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from twisted.internet.interfaces import IDelayedCall, IReactorTime

from reviewsd.websub.outbound.outcomes import Trail

LOOK_SECONDS = 0.15
"""Between two looks at who is idle."""

NEW_SECONDS = 0.1
"""As long as an attempt is new; less than that, since those of one look begin together."""

IDLE = 16
"""Idle attempts for each place, at most."""

T = TypeVar("T", bound=Hashable)


class Places(Generic[T]):
    """The attempts under way.

    Args:
        clock: For the looks.
        count: How many places there are.
        is_busy: Whether there is something to do for an attempt that is not new any more.
        idle: Told of each attempt that is found to be idle.
        freed: Called after that.
    """

    def __init__(
        self,
        clock: IReactorTime,
        count: int,
        is_busy: Callable[[T], bool],
        idle: Callable[[T], None],
        freed: Callable[[], None],
    ) -> None:
        self.count = count
        self._clock = clock
        self._is_busy = is_busy
        self._idle = idle
        self._freed = freed
        self._since: dict[T, float] = {}
        self._idlers: set[T] = set()
        self._look: IDelayedCall | None = None

    @property
    def underway(self) -> int:
        """Attempts, busy and idle."""
        return len(self._since)

    @property
    def idle(self) -> int:
        """Of these, the idle ones."""
        return len(self._idlers)

    @property
    def free(self) -> bool:
        """Whether an attempt may begin."""
        busy = len(self._since) - len(self._idlers)
        return busy < self.count and len(self._since) < (1 + IDLE) * self.count

    def enter(self, attempt: T) -> None:
        """Give an attempt that begins its place."""
        self._since[attempt] = self._clock.seconds()
        if self._look is None:
            self._look = self._clock.callLater(LOOK_SECONDS, self._look_around)

    def leave(self, attempt: T) -> None:
        """Free the place of an attempt that has ended."""
        del self._since[attempt]
        self._idlers.discard(attempt)

    def stop(self) -> None:
        """Look no more."""
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _look_around(self) -> None:
        newest = self._clock.seconds() - NEW_SECONDS
        busy = {
            attempt
            for attempt, since in self._since.items()
            if since > newest or self._is_busy(attempt)
        }
        found = self._since.keys() - busy - self._idlers
        self._idlers = self._since.keys() - busy
        self._look = self._clock.callLater(LOOK_SECONDS, self._look_around) if busy else None
        for attempt in found:
            self._idle(attempt)
        if found:
            self._freed()


class NetworkPlaces:
    """As many places for each address network (H2, H8).

    Attributes:
        freed: Called after a place has become free because its attempt is idle.

    Args:
        clock: For the looks.
        count: How many places a network has.
    """

    def __init__(self, clock: IReactorTime, count: int) -> None:
        self.freed: Callable[[], None] = lambda: None
        self._clock = clock
        self._count = count
        self._networks: dict[str, Places[Trail]] = {}

    def full(self, network: str) -> bool:
        """Whether no attempt may begin there."""
        places = self._networks.get(network)
        return places is not None and not places.free

    def enter(self, network: str, trail: Trail) -> bool:
        """Begin an attempt there if there is a place; who did must leave."""
        if self.full(network):
            return False
        if network not in self._networks:
            self._networks[network] = Places(
                self._clock,
                self._count,
                is_busy=lambda trail: trail.keeps_place or trail.is_busy(),
                idle=lambda _: None,
                freed=self.freed,
            )
        self._networks[network].enter(trail)
        return True

    def leave(self, network: str, trail: Trail) -> None:
        """The attempt has ended.

        Raises:
            KeyError: It is not there.
        """
        places = self._networks[network]
        places.leave(trail)
        if not places.underway:
            places.stop()
            del self._networks[network]
