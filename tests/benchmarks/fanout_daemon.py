"""Runs the daemon for ``fanout``, with a ticker that records when its reactor was away.

    python -m tests.benchmarks.fanout_daemon GAPS ARGUMENTS OF REVIEWSD

GAPS gets a line for each time that the ticker came late: when (``time.monotonic``), by how many
milliseconds, and how many of them this thread was at work itself: the others had its core then, or
Python's lock.
"""

import sys
import time
from pathlib import Path

from reviewsd.__main__ import main as reviewsd

TICK = 0.005  # seconds; finer ones would be felt
WORTH = 0.002  # seconds of lateness; less is not written down


class Ticker:
    """Notes when the reactor did nothing else for a while."""

    def __init__(self) -> None:
        self.late: list[tuple[float, float, float]] = []
        self._used = 0.0

    def start(self) -> None:
        """Tick as long as the reactor runs."""
        from twisted.internet import reactor  # noqa: PLC0415 - importing it installs it

        self._reactor = reactor
        reactor.callWhenRunning(self._tick, time.monotonic())

    def _tick(self, due: float) -> None:
        now, used = time.monotonic(), time.thread_time()
        if now - due > WORTH:
            busy = max(used - self._used - TICK, 0.0)
            self.late.append((now, 1e3 * (now - due), 1e3 * busy))
        self._used = used
        self._reactor.callLater(TICK, self._tick, now + TICK)


def main() -> None:
    """Run the daemon, and write down what was seen."""
    gaps = Path(sys.argv.pop(1))
    ticker = Ticker()
    ticker.start()
    try:
        reviewsd()
    finally:
        lines = (f"{at:.6f} {late:.3f} {busy:.3f}\n" for at, late, busy in ticker.late)
        gaps.write_text("".join(lines))


if __name__ == "__main__":
    main()
