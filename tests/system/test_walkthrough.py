"""The README's walk-through of the hub, done as it is written (websub.md 4)."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from reviewsd.config.load.schema import Hub
from reviewsd.websub.form import MAX_SECRET
from tests.support.daemon import until

ROOT = Path(__file__).parents[2]
SECTION = "## Subscribe to changes (WebSub)"

needs_tools = pytest.mark.skipif(
    None in {shutil.which("openssl"), shutil.which("curl")}, reason="needs openssl and curl"
)


def section() -> str:
    _, _, text = (ROOT / "README.md").read_text().partition(SECTION)
    return text.partition("\n## ")[0]


def blocks(language: str, ports: Sequence[str]) -> list[str]:
    """The section's blocks of code in a language, with ports of its own."""
    code = re.findall(rf"^```{language}\n(.*?)^```", section(), re.MULTILINE | re.DOTALL)
    return [_moved(block, ports) for block in code]


def _moved(text: str, ports: Sequence[str]) -> str:
    return text.replace("8080", ports[0]).replace("9443", ports[1])


class Terminals:
    """Shells in the checkout that a reader of the README would have; programs run until the end."""

    def __init__(self, checkout: Path) -> None:
        self._path = f"{checkout / '.venv' / 'bin'}:{os.environ['PATH']}"
        self.place = checkout
        self._programs: list[subprocess.Popen[bytes]] = []

    def _environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if "REVIEWSD" not in name}
        return {**kept, "PATH": self._path, "no_proxy": "*"}

    def run(self, code: str) -> str:
        """A block that ends by itself."""
        done = subprocess.run(
            ["sh", "-euc", code],
            cwd=self.place,
            env=self._environ(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout

    def start(self, code: str, name: str) -> Path:
        """A block that goes on; returns where its output is, without errors and logs."""
        output = self.place / f"{name}.output"
        with output.open("wb") as file, output.with_suffix(".errors").open("wb") as errors:
            self._programs.append(
                subprocess.Popen(
                    ["sh", "-c", f"exec {code}"],
                    cwd=self.place,
                    env=self._environ(),
                    stdout=file,
                    stderr=errors,
                )
            )
        return output

    def end(self) -> None:
        """Ctrl-C everywhere."""
        for program in self._programs:
            program.send_signal(signal.SIGINT)
            program.wait(30)


@pytest.fixture
def ports() -> list[str]:
    """Two that are free; nothing can hold them until the programs listen."""
    host = "127.0.0.1"
    with socket.create_server((host, 0)) as one, socket.create_server((host, 0)) as two:
        return [str(each.getsockname()[1]) for each in (one, two)]


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Terminals]:
    """In a checkout whose ``.venv`` is ours."""
    for name in ("config", "reviewsd"):
        (tmp_path / name).symlink_to(ROOT / name)
    commands = tmp_path / ".venv" / "bin"
    commands.mkdir(parents=True)
    for name, module in (("reviewsd", "reviewsd.__main__"), ("reviewsctl", "reviewsctl.main")):
        command = f"#!{sys.executable}\nfrom {module} import main\nmain()\n"
        (commands / name).write_text(command)
        (commands / name).chmod(0o755)
    (commands / "python3").symlink_to(sys.executable)
    terminals = Terminals(tmp_path)
    yield terminals
    terminals.end()


@needs_tools
def test_it_works_as_it_is_written(terminals: Terminals, ports: list[str]) -> None:
    prepare, service, subscriber, subscribe, change, listed, unsubscribe = blocks("sh", ports)
    (program,) = blocks("python", ports)
    (printed,) = blocks("text", ports)
    expected = printed.splitlines()
    terminals.run(prepare)

    terminals.place /= "try"
    config = terminals.place / "reviewsd.yaml"
    config.write_text(_moved(config.read_text(), ports))
    (terminals.place / "subscriber.py").write_text(program)
    terminals.start(service, "service")
    heard = terminals.start(subscriber, "subscriber")

    def lines() -> list[str]:
        return [each.rstrip() for each in heard.read_text().splitlines()]

    def until_heard(count: int) -> None:
        until(lambda: lines() == expected[:count], f"{expected[:count]}, not {lines()}")

    until(lambda: all(map(_listens, ports)), "the service and the subscriber")
    until(lambda: "accepted; " in terminals.run(subscribe), "a hub that has begun")
    until_heard(1)
    terminals.run(change)
    until_heard(2)
    heading, row = terminals.run(listed).splitlines()
    assert heading.startswith("id  topic")
    assert re.match(rf"1 +/feed\.xml +https://localhost:{ports[1]}/callback +active ", row)
    assert "accepted; " in terminals.run(unsubscribe)
    until_heard(3)
    until(lambda: "localhost" not in terminals.run(listed), "nobody subscribed")


def _listens(port: str) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", int(port))) == 0


def test_its_numbers_are_the_defaults() -> None:
    standard, text = Hub(), " ".join(section().split())
    lease, limits = standard.lease, standard.limits
    assert 10 * 86_400 == lease.default
    assert (60, 1800) == standard.delivery.retry_delays
    for said in (
        f"({lease.min} to {lease.max:,})",
        "lasts 10 days",
        f"at most {MAX_SECRET} bytes",
        f"within {standard.delivery.timeout:.0f} seconds",
        "after a minute and after half an hour",
        f"ask {limits.requests_per_minute} times a minute",
        f"may have {limits.active_per_host} subscriptions",
    ):
        assert said in text
