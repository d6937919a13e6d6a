"""The documents of ``reviewsctl check --json`` and ``config show --json`` (interfaces.md 1.1)."""

import datetime
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from reviewsd.api.diagnostic import Diagnostic


class Facts(Struct, frozen=True, kw_only=True):
    """What the data is; only valid data has facts."""

    business: str
    reviews: int
    first: datetime.date | None
    last: datetime.date | None
    average: float | None
    stars: dict[str, int]
    replies_until: datetime.date | None = None
    """The latest day of a review or reply."""
    insights: bool
    analysed: int
    """Reviews that the insights speak of."""
    uncovered: int
    """Reviews that ``per_review`` of the file leaves out."""
    made: bool
    """Whether there is no file, and insights are made from the reviews."""


class CheckReport(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The result of a check; its steps have the type ``progress``."""

    config: str | None
    """None where there is none and only data was asked for."""
    data_dir: str | None
    """None where the configuration does not say."""
    problems: tuple[Diagnostic, ...]
    """The first ``MAX_FINDINGS`` of the configuration, and of the data."""
    problem_count: int
    """Of those after the first ``MAX_FINDINGS`` one for each part of the data that has any."""
    warnings: tuple[Diagnostic, ...]
    """The first ``MAX_FINDINGS`` of each file."""
    warning_count: int
    facts: Facts | None


class Setting(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One key of the configuration."""

    key: str
    value: object
    """As it is in effect: paths are absolute; a password is ``***``."""
    default: object | UnsetType = UNSET
    """Left out where there is none."""
    origin: Literal["file", "environment", "default"]
    line: int | None = None
    column: int | None = None
    variable: str | None = None


class Shown(Struct, frozen=True, kw_only=True):
    """The configuration in effect."""

    file: str
    settings: tuple[Setting, ...]

    def value(self, key: str) -> object:
        """The value of a key that there is."""
        return next(each.value for each in self.settings if each.key == key)

    def text(self, key: str) -> str:
        """The value of a key that is a string."""
        return str(self.value(key))
