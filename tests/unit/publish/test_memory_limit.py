"""The memory limit of the publishing process, from the files of the kernel."""

import gc
import sys
from pathlib import Path
from typing import cast

import msgspec
import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess

from reviewsd.publish.compile_process import ChildError, run
from reviewsd.publish.memory_limit import limit
from reviewsd.publish.messages import MemoryLimit, Outcome
from tests.support import publishing
from tests.support.columns import review
from tests.support.daemon import until
from tests.support.publishing import Directories

pytestmark = pytest.mark.processes

MIB = 1 << 20
processes = cast("IReactorProcess", reactor)
GROUP = "system.slice/reviewsd.service"


class Kernel:
    """The files with its memory limits."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/meminfo", "MemFree: 1 kB\nMemTotal:  4194304 kB\n")
        self.write("proc/self/cgroup", f"0::/{GROUP}\n")

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def group(self, name: str, most: str) -> None:
        self.write(f"sys/fs/cgroup/{name}/memory.max", f"{most}\n")


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path / "root")


OF_SERVICE = "75% of the service's memory limit (MemoryMax=), which is 2,048 MiB"


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({GROUP: str(2048 * MIB)}, (1536, OF_SERVICE)),
        ({GROUP: str(4096 * MIB), "system.slice": str(2048 * MIB)}, (1536, OF_SERVICE)),
        ({GROUP: "max", "system.slice": str(2048 * MIB)}, (1536, OF_SERVICE)),
        ({GROUP: "max", "system.slice": "max"}, (3072, "75% of this machine's memory, which is 4,096 MiB")),
        ({}, (3072, "75% of this machine's memory, which is 4,096 MiB")),
    ],
)  # fmt: skip
def test_the_least_limit_counts(
    kernel: Kernel, groups: dict[str, str], expected: tuple[int, str]
) -> None:
    for name, most in groups.items():
        kernel.group(name, most)
    megabytes, text = expected
    assert MemoryLimit(megabytes * MIB, text) == limit(kernel.root)


def test_in_a_container_the_own_group_is_the_root(kernel: Kernel) -> None:
    kernel.write("proc/self/cgroup", "0::/\n")
    kernel.group("", str(100 * MIB))
    own = limit(kernel.root)
    assert own is not None
    assert 75 * MIB == own.size


def test_kernel_without_memory_files_sets_no_limit(tmp_path: Path) -> None:
    assert limit(tmp_path) is None


def test_control_groups_of_the_first_version_are_not_read(kernel: Kernel) -> None:
    kernel.write("proc/self/cgroup", "4:memory:/x\n1:cpu:/x\n")
    of_machine = limit(kernel.root)
    assert of_machine is not None
    assert 3072 * MIB == of_machine.size


# -- the process


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    directories = Directories(tmp_path)
    directories.write(review("a"))
    directories.publish()
    return directories


def test_data_that_need_more_memory_are_refused_by_the_limit(directories: Directories) -> None:
    before = directories.manifest()
    directories.write(review("a", text="x" * 6_000_000))
    low = msgspec.structs.replace(directories.job(), memory=MemoryLimit(25 * MIB, "what there is"))
    problem = "publishing the data takes more memory than what there is"
    status, lines, complaints = publishing.run(low)
    refused = Outcome(result="refused", problems=(problem,))
    assert (0, "", [refused]) == (status, complaints, lines[-1:])
    assert before == directories.manifest()
    directories.check_tidy()


NONE_LEFT = """
import reviewsd.publish.publication as publication

def publish(*_):
    raise MemoryError

publication.publish = publish
publication.main()
"""


async def test_memory_error_below_the_limit_is_not_a_refusal(directories: Directories) -> None:
    """The process has not taken its share: another time it may get it."""
    command = (sys.executable, "-c", NONE_LEFT)
    with pytest.raises(ChildError, match="publishing failed: MemoryError"):
        await Deferred.fromCoroutine(run(processes, directories.job(), lambda _: None, command))


NONE_FOR_A_FOLDER = NONE_LEFT.replace(
    "raise MemoryError", 'raise OSError(12, "Cannot allocate memory")'
).replace("publication.main", "publication.private_memory = lambda: 1 << 50\npublication.main")


async def test_folder_that_cannot_be_listed_for_want_of_memory_is_refused_too(
    directories: Directories,
) -> None:
    """That is no MemoryError: the publication ended with a traceback, and was tried again."""
    low = msgspec.structs.replace(directories.job(), memory=MemoryLimit(1 << 40, "what there is"))
    command = (sys.executable, "-c", NONE_FOR_A_FOLDER)
    outcome = await Deferred.fromCoroutine(run(processes, low, lambda _: None, command))
    assert "refused" == outcome.result


def test_the_kernel_takes_it_first(directories: Directories) -> None:
    """The kernel kills it first in the service's control group; the other processes continue."""
    with publishing.start() as process:
        score = Path(f"/proc/{process.pid}/oom_score_adj")
        until(lambda: score.read_text() == "1000\n", "a high score")
        said, _ = process.communicate(msgspec.json.encode(directories.job()))
    assert b"unchanged" in said


def test_many_reviews_leave_as_many_cycles_as_few(tmp_path: Path) -> None:
    """So the collector, which the process has not, would free no memory (decision 478)."""
    directories = Directories(tmp_path)
    publish_and_count_cycles(directories, 1)  # fills caches
    few = publish_and_count_cycles(directories, 20)
    assert publish_and_count_cycles(directories, 500) < few + 200


def publish_and_count_cycles(directories: Directories, count: int) -> int:
    """Publish a number of reviews, and return the number of objects that only the collector frees."""
    directories.write(*(review(f"r{i}", text="Great work, and friendly.") for i in range(count)))
    gc.collect()
    gc.disable()
    try:
        assert directories.publish(insights="auto").result == "published"
        return gc.collect()
    finally:
        gc.enable()
