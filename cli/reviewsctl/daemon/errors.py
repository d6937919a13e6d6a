"""Errors of requests to the daemon, each with its remedy and exit code."""

from http import HTTPStatus

from reviewsctl.terminal.errors import CommandError
from reviewsd.api.texts import printable


class DaemonError(CommandError):
    """A request to the daemon that failed."""


class Unreachable(DaemonError):  # noqa: N818  # named as the outcome it is
    """The daemon does not answer, or refuses the connection."""

    exit_code = 3

    def __init__(self, detail: str, remedy: str) -> None:
        super().__init__("reviewsd is not reachable", detail, remedy)


class NotRunning(Unreachable):
    """No daemon listens on the socket."""

    def with_detail(self, detail: str) -> "NotRunning":
        """Return this error with a further sentence."""
        return NotRunning(f"{self.detail}; {detail}", self.remedy)


class Refused(DaemonError):  # noqa: N818  # the same
    """The daemon answered with a problem (RFC 9457); its title is spelled as those of the command's own errors."""

    def __init__(self, title: str, detail: str, *, status: int) -> None:
        super().__init__(printable(title.lower()) or f"HTTP {status}", printable(detail))
        self.status = status
        if status == HTTPStatus.NOT_FOUND:
            self.exit_code = 4

    def members(self) -> dict[str, object]:
        """Return the members of the error as a JSON object, with the HTTP status."""
        return {**super().members(), "status": self.status}


class UnexpectedAnswer(DaemonError):  # noqa: N818  # the same
    """The answer does not follow the admin API."""

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__("unexpected answer", detail, remedy)


class Missing(CommandError):  # noqa: N818  # the same
    """The object that the operator named does not exist."""

    exit_code = 4
