"""What strangers do to the service, told in one line a minute (O8).

Whoever sends rubbish could fill the log, were each refusal a line of its own: the digest says how many
of each kind there were, however many those are. The same goes for sessions that agents end, since
anybody may begin and end any number.
"""

from collections.abc import Awaitable, Callable, Mapping

from twisted.logger import Logger

from reviewsd.runtime.counters import Counts

SECONDS = 60.0
"""Between two lines."""

SESSIONS_ENDED = "mcp_sessions_ended_total"

_PHRASES = {
    "rejected_total": "connections refused, or what came over them",
    "callback_refused_total": "callbacks refused",
    "ratelimited_total": "requests refused by a limit",
    SESSIONS_ENDED: "MCP sessions ended",
}


class RejectionSummary:
    """Compares what was counted with what is told already.

    Args:
        counts: What all processes count.
    """

    _log = Logger()

    def __init__(self, counts: Callable[[], Awaitable[Counts]]) -> None:
        self._counts = counts
        self._logged: Counts = {}

    async def tell(self) -> None:
        """Tell what there was since the last time, if there was anything."""
        counts = await self._counts()
        new = {key: int(number - self._logged.get(key, 0)) for key, number in counts.items()}
        self._logged = counts
        said = [phrase for name, what in _PHRASES.items() if (phrase := _phrase(name, what, new))]
        if said:
            self._log.info("in the last minute: {said}", said="; ".join(said))


def _phrase(name: str, what: str, new: Mapping[str, int]) -> str:
    """``callbacks refused: 3 not-https, 1 ip-literal``; empty where there was nothing."""
    found = []
    for key, number in sorted(new.items()):
        counted, _, label = key.partition(" ")
        if counted == name and number > 0:
            found.append(f"{number:,} {label}".rstrip())
    return f"{what}: {', '.join(found)}" if found else ""
