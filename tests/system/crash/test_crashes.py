"""Nothing that was acknowledged is lost: by kill -9, by power loss, by errors of the disk (D1, D9, D10).

``pytest -s`` shows how many points and states were tried.
"""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reviewsd.store.transactions import SqlCursor, StoreError
from tests.support.examples import stride
from tests.support.stores import blocking, opened, rows
from tests.system.crash.replay import Files, Kept, Loss, losses
from tests.system.crash.tracing import CALLS, Call, Note, hurt, notes, obstacle, trace
from tests.system.crash.writer import LOG, STORE, digest

FAULTS = (
    *(("pwrite64", "EIO", 47), ("pwrite64", "ENOSPC", 59), ("fdatasync", "EIO", 7)),
    *(("ftruncate", "EIO", 1), ("fsync", "EIO", 1), ("unlink", "EIO", 1)),
    *(("openat", "EIO", 1), ("openat", "ENOSPC", 1)),
)
"""Calls that fail, how, and in which steps they are tried."""

KILL_STEPS = {"pwrite64": 27, "fdatasync": 3}

LOST = "lost what was acknowledged"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory if there is one, because the disk is simulated here."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as place:
        yield Path(place)


traced = pytest.mark.skipif(bool(obstacle()), reason=obstacle())


@contextmanager
def fresh(place: Path) -> Iterator[Path]:
    """An empty directory for one try."""
    with TemporaryDirectory(dir=place) as one:
        yield Path(one)


def unhurt(place: Path, traced: int = 0, *, weak: bool = False) -> tuple[list[Call], list[str]]:
    """Return the calls of an undisturbed writer, and the digest after each transaction."""
    with fresh(place) as one:
        calls = trace(one, traced=traced, weak=weak)
        digests = {note_.acknowledged: note_.outcome for note_ in notes(one)}
    return calls, [digests[index] for index in range(len(digests))]


def count(calls: Sequence[Call]) -> Counter[str]:
    """Count the calls of the traced life, of the first thread that makes any."""
    calls = [call for call in calls if call.name in CALLS and call.file != LOG]
    return Counter(call.name for call in calls if call.thread == calls[0].thread)


def acknowledged(log: Sequence[Note]) -> int:
    """Return the number of acknowledged transactions; -1 if the store was not even open."""
    return max((note_.acknowledged for note_ in log if note_.acknowledged is not None), default=-1)


def lay_out(files: Files, directory: Path) -> Path:
    """Put files into an empty directory; returns the store."""
    directory.mkdir()
    for name, content in files.items():
        (directory / name).write_bytes(content)
    return directory / Path(STORE).name


async def verdict(store: Path, acknowledged: int, digests: Sequence[str]) -> str:
    """Return what is wrong with a store after a crash, or ""."""
    try:
        async with opened(store) as database:
            integrity = await rows(database, "PRAGMA integrity_check")
            current = await database.run(digest)
    except StoreError as error:
        return f"cannot be opened: {error}"
    if integrity != [("ok",)]:
        return f"is damaged: {integrity}"
    fits = [index for index, expected in enumerate(digests) if current == expected]
    if not fits:
        return "holds half a transaction"
    if fits[-1] < acknowledged:
        return LOST
    return "" if fits[0] <= acknowledged + 1 else "holds what was never begun"


async def verdicts(
    power_losses: Iterable[Loss], place: Path, digests: Sequence[str]
) -> tuple[int, Counter[str]]:
    """Judge all that power losses have left: how many, and what is wrong with how many."""
    wrong: Counter[str] = Counter()
    states = 0
    with fresh(place) as one:
        for loss in power_losses:
            states += 1
            store = lay_out(loss.files, one / "state")
            wrong[await verdict(store, loss.acknowledged, digests)] += 1
            shutil.rmtree(store.parent)
    del wrong[""]
    return states, wrong


@traced
async def test_kill_at_any_call_loses_nothing_acknowledged(place: Path) -> None:
    points, wrong = 0, Counter[str]()
    for life in (0, 1):
        calls, digests = unhurt(place, life)
        for name, times in count(calls).items():
            for number in range(1, times + 1, stride(KILL_STEPS.get(name, 1))):
                with fresh(place) as one:
                    assert hurt(one, f"{name}:signal=KILL:when={number}", life)
                    points += 1
                    wrong[await verdict(one / STORE, acknowledged(notes(one)), digests)] += 1
    del wrong[""]
    print(f"kill -9: {points} points, violations: {dict(wrong)}")  # noqa: T201 - the totals
    assert points > 50
    assert {} == wrong


