"""A login ends by the address that the operator pastes."""

import base64
import datetime
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.oauth import SCOPE, Client, GoogleTokens, log_in
from reviewsctl.sources.wire import Wire
from tests.support.source_stub import Stub, response

CLIENT = Client("id.apps.example", "cl1ent-s3cret")
GRANT = {"access_token": "a", "expires_in": 3599, "refresh_token": "r", "scope": SCOPE}


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@pytest.fixture
def tokens(tmp_path: Path, stub: Stub) -> GoogleTokens:
    stub.answer = lambda _: response(json.dumps(GRANT))
    wire = Wire(allow_private=True, requests_left=100, now=now)
    return GoogleTokens(wire, CLIENT, tmp_path, "google", now, stub.url)


def test_pasted_address_ends_the_login(tokens: GoogleTokens, stub: Stub) -> None:
    prompts: list[str] = []

    def pasted() -> Iterator[str]:
        yield "nonsense\n"
        yield "\n"
        query = parse_qs(urlsplit(prompts[1].strip()).query)
        yield f"{query['redirect_uri'][0]}?state={query['state'][0]}&code=c0de\n"

    log_in(tokens, prompts.append, pasted())
    assert "that address belongs to another login" == prompts[-1]
    assert "r" == tokens.load().refresh_token
    (request,) = stub.asked
    assert "c0de" == request.form["code"]
    challenge = hashlib.sha256(request.form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(challenge).decode().rstrip("=") in prompts[1]


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("code=c&state=other", "that address belongs to another login"),
        ("code=c", "that address belongs to another login"),
        ("state=STATE&error=access_denied", "permission was denied in the browser"),
    ],
)
def test_address_of_another_login_is_refused(tokens: GoogleTokens, query: str, fault: str) -> None:
    prompts: list[str] = []

    def pasted() -> Iterator[str]:
        state = parse_qs(urlsplit(prompts[1].strip()).query)["state"][0]
        yield f"http://127.0.0.1:8765/?{query.replace('STATE', state)}"

    with pytest.raises(ReadFailedError, match="no address was pasted"):
        log_in(tokens, prompts.append, pasted())
    assert fault == prompts[-1]


def test_login_address_has_a_challenge_and_no_secret(tokens: GoogleTokens, stub: Stub) -> None:
    prompts: list[str] = []
    with pytest.raises(ReadFailedError, match="no address was pasted"):
        log_in(tokens, prompts.append, [])
    assert [] == stub.asked
    assert "code_challenge_method=S256" in prompts[1]
    assert "access_type=offline&prompt=consent" in prompts[1]
    assert "s3cret" not in prompts[1]
