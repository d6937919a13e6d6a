"""Descriptions of the configuration's keys."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

SHIPPED: Final = Path(__file__).parents[1] / "shipped"
"""The files of an installation: the configuration and its reference, sample data, units of systemd."""


def reference() -> Iterator[tuple[str, str, str]]:
    """Yield key, default and description of the tables of docs/reference/configuration.md, as plain text."""
    for line in (SHIPPED / "configuration.md").read_text().splitlines():
        if line.startswith("| `"):
            key, default, text = line.split(" | ")
            yield key.strip("| `"), default.strip("`"), text.removesuffix(" |").replace("`", "")


def described(schema: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, object]:
    """Return a JSON Schema of msgspec's with a description of every key.

    Args:
        schema: Its root is a reference into ``$defs``, and so are sections and entries of lists.
        texts: The descriptions by dotted key; the entries of a list are at ``key[].``.
    """
    definitions = {name: dict(definition) for name, definition in schema["$defs"].items()}

    def describe(reference: str, prefix: str) -> None:
        section = definitions[reference.rpartition("/")[2]]
        members = {}
        for name, member in section["properties"].items():
            key = prefix + name
            members[name] = {**member, **({"description": texts[key]} if key in texts else {})}
            if "$ref" in member:
                describe(member["$ref"], f"{key}.")
            elif "$ref" in (member.get("items") or {}):
                describe(member["items"]["$ref"], f"{key}[].")
        section["properties"] = members

    describe(str(schema["$ref"]), "")
    return {**schema, "$defs": definitions}
