"""A connection of psycopg with a limit to the wait for each response.

A server, or a proxy in front of it, may stop responding while its TCP stack still acknowledges. Then neither
keepalives nor ``tcp_user_timeout`` end the wait, and the server's own time-outs never run.
"""

from collections.abc import Generator
from time import monotonic
from typing import Any, TypeVar

import psycopg

ANSWER_SECONDS = 5.0
"""Longest time without a byte from the server; longer than its ``lock_timeout``, which it reports itself."""

T = TypeVar("T")


class SilentError(psycopg.OperationalError):
    """The server has not responded, and the connection is closed."""


class TimedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that closes itself when the server does not respond."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401  passed on
        """Run a generator of psycopg that waits for the server.

        Raises:
            SilentError: The server does not respond.
        """
        try:
            return super().wait(_timed(gen), *args, **kwargs)
        except SilentError:
            self.close()
            raise


def _timed(gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
    """Pass on the events; psycopg resumes the generator without an event ten times a second."""
    try:
        event = next(gen)
        until = monotonic() + ANSWER_SECONDS
        while True:
            ready = yield event
            if ready:
                until = monotonic() + ANSWER_SECONDS
            elif monotonic() > until:
                raise SilentError(f"the server has not answered for {ANSWER_SECONDS:g} s")
            event = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result
