"""Reasons for which an import is refused, each with a remedy."""


class ImportRefusedError(Exception):
    """The export cannot be imported as it is, or the data not be written.

    Attributes:
        detail: The fault.
        remedy: The next step, or empty.
        exit_code: interfaces.md 1.4.
    """

    exit_code = 1

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy


class NoReviewsError(ImportRefusedError):
    """The export can be read, and has no reviews."""


class SayMoreError(ImportRefusedError):
    """The operator has to decide something first, by an option."""

    exit_code = 2
