"""Completion by shells, and the manual pages."""

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from reviewsctl.manual import pages as manual
from tests.support.admin_fake import admin_fake, document
from tests.support.commands import reviewsctl
from tests.support.hub_answers import PENDING, SUBSCRIPTION, page

pytestmark = pytest.mark.processes

LIST = "GET /v1/subscriptions?limit=1000"
HUB = {
    "paused": False,
    "active": 1,
    "pending": 0,
    "due": 0,
    "in_flight": 0,
    "oldest_due_at": None,
    "blocks": 0,
    "opened_networks": [],
    "store": "ok",
    "topics": [
        {
            "path": path,
            "version": 1,
            "changed_at": "2026-11-21T07:00:00Z",
            "subscriptions": n,
            "due": 0,
        }
        for n, path in enumerate(("/feed.xml", "/api/feed.json", "/reviews.json"))
    ],
}


# --- completion


def completed(environment: dict[str, str], words: str) -> list[str]:
    asked = {
        **environment,
        "_REVIEWSCTL_COMPLETE": "complete_bash",
        "COMP_WORDS": f"reviewsctl {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    done = reviewsctl(asked)
    assert "" == done.stderr
    return done.stdout.split()


def test_topics_and_subscriptions_are_offered(environment: dict[str, str], tmp_path: Path) -> None:
    script = {"GET /v1/hub": document(HUB), LIST: document(page(SUBSCRIPTION, PENDING))}
    with admin_fake(tmp_path / "admin.sock", script):
        assert ["/feed.xml"] == completed(environment, "subs push --topic /f")
        assert ["/api/feed.json"] == completed(environment, "subs list --topic /a")
        assert [SUBSCRIPTION["id"]] == completed(environment, f"subs show {SUBSCRIPTION['id']}")
        assert str(SUBSCRIPTION["callback"]) in completed(environment, "subs remove https://")


def test_a_daemon_that_hangs_is_not_waited_for(environment: dict[str, str], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "admin.sock"))
        silent.listen()
        assert [] == completed(environment, "subs push --topic /")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_to_each_shell(environment: dict[str, str], shell: str) -> None:
    asked = {**environment, "_REVIEWSCTL_COMPLETE": f"source_{shell}"}
    assert "reviewsctl" in reviewsctl(asked).stdout


def test_without_a_daemon_nothing_is_offered_and_nothing_said(environment: dict[str, str]) -> None:
    assert [] == completed(environment, "subs push --topic /")
    assert [] == completed(environment, "subs show 1")
    assert ["status"] == completed(environment, "stat")


# --- the manual


def test_every_command_and_key_has_its_place_in_the_manual() -> None:
    pages = manual.pages()
    assert ["reviewsctl.1", "reviewsd.8", "reviewsd.yaml.5"] == list(pages)
    for words in (
        '.SS "subs show [OPTIONS] {ID|CALLBACK}"',
        '.B "\\-\\-dry\\-run"',
        '.SH "EXIT STATUS"',
    ):
        assert words in pages["reviewsctl.1"]
    assert '.B "hub.lease.default"\nSeconds that a subscription' in pages["reviewsd.yaml.5"]
    assert "(integer, 300 to 2,592,000; default 864000)" in pages["reviewsd.yaml.5"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_finds_nothing_wrong_with_the_pages(tmp_path: Path) -> None:
    for name, text in manual.pages().items():
        (tmp_path / name).write_text(text)
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8", tmp_path / name],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ("", 0) == (done.stderr, done.returncode)
