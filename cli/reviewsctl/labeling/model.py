"""Asks a language model through the ``openai`` package (insights.md 7).

Retries, Retry-After, time-outs and the wire are the package's. Nothing of the environment is used, such as
a proxy or a key.
"""

import ssl
import sys
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult

import msgspec

from reviewsctl.labeling.counts import BYTES, Counts
from reviewsctl.labeling.endpoint import EXAMPLES, ModelError

try:
    import httpx2
    import openai
except ImportError as error:
    raise ModelError(
        f"the package {error.name} is not installed",
        f"Install it: {sys.prefix}/bin/pip install openai",
    ) from error

SECONDS: Final = 300.0  # of silence; a small computer needs long for twenty reviews
RETRIES: Final = 5  # of a request; the package waits up to 8 s, or 120 s if the server asks for it

_OMITTED: Final = ("OpenAI-Organization", "OpenAI-Project", "Authorization")
"""Headers that the package fills from the environment; the last is sent if there is a key."""
_REASON: Final = 300  # characters of a server's error that are printed
_RESUME: Final = "What is labeled is kept; the same command goes on from there."


_REMEDIES: Final[dict[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "See --key-file and --key-env.",
    HTTPStatus.FORBIDDEN: "See --key-file and --key-env.",
    HTTPStatus.NOT_FOUND: "See --model, and the path of --endpoint.",
    HTTPStatus.TOO_MANY_REQUESTS: _RESUME,
}


class Model:
    """A model behind an endpoint.

    Args:
        endpoint: The server.
        key: Its key, if it needs one.
        name: The model.
        counts: Gets the tokens of each answer.
        seconds: How long the server may be silent.
        retries: How often a request is sent again after an error that may pass.

    Raises:
        ModelError: The client takes the endpoint for no address.
    """

    def __init__(
        self,
        endpoint: SplitResult,
        key: str | None,
        name: str,
        counts: Counts,
        *,
        seconds: float = SECONDS,
        retries: int = RETRIES,
    ) -> None:
        self._server = endpoint.netloc
        self._key = key
        self._name = name
        self._counts = counts
        self.answer = ""
        """The last answer."""
        http = openai.DefaultHttpxClient(
            verify=ssl.create_default_context(), follow_redirects=False, trust_env=False
        )
        self._headers = {name: openai.Omit() for name in _OMITTED[: None if key is None else -1]}
        try:
            self._client = openai.OpenAI(
                base_url=endpoint.geturl(),
                api_key=key or "none",
                timeout=seconds,
                max_retries=retries,
                http_client=http,
            )
        except httpx2.InvalidURL as error:
            raise ModelError(f"the endpoint is not an address: {error}", EXAMPLES) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, instructions: str, reviews: str, schema: dict[str, object]) -> str:
        """Send reviews to the model, and return its answer; empty if it refused to answer.

        Raises:
            ModelError: The server cannot be reached, refuses, or does not speak the API.
        """
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=self._name,
                messages=[
                    {"role": "system", "content": instructions},
                    {"role": "user", "content": reviews},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "labels", "strict": True, "schema": schema},
                },
                extra_headers=self._headers,
            )
        except openai.APIStatusError as error:
            raise ModelError(self._refusal(error), _remedy(error.status_code)) from error
        except openai.APIConnectionError as error:
            raise self._unreachable(error) from error
        self.answer, tokens_in, tokens_out = _parsed(response.http_response.content)
        size = len(f"{instructions}{reviews}".encode()) + len(msgspec.json.encode(schema))
        answer_size = len(self.answer.encode(errors="replace"))
        self._counts.tokens_estimated |= tokens_in is None or tokens_out is None
        self._counts.tokens_in += size // BYTES if tokens_in is None else tokens_in
        self._counts.tokens_out += answer_size // BYTES if tokens_out is None else tokens_out
        return self.answer

    def _refusal(self, error: openai.APIStatusError) -> str:
        reason = error.body.get("message") if isinstance(error.body, dict) else error.body
        status = f"{self._server} responds with status {error.status_code}"
        if not (isinstance(reason, str) and reason):
            return status
        if self._key is not None:  # some servers repeat it
            reason = reason.replace(self._key, "(the key)")
        return f"{status}: {reason[:_REASON]}"

    def _unreachable(self, error: openai.APIConnectionError) -> ModelError:
        if isinstance(error, openai.APITimeoutError):
            return ModelError(f"{self._server} does not respond in time", _RESUME)
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return ModelError(
                    f"the server's certificate is not valid: {cause}",
                    "Certificates are always verified; that of an own authority is trusted with "
                    "SSL_CERT_FILE=PATH.",
                )
            cause = cause.__cause__ or cause.__context__
        return ModelError(
            f"{self._server}: no connection ({error.__cause__ or error})",
            f"See --endpoint, and whether the server runs. {_RESUME}",
        )


def _parsed(body: bytes) -> tuple[str, int | None, int | None]:
    """Return the text of a response, with the tokens in and out that the server reports."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        document = None
    match document:
        case {"choices": [{"message": {"content": str() | None as text}}, *_], **others}:
            usage = others.get("usage")
        case _:
            raise ModelError(
                "the response of the endpoint is not of the OpenAI API",
                "See whether the path of --endpoint is right, such as /v1.",
            )
    counts = usage if isinstance(usage, dict) else {}
    return text or "", _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 40 else None


def _remedy(status: int) -> str:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return "Redirects are not followed: name the address itself."
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _RESUME
    return _REMEDIES.get(status, "The model must be able to answer by a JSON schema.")
