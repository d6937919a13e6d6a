"""reviewsctl's side of the admin API (interfaces.md 1.5, security-and-operations.md A2, A3)."""

import json
import socket
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsctl.daemon import errors, transport
from reviewsctl.daemon.client import Client
from reviewsctl.daemon.transport import Answer, Peer
from reviewsctl.daemon.units import START
from reviewsd.api.jobs import Step
from reviewsd.api.texts import printable
from tests.support.admin_fake import HEADERS, AdminFake, Scripted, document, events, problem

SCRIPT: Mapping[str, Scripted] = {}
BLOCKS, RELOAD = "GET /v1/blocks", "POST /v1/reload"
RESULT = {
    "type": "result",
    "outcome": "published",
    "revision": "3f2a9c0d1e4b",
    "review_count": 120,
    "seconds": 0.42,
    "problems": [],
}


def ignore(_: Answer[Step]) -> None:
    """A step that does not matter."""


def progress(done: int) -> Mapping[str, object]:
    return {"type": "progress", "stage": "validating", "done": done, "total": 10}


def test_the_request_is_what_the_daemon_lets_in(daemon: AdminFake) -> None:
    """A2: another Host, an Origin or a Sec-Fetch header would be a 403."""
    daemon.script = {BLOCKS: document({"blocks": []})}
    Client(daemon.path).blocks()
    (request,) = daemon.asked
    assert request.headers == {
        "host": "reviewsd",
        "accept": "application/json",
        "accept-encoding": "identity",
    }


def test_a_step_arrives_before_the_reload_ends(daemon: AdminFake) -> None:
    steps: list[int] = []
    ended = threading.Event()  # set by the second step: buffered steps would wait for ever

    def step(answer: Answer[Step]) -> None:
        steps.append(answer.value.done)
        if len(steps) == 2:
            ended.set()

    daemon.script = {RELOAD: events(progress(1), progress(2), ended, RESULT)}
    result = Client(daemon.path, silence_seconds=10).reload(step)

    assert steps == [1, 2]
    assert result.value.outcome == "published"


def test_an_event_of_a_newer_daemon_is_passed_over(daemon: AdminFake) -> None:
    daemon.script = {RELOAD: events({"type": "hint", "text": "hello"}, RESULT)}
    assert Client(daemon.path).reload(ignore).value.review_count == 120


@pytest.mark.parametrize("cut", [True, False])
def test_a_reload_without_a_result_is_an_unexpected_answer(daemon: AdminFake, *, cut: bool) -> None:
    daemon.script = {RELOAD: events(progress(1), cut=cut)}
    with pytest.raises(errors.UnexpectedAnswer, match="ended before the result"):
        Client(daemon.path).reload(ignore)


def test_a_fault_of_the_terminal_is_not_blamed_on_the_daemon(daemon: AdminFake) -> None:
    def closed(_: Answer[Step]) -> None:
        raise BrokenPipeError

    daemon.script = {RELOAD: events(progress(1), RESULT)}
    with pytest.raises(BrokenPipeError):
        Client(daemon.path).reload(closed)


@pytest.mark.parametrize(("status", "exit_code"), [(403, 1), (404, 4), (409, 1), (500, 1)])
def test_problem_is_refusal_with_its_reason(daemon: AdminFake, status: int, exit_code: int) -> None:
    daemon.script = {BLOCKS: problem(status, "No Such Block", "Because.")}
    with pytest.raises(errors.Refused) as caught:
        Client(daemon.path).blocks()
    expected = {"title": "no such block", "status": status, "detail": "Because.", "remedy": ""}
    assert expected == caught.value.members()
    assert exit_code == caught.value.exit_code


def raw(body: bytes, headers: Mapping[str, str] = HEADERS, status: int = 200) -> Scripted:
    return Scripted(status=status, parts=(body,), headers=headers, whole=True)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (raw(b"<html>"), "does not understand"),
        (raw(b"{}"), "missing required field `blocks`"),
        (raw(b'{"blocks":"\xff"}'), "does not understand"),
        (raw(b'{"blocks":[]} {}'), "trailing characters"),
        (raw(b"oh dear", status=500), "HTTP 500 Internal Server Error without a reason"),
        (raw(b'{"blocks":[]}', {}), "is not reviewsd"),
        (raw(b"{}", {"Reviewsd-Api": "x"}), "is not reviewsd"),
        (raw(b"{}", {"Reviewsd-Api": "²"}), "is not reviewsd"),
        (raw(b" " * (transport.MAX_BODY + 1)), "more than 16,777,216 bytes"),
    ],
)
def test_another_answer_is_unexpected(daemon: AdminFake, answer: Scripted, says: str) -> None:
    daemon.script = {BLOCKS: answer}
    with pytest.raises(errors.UnexpectedAnswer, match=says) as caught:
        Client(daemon.path).blocks()
    assert caught.value.exit_code == 1


