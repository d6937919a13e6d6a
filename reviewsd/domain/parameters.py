"""Reads the search parameters (seed 4.4, contract 3), whose table is ``search_parameters``.

``read_query`` turns a query string into a SearchQuery or into every Issue at once. Numbers are
strict (ASCII digits, no blanks, no plus sign); dates are real days spelled ``YYYY-MM-DD``.
"""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from reviewsd.domain.near_misses import SYNONYMS, resembled
from reviewsd.domain.search_parameters import (
    FEED_CURSOR,
    SEARCH_PARAMETERS,
    SINCE_DATE,
    ParameterType,
    SearchParameter,
)
from reviewsd.domain.search_query import NEWEST, Cursor, SearchQuery, read_day, read_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One thing wrong with one request parameter (contract 2); codes are zod's."""

    code: str
    path: tuple[str, ...]
    message: str
    details: tuple[tuple[str, object], ...] = ()
    """Further members, such as ``("maximum", 100)``."""

    def as_json(self) -> dict[str, object]:
        """The member of ``issues``."""
        return {
            "code": self.code,
            "path": list(self.path),
            "message": self.message,
            **dict(self.details),
        }


class InvalidParametersError(Exception):
    """A request's parameters are wrong.

    Attributes:
        issues: All of them, in the order of the table.
    """

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        self.issues = issues
        super().__init__("; ".join(issue.message for issue in issues))


Unknown = Callable[[bytes], None]
"""Called with the name of a parameter that does not exist, as it came."""

MAX_COMPARED = 20
"""Unknown names of one query that are compared with the known ones; links carry up to ten."""


def read_query(query: bytes, unknown: Unknown = lambda _: None) -> SearchQuery:
    """Read the query string of a search.

    Args:
        query: What follows the ``?``, as received. Unknown parameters are ignored, but for those
            that resemble a known one; an empty value counts as absent.
        unknown: Called with the name of each unknown one.

    Raises:
        InvalidParametersError: With every issue.
    """
    values: dict[str, object] = {}
    try:
        for part in query.split(b"&") if query else ():
            name, _, text = part.partition(b"=")
            parameter = _BY_NAME.get(name)
            if parameter is None or parameter.name in values:
                break
            value = _read(parameter, _decoded(parameter, text))
            if value is None:
                break
            values[parameter.name] = value
        else:
            check_together(values)
            return SearchQuery(**values)  # type: ignore[arg-type]  # each is of its parameter's kind
    except (_IssueError, InvalidParametersError):
        pass  # there may be more issues
    return _read_all(query, unknown)  # as for all that is not quite usual


def _read_all(query: bytes, unknown: Unknown) -> SearchQuery:
    """Read a query string whose names may be escaped, unknown or doubled, and values wrong."""
    given, strange = _split(query, unknown)
    values: dict[str, object] = {}
    issues: list[Issue] = []
    for parameter in SEARCH_PARAMETERS:
        try:
            value = _read_given(parameter, given.get(parameter.name, ()))
        except _IssueError as error:
            issues.append(error.issue)
        else:
            if value is not None:
                values[parameter.name] = value
    try:
        check_together(values)
    except InvalidParametersError as error:
        issues = sorted((*issues, *error.issues), key=lambda issue: _ORDER[issue.path[0]])
    issues += filter(None, map(_near_miss, strange, strange.values()))
    if issues:
        raise InvalidParametersError(tuple(issues))
    return SearchQuery(**values)  # type: ignore[arg-type]  # each value is of its parameter's kind


def _split(query: bytes, unknown: Unknown) -> tuple[dict[str, list[bytes]], dict[bytes, bytes]]:
    """Return the texts of each known parameter, and those of unknown ones that are compared."""
    given: dict[str, list[bytes]] = {}
    strange: dict[bytes, bytes] = {}
    for part in query.split(b"&"):
        if len(part) < _SHORTEST:  # there is room for thousands of them
            continue
        name, _, text = part.partition(b"=")
        parameter = _BY_NAME.get(unquote_to_bytes(name) if b"%" in name else name)
        if parameter is not None:
            given.setdefault(parameter.name, []).append(text)
            continue
        unknown(name)
        if text and len(strange) < MAX_COMPARED:
            strange[name] = text
    return given, strange


@lru_cache(maxsize=1024)
def _meant(escaped: bytes) -> tuple[str, tuple[str, ...]]:
    """Return an unknown name without its escapes, and the known ones that it resembles."""
    name = unquote_to_bytes(escaped.replace(b"+", b" ")).decode(errors="replace")
    return name, resembled(name, _NAMES)


