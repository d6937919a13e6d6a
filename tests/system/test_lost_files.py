"""Files that are deleted while the daemon has them open: put back before anybody misses them."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import subscriber as hub
from tests.support.daemon import Daemon, until
from tests.support.subscriber import Subscriber


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path) as daemon:
        yield daemon


def unusual(daemon: Daemon, text: str) -> bool:
    return any(text in line for line in daemon.unusual)


def test_what_is_deleted_is_put_back(daemon: Daemon) -> None:
    """A second daemon, no reviewsctl, other keys, a start without data: each went unnoticed."""
    keys = [daemon.state / "secret.key", daemon.state / "mcp.key"]
    before = [key.read_bytes() for key in keys]
    current = (daemon.state / "snapshots" / "current").readlink()
    for path in (*keys, daemon.state / "lock", daemon.socket):
        path.unlink()
    shutil.rmtree(daemon.state / "snapshots")

    for said in (
        "secret.key was deleted: it is written back",
        "mcp.key was deleted: it is written back",
        "lock was deleted: it is taken again",
        "admin.sock was deleted: it is listened on again",
        "snapshot that is served was deleted: it is published again",
    ):
        until(lambda said=said: unusual(daemon, said), said)  # type: ignore[misc]  # mypy sees no default
    assert before == [key.read_bytes() for key in keys]
    assert [0o600] * 2 == [key.stat().st_mode & 0o777 for key in keys]
    assert current == (daemon.state / "snapshots" / "current").readlink()
    assert (daemon.state / "snapshots" / "current" / "manifest.json").exists()
    assert 0 == daemon.ctl("ping").returncode

    other = Daemon(daemon.directory)
    other.launch()
    assert 78 == other.ended()
    assert 0 == daemon.stop()
    assert not daemon.socket.exists()  # what goes at the end is not put back
    assert 5 == daemon.log.read_text().count("was deleted")


def test_a_state_directory_that_is_deleted_is_made_again_with_all_that_was_in_it(
    tmp_path: Path,
) -> None:
    with Subscriber(tmp_path) as subscriber:
        daemon = Daemon(tmp_path, hub.settings(subscriber.ca_file))
        with daemon:
            hub.until_open(daemon)
            assert 202 == hub.ask(daemon, subscriber.url("/signed"), secret="s").status
            until(lambda: hub.hub(daemon)["active"] == 1, "the subscription")
            shutil.rmtree(daemon.state)
            for name in ("state.sqlite.saved", "secret.key", "snapshots/current"):
                until(lambda name=name: (daemon.state / name).exists(), name)  # type: ignore[misc]  # mypy sees no default
            assert 0o700 == daemon.state.stat().st_mode & 0o777
            daemon.close()  # killed
        with daemon:
            assert (1, "ok") == (hub.hub(daemon)["active"], hub.hub(daemon)["store"])


def test_what_somebody_else_has_put_there_is_left_alone_and_told(daemon: Daemon) -> None:
    daemon.socket.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(daemon.socket))
        other.listen()
        until(lambda: unusual(daemon, "could not be mended (admin_socket"), "the log")
    key = daemon.state / "secret.key"
    aside = key.with_name("new")
    aside.write_text(f"{'11' * 32}\n{key.read_text()}")
    aside.replace(key)
    until(lambda: unusual(daemon, "its keys are used from the next start on"), "the log")
    assert key.read_text().startswith("11")
