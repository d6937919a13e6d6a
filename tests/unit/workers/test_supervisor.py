"""Workers are started, replaced and ended as they should, whatever they do."""

import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from reviewsd.config.schema import Config
from reviewsd.runtime.state_dir import StartError
from reviewsd.store.session_keys import load_session_keys
from reviewsd.workers.handoff import HandedConnection
from reviewsd.workers.heartbeat import Rhythm
from reviewsd.workers.messages import Begin
from reviewsd.workers.supervisor import WorkerContext, Workers
from tests.support import publishing
from tests.support.columns import review
from tests.support.outbound import reactor
from tests.support.waiting import until

pytestmark = pytest.mark.processes

DRAIN_SECONDS = 0.5
RHYTHM = Rhythm()
QUICK = Rhythm(beat=0.05, silence=1.0)


class Harness:
    """A supervisor with toys for workers."""

    def __init__(self, directory: Path, rhythm: Rhythm = RHYTHM) -> None:
        self.directory = directory
        self.began = 0
        self.workers = self.build(rhythm)

    def build(self, rhythm: Rhythm) -> Workers:
        root = Path(__file__).parents[3]
        toy = "from tests.support.toy_workers import main; main()"
        command = (sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r}); {toy}")
        return Workers(reactor, 3, (*command, str(self.directory)), rhythm)

    async def start(self) -> None:
        context = WorkerContext(
            listeners=[],
            begin=self._begin,
            adopt=self._take,
            now=time.time,
            drain_timeout=DRAIN_SECONDS,
        )
        self.workers.prepare()
        await self.workers.start(context)

    def _begin(self) -> Begin:
        self.began += 1
        config = Config(
            base_url="https://example.com",
            data_dir=self.directory,
            state_dir=self.directory / "state",
        )
        return Begin(config=config, log_format="text", ended={bytes(32): 1})

    def _take(self, *given: HandedConnection | int | None) -> None:
        raise AssertionError(given)

    @property
    def pids(self) -> list[int]:
        return [status.pid for status in self.workers.statuses]

    def noted(self, order: str) -> list[int]:
        """Who has heard an order."""
        lines = (self.directory / "noted").read_text().splitlines()
        return [int(line.split()[0]) for line in lines if line.endswith(f" {order}")]


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    harness = Harness(tmp_path)
    yield harness
    await harness.workers.stop()


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def quick(tmp_path: Path) -> AsyncIterator[Harness]:
    """Workers whose signs of life are looked for all the time."""
    harness = Harness(tmp_path, QUICK)
    yield harness
    await harness.workers.stop()


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not buried does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def variables_of(pid: int) -> set[bytes]:
    environ = Path(f"/proc/{pid}/environ").read_bytes()
    return {each.partition(b"=")[0] for each in environ.split(b"\0")}


