"""Counts the answers of the public site: by route, method and status, and how long each took (O9).

Each answer is counted on the way out, so this is made for little cost: one look-up and two additions,
in what the request itself has brought. Only what is known gets a number of its own, so no stranger can
make new ones by asking for what is not there.
"""

from collections import Counter
from collections.abc import Set as AbstractSet
from time import perf_counter
from typing import Final
from urllib.parse import unquote_to_bytes

from reviewsd.http1 import urls as paths
from reviewsd.http1.problems import Problem
from reviewsd.runtime.counters import QUICK, Durations, key, merged
from reviewsd.http1.request import Asked
from reviewsd.web.public import METHODS

OTHER = "other"
"""What is no known route, or no known method."""

_SINCE = paths.SINCE.encode()
_ROUTES: Final = {
    path.encode(): path
    for path in (
        paths.REVIEWS,
        paths.INSIGHTS,
        paths.JSON_FEED,
        paths.ATOM_FEED,
        paths.SEARCH,
        paths.OPENAPI,
        paths.HUB,
        paths.MCP,
        paths.HEALTH,
        paths.READY,
    )
}

ROUTES: AbstractSet[str] = frozenset((*_ROUTES.values(), f"{paths.SINCE}{{date}}", OTHER))
"""Everything that an answer may be counted under."""


class Traffic:
    """The answers of a process."""

    def __init__(self) -> None:
        self._answers: dict[tuple[bytes, bytes, int], Durations] = {}
        self._refused = Counter[str]()

    def answered(self, asked: Asked, status: int, began: float) -> None:
        """A request was answered.

        Args:
            asked: The request.
            status: Of the answer.
            began: When the request was whole, by ``time.perf_counter``.
        """
        seconds = perf_counter() - began
        try:
            answers = self._answers[asked.path, asked.method, status]
        except KeyError:
            answers = self._row(asked, status)
        answers.count += 1
        answers.seconds += seconds
        if seconds > QUICK:
            answers.slow(seconds)

    def refused(self, problem: Problem) -> None:
        """What came was refused before it was a request."""
        self._refused[problem.kind] += 1

    def _row(self, asked: Asked, status: int) -> Durations:
        """Where an answer is counted that is the first of its kind, or of no known path."""
        path, method = asked.path, asked.method
        if path not in _ROUTES:
            path = unquote_to_bytes(path)
            if path.startswith(_SINCE):
                path = _SINCE
            elif path not in _ROUTES:
                path = b""
        row = (path, method if method in METHODS else b"", status)
        return self._answers.setdefault(row, Durations())

    def counts(self) -> dict[str, float]:
        """Of answers and of refusals."""
        counts: dict[str, float] = {
            key("rejected_total", kind): number for kind, number in self._refused.items()
        }
        durations = []
        for (path, method, status), answers in self._answers.items():
            route = _route(path)
            row = key("requests_total", route, method.decode() or OTHER, str(status))
            counts[row] = answers.count
            durations.append(answers.counts("request_duration_seconds", route))
        return merged(counts, *durations)


def _route(path: bytes) -> str:
    return f"{paths.SINCE}{{date}}" if path == _SINCE else _ROUTES.get(path, OTHER)
