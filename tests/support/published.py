"""Snapshots that daemons under test find at their start: to publish the demo's data is two thirds of one.

A daemon that is started again finds its data published. So does one under test whose data is the demo's,
unless its test is about what comes before: the same files are in its state directory as it would have
published by itself. If they were others, it would publish, as any daemon whose program has changed.
"""

import atexit
import functools
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from reviewsd.app.daemon import program_version, publication_order
from reviewsd.config.errors import ConfigError
from reviewsd.config.load import load
from reviewsd.publish.job import Job, Published
from reviewsd.publish.publication import publish
from reviewsd.publish.sources import signature
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import open_seen

_snapshots: dict[str, Path] = {}  # of each build key


def provide(config: Path, environ: Mapping[str, str]) -> None:
    """Put the snapshot into the state directory; none where the configuration is faulty.

    Args:
        config: The configuration of a daemon that has the demo's data.
        environ: That of the daemon.
    """
    try:
        order = publication_order(load(config, environ)[0])
    except ConfigError:
        return
    version = program_version()
    key = order.build_key(version)
    if key not in _snapshots:
        place = _folder() / key
        job = Job(
            order=msgspec.structs.replace(order, snapshots=str(place)), version=version, now=0
        )
        assert isinstance(publish(job, lambda *_: None), Published)
        _snapshots[key] = place
    snapshots = Path(order.snapshots)
    snapshots.parent.mkdir(mode=0o700)
    shutil.copytree(_snapshots[key], snapshots, symlinks=True)
    current = snapshots / layout.CURRENT
    seen = open_seen(current)
    assert seen is not None
    now = time.time()
    looked = signature(Path(order.data_dir), order.templates_path)
    times = dict.fromkeys(seen.first_seen, int(now))
    changed = msgspec.structs.replace(seen, signature=looked, published_at=now, first_seen=times)
    (current / layout.SEEN).write_bytes(msgspec.json.encode(changed))


@functools.cache
def _folder() -> Path:
    """Gone when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="reviewsd-published-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
