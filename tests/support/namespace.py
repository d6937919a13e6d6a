"""A network of a test's own: with public addresses, names for them, and no other machines (E16).

Needs root and ``ip`` of iproute2. Only in such a network can the default policy be met: on
loopback every callback is refused, and what is opened for a test is not what users run.
"""

import ctypes
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import pytest

from tests.support.daemon import Daemon
from tests.support.subscriber import Subscriber, settings

_CLONE_NEWNET = 0x40000000  # setns(2)
NAMESERVER = "127.0.0.1"
"""The server that programs inside ask for names that are not in their hosts file."""

_ETC = Path("/etc/netns")


class Namespace:
    """A network. Entering moves this process in, with all processes and threads started meanwhile.

    Its one host has these addresses beside 127.0.0.1 and ::1. The network is gone after leaving. Where there
    can be none, the test is skipped.
    """

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses
        self._name = f"reviewsd-{os.getpid()}"
        self._etc = _ETC / self._name
        self._home: int | None = None

    @property
    def command(self) -> Sequence[str]:
        """Executes the command after it, which then knows the names of this network."""
        return ("ip", "netns", "exec", self._name)

    @property
    def connections(self) -> int:
        """The number of TCP connections that were begun inside, since the network exists."""
        lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
        names, values = [line.split() for line in lines if line.startswith("Tcp:")]
        return int(values[names.index("ActiveOpens")])

    def know(self, names: dict[str, Sequence[str]]) -> None:
        """Replace the known names by these names with their addresses."""
        lines = [f"{address} {name}\n" for name in names for address in names[name]]
        # In place: the file is bound into the view of processes that have been started already.
        (self._etc / "hosts").write_text("".join(lines))

    def __enter__(self) -> Self:
        if os.geteuid() != 0:
            pytest.skip("a network namespace needs root")
        if shutil.which("ip") is None:
            pytest.skip("ip is not installed: apt-get install iproute2")
        try:
            self._make()
        except subprocess.CalledProcessError as error:
            self._remove()
            pytest.skip(f"no network namespace: {error.stderr.strip()}")
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()

    def _make(self) -> None:
        _ip("netns", "add", self._name)
        _ip("-n", self._name, "link", "set", "lo", "up")
        for address in self._addresses:
            more = ("nodad",) if ":" in address else ()
            _ip("-n", self._name, "address", "add", address, "dev", "lo", *more)
        self._etc.mkdir(parents=True)
        (self._etc / "resolv.conf").write_text(f"nameserver {NAMESERVER}\nsearch .\n")
        self.know({})
        self._home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        with open(f"/run/netns/{self._name}", "rb") as place:  # noqa: PTH123
            enter(place.fileno())

    def _remove(self) -> None:
        if self._home is not None:
            enter(self._home)
            os.close(self._home)
            self._home = None
        subprocess.run(["ip", "netns", "delete", self._name], capture_output=True, check=False)
        shutil.rmtree(self._etc, ignore_errors=True)
        with suppress(OSError):
            _ETC.rmdir()  # unless something else is in it


class Listener:
    """Accepts connections and says nothing, not even TLS. It needs no thread: look at it."""

    def __init__(self, address: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._accepted: list[socket.socket] = []
        self._socket = socket.create_server((address, port), family=family, backlog=512)
        self._socket.settimeout(0)

    def look(self) -> int:
        """Return how many connections have been accepted in all."""
        with suppress(BlockingIOError):
            while True:
                self._accepted.append(self._socket.accept()[0])
        return len(self._accepted)

    def close(self) -> None:
        for socket_ in (self._socket, *self._accepted):
            socket_.close()


@contextmanager
def listening(addresses: Sequence[str], ports: Sequence[int]) -> Iterator[list[Listener]]:
    """A Listener at each of these."""
    listeners: list[Listener] = []
    try:
        listeners += (Listener(address, port) for address in addresses for port in ports)
        yield listeners
    finally:
        for listener in listeners:
            listener.close()


@contextmanager
def filtered(address: str, port: int) -> Iterator[None]:
    """Make a port that never answers: its server accepts no connection, and its queue is full."""
    with socket.create_server((address, port), backlog=0), socket.socket() as only:
        only.connect((address, port))
        yield


@contextmanager
def swallowing() -> Iterator[socket.socket]:
    """A NAMESERVER that takes questions and never answers; gives its socket, not blocking."""
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        server.bind((NAMESERVER, 53))
        server.settimeout(0)
        yield server


def policy(subscriber: Subscriber) -> str:
    """A configuration with the default policy for callbacks; else it is quick.

    ``ca_file`` gives the subscriber its certificate, and opens no network (E9).
    """
    closed: dict[str, list[str]] = {"allow_networks": []}
    return settings(subscriber.ca_file, callbacks=closed)


@contextmanager
def running(network: Namespace, daemon: Daemon) -> Iterator[Daemon]:
    """The daemon, ready in this network."""
    try:
        daemon.launch(network.command)
        daemon.wait_ready()
        yield daemon
    finally:
        daemon.close()


def said(daemon: Daemon, pattern: str) -> list[str]:
    """Return the parts of the daemon's log that match."""
    return re.findall(pattern, daemon.log.read_text())


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)


def enter(namespace: int) -> None:
    """Move this thread into a network: os.setns comes with Python 3.12."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
