"""The one shape of errors: RFC 9457 members, and ``issues`` on validation errors (contract 2).

Every status the service answers with is described here, so an error never has a text of its own
making and never repeats what a client sent, but for the values in ``issues``.
"""

from collections.abc import Sequence
from http import HTTPStatus

import msgspec

from reviewsd.domain.parameters import Issue
from reviewsd.formats import paths

_KINDS = {
    400: "bad-request",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    412: "precondition-failed",
    413: "content-too-large",
    414: "uri-too-long",
    421: "misdirected-request",
    429: "too-many-requests",
    431: "header-fields-too-large",
    500: "internal",
    501: "not-implemented",
    503: "unavailable",
}
"""The fragment of ``type`` for each status; clients may switch on it."""

INVALID_QUERY = "invalid-query"

KNOWN_PATHS = ", ".join(
    (
        paths.REVIEWS,
        paths.INSIGHTS,
        paths.JSON_FEED,
        paths.ATOM_FEED,
        paths.SEARCH,
        f"{paths.SINCE}{{date}}",
        paths.OPENAPI,
    )
)


def render(
    base_url: str, status: int, detail: str, issues: Sequence[Issue] = (), kind: str | None = None
) -> bytes:
    """A problem as JSON.

    Args:
        base_url: Origin under which the errors are documented.
        status: The HTTP status.
        detail: What happened, for the person who reads it.
        issues: What is wrong with the parameters, for 400.
        kind: The fragment of ``type`` where it is not the usual one of the status.
    """
    problem: dict[str, object] = {
        "type": f"{base_url}/developers/errors#{kind or _KINDS[status]}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if issues:
        problem["issues"] = [issue.as_json() for issue in issues]
    return msgspec.json.encode(problem)


def invalid_query(base_url: str, issues: Sequence[Issue]) -> bytes:
    """The 400 that names everything wrong with the parameters."""
    count = "1 parameter is" if len(issues) == 1 else f"{len(issues)} parameters are"
    return render(base_url, 400, f"{count} invalid.", issues, INVALID_QUERY)
