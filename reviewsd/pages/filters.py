"""The filters of ``/reviews`` in words: of a search, and of what is wrong with one (pages.md 1)."""

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlencode

from msgspec import Struct

from reviewsd.domain.parameters import Issue
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS, ParameterType
from reviewsd.domain.search_query import MENTIONS, SearchQuery
from reviewsd.http1 import urls
from reviewsd.pages.language import Language

_PARAMETERS = {parameter.name: parameter for parameter in SEARCH_PARAMETERS}
CURSOR = "cursor"
_NOT_FILTERS = ("sort", "limit", CURSOR)
MAX_VALUE = 500
"""Characters of a value that a page shows again, where it was not valid."""


class Filter(Struct, frozen=True):
    """One filter of a search."""

    label: str
    without: str
    """The address of the same search without it."""


class Instead(Struct, frozen=True):
    """Another search that may have been meant."""

    label: str
    href: str


class Year(Struct, frozen=True):
    """A year that has reviews."""

    label: str
    count: int | None
    """Of all its reviews; None where other filters leave some out."""
    href: str
    current: bool


class Filters:
    """Says filters in words.

    Args:
        words: Of a key.
        language: How dates are written.
        names: By parameter: labels by id.
        years: Those that have reviews, and how many.
    """

    def __init__(
        self,
        words: Callable[..., str],
        language: Language,
        names: Mapping[str, Mapping[str, str]],
        years: Iterable[tuple[int, int]],
    ) -> None:
        self._words = words
        self._language = language
        self._names = names
        self._years = tuple(years)

    def of(self, query: SearchQuery, given: Mapping[str, str]) -> list[Filter]:
        """The filters of a search.

        Args:
            query: The search.
            given: The parameters of its first page.
        """
        groups: list[tuple[str, ...]] = [(name,) for name in given if name not in _NOT_FILTERS]
        if _year(given) is not None:
            groups = [("since", "until"), *(each for each in groups if each[0] not in _DAYS)]
        return [Filter(self._label(query, given, group), address(given, group)) for group in groups]

    def _label(self, query: SearchQuery, given: Mapping[str, str], group: tuple[str, ...]) -> str:
        name = group[0]
        value = given[name]
        if len(group) > 1:
            return _year(given) or value
        match name:
            case "rating":
                return self._words("star" if query.rating == 1 else "star_many", rating=value)
            case "sentiment":
                return self._words(value)
            case "since" | "until":
                day = self._language.date(datetime.date.fromisoformat(value))
                return self._words(f"filter_{name}", value=day)
            case "changed_since":
                return self._words("filter_changed_since", value=_moment(value, self._language))
            case "min_rating" | "max_rating" | "query":
                return self._words(f"filter_{name}", value=value)
            case _:
                named = self._names.get(name, {}).get(value)
                return named or self._words("filter_named", field=self._field(name), value=value)

    def nothing(self, query: SearchQuery) -> str:
        """Why no review can fit; empty where it only happens that none does."""
        if query.since is not None and query.until is not None and query.since > query.until:
            since, until = map(self._language.date, (query.since, query.until))
            return self._words("none_days", since=since, until=until)
        least, most = query.min_rating or 0, query.max_rating or math.inf
        if math.ceil(least) > most or not least <= (query.rating or least) <= most:
            return self._words("none_rating")
        named = [(name, getattr(query, name)) for name in MENTIONS]
        for name, value in named:
            alone = value and query == SearchQuery(**{name: value, "limit": query.limit})
            if alone and value not in self._names.get(name, {}):
                return self._words("none_named", field=self._field(name), value=value)
        return ""

    def _field(self, name: str) -> str:
        return self._words(f"field_{name}")

    def years(self, given: Mapping[str, str]) -> list[Year]:
        """Links to each year's reviews, with the other filters of a search."""
        if len(self._years) < 2:  # noqa: PLR2004  one year is all of them
            return []
        chosen = _year(given)
        alone = not given.keys() - set(_DAYS) - set(_NOT_FILTERS)
        others = address(given, _DAYS).removeprefix(urls.LIST).replace("?", "&")
        return [
            Year(
                label=str(year),
                count=count if alone else None,
                href=f"{urls.LIST}?since={year:04d}-01-01&until={year:04d}-12-31{others}",
                current=chosen == str(year),
            )
            for year, count in self._years
        ]

    def advice(self, issue: Issue) -> str:
        """What to do about something wrong, as a sentence."""
        name = field_of(issue)
        return self._words("advice", field=self._field(name), advice=self._advice(name, issue))

    def _advice(self, name: str, issue: Issue) -> str:
        if issue.code == "unrecognized_keys":
            return self._words("advice_unknown", name=issue.path[0])
        parameter, details = _PARAMETERS[name], dict(issue.details)
        most = details.get("maximum", parameter.maximum)
        if isinstance(most, float):
            most = f"{most:g}"
        if name == "min_rating" and "maximum" in details:
            return self._words("advice_range", most=most)
        match parameter.kind:
            case ParameterType.INTEGER | ParameterType.NUMBER:
                return self._words("advice_number", least=parameter.minimum, most=most)
            case ParameterType.DATE:
                return self._words("advice_date", example=parameter.example)
            case ParameterType.MOMENT:
                return self._words("advice_moment", example=parameter.example)
            case ParameterType.CHOICE:
                return self._words("advice_choice")
        candidates = details.get("values")
        if name in MENTIONS and isinstance(candidates, list):
            return self._words("advice_name", names=", ".join(candidates))
        if issue.code == "too_big":
            return self._words("advice_length", most=most)
        return self._words("advice_text")


def field_of(issue: Issue) -> str:
    """Return the field beside which an issue is shown: for an unknown name, the one that it resembles."""
    meant = dict(issue.details).get("did_you_mean")
    return str(meant[0]) if isinstance(meant, list) else issue.path[0]


def instead_of(issue: Issue, given: Mapping[str, str], values: Mapping[str, str]) -> list[Instead]:
    """The searches that one may mean: by another name of a filter, or for each of several names.

    Args:
        issue: What is wrong.
        given: The parameters.
        values: These and the unknown ones.
    """
    name, value = field_of(issue), values.get(issue.path[0], "")
    if name != issue.path[0] and name != CURSOR:
        value = value[:MAX_VALUE]
        return [Instead(f"{name}={value}", address({**given, name: value}))]
    names = dict(issue.details).get("values")
    if issue.path[0] not in MENTIONS or not isinstance(names, list):
        return []
    return [Instead(name, address({**given, issue.path[0]: name})) for name in names]


def _moment(value: str, language: Language) -> str:
    """A time as a search has it, in words where it is the first of a day."""
    day, _, time = value.partition("T")
    return language.date(datetime.date.fromisoformat(day)) if time == "00:00:00Z" else value


_DAYS = ("since", "until")


def address(given: Mapping[str, str], without: Iterable[str] = ()) -> str:
    """The address of a search.

    Args:
        given: Its parameters.
        without: Those to leave out.
    """
    left = set(without)
    rest = urlencode({name: value for name, value in given.items() if name not in left})
    return f"{urls.LIST}?{rest}" if rest else urls.LIST


def _year(given: Mapping[str, str]) -> str | None:
    """The year, where the days are just one."""
    since, until = (given.get(name, "") for name in _DAYS)
    year = since[:4]
    whole = since == f"{year}-01-01" and until == f"{year}-12-31"
    return str(int(year)) if whole else None
