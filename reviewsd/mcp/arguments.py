"""Reads the arguments of a tool as language models and gateways write them (mcp.md 5.3).

The table that reads the query string of a search reads the values. In addition, numbers may be
strings, and values that stand for nothing count as absent. One error reports every problem, with the
correct form. Unknown arguments are ignored, because gateways add their own to every call, unless they
resemble a known one; the result's ``_meta`` names them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec
from msgspec import Raw

from reviewsd.domain.issues import InvalidParametersError, shown
from reviewsd.domain.near_misses import similar_names, words_of
from reviewsd.domain.parameter_rules import ParameterType, SearchParameter
from reviewsd.domain.parameters import MAX_COMPARED, bounds, check_together, read_value
from reviewsd.domain.search_query import TRUTH
from reviewsd.mcp.results import ToolError

MAX_PROBLEMS = 10
"""Unknown arguments that an error names; the others are counted."""

MAX_NOTED = 50
"""Arguments that a note names: more than any tool and gateway have."""

IGNORED = "io.github.reviewsd/ignored_arguments"
"""The key of ``_meta`` for arguments that the tool does not have."""

ABSENT = "io.github.reviewsd/absent_arguments"
"""The key of ``_meta`` for arguments with a value that stands for nothing."""

_MAX_SHOWN = 40  # characters of a value or a name in a message

_SORTING = frozenset(
    {"sort", "order", "orderby", "sorting", "direction", "desc", "asc", "descending"}
)
"""Words of arguments that would sort a list."""

_NOTHING = frozenset(("", "null", "undefined", "None"))
_NOTHING_BUT_TEXT = frozenset(("", "null", "undefined", "none", "nil", "n/a"))
_ZERO = re.compile(r"-?0+(\.0+)?")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?"
    r"([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)
"""An RFC 3339 time, or one without an offset; its date part is certain."""

_TEXTS = (ParameterType.TEXT, ParameterType.CHOICE)
_NUMBERS = (ParameterType.INTEGER, ParameterType.NUMBER)
_WORDS = (ParameterType.CHOICE, ParameterType.BOOLEAN)

_members = msgspec.json.Decoder(dict[str, Raw])
_string = msgspec.json.Decoder(str)


class _ValueProblemError(Exception):
    """The value of one argument is wrong."""


def read(
    parameters: Mapping[str, SearchParameter],
    required: Sequence[str],
    body: bytes,
    order: str = "",
) -> tuple[dict[str, object], bytes]:
    """Read the arguments of a call.

    Args:
        parameters: The parameters of the tool, by name.
        required: Names of the required ones.
        body: The arguments, a strict JSON object.
        order: The order of the tool's list, for the error about an argument that would change it.

    Returns:
        The values by name, in the types of their parameters, without absent ones; and the rendered
        members of ``_meta`` that name the arguments without effect.

    Raises:
        ToolError: An argument is missing, wrong or unknown; the message has every problem.
    """
    values: dict[str, object] = {}
    absent, problems = [], []
    unknown = _members.decode(body)
    for name, parameter in parameters.items():
        raw = unknown.pop(name, None)
        if raw is not None and _is_nothing(parameter, bytes(raw)):
            absent.append(name)
            raw = None
        if raw is not None:
            try:
                values[name] = _value(parameter, bytes(raw))
            except _ValueProblemError as problem:
                problems.append(str(problem))
        elif name in required:
            problems.append(f"{name} is missing: {parameter.description}".rstrip("."))
    try:
        check_together(values)
    except InvalidParametersError as error:
        problems.append(str(error))
    hints = _hints(unknown, parameters, order)
    problems += _unknown_problems(hints, tuple(parameters))
    if problems:
        raise ToolError(f"{'; '.join(problems)}.")
    ignored = [name for name in unknown if name not in hints]
    return values, _notes({IGNORED: ignored, ABSENT: absent})


def _is_nothing(parameter: SearchParameter, token: bytes) -> bool:
    """Return whether a value stands for none, as gateways and models fill in optional arguments.

    Free text has fewer such spellings, since reviews and names may contain the others.
    """
    if token[:1] in {b"[", b"{"}:
        return not token[1:-1].strip()
    text = _string.decode(token) if token[:1] == b'"' else token.decode()
    if parameter.kind is ParameterType.TEXT:
        return text in _NOTHING
    word = text.strip().casefold()
    is_positive = parameter.minimum is not None and parameter.minimum > 0
    return word in _NOTHING_BUT_TEXT or (is_positive and _ZERO.fullmatch(word) is not None)


def _value(parameter: SearchParameter, token: bytes) -> object:
    is_string = token.startswith(b'"')
    text = _string.decode(token) if is_string else token.decode()
    if parameter.kind in _TEXTS and not is_string:
        raise _ValueProblemError(f"{parameter.name} must be a string, got {shortened(text)}")
    spelling = _query_spelling(parameter, text) if is_string else _plain_number(text)
    try:
        return read_value(parameter, spelling)
    except InvalidParametersError as error:
        if parameter.kind not in _NUMBERS:
            raise _ValueProblemError(str(error)) from None
    kind = "an integer" if parameter.kind is ParameterType.INTEGER else "a number"
    value = shown(text) if is_string else shortened(text)
    raise _ValueProblemError(f"{parameter.name} must be {kind} {bounds(parameter)}, got {value}")


def _query_spelling(parameter: SearchParameter, text: str) -> str:
    """Return the spelling of a string in a query string, if its meaning is certain."""
    if parameter.kind in _WORDS:
        word = text.strip().lower()
        return word if word in (parameter.choices or TRUTH.values()) else text
    if parameter.kind is ParameterType.DATE and _TIME.fullmatch(text):
        return text[: len("2025-01-31")]
    return text


def _plain_number(token: str) -> str:
    """Return the spelling of a JSON number in a query string: 5e0 and 5.0 are the integer 5."""
    try:
        number = float(token)
    except ValueError:  # true, an array or an object
        return token
    return f"{number:.0f}" if number.is_integer() else token


def _hints(
    unknown: Mapping[str, Raw], parameters: Mapping[str, SearchParameter], order: str
) -> dict[str, str]:
    """Return a hint for each unknown argument that resembles a known one or would sort the list."""
    names, hints = tuple(parameters), {}
    for name in islice(unknown, MAX_COMPARED):
        matches = similar_names(name, names)
        if matches and not _is_nothing(parameters[matches[0]], bytes(unknown[name])):
            hints[name] = f"did you mean {' or '.join(map(quoted, matches))}?"
        elif not matches and order and not _SORTING.isdisjoint(words_of(name)):
            hints[name] = f"the order is always {order}"
    return hints


def _unknown_problems(hints: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """Yield the problems with unknown arguments; the first one lists the known ones."""
    listing = f"known: {', '.join(names)}"
    for name, hint in islice(hints.items(), MAX_PROBLEMS):
        # no semicolon after a question mark
        text = f"{hint}; {listing}".replace("?; ", "? ") if listing else hint
        listing = ""
        yield f"{quoted(name)} is not an argument ({text})"
    if len(hints) > MAX_PROBLEMS:
        yield f"and {len(hints) - MAX_PROBLEMS} more are not arguments"


def _notes(names: Mapping[str, Sequence[str]]) -> bytes:
    members = []
    for key, arguments in names.items():
        noted = [shortened(name) for name in arguments[:MAX_NOTED]]
        if len(arguments) > MAX_NOTED:
            noted.append(f"{len(arguments) - MAX_NOTED} more")
        if noted:
            members.append(b'"%b":%b' % (key.encode(), msgspec.json.encode(noted)))
    return b",".join(members)


def shortened(text: str) -> str:
    """Return the beginning of a text, for a message."""
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def quoted(name: str) -> str:
    """Return the beginning of a name in quotes, for a message."""
    return f'"{shortened(name)}"'
