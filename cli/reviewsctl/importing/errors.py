"""Why an import does not happen; each says what to do instead."""


class ImportRefusedError(Exception):
    """The export cannot be imported as it is, or the data not be written.

    Attributes:
        detail: What was found.
        remedy: What to do next, or empty.
        exit_code: interfaces.md 1.4.
    """

    exit_code = 1

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy


class NoReviewsError(ImportRefusedError):
    """The export is whole, and has no reviews in it."""


class SayMoreError(ImportRefusedError):
    """The command line leaves open what nobody may guess."""

    exit_code = 2
