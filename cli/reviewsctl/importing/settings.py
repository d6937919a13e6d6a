"""Answers to what an export leaves open: ``--set``, or ``import`` of a source in reviewsd.yaml."""

import datetime
import re
import zoneinfo
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.publicity.judge import Publicity
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.values import shown
from reviewsd.api.platforms import source_of
from reviewsd.api.spelling import nearest

NO_SOURCE: Final = "import"
"""The source of reviews where neither a column nor the operator names it."""

_NAMES: Final = ("full", "short")
_DATE_LETTERS: Final = re.compile(r"([dtmyja])\1*", re.IGNORECASE)
_DATE_CODES: Final = {"d": "%d", "t": "%d", "m": "%m", "yy": "%y", "jj": "%y", "aa": "%y"}
"""Letters of spreadsheets for day, month and year of two digits, with the codes of ``strptime``."""

BOOLEANS: Final = {"yes": True, "true": True, "no": False, "false": False}
"""The words of ``--set verified`` and the like, casefolded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Answers to what an export leaves open, the same for all its formats."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Our names with those of columns, an empty one for none (``--map``)."""
    source: str | None = None
    """The platform of a table, when no column names it."""
    sources: dict[str, str] = field(default_factory=dict)
    """The sources of the reviews that are there and of the rows so far, by themselves and casefolded."""
    date_format: str | None = None
    """The pattern of ``strptime`` of the dates of a table."""
    scale: Scale = field(default_factory=Scale)
    """The scale of the ratings of a table, and whether recommendations of Facebook have stars."""
    publicity: Publicity = field(default_factory=Publicity)
    """Decides which rows are public at their platform."""
    verified: bool | None = None
    """Whether authors are known to be customers, where the export does not say."""
    names: str | None = None
    """``full`` or ``short``; None is what an import said last of a source, and leaves names that are short in the file."""
    timezone: datetime.tzinfo | None = None
    """The time zone of the business, which decides on which day a review was written; None if nobody says it."""
    today: datetime.date = datetime.date.max
    """The day at the business; reviews of later days than the next are refused."""
    earlier_source: str | None = None
    """The source under which the same reviews are there, of which they keep the ids."""
    location: str | None = None
    """The id or the title of the location to import, or ``all``."""
    name: str | None = None
    """The name of the business, for a reviews.json without one."""
    places: Collection[str] = ()
    """The names of the declared locations, casefolded."""

    @property
    def zone(self) -> datetime.tzinfo:
        """The time zone of the business; UTC if nobody says it."""
        return self.timezone or datetime.UTC

    def in_zone(self, name: str, now: datetime.datetime) -> "Settings":
        """Return these with the time zone of earlier imports, if they have none; also if it is not known here any more."""
        if self.timezone is not None or not name:
            return self
        try:
            timezone = zone(name)
        except SayMoreError:
            return self
        return replace(self, timezone=timezone, today=now.astimezone(timezone).date())

    def source_of(self, name: str) -> str:
        """Return the source that a name in a table or of an option stands for."""
        source = source_of(name, self.sources)
        return self.sources.setdefault(source.casefold(), source)


def parsed(
    pairs: Sequence[str],
    now: datetime.datetime,
    *,
    columns: Sequence[str] = (),
    source: str | None = None,
) -> Settings:
    """Return the settings of a command line.

    Args:
        pairs: The values of ``--set``, each as ``NAME=VALUE``.
        now: The time of the import.
        columns: The values of ``--map``, each as ``NAME=COLUMN``.
        source: The value of ``--source``.

    Raises:
        SayMoreError: One of them is in another form.
    """
    values: dict[str, Any] = {}
    public: list[str] = []
    for pair in pairs:
        name, value = _pair("--set", "VALUE", pair)
        name = name.replace("-", "_")
        if name == "public":
            public.append(value)
        elif name == "earlier_source":
            values[name] = _text(name, value)
        elif name in SETTINGS:
            values[name] = SETTINGS[name](name, value)
        else:
            names = [*SETTINGS, "public", "earlier_source"]
            raise SayMoreError(
                f"--set: there is no setting {shown(name)}{nearest(name, names)}",
                f"There are: {', '.join(names)}",
            )
    if source is not None and not source.strip():
        raise SayMoreError("--source: expected a name", "Such as: --source website")
    recommended = values.pop("recommended", False)
    values["scale"] = replace(values.get("scale", Scale()), recommended=recommended)
    return Settings(
        columns=dict(_pair("--map", "COLUMN", column) for column in columns),
        source=source,
        publicity=Publicity.parsed(public),
        today=now.astimezone(values.get("timezone", datetime.UTC)).date(),
        **values,
    )


def _pair(option: str, right: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise SayMoreError(f"{option}: expected NAME={right}, got {shown(text)}")
    return name.strip().lower(), value.strip()


def _text(name: str, value: str) -> str:
    if not value:
        raise SayMoreError(f"--set {name}: expected a value")
    return value


def _business_name(name: str, value: str) -> str:
    """Return the name of the business, which is no value of ``names``."""
    if value in _NAMES:
        raise SayMoreError(
            f"--set name: {shown(value)} would be the name of the business",
            f"For the names of customers: --set names={value}",
        )
    return _text(name, value)


def _pattern(name: str, value: str) -> str:
    """Return a pattern of ``strptime``; one as spreadsheets have it is refused with ours."""
    if "%" in _text(name, value):
        return value

    def code(match: re.Match[str]) -> str:
        letters = match[0].casefold()
        return _DATE_CODES.get(letters) or _DATE_CODES.get(letters[0], "%Y")

    codes = _DATE_LETTERS.sub(code, value)
    hint = f"Write it as --set date_format={codes}" if "%" in codes else ""
    raise SayMoreError(f"--set {name}: expected a pattern as %d/%m/%Y, got {shown(value)}", hint)


def _boolean(name: str, value: str) -> bool:
    if value.casefold() not in BOOLEANS:
        raise SayMoreError(f"--set {name}: expected yes or no, got {shown(value)}")
    return BOOLEANS[value.casefold()]


def _names(name: str, value: str) -> str:
    if value not in _NAMES:
        raise SayMoreError(f"--set {name}: expected full or short, got {shown(value)}")
    return value


def zone(name: str) -> datetime.tzinfo:
    """Return a time zone by its name.

    Raises:
        SayMoreError: There is none.
    """
    if name.upper() == "UTC":
        return datetime.UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        hint = nearest(name, zoneinfo.available_timezones())
        raise SayMoreError(
            f"timezone: there is no time zone {shown(name)}{hint}",
            "They are named like America/New_York or Europe/Berlin; if this one exists, install tzdata.",
        ) from None


SETTINGS: Final[Mapping[str, Callable[[str, str], object]]] = {
    "location": _text,
    "name": _business_name,
    "names": _names,
    "timezone": lambda name, value: zone(_text(name, value)),
    "verified": _boolean,
    "scale": lambda name, value: Scale.parsed(_text(name, value)),
    "recommended": _boolean,
    "date_format": _pattern,
}
"""The settings of ``--set`` that a source of a sync has too, but ``public``, which may be repeated."""
