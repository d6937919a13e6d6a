"""``reviewsd --demo``: the first minute with the program (contract 6)."""

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from reviewsd.demo.demo import choose_port
from tests.support.commands import reviewsd
from tests.support.daemon import until
from tests.support.demo import Demo
from tests.support.fork_server import ROOT

PATHS = [
    "/reviews.json",
    "/insights.json",
    "/api/feed.json",
    "/feed.xml",
    "/api/reviews/search?query=boiler&min_rating=4",
    "/api/reviews/since/2026-01-01",
    "/api/websub/hub",
    "/.well-known/openapi.json",
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    demo = Demo(tmp_path_factory.mktemp("demo"))
    yield demo
    demo.process.kill()
    demo.process.wait(10)


def test_every_printed_address_answers(demo: Demo) -> None:
    urls = re.findall(r"http://[^\s']+", demo.printed.partition("A sample business")[2])
    assert [demo.base_url + path for path in ("/", *PATHS, "/mcp")] == urls
    for url in urls[:-1]:
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert 200 == answer.status
            assert answer.read(1)


def test_demo_logs_no_warnings(demo: Demo) -> None:
    """It warns not even of root."""
    assert " warn " not in demo.printed


def test_edited_file_is_served(demo: Demo) -> None:
    printed = re.search(r"Edit (\S+/reviews\.json)", demo.printed)
    assert printed is not None
    file = Path(printed[1])
    file.write_text(file.read_text().replace('"rating": 5', '"rating": 4', 1))

    def tag() -> str:
        with urllib.request.urlopen(f"{demo.base_url}/reviews.json", timeout=60) as answer:
            return str(answer.headers["ETag"])

    before = tag()
    until(lambda: tag() != before, "the edited reviews")


def test_status_describes_the_demo(demo: Demo) -> None:
    done = demo.ctl("status")
    assert (0, "") == (done.returncode, done.stderr)
    assert f"daemon     reviewsd {version('reviewsd')}, installed 20" in done.stdout
    assert f" UTC, pid {demo.process.pid}, up" in done.stdout
    assert demo.base_url in done.stdout
    assert "122 reviews and insights" in done.stdout
    status = json.loads(demo.ctl("status", "--json").stdout)
    assert demo.process.pid == status["pid"]
    assert "ok" == status["data"]["state"]
    assert [f"tcp:{demo.base_url.removeprefix('http://')}"] == status["listen"]


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Yield a short folder: the path of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def test_ctrl_c_removes_everything(short_path: Path) -> None:
    demo = Demo(short_path)
    assert {"reviewsd-demo"} == {folder.name[:13] for folder in demo.temporary.iterdir()}
    demo.process.send_signal(signal.SIGINT)
    assert 0 == demo.process.wait(20)
    assert [] == list(demo.temporary.iterdir())
    assert "Traceback" not in demo.printed
    done = demo.ctl("status")
    assert 3 == done.returncode
    assert done.stderr.startswith("Error: reviewsd is not reachable: it is not running")


def test_second_signal_leaves_no_files(short_path: Path) -> None:
    """The process ends at once, without an orderly stop."""
    demo = Demo(short_path)
    os.kill(demo.process.pid, signal.SIGSTOP)  # so that both signals wait when it continues
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
        demo.process.send_signal(number)
    demo.process.wait(20)
    assert [] == list(demo.temporary.iterdir())


def test_chosen_port_that_is_in_use_is_reported_with_a_remedy(short_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = occupied.getsockname()[1]
        done = demo_command(short_path, "--demo", "--port", str(port))
    assert 1 == done.returncode
    assert f"reviewsd: port {port} is in use by {holder()}; choose another with" in done.stderr
    assert [] == list(short_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--port", "8081"),
            'otherwise write into the configuration: listen: ["tcp:8081:interface=127.0.0.1"]',
        ),
        (("--demo", "--config", "x"), "--demo has a configuration of its own; leave out --config"),
        (("--demo", "--port", "-1"), "argument --port: expected a port from 0 to 65535, got '-1'"),
        (("--demo", "--port", "http"), "expected a port from 0 to 65535, got 'http'"),
    ],
)
def test_port_that_cannot_be_used_is_an_error_of_usage(
    short_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = demo_command(short_path, *arguments)
    assert 2 == done.returncode
    assert message in done.stderr


def test_port_after_a_default_in_use_is_used_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Two demos, or any other program on 8080, must not keep a newcomer out."""
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        default = occupied.getsockname()[1]
        port = choose_port({}, None, default)
    assert default < port < default + 100
    notice = f"port {default} is in use by {holder()}, so the demo uses port {port}; --port N"
    assert notice in capsys.readouterr().err


def test_free_default_port_is_used_without_a_notice(capsys: pytest.CaptureFixture[str]) -> None:
    default = choose_port({}, 0)
    assert default == choose_port({}, None, default)
    assert "" == capsys.readouterr().err


def test_port_0_is_any_free_port() -> None:
    ports = [choose_port({}, 0), choose_port({}, 0)]
    assert [] == [port for port in ports if port < 1024]


def holder() -> str:
    """Return this process as messages name it."""
    name = Path("/proc/self/comm").read_text().strip()
    return f"{name} (pid {os.getpid()})"


def demo_command(place: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command until it ends by itself."""
    environment = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", "TMPDIR": str(place)}
    return reviewsd(environment, *arguments)
