"""Publishing: the data directory becomes a snapshot folder. The child process's whole work.

    reviewsd --(Order, JSON on stdin)--> python -P -m reviewsd.publish.publication
    reviewsd <--(Progress ..., Outcome: a JSON line each on stdout)--

It runs in a process of its own because a million reviews take half a minute and a gigabyte, and a
bad file may at worst kill this process. The folder is made aside, its files are fsynced, it is
renamed to its revision, and last the ``current`` link is moved: whoever follows the link finds a
whole snapshot, also after a power cut (security-and-operations.md R3, R4).

Deterministic: the same files and ``base_url`` give the same bytes; only ``seen.json`` knows a clock.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewsd.domain.findings import DataError, Finding
from reviewsd.domain.dataset import REVIEWS_FILE, Progress, load
from reviewsd.snapshot import layout as folder
from reviewsd.publish import sources
from reviewsd.publish.compiler import Settings, compile_folder
from reviewsd.snapshot.layout import Manifest, Seen
from reviewsd.publish.sources import Sources, Unsettled

_NICE = 10  # readers come first on a small machine
_SETTLE_TRIES, _SETTLE_SECONDS = 20, 0.25


class Order(Struct, frozen=True, kw_only=True):
    """What to publish, and how."""

    data_dir: str
    snapshots: str
    """The directory of the snapshot folders."""
    settings: Settings
    max_bytes: int
    """Greatest size of a file."""
    max_shrink: float | None = None
    """The share of the reviews that a reload may lose; None: all of them."""

    def recipe(self, version: str) -> str:
        """What goes into a snapshot beside the files; another recipe wants a new snapshot."""
        parts = (version, folder.LAYOUT, self.settings)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class Step(Struct, frozen=True, tag_field="type", tag="progress"):
    """How far the work is."""

    stage: str
    done: int
    total: int


class Published(Struct, frozen=True, tag_field="type", tag="published"):
    """There is a new snapshot."""

    revision: str


class Unchanged(Struct, frozen=True, tag_field="type", tag="unchanged"):
    """The snapshot that was there has these bytes already."""

    revision: str


class Refused(Struct, frozen=True, tag_field="type", tag="refused"):
    """The data must not be published."""

    problems: tuple[str, ...]


Outcome = Published | Unchanged | Refused
Line = Step | Outcome


class Job(Struct, frozen=True, kw_only=True):
    """One run of the child."""

    order: Order
    version: str
    now: float
    force: bool = False


def publish(job: Job, progress: Progress) -> Outcome:
    """Read, validate, compile, and move the link.

    Raises:
        OSError: The state directory cannot be written: the disk is full, for one.
    """
    with _alone(Path(job.order.snapshots)):
        return _publish(job, progress)


def _publish(job: Job, progress: Progress) -> Outcome:
    order = job.order
    snapshots = Path(order.snapshots)
    previous = open_manifest(snapshots / folder.CURRENT)
    try:
        found = _read_settled(order)
        dataset = load(found.reviews, found.insights, progress)
        if order.max_shrink is not None and previous is not None and not job.force:
            _guard_shrink(len(dataset.records), previous.review_count, order.max_shrink)
    except DataError as error:
        return Refused(tuple(error.lines()))
    _tidy(snapshots)  # runs that were killed leave what they had made
    aside = snapshots / ".new"
    aside.mkdir()
    try:
        manifest = compile_folder(dataset, order.settings, aside, progress)
        encoded = msgspec.json.encode(manifest)
        revision = hashlib.sha256(encoded).hexdigest()[:16]
        unchanged = previous == manifest
        before = open_seen(snapshots / folder.CURRENT)
        seen = Seen(
            signature=found.signature,
            recipe=order.recipe(job.version),
            published_at=before.published_at if before and unchanged else job.now,
            first_seen=_first_seen(manifest, previous, before, int(job.now)),
        )
        target = snapshots / folder.CURRENT if unchanged else aside
        _replace(target / folder.SEEN, msgspec.json.encode(seen))
        if unchanged:
            return Unchanged(revision)
        (aside / folder.MANIFEST).write_bytes(encoded)
        progress("syncing", 0, 1)
        for file in aside.iterdir():
            _sync(file)
        _sync(aside)
        _move(aside, snapshots, revision)
        return Published(revision)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def open_manifest(path: Path) -> Manifest | None:
    """The manifest of a snapshot folder, None where there is none that we can read."""
    try:
        manifest = msgspec.json.decode((path / folder.MANIFEST).read_bytes(), type=Manifest)
    except (OSError, ValueError):  # msgspec's errors, and that of bytes that are not UTF-8
        return None
    return manifest if manifest.layout == folder.LAYOUT else None


def open_seen(path: Path) -> Seen | None:
    """How a snapshot folder came to be, None where that cannot be read."""
    try:
        return msgspec.json.decode((path / folder.SEEN).read_bytes(), type=Seen)
    except (OSError, ValueError):  # msgspec's errors, and that of bytes that are not UTF-8
        return None


def _read_settled(order: Order) -> Sources:
    for _ in range(_SETTLE_TRIES):
        with contextlib.suppress(Unsettled):
            return sources.read(Path(order.data_dir), order.max_bytes)
        time.sleep(_SETTLE_SECONDS)
    raise DataError((Finding(file=REVIEWS_FILE, path="", reason="is being written all the time"),))


def _guard_shrink(count: int, before: int, share: float) -> None:
    """Refuse data that lost more reviews than the operator allows (R5).

    Raises:
        DataError: It did.
    """
    if before and (before - count) / before > share:
        reason = f"has {count:,} reviews, was {before:,}; use reload --force"
        raise DataError((Finding(file=REVIEWS_FILE, path="$.reviews", reason=reason),))


def _first_seen(
    manifest: Manifest, previous: Manifest | None, before: Seen | None, now: int
) -> dict[str, int]:
    """When the bytes of each document first appeared; those that were there keep their time.

    Others get a later one than those before them, also where the clock was set back meanwhile: else
    a client that goes by dates alone would keep the old bytes until it is as late again.
    """
    digests = {} if previous is None else {doc.path: doc.sha256 for doc in previous.documents}
    times = {} if before is None else before.first_seen

    def first_seen(path: str, sha256: str) -> int:
        known = times.get(path)
        if known is None:
            return now
        return known if digests.get(path) == sha256 else max(now, known + 1)

    return {doc.path: first_seen(doc.path, doc.sha256) for doc in manifest.documents}


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    aside = path.with_name(f".{path.name}")  # that of a run that was killed is written over
    aside.write_bytes(content)
    _sync(aside)
    aside.replace(path)


def _move(aside: Path, snapshots: Path, revision: str) -> None:
    """Give the folder its name, make it the current one, and remove the others."""
    target = snapshots / revision
    shutil.rmtree(target, ignore_errors=True)  # of the same bytes, but its manifest is unreadable
    aside.rename(target)
    link = snapshots / f".{folder.CURRENT}"
    link.symlink_to(revision)
    link.replace(snapshots / folder.CURRENT)
    _sync(snapshots)
    _tidy(snapshots)


def _tidy(snapshots: Path) -> None:
    """Remove all but the current snapshot."""
    current = snapshots / folder.CURRENT
    kept = {current.name, current.readlink().name} if current.is_symlink() else set()
    for each in snapshots.iterdir():
        if each.is_symlink() and each.name not in kept:
            each.unlink()
        elif each.name not in kept:
            shutil.rmtree(each, ignore_errors=True)


@contextlib.contextmanager
def _alone(snapshots: Path) -> Iterator[None]:
    """Wait until no other process publishes here: that of a daemon that was killed may yet."""
    snapshots.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(snapshots, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # given back when the process ends, however it does
        yield
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def main() -> None:
    """Do the job on stdin; one JSON line for each step and one for the outcome on stdout."""
    with contextlib.suppress(OSError):  # a sandbox may forbid it
        os.nice(_NICE)

    def emit(line: Line) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()

    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    emit(publish(job, lambda stage, done, total: emit(Step(stage, done, total))))


if __name__ == "__main__":
    main()
