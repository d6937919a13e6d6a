"""The options of the embed and of the badge, which owners put on their own websites (pages.md 7)."""

from typing import Annotated, Final, Self
from urllib.parse import urlencode

from msgspec import Struct

from reviewsd.domain.parameter_rules import ParameterType, SearchParameter, parameters_of
from reviewsd.domain.parameters import read_table

LIGHT: Final = "light"
DARK: Final = "dark"
AUTO: Final = "auto"
BADGE: Final = "badge"


class _Options(Struct, frozen=True):
    """Options of which only those that are not the default stand in an address."""

    @classmethod
    def read(cls, query: bytes) -> Self:
        """Parse a query string.

        Raises:
            InvalidParametersError: An option is invalid; has every issue.
        """
        return cls(**read_table(query, parameters_of(cls)))

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

    theme: Annotated[
        str,
        SearchParameter(
            "Colors: light, dark, or those that the visitor's device prefers.",
            DARK,
            choices=(LIGHT, DARK, AUTO),
        ),
    ] = LIGHT
    layout: Annotated[
        str,
        SearchParameter(
            "Reviews below each other, side by side, or only the rating.",
            "grid",
            choices=("list", "grid", BADGE),
        ),
    ] = "list"
    count: Annotated[
        int, SearchParameter("Number of reviews, the newest first.", 6, minimum=1, maximum=12)
    ] = 3
    min_rating: Annotated[
        int,
        SearchParameter(
            "Only reviews with this number of stars or more. The embed says so, and the rating stays that of all.",
            4,
            minimum=1,
            maximum=5,
        ),
    ] = 1
    accent: Annotated[
        str | None,
        SearchParameter(
            "The color of stars and links, as six hexadecimal digits.",
            "0b6e6e",
            kind=ParameterType.COLOR,
        ),
    ] = None
    """``#rrggbb``; None for the accent of the site."""


EMBED_PARAMETERS: Final = parameters_of(EmbedOptions)


class BadgeOptions(_Options, frozen=True):
    """The options of the badge."""

    size: Annotated[
        str,
        SearchParameter("Small, medium or large.", "l", choices=("s", "m", "l")),
    ] = "m"
    theme: Annotated[str, SearchParameter("Colors.", DARK, choices=(LIGHT, DARK))] = LIGHT


BADGE_PARAMETERS: Final = parameters_of(BadgeOptions)
