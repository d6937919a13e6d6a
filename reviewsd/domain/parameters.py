"""Parses the parameters of ``search_parameters`` (seed 4.4, contract 3).

``read_query`` returns a SearchQuery or raises all issues at once. Numbers are strict (ASCII digits,
no blanks, no plus sign); dates are real days as ``YYYY-MM-DD``.
"""

import datetime
import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote_to_bytes

from reviewsd.domain.issues import (
    NUMBER,
    UNRECOGNIZED,
    InvalidParametersError,
    Issue,
    invalid,
    shown,
)
from reviewsd.domain.near_misses import SYNONYMS, similar_names
from reviewsd.domain.parameter_rules import ParameterType, SearchParameter
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS, SINCE_DATE
from reviewsd.domain.search_query import NEWEST, TRUTH, Cursor, SearchQuery, read_day, read_moment

MAX_COMPARED = 20
"""Unknown names of one query that are compared with known ones; links carry up to ten."""


def read_query(query: bytes) -> SearchQuery:
    """Parse the query string of a search.

    Unknown parameters are ignored unless they resemble a known one. An empty value counts as absent.

    Args:
        query: The bytes after the ``?``.

    Raises:
        InvalidParametersError: A parameter is invalid; has every issue.
    """
    values = read_table(query, SEARCH_PARAMETERS)
    return SearchQuery(**values)  # type: ignore[arg-type]  # values have their parameter's type


def read_table(query: bytes, table: Sequence[SearchParameter]) -> dict[str, object]:
    """Parse any query string by a table of parameters, and collect every issue.

    Args:
        query: The bytes after the ``?``.
        table: The known parameters.

    Returns:
        The values by name, without absent ones.

    Raises:
        InvalidParametersError: A parameter is invalid; has every issue.
    """
    names = tuple(parameter.name for parameter in table)
    texts, unknown_texts = _split(query, names)
    values: dict[str, object] = {}
    issues: list[Issue] = []
    for parameter in table:
        if parameter.name not in texts:
            continue
        try:
            value = _read_texts(parameter, texts[parameter.name])
        except InvalidParametersError as error:
            issues += error.issues
        else:
            if value is not None:
                values[parameter.name] = value
    try:
        check_together(values)
    except InvalidParametersError as error:
        issues = sorted((*issues, *error.issues), key=lambda issue: names.index(issue.path[0]))
    for escaped, text in unknown_texts.items():
        if (issue := _near_miss(escaped, text, names)) is not None:
            issues.append(issue)
    if issues:
        raise InvalidParametersError(tuple(issues))
    return values


def _split(query: bytes, names: Sequence[str]) -> tuple[dict[str, list[bytes]], dict[bytes, bytes]]:
    """Return the texts of each known parameter that is sent, and of the unknown ones to compare."""
    texts: dict[bytes, list[bytes]] = {name.encode(): [] for name in names}
    unknown_texts: dict[bytes, bytes] = {}
    for part in query.split(b"&"):
        if len(part) < _SHORTEST:  # cheap, because a query has room for thousands
            continue
        name, _, text = part.partition(b"=")
        values = texts.get(unquote_to_bytes(name) if b"%" in name else name)
        if values is not None:
            values.append(text)
        elif text and len(unknown_texts) < MAX_COMPARED:
            unknown_texts[name] = text
    return {name.decode(): parts for name, parts in texts.items() if parts}, unknown_texts


def _near_miss(escaped: bytes, value: bytes, names: tuple[str, ...]) -> Issue | None:
    """Return the issue of an unknown name, or None if it resembles no known one."""
    name = unquote_to_bytes(escaped.replace(b"+", b" ")).decode(errors="replace")
    similar = similar_names(name, names)
    if not similar or (name in SYNONYMS and _DATES.issuperset(similar) and not value[:1].isdigit()):
        return None  # an app that shares links adds from=timeline
    return Issue(
        code=UNRECOGNIZED,
        path=(name,),
        message=f"{shown(name)} is not a parameter; did you mean {' or '.join(similar)}?",
        details=(("keys", [name]), ("did_you_mean", list(similar))),
    )


_DATES = {row.name for row in SEARCH_PARAMETERS if row.kind is ParameterType.DATE}
_SHORTEST = len(b"q=x")


def check_together(values: Mapping[str, object]) -> None:
    """Check the rules between parameters: the range of ratings, and the order of the cursor.

    Args:
        values: The values by parameter name.

    Raises:
        InvalidParametersError: A pair of values is invalid.
    """
    issues: list[Issue] = []
    least, most = values.get("min_rating"), values.get("max_rating")
    if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
        rule, both = "must not be greater than max_rating", f"{least:g} and {most:g}"
        error = invalid("min_rating", "too_big", "order", rule, both, maximum=most, inclusive=True)
        issues += error.issues
    cursor, sort = values.get("cursor"), values.get("sort", NEWEST)
    if isinstance(cursor, Cursor) and cursor.sort != sort:
        rule, value = f"must be of sort={sort}", f"one of sort={cursor.sort}"
        issues += invalid("cursor", "invalid_value", "text", rule, value).issues
    if issues:
        raise InvalidParametersError(tuple(issues))


def read_date(text: str) -> datetime.date:
    """Parse the date of ``/api/reviews/since/{date}``.

    Raises:
        InvalidParametersError: The date is invalid; has one issue at path ``["date"]``.
    """
    return _read_date(SINCE_DATE.name, text)


