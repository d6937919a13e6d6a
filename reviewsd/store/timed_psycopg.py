"""psycopg whose connections do not wait for ever: what ``adbapi`` is to use in its place.

A server, or a proxy in front of it, may stop to answer while its TCP goes on acknowledging: then neither
keepalives nor ``tcp_user_timeout`` end the wait, and the server's own time-outs never run. So the wait
for each answer has an end here, after which the connection is closed.
"""

from collections.abc import Generator
from time import monotonic
from typing import Any, TypeVar

import psycopg

ANSWER_SECONDS = 5.0
"""Without a byte from the server. Longer than ``lock_timeout``, which the server tells itself."""

apilevel, threadsafety = psycopg.apilevel, psycopg.threadsafety  # adbapi looks at them

T = TypeVar("T")


class SilentError(psycopg.OperationalError):
    """The server has not answered, and the connection is closed."""


class TimedConnection(psycopg.Connection[tuple[Any, ...]]):
    """Waits for so long and no longer."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401  passed on
        """Let psycopg do what waits for the server.

        Raises:
            SilentError: The server does not answer.
        """
        try:
            return super().wait(_timed(gen), *args, **kwargs)
        except SilentError:
            self.close()
            raise


def _timed(gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
    """Pass on what is waited for; psycopg comes back without it ten times a second."""
    try:
        wanted = next(gen)
        until = monotonic() + ANSWER_SECONDS
        while True:
            ready = yield wanted
            if ready:
                until = monotonic() + ANSWER_SECONDS
            elif monotonic() > until:
                raise SilentError(f"the server has not answered for {ANSWER_SECONDS:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


connect = TimedConnection.connect