def fork_server_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("\nPPid:\t")[2].split()[0])


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_start_is_over_when_all_are_ready(harness: Harness) -> None:
    await harness.start()
    assert 3 == len(set(harness.pids))
    assert all(map(alive, harness.pids))
    assert [0, 0, 0] == [status.restarts for status in harness.workers.statuses]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_start_that_fails_is_an_error(harness: Harness) -> None:
    (harness.directory / "ill").touch()
    with pytest.raises(StartError):
        await harness.start()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_fork_server_that_cannot_start_is_an_error(harness: Harness) -> None:
    harness.workers._command = ("/nowhere",)
    with pytest.raises(StartError):
        await harness.start()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_dead_reader_is_replaced_at_once(harness: Harness) -> None:
    await harness.start()
    dead, *others = harness.pids
    os.kill(dead, signal.SIGKILL)
    await until(lambda: len(harness.pids) == 3 and dead not in harness.pids)
    assert set(others) < set(harness.pids)
    (new,) = (status for status in harness.workers.statuses if status.pid not in others)
    assert 1 == new.restarts


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_workers_that_go_on_dying_are_replaced_more_and_more_slowly(harness: Harness) -> None:
    await harness.start()
    (harness.directory / "ill").touch()
    os.kill(harness.pids[0], signal.SIGKILL)
    began = harness.began
    # three at once, and one after a second
    await until(lambda: len(harness.noted("Begin")) == began + 4)
    (harness.directory / "ill").unlink()
    took = await until(lambda: len(harness.pids) == 3)
    assert 0.9 < took  # the next pause is of two seconds, or one: the first had not died early


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_dead_fork_server_takes_nobody_along_and_is_replaced(harness: Harness) -> None:
    await harness.start()
    before = harness.pids
    fork_server = fork_server_of(before[0])
    os.kill(fork_server, signal.SIGKILL)
    await until(lambda: not alive(fork_server))
    assert before == harness.pids
    os.kill(before[0], signal.SIGKILL)
    await until(lambda: len(harness.pids) == 3 and before[0] not in harness.pids)
    assert fork_server != fork_server_of(next(pid for pid in harness.pids if pid not in before))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_all_are_told_what_has_ended_and_have_heard_it_then(harness: Harness) -> None:
    await harness.start()
    await harness.workers.end({bytes(32): 1})
    assert set(harness.pids) == set(harness.noted("SessionsEnded"))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nobody_waits_long_for_a_reader_that_is_busy(harness: Harness) -> None:
    await harness.start()
    os.kill(harness.pids[0], signal.SIGSTOP)
    began = time.monotonic()
    await harness.workers.end({bytes(32): 1})
    assert 0.9 < time.monotonic() - began
    os.kill(harness.pids[0], signal.SIGCONT)
    await until(
        lambda: set(harness.pids) == set(harness.noted("SessionsEnded"))
    )  # it hears of it yet


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nobody_waits_for_a_reader_that_dies(harness: Harness) -> None:
    await harness.start()
    os.kill(harness.pids[0], signal.SIGSTOP)
    told = Deferred.fromCoroutine(harness.workers.end({bytes(32): 1}))
    os.kill(harness.pids[0], signal.SIGKILL)
    await told


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_reader_that_does_not_answer_any_more_is_replaced(quick: Harness) -> None:
    await quick.start()
    stopped, *others = quick.pids
    os.kill(stopped, signal.SIGSTOP)
    await until(lambda: len(quick.pids) == 3 and stopped not in quick.pids)
    assert set(others) < set(quick.pids)
    await until(lambda: not alive(stopped))
    assert {0, 1} == {status.restarts for status in quick.workers.statuses}


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_so_is_one_that_does_not_begin(quick: Harness) -> None:
    """Nor is it there any more when it goes on."""
    await quick.start()
    (quick.directory / "deaf").touch()
    os.kill(quick.pids[0], signal.SIGKILL)
    await until(lambda: len(quick.noted("Begin")) >= 5)  # the second after the three
    deaf = quick.noted("Begin")[3:]
    (quick.directory / "deaf").unlink()
    await until(lambda: len(quick.pids) == 3 and not any(map(alive, deaf)))
    assert set(quick.pids) == set(filter(alive, quick.noted("Begin")))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_fork_server_that_does_not_answer_any_more_is_replaced(quick: Harness) -> None:
    await quick.start()
    before = quick.pids
    fork_server = fork_server_of(before[0])
    os.kill(fork_server, signal.SIGSTOP)
    os.kill(before[0], signal.SIGKILL)
    await until(lambda: len(quick.pids) == 3 and before[0] not in quick.pids)
    assert set(before[1:]) < set(quick.pids)
    assert not alive(fork_server)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_real_processes_answer_as_well(tmp_path: Path) -> None:
    """Those that do outlive one that is stopped."""
    data = publishing.Directories(tmp_path)
    data.write(review("r1"))
    data.publish()
    harness = Harness(tmp_path)
    load_session_keys(tmp_path / "state", None, None)  # the main process has made them
    harness.workers = Workers(reactor, 2, rhythm=Rhythm(beat=0.1, silence=3.0))
    try:
        await harness.start()
        stopped, other = harness.pids
        fork_server = fork_server_of(other)
        os.kill(stopped, signal.SIGSTOP)
        await until(lambda: len(harness.pids) == 2 and stopped not in harness.pids)
        assert other in harness.pids
        assert {fork_server} == set(map(fork_server_of, harness.pids))
    finally:
        await harness.workers.stop()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nobody_is_ended_because_the_main_process_stood_still(quick: Harness) -> None:
    """Or the whole machine did, all processes of it."""
    await quick.start()
    before = quick.pids
    await deferLater(reactor, 2 * QUICK.beat)
    for pid in before:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(2 * QUICK.silence)  # noqa: ASYNC251  so does this one
    for pid in before:
        os.kill(pid, signal.SIGCONT)
    await deferLater(reactor, 4 * QUICK.beat)
    assert before == quick.pids


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_counts_add_up(harness: Harness) -> None:
    """What only grows never falls, whoever ends; what is there goes with who has it."""
    await harness.start()
    assert {"fingers": 30, "waves_total": 1.5} == await harness.workers.counts()
    dead = harness.pids[0]
    os.kill(dead, signal.SIGKILL)
    await until(lambda: len(harness.pids) == 3 and dead not in harness.pids)
    assert {"fingers": 30, "waves_total": 2} == await harness.workers.counts()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_all_look_for_a_new_snapshot(harness: Harness) -> None:
    await harness.start()
    harness.workers.look()
    await until(lambda: set(harness.pids) == set(harness.noted("SnapshotChanged")))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_stop_leaves_nobody(harness: Harness) -> None:
    await harness.start()
    everybody = [*harness.pids, fork_server_of(harness.pids[0])]
    await harness.workers.stop()
    assert [] == harness.workers.statuses
    await until(lambda: not any(map(alive, everybody)))
    assert set(everybody[:3]) == set(harness.noted("Drain"))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_who_does_not_end_in_time_is_ended(harness: Harness) -> None:
    (harness.directory / "deaf").touch()
    await harness.start()
    everybody = harness.pids
    began = time.monotonic()
    await harness.workers.stop()
    assert DRAIN_SECONDS <= time.monotonic() - began
    await until(lambda: not any(map(alive, everybody)))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nobody_is_born_during_a_stop(harness: Harness) -> None:
    """Neither for a place that waits for its next try, nor where one dies meanwhile."""
    await harness.start()
    (harness.directory / "ill").touch()
    os.kill(harness.pids[0], signal.SIGKILL)
    began = harness.began
    await until(lambda: len(harness.noted("Begin")) == began + 3)
    os.kill(harness.pids[0], signal.SIGKILL)
    await harness.workers.stop()
    assert began + 3 == harness.began


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_stop_before_the_start_is_none(tmp_path: Path) -> None:
    await Harness(tmp_path).workers.stop()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_systemd_says_to_the_main_process_is_not_passed_on(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that answered for it would have systemd believe in the wrong process."""
    for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/credentials")
    await harness.start()
    for pid in harness.pids:
        names = variables_of(pid)
        assert b"CREDENTIALS_DIRECTORY" in names
        assert not {name for name in names if name.startswith((b"NOTIFY", b"WATCHDOG", b"LISTEN"))}
