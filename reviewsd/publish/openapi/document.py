"""The OpenAPI 3.1.0 description of the service (seed 1 and 9, contract 3, interfaces.md 4).

One row of ``_reads`` for each address that is read; what all reads have in common is said once, in the
components. Parameters, schemas and examples come from what validates, holds and renders the data.
Deterministic like every document: neither a clock nor our own version is in it.
"""

import re
from dataclasses import dataclass

import msgspec

from reviewsd.domain.reviews import Business
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS, SINCE_DATE, Parameter
from reviewsd.http1 import urls
from reviewsd.publish.openapi import examples, hub, mcp, responses, schemas
from reviewsd.publish.openapi.schemas import Json, reference

_DESCRIPTION = """\
The verified customer reviews of one business, and what they say: read-only, over HTTP.
No account, key or SDK is needed; an `Authorization` header is ignored.

- Every address that answers `GET` answers `HEAD` and `OPTIONS` too, from any origin (CORS).
- Entity tags are strong. Send them back in `If-None-Match`: what has not changed is answered 304
  without a body.
- The WebSub hub is no read: it is asked with `POST`, and answers in plain text, without CORS.
- The MCP endpoint speaks JSON-RPC, its errors too; from web pages only where the operator allows it.
- Lists are newest first: by date, then by id, both descending.
- Parameters that are not named here are ignored; one that is named may be given once.
- Objects may have members that are not named here: the business's own, and those of later versions.
- Errors are problem details (RFC 9457), sent as `application/json`, or as
  `application/problem+json` when `Accept` prefers it.

The licence is that of this interface. The reviews belong to their authors."""

_TAGS = {
    "reviews": "The reviews: all of them, those that match, those since a day.",
    "insights": "What the reviews say, worked out.",
    "feeds": "The newest reviews for feed readers.",
    hub.TAG: "Being told of changes, by WebSub.",
    mcp.TAG: "The reviews as tools for AI assistants, by the Model Context Protocol.",
    "service": "About the service itself.",
}

# An operator may write anything; the format of these members is checked by every tool.
_URI = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """One address that is read."""

    path: str
    operation_id: str
    tag: str
    summary: str
    description: str
    media_type: str = responses.JSON
    schema: Json
    example: object
    parameters: tuple[Json, ...] = ()
    dated: bool = True
    """Whether answers have a Last-Modified."""
    refusals: tuple[str, ...] = ()
    """Names of refusals of its own, beside those of every read."""


def render(base_url: str, business: Business) -> bytes:
    """The description as UTF-8 JSON.

    Args:
        base_url: Origin of all addresses, without a slash at its end.
        business: Whose reviews are served; names the document and the contact.
    """
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": f"{business.name} reviews",
            "summary": "Verified customer reviews, read-only",
            "description": _DESCRIPTION,
            "version": "1.0.0",
            "contact": _contact(business),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url, "description": "This service"}],
        "security": [],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": _paths(base_url),
        "components": {
            "schemas": schemas.components() | mcp.SCHEMAS,
            **responses.components(base_url),
        },
    }
    return msgspec.json.encode(document)


def _contact(business: Business) -> Json:
    contact: Json = {"name": business.name}
    if business.url and _URI.fullmatch(business.url):
        contact["url"] = business.url
    if business.email and _EMAIL.fullmatch(business.email):
        contact["email"] = business.email
    return contact


def _paths(base_url: str) -> Json:
    """Every address with what it answers."""
    return {
        **{read.path: {"get": _operation(read)} for read in _reads(base_url)},
        urls.HUB: hub.path_item(base_url),
        urls.MCP: mcp.path_item(),
        urls.HEALTH: {"get": _health()},
    }


