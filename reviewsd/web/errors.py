"""The response to each error of a route."""

from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reviewsd.domain.parameters import InvalidParametersError
from reviewsd.http1 import problems
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.runtime.turns import QueueFullError
from reviewsd.snapshot.snapshots import SnapshotError
from reviewsd.web.budgets import MemoryFullError

RETRY_SOON = (b"Retry-After", b"5")
"""The header field of a refusal that depends only on the load of the moment."""

_log = Logger()


def error_response(responses: Responses, request: Request, failure: Failure) -> Response:
    """Return the response to an error of a route; a bug is logged."""
    match failure.value:
        case InvalidParametersError(issues=issues):
            return responses.invalid(request, issues)
        case MethodNotAllowed(valid_methods=methods):
            allowed = sorted({*(methods or ()), "OPTIONS"})
            if request.method == b"OPTIONS":
                return responses.options(allowed)
            allow = (b"Allow", ", ".join(allowed).encode())
            return responses.problem(request, problems.NOT_ALLOWED, (allow,))
        case HTTPException():
            return responses.problem(request, problems.NOT_FOUND)
        case QueueFullError():
            return responses.problem(request, problems.TOO_MANY_REQUESTS, (RETRY_SOON,))
        case MemoryFullError():
            return responses.problem(request, problems.BUSY, (RETRY_SOON,))
        case SnapshotError():
            return responses.problem(request, problems.UNAVAILABLE, (RETRY_SOON,))
    _log.failure("answering {path} failed", failure, path=request.path)
    return responses.problem(request, problems.INTERNAL)
