"""The search parameters: one table for validator, OpenAPI and MCP schema (seed 4.4, contract 3)."""

from dataclasses import dataclass
from enum import Enum
from typing import get_args

from reviewsd.domain.insights import Sentiment
from reviewsd.domain.search_query import LIMIT_DEFAULT, LIMIT_MAX

QUERY_MAX_LENGTH = 200  # characters; contract 3


class Kind(Enum):
    """How the text of a parameter is read."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TEXT = "string"
    CURSOR = "cursor"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One row of the table."""

    name: str
    kind: Kind
    description: str
    example: str | float
    minimum: int | None = None
    """Lowest value of a number."""
    maximum: int | None = None
    """Highest value of a number, greatest length of a text."""
    default: int | str | None = None
    choices: tuple[str, ...] = ()
    """All values there are of a choice."""


SEARCH_PARAMETERS = (
    Parameter(
        name="rating",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=5,
        description="Exact star rating to match.",
        example=5,
    ),
    Parameter(
        name="min_rating",
        kind=Kind.NUMBER,
        minimum=1,
        maximum=5,
        description="Minimum star rating, inclusive.",
        example=4,
    ),
    Parameter(
        name="max_rating",
        kind=Kind.NUMBER,
        minimum=1,
        maximum=5,
        description="Maximum star rating, inclusive.",
        example=2,
    ),
    Parameter(
        name="since",
        kind=Kind.DATE,
        description="Only reviews on or after this date.",
        example="2025-01-31",
    ),
    Parameter(
        name="until",
        kind=Kind.DATE,
        description="Only reviews on or before this date.",
        example="2025-12-31",
    ),
    Parameter(
        name="query",
        kind=Kind.TEXT,
        maximum=QUERY_MAX_LENGTH,
        description="Substring to find in the review text, upper and lower case alike.",
        example="boiler",
    ),
    Parameter(
        name="mentions_technician",
        kind=Kind.TEXT,
        description="Name, given name, alias or id of a technician whom it mentions.",
        example="Sam",
    ),
    Parameter(
        name="mentions_service",
        kind=Kind.TEXT,
        description="Id, label, alias or first word of a service that it mentions.",
        example="boiler-repair",
    ),
    Parameter(
        name="mentions_aspect",
        kind=Kind.TEXT,
        description="Id or label of an aspect that it speaks of.",
        example="pricing",
    ),
    Parameter(
        name="mentions_problem",
        kind=Kind.TEXT,
        description="Id or label of a problem that it reports.",
        example="no-callback",
    ),
    Parameter(
        name="mentions_topic",
        kind=Kind.TEXT,
        description="Id or label of a topic that it is on.",
        example="boilers",
    ),
    Parameter(
        name="mentions_area",
        kind=Kind.TEXT,
        description="Id or label of a service area that it names.",
        example="dover",
    ),
    Parameter(
        name="sentiment",
        kind=Kind.CHOICE,
        choices=get_args(Sentiment),
        description="Of the aspect where mentions_aspect is given, else of the review.",
        example="negative",
    ),
    Parameter(
        name="limit",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=LIMIT_MAX,
        default=LIMIT_DEFAULT,
        description="Maximum number of reviews returned.",
        example=20,
    ),
    Parameter(
        name="cursor",
        kind=Kind.CURSOR,
        description="Where to go on: the next_cursor of the page before. Opaque.",
        example="MjAyNS0wMy0xNC8wMUo5WkszVjVROFIyTjdNNFQ2VzFYMFlBQg",
    ),
)

SINCE_DATE = Parameter(
    name="date",
    kind=Kind.DATE,
    description="Returns the reviews dated on or after this date.",
    example="2025-01-31",
)
"""The path parameter of ``/api/reviews/since/{date}`` (seed 4.5)."""
