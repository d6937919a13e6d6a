"""MCP with what users run, and sessions over everything that happens to a daemon (mcp.md 3, 6, 10).

The Inspector and the conformance suite need Node: ``tests/conformance/mcp.sh``.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import alive, opened
from tests.support.daemon import BASE_URL, NO_PAGES, Daemon, free_port
from tests.test_modules import ROOT

KEY = "11" * 32


# The official SDK -------------------------------------------------------------------------------


class Sdk:
    """The SDK's client at work."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def heard(self) -> Any:
        """The next that it has seen."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self._process.stderr.read() if self._process.stderr else ""
        return json.loads(line)

    def ask_again(self) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write("again\n")
        self._process.stdin.flush()
        return self.heard()


@contextmanager
def listener(daemon: Daemon, path: str) -> Iterator[Callable[[], str]]:
    """A client of the SDK that listens for changes; yields what returns its next word."""
    command = [sys.executable, "-m", "tests.support.mcp_listener"]
    addresses = (f"http://127.0.0.1:{daemon.port}/mcp", BASE_URL + path)
    with subprocess.Popen(
        [*command, *addresses], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        output = process.stdout
        assert output is not None
        try:
            yield lambda: output.readline().strip()
        finally:
            process.kill()


@contextmanager
def sdk(daemon: Daemon, mode: str) -> Iterator[Sdk]:
    path = "/mcp/" if mode == "legacy" else "/mcp"  # people write either
    command = [sys.executable, "-m", "tests.support.mcp_sdk"]
    with subprocess.Popen(
        [*command, f"http://127.0.0.1:{daemon.port}{path}", mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    ) as process:
        try:
            yield Sdk(process)
            _, complaints = process.communicate(timeout=60)
            assert (0, "") == (process.returncode, complaints)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running


@pytest.mark.parametrize(
    ("mode", "protocol"),
    [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")],
)
def test_the_sdks_client_can_use_everything(daemon: Daemon, mode: str, protocol: str) -> None:
    """Every tool is checked against its schemas, and every resource is read, in both eras."""
    with sdk(daemon, mode) as client:
        saw = client.heard()

    assert protocol == saw["protocol"]
    introduced = mode != "2026-07-28"  # then the client asks for nothing but what it needs
    assert ("reviewsd" if introduced else None) == saw["server"]
    assert introduced == ("search_reviews" in (saw["instructions"] or ""))
    assert 11 == len(saw["tools"])
    assert ["get_business", "search_reviews"] == saw["tools"][:2]
    assert saw["read"] == {
        f"{BASE_URL}{path}": daemon.get(path).body.decode()
        for path in ("/api/feed.json", "/feed.xml", "/insights.json", "/reviews.json")
    }
    assert 3 * ["text/html;profile=mcp-app"] == saw["views"]
    assert 0 == saw["templates"]
    assert -32602 == saw["unknown"]
    assert '"stars" is not an argument' in saw["wrong"]
    assert ["toolCallId"] == saw["noted"]["io.github.reviewsd/ignored_arguments"]
    assert ["rating", "since"] == saw["noted"]["io.github.reviewsd/absent_arguments"]
    negative = daemon.get("/api/reviews/search?sentiment=negative").json()["matched"]
    assert negative == saw["negative"] > 0
    search = daemon.get("/api/reviews/search?min_rating=4&limit=22").json()["reviews"]
    unseen = {"author_avatar_url"}
    assert saw["found"] + saw["following"] == [
        {
            name: value
            for name, value in arguments.items()
            if value is not None and name not in unseen
        }
        for arguments in search
    ]
    problems = daemon.get("/insights.json").json()["entities"]["problems"]
    assert len(problems) == saw["problems"]


def fixed_port() -> str:
    """Return the configuration of a port that is the same after a restart."""
    return f'listen: ["tcp:{free_port()}:interface=127.0.0.1"]\n'


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdks_client_does_not_notice_a_restart(tmp_path: Path, mode: str) -> None:
    """python-sdk#3556: a client takes a lost session as final."""
    with Daemon(tmp_path, fixed_port()) as daemon, sdk(daemon, mode) as client:
        client.heard()
        daemon.stop(signal.SIGKILL)
        daemon.start()
        business = client.ask_again()["business"]
    assert "Harbor Heating & Plumbing" == business["name"]


def test_the_sdks_client_hears_of_new_reviews_through_a_kill(tmp_path: Path) -> None:
    """It subscribes again when the connection is lost, and learns when the daemon stops."""
    with (
        Daemon(tmp_path, NO_PAGES + fixed_port()) as daemon,
        listener(daemon, "/reviews.json") as heard,
    ):
        words = [heard()]
        add_review(daemon, "first")
        words.append(heard())
        daemon.stop(signal.SIGKILL)
        words.append(heard())
        daemon.start()
        words.append(heard())
        add_review(daemon, "second")
        words.append(heard())
        daemon.stop()
        words.append(heard())

    assert ["listening", "changed", "lost", "listening", "changed", "ended"] == words


def add_review(daemon: Daemon, review_id: str) -> None:
    """Write a file with one review more."""
    file = daemon.data / "reviews.json"
    content = json.loads(file.read_text())
    content["reviews"].insert(0, content["reviews"][0] | {"id": review_id})
    file.write_text(json.dumps(content))


# Sessions ---------------------------------------------------------------------------------------


def test_a_session_is_known_to_all_who_share_the_key(tmp_path: Path) -> None:
    """fastmcp#482: behind a load balancer every request may meet another node."""
    key_file = tmp_path / "key"
    key_file.write_text(f"# of all nodes\n{KEY}\n")
    sharing = f"mcp: {{session_key_file: {key_file}}}\n"
    with (
        Daemon(_place(tmp_path, "a"), sharing) as first,
        Daemon(_place(tmp_path, "b"), sharing) as second,
        Daemon(_place(tmp_path, "c")) as stranger,
    ):
        session = opened(first)
        assert [200, 200, 404] == [alive(node, session) for node in (first, second, stranger)]
        assert not (first.state / "mcp.key").exists()
        assert 0o600 == (stranger.state / "mcp.key").stat().st_mode & 0o777


def _place(directory: Path, name: str) -> Path:
    place = directory / name
    place.mkdir()
    return place
