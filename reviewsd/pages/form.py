"""The form of ``/reviews``, filled with the values of the request and its issues (pages.md 1)."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from reviewsd.domain.search_parameters import SEARCH_PARAMETERS, ParameterType
from reviewsd.pages.environment import Templates
from reviewsd.pages.filters import Instead
from reviewsd.pages.text import printable

_FIRST = ("query", "rating")
"""The fields outside of "More filters"."""
_ALWAYS = (*_FIRST, "since", "until", "min_rating", "max_rating")
_STARS = tuple((str(rating), str(rating)) for rating in (5, 4, 3, 2, 1))
_CHOSEN = frozenset({"rating", "min_rating", "max_rating"})
_NOTHING: Mapping[str, Sequence[str]] = {}

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
    """The words for any value."""
    choices: Sequence[tuple[str, str]] | None
    """(value, label) of each choice; None for a free text."""
    listed: bool
    """Whether the field suggests names."""
    issues: Sequence[str]
    """Advice on an invalid value."""
    described: str
    """The ids of the issues, for ``aria-describedby``."""


class Form:
    """Renders the form.

    Args:
        templates: ``form.html`` and ``field.html`` are among them.
        words: Returns the words of a key.
        listed: Parameters for which the page lists names.
    """

    def __init__(
        self, templates: Templates, words: Callable[..., str], listed: Sequence[str]
    ) -> None:
        self._templates = templates
        self._words = words
        self._listed = frozenset(listed)
        self._more = (*_ALWAYS[2:], *listed, *(("sentiment",) if listed else ()))
        self._ready: dict[tuple[str, str], str] = {}  # of choices, which are few

    def render(
        self,
        values: Mapping[str, str],
        issues: Mapping[str, Sequence[str]] = _NOTHING,
        instead: Sequence[Instead] = (),
    ) -> str:
        """Render the form.

        Args:
            values: The values of the request, by parameter.
            issues: Advice on invalid values, by parameter.
            instead: Searches that the client may have intended.
        """
        names = {*values, *issues}
        rest = [name for name in _PARAMETERS if name in names and name not in self._shown]
        return self._templates.render(
            "form.html",
            wrong=[(name, printable(text)) for name, texts in issues.items() for text in texts],
            instead=instead,
            given=bool(names),
            opened=not issues.keys().isdisjoint({*self._more, *rest}),
            first=self._fields(_FIRST, values, issues),
            more=self._fields((*self._more, *rest), values, issues),
        )

    @property
    def _shown(self) -> frozenset[str]:
        return frozenset({*_FIRST, *self._more})

    def _fields(
        self,
        names: Sequence[str],
        values: Mapping[str, str],
        issues: Mapping[str, Sequence[str]],
    ) -> Markup:
        parts = [self._field(name, values.get(name, ""), issues.get(name, ())) for name in names]
        return Markup("".join(parts))  # noqa: S704  templates have escaped it

    def _field(self, name: str, value: str, issues: Sequence[str]) -> str:
        choices = self._choices(name) or ()
        if issues or value not in {"", *(choice for choice, _ in choices)}:
            return self._rendered(name, value, issues)
        ready = self._ready.get((name, value))
        if ready is None:
            ready = self._ready[name, value] = self._rendered(name, value, ())
        return ready

    def _rendered(self, name: str, value: str, issues: Sequence[str]) -> str:
        choices = self._choices(name)
        value = printable(value)
        offered = choices is None or value in {"", *(choice for choice, _ in choices)}
        if choices is not None and not offered and not issues:
            choices = (*choices, (value, value))
        kind = "date" if _PARAMETERS[name].kind is ParameterType.DATE and not issues else "text"
        field = Field(
            name=name,
            label=self._words(f"field_{name}"),
            kind="search" if name == "query" else kind,
            value=value,
            any=self._words("any"),
            choices=choices,
            listed=name in self._listed,
            issues=[printable(issue) for issue in issues],
            described=" ".join(f"e-{name}-{at}" for at in range(1, len(issues) + 1)),
        )
        return self._templates.render("field.html", field=field)

    def _choices(self, name: str) -> Sequence[tuple[str, str]] | None:
        if name in _CHOSEN:
            return _STARS
        choices = _PARAMETERS[name].choices
        prefix = "sort_" if name == "sort" else ""
        return [(choice, self._words(f"{prefix}{choice}")) for choice in choices] or None
