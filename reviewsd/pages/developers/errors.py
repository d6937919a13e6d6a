"""The errors of HTTP by their kinds, to which the ``type`` of a problem leads (RFC 9457, contract 2)."""

from operator import attrgetter

from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem


def kinds() -> dict[str, list[Problem]]:
    """Return the problems that are sent as JSON, by kind, in the order of their statuses."""
    every = (value for value in vars(problems).values() if isinstance(value, Problem))
    by_kind: dict[str, list[Problem]] = {}
    for problem in sorted(every, key=attrgetter("status")):
        if not problem.plain:
            by_kind.setdefault(problem.kind, []).append(problem)
    return by_kind
