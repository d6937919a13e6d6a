"""Publishing dies in every way, and ``current`` is a whole snapshot all the same (R4)."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
import pytest

from reviewsd.api.jobs import Step
from reviewsd.publish.messages import Job, JobMessage, Outcome
from tests.support.columns import review
from tests.support.examples import spread
from tests.support.generate import write_data
from tests.support.publishing import ROOT, Directories, in_memory, run, start

pytestmark = pytest.mark.processes

Change = Callable[[Directories, str], None]

_line: msgspec.json.Decoder[JobMessage] = msgspec.json.Decoder(JobMessage)


@pytest.fixture
def directories() -> Iterator[Directories]:
    with in_memory() as place:
        yield Directories(place)


@contextmanager
def begun(job: Job) -> Iterator[tuple["subprocess.Popen[bytes]", IO[bytes]]]:
    """Start the publishing process with its job; what it says can be read from the second."""
    with start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(job))
        process.stdin.close()
        yield process, process.stdout


@pytest.fixture(scope="module")
def editions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two data sets that take a while."""
    places = [tmp_path_factory.mktemp(name) for name in ("even", "odd")]
    for seed, place in enumerate(places):
        write_data(place, reviews=600, seed=seed)
    return places


@pytest.mark.parametrize("most_bytes", [1, 100_000, 300_000])
def test_a_full_disk_fails_the_process_and_leaves_nothing_behind(
    directories: Directories, editions: list[Path], most_bytes: int
) -> None:
    """A limit of what may be written to a file stands for the end of the disk."""
    directories.write(review("a"))
    directories.publish()
    before = directories.manifest()
    shutil.copytree(editions[0], directories.data, dirs_exist_ok=True)
    status, lines, complaints = run(directories.job(), most_bytes)
    assert status == 1
    assert all(isinstance(line, Step) for line in lines)
    assert "OSError: [Errno 27] File too large" in complaints
    assert before == directories.manifest()
    directories.check_tidy()
    assert directories.publish().result == "published"
    directories.check_tidy()


def test_a_full_disk_is_no_harm_where_nothing_has_changed(directories: Directories) -> None:
    directories.write(review("a"))
    published = directories.publish()
    directories.write(review("a"))
    status, _, _ = run(directories.job(), 1)
    assert status == 1
    directories.check_tidy()
    assert (
        Outcome(result="unchanged", revision=directories.current.readlink().name)
        == directories.publish()
    )
    assert published.result == "published"


# -- kills before whatever publishing does to files; reading changes nothing for others

FORKING = """
import gc, os, signal, sys, tempfile, msgspec
from msgspec.structs import replace
from reviewsd.publish.messages import Job
from reviewsd.publish.publication import publish
job = msgspec.json.decode(sys.argv[1], type=Job)
changes = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink"}
with tempfile.TemporaryDirectory() as place:  # so that what is made once is made
    order = replace(job.order, data_dir="reviewsd/demo", snapshots=place)
    publish(replace(job, order=order), lambda *_: None)
gc.freeze()
for line in sys.stdin:
    left = int(line)
    if not (child := os.fork()):
        done = []
        def count(event, arguments):
            global left
            if event in changes or (event == "open" and arguments[2] & os.O_ACCMODE):
                done.append(event)
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        publish(job, lambda *_: None)
        if left > 0:
            print(*done, flush=True)
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Mortal:
    """Publishes in a process that is killed just before the n-th thing it does to files."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def moments(self, offset: int = 0) -> list[int]:
        """Publish to the end, to find how often it can be killed, and choose.

        Whatever makes a folder, or gives or takes a name, is among them; of all others, some.
        """
        self._order(1_000)
        done = self._line().split()
        assert self._line() == "0\n"
        named = {n for n, event in enumerate(done, 1) if event not in {"open", "os.remove"}}
        return sorted(named.union(n + 1 for n in spread(len(done), 7, offset)))

    def publish(self, steps_left: int) -> int:
        """Wait status."""
        self._order(steps_left)
        return int(self._line())

    def _order(self, steps_left: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps_left}\n")
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@pytest.fixture
def mortal(directories: Directories) -> Iterator[Mortal]:
    command = [sys.executable, "-c", FORKING, msgspec.json.encode(directories.job()).decode()]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        yield Mortal(process)


def first(directories: Directories, name: str) -> None:
    shutil.rmtree(directories.snapshots)
    directories.write(review("a"), name=name)


def touched(directories: Directories, _: str) -> None:
    directories.write(review("a"))


def changed(directories: Directories, name: str) -> None:
    directories.write(review("a"), review(name), name=name)


def nothing(directories: Directories) -> None:
    pass


def changed_back(directories: Directories) -> None:
    directories.write(review("a"))


@pytest.mark.parametrize(
    ("before", "after", "offset"),
    [(first, nothing, 1), (touched, nothing, 2), (changed, nothing, 1), (changed, changed_back, 3)],
)
def test_killed_at_any_moment_it_leaves_a_whole_snapshot(
    directories: Directories,
    mortal: Mortal,
    before: Change,
    after: Callable[[Directories], None],
    offset: int,
) -> None:
    """The next run leaves nothing else, whatever the data is by then."""
    directories.write(review("a"))
    directories.publish()
    before(directories, "n000")
    directories.publish()
    after(directories)
    directories.publish()
    before(directories, "n999")
    moments = mortal.moments(offset)
    killed = 0
    for moment in moments:
        after(directories)
        assert directories.publish().result in {"published", "unchanged"}
        directories.check_tidy()
        before(directories, f"n{moment:03}")
        killed += os.WIFSIGNALED(mortal.publish(moment))
        if before is not first or directories.current.is_symlink():
            directories.manifest()
    after(directories)
    assert directories.publish().result in {"published", "unchanged"}
    directories.check_tidy()
    assert moments[-1] > 25
    assert killed >= len(moments) - 1  # what is compressed may differ by a file


# -- a run that is still under way because its daemon was killed


def test_watcher_waits_before_its_first_poll(directories: Directories) -> None:
    directories.write(review("a"))
    directories.publish()
    holder = os.open(directories.snapshots, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with begun(directories.job()) as (process, output):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        directories.write(review("a"), name="New")
        os.close(holder)
        *_, outcome = output
    assert Outcome(
        result="published", revision=directories.current.readlink().name
    ) == _line.decode(outcome)
    assert directories.served() == "New"
