"""Snapshots that daemons under test find at their start: to publish their data is two thirds of one.

A daemon that is started again finds its data published. So does one under test, unless its test is about
what comes before: in its state directory are the files that it would have published by itself. Were they
others, it would publish, as a daemon does after an upgrade of its program.
"""

import atexit
import functools
import hashlib
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec

from reviewsd.config.errors import ConfigError
from reviewsd.config.load import load
from reviewsd.mcp.tools import LISTING
from reviewsd.publish.messages import Job, PublicationOrder
from reviewsd.publish.sources import fingerprint
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import open_seen
from tests.support.publishing import publish_here

LARGEST = 1 << 20  # bytes of a file; a larger one is left to the process with the memory limit

_snapshots: dict[str, Path | None] = {}


def provide(config: Path, environ: Mapping[str, str]) -> None:
    """Put the snapshot into the state directory of a daemon that has published nothing.

    There is none of faulty data, and of a faulty configuration.
    """
    try:
        order = PublicationOrder.from_config(
            load(config, environ).config, version("reviewsd"), LISTING.decode()
        )
    except ConfigError:
        return
    snapshots, data = Path(order.snapshots), Path(order.data_dir)
    files = sorted(data.iterdir()) if data.is_dir() else []
    if (
        snapshots.exists()
        or snapshots.parent.is_file()
        or order.templates_path is not None
        or not all(file.is_file() and file.stat().st_size <= LARGEST for file in files)
    ):
        return
    if (published := _published(order, files)) is None:
        return
    snapshots.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.copytree(published, snapshots, symlinks=True)
    current = snapshots / layout.CURRENT
    build = open_seen(current)
    assert build is not None
    now = time.time()
    times = dict.fromkeys(build.first_seen, int(now))
    looked = fingerprint(data)
    changed = msgspec.structs.replace(build, fingerprint=looked, published_at=now, first_seen=times)
    (current / layout.SEEN).write_bytes(msgspec.json.encode(changed))


def _published(order: PublicationOrder, files: Sequence[Path]) -> Path | None:
    """The directory of the snapshot of these files, made once; None of faulty ones."""
    own_version = version("reviewsd")
    digest = hashlib.sha256(order.build_key(own_version).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    key = digest.hexdigest()
    if key not in _snapshots:
        place = _folder() / key
        replaced = msgspec.structs.replace(order, snapshots=str(place))
        outcome = publish_here(Job(order=replaced, version=own_version, now=0))
        _snapshots[key] = place if outcome.result == "published" else None
    return _snapshots[key]


@functools.cache
def _folder() -> Path:
    """Gone when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="reviewsd-published-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
