"""The search parameters: one table for validator, OpenAPI and MCP schema (seed 4.4, contract 3)."""

from reviewsd.domain.parameter_rules import ParameterType, SearchParameter, parameters_of
from reviewsd.domain.search_query import SearchQuery

SEARCH_PARAMETERS = parameters_of(SearchQuery)
"""The query parameters of a search."""

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
    description="The id of the review, escaped as a path segment.",
    example="01J9ZK3V5Q8R2N7M4T6W1X0YAB",
)
"""The path parameter of ``/api/reviews/{id}``."""
