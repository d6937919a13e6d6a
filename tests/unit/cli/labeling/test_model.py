"""The model client against a server on loopback that limits, stalls, cuts, redirects, or is another."""

import json
import sys
from pathlib import Path

import pytest

from reviewsctl.labeling.counts import Counts
from reviewsctl.labeling.endpoint import ModelError, is_loopback, parse_endpoint, read_key
from tests.support.authority import authority, self_signed
from tests.support.commands import CLI
from tests.support.language_model import Answer, LanguageModel, honest
from tests.support.programs import run_program
from tests.support.source_stub import response

REVIEWS = [{"id": "1", "rating": 5, "text": "Good work, all of it"}]
SCHEMA: dict[str, object] = {"type": "object"}


def ask(
    url: str, key: str | None = None, *, seconds: float = 30.0, retries: int = 0
) -> tuple[str, Counts]:
    from reviewsctl.labeling.model import Model  # noqa: PLC0415  all workers would load openai

    counts = Counts()
    model = Model(parse_endpoint(url), key, "tiny", counts, seconds=seconds, retries=retries)
    try:
        return model.ask("label", json.dumps(REVIEWS), SCHEMA), counts
    finally:
        model.close()


def answering(body: bytes = b"", status: int = 200, *, cut: int = 0, **headers: str) -> Answer:
    return lambda _: response(body, status, cut=cut, **headers)


def test_model_is_asked_with_a_closed_schema() -> None:
    with LanguageModel() as model:
        text, counts = ask(model.url, key="k1")
        (received,) = model.received
    assert ("/v1/chat/completions", "Bearer k1") == (
        received.path,
        received.headers["authorization"],
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
    assert json.dumps({"reviews": honest(received)}) == text
    assert (1000, 100, False) == (counts.tokens_in, counts.tokens_out, counts.tokens_estimated)


def test_nothing_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package would send the key and the organization of the user, and use a proxy."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-the-user")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    with LanguageModel() as model:
        assert ask(model.url)[0]
        (received,) = model.received
    unsent = {"authorization", "openai-organization", "openai-project"}
    assert unsent.isdisjoint(received.headers)
    assert "of-the-user" not in str(received.headers)


def test_limits_and_broken_connections_are_retried() -> None:
    cut = answering(b'{"choices": [' + b" " * 4000, cut=4000, Retry_After_Ms="1")
    busy = answering(status=429, Retry_After_Ms="1")
    overloaded = answering(status=529, Retry_After_Ms="1")
    with LanguageModel(busy, overloaded, cut) as model:
        assert ask(model.url, retries=3)[0]
        assert 4 == len(model.received)


def test_silent_server_ends_the_run() -> None:
    with (
        LanguageModel(lambda _: None) as model,
        pytest.raises(ModelError, match="does not respond in time"),
    ):
        ask(model.url, seconds=0.2)


def test_run_ends_when_the_server_asks_for_a_long_wait() -> None:
    late = answering(status=429, Retry_After="900")
    with LanguageModel(late) as model:
        with pytest.raises(ModelError, match="status 429") as raised:
            ask(model.url, retries=5)
        assert 1 == len(model.received)
    assert "the same command goes on from there" in raised.value.remedy


def test_redirect_is_not_followed() -> None:
    with LanguageModel() as other:
        away = answering(status=307, Location=f"{other.url}/chat/completions")
        with LanguageModel(away) as model, pytest.raises(ModelError, match="status 307"):
            ask(model.url)
        assert [] == other.received


def test_refusal_is_reported_without_the_key() -> None:
    body = json.dumps({"error": {"message": "no such key: k-123\x1b[2J"}}).encode()
    with LanguageModel(answering(body, 401)) as model:
        with pytest.raises(ModelError, match="status 401: no such key") as raised:
            ask(model.url, key="k-123", retries=5)
        assert 1 == len(model.received)
    assert "k-123" not in str(raised.value)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"choices": 1}', b"[" * 100_000, b'"\xff"'])
def test_response_of_another_api_ends_the_run(body: bytes) -> None:
    with LanguageModel(answering(body)) as model, pytest.raises(ModelError, match="OpenAI API"):
        ask(model.url)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": "1e9"}, {"prompt_tokens": True}]
)
def test_impossible_usage_is_ignored(usage: object) -> None:
    document = {"choices": [{"message": {"content": None}}], "usage": usage}
    with LanguageModel(answering(json.dumps(document).encode())) as model:
        text, counts = ask(model.url)
        assert ("", True, 0) == (text, counts.tokens_estimated, counts.tokens_out)
        assert 0 < counts.tokens_in < 100


