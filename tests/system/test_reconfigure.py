"""The configuration is read again: all or nothing, and what waits for a restart is named (R7)."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewsd.admin.reload import LIVE
from reviewsd.config.schema import Config, keys
from tests.support import subscriber as hub
from tests.support.daemon import Daemon, until
from tests.support.generate import write_data


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path) as daemon:
        hub.until_open(daemon)
        yield daemon


def configure(daemon: Daemon, settings: str) -> None:
    """Replace what was configured beyond the paths."""
    before = daemon.config.read_text().splitlines(keepends=True)
    daemon.config.write_text("".join(before[:5]) + settings)


def ask(daemon: Daemon) -> int:
    return hub.ask(daemon, "http://refused.example.com/").status


def lease(daemon: Daemon) -> bool:
    return b"A subscription lasts 4000 seconds" in daemon.get(hub.HUB).body


@pytest.mark.parametrize("settings", ["", "sources: [{name: w, type: file, path: reviews.csv}]\n"])
def test_nothing_changes_without_change_of_what_daemon_reads(daemon: Daemon, settings: str) -> None:
    """A sync reads the sources at each run, and the daemon never."""
    configure(daemon, settings)
    assert {"applied": [], "restart": [], "problems": []} == daemon.reload()["config"]
    assert [] == daemon.unusual


def test_key_that_needs_no_restart_changes_at_once(daemon: Daemon) -> None:
    write_data(daemon.data, reviews=100)
    assert "published" == daemon.reload()["outcome"]
    configure(
        daemon,
        "data: {max_shrink: 50%}\nhub: {lease: {default: 4000}, limits: {requests_per_minute: 2}}\n",
    )
    done = daemon.reload()
    applied = ["data.max_shrink", "hub.lease.default", "hub.limits.requests_per_minute"]
    assert ("unchanged", applied, []) == (
        done["outcome"],
        done["config"]["applied"],
        done["config"]["restart"],
    )
    assert lease(daemon)
    assert [400, 400, 429] == [ask(daemon) for _ in range(3)]
    write_data(daemon.data, reviews=10)
    refused = daemon.reload()
    assert "refused" == refused["outcome"]
    assert [] == refused["config"]["applied"]  # it is in force already
    assert 100 == daemon.status()["snapshot"]["review_count"]


def test_key_that_needs_a_restart_is_named_until_then(daemon: Daemon) -> None:
    configure(daemon, "feeds: {year: 2001}\ncache: {max_age: 7}\nhub: {lease: {default: 4000}}\n")
    done = daemon.ctl("reload")
    assert (0, "") == (done.returncode, done.stderr)
    assert "configuration: hub.lease.default changed\n" in done.stdout
    waiting = "cache.max_age, feeds.year"
    assert f"configuration: {waiting} changed; takes effect after a restart" in done.stdout
    assert f"config     needs a restart: {waiting}\n" in daemon.ctl("status").stdout
    warning = f"these keys of the configuration have changed and wait for a restart: {waiting}"
    assert [warning in line for line in daemon.unusual] == [True]
    assert (lease(daemon), "max-age=60") == (
        True,
        daemon.get("/feed.xml").headers["Cache-Control"].split(", ")[1],
    )
    daemon.stop()
    daemon.start()
    assert {"applied": [], "restart": [], "problems": []} == daemon.status()["config"]


def test_doctor_names_what_is_not_in_effect_yet(daemon: Daemon) -> None:
    """A shop waited for messages that no daemon sent."""

    def in_effect() -> str:
        output = daemon.ctl("doctor", "--offline", "--config", str(daemon.config)).stdout
        return next(line for line in output.splitlines() if line[6:].startswith("in effect"))

    assert in_effect().endswith("the daemon uses it as it was at the last start or reload")
    configure(daemon, "cache: {max_age: 7}\n")
    daemon.reload()
    assert in_effect().endswith("changed, and not in effect: cache.max_age")


def test_a_fault_changes_nothing_and_is_shown_at_its_place(daemon: Daemon) -> None:
    """Neither the keys without a fault nor the data change."""
    configure(daemon, "hub: {lease: {default: 4000}}\ncache: {max_age: never}\n")
    done = daemon.ctl("reload")
    assert 1 == done.returncode
    assert f"{daemon.config}:7:18: cache.max_age: expected " in done.stderr
    assert "    7 | cache: {max_age: never}\n" in done.stderr
    assert done.stderr.endswith("Fix it, then run reviewsctl reload again.\n")
    assert not lease(daemon)
    assert "has faults; no change of it was applied" in daemon.ctl("status").stdout
    assert "ok" == daemon.status()["data"]["state"]
    configure(daemon, "hub: {lease: {default: 4000}}\n")
    assert 0 == daemon.ctl("reload").returncode
    assert lease(daemon)
    assert [] == daemon.status()["config"]["problems"]


def test_address_of_notices_with_which_no_daemon_starts_is_a_fault(daemon: Daemon) -> None:
    """It said that the key waits for a restart, and the restart failed. A start, check and doctor say the same."""
    address = daemon.directory / "owner.url"
    place = f"{daemon.config}:{len(daemon.config.read_text().splitlines()) + 1}:9"
    fault = f"{place}: notify: owner: there is no {address}\n"
    configure(daemon, "notify: [{name: owner, url_file: owner.url, stars: 2}]\n")
    done = daemon.ctl("reload")
    assert (1, f"  {fault}") == (done.returncode, done.stderr.splitlines(keepends=True)[1])
    assert fault in daemon.ctl("check", "--config", str(daemon.config)).stdout
    doctor = daemon.ctl("doctor", "--offline", "--config", str(daemon.config)).stdout
    assert fault.strip() in " ".join(doctor.split())
    daemon.stop()
    daemon.launch()
    assert 78 == daemon.ended()
    assert f"reviewsd: {fault}" in daemon.log.read_text()


def test_credential_of_the_next_start_is_no_fault(tmp_path: Path) -> None:
    """systemd copies credentials at a start, so a new one is not there yet."""
    with Daemon(tmp_path, environ={"CREDENTIALS_DIRECTORY": str(tmp_path / "none")}) as daemon:
        configure(daemon, "notify: [{name: owner, stars: 2}]\n")
        done = daemon.ctl("reload")
    assert (0, "") == (done.returncode, done.stderr)
    assert "configuration: notify changed; takes effect after a restart\n" in done.stdout


def test_no_value_is_told(daemon: Daemon) -> None:
    """A password may be in one."""
    configure(daemon, "hub: {store: 'postgresql://u:canary@db.example.com/x'}\n")
    done = daemon.reload()
    assert ["hub.store"] == done["config"]["restart"]
    for text in (json.dumps(done), json.dumps(daemon.status()), daemon.log.read_text()):
        assert "canary" not in text


def test_hangup_changes_crawlers_and_contacts_at_once(daemon: Daemon) -> None:
    """What systemd hears is in ``test_start_stop`` (O2)."""
    configure(
        daemon, "crawlers: none\nsecurity: {contact: [tel:+1], expires: 2099-01-01T00:00:00Z}\n"
    )
    messages_before = len(daemon.heard)
    daemon.process.send_signal(signal.SIGHUP)
    until(lambda: "READY=1" in daemon.heard[messages_before:], "the end of the reload")
    applied = daemon.status()["config"]["applied"]
    assert {"crawlers", "security.contact", "security.expires"} == set(applied)
    assert b"Disallow: /\n" in daemon.get("/robots.txt").body
    assert daemon.get("/.well-known/security.txt").body.startswith(b"Contact: tel:+1\n")


def test_the_live_keys_are_keys() -> None:
    names = tuple(keys(Config))
    assert all(any(name.startswith(start) for name in names) for start in LIVE)
