"""Errors in files, and the documents of ``check --json`` and ``config show --json`` (interfaces.md 1.1)."""

import datetime
from typing import Literal

from msgspec import UNSET, Struct, UnsetType


class Diagnostic(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error or a warning about a file: the configuration, insights.yaml or the data."""

    file: str
    """The path or name of the file; ``environment``; empty without a file."""
    line: int | None = None
    column: int | None = None
    """Line and column count from 1, the column in characters."""
    path: str = ""
    """The dotted key of the configuration, the variable, or the JSON path of the data such as
    ``$.reviews[812].rating``; empty for the file itself."""
    id: str | None = None  # of the review
    reason: str
    lines: tuple[str, ...] = ()
    """Lines to print: place and reason, and if they help the source line and a caret."""


class Facts(Struct, frozen=True, kw_only=True):
    """A summary of valid data."""

    business: str
    reviews: int
    first: datetime.date | None
    last: datetime.date | None
    average: float | None
    stars: dict[str, int]
    withheld: str = ""
    """The note for readers on withheld reviews; empty if none is withheld."""
    insights: bool
    analysed: int
    uncovered: int
    """Number of reviews that ``per_review`` of the file leaves out."""
    made: bool
    """Whether the insights are made from the reviews, because there is no file."""


class CheckReport(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The result of a check, after its lines of the type ``progress``."""

    config: str | None = None
    """The path of the configuration; None if only data was checked."""
    data_dir: str | None = None
    """None if the configuration names no directory."""
    problems: tuple[Diagnostic, ...] = ()
    """The first ``MAX_FINDINGS`` errors of the configuration, and of the data."""
    problem_count: int = 0
    """Number of errors; after the first ``MAX_FINDINGS`` each part of the data counts once."""
    warnings: tuple[Diagnostic, ...] = ()
    """The first ``MAX_FINDINGS`` warnings about each file."""
    warning_count: int = 0
    facts: Facts | None = None
    unread_addresses: tuple[str, ...] = ()
    """Targets of notices with addresses that only the daemon can read, so that they are not checked."""

    @property
    def unread(self) -> str:
        """A sentence about them."""
        targets = ", ".join(self.unread_addresses)
        return f"the addresses of {targets} are not checked, as only the daemon can read them"


class Setting(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One key of the configuration."""

    key: str
    value: object
    """The value in effect: paths are absolute; a password is ``***``."""
    default: object | UnsetType = UNSET
    origin: Literal["file", "environment", "default"]
    line: int | None = None
    column: int | None = None
    variable: str | None = None


class EffectiveConfig(Struct, frozen=True, kw_only=True):
    """The configuration in effect."""

    file: str
    settings: tuple[Setting, ...]

    def value(self, key: str) -> object:
        """Return the value of an existing key."""
        return next(setting.value for setting in self.settings if setting.key == key)

    def text(self, key: str) -> str:
        """Return the value of an existing key as a string."""
        return str(self.value(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the value of an existing key as strings; none if it is not a list."""
        value = self.value(key)
        return tuple(map(str, value)) if isinstance(value, list) else ()
