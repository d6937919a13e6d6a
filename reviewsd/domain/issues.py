"""The issues of request parameters (contract 2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")

UNRECOGNIZED: Final = "unrecognized_keys"
"""The code of an issue about a name that resembles a known one."""

_MAX_SHOWN: Final = 40  # characters of a refused value in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One fault of a request parameter (contract 2), with a code of zod."""

    code: str
    path: tuple[str, ...]
    message: str
    details: tuple[tuple[str, object], ...] = ()
    """Further members, such as ``("maximum", 100)``."""
    rule: str = ""
    """The name of the broken rule, for pages in other languages."""
    value: str = ""
    """The refused value as ``message`` shows it, for the same."""

    def as_json(self) -> dict[str, object]:
        """Return the issue as an item of ``issues``."""
        return {
            "code": self.code,
            "path": list(self.path),
            "message": self.message,
            **dict(self.details),
        }


class InvalidParametersError(Exception):
    """The parameters of a request are invalid.

    Attributes:
        issues: All issues, in the order of the table.
    """

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        self.issues = issues
        super().__init__("; ".join(issue.message for issue in issues))


def invalid(
    parameter: str, code: str, rule: str, text: str, value: str = "", **details: object
) -> InvalidParametersError:
    """Return the error of one invalid parameter.

    Args:
        parameter: Its name.
        code: As in ``Issue``.
        rule: As in ``Issue``.
        text: The rule in words, after the name.
        value: The refused value for the message, if it helps.
        details: As in ``Issue``.
    """
    message = f"{parameter} {text}" + (f", got {value}" if value else "")
    issue = Issue(
        code=code,
        path=(parameter,),
        message=message,
        details=tuple(details.items()),
        rule=rule,
        value=value,
    )
    return InvalidParametersError((issue,))


def ambiguous(parameter: str, name: str, candidates: Sequence[str]) -> Issue:
    """Return the issue of an ambiguous name.

    Args:
        parameter: The name of the parameter.
        name: The ambiguous value.
        candidates: Labels of matching entities.
    """
    spellings = " or ".join(f'"{candidate}"' for candidate in candidates)
    value = shown(name)
    return Issue(
        code="invalid_value",
        path=(parameter,),
        message=f"{parameter} must name one, got {value}: say {spellings}",
        details=(("values", list(candidates)),),
        rule="several",
        value=value,
    )


def shown(text: str) -> str:
    """Return a value for a message: shortened, and quoted unless it is a number or a word."""
    if len(text) > _MAX_SHOWN:
        return f'"{text[:_MAX_SHOWN]}... ({len(text)} characters)"'
    is_plain = NUMBER.fullmatch(text) is not None or (text.isascii() and text.isalnum())
    return text if is_plain else f'"{text}"'
