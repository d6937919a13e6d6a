"""The search parameters: one table for validator, OpenAPI and MCP schema (seed 4.4, contract 3).

``read_query`` turns a query string into a SearchQuery or into every Issue at once. Numbers are
strict (ASCII digits, no blanks, no plus sign); dates are real days spelled ``YYYY-MM-DD``.
"""

import base64
import binascii
import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from urllib.parse import unquote_to_bytes, urlencode

QUERY_MAX_LENGTH = 200  # characters; contract 3
LIMIT_DEFAULT, LIMIT_MAX = 20, 100  # seed 8


class Kind(Enum):
    """How the text of a parameter is read."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TEXT = "string"
    CURSOR = "cursor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One row of the table."""

    name: str
    kind: Kind
    description: str
    example: str | float
    minimum: int | None = None
    """Lowest value of a number."""
    maximum: int | None = None
    """Highest value of a number, greatest length of a text."""
    default: int | None = None


SEARCH_PARAMETERS = (
    Parameter(
        name="rating",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=5,
        description="Exact star rating to match.",
        example=5,
    ),
    Parameter(
        name="min_rating",
        kind=Kind.NUMBER,
        minimum=1,
        maximum=5,
        description="Minimum star rating, inclusive.",
        example=4,
    ),
    Parameter(
        name="since",
        kind=Kind.DATE,
        description="Only reviews on or after this date.",
        example="2025-01-31",
    ),
    Parameter(
        name="until",
        kind=Kind.DATE,
        description="Only reviews on or before this date.",
        example="2025-12-31",
    ),
    Parameter(
        name="query",
        kind=Kind.TEXT,
        maximum=QUERY_MAX_LENGTH,
        description="Substring to find in the review text, upper and lower case alike.",
        example="boiler",
    ),
    Parameter(
        name="mentions_technician",
        kind=Kind.TEXT,
        description="Only reviews that mention this technician, by name, id or label.",
        example="Sam",
    ),
    Parameter(
        name="mentions_service",
        kind=Kind.TEXT,
        description="Only reviews that mention this service, by id or label.",
        example="boiler-repair",
    ),
    Parameter(
        name="limit",
        kind=Kind.INTEGER,
        minimum=1,
        maximum=LIMIT_MAX,
        default=LIMIT_DEFAULT,
        description="Maximum number of reviews returned.",
        example=20,
    ),
    Parameter(
        name="cursor",
        kind=Kind.CURSOR,
        description="Where to go on: the next_cursor of the page before. Opaque.",
        example="MjAyNS0wMy0xNC8wMUo5WkszVjVROFIyTjdNNFQ2VzFYMFlBQg",
    ),
)

