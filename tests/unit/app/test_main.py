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

def run_daemon(start, state_dir):
    print(*sys.modules)
    print(gc.isenabled(), gc.get_freeze_count() > 0)
    return 0

__main__.run_daemon = run_daemon
sys.argv = ["reviewsd", "--config", {config!r}]
__main__.main()
"""


@pytest.fixture(scope="module")
def before_reactor(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Start a daemon in a process, and return its modules and collector where its reactor would run."""
    folder = tmp_path_factory.mktemp("starting")
    config = folder / "reviewsd.yaml"
    config.write_text("base_url: https://reviews.example.com\ndata_dir: data\nstate_dir: state\n")
    command = [sys.executable, "-c", STARTING.format(config=str(config))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    return run.stdout.splitlines()[-2:]


@pytest.mark.processes
def test_start_imports_only_what_serving_needs(before_reactor: list[str]) -> None:
    """Word lists, the compiler and the Markdown of developers' pages took 0.3 s of each start."""
    loaded = set(before_reactor[0].split())
    analysis = {name for name in loaded if name.startswith("reviewsd.analysis")}
    assert {"reviewsd.analysis", "reviewsd.analysis.labels"} == analysis
    publishing = {"reviewsd.publish.compiler", "markdown_it", "PIL", "segno", "babel", "pycld2"}
    optional = {"psycopg", "apprise", "openai"}
    assert set() == loaded & (publishing | optional | {"numpy", "reviewsd.offline"})


@pytest.mark.processes
def test_garbage_is_collected_once_all_is_imported(before_reactor: list[str]) -> None:
    assert "True True" == before_reactor[1]