def read_cursor(text: str) -> Cursor:
    """Parse the cursor in the address of a feed page.

    Raises:
        InvalidParametersError: The cursor is invalid; has one issue at path ``["cursor"]``.
    """
    cursor = _read_cursor(text, "must be that of a page, as the page before has it")
    check_together({"cursor": cursor})
    return cursor


_INTEGER = re.compile(r"-?[0-9]+(\.0+)?")
_COLOR = re.compile(r"#?([0-9A-Fa-f]{6})")
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def _read_texts(parameter: SearchParameter, texts: Sequence[bytes]) -> object:
    if len(texts) > 1:
        count, expected = f"{len(texts)} times", parameter.kind.value
        rule = "must be given once"
        raise invalid(parameter.name, "invalid_type", "once", rule, count, expected=expected)
    return read_value(parameter, _decoded(parameter.name, texts[0]))


def _decoded(name: str, value: bytes) -> str:
    """Unescape a value."""
    if b"+" in value:
        value = value.replace(b"+", b" ")
    if b"%" in value:
        if _BROKEN_ESCAPE.search(value) is not None:
            rule = "has a broken percent-escape"
            raise invalid(name, "invalid_format", "text", rule, format="percent-encoding")
        value = unquote_to_bytes(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise invalid(name, "invalid_format", "text", "must be UTF-8", format="utf-8") from None


def read_value(parameter: SearchParameter, text: str) -> object:
    """Parse one value like one in the query string of a search.

    Returns:
        The value in its parameter's type; None for an empty text, which counts as absent (contract 3).

    Raises:
        InvalidParametersError: The value is invalid; has one issue.
    """
    if not text:
        return None
    match parameter.kind:  # the most frequent first, because a comparison takes 0.1 us
        case ParameterType.TEXT:
            return _read_text(parameter, text)
        case ParameterType.DATE:
            return _read_date(parameter.name, text)
        case ParameterType.MOMENT:
            return _read_moment(parameter, text)
        case ParameterType.INTEGER | ParameterType.NUMBER:
            return _read_number(parameter, text)
        case ParameterType.CHOICE | ParameterType.BOOLEAN:
            return _read_word(parameter, text)
        case ParameterType.COLOR:
            return _read_color(parameter, text)
        case ParameterType.CURSOR:  # pragma: no branch - there is no further kind
            rule = "must be the next_cursor of an earlier answer; leave it out to start again"
            return _read_cursor(text, rule)


def _read_date(name: str, text: str) -> datetime.date:
    try:
        return read_day(text)
    except ValueError:
        rule = "must be a date as YYYY-MM-DD"
        raise invalid(name, "invalid_format", "date", rule, shown(text), format="date") from None


def _read_cursor(text: str, rule: str) -> Cursor:
    try:
        return Cursor.decode(text)
    except ValueError:
        raise invalid("cursor", "invalid_format", "text", rule, format="cursor") from None


def _read_moment(parameter: SearchParameter, text: str) -> datetime.datetime:
    name = parameter.name
    try:
        return read_moment(text)
    except ValueError:
        rule = f"must be a date as YYYY-MM-DD, or a time as {parameter.example}"
        value = shown(text)
        raise invalid(name, "invalid_format", "moment", rule, value, format="date-time") from None


def _read_text(parameter: SearchParameter, text: str) -> str:
    most = parameter.maximum
    if most is not None and len(text) > most:
        rule, length = f"must have at most {most} characters", str(len(text))
        raise invalid(parameter.name, "too_big", "long", rule, length, maximum=most, inclusive=True)
    return text


def _read_word(parameter: SearchParameter, text: str) -> str | bool:
    name = parameter.name
    if parameter.kind is ParameterType.BOOLEAN:
        if text in TRUTH.values():
            return text == TRUTH[True]
        rule, expected = "must be true or false", parameter.kind.value
        raise invalid(name, "invalid_type", "choice", rule, shown(text), expected=expected)
    if text not in parameter.choices:
        rule = f"must be one of {', '.join(parameter.choices)}"
        raise invalid(name, "invalid_value", "choice", rule, shown(text))
    return text


def _read_color(parameter: SearchParameter, text: str) -> str:
    if (digits := _COLOR.fullmatch(text)) is None:
        rule = f"must be a color as six hexadecimal digits, such as {parameter.example}"
        raise invalid(parameter.name, "invalid_format", "color", rule, shown(text), format="color")
    return f"#{digits[1].lower()}"


def _read_number(parameter: SearchParameter, text: str) -> int | float:
    name, least, most = parameter.name, parameter.minimum, parameter.maximum
    is_integer = parameter.kind is ParameterType.INTEGER
    if (_INTEGER if is_integer else NUMBER).fullmatch(text) is None:
        rule = f"must be {'an integer' if is_integer else 'a number'} {bounds(parameter)}"
        kind = parameter.kind.value
        raise invalid(name, "invalid_type", kind, rule, shown(text), expected=kind)
    value = float(text)  # int() would refuse more than 4,300 digits
    if most is not None and value > most:
        rule = f"must be at most {most}"
        raise invalid(name, "too_big", "too_big", rule, shown(text), maximum=most, inclusive=True)
    if least is not None and value < least:
        rule = f"must be at least {least}"
        raise invalid(
            name, "too_small", "too_small", rule, shown(text), minimum=least, inclusive=True
        )
    return int(value) if is_integer else value


def bounds(parameter: SearchParameter) -> str:
    """Return the bounds of a number in words."""
    return f"from {parameter.minimum} to {parameter.maximum}"
