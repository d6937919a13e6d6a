"""Requests with an access token: one new token and one repetition where it is not accepted."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from reviewsctl.sources.faults import (
    NotFoundError,
    ReadFailedError,
    SourceStoppedError,
    UnauthorizedError,
)
from reviewsctl.sources.wire import Answer, Wire

_QUOTA: Final = (b"RESOURCE_EXHAUSTED", b"rateLimitExceeded", b"quotaExceeded", b"userRateLimit")


async def get(wire: Wire, url: str, token: Callable[[bool], Awaitable[str]], remedy: str) -> Answer:
    """Return the response to a GET.

    Args:
        wire: Makes the requests.
        url: The address.
        token: Returns the access token; called with True for a new one.
        remedy: What to do where even a new token is not accepted.

    Raises:
        ReadFailedError: It is no success.
    """
    answer = await wire.request("GET", url, {"Authorization": f"Bearer {await token(False)}"})  # noqa: FBT003  # its only argument
    if answer.status == HTTPStatus.UNAUTHORIZED:
        answer = await wire.request("GET", url, {"Authorization": f"Bearer {await token(True)}"})  # noqa: FBT003  # its only argument
    return checked(answer, remedy)


def checked(answer: Answer, remedy: str) -> Answer:
    """Return a success.

    Raises:
        ReadFailedError: It is none; the message does not quote it.
    """
    match answer.status:
        case HTTPStatus.OK:
            return answer
        case HTTPStatus.UNAUTHORIZED:
            raise UnauthorizedError(f"401: {answer.host} does not accept the credentials", remedy)
        case HTTPStatus.FORBIDDEN if any(word in answer.body for word in _QUOTA):
            raise ReadFailedError(f"403: the quota at {answer.host} is used up")
        case HTTPStatus.FORBIDDEN:
            raise SourceStoppedError(
                f"403: {answer.host} does not permit it",
                "Is the API enabled and approved, and may this account read the business?",
            )
        case HTTPStatus.NOT_FOUND:
            raise NotFoundError(
                f"404: {answer.host} does not know the business", "Check its name or number."
            )
    raise ReadFailedError(f"{answer.status} from {answer.host}")