SINCE_DATE = Parameter(
    name="date",
    kind=Kind.DATE,
    description="Returns the reviews dated on or after this date.",
    example="2025-01-31",
)
"""The path parameter of ``/api/reviews/since/{date}`` (seed 4.5)."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last review a client has seen; goes on working after the data changes (contract 3)."""

    date: datetime.date
    id: str

    def encode(self) -> str:
        """The opaque form: unpadded base64url of ``YYYY-MM-DD/id``."""
        plain = f"{self.date.isoformat()}/{self.id}".encode()
        return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """The cursor that ``encode`` made the text from.

        Raises:
            ValueError: It was made by nobody here.
        """
        padded = text + "=" * (-len(text) % 4)
        try:
            plain = base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            raise ValueError(text) from None
        day, slash, review_id = plain.partition("/")
        if not slash or re.fullmatch(r"[!-~]{1,128}", review_id) is None:
            raise ValueError(text)
        cursor = cls(_read_date(day), review_id)
        if cursor.encode() != text:
            raise ValueError(text)
        return cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What to search for; None means not filtered. Field names are parameter names."""

    rating: int | None = None
    min_rating: float | None = None
    since: datetime.date | None = None
    until: datetime.date | None = None
    query: str | None = None
    mentions_technician: str | None = None
    mentions_service: str | None = None
    limit: int = LIMIT_DEFAULT
    cursor: Cursor | None = None

    def canonical(self) -> str:
        """The one query string that asks for just this; equal for equal searches."""
        pairs = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or (field.name == "limit" and value == LIMIT_DEFAULT):
                continue
            if isinstance(value, Cursor):
                value = value.encode()
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            pairs.append((field.name, str(value)))
        return urlencode(pairs)


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


def read_query(query: bytes) -> SearchQuery:
    """Read the query string of a search.

    Args:
        query: What follows the ``?``, as received. Unknown parameters are ignored.

    Raises:
        InvalidParametersError: With every issue.
    """
    given: dict[str, list[bytes]] = {}
    for part in query.replace(b"+", b" ").split(b"&"):
        name, _, text = part.partition(b"=")
        given.setdefault(unquote_to_bytes(name).decode("utf-8", "replace"), []).append(text)
    values: dict[str, object] = {}
    issues: list[Issue] = []
    for parameter in SEARCH_PARAMETERS:
        try:
            value = _read_given(parameter, given)
        except _IssueError as error:
            issues.append(error.issue)
        else:
            if value is not None:
                values[parameter.name] = value
    if issues:
        raise InvalidParametersError(tuple(issues))
    return SearchQuery(**values)  # type: ignore[arg-type]  # each value is of its parameter's kind


def read_date(text: str) -> datetime.date:
    """Read the date of ``/api/reviews/since/{date}``.

    Raises:
        InvalidParametersError: With one issue at path ``["date"]``.
    """
    try:
        return _read_date(text)
    except ValueError:
        raise InvalidParametersError((_not_a_date(SINCE_DATE, text).issue,)) from None


def read_value(parameter: Parameter, text: str) -> object:
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


class _IssueError(Exception):
    def __init__(self, parameter: Parameter, code: str, rule: str, **details: object) -> None:
        self.issue = Issue(
            code=code,
            path=(parameter.name,),
            message=f"{parameter.name} {rule}",
            details=tuple(details.items()),
        )
        super().__init__(self.issue.message)


_INTEGER = re.compile(r"-?[0-9]+(\.0+)?")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_MAX_SHOWN = 40  # characters of an offending value in a message


def _read_given(parameter: Parameter, given: Mapping[str, list[bytes]]) -> object:
    """The value of one parameter, None where it is absent."""
    values = given.get(parameter.name, [])
    if not values:
        return None
    if len(values) > 1:
        raise _IssueError(
            parameter,
            "invalid_type",
            f"must be given once, got {len(values)} times",
            expected=parameter.kind.value,
        )
    if _BROKEN_ESCAPE.search(values[0]) is not None:
        raise _IssueError(
            parameter, "invalid_format", "has a broken percent-escape", format="percent-encoding"
        )
    try:
        text = unquote_to_bytes(values[0]).decode()
    except UnicodeDecodeError:
        raise _IssueError(parameter, "invalid_format", "must be UTF-8", format="utf-8") from None
    return _read(parameter, text)


def _read(parameter: Parameter, text: str) -> object:
    match parameter.kind:
        case Kind.INTEGER | Kind.NUMBER:
            return _read_number(parameter, text)
        case Kind.DATE:
            try:
                return _read_date(text)
            except ValueError:
                raise _not_a_date(parameter, text) from None
        case Kind.CURSOR:
            try:
                return Cursor.decode(text)
            except ValueError:
                rule = "must be the next_cursor of an earlier answer; leave it out to start again"
                raise _IssueError(parameter, "invalid_format", rule, format="cursor") from None
        case Kind.TEXT:  # pragma: no branch - there is no further kind
            if text == "":
                return None
            if parameter.maximum is not None and len(text) > parameter.maximum:
                raise _IssueError(
                    parameter,
                    "too_big",
                    f"must have at most {parameter.maximum} characters, got {len(text)}",
                    maximum=parameter.maximum,
                    inclusive=True,
                )
            return text


def _read_number(parameter: Parameter, text: str) -> int | float:
    integer = parameter.kind is Kind.INTEGER
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


def _not_a_date(parameter: Parameter, text: str) -> _IssueError:
    rule = f"must be a date as YYYY-MM-DD, got {shown(text)}"
    return _IssueError(parameter, "invalid_format", rule, format="date")


def _read_date(text: str) -> datetime.date:
    # fromisoformat alone takes 20250101 and 2025-W01-1, and digits of every script
    if _DATE.fullmatch(text) is None:
        raise ValueError(text)
    return datetime.date.fromisoformat(text)


def bounds(parameter: Parameter) -> str:
    """What numbers are allowed, in words."""
    return f"from {parameter.minimum} to {parameter.maximum}"


def shown(text: str) -> str:
    """A value as a message repeats it: short, and in quotes unless it is a number or a word."""
    if len(text) > _MAX_SHOWN:
        return f'"{text[:_MAX_SHOWN]}... ({len(text)} characters)"'
    plain = _NUMBER.fullmatch(text) is not None or (text.isascii() and text.isalnum())
    return text if plain else f'"{text}"'
