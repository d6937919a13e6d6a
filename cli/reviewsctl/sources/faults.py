"""Why a source could not be read; no message has an address's query, a body or a secret."""

from typing import Final

LOG_IN: Final = "Log in again: reviewsctl sources login {name}"


class ReadFailedError(Exception):
    """A read that did not come to an end; the next run tries again.

    Attributes:
        detail: The reason.
        remedy: What the operator can do, or empty.
    """

    is_stop = False

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy


class SourceStoppedError(ReadFailedError):
    """A fault that does not pass by itself; the source is tried once a day."""

    is_stop = True
