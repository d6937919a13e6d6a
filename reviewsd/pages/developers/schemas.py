"""Schemas as tables: members with their type, whether they are always there, and what they mean."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from reviewsd.pages.developers.blocks import Link, Section, Table, Words
from reviewsd.pages.developers.openapi import Description, Schema

Linked = Callable[[str], str]
"""Where a schema is described, by its name; empty where it is not."""

_HEAD: Final = ("Field", "Type", "Required", "Notes")


def section(name: str, schema: Schema, linked: Linked, title: str = "", level: int = 2) -> Section:
    """A schema with its members.

    Args:
        name: Of the schema.
        schema: An object.
        linked: Where others are described.
        title: Of the section, where the name does not do.
        level: Of its heading.
    """
    table = members(title or name, schema, linked)
    return Section(anchor(name), title or name, (table,), level)


def members(label: str, schema: Schema, linked: Linked) -> Table:
    """The table of an object's members."""
    rows = tuple(
        (
            f"`{name}`",
            type_of(member, linked),
            "yes" if name in schema.required else "no",
            notes(member),
        )
        for name, member in schema.properties.items()
    )
    return Table(f"Members of {label}", _HEAD, rows)


def anchor(name: str) -> str:
    """The fragment under which a schema is described."""
    return name.lower()


def type_of(schema: Schema, linked: Linked) -> Words:
    """The type of a value in words, with links to what is described elsewhere."""
    words = _type_of(schema, linked)
    return words[0] if len(words) == 1 else words


def _type_of(schema: Schema, linked: Linked) -> tuple[str | Link, ...]:
    if schema.ref:
        address = linked(schema.name)
        return (Link(schema.name, address),) if address else (schema.name,)
    if schema.any_of:
        joined: list[str | Link] = []
        for index, branch in enumerate(schema.any_of):
            joined += ((" or ",) if index else ()) + _type_of(branch, linked)
        return tuple(joined)
    if schema.enum:
        return (" or ".join(f"`{value}`" for value in schema.enum),)
    if schema.const is not None:
        return (f"`{schema.const}`",)
    if schema.items is not None:
        return ("array of ", *_type_of(schema.items, linked))
    if isinstance(schema.additional, Schema) and schema.additional != Schema():
        return ("object of ", *_type_of(schema.additional, linked))
    kind = schema.type if isinstance(schema.type, str) else " or ".join(schema.type)
    return (f"{kind or 'any'}{f' ({schema.format})' if schema.format else ''}",)


def notes(schema: Schema) -> str:
    """What is said of a value, and its bounds."""
    bounded = [_bounds(each) for each in (schema, *schema.any_of)]
    described = [schema.description.rstrip("."), *filter(None, bounded)]
    return "; ".join(filter(None, described))


def _bounds(schema: Schema) -> str:
    low, high = schema.minimum, schema.maximum
    described = []
    if low is not None and high is not None:
        described.append(f"{low} to {high}")
    elif low is not None:
        described.append(f"at least {low}")
    if schema.max_length is not None:
        described.append(f"at most {schema.max_length} characters")
    elif schema.min_length:
        described.append("not empty")
    if schema.default is not None:
        described.append(f"default `{plain(schema.default)}`")
    return ", ".join(described)


def plain(value: object) -> str:
    """A value as one writes it in a query: text as it is, all else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def described(places: Mapping[str, str], here: str) -> Linked:
    """Where schemas are described, seen from one page.

    Args:
        places: The path of the page of each schema.
        here: The path of the page that links.
    """

    def linked(name: str) -> str:
        path = places.get(name, "")
        return f"{'' if path == here else path}#{anchor(name)}" if path else ""

    return linked


def schema_of(description: Description, name: str) -> Schema:
    """A schema of the document by its name."""
    return description.components.schemas[name]


def indented(value: object) -> str:
    """A value as JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
