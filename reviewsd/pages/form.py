"""The form of ``/reviews``: what was given stands in it again, and what is wrong with it beside (pages.md 1)."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct

from reviewsd.domain.search_parameters import SEARCH_PARAMETERS, ParameterType
from reviewsd.pages.environment import Templates
from reviewsd.pages.filters import Instead
from reviewsd.pages.text import printable

_FIRST = ("query", "rating")
"""The fields that always show; the others open."""
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
    """(value, label) where one is chosen."""
    listed: bool
    """Whether there are names to choose from."""
    issues: Sequence[str]
    """What is wrong."""
    described: str
    """The ids of that."""


class Form:
    """Renders the form.

    Args:
        templates: ``form.html`` and ``field.html`` are among them.
        words: Of a key.
        listed: The parameters that have names to choose from.
    """

    def __init__(
        self, templates: Templates, words: Callable[..., str], listed: Sequence[str]
    ) -> None:
        self._templates = templates
        self._words = words
        self._listed = frozenset(listed)
        self._more = (*_ALWAYS[2:], *listed, *(("sentiment",) if listed else ()))
        self._ready: dict[tuple[str, str], str] = {}  # of values that are few

    def render(
        self,
        values: Mapping[str, str],
        issues: Mapping[str, Sequence[str]] = _NOTHING,
        instead: Sequence[Instead] = (),
    ) -> str:
        """The form.

        Args:
            values: By parameter, as they were given.
            issues: By parameter: what is wrong.
            instead: What may have been meant.
        """
        given = {*values, *issues}
        rest = [name for name in _PARAMETERS if name in given and name not in self._shown]
        return self._templates.render(
            "form.html",
            wrong=[(name, printable(each)) for name, said in issues.items() for each in said],
            instead=instead,
            given=bool(given),
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
        parts = [self._field(each, values.get(each, ""), issues.get(each, ())) for each in names]
        return Markup("".join(parts))  # noqa: S704  templates have escaped it

    def _field(self, name: str, value: str, issues: Sequence[str]) -> str:
        choices = self._choices(name) or ()
        if issues or value not in {"", *(each for each, _ in choices)}:
            return self._rendered(name, value, issues)
        ready = self._ready.get((name, value))
        if ready is None:
            ready = self._ready[name, value] = self._rendered(name, value, ())
        return ready

    def _rendered(self, name: str, value: str, issues: Sequence[str]) -> str:
        choices = self._choices(name)
        value = printable(value)
        offered = choices is None or value in {"", *(each for each, _ in choices)}
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
            issues=[printable(each) for each in issues],
            described=" ".join(f"e-{name}-{at}" for at in range(1, len(issues) + 1)),
        )
        return self._templates.render("field.html", field=field)

    def _choices(self, name: str) -> Sequence[tuple[str, str]] | None:
        if name in _CHOSEN:
            return _STARS
        choices = _PARAMETERS[name].choices
        prefix = "sort_" if name == "sort" else ""
        return [(each, self._words(f"{prefix}{each}")) for each in choices] or None
