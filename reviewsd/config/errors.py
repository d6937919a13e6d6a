"""Why a configuration cannot be used: for people as lines, for programs as values."""

from collections.abc import Sequence
from dataclasses import dataclass

from reviewsd.config import yaml_source
from reviewsd.domain.findings import MAX_FINDINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigProblem:
    """One thing wrong with the configuration; no part of it shows a password."""

    file: str
    """The file, or ``environment``."""
    line: int | None = None
    column: int | None = None
    """Both count from 1, the column in characters; None where there is no place."""
    path: str = ""
    """The dotted key, or the variable; empty when it is the file itself."""
    reason: str
    lines: tuple[str, ...]
    """Ready to print: place, key and reason, then the source line and a caret where they help."""


class ConfigError(Exception):
    """The configuration cannot be used.

    Attributes:
        problems: The first ``MAX_FINDINGS``, in order.
        total: How many there are.
        lines: What to print, ready and in order.
    """

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        self.problems = tuple(problems[:MAX_FINDINGS])
        self.total = len(problems)
        rest = self.total - len(self.problems)
        more = [f"... and {rest} more"] if rest > 0 else []
        self.lines = (*(line for each in self.problems for line in each.lines), *more)
        super().__init__("\n".join(self.lines))


def in_document(
    document: yaml_source.Document, file: str, fault: yaml_source.Fault
) -> ConfigProblem:
    """A problem at its place in a file."""
    return ConfigProblem(
        file=file,
        line=fault.mark.line,
        column=fault.mark.column,
        path=yaml_source.dotted(fault.path),
        reason=yaml_source.masked(fault.reason),
        lines=tuple(document.render(file, fault)),
    )


def of_file(file: str, reason: str) -> ConfigProblem:
    """A problem of a file as a whole."""
    return ConfigProblem(file=file, reason=reason, lines=(f"{file}: {reason}",))
