"""Why a source could not be read; no message has an address's query, a body or a secret."""

from typing import Final

from reviewsctl.terminal.errors import CommandError

LOG_IN: Final = "Log in again: reviewsctl sources login {name}"


class ReadFailedError(CommandError):
    """A read that did not come to an end; the next run tries again."""

    is_stop = False

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__("failed", detail, remedy)


class FileGrowsError(ReadFailedError):
    """A file that was just written, so that it may not be whole; it is no fault, and is read a minute later."""


class SourceStoppedError(ReadFailedError):
    """A fault that does not pass by itself; the source is tried once a day."""

    is_stop = True
