"""Parameters, and how they are read from the struct that holds their values."""

import datetime
from dataclasses import KW_ONLY, dataclass, replace
from enum import Enum
from functools import cache
from typing import get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import FieldInfo, fields


class ParameterType(Enum):
    """The type of a parameter's value."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    MOMENT = "date or time"
    TEXT = "string"
    BOOLEAN = "boolean"
    CURSOR = "cursor"
    CHOICE = "choice"
    COLOR = "color"


@dataclass(frozen=True, slots=True)
class SearchParameter:
    """A parameter of a search, of an address or of a tool."""

    description: str
    example: str | float
    """A value that matches a review together with the examples of all others of its table."""
    _: KW_ONLY
    name: str = ""
    kind: ParameterType = ParameterType.TEXT
    minimum: int | None = None
    """Lowest value of a number."""
    maximum: int | None = None
    """Highest value of a number, or greatest length of a text."""
    default: int | str | None = None
    choices: tuple[str, ...] = ()
    """The values of a choice."""


_KINDS = {
    bool: ParameterType.BOOLEAN,
    int: ParameterType.INTEGER,
    float: ParameterType.NUMBER,
    datetime.date: ParameterType.DATE,
    datetime.datetime: ParameterType.MOMENT,
}


@cache
def parameters_of(kind: type[Struct]) -> tuple[SearchParameter, ...]:
    """Return the parameters that a struct holds.

    The type of a member is annotated with its parameter, all but name, default, and what the type says.
    """
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_parameter(field, *get_args(hints[field.name])) for field in fields(kind))


def _parameter(field: FieldInfo, bare: object, parameter: SearchParameter) -> SearchParameter:
    value_type, *_ = (*get_args(bare), bare)  # the other alternative is None
    kind = ParameterType.CHOICE if parameter.choices else _KINDS.get(value_type, parameter.kind)
    return replace(parameter, name=field.name, kind=kind, default=field.default)
