"""The issues of search parameters in the language of the page (pages.md 1).

The English words are those of the API, with the label of the field in place of the name of the parameter.
"""

from typing import Final

from reviewsd.domain.parameters import InvalidParametersError, Issue, ambiguous, read_query, shown
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS, ParameterType
from reviewsd.domain.search_query import MENTIONS, TRUTH
from reviewsd.pages.words import Words

_PARAMETERS: Final = {parameter.name: parameter for parameter in SEARCH_PARAMETERS}

_NUMBERS: Final = (ParameterType.INTEGER, ParameterType.NUMBER)

_EXAMPLES: Final = (
    b"rating=x&min_rating=x&max_rating=9&limit=0&since=x&changed_since=x&sort=x&q=x"
    b"&until=x&until=y&source=%ff&query=" + b"x" * 201,
    b"min_rating=5&max_rating=1",
)
_TIMES: Final = " times"
"""How the number of repetitions ends in a message; other values with a blank are quoted."""

_UPPER: Final = "max_rating"
"""The bound that an issue of ``min_rating`` may name."""


def sentence(words: Words, issue: Issue) -> str:
    """Return what is wrong with a parameter, as a sentence."""
    details, name = dict(issue.details), issue.path[0]
    names = details.get("did_you_mean", details.get("values"))
    listed = ", ".join(map(str, names)) if isinstance(names, list) else ""
    parameter = _PARAMETERS.get(name)
    if parameter is None:
        return words("error_unknown", name=shown(name), names=listed)
    value, dots, _ = issue.message.partition(", got ")[2].partition("... (")
    return words(
        f"error_{_rule(issue, parameter.kind)}",
        field=words(f"field_{name}"),
        other=words(f"field_{_UPPER}"),
        names=listed,
        choices=", ".join(parameter.choices or TRUTH.values()),
        least=parameter.minimum,
        most=parameter.maximum,
        example=parameter.example,
        value=f'{value}…"' if dots else value.removesuffix(_TIMES),
    )


def _rule(issue: Issue, kind: ParameterType) -> str:
    """Return the name of the rule that a value breaks, as in the keys of the words."""
    rule, got, value = issue.message.partition(", got ")
    if "values" in dict(issue.details):
        return "several"
    if value.endswith(_TIMES):
        return "once"
    if not got or kind is ParameterType.CURSOR:
        return "text"
    if rule.endswith(_UPPER):
        return "order"
    if issue.code in {"too_big", "too_small"}:
        return issue.code if kind in _NUMBERS else "long"
    return "choice" if kind is ParameterType.BOOLEAN else kind.name.lower()


def examples() -> list[Issue]:
    """Return an issue of each rule."""
    issues = [ambiguous(MENTIONS[0], "name", ("first", "second"))]
    for query in _EXAMPLES:
        try:
            read_query(query)
        except InvalidParametersError as error:
            issues += error.issues
    return issues
