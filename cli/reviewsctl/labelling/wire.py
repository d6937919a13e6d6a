"""The two APIs of language models that are spoken (insights.md 7, wire).

That of OpenAI, which Ollama, llama.cpp, vLLM and LiteLLM speak as well, and that of Anthropic. Neither
a temperature nor, for OpenAI, a bound of the answer is sent: models that reason refuse one or the other.
"""

import json
from dataclasses import dataclass
from enum import Enum
from typing import Final

import msgspec

from reviewsctl.labelling.errors import ModelError

VERSION: Final = "2023-06-01"  # anthropic-version
MAX_TOKENS: Final = 16_000  # of an answer; Anthropic wants a bound, batches take about a tenth


class Api(Enum):
    """What ``--api`` takes."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked."""

    model: str
    system: str
    content: str
    schema: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answers."""

    text: str
    """Empty where it refused to."""
    tokens_in: int | None
    """As reported; None where not."""
    tokens_out: int | None


def path(api: Api) -> str:
    """Below the endpoint."""
    return "/v1/messages" if api is Api.ANTHROPIC else "/chat/completions"


def headers(api: Api, key: str | None) -> dict[str, str]:
    """The version, and the key where there is one."""
    fields = {"anthropic-version": VERSION} if api is Api.ANTHROPIC else {}
    if key is not None:
        fields |= {"x-api-key": key} if api is Api.ANTHROPIC else {"Authorization": f"Bearer {key}"}
    return fields


def body(api: Api, question: Question) -> bytes:
    """The request, UTF-8 JSON."""
    message = {"role": "user", "content": question.content}
    document: dict[str, object]
    if api is Api.ANTHROPIC:
        document = {
            "model": question.model,
            "max_tokens": MAX_TOKENS,
            "system": question.system,
            "messages": [message],
            "output_config": {"format": {"type": "json_schema", "schema": question.schema}},
        }
    else:
        named = {"name": "labels", "strict": True, "schema": question.schema}
        document = {
            "model": question.model,
            "messages": [{"role": "system", "content": question.system}, message],
            "response_format": {"type": "json_schema", "json_schema": named},
        }
    return json.dumps(document, ensure_ascii=False).encode()


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: object = None
    completion_tokens: object = None
    input_tokens: object = None
    output_tokens: object = None


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message


class _Completion(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...]
    usage: _Usage | None = None


class _Part(msgspec.Struct, frozen=True):
    type: str
    text: str = ""


class _AnthropicMessage(msgspec.Struct, frozen=True):
    content: tuple[_Part, ...]
    usage: _Usage | None = None


class _Error(msgspec.Struct, frozen=True):
    error: object = None


def reply(api: Api, document: bytes) -> Reply:
    """What is answered.

    Raises:
        ModelError: It is no answer of this API.
    """
    try:
        if api is Api.ANTHROPIC:
            message = msgspec.json.decode(document, type=_AnthropicMessage)
            text = "".join(part.text for part in message.content if part.type == "text")
            usage = message.usage or _Usage()
            counts = usage.input_tokens, usage.output_tokens
        else:
            completion = msgspec.json.decode(document, type=_Completion)
            text = next((each.message.content or "" for each in completion.choices), "")
            usage = completion.usage or _Usage()
            counts = usage.prompt_tokens, usage.completion_tokens
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise ModelError(
            f"what the endpoint answers is not of this API ({fault})",
            "See --api, and whether the path of the endpoint is right.",
        ) from fault
    return Reply(text=text, tokens_in=_count(counts[0]), tokens_out=_count(counts[1]))


def reason(document: bytes) -> str:
    """What an answer with an error says, at most 300 characters."""
    try:
        error = msgspec.json.decode(document, type=_Error).error
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""
    message = error.get("message") if isinstance(error, dict) else error
    return message[:300] if isinstance(message, str) else ""


def _count(value: object) -> int | None:
    plausible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40
    return int(value) if plausible and isinstance(value, int) else None
