"""A release goes on from the state of those before it, and never from that of a later one (D11)."""

import hmac
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from reviewsd.store.schema import MIGRATIONS
from tests.support.daemon import Daemon, until
from tests.support.subscriber import Subscriber, hub, settings, until_settled
from tests.system.states import make

STATES = sorted(Path(make.__file__).parent.glob("*.tar.gz"))
DAY_MS = 86_400_000

every_release = pytest.mark.parametrize(
    "state", STATES, ids=lambda path: path.name.removesuffix(".tar.gz")
)


def earlier(state: Path, place: Path, subscriber: Subscriber) -> Daemon:
    """Unpack the state of a release; its callbacks listen at the subscriber.

    The leases are as long as they were, and begin today.
    """
    with tarfile.open(state) as archive:
        archive.extractall(place, filter="data")
    (place / "state").chmod(0o700)
    store = place / "state" / "state.sqlite"
    make.move(place / "state", make.PORT, make.port_of(subscriber))
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "UPDATE subscription SET lease_expires_at = 10 * ? + 1000 * unixepoch()", (DAY_MS,)
        )
    return Daemon(place, settings(subscriber.ca_file))


def version(daemon: Daemon) -> int:
    with closing(sqlite3.connect(daemon.state / "state.sqlite")) as connection:
        (number,) = connection.execute("PRAGMA user_version").fetchone()
    return int(number)


def test_there_is_a_release_to_go_on_from() -> None:
    assert STATES


@every_release
def test_subscriptions_of_earlier_release_get_next_change(state: Path, tmp_path: Path) -> None:
    """Each once, by its topic, signed with the secret that the earlier release has sealed."""
    with Subscriber(tmp_path) as subscriber:
        daemon = earlier(state, tmp_path, subscriber)
        assert version(daemon) <= len(MIGRATIONS)
        with daemon:
            assert len(make.CALLBACKS) == hub(daemon)["active"]
            assert make.BLOCKED in daemon.ctl("hub", "blocks").stdout
            until_settled(daemon)
            subscriber.log.clear()

            daemon.edit(name="After the upgrade")
            for path, topic in make.CALLBACKS.items():
                delivery = subscriber.until_deliveries(1, path)
                body = subscriber.bodies[delivery.sha256]
                assert b"After the upgrade" in body
                assert daemon.get(topic).body == body
                signature = hmac.new(make.SECRET.encode(), body, "sha256").hexdigest()
                expected = f"sha256={signature}" if path == "/signed" else None
                assert expected == delivery.field("X-Hub-Signature")
            assert 0 == daemon.stop()
            assert [] == [line for line in daemon.unusual if "callbacks may use" not in line]
        assert len(MIGRATIONS) == version(daemon)


@every_release
def test_the_last_good_data_of_an_earlier_release_stays_online(state: Path, tmp_path: Path) -> None:
    """The files are broken at the time of the upgrade."""
    with Subscriber(tmp_path) as subscriber:
        daemon = earlier(state, tmp_path, subscriber)
        (daemon.data / "reviews.json").write_text("{")
        with daemon:
            assert 2 == len(daemon.get("/reviews.json").json()["reviews"])
            until(lambda: "degraded" in daemon.ctl("status").stdout, "the new files' refusal")


@every_release
def test_a_later_state_is_refused_and_a_backup_leads_back(state: Path, tmp_path: Path) -> None:
    """The older program never misreads what a newer one has written (docs/how-to/upgrade.md)."""
    with Subscriber(tmp_path) as subscriber:
        daemon = earlier(state, tmp_path, subscriber)
        store = daemon.state / "state.sqlite"
        backup = tmp_path / "backup.sqlite"
        shutil.copyfile(store, backup)
        with closing(sqlite3.connect(store)) as connection:
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        daemon.launch()
        assert 78 == daemon.ended()
        assert (
            "run the newer program, or restore a backup of the older one" in daemon.log.read_text()
        )

        for name in ("state.sqlite", "state.sqlite-wal"):
            (daemon.state / name).unlink(missing_ok=True)
        shutil.copyfile(backup, store)
        with daemon:
            until(lambda: hub(daemon)["active"] == len(make.CALLBACKS), "the subscriptions")