@traced
async def test_power_loss_loses_nothing_acknowledged(place: Path) -> None:
    calls, digests = unhurt(place)
    some = islice(losses(calls, tuple(Kept)), 0, None, stride(2))
    states, wrong = await verdicts(some, place, digests)
    print(f"power loss: {len(calls)} points, {states} states, violations: {dict(wrong)}")  # noqa: T201
    assert states > 300
    assert {} == wrong


@traced
async def test_the_test_bites(place: Path) -> None:
    """With less than ``synchronous=FULL`` acknowledged transactions are lost, and it shows."""
    calls, digests = unhurt(place, weak=True)
    few = islice(losses(calls, tuple(Kept)), 0, None, stride(8))
    states, wrong = await verdicts(few, place, digests)
    print(f"power loss with NORMAL: {states} states, violations: {dict(wrong)}")  # noqa: T201
    assert wrong[LOST] > 20


def injections(times: Mapping[str, int]) -> Iterator[str]:
    """Errors for strace to inject: of one call, or of that and the three after it, in turn."""
    for name, error, steps in FAULTS:
        for turn, number in enumerate(range(1, times[name] + 1, stride(steps))):
            lasts = (number, number + 3)
            for last in lasts[turn % 2 :: stride(2)]:
                yield f"{name}:error={error}:when={number}..{last}"


def agree(log: Iterable[Note], digests: Sequence[str]) -> bool:
    """Whether every transaction has led where it leads undisturbed."""
    return all(
        note_.outcome == digests[note_.acknowledged]
        for note_ in log
        if note_.acknowledged is not None
    )


@traced
async def test_store_recovers_from_error_of_any_call(place: Path) -> None:
    """It neither loses nor repeats a transaction (D9)."""
    points, felt, wrong = 0, 0, Counter[str]()
    for life in (0, 1):
        calls, digests = unhurt(place, life)
        for injection in injections(count(calls)):
            with fresh(place) as one:
                assert hurt(one, injection, life)
                points += 1
                log = notes(one)
                felt += any(note_.acknowledged is None for note_ in log)
                done = acknowledged(log)
                wrong["did not recover"] += done != len(digests) - 1
                wrong["went astray"] += not agree(log, digests)
                wrong[await verdict(one / STORE, done, digests)] += 1
    wrong = +wrong
    del wrong[""]
    print(f"errors: {points} points, {felt} felt, violations: {dict(wrong)}")  # noqa: T201
    assert felt > 25
    assert {} == wrong


@traced
async def test_after_a_failed_sync_nothing_is_built_on_what_may_be_missing(place: Path) -> None:
    """D10: what the failed fdatasync should have written never gets to the disk by itself."""
    calls, digests = unhurt(place)
    points, states, wrong = 0, 0, Counter[str]()
    for number in range(1, count(calls)["fdatasync"] + 1, stride(32)):
        for last in (number, number + 1):  # the sync of a commit, or that of closing after it too
            with fresh(place) as one:
                fault = f"inject=fdatasync:error=EIO:when={number}..{last}"
                calls_of_one = trace(one, "-e", fault)
            more, violations = await verdicts(losses(calls_of_one, (Kept.NOTHING,)), place, digests)
            points, states, wrong = points + 1, states + more, wrong + violations
    print(f"failed sync: {points} points, {states} states, violations: {dict(wrong)}")  # noqa: T201
    assert states > 150
    assert {} == wrong


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("there is no mount command")
    disk = place / "disk"
    disk.mkdir()
    command = [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a file system cannot be mounted: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run([umount, str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Use up all its room; returns the file that does."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


async def test_a_full_disk_is_told_and_forgotten_when_there_is_room_again(place: Path) -> None:
    """D9. No process is restarted."""
    values = [f"{number:04}.com" for number in range(2000)]

    def held(cursor: SqlCursor) -> list[str]:
        cursor.execute("SELECT value FROM block ORDER BY value")
        return [value for (value,) in cursor.fetchall()]

    with small_disk(place) as disk:
        async with opened(disk / "state.db") as database:
            await database.run(blocking(*values[:1000]))
            filler = fill(disk)
            for _ in range(3):
                with pytest.raises(StoreError, match="database or disk is full"):
                    await database.run(blocking(*values[1000:]))
                assert not database.healthy
            filler.unlink()
            assert values[:1000] == await database.run(held)
            assert database.healthy
            await database.run(blocking(*values[1000:]))
        async with opened(disk / "state.db") as database:
            assert values == await database.run(held)
            assert [("ok",)] == await rows(database, "PRAGMA integrity_check")
