"""Why a model is not asked, or not any longer."""

from reviewsctl.daemon.errors import DaemonError


class ModelError(DaemonError):
    """The run ends; what is labelled until then is kept."""

    def __init__(self, detail: str, remedy: str = "", *, title: str = "not labelled") -> None:
        super().__init__(title, detail, remedy=remedy)


class UnansweredError(Exception):
    """There is no answer this time; it may help to ask again."""


class UnreachedError(UnansweredError):
    """There is no connection: nobody listens, or the name is not known."""


class TooLongError(Exception):
    """The answer is longer than any that could be of use."""
