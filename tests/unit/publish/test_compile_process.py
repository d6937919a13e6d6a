"""The publishing process: what it says, and every way in which it can fail to."""

import errno
import os
import sys
from pathlib import Path
from typing import cast

import pytest
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorProcess

from reviewsd.api.jobs import Step
from reviewsd.publish.compile_process import ChildError, run
from reviewsd.publish.messages import Outcome
from tests.support.columns import review
from tests.support.publishing import Directories

pytestmark = pytest.mark.processes

BADLY = "A process has ended with a probable error condition:"
WELL = "A process has ended without apparent errors:"
UNCHANGED = '{"type":"outcome","result":"unchanged","revision":"r"}'

PRELUDE = "import os, sys, time\ndef say(text): os.write(1, text.encode())\n"

processes = cast("IReactorProcess", reactor)


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    directories = Directories(tmp_path)
    directories.write(review("a"), review("b"))
    return directories


def start(
    directories: Directories, program: str | None = None, received_steps: list[Step] | None = None
) -> Deferred[Outcome]:
    """Run the real program, or another one in its place that knows ``say``."""
    steps = [] if received_steps is None else received_steps
    if program is None:
        running = run(processes, directories.job(), steps.append)
    else:
        command = (sys.executable, "-c", PRELUDE + program)
        running = run(processes, directories.job(), steps.append, command)
    return Deferred.fromCoroutine(running)


async def test_child_publishes_and_reports_each_step(directories: Directories) -> None:
    received_steps: list[Step] = []
    outcome = await start(directories, received_steps=received_steps)
    assert Outcome(result="published", revision=directories.current.readlink().name) == outcome
    directories.check_tidy()
    assert "validating" == received_steps[0].stage
    assert "syncing" == received_steps[-1].stage
    assert all(0 <= step.done <= step.total for step in received_steps)
    assert (await start(directories)).result == "unchanged"


async def test_refused_data_are_an_outcome_no_failure(directories: Directories) -> None:
    (directories.data / "reviews.json").write_text("{")
    outcome = await start(directories)
    assert outcome.result == "refused"
    assert outcome.problems[0].startswith("reviews.json")


async def test_lines_may_come_in_any_pieces(directories: Directories) -> None:
    program = """
for piece in ('{"type":"progress","stage":"a","done":1,"tot', 'al":2}', '\\n{"type":"progress",'
              '"stage":"b","done":2,"total":2}\\n{"type":"outcome","result":"unch',
              'anged","revision":"r"}\\n'):
    say(piece)
    time.sleep(0.01)
"""
    received_steps: list[Step] = []
    assert Outcome(result="unchanged", revision="r") == await start(
        directories, program, received_steps
    )
    assert [Step("a", 1, 2), Step("b", 2, 2)] == received_steps


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("print('Traceback', 'disk full', sep='\\n', file=sys.stderr); sys.exit(1)", "disk full"),
        ("say('printed\\n'); sys.exit(1)", "printed"),
        ("sys.exit(3)", f"{BADLY} process ended with exit code 3."),
        ("sys.exit(0)", f"{WELL} process finished with exit code 0."),
        (f"say('{UNCHANGED}\\n'); sys.exit(1)", f"{BADLY} process ended with exit code 1."),
        (f"say('{UNCHANGED}')", f"{WELL} process finished with exit code 0."),
    ],
    ids=["traceback", "print", "silent", "nothing", "too early", "no line"],
)
async def test_exit_without_outcome_raises_its_last_line(
    directories: Directories, program: str, reason: str
) -> None:
    with pytest.raises(ChildError) as error:
        await start(directories, program)
    assert f"publishing failed: {reason}" == str(error.value)


async def test_killed_process_may_have_wanted_memory(directories: Directories) -> None:
    """The kernel kills it first, and gives no reason."""
    with pytest.raises(ChildError) as error:
        await start(directories, "os.kill(os.getpid(), 9)")
    reason = "the process was killed, probably for want of memory; it may take 75% of "
    assert str(error.value).startswith(f"publishing failed: {reason}")


async def test_output_of_a_library_is_ignored(directories: Directories) -> None:
    assert Outcome(result="unchanged", revision="r") == await start(
        directories, f"os.write(1, b'\\xff\\n'); say('\\nbeware! {{}}\\n{UNCHANGED}\\n')"
    )


async def test_of_much_that_it_says_little_is_kept(directories: Directories) -> None:
    with pytest.raises(ChildError) as error:
        await start(directories, "os.write(2, b'x' * 1_000_000); sys.exit(1)")
    assert len(str(error.value)) < 10_000


async def test_child_may_ignore_its_job(directories: Directories) -> None:
    """One that dies at once must not take us along by its closed pipe."""
    with pytest.raises(ChildError):
        await start(directories, "os.close(0); sys.exit(1)")


async def test_cancelling_kills_it_and_waits_until_it_is_gone(directories: Directories) -> None:
    """An ended process holds no files open, and was reaped."""
    received_steps: list[Step] = []
    step_received: Deferred[None] = Deferred()
    program = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say('{"type":"progress","stage":"pid","done":%d,"total":0}\\n' % os.getpid())
time.sleep(60)
"""

    def hear(step: Step) -> None:
        received_steps.append(step)
        step_received.callback(None)

    command = (sys.executable, "-c", PRELUDE + program)
    running = Deferred.fromCoroutine(run(processes, directories.job(), hear, command))
    await step_received
    running.cancel()
    with pytest.raises(CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(received_steps[0].done, 0)


class Exhausted:
    """A machine that has no room for another process."""

    def spawnProcess(self, *_arguments: object, **_settings: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


async def test_no_process_to_be_had_is_an_error(directories: Directories) -> None:
    with pytest.raises(ChildError) as error:
        await run(cast("IReactorProcess", Exhausted()), directories.job(), lambda _: None)
    reason = "no process to do it: Resource temporarily unavailable"
    assert f"publishing failed: {reason}" == str(error.value)
