"""What answers have in common in the OpenAPI document: conditions, headers, refusals.

Sources: contract 2; security-and-operations.md S2, S7 to S12, S15.
"""

from dataclasses import dataclass

import msgspec

from reviewsd.domain.parameters import Issue
from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem
from reviewsd.publish.openapi import examples
from reviewsd.publish.openapi.schemas import Json, reference

JSON, PROBLEM_JSON = "application/json", "application/problem+json"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer to a request that is not granted."""

    description: str
    problem: Problem
    issues: tuple[Issue, ...] = ()
    headers: tuple[str, ...] = ()
    """Further ones."""


INVALID_PARAMETERS = "InvalidParameters"
NOT_FOUND = "NotFound"
NOT_PUBLISHED = "NotPublished"
NOT_ACCEPTABLE = "NotAcceptable"
PRECONDITION_FAILED = "PreconditionFailed"
CONTENT_TOO_LARGE = "ContentTooLarge"
MISDIRECTED = "Misdirected"
TOO_MANY_REQUESTS = "TooManyRequests"

REFUSALS = {
    INVALID_PARAMETERS: Refusal(
        "Parameters are invalid; `issues` names every one of them",
        problems.invalid_parameters(examples.ISSUES),
        examples.ISSUES,
    ),
    NOT_FOUND: Refusal(
        "There is nothing at this address: more than one path segment was sent",
        problems.NOT_FOUND,
    ),
    NOT_PUBLISHED: Refusal("The business publishes no insights", problems.NOT_PUBLISHED),
    NOT_ACCEPTABLE: Refusal(
        "`Accept-Encoding` forbids every coding there is, `identity` included",
        problems.NOT_ACCEPTABLE,
    ),
    PRECONDITION_FAILED: Refusal(
        "`If-Match` or `If-Unmodified-Since` does not hold", problems.PRECONDITION_FAILED
    ),
    CONTENT_TOO_LARGE: Refusal("The request has a body", problems.CONTENT_TOO_LARGE),
    MISDIRECTED: Refusal("`Host` is no name of this service", problems.MISDIRECTED),
    TOO_MANY_REQUESTS: Refusal(
        "As many searches as may be are waiting, all of the same network",
        problems.TOO_MANY_REQUESTS,
        headers=("Retry-After",),
    ),
}

_HEADERS: dict[str, Json] = {
    "ETag": {
        "description": "Strong entity tag of these bytes, one for each content coding",
        "required": True,
        "schema": {"type": "string", "pattern": r'^"[!#-~]+"$'},
        "example": '"nYk3b7Jm0Qx5W2cVhT8LzA"',
    },
    "Last-Modified": {
        "description": "When these bytes first appeared here",
        "schema": {"type": "string"},
        "example": "Fri, 14 Mar 2025 12:00:00 GMT",
    },
    "Cache-Control": {
        "description": "How long the answer may be reused",
        "required": True,
        "schema": {"type": "string"},
        "example": "public, max-age=60, stale-while-revalidate=300, stale-if-error=86400",
    },
    "Vary": {
        "description": "The request headers that choose among representations",
        "schema": {"type": "string"},
        "example": "Accept-Encoding",
    },
    "Link": {
        "description": "On topics the topic (`self`) and the hub (`hub`), in this order; this "
        "description (`service-desc`); on a page of a search the next one (`next`)",
        "required": True,
        "schema": {"type": "string"},
        "example": '</.well-known/openapi.json>; rel="service-desc"',
    },
    "Retry-After": {
        "description": "Seconds after which it may be tried again",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
        "example": 5,
    },
    "Access-Control-Allow-Origin": {
        "description": "Any origin may read the answer",
        "required": True,
        "schema": {"type": "string", "const": "*"},
        "example": "*",
    },
}

_CORS = "Access-Control-Allow-Origin"
_UNDATED = ("ETag", "Cache-Control", "Vary", "Link", _CORS)
_DATED = ("Last-Modified", *_UNDATED)
_NO_STORE: Json = {
    "Cache-Control": {
        "description": "The answer must not be kept",
        "required": True,
        "schema": {"type": "string", "const": "no-store"},
    }
}

# Plain strings: a condition that makes no sense is ignored, not refused (RFC 9110 13.1).
_CONDITIONS: dict[str, Json] = {
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "description": "Entity tags that the client has: one of them is current, the answer is 304",
        "schema": {"type": "string"},
        "example": '"nYk3b7Jm0Qx5W2cVhT8LzA"',
    },
    "IfModifiedSince": {
        "name": "If-Modified-Since",
        "in": "header",
        "description": "A `Last-Modified` that the client has; not looked at beside `If-None-Match`",
        "schema": {"type": "string"},
        "example": "Sun, 06 Nov 1994 08:49:37 GMT",
    },
}


def components(base_url: str) -> Json:
    """The components that operations refer to, schemas left out."""
    return {
        "parameters": _CONDITIONS,
        "headers": _HEADERS,
        "responses": {
            "NotModified": {
                "description": "What the client has is current",
                "headers": _headers(_DATED),
            },
            **{name: _refused(base_url, refusal) for name, refusal in REFUSALS.items()},
        },
    }


def conditions(*, dated: bool) -> list[Json]:
    """The parameters of a conditional request.

    Args:
        dated: Whether answers have a Last-Modified.
    """
    names = ("IfNoneMatch", "IfModifiedSince") if dated else ("IfNoneMatch",)
    return [_component("parameters", name) for name in names]


def read(description: str, content: Json, *refusals: str, dated: bool) -> Json:
    """The responses of a read.

    Args:
        description: What is answered.
        content: By media type.
        refusals: Names of its own refusals, beside those of every read.
        dated: Whether answers have a Last-Modified.
    """
    return {
        "200": {
            "description": description,
            "headers": _headers(_DATED if dated else _UNDATED),
            "content": content,
        },
        "304": _component("responses", "NotModified"),
        **refused(*refusals, NOT_ACCEPTABLE, PRECONDITION_FAILED, CONTENT_TOO_LARGE, MISDIRECTED),
    }


def no_store(description: str, content: Json, headers: Json | None = None) -> Json:
    """A response that no cache may keep.

    Args:
        description: What is answered.
        content: By media type.
        headers: Further ones.
    """
    return {"description": description, "headers": _NO_STORE | (headers or {}), "content": content}


def refused(*names: str) -> Json:
    """The responses of refusals, by status."""
    ordered = sorted(names, key=lambda name: REFUSALS[name].problem.status)
    return {str(REFUSALS[name].problem.status): _component("responses", name) for name in ordered}


def _refused(base_url: str, refusal: Refusal) -> Json:
    example = msgspec.json.decode(problems.render(base_url, refusal.problem, refusal.issues))
    media = {"schema": reference("Problem"), "example": example}
    return {
        "description": refusal.description,
        "headers": _NO_STORE | _headers((_CORS, *refusal.headers)),
        "content": {JSON: media, PROBLEM_JSON: media},
    }


def _headers(names: tuple[str, ...]) -> Json:
    return {name: _component("headers", name) for name in names}


def _component(section: str, name: str) -> Json:
    return {"$ref": f"#/components/{section}/{name}"}
