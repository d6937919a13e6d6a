"""Logs rejected connections and requests, one line a minute (O8).

A line for each rejection would let a client fill the log. Ended MCP sessions are counted here as well,
because any client may start and end any number of them.
"""

from collections.abc import Callable, Mapping

from twisted.logger import Logger

from reviewsd.runtime.counters import Counts

LOG_INTERVAL = 60.0  # seconds

_PHRASES = {
    "rejected_total": "connections or requests rejected",
    "callback_refused_total": "callbacks refused",
    "ratelimited_total": "requests over a rate limit",
    "mcp_sessions_ended_total": "MCP sessions ended",
}


class RejectionSummary:
    """Logs how far the counters have moved since the last line.

    Args:
        read_counters: Returns the counters of this process.
    """

    _log = Logger()

    def __init__(self, read_counters: Callable[[], Counts]) -> None:
        self._read_counters = read_counters
        self._logged: Counts = {}

    async def log(self) -> None:
        """Log one line if any counter has moved."""
        counts = self._read_counters()
        increments = {key: int(count - self._logged.get(key, 0)) for key, count in counts.items()}
        self._logged = counts
        phrases = filter(None, (_phrase(name, text, increments) for name, text in _PHRASES.items()))
        if summary := "; ".join(phrases):
            self._log.info("in the last minute: {summary}", summary=summary)


def _phrase(counter: str, text: str, increments: Mapping[str, int]) -> str:
    """Return e.g. ``callbacks refused: 3 not-https, 1 ip-literal``, or "" without increments."""
    labels = []
    for key, count in sorted(increments.items()):
        name, _, label = key.partition(" ")
        if name == counter and count > 0:
            labels.append(f"{count:,} {label}".rstrip())
    return f"{text}: {', '.join(labels)}" if labels else ""