def _reads(base_url: str) -> tuple[_Read, ...]:
    sample = examples.render(base_url)
    return (
        _Read(
            path=urls.REVIEWS,
            operation_id="getReviews",
            tag="reviews",
            summary="All reviews",
            description="The business, its aggregate rating and every verified review. "
            "A WebSub topic.",
            schema=reference("ReviewsDataset"),
            example=sample.reviews,
        ),
        _Read(
            path=urls.SEARCH,
            operation_id="searchReviews",
            tag="reviews",
            summary="Search the reviews",
            description="The reviews that pass every filter given, in pages. While there is more, "
            '`next_cursor` and a `Link` with `rel="next"` lead to the next page.',
            schema=reference("SearchResult"),
            example=sample.search,
            parameters=tuple(_parameter(row, "query") for row in SEARCH_PARAMETERS),
            dated=False,
            refusals=(responses.INVALID_PARAMETERS, responses.TOO_MANY_REQUESTS),
        ),
        _Read(
            path=f"{urls.SINCE}{{{SINCE_DATE.name}}}",
            operation_id="getReviewsSince",
            tag="reviews",
            summary="Reviews since a day",
            description="Every review of that day and all later ones, without a limit. "
            "A day to come is answered with an empty list.",
            schema=reference("SinceResult"),
            example=sample.since,
            parameters=(_parameter(SINCE_DATE, "path"),),
            refusals=(responses.INVALID_PARAMETERS, responses.NOT_FOUND),
        ),
        _Read(
            path=urls.INSIGHTS,
            operation_id="getInsights",
            tag="insights",
            summary="Sentiment insights",
            description="Sentiment by aspect, the technicians, services, problems and areas that "
            "reviews name, topics, months, questions and answers, and an editorial summary.",
            schema=reference("Insights"),
            example=sample.insights,
            refusals=(responses.NOT_PUBLISHED,),
        ),
        _Read(
            path=urls.JSON_FEED,
            operation_id="getJsonFeed",
            tag="feeds",
            summary="JSON Feed",
            description="The 50 newest reviews as JSON Feed 1.1. A WebSub topic.",
            schema=reference("JsonFeed"),
            example=sample.json_feed,
        ),
        _Read(
            path=urls.ATOM_FEED,
            operation_id="getAtomFeed",
            tag="feeds",
            summary="Atom feed",
            description="The same 50 reviews as Atom (RFC 4287). A WebSub topic.",
            media_type=hub.ATOM,
            schema={"type": "string"},
            example=sample.atom_feed,
        ),
        _Read(
            path=urls.OPENAPI,
            operation_id="getDescription",
            tag="service",
            summary="This description",
            description="The OpenAPI 3.1.0 description of the service.",
            schema={
                "type": "object",
                "properties": {
                    "openapi": {"const": "3.1.0"},
                    "info": {"type": "object"},
                    "paths": {"type": "object"},
                },
                "required": ["openapi", "info", "paths"],
            },
            example={
                "openapi": "3.1.0",
                "info": {"title": "Acme Plumbing reviews", "version": "1.0.0"},
                "paths": {},
            },
        ),
    )


def _operation(read: _Read) -> Json:
    return {
        "operationId": read.operation_id,
        "tags": [read.tag],
        "summary": read.summary,
        "description": read.description,
        "parameters": [*read.parameters, *responses.conditions(dated=read.dated)],
        "responses": responses.read(
            read.summary,
            {read.media_type: {"schema": read.schema, "example": read.example}},
            *read.refusals,
            dated=read.dated,
        ),
    }


def _parameter(row: Parameter, place: str) -> Json:
    """A row of the parameter table, to be sent in the ``query`` or the ``path``."""
    return {
        "name": row.name,
        "in": place,
        "required": place == "path",
        "description": row.description,
        "schema": schemas.of_parameter(row),
        "example": row.example,
    }


def _health() -> Json:
    content: Json = {responses.JSON: {"schema": reference("Health"), "example": {"status": "ok"}}}
    return {
        "operationId": "getHealth",
        "tags": ["service"],
        "summary": "Whether the service answers",
        "description": "For load balancers and monitors.",
        "responses": {
            "200": responses.no_store("It does", content),
            **responses.refused(responses.CONTENT_TOO_LARGE),
        },
    }
