"""Publishes the data directory as a snapshot folder, in a child process.

    reviewsd --(Job, JSON on stdin)--> python -P -m reviewsd.publish.publication
    reviewsd <--(Step ..., Outcome: a JSON line each on stdout)--

A million reviews take minutes and hundreds of megabytes, and a malicious file can at worst kill this
process. The folder is written under a temporary name and fsynced, renamed to its revision, and last the
``current`` link is replaced. So the link always leads to a complete snapshot, also after a power cut
(security-and-operations.md R3, R4).

Deterministic: the same files and ``base_url`` give the same bytes; only ``seen.json`` has times.
"""

import contextlib
import errno
import fcntl
import gc
import hashlib
import os
import resource
import shutil
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.analysis.presets import with_aspects
from reviewsd.analysis.settings import InsightSettings
from reviewsd.api.disk import is_full, room
from reviewsd.api.files import Diagnostic
from reviewsd.api.jobs import InsightsOrigin, Step
from reviewsd.api.texts import counted
from reviewsd.domain.corrections import check_not_lost
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import REVIEWS_FILE, Dataset, load
from reviewsd.domain.diagnostic_text import headline
from reviewsd.domain.records import Progress
from reviewsd.pages import pictures
from reviewsd.pages.environment import Bytecode, TemplateError, TemplateSources
from reviewsd.publish import insights_settings, made_insights, sources
from reviewsd.publish.compiler import compile_folder
from reviewsd.publish.kept_blocks import KeptBlocks
from reviewsd.publish.memory_limit import private_memory
from reviewsd.publish.messages import Job, JobMessage, Outcome, PublicationOrder
from reviewsd.publish.sources import NO_FILES, Sources, Unsettled
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import BuildInfo, Fingerprint, Manifest, open_manifest, open_seen

_NICE = 10  # the serving processes have priority on a small machine
_SMALL = 1 << 20  # bytes of a file that is synced together with others
_SETTLE_TRIES, _SETTLE_SECONDS = 20, 0.25


def publish(job: Job, progress: Progress) -> Outcome:
    """Read, validate and compile the files, and replace the link.

    Raises:
        OSError: The state directory cannot be written.
    """
    snapshots = Path(job.order.snapshots)
    with _lock(snapshots):
        _tidy(snapshots)  # a killed run leaves its folder
        aside, before = snapshots / ".new", room(snapshots)
        try:
            aside.mkdir()
            return _publish(job, progress, snapshots, aside)
        except OSError as error:
            if not is_full(error):
                raise
            problem = f"the disk is full: {before}, and a publication needs more"
            return Outcome(result="failed", problems=(problem,))
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _publish(job: Job, progress: Progress, snapshots: Path, aside: Path) -> Outcome:
    order = job.order
    previous = open_manifest(snapshots / layout.CURRENT)
    build_key = order.build_key(job.version)
    before = open_seen(snapshots / layout.CURRENT)
    try:
        files = _read_settled(order)
        if "corrections" not in job.lifted:
            _guard_corrections(files.fingerprint, before.fingerprint if before else NO_FILES)

        def report(stage: str, done: int, total: int) -> None:
            files.forget()
            progress(stage, done, total)

        dataset, settings = load_sources(files, report)
        if order.max_shrink is not None and previous is not None and "shrink" not in job.lifted:
            count = len(dataset.records) + len(dataset.withheld.hidden)
            _guard_shrink(count, previous.review_count, order.max_shrink)
    except DataError as error:
        return Outcome(result="refused", problems=tuple(error.lines()))
    except Unsettled:
        return Outcome(result="failed", problems=("the data files are being written all the time",))
    bytecode = Bytecode(job.bytecode)
    logos, unusable = pictures.examine(files.logos)
    labels = KeptLabels(files.labels)
    left_out = tuple(map(headline, (*files.left_out, *labels.faults(), *unusable)))
    dataset, origin, fault = _with_insights(
        dataset, settings, labels, order, aside, report, bytecode
    )
    try:
        manifest = compile_folder(
            dataset,
            order.settings,
            aside,
            report,
            origin,
            TemplateSources(files.templates, bytecode, logos),
            earlier=snapshots / layout.CURRENT,
        )
    except TemplateError as error:
        place = "" if order.templates_path is None else f"{order.templates_path}/"
        return Outcome(result="refused", problems=(f"{place}{error}",))
    encoded = msgspec.json.encode(manifest)
    compiled = bytecode.used if bytecode.used.keys() - job.bytecode.keys() else {}
    revision = hashlib.sha256(encoded).hexdigest()[:16]
    unchanged = previous == manifest
    outcome = Outcome(
        result="unchanged" if unchanged else "published",
        revision=revision,
        insights_fault=fault,
        bytecode=compiled,
        left_out=left_out,
    )
    build = BuildInfo(
        fingerprint=files.fingerprint,
        build_key=build_key,
        published_at=before.published_at if before and unchanged else job.now,
        first_seen=_first_seen(manifest, previous, before, int(job.now)),
    )
    target = snapshots / layout.CURRENT if unchanged else aside
    _replace(target / layout.SEEN, msgspec.json.encode(build))
    if unchanged:
        if (aside / layout.BLOCKS).exists():  # changed settings have other keys for equal bytes
            _sync(aside / layout.BLOCKS)
            (aside / layout.BLOCKS).replace(target / layout.BLOCKS)
        return outcome
    (aside / layout.MANIFEST).write_bytes(encoded)
    progress("syncing", 0, 1)
    _sync_folder(aside)
    progress("syncing", 1, 1)
    _move(aside, snapshots, revision)
    return outcome