def _near_miss(escaped: bytes, value: bytes) -> Issue | None:
    """Return what is wrong with an unknown name; None where it resembles no known one."""
    name, meant = _meant(escaped)
    if not meant or (name in SYNONYMS and _DATES.issuperset(meant) and not value[:1].isdigit()):
        return None  # an app that shares links adds from=timeline
    return Issue(
        code="unrecognized_keys",
        path=(name,),
        message=f"{shown(name)} is not a parameter; did you mean {' or '.join(meant)}?",
        details=(("keys", [name]), ("did_you_mean", list(meant))),
    )


_NAMES = tuple(parameter.name for parameter in SEARCH_PARAMETERS)
_DATES = {each.name for each in SEARCH_PARAMETERS if each.kind is ParameterType.DATE}
_BY_NAME = {parameter.name.encode(): parameter for parameter in SEARCH_PARAMETERS}
_SHORTEST = len(b"q=x")
_ORDER = {parameter.name: place for place, parameter in enumerate(SEARCH_PARAMETERS)}


def check_together(values: Mapping[str, object]) -> None:
    """Pass values, by name, that go together: a range of ratings that is one, a cursor of the same order.

    Raises:
        InvalidParametersError: With an issue for each pair that does not.
    """
    if not values.keys() & _JUDGED_TOGETHER:
        return
    issues = []
    least, most = values.get("min_rating"), values.get("max_rating")
    if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
        message = f"min_rating must not be greater than max_rating, got {least:g} and {most:g}"
        details = (("maximum", most), ("inclusive", True))
        issues.append(Issue(code="too_big", path=("min_rating",), message=message, details=details))
    cursor, sort = values.get("cursor"), values.get("sort", NEWEST)
    if isinstance(cursor, Cursor) and cursor.sort != sort:
        message = f"cursor must be of sort={sort}, got one of sort={cursor.sort}"
        issues.append(Issue(code="invalid_value", path=("cursor",), message=message))
    if issues:
        raise InvalidParametersError(tuple(issues))


_JUDGED_TOGETHER = frozenset(("min_rating", "cursor"))
"""Values of which one at least is in each pair that may not go together."""


def read_date(text: str) -> datetime.date:
    """Read the date of ``/api/reviews/since/{date}``.

    Raises:
        InvalidParametersError: With one issue at path ``["date"]``.
    """
    try:
        return read_day(text)
    except ValueError:
        raise InvalidParametersError((_not_a_date(SINCE_DATE, text).issue,)) from None


def read_cursor(text: str) -> Cursor:
    """Read the cursor in the address of a page of a feed.

    Raises:
        InvalidParametersError: With one issue at path ``["cursor"]``.
    """
    try:
        cursor = Cursor.decode(text)
    except ValueError:
        rule = "must be that of a page, as the page before has it"
        error = _IssueError(FEED_CURSOR, "invalid_format", rule, format="cursor")
        raise InvalidParametersError((error.issue,)) from None
    check_together({"cursor": cursor})
    return cursor


def read_value(parameter: SearchParameter, text: str) -> object:
    """Read one value as the query string of a search would have it.

    Returns:
        The value in its parameter's kind; None for an empty text, which filters nothing.

    Raises:
        InvalidParametersError: With one issue.
    """
    try:
        return _read(parameter, text)
    except _IssueError as error:
        raise InvalidParametersError((error.issue,)) from None


def ambiguous(parameter: str, name: str, candidates: Sequence[str]) -> Issue:
    """What is wrong with a name that fits several.

    Args:
        parameter: Whose value it is.
        name: As given.
        candidates: The names of those it fits, or of some of them.
    """
    spellings = " or ".join(f'"{each}"' for each in candidates)
    message = f"{parameter} must name one, got {shown(name)}: say {spellings}"
    return Issue(
        code="invalid_value",
        path=(parameter,),
        message=message,
        details=(("values", list(candidates)),),
    )


class _IssueError(Exception):
    def __init__(self, parameter: SearchParameter, code: str, rule: str, **details: object) -> None:
        self.issue = Issue(
            code=code,
            path=(parameter.name,),
            message=f"{parameter.name} {rule}",
            details=tuple(details.items()),
        )
        super().__init__(self.issue.message)


_INTEGER = re.compile(r"-?[0-9]+(\.0+)?")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_MAX_SHOWN = 40  # characters of an offending value in a message


