"""The parts of the OpenAPI document, and of tools' schemas, that the documentation reads."""

from typing import Final

import msgspec
from msgspec import Struct

_PREFIX: Final = "#/components/"


class Schema(Struct, frozen=True, kw_only=True):
    """A schema (JSON Schema 2020-12), as far as ours go."""

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
        """Of the schema that it refers to; empty where it refers to none."""
        return self.ref.rpartition("/")[2]


class OpenApiParameter(Struct, frozen=True, kw_only=True):
    """A parameter or a header field; all but ``ref`` is empty where it refers to one."""

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


class OpenApiResponse(Struct, frozen=True, kw_only=True):
    """An answer."""

    ref: str = msgspec.field(name="$ref", default="")
    description: str = ""
    content: dict[str, Media] = {}


class OpenApiBody(Struct, frozen=True, kw_only=True):
    """The body of a request."""

    content: dict[str, Media] = {}


class Operation(Struct, frozen=True, kw_only=True):
    """A method of an address."""

    operation_id: str = msgspec.field(name="operationId")
    tags: tuple[str, ...] = ()
    summary: str = ""
    description: str = ""
    parameters: tuple[OpenApiParameter, ...] = ()
    body: OpenApiBody = msgspec.field(name="requestBody", default=OpenApiBody())
    responses: dict[str, OpenApiResponse] = {}
    callbacks: dict[str, dict[str, dict[str, "Operation"]]] = {}
    """By name, then by where it goes, then by method: what the service asks of the client."""


class Components(Struct, frozen=True, kw_only=True):
    """What is said once."""

    schemas: dict[str, Schema] = {}
    parameters: dict[str, OpenApiParameter] = {}
    responses: dict[str, OpenApiResponse] = {}


class OpenApiInfo(Struct, frozen=True, kw_only=True):
    """About the document."""

    description: str = ""


class Description(Struct, frozen=True, kw_only=True):
    """The document."""

    info: OpenApiInfo
    paths: dict[str, dict[str, Operation]]
    """By path, then by method in lower case."""
    components: Components

    def parameter(self, given: OpenApiParameter) -> OpenApiParameter:
        """A parameter that refers to nothing."""
        return self.components.parameters[_name(given.ref)] if given.ref else given

    def response(self, given: OpenApiResponse) -> OpenApiResponse:
        """A response that refers to nothing."""
        return self.components.responses[_name(given.ref)] if given.ref else given


class ListedTool(Struct, frozen=True, kw_only=True):
    """A tool of MCP, as ``tools/list`` has it."""

    name: str
    title: str
    description: str
    input_schema: Schema = msgspec.field(name="inputSchema")
    output_schema: Schema = msgspec.field(name="outputSchema")


class Tools(Struct, frozen=True, kw_only=True):
    """The result of ``tools/list``."""

    tools: tuple[ListedTool, ...]


def _name(ref: str) -> str:
    return ref.removeprefix(_PREFIX).rpartition("/")[2]


def read_description(content: bytes) -> Description:
    """The OpenAPI document, decoded."""
    return msgspec.json.decode(content, type=Description)


def read_tools(content: bytes) -> tuple[ListedTool, ...]:
    """The tools of a ``tools/list`` result, decoded."""
    return msgspec.json.decode(content, type=Tools).tools
