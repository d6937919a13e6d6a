"""Half of the work in a second process: the same results, whatever becomes of it."""

import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from reviewsd.analysis.analysing import Analyser
from reviewsd.domain.dataset import Dataset
from reviewsd.publish import made_insights, second_process
from reviewsd.publish.block_file import Span
from reviewsd.publish.counted_blocks import KeptBlock
from reviewsd.publish.second_process import SecondProcess
from reviewsd.snapshot import layout
from tests.support.columns import review
from tests.support.publishing import Directories

# Python 3.12 and later warn where there are threads: those of the test runner do no harm
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.processes,
]

LARGE = [b"%d" % number * 100_000 for number in range(40)]


def broken() -> Iterator[bytes]:
    yield b"one"
    raise MemoryError


def killed() -> Iterator[bytes]:
    yield b"one"
    os.kill(os.getpid(), signal.SIGKILL)


def test_results_come_in_their_order() -> None:
    with SecondProcess(LARGE) as second:
        assert LARGE == [second.next() for _ in LARGE]
        assert second.next() is None


def test_they_are_made_in_another_process() -> None:
    with SecondProcess(str(os.getpid()).encode() for _ in range(1)) as second:
        assert second.next() not in {None, str(os.getpid()).encode()}


@pytest.mark.parametrize("results", [broken, killed])
def test_no_result_follows_the_end(results: Callable[[], Iterator[bytes]]) -> None:
    with SecondProcess(results()) as second:
        second.next()  # what it wrote may be lost, or not
        assert second.next() is None
        assert second.next() is None


def test_process_ends_with_its_context() -> None:
    with SecondProcess(LARGE) as second:
        second.next()
        process = second._process
    with pytest.raises(ChildProcessError):
        os.waitpid(process, os.WNOHANG)


def test_there_may_be_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(os, "fork", refuse)
    with SecondProcess(LARGE) as second:
        assert second.next() is None
    assert before == resource.getrlimit(resource.RLIMIT_DATA)


def test_both_have_half_of_the_memory_each() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit = 1 << 40
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        limits = (b"%d" % resource.getrlimit(resource.RLIMIT_DATA)[0] for _ in range(1))
        with SecondProcess(limits) as second:
            assert second.next() == b"%d" % (limit // 2)
            assert resource.getrlimit(resource.RLIMIT_DATA)[0] == limit // 2
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] == limit
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


@pytest.mark.parametrize("dies", [False, True])
def test_insights_are_the_same_whoever_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, dies: bool
) -> None:
    """Also where the second process ends after a few blocks: then this one counts the others."""
    counted, own = made_insights._count, os.getpid()
    blocks = 0

    def count(dataset: Dataset, analyser: Analyser, span: Span) -> KeptBlock:
        nonlocal blocks
        blocks += 1
        if dies and blocks == 3 and os.getpid() != own:
            raise MemoryError
        return counted(dataset, analyser, span)

    monkeypatch.setattr(made_insights, "_count", count)
    monkeypatch.setattr(second_process, "worthwhile", lambda: True)
    reviews = [review(f"r{n}", text=f"On time {n}. The price was fair.") for n in range(1_500)]
    publications = []
    for many in (10_000, 1_000):
        monkeypatch.setattr(made_insights, "_MANY", many)
        directories = Directories(Path(mkdtemp(dir=tmp_path)))
        directories.write(*reviews)
        outcome = directories.publish(insights="auto")
        blocks_file = directories.current / layout.BLOCKS
        publications.append((outcome, blocks_file.read_bytes(), blocks))
        blocks = 0
    (alone, kept_alone, all_blocks), (both, kept_both, own_blocks) = publications
    assert (alone, kept_alone) == (both, kept_both)
    assert all_blocks / 2 <= own_blocks < all_blocks
