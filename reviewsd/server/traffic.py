"""Counts the answers of the public site: by route, method and status, and how long each took (O9).

Each answer is counted on the way out, so this is made for little cost: one look-up and two additions,
in what the request itself has brought. Only what is known gets a number of its own, so no stranger can
make new ones by asking for what is not there.
"""

from collections import Counter
from collections.abc import Callable
from time import perf_counter

from reviewsd.http1.problems import Problem
from reviewsd.http1.request import METHODS, Request
from reviewsd.http1.routes import Route
from reviewsd.runtime.counters import QUICK, Durations, key, merged

OTHER = "other"
"""What is no known route, or no known method."""


class Traffic:
    """The answers of a process.

    Args:
        find: Returns the route of a path.
    """

    def __init__(self, find: Callable[[bytes], Route | None]) -> None:
        self._find = find
        self._answers: dict[tuple[bytes, bytes, int], Durations] = {}
        self._refused = Counter[str]()

    def answered(self, request: Request, status: int, began: float) -> None:
        """A request was answered.

        Args:
            request: The request.
            status: Of the answer.
            began: When the request was whole, by ``time.perf_counter``.
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
        """What came was refused before it was a request."""
        self._refused[problem.kind] += 1

    def _row(self, request: Request, status: int) -> Durations:
        """Where an answer is counted that is the first of its kind, or of no known path."""
        route = self._find(request.path)
        path = b"" if route is None else route.path.encode()
        row = (path, request.method if request.method in METHODS else b"", status)
        return self._answers.setdefault(row, Durations())

    def counts(self) -> dict[str, float]:
        """Of answers and of refusals."""
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
