"""The issues of search parameters in the language of the page (pages.md 1).

The English words are as those of the API, with the label of the field in place of the name of the parameter.
"""

from typing import Final

from reviewsd.domain.issues import InvalidParametersError, Issue, ambiguous, shown
from reviewsd.domain.parameters import read_query
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.domain.search_query import TRUTH
from reviewsd.pages.words import Words

_PARAMETERS: Final = {parameter.name: parameter for parameter in SEARCH_PARAMETERS}

_EXAMPLES: Final = (
    b"rating=x&min_rating=x&max_rating=9&limit=0&since=x&changed_since=x&sort=x&q=x"
    b"&until=x&until=y&source=%ff&query=" + b"x" * 201,
    b"min_rating=5&max_rating=1",
)
_TIMES: Final = " times"
"""The end of a number of repetitions; other values with a blank are quoted."""

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
    value, dots, _ = issue.value.partition("... (")
    return words(
        f"error_{issue.rule}",
        field=words(f"field_{name}"),
        other=words(f"field_{_UPPER}"),
        names=listed,
        choices=", ".join(parameter.choices or TRUTH.values()),
        least=parameter.minimum,
        most=parameter.maximum,
        example=parameter.example,
        value=f'{value}…"' if dots else value.removesuffix(_TIMES),
    )


def examples() -> list[Issue]:
    """Return an issue of each rule."""
    issues = [ambiguous("mentions_technician", "name", ("first", "second"))]
    for query in _EXAMPLES:
        try:
            read_query(query)
        except InvalidParametersError as error:
            issues += error.issues
    return issues
