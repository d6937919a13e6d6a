"""Secrets and callbacks appear nowhere outside the store (O8, H11, ASVS 16).

Not in the log, in the output for the operator (but for the callback of a subscription that is asked
for), in metrics, in answers, or on the disk beside the sealed store.
"""

import json
import re
import signal
import tarfile
from pathlib import Path

import pytest

from reviewsd.admin.events import TYPES
from tests.support.commands import CLI, started
from tests.support.conversation import PATH, QUERY, SECRET, Conversation, replies
from tests.support.daemon import NO_PAGES, Daemon, until
from tests.support.raw import exchange
from tests.support.subscriber import Subscriber, settings

LEVELS = {"debug", "info", "warn", "error", "critical"}

WITH_CALLBACKS = {"subs show", "the backup, but for callbacks", "file state.sqlite"}

Seen = dict[str, str]
"""The visible texts, by the place where they appear."""


def sing(place: Path, form: str) -> tuple[Conversation, Seen]:
    """Run a daemon through a conversation, and return all visible texts."""
    texts: Seen = {}
    with Subscriber(place, reply=replies) as subscriber:
        daemon = Daemon(place, settings(subscriber.ca_file), ("--log-format", form))
        conversation = Conversation(daemon, subscriber)
        with daemon:
            events = daemon.directory / "events"
            tail = ("--socket", str(daemon.socket), "tail", "--json")
            with (
                events.open("wb") as file,
                started({"PYTHONPATH": str(CLI)}, *tail, stdout=file.fileno()) as listener,
            ):
                until(lambda: b"listening" in events.read_bytes(), "the first line")
                conversation.live()
                until(lambda: b'"drop"' in events.read_bytes(), "the removal")
                listener.send_signal(signal.SIGINT)
                assert 130 == listener.wait(10)
            texts["events"] = events.read_text()
            for words in ("status", "metrics", "hub blocks", "status --json"):
                texts[words] = daemon.ctl(*words.split()).stdout
            assert 0 == daemon.ctl("reload").returncode
            backup = daemon.directory / "copy"
            assert 0 == daemon.ctl("backup", str(backup)).returncode
            with tarfile.open(backup) as archive:
                store = archive.extractfile("state/state.sqlite")
                assert store is not None
                texts["the backup, but for callbacks"] = store.read().decode("latin-1")
            only = json.loads(daemon.ctl("subs", "list", "--json").stdout)["id"]
            texts["subs show"] = daemon.ctl("subs", "show", str(only)).stdout
            assert 0 == daemon.stop()
        for number, answer in enumerate(conversation.answers):
            texts[f"answer {number}"] = answer.decode()
        texts["log"] = daemon.log.read_text()
        for path in daemon.state.rglob("*"):
            if path.is_file() and not path.is_symlink():
                texts[f"file {path.name}"] = path.read_bytes().decode("latin-1")
    return conversation, texts


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_canary_is_heard(tmp_path: Path, form: str) -> None:
    conversation, texts = sing(tmp_path, form)
    for where, text in texts.items():
        for what, canary in conversation.canaries.items():
            may_be_shown = where in WITH_CALLBACKS
            if may_be_shown and canary in {PATH, QUERY}:
                assert canary in text  # otherwise this test would hear nothing
            else:
                assert canary not in text, f"{what} in {where}"
    assert TYPES == {json.loads(line)["type"] for line in texts["events"].splitlines()} - {
        "listening"
    }
    if form == "json":
        check_schema(texts["log"])


def check_schema(log: str) -> None:
    """O8: one object a line, and the fields have one meaning wherever they are."""
    for line in log.splitlines():
        entry = json.loads(line)
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ", entry["ts"])
        assert entry["level"] in LEVELS
        assert entry["event"]
        assert entry.get("type", "load") in TYPES
        assert entry.get("callback_host", "localhost") in {"localhost", "127.0.0.1"}
        assert not {"host", "id", "callback", "secret", "url"} & entry.keys()
        assert "traceback" not in entry


def test_faults_of_clients_give_a_bounded_number_of_lines(tmp_path: Path) -> None:
    """A client that sends rubbish cannot fill the disk (O8)."""
    daemon = Daemon(tmp_path, NO_PAGES)
    with daemon:
        before = len(daemon.log.read_text().splitlines())
        rubbish = b"GET /%ff HTTP/1.1\r\nHost: localhost\r\n\r\n" * 900  # of 1,000 on a connection
        for _ in range(10):
            answers = exchange(daemon.port, rubbish + b"nonsense\r\n\r\n")
            assert 901 == answers.count(b"HTTP/1.1 400 ")
        for _ in range(200):
            exchange(daemon.port, b"nonsense\r\n\r\n")
        assert 0 == daemon.stop()
    assert len(daemon.log.read_text().splitlines()) - before < 5
    assert "Traceback" not in daemon.log.read_text()
    assert SECRET not in daemon.log.read_text()
