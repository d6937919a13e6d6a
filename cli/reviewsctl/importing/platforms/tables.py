"""Formats of the platforms in platforms.toml."""

import tomllib
from pathlib import Path
from typing import Any, Final

from reviewsctl.importing.format import Format, Signature
from reviewsctl.importing.platforms import any_csv, special
from reviewsctl.importing.platforms.layout import Layout
from reviewsctl.importing.ratings import MAX_STARS

_SIGNATURE: Final = ("needs", "lacks")


def _format(name: str, table: dict[str, Any]) -> Format:
    members = {member: _value(value) for member, value in table.items()}
    signature = Signature(**{part: members.pop(part) for part in _SIGNATURE if part in members})
    if warning := members.pop("warning", ""):
        members["warnings"] = lambda _around, _count: (warning,)
    if columns := members.pop("table", {}):
        rows = any_csv.Table(**columns, best=MAX_STARS)
        members |= {"parser": rows.parser, "describe_columns": rows.describe}
    else:
        members["parser"] = Layout(**members.pop("row")).parser
    return Format(name=name, signature=signature, **members)


def _value(value: Any) -> Any:  # noqa: ANN401  # as TOML has it
    match value:
        case str() if value.endswith("()"):
            return getattr(special, value.removesuffix("()"))
        case list():
            return tuple(value)
        case dict():
            return {name: _value(member) for name, member in value.items()}
        case _:
            return value


_tables = tomllib.loads(Path(__file__).with_name("platforms.toml").read_text("utf-8"))

FORMATS: Final = tuple(_format(name, table) for name, table in _tables.items())
"""In the order in which they are tried."""
