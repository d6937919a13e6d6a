"""Errors of requests to the daemon, each with its remedy and exit code."""

from http import HTTPStatus

from reviewsctl.terminal.escaping import printable


class DaemonError(Exception):
    """A request to the daemon that failed.

    Attributes:
        title: The kind of failure.
        detail: The failure.
        remedy: What the operator can do, a sentence or empty.
        status: The HTTP status of a refusal.
        exit_code: interfaces.md 1.4.
    """

    exit_code = 1

    def __init__(
        self, title: str, detail: str, *, remedy: str = "", status: int | None = None
    ) -> None:
        self.title = printable(title)
        self.detail = printable(detail)
        super().__init__(f"{self.title}: {self.detail}" if detail else self.title)
        self.remedy = remedy
        self.status = status

    def members(self) -> dict[str, object]:
        """Return the members of the error as a JSON object; empty ones are left out."""
        names = ("title", "status", "detail", "remedy")
        return {name: value for name in names if (value := getattr(self, name))}


class Unreachable(DaemonError):  # noqa: N818  # named as the outcome it is
    """The daemon does not answer, or refuses the connection."""

    exit_code = 3

    def __init__(self, detail: str, remedy: str) -> None:
        super().__init__("reviewsd is not reachable", detail, remedy=remedy)


class NotRunning(Unreachable):
    """No daemon listens on the socket."""

    def with_detail(self, detail: str) -> "NotRunning":
        """Return this error with a further sentence."""
        return NotRunning(f"{self.detail}; {detail}", self.remedy)


class Refused(DaemonError):  # noqa: N818  # the same
    """The daemon answered with a problem (RFC 9457); its title is spelled as those of the command's own errors."""

    def __init__(self, title: str, detail: str, *, status: int) -> None:
        super().__init__(title.lower() or f"HTTP {status}", detail, status=status)
        if status == HTTPStatus.NOT_FOUND:
            self.exit_code = 4


class UnexpectedAnswer(DaemonError):  # noqa: N818  # the same
    """The answer does not follow the admin API."""

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__("unexpected answer", detail, remedy=remedy)


class Missing(DaemonError):  # noqa: N818  # the same
    """The object that the operator named does not exist."""

    exit_code = 4
