"""``reviewsctl backup`` of a live daemon, and ``restore`` (D12)."""

import json
import os
import sqlite3
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import subscriber as hub
from tests.support.agents import alive, end, opened
from tests.support.commands import CLI, reviewsctl
from tests.support.daemon import Daemon, until
from tests.support.generate import write_data
from tests.support.postgres import Server, needed
from tests.support.stores import names
from tests.support.subscriber import Subscriber

ENVIRONMENT = {"PATH": os.defpath, "PYTHONPATH": str(CLI), "PYTHONWARNINGS": "error"}


def ctl(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run reviewsctl in a folder, where the environment names no configuration."""
    return reviewsctl(ENVIRONMENT, *arguments, folder=folder)


def restore(daemon: Daemon, copy: Path, *options: str) -> list[str]:
    """Restore a backup; what was there stays aside. Returns the lines that are printed."""
    for folder in (daemon.state, daemon.data):
        if folder.exists() and "--force" not in options:
            folder.rename(daemon.directory / f"old {folder.name}")
    done = daemon.ctl("restore", str(copy), "--config", str(daemon.config), *options)
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout.splitlines()


def test_restored_backup_has_all_that_was_backed_up(tmp_path: Path, subscriber: Subscriber) -> None:
    """Subscriptions with their secrets, sessions, and those that have ended."""
    copy = tmp_path / "copy.sqlite"
    daemon = Daemon(tmp_path, hub.settings(subscriber.ca_file))
    with daemon:
        hub.until_open(daemon)
        hub.subscribe(daemon, subscriber.url("/plain"))
        hub.subscribe(daemon, subscriber.url("/signed"), secret="open sesame")
        session, ended = opened(daemon), opened(daemon)
        assert 204 == end(daemon, ended)
        done = daemon.ctl("backup", str(copy), "--json", "--config", str(daemon.config))
        assert (0, "") == (done.returncode, done.stderr)
        summary = json.loads(done.stdout)
        hub.subscribe(daemon, subscriber.url("/later"))
    assert 122 == summary["reviews"]
    assert (2, 1, 1) == (summary["subscriptions"], summary["signed"], summary["sessions_ended"])
    assert {"config/reviewsd.yaml", "keys/secret.key", "keys/mcp.key"} <= set(summary["files"])
    assert [] == summary["notes"]
    assert 0o600 == stat.S_IMODE(copy.stat().st_mode)
    stopped = daemon.ctl(
        "backup", str(tmp_path / "later"), "--json", "--config", str(daemon.config)
    )
    assert (0, "") == (stopped.returncode, stopped.stderr)
    later = json.loads(stopped.stdout)
    assert (3, summary["files"]) == (later["subscriptions"], later["files"])
    assert later["notes"][0].startswith("read without the daemon: it is not running: ")

    restore(daemon, copy)
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
        hub.subscribe(daemon, subscriber.url("/signed"), secret="open sesame")
        assert 0 == daemon.ctl("backup", str(copy)).returncode
    restore(daemon, copy)
    key = (daemon.state / "secret.key").read_bytes()
    (daemon.state / "secret.key").unlink()
    daemon.launch()
    assert 78 == daemon.ended()
    assert "is not the key that has sealed the secrets in state.sqlite" in daemon.log.read_text()
    (daemon.state / "secret.key").write_bytes(key)
    daemon.start()
    assert 1 == hub.hub(daemon)["active"]
    daemon.close()


def test_deleted_store_acknowledges_nothing(tmp_path: Path, subscriber: Subscriber) -> None:
    """A loss that is not noticed before a restart would cost every subscription."""
    copy = tmp_path / "copy.sqlite"
    daemon = Daemon(tmp_path, hub.settings(subscriber.ca_file))
    with daemon:
        hub.until_open(daemon)
        hub.subscribe(daemon, subscriber.url("/signed"), secret="open sesame")
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

    restore(daemon, copy, "--force")
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


def test_backup_says_what_is_in_it(daemon: Daemon, tmp_path: Path) -> None:
    done = daemon.ctl("backup", str(tmp_path / "copy"))
    first, *rest = done.stdout.splitlines()
    assert f"wrote {tmp_path / 'copy'}: 122 reviews, 6 files" == first, "what there is none of"
    assert rest == [
        "it holds keys: keep it where nobody else can read it",
        f"the way back: reviewsctl restore {tmp_path / 'copy'}",
    ]
    with tarfile.open(tmp_path / "copy") as archive:
        store = archive.extractfile("state/state.sqlite")
        assert store is not None
        (tmp_path / "store").write_bytes(store.read())
    with closing(sqlite3.connect(tmp_path / "store")) as copy:
        assert [("ok",)] == copy.execute("PRAGMA integrity_check").fetchall()
    assert "backup asked for by pid" in daemon.log.read_text()
    assert [] == list(daemon.state.glob(".backup-*"))


def test_restore_is_refused_while_the_daemon_runs(daemon: Daemon, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    daemon.ctl("backup", str(copy))
    running = daemon.ctl("restore", str(copy))
    assert 1 == running.returncode
    assert "the daemon runs\nStop it, and its sockets, first" in running.stderr
    dry = daemon.ctl("restore", str(copy), "--dry-run")
    assert (0, "") == (dry.returncode, dry.stderr)
    assert "\nit would be refused: the daemon runs. Stop it, and its sockets, first" in dry.stdout
    of_config = ctl(tmp_path, "restore", str(copy), "--config", str(daemon.config))
    assert "the daemon runs" in of_config.stderr  # found by the configuration alone
    other = daemon.directory / "other.yaml"  # a copy whose folders nobody has changed
    other.write_text(daemon.config.read_text().replace("admin.sock", "other/admin.sock"))
    of_state = ctl(tmp_path, "restore", str(copy), "--config", str(other), "--force")
    assert "the daemon runs" in of_state.stderr  # found by the lock of its state


def test_backup_goes_back_where_it_was_or_into_a_folder_that_is_named(tmp_path: Path) -> None:
    """A rehearsal beside the shop must not aim at it without a word."""
    shop, elsewhere = tmp_path / "shop", tmp_path / "elsewhere"
    for folder in (shop, elsewhere):
        folder.mkdir()
    address = "https://shop.example.com"
    assert 0 == ctl(shop, "init", "--name", "Acme", "--base-url", address).returncode
    assert 0 == ctl(shop, "backup", str(tmp_path / "copy")).returncode
    before = {path: path.read_bytes() for path in shop.rglob("*") if path.is_file()}

    remedy = "to restore it elsewhere: reviewsctl init NEW-FOLDER, and here --config NEW-FOLDER/reviewsd.yaml"
    back = f"this backup goes back to {shop}; {remedy}"
    dry = ctl(elsewhere, "restore", "../copy", "--dry-run")
    assert dry.stdout.startswith(back)
    refused = ctl(elsewhere, "restore", "../copy")
    assert 1 == refused.returncode
    assert remedy in refused.stderr

    moved = ctl(elsewhere, "restore", "../copy", "--config", ".")
    assert 0 == moved.returncode, moved.stderr
    assert back not in moved.stdout
    assert before == {path: path.read_bytes() for path in shop.rglob("*") if path.is_file()}
    for name in ("reviewsd.yaml", "data/reviews.json", "data/insights.yaml"):
        assert before[shop / name] == (elsewhere / name).read_bytes()
    assert 0 == ctl(elsewhere, "check").returncode


def test_backup_of_a_service_is_restored_elsewhere_as_its_remedy_says(tmp_path: Path) -> None:
    """Its data are not in the folder of its configuration, so a new place of that alone moved nothing."""
    shop, data = tmp_path / "etc", tmp_path / "srv"
    assert 0 == ctl(tmp_path, "init", str(shop), "--name", "Acme").returncode
    (shop / "data").rename(data)
    config = shop / "reviewsd.yaml"
    config.write_text(config.read_text().replace("data_dir: data", f"data_dir: {data}"))
    assert 0 == ctl(tmp_path, "backup", "copy", "--config", "etc/reviewsd.yaml").returncode
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}

    refused = ctl(tmp_path, "restore", "copy")
    assert f"{data}/reviews.json exists already" in refused.stderr
    for option in ("--force", "--dry-run"):  # a typing error replaced what is served
        refused = ctl(tmp_path, "restore", "copy", "--config", "nwe/reviewsd.yaml", option)
        assert (1, "") == (refused.returncode, refused.stdout)
        assert f"not restored: there is no {tmp_path}/nwe/reviewsd.yaml" in refused.stderr
        assert f"reviews and state would go back to {data}" in refused.stderr
    _, _, remedy = ctl(tmp_path, "restore", "copy").stderr.strip().partition("elsewhere: ")
    first, second = remedy.replace("NEW-FOLDER", "new").split(", and here ")
    assert 0 == ctl(tmp_path, *first.split()[1:]).returncode
    done = ctl(tmp_path, "restore", "copy", *second.split())
    assert 0 == done.returncode, done.stderr

    assert before == {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    for path, content in before.items():
        assert content == (tmp_path / "new" / "data" / path.relative_to(data)).read_bytes()


def test_review_that_was_erased_since_does_not_return(tmp_path: Path) -> None:
    """The corrections that are there count, though the archive knows nothing of them."""
    copy = tmp_path / "copy"
    daemon = Daemon(tmp_path)

    def ids() -> list[str]:
        document = json.loads((daemon.data / "reviews.json").read_bytes())
        return [review["id"] for review in document["reviews"]]

    erased, hidden, *_ = ids()
    data = ("-y", "--data", str(daemon.data))
    with daemon:
        for command in (
            ("reviews", "hide", hidden, "--reason", "spam", *data),
            ("backup", str(copy)),
            ("reviews", "erase", erased, "--reason", "request", *data),
        ):
            assert 0 == daemon.ctl(*command).returncode
    lines = restore(daemon, copy, "--force")
    assert "not restored, as they were erased since: 1 review" in lines
    assert erased not in ids()
    with daemon:
        for review_id in (erased, hidden):
            assert 410 == daemon.get(f"/r/{review_id}").status


def test_a_file_that_is_there_is_left_alone(daemon: Daemon, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_text("precious")
    done = daemon.ctl("backup", str(copy))
    assert (1, "precious") == (done.returncode, copy.read_text())
    assert "is there already\nChoose another name, or replace it with --force.\n" in done.stderr
    assert 0 == daemon.ctl("backup", "--force", "--quiet", str(copy)).returncode
    assert tarfile.is_tarfile(copy)
    assert ["copy"] == names(tmp_path)


@pytest.mark.parametrize("place", ["nowhere/copy", "."])
def test_backup_to_unwritable_place_is_refused(daemon: Daemon, tmp_path: Path, place: str) -> None:
    done = daemon.ctl("backup", str(tmp_path / place))
    assert 1 == done.returncode
    assert done.stderr.startswith("Error: the backup was not written: ")
    assert [] == names(tmp_path)


def test_without_a_daemon_nothing_is_written(tmp_path: Path) -> None:
    done = Daemon(tmp_path).ctl("backup", str(tmp_path / "copy"))
    assert 3 == done.returncode
    assert not (tmp_path / "copy").exists()


def test_unfinished_backup_of_a_killed_daemon_is_removed_at_the_next_start(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path)
    daemon.state.mkdir(mode=0o700)
    (daemon.state / ".backup-0123").write_text("half")
    with daemon:
        assert [] == list(daemon.state.glob(".backup-*"))


@needed
def test_on_postgresql_it_has_the_rest_and_names_the_tool(tmp_path: Path) -> None:
    with Server() as server, Daemon(tmp_path, f"hub: {{store: {server.database()!r}}}\n") as daemon:
        done = daemon.ctl("backup", str(tmp_path / "copy"))
    assert 0 == done.returncode
    assert "pg_dump makes the backup" in done.stdout
    with tarfile.open(tmp_path / "copy") as archive:
        assert "data/reviews.json" in archive.getnames()
        assert "state/state.sqlite" not in archive.getnames()
