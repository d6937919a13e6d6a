"""The form of ``/reviews``, filled with the values of the request and its issues (pages.md 1)."""

from collections.abc import Collection, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from reviewsd.domain.naming import mention_key
from reviewsd.domain.parameter_rules import ParameterType
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.domain.search_query import CHANGED, NEWEST, TRUTH
from reviewsd.pages.environment import Templates
from reviewsd.pages.filters import Link
from reviewsd.pages.frames import Frames
from reviewsd.pages.text import printable
from reviewsd.pages.words import Words

RATING = "rating"
"""The parameter that the chips set."""
_STARS = {str(rating): str(rating) for rating in (5, 4, 3, 2, 1)}
_BOUNDS = ("min_rating", "max_rating")
_NOTHING: Mapping[str, Sequence[str]] = {}

MAX_CHOICES = 30
"""Names that a field offers as a list to choose from; a field for more is a text with suggestions."""

_PARAMETERS = {parameter.name: parameter for parameter in SEARCH_PARAMETERS}

NAMES = frozenset(_PARAMETERS)
"""The parameters that the form may show."""


class Field(Struct, frozen=True, kw_only=True):
    """One field."""

    name: str
    label: str
    kind: str
    """The type of the input."""
    value: str
    any: str
    """The words for an absent value."""
    choices: Collection[tuple[str, str]] | None
    """(value, label) of each choice; None for a free text."""
    longest: int | None
    """Greatest length of a text."""
    listed: bool
    """Whether the field suggests names."""
    issues: Sequence[str]
    """The errors of an invalid value."""
    described: str
    """The ids of the issues, for ``aria-describedby``."""


class Form:
    """Renders the form."""

    def __init__(self, published: Frames, templates: Templates, words: Words) -> None:
        self._templates = templates
        self._words = words
        self._names = names = published.names
        self._sources = {mention_key(source): source for source in published.sources}
        self._locations = published.locations
        chosen = ("source",) if len(published.sources) > 1 else ()
        located = ("location",) if self._locations.by_id else ()
        self._first = ("query", *(located or chosen), "sort")  # what fits into one line
        sentiment = ("sentiment",) if names else ()
        rest = chosen if located else ()
        self._more = (*rest, "since", "until", *_BOUNDS, *published.booleans, *names, *sentiment)
        self._choices = {name: self._choices_of(name) for name in _PARAMETERS}
        self._ready: dict[tuple[str, str], str] = {}  # of choices, which are few

    def render(
        self,
        values: Mapping[str, str],
        chips: Sequence[Link],
        years: Sequence[Link],
        issues: Mapping[str, Sequence[str]] = _NOTHING,
        instead: Sequence[Link] = (),
    ) -> str:
        """Render the form.

        Args:
            values: The values of the request, by parameter.
            chips: Links to the reviews with each number of stars.
            years: Links to the reviews of each year.
            issues: The errors of invalid values, by parameter.
            instead: Searches that the client may have intended.
        """
        names = {*values, *issues}
        regular_names = {RATING, *self._first, *self._more}
        rest = [name for name in _PARAMETERS if name in names and name not in regular_names]
        more = (*self._more, *rest)
        return self._templates.render(
            "form.html",
            wrong=[(name, text) for name, texts in issues.items() for text in texts],
            instead=instead,
            fields=len(issues),
            given=bool(names),
            opened=not issues.keys().isdisjoint(more),
            first=self._fields(self._first, values, issues),
            chips=chips,
            years=years,
            rating="" if RATING in issues else values.get(RATING, ""),
            rating_issues=issues.get(RATING, ()),
            more=self._fields(more, values, issues),
        )

    def _fields(
        self,
        names: Sequence[str],
        values: Mapping[str, str],
        issues: Mapping[str, Sequence[str]],
    ) -> Markup:
        parts = [self._field(name, values.get(name, ""), issues.get(name, ())) for name in names]
        return Markup("".join(parts))  # noqa: S704  templates have escaped it

    def _field(self, name: str, value: str, issues: Sequence[str]) -> str:
        if name == "source":
            value = self._sources.get(mention_key(value), value)
        if name == "location" and len(locations := self._locations.search(value)) == 1:
            value = locations[0].id
        if issues or (value and value not in (self._choices[name] or ())):
            return self._rendered(name, value, issues)
        ready = self._ready.get((name, value))
        if ready is None:
            ready = self._ready[name, value] = self._rendered(name, value, ())
        return ready

    def _rendered(self, name: str, value: str, issues: Sequence[str]) -> str:
        choices, parameter = self._choices[name], _PARAMETERS[name]
        value = printable(value)
        if choices is not None and value and value not in choices and not issues:
            choices = {**choices, value: self._label(name, value)}
        kind = "date" if parameter.kind is ParameterType.DATE and not issues else "text"
        field = Field(
            name=name,
            label=self._words(f"field_{name}"),
            kind="search" if name == "query" else kind,
            value=value,
            any=self._words("sort_newest" if name == "sort" else "any"),
            choices=None if choices is None else choices.items(),
            longest=parameter.maximum
            if parameter.kind is ParameterType.TEXT and not issues
            else None,
            listed=name in self._names,
            issues=issues,
            described=" ".join(f"e-{name}-{at}" for at in range(1, len(issues) + 1)),
        )
        return self._templates.render("field.html", field=field)

    def _choices_of(self, name: str) -> Mapping[str, str] | None:
        """Return the labels of the values that a field offers; None for a free text."""
        parameter, names = _PARAMETERS[name], self._names.get(name, {})
        if name in _BOUNDS:
            return _STARS
        if name == "source":
            return {source: self._words.source(source) for source in self._sources.values()}
        if name == "location":
            names = {place.id: place.name for place in self._locations.declared()}
        if 0 < len(names) <= MAX_CHOICES or name == "location":
            return names or None
        values: Sequence[str] = parameter.choices
        if name == "sort":
            values = [value for value in values if value not in {NEWEST, CHANGED}]
        elif parameter.kind is ParameterType.BOOLEAN:
            values = [*TRUTH.values()]
        return {value: self._label(name, value) for value in values} or None

    def _label(self, name: str, value: str) -> str:
        """Return the words of a choice."""
        match name:
            case "sentiment":
                return self._words(value)
            case "sort" | "verified" | "has_reply":
                return self._words(f"{name}_{value}")
        return value