def test_a_line_without_end_is_not_read_for_ever(daemon: AdminFake) -> None:
    part = b" " * (transport.MAX_LINE // 4)
    daemon.script = {RELOAD: Scripted(parts=(part,) * 5, headers=HEADERS)}
    with pytest.raises(errors.UnexpectedAnswer):
        Client(daemon.path).reload(ignore)


def test_a_stale_socket_means_not_running(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(tmp_path / "s"))
    with pytest.raises(errors.Unreachable, match="not running: no process listens on") as caught:
        Client(tmp_path / "s").blocks()
    assert START in caught.value.remedy


@pytest.mark.parametrize("name", ["x" * 200, "file/s"], ids=["too long", "below a file"])
def test_an_impossible_path_cannot_be_connected_to(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(errors.Unreachable, match="cannot connect to"):
        Client(tmp_path / name).blocks()


def test_a_silent_daemon_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as mute:  # listens, never accepts
        mute.bind(str(tmp_path / "s"))
        mute.listen()
        with pytest.raises(errors.Unreachable, match=r"no answer on .* within 0\.05 s"):
            Client(tmp_path / "s", answer_seconds=0.05).blocks()


def test_a_reload_that_falls_silent_is_not_waited_for_for_ever(daemon: AdminFake) -> None:
    never = threading.Event()
    daemon.script = {RELOAD: events(progress(1), never, RESULT)}
    with pytest.raises(errors.Unreachable, match=r"within 0\.2 s"):
        Client(daemon.path, silence_seconds=0.2).reload(ignore)
    never.set()


@pytest.mark.parametrize(
    ("spoken", "error"),
    [(b"", errors.Unreachable), (b"220 mail.example.com ESMTP\r\n", errors.UnexpectedAnswer)],
    ids=["hangs up", "another protocol"],
)
def test_peer_that_does_not_speak_http_is_no_daemon(
    tmp_path: Path, spoken: bytes, error: type[errors.DaemonError]
) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()

        def speak() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(spoken)

        thread = threading.Thread(target=speak)
        thread.start()
        with pytest.raises(error):
            Client(tmp_path / "s").blocks()
        thread.join()


def test_peer_is_observed_even_when_the_request_is_refused(daemon: AdminFake) -> None:
    """A3: a mismatch of versions explains the refusal, so it must be known."""
    peers: list[Peer] = []
    daemon.script = {BLOCKS: document({}, status=400, Reviewsd_Version="9.9\x9b")}
    with pytest.raises(errors.Refused):
        Client(daemon.path, observe=peers.append).blocks()
    assert [Peer(1, "9.9\\u009b")] == peers


@pytest.mark.parametrize(
    ("own", "peer", "says"),
    [
        ("0.1.0", Peer(1, "0.1.0"), None),
        (None, Peer(1, "0.1.0"), None),
        ("0.1.0", Peer(1, "0.2.0"), "reviewsctl is 0.1.0 but the running reviewsd is 0.2.0"),
        ("0.1.0", Peer(2, "0.1.0"), "speaks admin API 2, this reviewsctl speaks 1"),
        (None, Peer(2, "3.0.0"), "speaks admin API 2, this reviewsctl speaks 1"),
    ],
)
def test_a_mismatch_of_versions_is_explained(own: str | None, peer: Peer, says: str | None) -> None:
    warning = transport.mismatch(own, peer)
    assert warning is None if says is None else says in (warning or "")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 2**53) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_a_printable_document_keeps_its_meaning(value: object) -> None:
    text = printable(json.dumps(value, ensure_ascii=False))
    assert value == json.loads(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text)


def test_missing_socket_beside_those_of_nodes_names_them(tmp_path: Path) -> None:
    for name in ("1.sock", "2.sock"):
        (tmp_path / name).touch()
    with pytest.raises(errors.NotRunning) as error:
        Client(tmp_path / "admin.sock").blocks()
    assert f"several nodes run here (1.sock, 2.sock in {tmp_path})" == error.value.detail
    assert f"Name one of them: --socket {tmp_path / '1.sock'}" == error.value.remedy
