"""Types, bounds and values of JSON Schema in words, for the tables of the documentation."""

from collections.abc import Iterator, Mapping

import msgspec

Json = Mapping[str, object]
"""A schema (JSON Schema 2020-12) as the OpenAPI document and tools/list have it."""


def type_of(schema: object, addresses: Mapping[str, str]) -> str:
    """Return the type of a value in words, with links to the schemas that have an address."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            return f"[{name}]({addresses[name]})" if name in addresses else name
        case {"anyOf": [*branches]}:
            return " or ".join(type_of(branch, addresses) for branch in branches)
        case {"enum": [*values]}:
            return " or ".join(f"`{value}`" for value in values)
        case {"items": item}:
            return f"array of {type_of(item, addresses)}"
        case {"additionalProperties": dict(item)} if item:
            return f"object of {type_of(item, addresses)}"
        case {"type": kind, "format": form}:
            return f"{kind} ({form})"
        case {"type": kind}:
            return str(kind)
    return "any"


def notes(schema: Json) -> str:
    """Return the description of a value, and its bounds."""
    branches = schema.get("anyOf")
    parts = (schema, *branches) if isinstance(branches, list) else (schema,)
    bounds = (", ".join(_bounds(part)) for part in parts)
    return joined(str(schema.get("description", "")), *bounds)


def joined(*texts: str) -> str:
    """Return texts as one, without empty ones."""
    return "; ".join(text.rstrip(".") for text in texts if text)


def plain(value: object) -> str:
    """Return a value as it is written in a query: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _bounds(schema: Json) -> Iterator[str]:
    if "maximum" in schema:
        yield f"{schema['minimum']} to {schema['maximum']}"
    elif "minimum" in schema:
        yield f"at least {schema['minimum']}"
    if "maxLength" in schema:
        yield f"at most {schema['maxLength']} characters"
    elif schema.get("minLength"):
        yield "not empty"
    if schema.get("default") is not None:
        yield f"default `{plain(schema['default'])}`"
