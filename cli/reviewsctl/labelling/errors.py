"""The error that ends a run."""

from reviewsctl.daemon.errors import DaemonError


class ModelError(DaemonError):
    """The run ends; what is labelled until then is kept."""

    def __init__(self, detail: str, remedy: str = "", *, title: str = "not labelled") -> None:
        super().__init__(title, detail, remedy=remedy)
