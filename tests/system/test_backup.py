"""``reviewsctl backup`` of a live daemon, and the way back (D12)."""

import json
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import subscriber as hub
from tests.support.daemon import Daemon, until
from tests.support.generate import write_data
from tests.support.postgres import Server, needed
from tests.support.stores import names
from tests.support.subscriber import Subscriber
from tests.system.test_mcp_clients import alive, end, opened


@pytest.fixture
def subscriber(tmp_path: Path) -> Iterator[Subscriber]:
    with Subscriber(tmp_path) as subscriber:
        yield subscriber


def subscribe(daemon: Daemon, subscriber: Subscriber, path: str, **fields: str) -> None:
    active = hub.hub(daemon)["active"]
    assert 202 == hub.ask(daemon, subscriber.url(path), **fields).status
    until(lambda: hub.hub(daemon)["active"] == active + 1, "the subscription")


def restore(daemon: Daemon, copy: Path, keys: list[str]) -> None:
    """As the help says, into an empty state directory; the old one stays aside."""
    aside = daemon.state.rename(daemon.directory / "old state")
    daemon.state.mkdir(mode=0o700)
    shutil.copyfile(copy, daemon.state / "state.sqlite")
    for name in keys:
        shutil.copyfile(aside / name, daemon.state / name)


def test_what_was_backed_up_is_there_again(tmp_path: Path, subscriber: Subscriber) -> None:
    """Subscriptions with their secrets, sessions, and those that have ended."""
    copy = tmp_path / "copy.sqlite"
    daemon = Daemon(tmp_path, hub.settings(subscriber.ca_file))
    with daemon:
        hub.until_open(daemon)
        subscribe(daemon, subscriber, "/plain")
        subscribe(daemon, subscriber, "/signed", secret="open sesame")
        session, ended = opened(daemon), opened(daemon)
        assert 204 == end(daemon, ended)
        done = daemon.ctl("backup", str(copy), "--json")
        assert (0, "") == (done.returncode, done.stderr)
        told = json.loads(done.stdout)
        subscribe(daemon, subscriber, "/later")
    assert (2, 1, 1) == (told["subscriptions"], told["signed"], told["sessions_ended"])
    assert [str(daemon.state / "secret.key"), str(daemon.state / "mcp.key")] == told["keys"]
    assert 0o600 == stat.S_IMODE(copy.stat().st_mode)

    restore(daemon, copy, ["secret.key", "mcp.key"])
    with daemon:
        assert 2 == hub.hub(daemon)["active"]
        assert (200, 404) == (alive(daemon, session), alive(daemon, ended))
        write_data(daemon.data, reviews=50)
        subscriber.until_deliveries(1, "/plain")
        signed = subscriber.until_deliveries(1, "/signed")
        assert signed.field("X-Hub-Signature") is not None
        assert [] == subscriber.deliveries("/later")
        assert 0 == daemon.stop()


def test_a_restore_without_its_key_is_refused_before_it_costs_subscriptions(
    tmp_path: Path, subscriber: Subscriber
) -> None:
    copy = tmp_path / "copy.sqlite"
    daemon = Daemon(tmp_path, hub.settings(subscriber.ca_file))
    with daemon:
        hub.until_open(daemon)
        subscribe(daemon, subscriber, "/signed", secret="open sesame")
        assert 0 == daemon.ctl("backup", str(copy)).returncode
    restore(daemon, copy, [])
    daemon.launch()
    assert 78 == daemon.ended()
    assert "is not the key that has sealed the secrets in state.sqlite" in daemon.log.read_text()
    shutil.copyfile(tmp_path / "old state" / "secret.key", daemon.state / "secret.key")
    daemon.start()
    assert 1 == hub.hub(daemon)["active"]
    daemon.close()


