"""Errors of a request to a callback, which are results and no bugs."""


class NoResponseError(Exception):
    """A callback sent no valid HTTP response.

    Attributes:
        reason: Short text for the operator, without path and query of the callback.
        begun: Whether part of a response was received.
    """

    def __init__(self, reason: str, *, begun: bool = False) -> None:
        self.reason = reason
        self.begun = begun
        super().__init__(reason)


class NetworkFullError(Exception):
    """Nothing was sent, because too many attempts at that address network are under way (H2, H8)."""
