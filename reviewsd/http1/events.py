"""Server-sent events, which follow the body of a response (the HTML standard, 9.2)."""

from collections.abc import Callable
from typing import Protocol


class EventSource(Protocol):
    """The events of a response that goes on until one side ends it."""

    def open(self, wake: Callable[[], None]) -> None:
        """Begin; ``wake`` is called when there are events."""

    def take(self) -> bytes:
        """Return the events since the last call; empty if there are none."""

    def finish(self) -> bytes:
        """Return the last events, because the server ends the response."""

    def close(self) -> None:
        """Stop: the connection has ended."""
