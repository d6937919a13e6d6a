"""Why a configuration cannot be used: for people as lines, for programs as values."""

from collections.abc import Sequence

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.domain.data_errors import MAX_FINDINGS
from reviewsd.domain.diagnostic_text import rendered


class ConfigError(Exception):
    """The configuration cannot be used.

    Attributes:
        problems: The first ``MAX_FINDINGS``, in order.
        total: How many there are.
        lines: What to print, ready and in order.
    """

    def __init__(self, problems: Sequence[Diagnostic]) -> None:
        self.problems = tuple(problems[:MAX_FINDINGS])
        self.total = len(problems)
        rest = self.total - len(self.problems)
        more = [f"... and {rest} more"] if rest > 0 else []
        self.lines = (*(line for each in self.problems for line in each.lines), *more)
        super().__init__("\n".join(self.lines))


def by_place(found: Diagnostic) -> tuple[int, int]:
    """What sorts the faults of a file."""
    return found.line or 0, found.column or 0


def of_file(file: str, reason: str) -> Diagnostic:
    """A problem of a file as a whole."""
    return rendered(Diagnostic(file=file, reason=reason))
