"""Reasons for which an import or a row is refused."""

from reviewsctl.terminal.errors import CommandError


class ImportRefusedError(CommandError):
    """The export cannot be imported as it is, or the data not be written; the root has the title."""

    def __init__(self, detail: str, remedy: str = "") -> None:
        super().__init__("", detail, remedy)


class NoReviewsError(ImportRefusedError):
    """The export can be read, and has no reviews."""


class SayMoreError(ImportRefusedError):
    """The operator has to decide something first, by an option."""

    exit_code = 2


class RowRefusedError(Exception):
    """A row that cannot become a review; its text says why, in one line.

    Its note names what the result mentions of it (``report``). Its key is the merge key of the review that the row
    is of, or empty; its id is that of the row, by which an owner finds it in a table.
    """

    def __init__(self, reason: str, note: str = "", key: str = "", own_id: str = "") -> None:
        super().__init__(reason)
        self.note = note
        self.key = key
        self.own_id = own_id


class RowSkippedError(Exception):
    """A row that is no review, by what the platform documents; its text is the reason counted.

    Its key is the merge key of the review that the row is of, or empty.
    """

    def __init__(self, reason: str, key: str = "") -> None:
        super().__init__(reason)
        self.key = key


class RowWithdrawnError(RowSkippedError):
    """A row of a review that the platform does not publish, or no longer."""
