"""The fast lane: a table from path to what answers it, before Klein (``server.fast_lane``).

It is an index over Klein's hottest rows and nothing more: the same methods answer, and whatever is
not exactly in it, by method or spelling, takes the long way. ``tests/web/test_lanes.py`` holds the
two together, byte for byte.
"""

from collections.abc import Callable
from functools import partial

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from reviewsd.http1 import urls as paths
from reviewsd.http1.request import Asked
from reviewsd.web.mcp import McpRoute
from reviewsd.web.reads import Answer, Reads
from reviewsd.http1.responses import Reply

Lane = Callable[[Asked], Answer | None]
"""Answers what it knows; None: let Klein find the route."""

_SINCE = paths.SINCE.encode()
_DATE_LENGTH = len("2025-01-31")


def fast_lane(reads: Reads, mcp: McpRoute | None = None) -> Lane:
    """The lane for a site.

    Args:
        reads: Answers reads.
        mcp: Answers MCP, where it is served.
    """
    table: dict[bytes, Callable[[Asked], Answer]] = {
        path.encode(): partial(_document, reads, path)
        for path in (
            paths.REVIEWS,
            paths.INSIGHTS,
            paths.JSON_FEED,
            paths.ATOM_FEED,
            paths.OPENAPI,
        )
    }
    table[paths.SEARCH.encode()] = reads.search
    table[paths.HEALTH.encode()] = lambda _: reads.health()

    def lane(asked: Asked) -> Answer | None:
        method, path = asked.method, asked.path
        if method == b"GET" or method == b"HEAD":  # noqa: PLR1714  twice as fast as a set
            route = table.get(path)
            if route is None:
                if not path.startswith(_SINCE) or b"%" in path:
                    return None
                date = path[len(_SINCE) :]
                if len(date) != _DATE_LENGTH or b"/" in date:
                    return None
                route = partial(_since, reads, date.decode())
        elif path == _MCP and mcp is not None and method == b"POST":
            route = mcp.answer
        else:
            return None
        try:
            answer = route(asked)
        except Exception:  # noqa: BLE001 - logged with its traceback, where it is no refusal
            return reads.failed(asked, Failure())
        if isinstance(answer, Deferred):
            answer.addErrback(_failed, reads, asked)
        return answer

    return lane


_MCP = paths.MCP.encode()


def _document(reads: Reads, path: str, asked: Asked) -> Reply:
    return reads.document(asked, path)


def _since(reads: Reads, date: str, asked: Asked) -> Reply:
    return reads.since(asked, date)


def _failed(failure: Failure, reads: Reads, asked: Asked) -> Reply:
    if failure.check(CancelledError):  # the client has left
        failure.raiseException()
    return reads.failed(asked, failure)
