"""The comments of the shipped configuration, for help, schema and manual.

``shipped/reviewsd.yaml`` has a comment above every key, as a test of the daemon proves.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SHIPPED: Final = Path(__file__).parents[1] / "shipped"
"""The files of an installation: the configuration, sample data, and the units of systemd."""

_KEY: Final = re.compile(r"(?P<indent> *)(?P<name>[a-z_0-9]+):(?P<value>.*)")


def explanations(text: str) -> dict[str, str]:
    """Return the comment above each key as one paragraph, by dotted key and in their order."""
    comments: dict[str, str] = {}
    outer: list[str] = []
    comment: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            comment.append(line.lstrip().removeprefix("#").strip())
        elif key := _KEY.fullmatch(line):
            outer[len(key["indent"]) // 2 :] = [key["name"]]
            comments[".".join(outer)] = " ".join(filter(None, comment))
            comment = []
        else:
            comment = []
    return comments


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return a configuration with other values for the keys that it has.

    Args:
        text: Block YAML: two spaces a level, every value on the line of its key.
        values: YAML by dotted key.
    """
    lines: list[str] = []
    outer: list[str] = []
    for line in text.splitlines():
        key = None if line.lstrip().startswith("#") else _KEY.fullmatch(line)
        if key is None:
            lines.append(line)
            continue
        outer[len(key["indent"]) // 2 :] = [key["name"]]
        value = values.get(".".join(outer))
        lines.append(line if value is None else f"{key['indent']}{key['name']}: {value}")
    return "\n".join(lines) + "\n"


def described(schema: Mapping[str, object], words: Mapping[str, str]) -> dict[str, object]:
    """Return a JSON Schema of msgspec with a description of every key.

    Args:
        schema: Its root and its sections are references into ``$defs``.
        words: The descriptions by dotted key.
    """
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)  # noqa: S101  # as msgspec writes it
    new = {name: dict(definition) for name, definition in definitions.items()}

    def describe(reference: str, prefix: str) -> None:
        section = new[reference.rpartition("/")[2]]
        members = {}
        for name, member in section["properties"].items():
            members[name] = {**member, "description": words.get(prefix + name, "")}
            if "$ref" in member:
                describe(member["$ref"], f"{prefix}{name}.")
        section["properties"] = members

    describe(str(schema["$ref"]), "")
    return {**schema, "$defs": new}