def test_deleted_store_acknowledges_nothing_until_its_backup_is_restored(
    tmp_path: Path, subscriber: Subscriber
) -> None:
    """A loss that is not noticed before a restart would cost every subscription."""
    copy = tmp_path / "copy.sqlite"
    daemon = Daemon(tmp_path, hub.settings(subscriber.ca_file))
    with daemon:
        hub.until_open(daemon)
        subscribe(daemon, subscriber, "/signed", secret="open sesame")
        for name in ("state.sqlite", "state.sqlite-wal"):
            (daemon.state / name).unlink()

        response = hub.ask(daemon, subscriber.url("/new"))
        assert (503, True) == (response.status, int(response.headers["Retry-After"]) > 0)
        until(lambda: daemon.admin("GET", "/v1/ready").status == 503, "the probe")
        assert b"\nreviewsd_store_up 0.0\n" in daemon.admin("GET", "/v1/metrics").body
        state = hub.hub(daemon)
        assert state["store"].startswith("state.sqlite was deleted while it was in use")
        assert 1 == state["active"]
        assert [line for line in daemon.unusual if "state.sqlite was deleted" in line]
        doctor = daemon.ctl("doctor", "--json").stdout
        assert "the store cannot be used: state.sqlite was deleted" in doctor

        write_data(daemon.data, reviews=50)
        subscriber.until_deliveries(1, "/signed")
        assert 0 == daemon.ctl("backup", str(copy)).returncode
        assert 0 == daemon.stop()

    shutil.copyfile(copy, daemon.state / "state.sqlite")
    with daemon:
        assert (1, "ok") == (hub.hub(daemon)["active"], hub.hub(daemon)["store"])
        assert 202 == hub.ask(daemon, subscriber.url("/new")).status
        hub.until_settled(daemon)
        assert 1 == len(subscriber.deliveries("/signed"))  # the delivered version is in the backup
        assert 0 == daemon.stop()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon")) as daemon:
        yield daemon


def test_a_backup_says_what_is_in_it_and_what_is_not(daemon: Daemon, tmp_path: Path) -> None:
    done = daemon.ctl("backup", str(tmp_path / "copy"))
    first, *rest = done.stdout.splitlines()
    assert first.startswith(f"wrote {tmp_path / 'copy'}: 0 subscriptions (0 with a secret), ")
    assert (
        "The keys that belong to it are not in it. Keep a copy of them, apart from it:" == rest[0]
    )
    assert [f"  {daemon.state / name}" for name in ("secret.key", "mcp.key")] == rest[1:]
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert [("ok",)] == copy.execute("PRAGMA integrity_check").fetchall()
    assert "backup asked for by pid" in daemon.log.read_text()
    assert [] == list(daemon.state.glob(".backup-*"))


def test_a_file_that_is_there_is_left_alone(daemon: Daemon, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_text("precious")
    done = daemon.ctl("backup", str(copy))
    assert (1, "precious") == (done.returncode, copy.read_text())
    assert "is there already\nGive another name, or replace it with --force.\n" in done.stderr
    assert 0 == daemon.ctl("backup", "--force", "--quiet", str(copy)).returncode
    assert copy.read_bytes().startswith(b"SQLite format 3\0")
    assert ["copy"] == names(tmp_path)


@pytest.mark.parametrize("place", ["nowhere/copy", "."])
def test_where_nothing_can_be_written_is_told(daemon: Daemon, tmp_path: Path, place: str) -> None:
    done = daemon.ctl("backup", str(tmp_path / place))
    assert 1 == done.returncode
    assert done.stderr.startswith("Error: the backup was not written: ")
    assert [] == names(tmp_path)


def test_without_a_daemon_nothing_is_written(tmp_path: Path) -> None:
    done = Daemon(tmp_path).ctl("backup", str(tmp_path / "copy"))
    assert 3 == done.returncode
    assert not (tmp_path / "copy").exists()


def test_what_a_killed_daemon_left_half_done_goes_at_the_next_start(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path)
    daemon.state.mkdir(mode=0o700)
    (daemon.state / ".backup-0123").write_text("half")
    with daemon:
        assert [] == list(daemon.state.glob(".backup-*"))


@needed
def test_on_postgresql_it_names_the_tool(tmp_path: Path) -> None:
    with Server() as server, Daemon(tmp_path, f"hub: {{store: {server.database()!r}}}\n") as daemon:
        done = daemon.ctl("backup", str(tmp_path / "copy"))
    assert 1 == done.returncode
    assert "pg_dump makes the backup" in done.stderr
    assert not (tmp_path / "copy").exists()
