"""A real reviewsd process on loopback, for tests at the door."""

import atexit
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from reviewsd.__main__ import AS_ROOT
from tests.support import commands, fork_server, publishing

DEMO = Path(__file__).parents[2] / "reviewsd" / "demo"
HAND_MADE = Path(__file__).with_name("harbor-insights.json")
"""Insights of the demo's reviews that were made by hand, as an operator's own file."""
BASE_URL = "https://reviews.example.com"
NO_PAGES = "pages: {enabled: false}\n"
"""Settings for tests that publish often: pages take half of the time."""

SECONDS = 240
"""Seconds until a missing event is a failure; a busy machine publishes 30 MB slowly."""
LAST_WORDS_SECONDS = 0.05  # a datagram on its way when the process ended


def until(true: Callable[[], object], what: str, seconds: float = SECONDS) -> float:
    """Wait for something to come true; returns how many seconds that took."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.01)
    return time.monotonic() - began


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Manager:
    """systemd's end of the notification socket; ``heard`` has the datagrams in their order."""

    def __init__(self, address: Path) -> None:
        self.heard: list[str] = []
        self.address = address
        address.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(address))
        self._socket.settimeout(LAST_WORDS_SECONDS)
        self._closing = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        with self._socket:
            while True:
                try:
                    self.heard.append(self._socket.recv(4096).decode())
                except TimeoutError:
                    if self._closing:
                        return

    def close(self) -> None:
        """Hear what is still on its way, and no more."""
        self._closing = True
        self._thread.join()


