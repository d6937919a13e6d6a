"""Logs rejected connections and requests, one line a minute (O8).

A line for each rejection would let a client fill the log. Ended MCP sessions are counted here as well,
because any client may start and end any number of them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable

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
        self._logged: Counter[str] = Counter()

    async def log(self) -> None:
        """Log one line, e.g. ``callbacks refused: 3 not-https, 1 ip-literal``, if a counter has moved."""
        counts = Counter(self._read_counters())
        increments: defaultdict[str, list[str]] = defaultdict(list)
        for key, increment in sorted((counts - self._logged).items()):
            name, _, label = key.partition(" ")
            increments[name].append(f"{increment:,.0f} {label}".rstrip())
        self._logged = counts
        summary = "; ".join(
            f"{phrase}: {', '.join(increments[name])}"
            for name, phrase in _PHRASES.items()
            if name in increments
        )
        if summary:
            self._log.info("in the last minute: {summary}", summary=summary)
