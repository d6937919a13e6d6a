"""The error that ends a command; errors with another exit code or title are kinds of it."""


class CommandError(Exception):
    """A failure that ends the command; ``commands/root`` prints it.

    Attributes:
        title: The kind of failure; empty for that of the command.
        detail: The failure, or empty.
        remedy: What the operator can do, or empty.
        exit_code: interfaces.md 1.4.
    """

    exit_code = 1

    def __init__(
        self, title: str, detail: str = "", remedy: str = "", *, exit_code: int | None = None
    ) -> None:
        super().__init__(": ".join(filter(None, (title, detail))))
        self.title = title
        self.detail = detail
        self.remedy = remedy
        if exit_code is not None:
            self.exit_code = exit_code

    def members(self) -> dict[str, object]:
        """Return the members of the error as a JSON object."""
        return {"title": self.title, "detail": self.detail, "remedy": self.remedy}