def test_unreachable_server_is_reported() -> None:
    with LanguageModel() as model:
        url = model.url
    with pytest.raises(ModelError, match="no connection"):
        ask(url)


@pytest.mark.processes
def test_missing_extra_is_reported_with_the_command_that_installs_it() -> None:
    program = (
        "import sys; sys.modules['openai'] = None\n"
        "sys.argv[1:] = ['insights', 'label', '--model=m', '--endpoint=http://127.0.0.1:1']\n"
        "from reviewsctl.main import main; main()"
    )
    run = run_program([sys.executable, "-c", program], env={"PYTHONPATH": str(CLI)})
    expected = (
        "Error: not labeled: the package openai is not installed\n"
        f"Install it: {sys.prefix}/bin/pip install openai\n"
    )
    assert (1, "", expected) == (run.returncode, run.stdout, run.stderr)


def test_certificates_are_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = authority().identity.write(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(ours))
    trusted = authority().issue("127.0.0.1").write_with_key(tmp_path / "trusted.pem")
    other = self_signed("127.0.0.1").write_with_key(tmp_path / "other.pem")
    with LanguageModel(identity=trusted) as model:
        assert ask(model.url, key="k")[0]
    with LanguageModel(identity=other) as model:
        with pytest.raises(ModelError, match="certificate is not valid"):
            ask(model.url, key="k")
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
def test_loopback_endpoint_is_recognized_by_its_name(url: str, *, loopback: bool) -> None:
    assert loopback == is_loopback(parse_endpoint(url))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("api.example.com/v1", "not an http: or https:"),
        ("file:///etc/passwd", "not an http: or https:"),
        ("http://", "not an http: or https:"),
        ("https://me:secret@example.com", "a user or password"),
        ("https://me:pa/secret@example.com", "a user or password"),
        ("https://me:[secret@example.com", "a user or password"),
        ("https://me:pa?secret@example.com", "a user or password"),
        ("https://example.com/v1?key=secret", "a query or a fragment"),
        ("https://example.com/v1#secret", "a query or a fragment"),
        ("https://example.com:x", "not an address"),
        ("https://[::1", "not an address"),
        (f"https://{'a' * 64}.example", "not an address"),
        ("http://a..example/v1", "not an address"),
    ],
)
def test_invalid_endpoint_is_refused_with_the_remedy(url: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as raised:
        parse_endpoint(url)
    assert "secret" not in str(raised.value)
    assert raised.value.remedy


@pytest.mark.parametrize("url", ["http://1.2.3.256/v1", "http://[v1.x]/", "http://x/\x01"])
def test_endpoint_that_the_client_refuses_is_reported(url: str) -> None:
    from reviewsctl.labeling.model import Model  # noqa: PLC0415  all workers would load openai

    with pytest.raises(ModelError, match="not an address") as raised:
        Model(parse_endpoint(url), None, "m", Counts())
    assert raised.value.remedy


def test_key_comes_from_a_file_or_a_variable(tmp_path: Path) -> None:
    here, far, clear = map(
        parse_endpoint, ("http://127.0.0.1", "https://a.example", "http://a.example")
    )
    file = tmp_path / "key"
    file.write_text("k-1\r\n", encoding="utf-8-sig")  # as Notepad writes it
    assert None is read_key(far, None, "", {"OPENAI_API_KEY": "k"})  # none is sent unasked
    assert "k-1" == read_key(far, file, "")
    assert "k-2" == read_key(here, None, "KEY", {"KEY": "k-2"})
    with pytest.raises(ModelError, match="unencrypted"):
        read_key(clear, file, "")
    with pytest.raises(ModelError, match="not both"):
        read_key(far, file, "KEY", {"KEY": "k"})
    for content in ("", "two\nlines", "a b", "k" * 5000, "\x00", "schlüssel"):
        file.write_text(content)
        with pytest.raises(ModelError, match="does not hold one key"):
            read_key(far, file, "")
    with pytest.raises(ModelError, match="the environment variable KEY does not hold one key"):
        read_key(far, None, "KEY", {})
    with pytest.raises(ModelError, match="cannot read"):
        read_key(far, tmp_path / "none", "")
