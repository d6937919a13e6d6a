"""``reviewsctl mcp server-json``, completion and manual."""

import json
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


def test_the_registry_is_told_the_endpoint(environment: dict[str, str], tmp_path: Path) -> None:
    """By the schema of 2025-12-11: names of 3 to 200, texts of at most 100 characters."""
    address = "https://reviews.acme.example"
    name = "Acme Plumbing " * 10
    reviewsctl(environment, "init", str(tmp_path), "--base-url", address, "--name", name)
    environment["REVIEWSD_CONFIG"] = str(tmp_path / "reviewsd.yaml")
    entry = json.loads(reviewsctl(environment, "mcp", "server-json").stdout)

    assert (
        "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
        == entry["$schema"]
    )
    assert "example.acme.reviews/reviews" == entry["name"]
    assert [{"type": "streamable-http", "url": f"{address}/mcp"}] == entry["remotes"]
    assert [100, 100] == [len(entry["title"]), len(entry["description"])]
    named = reviewsctl(environment, "mcp", "server-json", "--name", "io.github.acme/reviews")
    assert "io.github.acme/reviews" == json.loads(named.stdout)["name"]


def test_what_nobody_can_reach_is_not_announced(
    environment: dict[str, str], tmp_path: Path
) -> None:
    reviewsctl(environment, "init", str(tmp_path))
    environment["REVIEWSD_CONFIG"] = str(tmp_path / "reviewsd.yaml")
    done = reviewsctl(environment, "mcp", "server-json")
    assert (1, "") == (done.returncode, done.stdout)
    assert "Set base_url to the public address." in done.stderr


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
        assert ["/feed.xml"] == completed(environment, "push /f")
        assert ["/api/feed.json"] == completed(environment, "subs list --topic /a")
        assert [SUBSCRIPTION["id"]] == completed(environment, f"subs show {SUBSCRIPTION['id']}")
        assert str(SUBSCRIPTION["callback"]) in completed(environment, "subs remove https://")


def test_a_daemon_that_hangs_is_not_waited_for(environment: dict[str, str], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "admin.sock"))
        silent.listen()
        assert [] == completed(environment, "push /")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_to_each_shell(environment: dict[str, str], shell: str) -> None:
    asked = {**environment, "_REVIEWSCTL_COMPLETE": f"source_{shell}"}
    assert "reviewsctl" in reviewsctl(asked).stdout


def test_without_a_daemon_nothing_is_offered_and_nothing_said(environment: dict[str, str]) -> None:
    assert [] == completed(environment, "push /")
    assert [] == completed(environment, "subs show 1")
    assert ["push"] == completed(environment, "pus")


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
    assert (
        '.B "hub.lease.max"\n30 days. (integer, 1 to 2,592,000; default 2592000)'
        in pages["reviewsd.yaml.5"]
    )


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
