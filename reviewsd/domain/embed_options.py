"""The options of the embed and of the badge, which owners put on their own websites (pages.md 7)."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from reviewsd.domain.issues import InvalidParametersError, Issue, shown
from reviewsd.domain.near_misses import resembled
from reviewsd.domain.parameters import MAX_COMPARED, read_value
from reviewsd.domain.search_parameters import ParameterType, SearchParameter

LIGHT: Final = "light"
DARK: Final = "dark"
AUTO: Final = "auto"
BADGE: Final = "badge"

_THEME: Final = SearchParameter(
    name="theme",
    kind=ParameterType.CHOICE,
    choices=(LIGHT, DARK, AUTO),
    default=LIGHT,
    description="Colors: light, dark, or those that the visitor's device prefers.",
    example=DARK,
)

_ACCENT: Final = SearchParameter(
    name="accent",
    kind=ParameterType.TEXT,
    description="The color of stars and links, as six hexadecimal digits.",
    example="0b6e6e",
)

EMBED_PARAMETERS: Final = (
    _THEME,
    SearchParameter(
        name="layout",
        kind=ParameterType.CHOICE,
        choices=("list", "grid", BADGE),
        default="list",
        description="Reviews below each other, side by side, or only the rating.",
        example="grid",
    ),
    SearchParameter(
        name="count",
        kind=ParameterType.INTEGER,
        minimum=1,
        maximum=12,
        default=3,
        description="Number of reviews, the newest first.",
        example=6,
    ),
    SearchParameter(
        name="min_rating",
        kind=ParameterType.INTEGER,
        minimum=1,
        maximum=5,
        default=1,
        description="Only reviews with this number of stars or more. The embed says so, and the rating stays that of all.",
        example=4,
    ),
    _ACCENT,
)

BADGE_PARAMETERS: Final = (
    SearchParameter(
        name="size",
        kind=ParameterType.CHOICE,
        choices=("s", "m", "l"),
        default="m",
        description="Small, medium or large.",
        example="l",
    ),
    SearchParameter(
        name="theme",
        kind=ParameterType.CHOICE,
        choices=(LIGHT, DARK),
        default=LIGHT,
        description="Colors.",
        example=DARK,
    ),
)

_DIGITS: Final = frozenset("0123456789abcdef")
_LENGTH: Final = 6


class _Options(Struct, frozen=True):
    """Options of which only those that are not the default stand in an address."""

    def changed(self) -> dict[str, str]:
        """Return the options that are not the default, as in an address."""
        usual = type(self)()
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {
            name: str(value).removeprefix("#")
            for name, value in values.items()
            if value != getattr(usual, name)
        }

    def query(self) -> str:
        """Return the query string: the same for the same options."""
        return urlencode(self.changed())


class EmbedOptions(_Options, frozen=True):
    """The options of the embed."""

    theme: str = LIGHT
    layout: str = "list"
    count: int = 3
    min_rating: int = 1
    accent: str | None = None
    """``#rrggbb``; None for the accent of the site."""


class BadgeOptions(_Options, frozen=True):
    """The options of the badge."""

    size: str = "m"
    theme: str = LIGHT


def read_embed_options(query: bytes) -> EmbedOptions:
    """Parse the query string of the embed.

    Raises:
        InvalidParametersError: An option is invalid; has every issue.
    """
    values = _read(query, EMBED_PARAMETERS)
    return EmbedOptions(**values)  # type: ignore[arg-type]  # values have their parameter's type


def read_badge_options(query: bytes) -> BadgeOptions:
    """Parse the query string of the badge.

    Raises:
        InvalidParametersError: An option is invalid; has every issue.
    """
    return BadgeOptions(**_read(query, BADGE_PARAMETERS))  # type: ignore[arg-type]  # the same


def _read(query: bytes, parameters: Sequence[SearchParameter]) -> dict[str, object]:
    """Parse a query string; unknown names are ignored unless they resemble a known one, as in a search.

    Raises:
        InvalidParametersError: An option is invalid; has every issue.
    """
    texts: dict[str, list[str]] = {}
    for name, text in parse_qsl(query.decode("latin-1"), errors="replace"):
        texts.setdefault(name, []).append(text)
    values: dict[str, object] = {}
    issues: list[Issue] = []
    for parameter in parameters:
        try:
            for text in texts.pop(parameter.name, ()):
                if parameter.name in values:
                    message = f"{parameter.name} must be given once"
                    raise _error("invalid_type", parameter.name, message)
                values[parameter.name] = _value(parameter, text)
        except InvalidParametersError as error:
            issues += error.issues
    names = tuple(parameter.name for parameter in parameters)
    for name in list(texts)[:MAX_COMPARED]:
        if similar := resembled(name, names):
            message = f"{shown(name)} is not an option; did you mean {' or '.join(similar)}?"
            details = (("keys", [name]), ("did_you_mean", list(similar)))
            issues += _error("unrecognized_keys", name, message, *details).issues
    if issues:
        raise InvalidParametersError(tuple(issues))
    return values


def _value(parameter: SearchParameter, text: str) -> object:
    """Parse one value.

    Raises:
        InvalidParametersError: The value is invalid; has one issue.
    """
    if parameter is not _ACCENT:
        return read_value(parameter, text)
    digits = text.removeprefix("#").lower()
    if len(digits) != _LENGTH or not _DIGITS.issuperset(digits):
        rule = f"must be a color as six hexadecimal digits, such as {parameter.example}"
        message = f"{parameter.name} {rule}, got {shown(text)}"
        raise _error("invalid_format", parameter.name, message, ("format", "color"))
    return f"#{digits}"


def _error(
    code: str, name: str, message: str, *details: tuple[str, object]
) -> InvalidParametersError:
    return InvalidParametersError(
        (Issue(code=code, path=(name,), message=message, details=details),)
    )
