"""Errors of a request to a callback; a subscriber that hangs, lies or is gone is not an error of ours."""


class NoResponseError(Exception):
    """A callback has not responded, or not with HTTP.

    Attributes:
        reason: Short text for the operator, without path and query of the callback.
        begun: Whether part of a response was received.
    """

    def __init__(self, reason: str, *, begun: bool = False) -> None:
        self.reason = reason
        self.begun = begun
        super().__init__(reason)


class NetworkFullError(Exception):
    """Nothing was sent: too many attempts at that address network are under way (H2, H8)."""