def load_sources(
    files: Sources,
    progress: Progress = lambda *_: None,
) -> tuple[Dataset, InsightSettings]:
    """Validate the files; the settings of insights get the aspects of the trade.

    Raises:
        DataError: A file is invalid; has the findings of all files.
    """
    settings, errors = InsightSettings(), []
    try:
        settings = insights_settings.read(files.settings)
    except DataError as error:
        errors.append(error)
    try:
        dataset = load(files.reviews, files.insights, progress, files.corrections)
    except DataError as error:
        errors.append(error)
    if errors:
        raise DataError.of(errors)
    return dataset, with_aspects(settings, dataset.business)


def _with_insights(
    dataset: Dataset,
    settings: InsightSettings,
    labels: KeptLabels,
    order: PublicationOrder,
    aside: Path,
    progress: Progress,
    bytecode: Bytecode,
) -> tuple[Dataset, InsightsOrigin | None, str]:
    """Return the dataset with insights, their origin, and the traceback of a failed analysis.

    A bug or too little memory must not prevent publication of the reviews.

    Raises:
        OSError: The folder cannot be written, for example because the disk is full.
    """
    if dataset.insights is not None:
        return dataset, made_insights.file_origin(dataset.insights), ""
    if order.insights == "file":
        return dataset, None, ""
    snapshots, keep = Path(order.snapshots), aside / layout.BLOCKS
    try:
        with keep.open("xb") as file:
            insights = made_insights.make(
                dataset,
                settings,
                progress,
                folder=snapshots,
                labels=labels,
                blocks=KeptBlocks(snapshots / layout.CURRENT / layout.BLOCKS, file),
                bytecode=bytecode,
            )
    except OSError:  # a full disk is no fault of the analysis
        raise
    except Exception as error:  # noqa: BLE001 - the log and the status report it
        keep.unlink(missing_ok=True)
        reason, fault = traceback.format_exception_only(error)[-1].strip(), traceback.format_exc()
        if isinstance(error, MemoryError):
            reason = fault = "they take more memory than there is"
        return dataset, InsightsOrigin(made=True, fault=reason), fault
    origin = InsightsOrigin(made=True, model=insights.typed.model, reviews=insights.analysed)
    return replace(dataset, insights=insights), origin, ""


def _read_settled(order: PublicationOrder) -> Sources:
    """Read the files once they have settled.

    Raises:
        Unsettled: The files do not settle.
    """
    for _ in range(_SETTLE_TRIES):
        with contextlib.suppress(Unsettled):
            return sources.read(
                Path(order.data_dir), order.max_bytes, Path(order.snapshots), order.templates_path
            )
        time.sleep(_SETTLE_SECONDS)
    raise Unsettled


def _guard_corrections(now: Fingerprint, before: Fingerprint) -> None:
    """Refuse data whose corrections.json is lost, so that no hidden review is published.

    A log that the last publication has met without corrections.json is of a loss that the operator has accepted.

    Raises:
        DataError: corrections.json is lost.
    """
    has_new_log = now.has_corrections_log and not before.has_corrections_log
    check_not_lost(
        is_there=now.corrections is not None,
        was_there=has_new_log or before.corrections is not None,
    )


