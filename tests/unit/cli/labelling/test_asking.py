"""A model's server that limits, stalls, cuts, redirects, or is somebody else."""

import datetime
import json
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.labelling.asking import LONGEST, TRIES, Model, wait_of
from reviewsctl.labelling.endpoint import key_of, parse
from reviewsctl.labelling.errors import ModelError
from reviewsctl.labelling.wire import Api, Question, Reply
from tests.support.authority import authority, self_signed
from tests.support.language_model import Raw, honest, language_model

NOW = datetime.datetime(2026, 11, 22, 12, 0, tzinfo=datetime.UTC)
REVIEWS = [{"id": "1", "rating": 5, "text": "Good work, all of it"}]
SCHEMA: dict[str, object] = {"type": "object"}
QUESTION = Question(model="tiny", system="label", content=json.dumps(REVIEWS), schema=SCHEMA)


class Asking:
    """A model that waits for nothing, and tells what it would have waited."""

    def __init__(self, url: str, api: Api = Api.OPENAI, key: str | None = None) -> None:
        self.slept: list[float] = []
        self.told: list[str] = []
        self.url = url
        self.api = api
        self.key = key

    def ask(self, seconds: float = 30.0, *, reached: bool = False) -> Reply:
        return Model(
            endpoint=parse(self.url),
            api=self.api,
            key=self.key,
            seconds=seconds,
            sleep=self.slept.append,
            tell=self.told.append,
            now=lambda: NOW,
            reached=reached,
        ).ask(QUESTION)


def answering(**what: Any) -> Callable[[object], Raw]:  # noqa: ANN401  as Raw takes them
    return lambda _: Raw(**what)


def test_openai_is_asked_with_a_closed_schema() -> None:
    with language_model() as model:
        reply = Asking(model.url, key="k1").ask()
        (received,) = model.received
    assert ("/v1/chat/completions", "Bearer k1") == (
        received.path,
        received.headers["Authorization"],
    )
    assert {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "label"},
            {"role": "user", "content": json.dumps(REVIEWS)},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "labels", "strict": True, "schema": SCHEMA},
        },
    } == received.document
    assert (
        Reply(text=json.dumps({"reviews": honest(received)}), tokens_in=1000, tokens_out=100)
        == reply
    )


def test_anthropic_is_asked_with_a_closed_schema() -> None:
    with language_model() as model:
        reply = Asking(model.url.removesuffix("/v1"), Api.ANTHROPIC, key="k2").ask()
        (received,) = model.received
    fields = {name.lower(): value for name, value in received.headers.items()}
    assert ("/v1/messages", "k2", "2023-06-01") == (
        received.path,
        fields["x-api-key"],
        fields["anthropic-version"],
    )
    assert "authorization" not in fields
    wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert (wanted, "label") == (received.document["output_config"], received.document["system"])
    assert (1000, 100) == (reply.tokens_in, reply.tokens_out)


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        (None, None),
        ("7", 7),
        ("Sun, 22 Nov 2026 12:00:30 GMT", 30),
        ("Sun, 22 Nov 2026 11:00:00 GMT", 0),
        ("soon", None),
        ("-1", None),
        ("9" * 4000, 999_999_999),
    ],
)
def test_a_server_says_when_to_ask_again(retry_after: str | None, seconds: float | None) -> None:
    assert seconds == wait_of(retry_after, NOW)


def test_limits_and_faults_are_asked_again_after_a_while() -> None:
    cut = answering(body=b'{"choices": [', length=4000)
    busy = answering(status=429, headers={"Retry-After": "11"})
    with language_model(busy, answering(status=529), cut) as model:
        asking = Asking(model.url)
        assert asking.ask().text
        assert 4 == len(model.received)
    assert [11, 2, 4] == asking.slept
    limited, overloaded, broken = asking.told
    assert "answers 429; asking again in 11 s" in limited
    assert "answers 529" in overloaded
    assert "cut in the middle" in broken


@pytest.mark.parametrize("drips", [False, True])
def test_a_server_that_stalls_is_left(*, drips: bool) -> None:
    """Whether it says nothing at all, or a byte now and then."""
    slow = answering(body=b" " * 10_000, pause=0.01)
    with language_model() as model:
        model.answers = [slow if drips else model.hold] * TRIES
        asking = Asking(model.url)
        with pytest.raises(ModelError, match="no answer within"):
            asking.ask(seconds=0.05)
        assert [1, 2, 4, 8, 16] == asking.slept


def test_a_wait_without_end_ends_the_run() -> None:
    late = answering(status=429, headers={"Retry-After": str(int(LONGEST) + 1)})
    with language_model(late) as model:
        asking = Asking(model.url)
        with pytest.raises(ModelError, match="it asks to wait 901 s") as raised:
            asking.ask()
    assert [] == asking.slept
    assert "the same command goes on from there" in raised.value.remedy


