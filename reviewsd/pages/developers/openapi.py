"""The parts of the OpenAPI document, and of the tools of MCP, that the documentation shows."""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

_NOT_MODIFIED: Final = "304"
"""A status of every read: whatever has an entity tag answers it."""


class Schema(Struct, frozen=True, kw_only=True):
    """A schema (JSON Schema 2020-12), with the keywords that our documents use."""

    ref: str = msgspec.field(name="$ref", default="")
    type: str | tuple[str, ...] = ""
    description: str = ""
    format: str = ""
    enum: tuple[object, ...] = ()
    const: object = None
    default: object = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    min_length: int | None = msgspec.field(name="minLength", default=None)
    max_length: int | None = msgspec.field(name="maxLength", default=None)
    any_of: tuple["Schema", ...] = msgspec.field(name="anyOf", default=())
    items: "Schema | None" = None
    properties: dict[str, "Schema"] = {}
    additional: "Schema | bool" = msgspec.field(name="additionalProperties", default=True)
    required: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the schema that this one refers to; empty without a reference."""
        return self.ref.rpartition("/")[2]


class Parameter(Struct, frozen=True, kw_only=True):
    """A parameter or a header field; a reference has nothing but ``ref``."""

    ref: str = msgspec.field(name="$ref", default="")
    name: str = ""
    place: str = msgspec.field(name="in", default="")
    required: bool = False
    description: str = ""
    schema: Schema = Schema()
    example: object = None


class Media(Struct, frozen=True, kw_only=True):
    """A body of one media type."""

    schema: Schema = Schema()
    example: object = None


class ApiResponse(Struct, frozen=True, kw_only=True):
    """A response; a reference has nothing but ``ref``."""

    ref: str = msgspec.field(name="$ref", default="")
    description: str = ""
    content: dict[str, Media] = {}


class Body(Struct, frozen=True, kw_only=True):
    """The body of a request."""

    content: dict[str, Media] = {}


class Operation(Struct, frozen=True, kw_only=True):
    """One method of an address."""

    operation_id: str = msgspec.field(name="operationId")
    summary: str = ""
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    body: Body = msgspec.field(name="requestBody", default=Body())
    responses: dict[str, ApiResponse] = {}
    callbacks: dict[str, dict[str, dict[str, "Operation"]]] = {}
    """Requests that the service sends to the client: by name, by address, by method."""

    @property
    def is_read(self) -> bool:
        """Whether the operation shares the header fields and responses of all reads."""
        return _NOT_MODIFIED in self.responses


class Components(Struct, frozen=True, kw_only=True):
    """Parts that several operations refer to."""

    schemas: dict[str, Schema] = {}
    parameters: dict[str, Parameter] = {}
    responses: dict[str, ApiResponse] = {}


class Info(Struct, frozen=True, kw_only=True):
    """The title page of the document."""

    description: str = ""


class Description(Struct, frozen=True, kw_only=True):
    """The OpenAPI document."""

    info: Info
    paths: dict[str, dict[str, Operation]]
    """By path, then by method in lower case."""
    components: Components

    def operations(self) -> Iterator[tuple[str, str, Operation]]:
        """Iterate over (path, method, operation)."""
        for path, methods in self.paths.items():
            for method, operation in methods.items():
                yield path, method, operation

    def response(self, response: ApiResponse) -> ApiResponse:
        """Follow the reference of a response, if it is one."""
        name = response.ref.rpartition("/")[2]
        return self.components.responses[name] if name else response

    def own_parameters(self, operation: Operation) -> tuple[Parameter, ...]:
        """Return the parameters of an operation that not all reads share."""
        parameters = operation.parameters
        return tuple(item for item in parameters if not (operation.is_read and item.ref))

    def own_responses(self, operation: Operation) -> dict[str, ApiResponse]:
        """Return the responses of an operation that not all reads share."""
        shared = self.read_responses() if operation.is_read else {}
        responses = operation.responses
        return {status: item for status, item in responses.items() if status not in shared}

    def read_responses(self) -> dict[str, ApiResponse]:
        """Return the responses that all reads share, without that of success."""
        first, *rest = (
            operation.responses for _, _, operation in self.operations() if operation.is_read
        )
        return {
            status: response
            for status, response in first.items()
            if response.ref and all(responses.get(status) == response for responses in rest)
        }


class ListedTool(Struct, frozen=True, kw_only=True):
    """A tool of MCP."""

    name: str
    title: str
    description: str
    input_schema: Schema = msgspec.field(name="inputSchema")
    output_schema: Schema = msgspec.field(name="outputSchema")


class ToolList(Struct, frozen=True, kw_only=True):
    """The result of ``tools/list``."""

    tools: tuple[ListedTool, ...]


def read_description(content: bytes) -> Description:
    """Decode the OpenAPI document."""
    return msgspec.json.decode(content, type=Description)


def read_tools(content: bytes) -> tuple[ListedTool, ...]:
    """Decode the result of ``tools/list``."""
    return msgspec.json.decode(content, type=ToolList).tools
