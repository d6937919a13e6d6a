"""The arguments of a tool, read as language models and gateways write them (mcp.md 5.3).

Values are read by the table that reads the query string of a search; beyond that, numbers may be
strings, what is filled in for "nothing" counts as absent, and every problem is told at once, each with
what would be right. Unknown arguments are ignored, as gateways add their own to every call, unless
they resemble a known one; the result's ``_meta`` names them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec
from msgspec import Raw, Struct

from reviewsd.domain.near_misses import resembled, words_of
from reviewsd.domain.parameters import (
    MAX_COMPARED,
    InvalidParametersError,
    bounds,
    check_together,
    read_value,
    shown,
)
from reviewsd.domain.search_parameters import ParameterType, SearchParameter

MAX_PROBLEMS = 10
"""Unknown arguments that an error names; the rest is counted."""

MAX_NOTED = 50
"""The same of the notes in a result: more than any tool and gateway have."""

IGNORED = "io.github.reviewsd/ignored_arguments"
ABSENT = "io.github.reviewsd/absent_arguments"
"""The keys of ``_meta`` under which arguments are named that did not count: those that the tool does not
have, and those whose value stands for nothing."""

_MAX_SHOWN = 40  # characters of an offending value

_SORTING = frozenset(
    {"sort", "order", "orderby", "sorting", "direction", "desc", "asc", "descending"}
)
"""Words of arguments that would sort a list."""


class ArgumentsError(Exception):
    """The arguments of a call are wrong; the message tells the agent all that is."""


class Arguments(Struct, frozen=True):
    """The arguments of a call that can be served."""

    values: Mapping[str, object]
    """By name, in the kinds of their parameters; absent ones left out."""
    notes: bytes = b""
    """Members of the result's ``_meta``, rendered: which arguments did not count."""


def read(
    tool: str,
    parameters: Mapping[str, SearchParameter],
    required: Sequence[str],
    arguments: bytes,
    order: str = "",
) -> Arguments:
    """Read the arguments of a call.

    Args:
        tool: Its name, for the message.
        parameters: All it knows, by name.
        required: The names of those it cannot do without.
        arguments: A JSON object, strict.
        order: That of its list, for who would like another one.

    Raises:
        ArgumentsError: Something is wrong.
    """
    usual = _usual(parameters, arguments)
    if usual is not None and all(name in usual for name in required):
        return Arguments(usual)
    given = _members.decode(arguments)
    values: dict[str, object] = {}
    absent: list[str] = []
    problems: list[str] = []
    for name, parameter in parameters.items():
        raw = given.pop(name, None)
        if raw is not None and _is_nothing(parameter, bytes(raw)):
            absent.append(name)
            raw = None
        if raw is not None:
            try:
                values[name] = _value(parameter, bytes(raw))
            except _ProblemError as problem:
                problems.append(str(problem))
        elif name in required:
            problems.append(f"{name} is missing: {parameter.description}".rstrip("."))
    problems += _range_problems(values)
    strange = _strange(given, parameters, order)
    problems += _unknown(strange, tuple(parameters))
    if problems:
        raise ArgumentsError(f"{tool}: {'; '.join(problems)}.")
    ignored = [name for name in given if name not in strange]
    return Arguments(values, _notes({IGNORED: ignored, ABSENT: absent}))


def _usual(parameters: Mapping[str, SearchParameter], arguments: bytes) -> dict[str, object] | None:
    """The values where all are strings or integers, and right; None where it takes a closer look."""
    values: dict[str, object] = {}
    try:
        for name, value in _anything.decode(arguments).items():
            parameter = parameters[name]
            if type(value) is str:
                if value in _NOTHING:
                    return None
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


def _is_nothing(parameter: SearchParameter, token: bytes) -> bool:
    """Return whether a value stands for none: what gateways and models fill in for an optional one.

    Of free text only exact spellings do, since reviews and people may hold the others.
    """
    if token[:1] in {b"[", b"{"}:
        return not token[1:-1].strip()
    text = _string.decode(token) if token[:1] == b'"' else token.decode()
    if parameter.kind is ParameterType.TEXT:
        return text in _NOTHING
    word = text.strip().casefold()
    counts = parameter.minimum is not None and parameter.minimum > 0
    return word in _NOTHING_BUT_TEXT or (counts and _ZERO.fullmatch(word) is not None)


