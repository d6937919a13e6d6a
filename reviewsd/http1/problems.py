"""The errors of the service: RFC 9457 members, and ``issues`` on validation errors (contract 2).

Routes and the OpenAPI document use the same errors; what can be wrong inside a subscriber's form is in
``websub/requests.py``. An error repeats nothing that a client sent, except the values in ``issues``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from reviewsd.domain.issues import Issue
from reviewsd.http1 import urls


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of error."""

    status: int
    kind: str
    """Fragment of the problem type's address; clients may switch on it."""
    title: str
    """The reason phrase of RFC 9110, or a phrase of its own."""
    detail: str
    """A sentence for people, a line without a full stop if it is ``plain``: what is wrong, and what to do."""
    plain: bool = False
    """Whether it is sent as one line of plain text, as subscribers of the hub expect (S15)."""


HUB_MAX_BODY = 8192
"""Bytes of a request to the hub; even the longest callback, fully escaped, fits (H16, S2)."""

MCP_MAX_BODY = 65_536
"""Bytes of a request to MCP, which may carry the icons of the client (S2)."""

_MAIN_ADDRESSES = ", ".join(urls.MAIN)

NOT_HTTP = Problem(400, "bad-request", "Bad Request", "The request is not well-formed HTTP.")
UNESCAPED = replace(
    NOT_HTTP,
    detail=(
        "The target has a character that must be escaped: percent-encode spaces and non-ASCII"
        " characters, as UTF-8 (%20 for a space, %C3%B6 for \u00f6)."
    ),
)
NOT_A_PATH = replace(NOT_HTTP, detail="The target must be a path; this server is not a proxy.")
NO_PROXY_HEADER = replace(
    NOT_HTTP, detail="This listener expects the PROXY protocol (listen: haproxy:...)."
)
BAD_ESCAPE = replace(NOT_HTTP, detail="The path has a broken percent-escape, or is not UTF-8.")
INVALID_PARAMETERS = Problem(400, "invalid-query", "Invalid Parameters", "1 parameter is invalid.")
FORBIDDEN = Problem(
    403, "forbidden", "Forbidden", "This address does not answer web pages; call it from a program."
)
FOREIGN_HOST = replace(FORBIDDEN, detail='Send the header "Host: reviewsd" to the admin socket.')
NOT_FOUND = Problem(
    404,
    "not-found",
    "Not Found",
    f"There is nothing at this address. The main addresses: {_MAIN_ADDRESSES}.",
)
NO_REVIEW = Problem(
    404,
    "no-review",
    "No Such Review",
    "No review has this id. Use an id exactly as a search or a feed has it.",
)
REVIEW_REMOVED = Problem(
    410,
    "review-removed",
    "Review Removed",
    "The review with this id was removed, or is no longer shown. Delete what you have kept of it.",
)
NO_OPERATION = replace(NOT_FOUND, detail="This daemon has no such operation.")
NOT_PUBLISHED = Problem(
    404,
    "not-published",
    "Not Published",
    f"No insights are published for this business; {urls.REVIEWS} has the reviews.",
)
NOT_ALLOWED = Problem(
    405, "method-not-allowed", "Method Not Allowed", "See Allow for the methods of this resource."
)
NOT_ACCEPTABLE = Problem(
    406,
    "not-acceptable",
    "Not Acceptable",
    "This resource is available as gzip or identity, and both were refused.",
)
PRECONDITION_FAILED = Problem(
    412,
    "precondition-failed",
    "Precondition Failed",
    "The resource has changed: If-Match or If-Unmodified-Since does not hold.",
)
CONTENT_TOO_LARGE = Problem(
    413, "content-too-large", "Content Too Large", "A read takes no request body."
)
BODY_NOT_ALLOWED = replace(CONTENT_TOO_LARGE, detail="Send parameters in the query, not in a body.")
HUB_CONTENT_TOO_LARGE = replace(
    CONTENT_TOO_LARGE,
    detail=f"the body must have at most {HUB_MAX_BODY} bytes, and a GET has none",
    plain=True,
)
TIMEOUT = Problem(408, "timeout", "Request Timeout", "The request was not complete in time.")
URI_TOO_LONG = Problem(414, "uri-too-long", "URI Too Long", "The request line is too long.")
MISDIRECTED = Problem(
    421,
    "misdirected",
    "Misdirected Request",
    "Nothing is served under this host name; the operator can allow it in server.allowed_hosts.",
)
HUB_MISDIRECTED = replace(
    MISDIRECTED,
    detail="nothing is served under this host name; server.allowed_hosts can allow it",
    plain=True,
)
TOO_MANY_CONNECTIONS = Problem(
    429,
    "too-many-connections",
    "Too Many Connections",
    "Too many connections from your network (limit: 256).",
)
TOO_MANY_REQUESTS = Problem(
    429,
    "too-many-requests",
    "Too Many Requests",
    "Too many searches of your network are waiting; wait for their answers.",
)
TOO_MANY_READS = replace(
    TOO_MANY_REQUESTS,
    detail="Too many requests from your network (server.read_limit); wait as long as Retry-After says.",
)
FIELDS_TOO_LARGE = Problem(
    431,
    "header-fields-too-large",
    "Request Header Fields Too Large",
    "There are too many header fields, or they are too large in total.",
)
INTERNAL = Problem(500, "internal", "Internal Server Error", "The daemon failed; its log says why.")
NOT_IMPLEMENTED = Problem(
    501,
    "not-implemented",
    "Not Implemented",
    "The method is unknown; reads take GET and HEAD, the hub and MCP take POST.",
)
NO_ROOM = Problem(
    503,
    "no-room",
    "Service Unavailable",
    "All connections are in use (server.max_connections); try again in a moment.",
)
BUSY = replace(NO_ROOM, detail="Too much is being sent at this moment; try again.")
UNAVAILABLE = Problem(503, "unavailable", "Service Unavailable", "No data has been published yet.")


def render(base_url: str, problem: Problem, issues: Sequence[Issue] = ()) -> bytes:
    """Return a problem as JSON.

    Args:
        base_url: The address of the service, which has the documentation of the problem's type.
        problem: The problem; it is not ``plain``.
        issues: The invalid parameters, for a 400.
    """
    members: dict[str, object] = {
        "type": f"{base_url}/developers/errors#{problem.kind}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
    }
    if issues:
        members["issues"] = [issue.as_json() for issue in issues]
    return msgspec.json.encode(members)


def invalid_parameters(issues: Sequence[Issue]) -> Problem:
    """Return INVALID_PARAMETERS with the number of issues."""
    subject = "1 parameter is" if len(issues) == 1 else f"{len(issues)} parameters are"
    return replace(INVALID_PARAMETERS, detail=f"{subject} invalid.")
