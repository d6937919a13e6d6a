"""Markdown tables of parameters, responses and schemas, filled from the OpenAPI document."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from reviewsd.http1 import urls
from reviewsd.pages.developers.openapi import (
    ApiResponse,
    Description,
    ListedTool,
    Parameter,
    Schema,
)
from reviewsd.pages.environment import Verbatim

_EXAMPLE: Final = ", e.g. "
"""Precedes the example in the description of a tool's argument (``mcp.tools``)."""

SCHEMAS: Final[Mapping[str, tuple[str, ...]]] = {
    urls.DATA_BUSINESS: (
        "Business",
        "Address",
        "Geo",
        "OpeningHours",
        "Location",
        "AggregateRating",
        "Distribution",
    ),
    urls.DATA_REVIEWS: (
        "Review",
        "OwnerReply",
        "ReviewsDataset",
        "SearchResult",
        "SinceResult",
        "JsonFeed",
        "FeedItem",
        "FeedReview",
        "FeedAuthor",
        "FeedHub",
    ),
    urls.DATA_INSIGHTS: (
        "Insights",
        "DateRange",
        "OverallSentiment",
        "Entity",
        "Entities",
        "Temporal",
        "MonthlySentiment",
        "PerReview",
        "AspectMention",
        "FaqEntry",
    ),
    urls.DEVELOPERS_ERRORS: ("Problem", "Issue"),
}
"""The schemas that each page describes, in order."""

_PAGES: Final = {name: path for path, names in SCHEMAS.items() for name in names}


class Tables:
    """Makes the tables of one OpenAPI document.

    Args:
        description: The document.
        base_url: Origin of the links.
    """

    def __init__(self, description: Description, base_url: str) -> None:
        self._description = description
        self._base_url = base_url

    def parameters(self, parameters: Iterable[Parameter]) -> Verbatim:
        """Return the table of parameters or header fields."""
        return _table(
            ("Parameter", "In", "Type", "Required", "Description", "Example"),
            (
                (
                    f"`{parameter.name}`",
                    parameter.place,
                    self._type(parameter.schema),
                    _yes(required=parameter.required),
                    _joined(parameter.description, _notes(parameter.schema)),
                    "" if parameter.example is None else f"`{plain(parameter.example)}`",
                )
                for parameter in parameters
            ),
        )

    def responses(self, responses: Mapping[str, ApiResponse]) -> Verbatim:
        """Return the table of responses by status, with their bodies if any has one."""
        rows = [
            (status, response.description, self._body(response))
            for status, response in (
                (status, self._description.response(item)) for status, item in responses.items()
            )
        ]
        if any(body for _, _, body in rows):
            return _table(("Status", "Meaning", "Body"), rows)
        return _table(("Status", "Meaning"), (row[:2] for row in rows))

    def members(self, name: str) -> Verbatim:
        """Return the table of the members of a schema."""
        schema = self._description.components.schemas[name]
        return _table(
            ("Field", "Type", "Required", "Notes"),
            (
                (
                    f"`{member}`",
                    self._type(field),
                    _yes(required=member in schema.required),
                    _notes(field),
                )
                for member, field in schema.properties.items()
            ),
        )

    def form(self, schema: Schema) -> Verbatim:
        """Return the table of the fields of a form."""
        return _table(
            ("Field", "Required", "Notes"),
            (
                (f"`{name}`", _yes(required=name in schema.required), _notes(field))
                for name, field in schema.properties.items()
            ),
        )

    def arguments(self, tool: ListedTool) -> Verbatim:
        """Return the table of a tool's arguments; their descriptions end with an example."""
        rows = []
        for name, schema in tool.input_schema.properties.items():
            text, _, example = schema.description.partition(_EXAMPLE)
            default = "" if schema.default is None else f"default `{plain(schema.default)}`"
            required = _yes(required=name in tool.input_schema.required)
            notes = _joined(text, default)
            example = example and f"`{example}`"
            rows.append((f"`{name}`", self._type(schema), required, notes, example))
        return _table(("Parameter", "Type", "Required", "Description", "Example"), rows)

    def answer(self, tool: ListedTool) -> Verbatim:
        """Return the table of a tool's result.

        The description of a member that may be null begins with its type (``mcp.outputs``).
        """
        rows = []
        for name, schema in tool.output_schema.properties.items():
            kind, notes = self._type(schema), schema.description
            if not schema.type:
                kind, _, notes = notes.partition(": ")
            required = _yes(required=name in tool.output_schema.required)
            rows.append((f"`{name}`", kind, required, notes))
        return _table(("Field", "Type", "Required", "Notes"), rows)

    def _type(self, schema: Schema) -> str:
        """Return the type of a value in words, with links to schemas."""
        if schema.ref:
            return self._link(schema.name)
        if schema.any_of:
            return " or ".join(map(self._type, schema.any_of))
        if schema.enum:
            return " or ".join(f"`{value}`" for value in schema.enum)
        if schema.const is not None:
            return f"`{schema.const}`"
        if schema.items is not None:
            return f"array of {self._type(schema.items)}"
        if isinstance(schema.additional, Schema) and schema.additional != Schema():
            return f"object of {self._type(schema.additional)}"
        kind = schema.type if isinstance(schema.type, str) else " or ".join(schema.type)
        return f"{kind or 'any'}{f' ({schema.format})' if schema.format else ''}"

    def _body(self, response: ApiResponse) -> str:
        """Return the media types of a response, and the schema of each."""
        bodies: dict[str, list[str]] = {}
        for media_type, media in response.content.items():
            bodies.setdefault(media.schema.name, []).append(f"`{media_type}`")
        return ", ".join(
            f"{', '.join(media_types)}: {self._link(name)}"
            if name in _PAGES
            else ", ".join(media_types)
            for name, media_types in bodies.items()
        )

    def _link(self, name: str) -> str:
        path = _PAGES.get(name)
        return f"[{name}]({self._base_url}{path}#{name.lower()})" if path else name


def plain(value: object) -> str:
    """Return a value as it is written in a query: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Verbatim:
    lines = (head, ["---"] * len(head), *rows)
    return Verbatim("\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines))


def _cell(text: str) -> str:
    """Return a text for a table, where a bar would end the cell even within code (GFM 4.10)."""
    return text.replace("|", "\\|")


def _yes(*, required: bool) -> str:
    return "yes" if required else "no"


def _joined(*texts: str) -> str:
    return "; ".join(text.rstrip(".") for text in texts if text)


def _notes(schema: Schema) -> str:
    """Return the description of a value, and its bounds."""
    return _joined(schema.description, *map(_bounds, (schema, *schema.any_of)))


def _bounds(schema: Schema) -> str:
    low, high = schema.minimum, schema.maximum
    bounds = []
    if low is not None and high is not None:
        bounds.append(f"{low} to {high}")
    elif low is not None:
        bounds.append(f"at least {low}")
    if schema.max_length is not None:
        bounds.append(f"at most {schema.max_length} characters")
    elif schema.min_length:
        bounds.append("not empty")
    if schema.default is not None:
        bounds.append(f"default `{plain(schema.default)}`")
    return ", ".join(bounds)
