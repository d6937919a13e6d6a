"""Old snapshots are unmapped at once, not in the reactor's thread (performance.md 1)."""

import threading
from functools import partial
from pathlib import Path

from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from tests.support.columns import review
from tests.support.publishing import Directories


def mapped(revision: str) -> bool:
    """Return whether a file of a snapshot is mapped into this process."""
    return revision in Path("/proc/self/maps").read_text()


def replaced(snapshots: Snapshots, directories: Directories) -> str:
    """Publish two data sets; return the revision of the first."""
    directories.write(review("a", text="one"))
    directories.publish()
    snapshots.refresh()
    old = snapshots.current.revision
    assert mapped(old)
    directories.write(review("a", text="two"))
    directories.publish()
    snapshots.refresh()
    assert snapshots.current.revision != old
    return old


def test_old_snapshot_is_unmapped_at_once(tmp_path: Path) -> None:
    """Its files are deleted, but use the disk as long as they are mapped."""
    directories = Directories(tmp_path)
    assert not mapped(replaced(Snapshots(directories.snapshots), directories))


def test_old_snapshot_can_be_unmapped_in_a_thread(tmp_path: Path) -> None:
    directories = Directories(tmp_path)
    waiting: list[list[Snapshot]] = []
    old = replaced(Snapshots(directories.snapshots, waiting.append), directories)
    assert [[], [old]] == [[snapshot.revision for snapshot in batch] for batch in waiting]
    assert mapped(old)
    thread = threading.Thread(target=partial(list.clear, waiting[-1]))
    thread.start()
    thread.join()
    assert not mapped(old)
