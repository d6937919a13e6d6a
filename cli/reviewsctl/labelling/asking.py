"""Asks a model, again where that may help: limits of rate, cut connections, errors of the server."""

import datetime
import email.utils
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from reviewsctl.labelling import exchange, wire
from reviewsctl.labelling.endpoint import Endpoint
from reviewsctl.labelling.errors import ModelError, TooLongError, UnansweredError, UnreachedError
from reviewsctl.labelling.exchange import Response
from reviewsctl.labelling.wire import Api, Question, Reply

TRIES: Final = 6  # of one question
PAUSE: Final = 1.0  # seconds before the second, twice as many before each further one
LONGEST: Final = 900.0  # seconds that a server may have us wait

_AGAIN: Final = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
    529,  # Anthropic: overloaded
}
_KEPT: Final = "What is labelled is kept; the same command goes on from there."


@dataclass(slots=True, kw_only=True)
class Model:
    """A model that can be asked."""

    endpoint: Endpoint
    api: Api
    key: str | None
    seconds: float
    """For an answer."""
    sleep: Callable[[float], object]
    tell: Callable[[str], object]
    """Told why it takes longer."""
    now: Callable[[], datetime.datetime]
    reached: bool = False
    """Whether it was there once: else the address may be wrong, and it does not help to wait."""

    def ask(self, question: Question) -> Reply:
        """What it answers.

        Raises:
            ModelError: It does not answer, or does not want to be asked.
        """
        pause = PAUSE
        for left in reversed(range(TRIES)):
            wait = pause
            try:
                response = self._post(question)
            except TooLongError:
                return Reply(text="", tokens_in=None, tokens_out=None)
            except UnreachedError as fault:
                problem = f"{self.endpoint.authority}: {fault}"
                if not self.reached:
                    raise ModelError(problem, "See --endpoint, and whether it runs.") from fault
            except UnansweredError as fault:
                self.reached = True
                problem = f"{self.endpoint.authority}: {fault}"
            else:
                self.reached = True
                if response.status == HTTPStatus.OK:
                    return wire.reply(self.api, response.body)
                problem = self._problem(response)
                if response.status not in _AGAIN:
                    raise ModelError(problem, _remedy(response.status))
                told_wait = wait_of(response.retry_after, self.now())
                wait = pause if told_wait is None else told_wait
            if not left or wait > LONGEST:
                asks = f"; it asks to wait {wait:,.0f} s" if wait > LONGEST else ""
                raise ModelError(f"{problem}{asks}", _KEPT)
            self.tell(f"{problem}; asking again in {wait:g} s")
            self.sleep(wait)
            pause *= 2
        raise AssertionError  # the last turn ends in one way or the other

    def _post(self, question: Question) -> Response:
        return exchange.post(
            self.endpoint,
            wire.path(self.api),
            wire.headers(self.api, self.key),
            wire.body(self.api, question),
            seconds=self.seconds,
        )

    def _problem(self, response: Response) -> str:
        said = wire.reason(response.body)
        if self.key is not None:  # some servers repeat it
            said = said.replace(self.key, "(the key)")
        return f"{self.endpoint.authority} answers {response.status}{f': {said}' if said else ''}"


def wait_of(retry_after: str | None, now: datetime.datetime) -> float | None:
    """Seconds to wait (RFC 9110 10.2.3); None where it does not say, or not rightly."""
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = email.utils.parsedate_to_datetime(text)
        return max(0.0, (moment - now).total_seconds())
    except (ValueError, TypeError, OverflowError):  # TypeError: a time without a zone
        return None


def _remedy(status: int) -> str:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return "Redirects are not followed: name the address itself."
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return "See --key-file and --key-env."
    if status == HTTPStatus.NOT_FOUND:
        return "See --model, --api, and the path of --endpoint."
    return "The model must be able to answer by a JSON schema."
