"""Keep what a release leaves in its state directory: ``python -m tests.system.states.make``.

To be run in a checkout of the release, once; later releases have to go on from it.
"""

import shutil
import sqlite3
import tarfile
from contextlib import closing
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from reviewsd.store import keys
from tests.support.daemon import BASE_URL, Daemon, until
from tests.support.subscriber import Subscriber, ask, hub, settings, until_open

CALLBACKS = {"/plain": "/feed.xml", "/signed": "/reviews.json", "/json": "/api/feed.json"}
"""Paths of callbacks, and the topics that they have subscribed to."""

SECRET = "open sesame"
BLOCKED = "blocked.example.com"

PORT = "9443"
"""The port of the callbacks in the archives, in place of the real one."""

SAMPLE = Path(__file__).parents[3] / "cli" / "reviewsctl" / "shipped" / "reviews.json"


def main() -> None:
    """Run the daemon of this checkout, subscribe, and keep its files."""
    target = Path(__file__).with_name(f"{version('reviewsd')}.tar.gz")
    with TemporaryDirectory(dir="/tmp") as name:
        place = Path(name)
        (place / "data").mkdir()
        shutil.copyfile(SAMPLE, place / "data" / "reviews.json")
        with Subscriber(place) as subscriber:
            with Daemon(place, settings(subscriber.ca_file)) as daemon:
                until_open(daemon)
                for number, (path, topic) in enumerate(CALLBACKS.items(), 1):
                    fields = {"secret": SECRET} if path == "/signed" else {}
                    ask(daemon, subscriber.url(path), topic=BASE_URL + topic, **fields)
                    until(partial(active, daemon, number), path)
                daemon.ctl("hub", "block", BLOCKED)
                daemon.stop()
            move(daemon.state, port_of(subscriber), PORT)
        with tarfile.open(target, "w:gz") as archive:
            for directory in ("state", "data"):
                archive.add(place / directory, directory, filter=anonymous)


def active(daemon: Daemon, count: int) -> bool:
    """Whether so many are subscribed."""
    return bool(hub(daemon)["active"] == count)


def port_of(subscriber: Subscriber) -> str:
    """Return the listening port."""
    return subscriber.url("").rpartition(":")[2]


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the owner from an entry."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def move(state: Path, before: str, after: str) -> None:
    """Have the callbacks listen on another port: a secret is sealed together with its callback."""
    sealing = keys.Secrets(keys.HUB_KEYS.load(state, {}))
    with closing(sqlite3.connect(state / "state.sqlite")) as connection, connection:
        rows = connection.execute(
            "SELECT s.id, s.callback, s.secret_sealed, t.path"
            " FROM subscription s JOIN topic t ON t.id = s.topic_id"
        ).fetchall()
        for number, callback, sealed, topic in rows:
            moved = callback.replace(f":{before}/", f":{after}/")
            if sealed is not None:
                sealed = sealing.seal(sealing.unseal(sealed, callback, topic), moved, topic)  # noqa: PLW2901
            connection.execute(
                "UPDATE subscription SET callback = ?, secret_sealed = ? WHERE id = ?",
                (moved, sealed, number),
            )


if __name__ == "__main__":
    main()
