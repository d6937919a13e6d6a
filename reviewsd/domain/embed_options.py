"""The options of the embed and of the badge, which owners put on their own websites (pages.md 7)."""

from collections.abc import Sequence
from typing import ClassVar, Final, Self
from urllib.parse import urlencode

from msgspec import Struct

from reviewsd.domain.parameters import read_table
from reviewsd.domain.search_parameters import ParameterType, SearchParameter

LIGHT: Final = "light"
DARK: Final = "dark"
AUTO: Final = "auto"
BADGE: Final = "badge"

EMBED_PARAMETERS: Final = (
    SearchParameter(
        name="theme",
        kind=ParameterType.CHOICE,
        choices=(LIGHT, DARK, AUTO),
        default=LIGHT,
        description="Colors: light, dark, or those that the visitor's device prefers.",
        example=DARK,
    ),
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
    SearchParameter(
        name="accent",
        kind=ParameterType.COLOR,
        description="The color of stars and links, as six hexadecimal digits.",
        example="0b6e6e",
    ),
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


class _Options(Struct, frozen=True):
    """Options of which only those that are not the default stand in an address."""

    parameters: ClassVar[Sequence[SearchParameter]]

    @classmethod
    def read(cls, query: bytes) -> Self:
        """Parse a query string.

        Raises:
            InvalidParametersError: An option is invalid; has every issue.
        """
        return cls(**read_table(query, cls.parameters))

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

    parameters = EMBED_PARAMETERS
    theme: str = LIGHT
    layout: str = "list"
    count: int = 3
    min_rating: int = 1
    accent: str | None = None
    """``#rrggbb``; None for the accent of the site."""


class BadgeOptions(_Options, frozen=True):
    """The options of the badge."""

    parameters = BADGE_PARAMETERS
    size: str = "m"
    theme: str = LIGHT
