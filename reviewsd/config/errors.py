"""The error of a configuration that cannot be used."""

from collections.abc import Sequence

from reviewsd.api.files import Diagnostic
from reviewsd.domain.data_errors import MAX_FINDINGS
from reviewsd.domain.diagnostic_text import rendered


class ConfigError(Exception):
    """The configuration cannot be used.

    Attributes:
        problems: The first ``MAX_FINDINGS``, in order.
        total: The number of problems.
        lines: The text of the problems, in order.
    """

    def __init__(self, problems: Sequence[Diagnostic]) -> None:
        self.problems = tuple(problems[:MAX_FINDINGS])
        self.total = len(problems)
        rest = self.total - len(self.problems)
        more = [f"... and {rest} more"] if rest > 0 else []
        self.lines = (*(line for problem in self.problems for line in problem.lines), *more)
        super().__init__("\n".join(self.lines))


def by_place(problem: Diagnostic) -> tuple[int, int]:
    """Return the key that sorts problems by their places in a file."""
    return problem.line or 0, problem.column or 0


def of_file(file: str, reason: str) -> Diagnostic:
    """Return a problem of a whole file."""
    return rendered(Diagnostic(file=file, reason=reason))