def _value(parameter: SearchParameter, token: bytes) -> object:
    """One value."""
    spelled = token.startswith(b'"')
    text = _string.decode(token) if spelled else token.decode()
    if parameter.kind in _TEXTS and not spelled:
        raise _ProblemError(f"{parameter.name} must be a string, got {short(text)}")
    try:
        return read_value(parameter, _certain(parameter, text) if spelled else _plain(text))
    except InvalidParametersError as error:
        if parameter.kind not in {ParameterType.INTEGER, ParameterType.NUMBER}:
            raise _ProblemError(str(error)) from None
    wanted = "an integer" if parameter.kind is ParameterType.INTEGER else "a number"
    got = shown(text) if spelled else short(text)
    raise _ProblemError(f"{parameter.name} must be {wanted} {bounds(parameter)}, got {got}")


def _certain(parameter: SearchParameter, text: str) -> str:
    """Return a string as a query string would have it, where its meaning is certain."""
    if parameter.kind is ParameterType.CHOICE:
        word = text.strip().lower()
        return word if word in parameter.choices else text
    if parameter.kind is ParameterType.DATE and _TIME.fullmatch(text):
        return text[: len("2025-01-31")]
    return text


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


def _strange(
    given: Mapping[str, Raw], parameters: Mapping[str, SearchParameter], order: str
) -> dict[str, str]:
    """Return what is told of unknown arguments that resemble known ones, by name.

    Args:
        given: The unknown ones.
        parameters: The known ones, by name.
        order: That of the tool's list.
    """
    known, hints = tuple(parameters), {}
    for name in islice(given, MAX_COMPARED):
        meant = resembled(name, known)
        if meant and not _is_nothing(parameters[meant[0]], bytes(given[name])):
            hints[name] = f"did you mean {' or '.join(map(quoted, meant))}?"
        elif not meant and order and not _SORTING.isdisjoint(words_of(name)):
            hints[name] = f"the order is always {order}"
    return hints


def _unknown(hints: Mapping[str, str], known: Sequence[str]) -> Iterator[str]:
    """Return the problems with unknown arguments; the first one names the known ones."""
    allowed = f"known: {', '.join(known)}"
    for name, hint in islice(hints.items(), MAX_PROBLEMS):
        # after a question mark no semicolon
        said = f"{hint}; {allowed}".replace("?; ", "? ") if allowed else hint
        allowed = ""
        yield f"{quoted(name)} is not an argument ({said})"
    if len(hints) > MAX_PROBLEMS:
        yield f"and {len(hints) - MAX_PROBLEMS} more are not arguments"


def _notes(names: Mapping[str, Sequence[str]]) -> bytes:
    """Return the members of ``_meta`` that name these arguments."""
    members = []
    for key, arguments in names.items():
        listed = [short(name) for name in arguments[:MAX_NOTED]]
        if len(arguments) > MAX_NOTED:
            listed.append(f"{len(arguments) - MAX_NOTED} more")
        if listed:
            members.append(b'"%b":%b' % (key.encode(), msgspec.json.encode(listed)))
    return b",".join(members)


def quoted(name: str) -> str:
    """A name as a message repeats it: in quotes, and short."""
    return f'"{short(name)}"'


_NOTHING = frozenset(("", "null", "undefined", "None"))
_NOTHING_BUT_TEXT = frozenset(("", "null", "undefined", "none", "nil", "n/a"))
_ZERO = re.compile(r"-?0+(\.0+)?")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\.[0-9]+)?)?"
    r"([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)
"""An RFC 3339 time, or one without an offset: its date part is certain."""
_TEXTS = (ParameterType.TEXT, ParameterType.CHOICE)
_anything = msgspec.json.Decoder(dict[str, object])
_members = msgspec.json.Decoder(dict[str, Raw])
_string = msgspec.json.Decoder(str)
