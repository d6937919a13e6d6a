"""Counts the responses of the public site by route, method and status, and their durations (O9).

Counting a response costs one look-up and two additions. Only known routes and methods are counted by name, so
that a client cannot make new rows.
"""

from collections import Counter
from collections.abc import Callable
from time import perf_counter

from reviewsd.http1.problems import Problem
from reviewsd.http1.request import METHODS, Request
from reviewsd.http1.routes import Route
from reviewsd.runtime.counters import QUICK, Durations, key, merged

OTHER = "other"
"""The label of all unknown routes, and of all unknown methods."""


class Traffic:
    """Counts the responses of a process.

    Args:
        find: Returns the route of a path.
    """

    def __init__(self, find: Callable[[bytes], Route | None]) -> None:
        self._find = find
        self._answers: dict[tuple[bytes, bytes, int], Durations] = {}
        self._refused = Counter[str]()

    def answered(self, request: Request, status: int, began: float) -> None:
        """Count the response to a request.

        Args:
            request: The request.
            status: Of the response.
            began: When the request was complete, by ``time.perf_counter``.
        """
        seconds = perf_counter() - began
        try:
            answers = self._answers[request.path, request.method, status]
        except KeyError:
            answers = self._row(request, status)
        answers.count += 1
        answers.seconds += seconds
        if seconds > QUICK:
            answers.slow(seconds)

    def refused(self, problem: Problem) -> None:
        """Count the refusal of bytes that are no request."""
        self._refused[problem.kind] += 1

    def _row(self, request: Request, status: int) -> Durations:
        """Return the row of a response whose path is new, or not that of a fixed route."""
        route = self._find(request.path)
        path = b"" if route is None else route.path.encode()
        row = (path, request.method if request.method in METHODS else b"", status)
        return self._answers.setdefault(row, Durations())

    def counts(self) -> dict[str, float]:
        """Return the counts of responses and refusals."""
        counts: dict[str, float] = {
            key("rejected_total", kind): number for kind, number in self._refused.items()
        }
        durations = []
        for (path, method, status), answers in self._answers.items():
            route = path.decode() or OTHER
            row = key("requests_total", route, method.decode() or OTHER, str(status))
            counts[row] = answers.count
            durations.append(answers.counts("request_duration_seconds", route))
        return merged(counts, *durations)
