"""The search parameters: one table for validator, OpenAPI and MCP schema (seed 4.4, contract 3)."""

from dataclasses import dataclass
from enum import Enum
from typing import get_args

from reviewsd.domain.insights import Sentiment
from reviewsd.domain.search_query import LIMIT_DEFAULT, LIMIT_MAX, NEWEST, SORTS

QUERY_MAX_LENGTH = 200  # characters; contract 3


class ParameterType(Enum):
    """The type of a parameter's value."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "date or time"
    TEXT = "string"
    BOOLEAN = "boolean"
    CURSOR = "cursor"
    CHOICE = "choice"
    COLOR = "color"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParameter:
    """One row of the table."""

    name: str
    kind: ParameterType
    description: str
    example: str | float
    """A value that matches a review together with the examples of all other rows."""
    minimum: int | None = None
    """Lowest value of a number."""
    maximum: int | None = None
    """Highest value of a number, or greatest length of a text."""
    default: int | str | None = None
    choices: tuple[str, ...] = ()
    """The values of a choice."""


SEARCH_PARAMETERS = (
    SearchParameter(
        name="rating",
        kind=ParameterType.INTEGER,
        minimum=1,
        maximum=5,
        description="Exact star rating.",
        example=2,
    ),
    SearchParameter(
        name="min_rating",
        kind=ParameterType.NUMBER,
        minimum=1,
        maximum=5,
        description="Lowest star rating, inclusive.",
        example=2,
    ),
    SearchParameter(
        name="max_rating",
        kind=ParameterType.NUMBER,
        minimum=1,
        maximum=5,
        description="Highest star rating, inclusive.",
        example=3,
    ),
    SearchParameter(
        name="source",
        kind=ParameterType.TEXT,
        description="Where it was written, upper and lower case alike.",
        example="google",
    ),
    SearchParameter(
        name="location",
        kind=ParameterType.TEXT,
        description="Id, alias or name of one of business.locations.",
        example="dover",
    ),
    SearchParameter(
        name="verified",
        kind=ParameterType.BOOLEAN,
        description="Whether its source has checked that the author was a customer.",
        example=True,
    ),
    SearchParameter(
        name="has_reply",
        kind=ParameterType.BOOLEAN,
        description="Whether the owner has replied.",
        example=True,
    ),
    SearchParameter(
        name="since",
        kind=ParameterType.DATE,
        description="First day, inclusive.",
        example="2025-01-31",
    ),
    SearchParameter(
        name="until",
        kind=ParameterType.DATE,
        description="Last day, inclusive.",
        example="2025-12-31",
    ),
    SearchParameter(
        name="changed_since",
        kind=ParameterType.MOMENT,
        description="Added or changed since this date or RFC 3339 time.",
        example="2025-01-31T12:00:00Z",
    ),
    SearchParameter(
        name="query",
        kind=ParameterType.TEXT,
        maximum=QUERY_MAX_LENGTH,
        description="Part of the text, upper and lower case alike.",
        example="boiler",
    ),
    SearchParameter(
        name="mentions_technician",
        kind=ParameterType.TEXT,
        description="Name, given name, alias or id of a technician whom it mentions.",
        example="Sam",
    ),
    SearchParameter(
        name="mentions_service",
        kind=ParameterType.TEXT,
        description="Id, label, alias or first word of a service that it mentions.",
        example="boiler-repair",
    ),
    SearchParameter(
        name="mentions_aspect",
        kind=ParameterType.TEXT,
        description="Id or label of an aspect that it speaks of.",
        example="pricing",
    ),
    SearchParameter(
        name="mentions_problem",
        kind=ParameterType.TEXT,
        description="Id or label of a problem that it reports.",
        example="no-callback",
    ),
    SearchParameter(
        name="mentions_topic",
        kind=ParameterType.TEXT,
        description="Id or label of a topic that it is on.",
        example="boilers",
    ),
    SearchParameter(
        name="mentions_area",
        kind=ParameterType.TEXT,
        description="Id or label of a service area that it names.",
        example="dover",
    ),
    SearchParameter(
        name="sentiment",
        kind=ParameterType.CHOICE,
        choices=get_args(Sentiment),
        description="Of the aspect where mentions_aspect is given, else of the review.",
        example="negative",
    ),
    SearchParameter(
        name="sort",
        kind=ParameterType.CHOICE,
        choices=SORTS,
        default=NEWEST,
        description="By date, by stars (of equal ones the newest first), or last changed first.",
        example=NEWEST,
    ),
    SearchParameter(
        name="limit",
        kind=ParameterType.INTEGER,
        minimum=1,
        maximum=LIMIT_MAX,
        default=LIMIT_DEFAULT,
        description="Most reviews to return.",
        example=20,
    ),
    SearchParameter(
        name="cursor",
        kind=ParameterType.CURSOR,
        description="Where to go on: next_cursor of the page before, with the same sort. Opaque.",
        example="MjAyNS0wMy0xNC8wMUo5WkszVjVROFIyTjdNNFQ2VzFYMFlBQg",
    ),
)

SINCE_DATE = SearchParameter(
    name="date",
    kind=ParameterType.DATE,
    description="Returns the reviews dated on or after this date.",
    example="2025-01-31",
)
"""The path parameter of ``/api/reviews/since/{date}`` (seed 4.5)."""

FEED_CURSOR = SearchParameter(
    name="cursor",
    kind=ParameterType.CURSOR,
    description="Names the page: as the page before has it in its address of the next one. Opaque.",
    example="MjAyNS0wMy0xNC8wMUo5WkszVjVROFIyTjdNNFQ2VzFYMFlBQg",
)
"""The path parameter of the older pages of both feeds."""

REVIEW_ID = SearchParameter(
    name="id",
    kind=ParameterType.TEXT,
    description="The id of the review, escaped as a path segment.",
    example="01J9ZK3V5Q8R2N7M4T6W1X0YAB",
)
"""The path parameter of ``/api/reviews/{id}``."""
