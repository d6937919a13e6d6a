"""The arguments of a tool, read as language models write them (mcp.md 5.3).

Values are read by the table that reads the query string of a search; beyond that, numbers may be
strings, null is no argument, and every problem is told at once, each with what would be right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

import msgspec
from msgspec import Raw

from reviewsd.domain.parameters import (
    InvalidParametersError,
    bounds,
    check_together,
    read_value,
    shown,
)
from reviewsd.domain.search_parameters import ParameterType, SearchParameter

MAX_PROBLEMS = 10
"""Told of one call; the rest is counted."""

_MAX_SHOWN = 40  # characters of an offending value

_MEANT = {
    "stars": ("rating",),
    "star_rating": ("rating",),
    "score": ("rating",),
    "polarity": ("sentiment",),
    "max_stars": ("max_rating",),
    "maximum": ("max_rating",),
    "min_stars": ("min_rating",),
    "minimum": ("min_rating",),
    "from": ("since", "date"),
    "after": ("since", "date"),
    "start": ("since", "date"),
    "since": ("since", "date"),
    "date": ("since", "until"),
    "date_to": ("until",),
    "to": ("until",),
    "before": ("until",),
    "end": ("until",),
    "q": ("query",),
    "text": ("query",),
    "search": ("query",),
    "keyword": ("query",),
    "keywords": ("query",),
    "contains": ("query",),
    "person": ("mentions_technician", "name"),
    "technician": ("mentions_technician", "name"),
    "employee": ("mentions_technician", "name"),
    "staff": ("mentions_technician", "name"),
    "service": ("mentions_service",),
    "complaint": ("mentions_problem",),
    "issue": ("mentions_problem",),
    "location": ("mentions_area",),
    "city": ("mentions_area",),
    "town": ("mentions_area",),
    "count": ("limit", "months"),
    "top": ("limit", "months"),
    "max": ("limit", "months"),
    "n": ("limit", "months"),
    "limit": ("months",),
    "size": ("limit",),
    "page_size": ("limit",),
    "page": ("cursor", "offset"),
    "offset": ("cursor", "text_offset"),
    "cursor": ("offset", "text_offset"),
    "skip": ("cursor", "offset"),
    "type": ("kind",),
    "category": ("kind",),
    "topic": ("mentions_topic", "aspect", "query"),
    "review": ("id",),
}
"""By what is often written instead, in whole or as one of its words: the arguments that may be meant,
of which the tool need not have any."""

_SORTING = frozenset(
    {"sort", "order", "orderby", "sorting", "direction", "desc", "asc", "descending"}
)
"""Words of arguments that would sort a list."""


class ArgumentsError(Exception):
    """The arguments of a call are wrong; the message tells the agent all that is."""


def read(
    tool: str,
    parameters: Mapping[str, SearchParameter],
    required: Sequence[str],
    arguments: bytes,
    order: str = "",
) -> dict[str, object]:
    """Read the arguments of a call.

    Args:
        tool: Its name, for the message.
        parameters: All it knows, by name.
        required: The names of those it cannot do without.
        arguments: A JSON object, strict.
        order: That of its list, for who would like another one.

    Returns:
        The values by name, in the kinds of their parameters; absent ones left out.

    Raises:
        ArgumentsError: Something is wrong.
    """
    usual = _usual(parameters, arguments)
    if usual is not None and all(name in usual for name in required):
        return usual
    given = _members.decode(arguments)
    values: dict[str, object] = {}
    problems: list[str] = []
    for name, parameter in parameters.items():
        try:
            value = _value(parameter, given.pop(name, _NULL))
        except _ProblemError as problem:
            problems.append(str(problem))
            continue
        if value is not None:
            values[name] = value
        elif name in required:
            problems.append(f"{name} is missing: {parameter.description}".rstrip("."))
    problems += _range_problems(values)
    if given or problems:
        names = [*parameters]
        only = names[0] if len(names) == 1 and not values else None
        problems += _unknown(list(given), names, only, order)
        raise ArgumentsError(f"{tool}: {'; '.join(problems)}.")
    return values


def _usual(parameters: Mapping[str, SearchParameter], arguments: bytes) -> dict[str, object] | None:
    """The values where all are strings or integers, and right; None where it takes a closer look."""
    values: dict[str, object] = {}
    try:
        for name, value in _anything.decode(arguments).items():
            parameter = parameters[name]
            if type(value) is str:
                text = value
            elif type(value) is int and parameter.kind not in _TEXTS:
                text = str(value)
            else:
                return None
            found = read_value(parameter, text)
            if found is None:
                return None
            values[name] = found
        check_together(values)
    except (KeyError, InvalidParametersError, msgspec.DecodeError):
        return None
    return values


def _range_problems(values: Mapping[str, object]) -> list[str]:
    try:
        check_together(values)
    except InvalidParametersError as error:
        return [str(error)]
    return []


class _ProblemError(Exception):
    """What is wrong with one argument, as it is told."""


_NULL = Raw(b"null")


def _value(parameter: SearchParameter, raw: Raw) -> object:
    """One value; None where it is as good as absent."""
    token = bytes(raw)
    if token == b"null":
        return None
    spelled = token.startswith(b'"')
    text = _string.decode(token) if spelled else token.decode()
    if parameter.kind in _TEXTS and not spelled:
        raise _ProblemError(f"{parameter.name} must be a string, got {short(text)}")
    try:
        return read_value(parameter, text if spelled else _plain(text))
    except InvalidParametersError as error:
        if parameter.kind not in {ParameterType.INTEGER, ParameterType.NUMBER}:
            raise _ProblemError(str(error)) from None
    wanted = "an integer" if parameter.kind is ParameterType.INTEGER else "a number"
    got = shown(text) if spelled else short(text)
    raise _ProblemError(f"{parameter.name} must be {wanted} {bounds(parameter)}, got {got}")


def _plain(token: str) -> str:
    """A number of JSON as a query string spells it: 5e0 and 5.0 are the integer 5."""
    try:
        number = float(token)
    except ValueError:  # it is none
        return token
    return f"{number:.0f}" if number.is_integer() else token


def short(token: str) -> str:
    """The beginning of a text, as a message repeats it."""
    return token if len(token) <= _MAX_SHOWN else f"{token[:_MAX_SHOWN]}..."


def _unknown(
    given: Sequence[str], known: Sequence[str], only: str | None, order: str
) -> Iterator[str]:
    """What is told of arguments that the tool does not have.

    Args:
        given: Their names.
        known: The names of those that it has.
        only: The single one that it has, if that has no value yet.
        order: That of its list.
    """
    allowed = f"known: {', '.join(known)}" if known else "it takes none"
    for index, name in enumerate(given[:MAX_PROBLEMS]):
        words = _words(name)
        if order and not _SORTING.isdisjoint(words):
            hints = [f"the order is always {order}"]
        elif meant := [only] if only is not None else _meant(words, known):
            hints = [f"did you mean {' or '.join(map(quoted, meant))}?"]
        else:
            hints = []
        hints += [allowed] if index == 0 else []
        # after a question mark no semicolon
        said = "; ".join(hints).replace("?; ", "? ")
        yield f"{quoted(name)} is not an argument" + (f" ({said})" if said else "")
    if len(given) > MAX_PROBLEMS:
        yield f"and {len(given) - MAX_PROBLEMS} more are not arguments"


def _words(name: str) -> list[str]:
    """The words of an argument's name, however they are put together."""
    return _WORD.findall(_CAMEL.sub("_", name[:_MAX_SHOWN]).lower())


def _meant(words: Sequence[str], known: Sequence[str]) -> list[str]:
    """The known arguments that are most likely meant: one, or two that are equally likely."""
    plain = "_".join(words)
    likely = [*_MEANT.get(plain, ())]
    if not any(each in known for each in likely):
        likely = get_close_matches(plain, known, n=1)
        for word in words:
            likely += [*_MEANT.get(word, ()), *(each for each in known if word in each.split("_"))]
        likely = [each for each in likely if each in known][:1]
    return [each for each in likely if each in known]


def quoted(name: str) -> str:
    """A name as a message repeats it: in quotes, and short."""
    return f'"{short(name)}"'


_TEXTS = (ParameterType.TEXT, ParameterType.CHOICE)
_anything = msgspec.json.Decoder(dict[str, object])
_members = msgspec.json.Decoder(dict[str, Raw])
_string = msgspec.json.Decoder(str)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile("[a-z]+")
