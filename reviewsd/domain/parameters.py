"""Parses the parameters of ``search_parameters`` (seed 4.4, contract 3).

``read_query`` returns a SearchQuery or raises all issues at once. Numbers are strict (ASCII digits,
no blanks, no plus sign); dates are real days as ``YYYY-MM-DD``.
"""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from reviewsd.domain.issues import NUMBER, InvalidParametersError, Issue, IssueError, shown
from reviewsd.domain.near_misses import SYNONYMS, resembled
from reviewsd.domain.search_parameters import (
    FEED_CURSOR,
    SEARCH_PARAMETERS,
    SINCE_DATE,
    ParameterType,
    SearchParameter,
)
from reviewsd.domain.search_query import NEWEST, TRUTH, Cursor, SearchQuery, read_day, read_moment

Unknown = Callable[[bytes], None]
"""Called with the name of an unknown parameter, undecoded."""

MAX_COMPARED = 20
"""Unknown names of one query that are compared with known ones; links carry up to ten."""


def read_query(query: bytes, unknown: Unknown = lambda _: None) -> SearchQuery:
    """Parse the query string of a search.

    Unknown parameters are ignored unless they resemble a known one. An empty value counts as absent.

    Args:
        query: The bytes after the ``?``.
        unknown: Called with the name of each unknown parameter.

    Raises:
        InvalidParametersError: A parameter is invalid; has every issue.
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
            return SearchQuery(**values)  # type: ignore[arg-type]  # values have their parameter's type
    except (IssueError, InvalidParametersError):
        pass  # _read_all collects the other issues as well
    return _read_all(query, unknown)


def _read_all(query: bytes, unknown: Unknown) -> SearchQuery:
    """Parse a query string with escaped, unknown or repeated names, or with invalid values."""
    texts, unknown_texts = _split(query, unknown)
    values: dict[str, object] = {}
    issues: list[Issue] = []
    for parameter in SEARCH_PARAMETERS:
        try:
            value = _read_texts(parameter, texts.get(parameter.name, ()))
        except IssueError as error:
            issues.append(error.issue)
        else:
            if value is not None:
                values[parameter.name] = value
    try:
        check_together(values)
    except InvalidParametersError as error:
        issues = sorted((*issues, *error.issues), key=lambda issue: _ORDER[issue.path[0]])
    issues += filter(None, map(_near_miss, unknown_texts, unknown_texts.values()))
    if issues:
        raise InvalidParametersError(tuple(issues))
    return SearchQuery(**values)  # type: ignore[arg-type]  # values have their parameter's type


def _split(query: bytes, unknown: Unknown) -> tuple[dict[str, list[bytes]], dict[bytes, bytes]]:
    """Return the texts of each known parameter, and of the unknown ones to compare."""
    texts: dict[str, list[bytes]] = {}
    unknown_texts: dict[bytes, bytes] = {}
    for part in query.split(b"&"):
        if len(part) < _SHORTEST:  # cheap, because a query has room for thousands
            continue
        name, _, text = part.partition(b"=")
        parameter = _BY_NAME.get(unquote_to_bytes(name) if b"%" in name else name)
        if parameter is not None:
            texts.setdefault(parameter.name, []).append(text)
            continue
        unknown(name)
        if text and len(unknown_texts) < MAX_COMPARED:
            unknown_texts[name] = text
    return texts, unknown_texts


@lru_cache(maxsize=1024)
def _similar(escaped: bytes) -> tuple[str, tuple[str, ...]]:
    """Return an unknown name unescaped, and the known names that it resembles."""
    name = unquote_to_bytes(escaped.replace(b"+", b" ")).decode(errors="replace")
    return name, resembled(name, _NAMES)


def _near_miss(escaped: bytes, value: bytes) -> Issue | None:
    """Return the issue of an unknown name, or None if it resembles no known one."""
    name, similar = _similar(escaped)
    if not similar or (name in SYNONYMS and _DATES.issuperset(similar) and not value[:1].isdigit()):
        return None  # an app that shares links adds from=timeline
    return Issue(
        code="unrecognized_keys",
        path=(name,),
        message=f"{shown(name)} is not a parameter; did you mean {' or '.join(similar)}?",
        details=(("keys", [name]), ("did_you_mean", list(similar))),
    )


_NAMES = tuple(parameter.name for parameter in SEARCH_PARAMETERS)
_DATES = {row.name for row in SEARCH_PARAMETERS if row.kind is ParameterType.DATE}
_BY_NAME = {parameter.name.encode(): parameter for parameter in SEARCH_PARAMETERS}
_SHORTEST = len(b"q=x")
_ORDER = {parameter.name: place for place, parameter in enumerate(SEARCH_PARAMETERS)}


def check_together(values: Mapping[str, object]) -> None:
    """Check the rules between parameters: the range of ratings, and the order of the cursor.

    Args:
        values: The values by parameter name.

    Raises:
        InvalidParametersError: A pair of values is invalid.
    """
    if not values.keys() & _PAIRED:
        return
    issues = []
    least, most = values.get("min_rating"), values.get("max_rating")
    if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
        message = f"min_rating must not be greater than max_rating, got {least:g} and {most:g}"
        bound = (("maximum", most), ("inclusive", True))
        path = ("min_rating",)
        issues.append(
            Issue(code="too_big", path=path, message=message, details=bound, rule="order")
        )
    cursor, sort = values.get("cursor"), values.get("sort", NEWEST)
    if isinstance(cursor, Cursor) and cursor.sort != sort:
        message = f"cursor must be of sort={sort}, got one of sort={cursor.sort}"
        path = ("cursor",)
        issues.append(Issue(code="invalid_value", path=path, message=message, rule="text"))
    if issues:
        raise InvalidParametersError(tuple(issues))


_PAIRED = frozenset(("min_rating", "cursor"))
"""Each pair that ``check_together`` checks has one of these."""


def read_date(text: str) -> datetime.date:
    """Parse the date of ``/api/reviews/since/{date}``.

    Raises:
        InvalidParametersError: The date is invalid; has one issue at path ``["date"]``.
    """
    try:
        return read_day(text)
    except ValueError:
        raise InvalidParametersError((_not_a_date(SINCE_DATE, text).issue,)) from None


def read_cursor(text: str) -> Cursor:
    """Parse the cursor in the address of a feed page.

    Raises:
        InvalidParametersError: The cursor is invalid; has one issue at path ``["cursor"]``.
    """
    try:
        cursor = Cursor.decode(text)
    except ValueError:
        rule = "must be that of a page, as the page before has it"
        error = IssueError(FEED_CURSOR, "invalid_format", "text", rule, format="cursor")
        raise InvalidParametersError((error.issue,)) from None
    check_together({"cursor": cursor})
    return cursor


def read_value(parameter: SearchParameter, text: str) -> object:
    """Parse one value like one in the query string of a search.

    Returns:
        The value in its parameter's type; None for an empty text.

    Raises:
        InvalidParametersError: The value is invalid; has one issue.
    """
    try:
        return _read(parameter, text)
    except IssueError as error:
        raise InvalidParametersError((error.issue,)) from None


_INTEGER = re.compile(r"-?[0-9]+(\.0+)?")
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def _read_texts(parameter: SearchParameter, texts: Sequence[bytes]) -> object:
    if not texts:
        return None
    if len(texts) > 1:
        raise IssueError(
            parameter,
            "invalid_type",
            "once",
            "must be given once",
            f"{len(texts)} times",
            expected=parameter.kind.value,
        )
    return _read(parameter, _decoded(parameter, texts[0]))


def _decoded(parameter: SearchParameter, value: bytes) -> str:
    """Unescape a value."""
    if b"+" in value:
        value = value.replace(b"+", b" ")
    if b"%" in value:
        if _BROKEN_ESCAPE.search(value) is not None:
            rule = "has a broken percent-escape"
            raise IssueError(parameter, "invalid_format", "text", rule, format="percent-encoding")
        value = unquote_to_bytes(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        rule = "must be UTF-8"
        raise IssueError(parameter, "invalid_format", "text", rule, format="utf-8") from None


def _read(parameter: SearchParameter, text: str) -> object:
    """Parse a value; None for an empty text, which counts as absent (contract 3)."""
    if not text:
        return None
    match parameter.kind:  # the most frequent first, because a comparison takes 0.1 us
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
        case ParameterType.CHOICE | ParameterType.BOOLEAN:
            return _read_word(parameter, text)
        case ParameterType.CURSOR:  # pragma: no branch - there is no further kind
            try:
                return Cursor.decode(text)
            except ValueError:
                rule = "must be the next_cursor of an earlier answer; leave it out to start again"
                raise IssueError(
                    parameter, "invalid_format", "text", rule, format="cursor"
                ) from None


def _read_moment(parameter: SearchParameter, text: str) -> datetime.datetime:
    try:
        return read_moment(text)
    except ValueError:
        rule = f"must be a date as YYYY-MM-DD, or a time as {parameter.example}"
        raise IssueError(
            parameter, "invalid_format", "moment", rule, shown(text), format="date-time"
        ) from None


def _read_text(parameter: SearchParameter, text: str) -> str:
    if parameter.maximum is not None and len(text) > parameter.maximum:
        raise IssueError(
            parameter,
            "too_big",
            "long",
            f"must have at most {parameter.maximum} characters",
            str(len(text)),
            maximum=parameter.maximum,
            inclusive=True,
        )
    return text


def _read_word(parameter: SearchParameter, text: str) -> str | bool:
    if parameter.kind is ParameterType.BOOLEAN:
        if text in TRUTH.values():
            return text == TRUTH[True]
        rule = "must be true or false"
        expected = parameter.kind.value
        raise IssueError(parameter, "invalid_type", "choice", rule, shown(text), expected=expected)
    if text not in parameter.choices:
        rule = f"must be one of {', '.join(parameter.choices)}"
        raise IssueError(parameter, "invalid_value", "choice", rule, shown(text))
    return text


def _read_number(parameter: SearchParameter, text: str) -> int | float:
    is_integer = parameter.kind is ParameterType.INTEGER
    if (_INTEGER if is_integer else NUMBER).fullmatch(text) is None:
        noun = "an integer" if is_integer else "a number"
        raise IssueError(
            parameter,
            "invalid_type",
            "integer" if is_integer else "number",
            f"must be {noun} {bounds(parameter)}",
            shown(text),
            expected=parameter.kind.value,
        )
    value = float(text)  # int() would refuse more than 4,300 digits
    if parameter.maximum is not None and value > parameter.maximum:
        raise IssueError(
            parameter,
            "too_big",
            "too_big",
            f"must be at most {parameter.maximum}",
            shown(text),
            maximum=parameter.maximum,
            inclusive=True,
        )
    if parameter.minimum is not None and value < parameter.minimum:
        raise IssueError(
            parameter,
            "too_small",
            "too_small",
            f"must be at least {parameter.minimum}",
            shown(text),
            minimum=parameter.minimum,
            inclusive=True,
        )
    return int(value) if is_integer else value


def _not_a_date(parameter: SearchParameter, text: str) -> IssueError:
    rule = "must be a date as YYYY-MM-DD"
    return IssueError(parameter, "invalid_format", "date", rule, shown(text), format="date")


def bounds(parameter: SearchParameter) -> str:
    """Return the bounds of a number in words."""
    return f"from {parameter.minimum} to {parameter.maximum}"