class Daemon:
    """Starts on entering and is stopped on leaving; ports and paths are its own.

    Args:
        directory: Gets ``reviewsd.yaml``, ``data`` (the demo's, unless it is there already) and
            ``state``.
        settings: Further lines of the configuration.
        arguments: Further arguments of the command.
        environ: Further environment.
        publishes: Whether it publishes its data at its first start. Else it finds them published.
    """

    def __init__(
        self,
        directory: Path,
        settings: str = "",
        arguments: tuple[str, ...] = (),
        environ: Mapping[str, str] | None = None,
        *,
        publishes: bool = False,
    ) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.state = directory / "state"
        self.socket = directory / "admin.sock"
        self.log = directory / "log"
        self.config = directory / "reviewsd.yaml"
        self._arguments = arguments
        self._environ = dict(environ or {})
        self._publishes = publishes
        self._process: subprocess.Popen[bytes] | fork_server.Forked | None = None
        self.manager: Manager | None = None
        self.handed_over: dict[str, socket.socket] = {}
        """Listening sockets by their names, which each process gets as from systemd."""
        self.port = 0
        if not self.data.exists():
            self.data.mkdir()
            shutil.copyfile(DEMO / "reviews.json", self.data / "reviews.json")
            shutil.copyfile(HAND_MADE, self.data / "insights.json")
        listen = (
            ""
            if re.search(r"^listen:", settings, re.MULTILINE)
            else 'listen: ["tcp:0:interface=127.0.0.1"]\n'
        )
        self.config.write_text(
            f"base_url: {BASE_URL}\ndata_dir: data\nstate_dir: state\nadmin_socket: admin.sock\n"
            f"{listen}{settings}"
        )

    @property
    def process(self) -> "subprocess.Popen[bytes] | fork_server.Forked":
        """The latest process."""
        assert self._process is not None, "it was not launched"
        return self._process

    @property
    def command(self) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", "reviewsd", *self._all_arguments]

    @property
    def _all_arguments(self) -> list[str]:
        return ["--config", str(self.config), *self._arguments]

    @property
    def heard(self) -> list[str]:
        """The messages of the latest process to the service manager."""
        assert self.manager is not None
        return self.manager.heard

    @property
    def lines(self) -> list[str]:
        """The lines of the log, without the warning that root runs it, which is usual for tests."""
        return [line for line in self.log.read_text().splitlines() if AS_ROOT not in line]

    @property
    def unusual(self) -> list[str]:
        """The lines of the log above level info."""
        return [line for line in self.lines if " info " not in line]

    def launch(self, before: Sequence[str] = ()) -> None:
        """Start, and wait for nothing.

        Args:
            before: A command that executes the one after it.
        """
        self.close()
        self.manager = Manager(self.directory / "notify.sock")
        environ = {**os.environ, "NOTIFY_SOCKET": str(self.manager.address), **self._environ}
        if fork_server.Switch.on and not self._publishes:
            publishing.publish_for(self.config, environ)
        descriptors = [listening.fileno() for listening in self.handed_over.values()]
        if descriptors:
            names, numbers = ":".join(self.handed_over), ",".join(map(str, descriptors))
            before = [sys.executable, "-c", _HAND_OVER, names, numbers, *before]
        with self.log.open("ab") as log:
            if not before and fork_server.can_fork(environ):
                self._process = fork_server.daemon(self._all_arguments, environ, log)
            else:
                command = [*before, *self.command]
                self._process = subprocess.Popen(
                    command, stdout=log, stderr=log, env=environ, pass_fds=descriptors
                )
        atexit.register(self._process.kill)  # should its test fail before it ends it

    def wait_ready(self) -> None:
        """Wait until systemd would hear READY=1."""
        process = self.process
        until(lambda: "READY=1" in self.heard or process.poll() is not None, "READY=1")
        if "READY=1" not in self.heard:
            raise AssertionError(f"reviewsd did not start:\n{self.log.read_text()}")
        self.port = int(self.status()["listen"][0].rpartition(":")[2])

    def start(self) -> None:
        """Start, and wait until systemd would hear READY=1."""
        self.launch()
        self.wait_ready()

    def close(self) -> None:
        """End the process, should it still run, and hear no more of it."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(10)
        if self.manager is not None:
            self.manager.close()

    def stop(self, sign: int = signal.SIGTERM) -> int:
        """Send a signal and wait; returns the exit code."""
        self.process.send_signal(sign)
        return self.ended()

    def ended(self) -> int:
        """Wait for the end; returns the exit code."""
        assert self.manager is not None
        code = self.process.wait(40)
        self.manager.close()
        return code

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> "Answer":
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> "Answer":
        """GET a path."""
        return self.request("GET", path, headers)

    def admin(self, method: str, path: str) -> "Answer":
        """One request on the admin socket."""
        with connected(self.socket) as connection:
            connection.request(method, path)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())

    def status(self) -> Any:
        """The daemon's own account."""
        return self.admin("GET", "/v1/status").json()

    def reload(self) -> Any:
        """Reload, and its result line."""
        return json.loads(self.admin("POST", "/v1/reload").body.splitlines()[-1])

    def memory(self) -> int:
        """Return the bytes of memory of the process without mapped files."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(status.partition("RssAnon:")[2].split()[0])

    def edit(self, **business: str) -> None:
        """Change members of the business in the data, as an editor does; wait for nothing."""
        file = self.data / "reviews.json"
        document = json.loads(file.read_text())
        document["business"] |= business
        edited = file.with_name(".edited")
        edited.write_text(json.dumps(document))
        edited.rename(file)

    def ctl(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run the real reviewsctl against it."""
        return commands.ctl("--socket", str(self.socket), *arguments)


@contextmanager
def connected(admin_socket: Path) -> Iterator[http.client.HTTPConnection]:
    """Connect to an admin socket."""
    connection = http.client.HTTPConnection("reviewsd", timeout=SECONDS)
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.connect(str(admin_socket))
        yield connection
    finally:
        connection.close()


_HAND_OVER = """
import os, sys
names, descriptors, *command = sys.argv[1:]
aside = [os.dup2(int(each), 100 + number) for number, each in enumerate(descriptors.split(","))]
for number, descriptor in enumerate(aside):
    os.dup2(descriptor, 3 + number)
os.closerange(3 + len(aside), 200)
os.environ |= {
    "LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(aside)), "LISTEN_FDNAMES": names
}
os.execvp(command[0], command)
"""
"""Hands sockets over as systemd does: descriptors from 3 up, and their names."""


class Answer:
    """A response read whole."""

    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        """The body decoded."""
        return json.loads(self.body)
