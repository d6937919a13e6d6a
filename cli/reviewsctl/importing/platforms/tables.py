"""The formats, as tables in platforms.toml."""

import tomllib
from pathlib import Path
from typing import Any, Final

from reviewsctl.importing.format import Format, Signature
from reviewsctl.importing.platforms import any_csv, google, own, special
from reviewsctl.importing.platforms.layout import Layout

_SIGNATURE: Final = ("needs", "lacks")
_MODULES: Final = {"": special, "google": google, "own": own, "any_csv": any_csv}


def _format(name: str, table: dict[str, Any]) -> Format:
    members = {member: _value(value) for member, value in table.items()}
    if needs := {part: members.pop(part) for part in _SIGNATURE if part in members}:
        members["signature"] = Signature(**needs)
    if "table" in members:
        rows = any_csv.Table(**members.pop("table"))
        members |= {"parser": rows.parser, "describe_columns": rows.describe}
    elif "row" in members:
        members["parser"] = Layout(**members.pop("row")).parser
    return Format(name=name, **members)


def _value(value: Any) -> Any:  # noqa: ANN401  # as TOML has it
    match value:
        case str() if value.endswith("()"):
            module, _, name = value.removesuffix("()").rpartition(".")
            return getattr(_MODULES[module], name)
        case list():
            return tuple(value)
        case dict():
            return {name: _value(member) for name, member in value.items()}
        case _:
            return value


_tables = tomllib.loads(Path(__file__).with_name("platforms.toml").read_text("utf-8"))

FORMATS: Final = tuple(_format(name, table) for name, table in _tables.items())
"""In the order in which they are tried: the generic ones come last."""
