"""What ``reviewsd`` says of files and settings, as values (reviewsd/inspection.py, showing.py)."""

import datetime
from typing import Literal

import msgspec


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A problem or a warning."""

    file: str
    line: int | None = None
    column: int | None = None
    path: str = ""
    id: str | None = None
    reason: str
    lines: tuple[str, ...]
    """For people: place and reason, and where they help the source line and a caret."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What valid data is."""

    business: str
    reviews: int
    first: datetime.date | None
    last: datetime.date | None
    average: float | None
    stars: dict[str, int]
    insights: bool
    analysed: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How a check went."""

    config: str | None
    data_dir: str | None
    problems: tuple[Remark, ...]
    problem_count: int
    warnings: tuple[Remark, ...]
    warning_count: int
    facts: Facts | None


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the configuration."""

    key: str
    value: object
    default: object | msgspec.UnsetType = msgspec.UNSET
    origin: Literal["file", "environment", "default"]
    line: int | None = None
    column: int | None = None
    variable: str | None = None


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration in effect."""

    file: str
    settings: tuple[Setting, ...]

    def value(self, key: str) -> object:
        """The value of a key that there is."""
        return next(each.value for each in self.settings if each.key == key)

    def text(self, key: str) -> str:
        """The value of a key that is a string."""
        return str(self.value(key))
