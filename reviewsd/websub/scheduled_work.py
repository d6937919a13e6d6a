"""What ``Scheduler`` needs of what it schedules: verifications, or deliveries."""

from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from reviewsd.store.intents import Due


class Claimed(Protocol):
    """What is claimed for an attempt."""

    @property
    def id(self) -> int:
        """The same as of what was due."""

    @property
    def host(self) -> str:
        """Of the callback."""


C = TypeVar("C", bound=Claimed)
R = TypeVar("R")


class Attempts(Protocol[C, R]):
    """What is attempted: where it comes from, what it is, and where its results go."""

    def keys(self, due: Due) -> Collection[str]:
        """What an attempt counts for: first the callback's host, then what it belongs to."""

    def keys_while_busy(self, due: Due) -> Collection[str]:
        """The same, until it is idle."""

    def room(self, key: str, due: Due) -> int:
        """How many attempts that count for this may be under way, so that this one may begin."""

    async def look(
        self, limit: int, without: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """What is due, and in how many seconds something else will be.

        Raises:
            StoreError: The store cannot say.
        """

    async def turn(self, results: Sequence[R], wanted: Sequence[Due]) -> Sequence[C]:
        """Write results, and claim what is wanted as far as it is still to be had.

        Raises:
            StoreError: Nothing was written.
        """

    async def attempt(self, claim: C) -> R:
        """Make one attempt."""

    def is_busy(self, claim: C) -> bool:
        """Whether there is something to do for it, or its callback is taking what it is sent."""

    def release(self, claim: C) -> R:
        """The result of a claim that was not attempted."""