def _guard_shrink(count: int, before: int, share: float) -> None:
    """Refuse data that lost more reviews than the operator allows (R5).

    Raises:
        DataError: Too many reviews are missing.
    """
    if before and (before - count) / before > share:
        reason = f"has {counted(count, 'review')}, was {before:,}; use reload --force"
        raise DataError((Diagnostic(file=REVIEWS_FILE, path="$.reviews", reason=reason),))


def _first_seen(
    manifest: Manifest, previous: Manifest | None, before: BuildInfo | None, now: int
) -> dict[str, int]:
    """Return when the current bytes of each document first appeared.

    A changed document gets a later time than before even if the clock was set back: a client that
    compares dates would otherwise keep the old bytes.
    """
    digests = {} if previous is None else {doc.path: doc.sha256 for doc in previous.documents}
    times = {} if before is None else before.first_seen

    def first_seen(path: str, sha256: str) -> int:
        first_time = times.get(path)
        if first_time is None:
            return now
        return first_time if digests.get(path) == sha256 else max(now, first_time + 1)

    return {doc.path: first_seen(doc.path, doc.sha256) for doc in manifest.documents}


def _replace(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    aside = path.with_name(f".{path.name}")  # may exist after a killed run
    aside.write_bytes(content)
    _sync(aside)
    aside.replace(path)


def _move(aside: Path, snapshots: Path, revision: str) -> None:
    """Rename the folder to its revision, make it the current one, and remove the others."""
    target = snapshots / revision
    shutil.rmtree(target, ignore_errors=True)  # an older folder with an unreadable manifest
    aside.rename(target)
    link = snapshots / f".{layout.CURRENT}"
    link.symlink_to(revision)
    link.replace(snapshots / layout.CURRENT)
    _sync(snapshots)
    _tidy(snapshots)


def _tidy(snapshots: Path) -> None:
    """Remove all but the current snapshot."""
    current = snapshots / layout.CURRENT
    names = {current.name, current.readlink().name} if current.is_symlink() else set()
    for path in snapshots.iterdir():
        if path.name in names:
            continue
        if path.is_symlink() or not path.is_dir():
            with contextlib.suppress(OSError):  # NFS keeps open files
                path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _lock(snapshots: Path) -> Iterator[None]:
    """Wait for other publishing processes; one may be left from a killed daemon."""
    snapshots.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(snapshots, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # released when the process ends
        yield
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Sync the files of a folder, and the folder.

    Writing of all small files begins before the first is synced: they share commits of the file system's
    journal, and a hundred pages take a fifth of the time. Large files are excluded, because the kernel
    may then drop their pages.
    """
    files = list(folder.iterdir())
    for file in files:
        if file.stat().st_size <= _SMALL:
            with file.open("rb") as stream:
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    for file in files:
        _sync(file)
    _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def main() -> None:
    """Run the job on stdin, and write a JSON line for each step and for the outcome to stdout."""
    gc.disable()  # reviews have no cycles, and what has some is as large for any number of them
    with contextlib.suppress(OSError):  # a sandbox may forbid it
        os.nice(_NICE)
    with contextlib.suppress(OSError):  # the kernel kills this process before the serving ones
        Path("/proc/self/oom_score_adj").write_text("1000")

    def emit(line: JobMessage) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()

    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    emit(_publish_within(job, lambda stage, done, total: emit(Step(stage, done, total))))


def _publish_within(job: Job, progress: Progress) -> Outcome:
    """Publish within the memory limit; data that needs more is refused.

    Raises:
        MemoryError: The system has no memory left, although this process uses less than its limit.
        OSError: The state directory cannot be written.
    """
    limit = job.memory
    if limit is None:
        return publish(job, progress)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    size = limit.size if hard == resource.RLIM_INFINITY else min(limit.size, hard)
    with contextlib.suppress(OSError, ValueError):  # a sandbox may forbid it
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))  # mapped files are not in it
    try:
        return publish(job, progress)
    except (MemoryError, OSError) as error:  # listing a folder takes memory too
        if getattr(error, "errno", errno.ENOMEM) != errno.ENOMEM or private_memory() < size / 2:
            raise
    problem = f"publishing the data takes more memory than {limit.text}"
    return Outcome(result="refused", problems=(problem,))


if __name__ == "__main__":
    main()
