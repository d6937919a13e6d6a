"""Asks a language model through the ``openai`` package, the extra ``reviewsd[model]`` (insights.md 7).

Retries, Retry-After and the wire are the package's. Responses are bounded in time and size here, and
no proxy of the environment is used.
"""

import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import msgspec

from reviewsctl.labelling.endpoint import Endpoint
from reviewsctl.labelling.errors import ModelError

try:
    import httpx2
    import openai
except ImportError as error:
    raise ModelError(
        f"the package {error.name} is not installed", "Install it: pip install 'reviewsd[model]'"
    ) from error

SECONDS: Final = 300.0  # for a response; a small computer needs long for twenty reviews
RETRIES: Final = 5  # of a request; the package waits up to 8 s, or 120 s if the server asks for it
MAX_BODY: Final = 4 * 1024 * 1024  # bytes of a response; twenty reviews take a hundredth of it

_OMITTED: Final = ("OpenAI-Organization", "OpenAI-Project", "Authorization")
"""Headers that the package fills from the environment; the last is sent if there is a key."""
_REASON: Final = 300  # characters of a server's error that are printed
_RESUME: Final = "What is labelled is kept; the same command goes on from there."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The instructions for a model, the reviews, and the JSON Schema of the response."""

    model: str
    system: str
    content: str
    schema: dict[str, object]

    @property
    def size(self) -> int:
        """The bytes of texts and schema, for estimates of tokens."""
        return len(f"{self.system}{self.content}".encode()) + len(msgspec.json.encode(self.schema))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The response of a model."""

    text: str
    """Empty if the model refused to answer."""
    tokens_in: int | None
    """The count that the server reports, or None."""
    tokens_out: int | None


class Model:
    """A model behind an endpoint.

    Args:
        endpoint: The server.
        key: Its key, if it needs one.
        seconds: How long a response may take.
        retries: How often a request is sent again after an error that may pass.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: str | None,
        *,
        seconds: float = SECONDS,
        retries: int = RETRIES,
    ) -> None:
        self._endpoint = endpoint
        self._key = key
        http = httpx2.Client(
            transport=_BoundedTransport(seconds), follow_redirects=False, trust_env=False
        )
        self._headers = {name: openai.Omit() for name in _OMITTED[: None if key is None else -1]}
        self._client = openai.OpenAI(
            base_url=endpoint.url,
            api_key=key or "none",
            timeout=seconds,
            max_retries=retries,
            http_client=http,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, question: Question) -> Reply:
        """Send a question and return the response.

        Raises:
            ModelError: The server cannot be reached, refuses, or does not speak the API.
        """
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=question.model,
                messages=[
                    {"role": "system", "content": question.system},
                    {"role": "user", "content": question.content},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "labels", "strict": True, "schema": question.schema},
                },
                extra_headers=self._headers,
            )
        except openai.APIStatusError as error:
            raise ModelError(self._refusal(error), _remedy(error.status_code)) from error
        except _TooLargeError:
            return Reply(text="", tokens_in=None, tokens_out=None)
        except openai.APIConnectionError as error:
            raise self._unreachable(error) from error
        return _reply(response.http_response.content)

    def _refusal(self, error: openai.APIStatusError) -> str:
        reason = _reason(error.response.content)
        if self._key is not None:  # some servers repeat it
            reason = reason.replace(self._key, "(the key)")
        status = f"{self._endpoint.authority} responds with status {error.status_code}"
        return f"{status}: {reason}" if reason else status

    def _unreachable(self, error: openai.APIConnectionError) -> ModelError:
        if certificate := _caused_by(error, ssl.SSLCertVerificationError):
            return ModelError(
                f"the server's certificate is not valid: {certificate}",
                "Certificates are always verified; that of an own authority is trusted with "
                "SSL_CERT_FILE=PATH.",
            )
        if isinstance(error, openai.APITimeoutError):
            return ModelError(f"{self._endpoint.authority} does not respond in time", _RESUME)
        reason = error.__cause__ or error
        return ModelError(
            f"{self._endpoint.authority}: no connection ({reason})",
            f"See --endpoint, and whether the server runs. {_RESUME}",
        )


class _TooLargeError(Exception):
    """The response is larger than any that could be of use."""


class _BoundedTransport(httpx2.HTTPTransport):
    """Sends requests, and bounds the time and the size of each response.

    httpx bounds the wait for each piece only, so a server that drips would never end.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(verify=ssl.create_default_context(), trust_env=False)
        self._seconds = seconds

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        deadline = time.monotonic() + self._seconds
        response = super().handle_request(request)
        response.stream = _BoundedStream(response.stream, deadline)
        return response


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: object, deadline: float) -> None:
        assert isinstance(stream, httpx2.SyncByteStream)  # noqa: S101  of a synchronous transport
        self._stream = stream
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > MAX_BODY:
                raise _TooLargeError
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the response takes too long")
            yield piece

    def close(self) -> None:
        self._stream.close()


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: object = None
    completion_tokens: object = None


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message


class _Completion(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...]
    usage: _Usage | None = None


class _Error(msgspec.Struct, frozen=True):
    error: object = None


def _reply(body: bytes) -> Reply:
    try:
        completion = msgspec.json.decode(body, type=_Completion)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ModelError(
            f"the response of the endpoint is not of the OpenAI API ({error})",
            "See whether the path of --endpoint is right, such as /v1.",
        ) from error
    text = next((choice.message.content or "" for choice in completion.choices), "")
    usage = completion.usage or _Usage()
    return Reply(
        text=text, tokens_in=_count(usage.prompt_tokens), tokens_out=_count(usage.completion_tokens)
    )


def _reason(body: bytes) -> str:
    """Return the reason of an error response; "" if it has none."""
    try:
        error = msgspec.json.decode(body, type=_Error).error
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""
    message = error.get("message") if isinstance(error, dict) else error
    return message[:_REASON] if isinstance(message, str) else ""


def _count(value: object) -> int | None:
    plausible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40
    return int(value) if plausible and isinstance(value, int) else None


def _remedy(status: int) -> str:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return "Redirects are not followed: name the address itself."
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return "See --key-file and --key-env."
    if status == HTTPStatus.NOT_FOUND:
        return "See --model, and the path of --endpoint."
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _RESUME
    return "The model must be able to answer by a JSON schema."


def _caused_by(error: BaseException, kind: type[BaseException]) -> BaseException | None:
    """Return the first error of a kind among an error and its causes."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, kind):
        cause = cause.__cause__ or cause.__context__
    return cause