def _read_given(parameter: SearchParameter, given: Sequence[bytes]) -> object:
    """The value of one parameter, None where it is absent."""
    if not given:
        return None
    if len(given) > 1:
        raise _IssueError(
            parameter,
            "invalid_type",
            f"must be given once, got {len(given)} times",
            expected=parameter.kind.value,
        )
    return _read(parameter, _decoded(parameter, given[0]))


def _decoded(parameter: SearchParameter, value: bytes) -> str:
    """A value without its escapes."""
    if b"+" in value:
        value = value.replace(b"+", b" ")
    if b"%" in value:
        if _BROKEN_ESCAPE.search(value) is not None:
            rule = "has a broken percent-escape"
            raise _IssueError(parameter, "invalid_format", rule, format="percent-encoding")
        value = unquote_to_bytes(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise _IssueError(parameter, "invalid_format", "must be UTF-8", format="utf-8") from None


def _read(parameter: SearchParameter, text: str) -> object:
    """Return the value of a text; None for an empty one, which counts as absent (contract 3)."""
    if not text:
        return None
    match parameter.kind:  # the most frequent first: each comparison takes 0.1 us
        case ParameterType.TEXT:
            return _read_text(parameter, text)
        case ParameterType.DATE:
            try:
                return read_day(text)
            except ValueError:
                raise _not_a_date(parameter, text) from None
        case ParameterType.MOMENT:
            return _read_moment(parameter, text)
        case ParameterType.INTEGER | ParameterType.NUMBER:
            return _read_number(parameter, text)
        case ParameterType.CHOICE:
            return _read_choice(parameter, text)
        case ParameterType.CURSOR:  # pragma: no branch - there is no further kind
            try:
                return Cursor.decode(text)
            except ValueError:
                rule = "must be the next_cursor of an earlier answer; leave it out to start again"
                raise _IssueError(parameter, "invalid_format", rule, format="cursor") from None


def _read_moment(parameter: SearchParameter, text: str) -> datetime.datetime:
    try:
        return read_moment(text)
    except ValueError:
        rule = f"must be a date as YYYY-MM-DD, or a time as {parameter.example}, got {shown(text)}"
        raise _IssueError(parameter, "invalid_format", rule, format="date-time") from None


def _read_text(parameter: SearchParameter, text: str) -> str:
    if parameter.maximum is not None and len(text) > parameter.maximum:
        raise _IssueError(
            parameter,
            "too_big",
            f"must have at most {parameter.maximum} characters, got {len(text)}",
            maximum=parameter.maximum,
            inclusive=True,
        )
    return text


def _read_choice(parameter: SearchParameter, text: str) -> str:
    if text not in parameter.choices:
        rule = f"must be one of {', '.join(parameter.choices)}, got {shown(text)}"
        raise _IssueError(parameter, "invalid_value", rule)
    return text


def _read_number(parameter: SearchParameter, text: str) -> int | float:
    integer = parameter.kind is ParameterType.INTEGER
    if (_INTEGER if integer else _NUMBER).fullmatch(text) is None:
        wanted = "an integer" if integer else "a number"
        raise _IssueError(
            parameter,
            "invalid_type",
            f"must be {wanted} {bounds(parameter)}, got {shown(text)}",
            expected=parameter.kind.value,
        )
    value = float(text)  # int() would refuse more than 4,300 digits
    if parameter.maximum is not None and value > parameter.maximum:
        raise _IssueError(
            parameter,
            "too_big",
            f"must be at most {parameter.maximum}, got {shown(text)}",
            maximum=parameter.maximum,
            inclusive=True,
        )
    if parameter.minimum is not None and value < parameter.minimum:
        raise _IssueError(
            parameter,
            "too_small",
            f"must be at least {parameter.minimum}, got {shown(text)}",
            minimum=parameter.minimum,
            inclusive=True,
        )
    return int(value) if integer else value


def _not_a_date(parameter: SearchParameter, text: str) -> _IssueError:
    rule = f"must be a date as YYYY-MM-DD, got {shown(text)}"
    return _IssueError(parameter, "invalid_format", rule, format="date")


def bounds(parameter: SearchParameter) -> str:
    """What numbers are allowed, in words."""
    return f"from {parameter.minimum} to {parameter.maximum}"


def shown(text: str) -> str:
    """A value as a message repeats it: short, and in quotes unless it is a number or a word."""
    if len(text) > _MAX_SHOWN:
        return f'"{text[:_MAX_SHOWN]}... ({len(text)} characters)"'
    plain = _NUMBER.fullmatch(text) is not None or (text.isascii() and text.isalnum())
    return text if plain else f'"{text}"'
