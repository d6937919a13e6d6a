"""The process of the daemon: what it imports, its garbage collector, and its end when the start has failed."""

import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """
import errno, sys
from pathlib import Path
from reviewsd.__main__ import run_daemon

async def start(reactor):
    raise {error}

sys.exit(run_daemon(start, Path("state")))
"""


@pytest.mark.processes
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has a disk that is full")
def test_failed_start_ends_the_process_even_if_it_cannot_be_reported() -> None:
    """Else systemd shows a daemon that runs, serves nothing and ignores SIGTERM."""
    with open("/dev/full", "w") as full:  # noqa: PTH123  a device
        for error in ('OSError(errno.ENOSPC, "disk full")', 'ValueError("a bug")'):
            program = FAILING.format(error=error)
            run = subprocess.run(
                [sys.executable, "-c", program], stderr=full, timeout=30, check=False
            )
            assert 1 == run.returncode


STARTING = """
import gc, sys
from reviewsd import __main__

__main__.run_daemon = lambda start, state_dir: print({expression}) or 0
sys.argv = ["reviewsd", "--config", {config!r}]
__main__.main()
"""


def _before_reactor(folder: Path, expression: str) -> str:
    """Start a daemon in a process, and return what an expression prints where its reactor would run."""
    config = folder / "reviewsd.yaml"
    config.write_text("base_url: https://reviews.example.com\ndata_dir: data\nstate_dir: state\n")
    program = STARTING.format(expression=expression, config=str(config))
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    return run.stdout.splitlines()[-1]


@pytest.mark.processes
def test_start_imports_only_what_serving_needs(tmp_path: Path) -> None:
    """Word lists, the compiler and the Markdown of developers' pages took 0.3 s of each start."""
    loaded = set(_before_reactor(tmp_path, "*sys.modules").split())
    analysis = {name for name in loaded if name.startswith("reviewsd.analysis")}
    assert {"reviewsd.analysis", "reviewsd.analysis.labels"} == analysis
    publishing = {"reviewsd.publish.compiler", "markdown_it", "PIL", "segno", "babel", "pycld2"}
    optional = {"psycopg", "apprise", "openai"}
    assert set() == loaded & (publishing | optional | {"numpy", "reviewsd.offline"})


@pytest.mark.processes
def test_garbage_is_collected_once_all_is_imported(tmp_path: Path) -> None:
    assert "True True" == _before_reactor(tmp_path, "gc.isenabled(), gc.get_freeze_count() > 0")
