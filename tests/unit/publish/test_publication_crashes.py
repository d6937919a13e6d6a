"""Publishing dies in every way, and ``current`` is a whole snapshot all the same (R4)."""

import fcntl
import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from reviewsd.publish.job import Line, Published, Step, Unchanged
from tests.support.columns import review
from tests.support.generate import write_data
from tests.support.publishing import ROOT, House, in_memory, run, start

Change = Callable[[House, str], None]

_line: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


@pytest.fixture
def house() -> Iterator[House]:
    with in_memory() as place:
        yield House(place)


@pytest.fixture(scope="module")
def editions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two data sets that take a while."""
    places = [tmp_path_factory.mktemp(name) for name in ("even", "odd")]
    for seed, place in enumerate(places):
        write_data(place, reviews=3_000, seed=seed)
    return places


@pytest.mark.parametrize("most_bytes", [1, 10_000, 200_000, 1_000_000])
def test_a_full_disk_fails_the_process_and_leaves_nothing_behind(
    house: House, editions: list[Path], most_bytes: int
) -> None:
    """A limit of what may be written to a file stands for the end of the disk."""
    house.write(review("a"))
    house.publish()
    before = house.manifest()
    shutil.copytree(editions[0], house.data, dirs_exist_ok=True)
    status, lines, complaints = run(house.job(), most_bytes)
    assert status == 1
    assert all(isinstance(line, Step) for line in lines)
    assert "OSError: [Errno 27] File too large" in complaints
    assert before == house.manifest()
    house.check_tidy()
    assert isinstance(house.publish(), Published)
    house.check_tidy()


def test_a_full_disk_is_no_harm_where_nothing_has_changed(house: House) -> None:
    house.write(review("a"))
    published = house.publish()
    house.write(review("a"))
    status, _, _ = run(house.job(), 1)
    assert status == 1
    house.check_tidy()
    assert Unchanged(house.current.readlink().name) == house.publish()
    assert isinstance(published, Published)


def test_killed_at_any_step_the_process_leaves_a_whole_snapshot(
    house: House, editions: list[Path]
) -> None:
    shutil.copytree(editions[0], house.data, dirs_exist_ok=True)
    house.publish()
    for step in itertools.count(1):
        shutil.copytree(editions[step % 2], house.data, dirs_exist_ok=True)
        with start() as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(msgspec.json.encode(house.job()))
            process.stdin.close()
            lines = [process.stdout.readline() for _ in range(step)]
            process.kill()
        house.manifest()
        assert isinstance(house.publish(), Published | Unchanged)
        house.check_tidy()
        if isinstance(_line.decode(lines[-1]), Published):
            break
    assert step >= 8


# -- signals at every single thing that publishing does to files

FORKING = """
import os, sys, msgspec
from reviewsd.publish.job import Job
from reviewsd.publish.publication import publish
job = msgspec.json.decode(sys.argv[1], type=Job)
for line in sys.stdin:
    left, sign = map(int, line.split())
    if not left:
        os.kill(child, sign)
    elif not (child := os.fork()):
        def count(event, arguments):
            global left
            if event in {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink"}:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), sign)
        sys.addaudithook(count)
        publish(job, lambda *_: None)
        os._exit(0)
    print(os.waitpid(child, os.WUNTRACED)[1], flush=True)
"""


class Mortal:
    """Publishes in a process that gets a signal just before the n-th thing it does to files."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def publish(self, left: int, sign: signal.Signals) -> int:
        """Wait status; 0 when it was done with less than ``left`` things."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{left} {sign.value}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def resume(self) -> int:
        """Have the one that was stopped go on to its end."""
        return self.publish(0, signal.SIGCONT)


@pytest.fixture
def mortal(house: House) -> Iterator[Mortal]:
    command = [sys.executable, "-c", FORKING, msgspec.json.encode(house.job()).decode()]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        yield Mortal(process)


def first(house: House, name: str) -> None:
    shutil.rmtree(house.snapshots)
    house.write(review("a"), name=name)


def touched(house: House, name: str) -> None:
    house.write(review("a"), name=name)
    house.publish()
    house.write(review("a"), name=name)


def changed(house: House, name: str) -> None:
    house.write(review("a"), review(name), name=name)


def nothing(house: House, name: str) -> None:
    pass


def changed_back(house: House, name: str) -> None:
    house.write(review("a"), name="Acme")


@pytest.mark.parametrize(
    ("before", "after"),
    [(first, nothing), (touched, nothing), (changed, nothing), (changed, changed_back)],
)
def test_killed_at_any_moment_it_leaves_a_whole_snapshot(
    house: House, mortal: Mortal, before: Change, after: Change
) -> None:
    """And the run after it, whatever has become of the data, leaves nothing else."""
    house.write(review("a"))
    house.publish()
    for left in itertools.count(1):
        before(house, f"n{left}")
        status = mortal.publish(left, signal.SIGKILL)
        if before is not first or house.current.is_symlink():
            house.manifest()
        after(house, "")
        assert isinstance(house.publish(), Published | Unchanged)
        house.check_tidy()
        if status == 0:
            break
    assert left > 25


# -- a run that is still under way because its daemon was killed


def is_free(house: House) -> bool:
    descriptor = os.open(house.snapshots, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(descriptor)


def test_stopped_at_any_moment_it_keeps_others_waiting(house: House, mortal: Mortal) -> None:
    """Otherwise it goes on with what another has removed, or puts old data in the place of new."""
    house.write(review("a"))
    house.publish()
    freely = 0
    for left in itertools.count(1):
        house.write(review("a"), name=f"old {left}")
        stopped = mortal.publish(left, signal.SIGSTOP) != 0
        free = is_free(house)
        freely += free
        house.write(review("a"), name=f"new {left}")
        if free:
            house.publish()
        if stopped:
            assert mortal.resume() == 0
        house.publish()
        house.check_tidy()
        assert f"new {left}" == house.served()
        if not stopped:
            break
    assert freely < 5 < left


def test_it_waits_before_it_reads(house: House) -> None:
    house.write(review("a"))
    house.publish()
    holder = os.open(house.snapshots, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(house.job()))
        process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        house.write(review("a"), name="New")
        os.close(holder)
        *_, outcome = process.stdout
    assert Published(house.current.readlink().name) == _line.decode(outcome)
    assert house.served() == "New"
