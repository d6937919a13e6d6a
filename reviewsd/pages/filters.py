"""The filters of ``/reviews`` in words, and the errors of invalid ones (pages.md 1)."""

import datetime
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from reviewsd.domain.issues import Issue
from reviewsd.domain.naming import mention_key
from reviewsd.domain.search_query import BY_RATING, HIGHEST, MENTIONS, SearchQuery
from reviewsd.http1 import urls
from reviewsd.pages.frames import Frames
from reviewsd.pages.words import Language, Words

CURSOR = "cursor"
_NOT_FILTERS = ("sort", "limit", CURSOR)
MAX_VALUE = 500
"""Characters of an invalid value that a page repeats."""


class Filter(Struct, frozen=True):
    """One filter of a search."""

    name: str
    """The name of its parameter, or of the first of two."""
    label: str
    without: str
    """Address of the same search without this filter."""


class Link(Struct, frozen=True, kw_only=True):
    """A link to another search."""

    label: str
    href: str
    current: bool = False
    """Whether it stands for what is filtered; one of stars then leads to the search without them."""
    stars: int = 0
    """The stars of its reviews, if it filters by them."""
    count: int | None = None
    """The number of its reviews, if no other filter excludes some."""


class Filters:
    """Describes filters in words."""

    def __init__(self, published: Frames, words: Words) -> None:
        self._locations = published.locations
        self._words = words
        self._language = words.language
        self._names = published.names
        self._sources = frozenset(map(mention_key, published.sources))
        self._years = published.years
        self._stars = [(stars, words.plural("star", stars)) for stars in BY_RATING[HIGHEST]]

    def of(self, parameters: Mapping[str, str]) -> list[Filter]:
        """Return the filters of a search; ``parameters`` are those of its first page."""
        groups: list[tuple[str, ...]] = [(name,) for name in parameters if name not in _NOT_FILTERS]
        if _year(parameters) is not None:
            groups = [("since", "until"), *(names for names in groups if names[0] not in _DAYS)]
        return [
            Filter(group[0], self._label(parameters, group), address(_without(parameters, group)))
            for group in groups
        ]

    def _label(self, parameters: Mapping[str, str], group: tuple[str, ...]) -> str:
        name = group[0]
        value = parameters[name]
        if len(group) > 1:
            return _year(parameters) or value
        match name:
            case "rating":
                return self._words.plural("star", int(value))
            case "sentiment":
                return self._words(value)
            case "source":
                return self._words.source(value)
            case "verified" | "has_reply":
                return self._words(f"{name}_{value}")
            case "since" | "until":
                day = self._language.date(datetime.date.fromisoformat(value))
                return self._words(f"filter_{name}", value=day)
            case "changed_since":
                return self._words("filter_changed_since", value=_moment(value, self._language))
            case "min_rating" | "max_rating":
                return self._limit(f"filter_{name}", value)
            case "query":
                return self._words("filter_query", value=value)
            case _:
                named = self._named(name, value)
                return named or self._words("filter_named", field=self._field(name), value=value)

    def _named(self, parameter: str, value: str) -> str | None:
        """Return the name of what a filter finds; None if it is not known."""
        if parameter == "location":
            return next((location.name for location in self._locations.search(value)), None)
        return self._names.get(parameter, {}).get(value)

    def _limit(self, key: str, value: str) -> str:
        """Return a limit of stars in words; it need not be a whole number."""
        stars = float(value)
        if stars.is_integer():
            return self._words.plural(key, int(stars))
        return self._words(key, count=value.replace(".", self._language.point))

    def nothing(self, query: SearchQuery) -> str:
        """Return why no review can match; empty if none happens to."""
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
        if query.location and self._locations.by_id and not self._locations.search(query.location):
            return self._words("none_named", field=self._field("location"), value=query.location)
        if query.source is not None and mention_key(query.source) not in self._sources:
            return self._words("none_named", field=self._field("source"), value=query.source)
        return ""

    def _field(self, name: str) -> str:
        return self._words(f"field_{name}")

    def years(self, parameters: Mapping[str, str]) -> list[Link]:
        """Return links to the reviews of each year, with the other filters of a search."""
        if len(self._years) < 2:  # noqa: PLR2004  one year is all of them
            return []
        chosen = _year(parameters)
        rest = _without(parameters, _DAYS)
        return [
            Link(
                label=str(year),
                count=None if rest.keys() - set(_NOT_FILTERS) else count,
                href=address({"since": f"{year:04d}-01-01", "until": f"{year:04d}-12-31", **rest}),
                current=chosen == str(year),
            )
            for year, count in self._years
        ]

    def stars(self, parameters: Mapping[str, str]) -> list[Link]:
        """Return links to the reviews with each number of stars, with the other filters of a search."""
        chosen = parameters.get("rating")
        rest = _without(parameters, _RATINGS)
        return [
            Link(
                stars=stars,
                label=label,
                href=address(rest if chosen == str(stars) else {"rating": str(stars), **rest}),
                current=chosen == str(stars),
            )
            for stars, label in self._stars
        ]


def values_of(query: bytes) -> dict[str, str]:
    """Return the values of a query string by name, whatever they are."""
    return dict(parse_qsl(query.decode("latin-1"), encoding="utf-8", errors="replace"))


def by_field(issues: Iterable[Issue], text_of: Callable[[Issue], str]) -> dict[str, list[str]]:
    """Return the texts of issues by the field beside which they are shown."""
    texts: dict[str, list[str]] = {}
    for issue in issues:
        texts.setdefault(field_of(issue), []).append(text_of(issue))
    return texts


def field_of(issue: Issue) -> str:
    """Return the field beside which an issue is shown: for an unknown name, the one that it resembles."""
    names = dict(issue.details).get("did_you_mean")
    return str(names[0]) if isinstance(names, list) else issue.path[0]


def instead_of(
    issue: Issue, parameters: Mapping[str, str], values: Mapping[str, str]
) -> list[Link]:
    """Return searches that the client may have intended: with another parameter, or with each candidate.

    Args:
        issue: The issue of a parameter.
        parameters: The known parameters.
        values: The known and the unknown parameters.
    """
    name, value = field_of(issue), values.get(issue.path[0], "")
    if name != issue.path[0] and name != CURSOR:
        value = value[:MAX_VALUE]
        return [Link(label=f"{name}={value}", href=address({**parameters, name: value}))]
    names = dict(issue.details).get("values")
    if issue.path[0] not in MENTIONS or not isinstance(names, list):
        return []
    mentioned = issue.path[0]
    return [Link(label=name, href=address({**parameters, mentioned: name})) for name in names]


def _moment(value: str, language: Language) -> str:
    """Return a time of a search, as a date if it is the start of a day."""
    day, _, time = value.partition("T")
    return language.date(datetime.date.fromisoformat(day)) if time == "00:00:00Z" else value


_DAYS = ("since", "until")
_RATINGS = ("rating", "min_rating", "max_rating")


def address(parameters: Mapping[str, str]) -> str:
    """Return the address of a search."""
    return f"{urls.LIST}?{urlencode(parameters)}" if parameters else urls.LIST


def _without(parameters: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if name not in names}


def _year(parameters: Mapping[str, str]) -> str | None:
    """Return the year, if the days of a search are those of one year."""
    since, until = (parameters.get(name, "") for name in _DAYS)
    year = since[:4]
    is_year = since == f"{year}-01-01" and until == f"{year}-12-31"
    return str(int(year)) if is_year else None