def test_a_redirect_is_not_followed() -> None:
    with language_model() as other:
        away = answering(status=307, headers={"Location": f"{other.url}/chat/completions"})
        with language_model(away) as model, pytest.raises(ModelError, match="answers 307"):
            Asking(model.url).ask()
        assert [] == other.received


def test_a_refusal_says_why_and_never_the_key() -> None:
    body = json.dumps({"error": {"message": "no such key: k-123\x1b[2J"}}).encode()
    with language_model(answering(status=401, body=body)) as model:
        with pytest.raises(ModelError, match="answers 401: no such key") as raised:
            Asking(model.url, key="k-123").ask()
        assert 1 == len(model.received)
    assert "k-123" not in str(raised.value)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"choices": 1}', b"[" * 100_000, b'"\xff"'])
def test_what_is_no_answer_of_the_api_ends_the_run(body: bytes) -> None:
    with language_model(answering(body=body)) as model, pytest.raises(ModelError, match="this API"):
        Asking(model.url).ask()


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": "1e9"}, {"prompt_tokens": True}]
)
def test_usage_that_cannot_be_is_none(usage: object) -> None:
    document = {"choices": [{"message": {"content": None}}], "usage": usage}
    with language_model(answering(body=json.dumps(document).encode())) as model:
        assert Reply(text="", tokens_in=None, tokens_out=None) == Asking(model.url).ask()


def test_an_answer_without_end_is_none() -> None:
    with language_model(answering(body=b" " * 50_000_000)) as model:
        assert "" == Asking(model.url).ask().text


def served_with(tmp_path: Path, *, trusted: bool) -> ssl.SSLContext:
    identity = authority().issue("127.0.0.1") if trusted else self_signed("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.write_with_key(tmp_path / "server.pem"))
    return context


def test_certificates_are_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = authority().identity.write(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(ours))
    with language_model(context=served_with(tmp_path, trusted=True)) as model:
        assert Asking(model.url, key="k").ask().text
    with language_model(context=served_with(tmp_path, trusted=False)) as model:
        with pytest.raises(ModelError, match="certificate is not valid"):
            Asking(model.url, key="k").ask()
        assert [] == model.received


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://[::1]:8080", True),
        ("http://localhost/v1/", True),
        ("https://api.example.com/v1", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://0.0.0.0", False),
    ],
)
def test_this_machine_is_known_by_its_names(url: str, *, loopback: bool) -> None:
    assert loopback == parse(url).loopback


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("api.example.com/v1", "no http: or https:"),
        ("file:///etc/passwd", "no http: or https:"),
        ("http://", "no http: or https:"),
        ("https://me:secret@example.com", "a user or password"),
        ("https://example.com/v1?key=secret", "a query"),
        ("https://example.com/\r\nHost: x", "a query"),
        ("https://example.com:x", "no address"),
        ("https://[::1", "no address"),
        (f"https://{'a' * 64}.example", "no address"),
    ],
)
def test_what_is_no_endpoint(url: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as raised:
        parse(url)
    assert "secret" not in str(raised.value)


def test_keys_come_from_files_or_the_environment(tmp_path: Path) -> None:
    here, far, clear = map(parse, ("http://127.0.0.1", "https://a.example", "http://a.example"))
    file = tmp_path / "key"
    file.write_text("k-1\n")
    assert None is key_of(far, None, "", {"OPENAI_API_KEY": "k"})  # none is sent unasked
    assert "k-1" == key_of(far, file, "")
    assert "k-2" == key_of(here, None, "KEY", {"KEY": "k-2"})
    with pytest.raises(ModelError, match="in the clear"):
        key_of(clear, file, "")
    with pytest.raises(ModelError, match="not both"):
        key_of(far, file, "KEY", {"KEY": "k"})
    for content in ("", "two\nlines", "a b", "k" * 5000, "\x00"):
        file.write_text(content)
        with pytest.raises(ModelError, match="holds no key"):
            key_of(far, file, "")
    with pytest.raises(ModelError, match="the environment variable KEY holds no key"):
        key_of(far, None, "KEY", {})
    with pytest.raises(ModelError, match="cannot read"):
        key_of(far, tmp_path / "none", "")


def test_an_address_where_nobody_listens_is_told_at_once() -> None:
    """But a server that was there may be starting again."""
    with language_model() as model:
        asking = Asking(model.url)
    for reached, pauses in ((False, 0), (True, TRIES - 1)):
        asking.slept.clear()
        with pytest.raises(ModelError, match="no connection"):
            asking.ask(reached=reached)
        assert pauses == len(asking.slept)
