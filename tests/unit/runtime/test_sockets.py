"""Endpoint strings of inherited sockets, the file of the admin socket, and the holder of a port (O5, A4)."""

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from twisted.internet import reactor
from twisted.internet.endpoints import serverFromString
from twisted.internet.protocol import Factory, Protocol

from reviewsd.runtime.sockets import (
    AdoptedUnixPort,
    free_path,
    listen_string,
    port_holder,
    stop_listening,
)
from reviewsd.runtime.state_dir import StartError


@pytest.fixture
def place() -> Iterator[Path]:
    """A short path: a socket's address has 107 bytes."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def opened(family: socket.AddressFamily) -> socket.socket:
    return socket.socket(family)


@pytest.mark.parametrize(
    ("family", "name"),
    [(socket.AF_INET, "INET"), (socket.AF_INET6, "INET6"), (socket.AF_UNIX, "UNIX")],
)
def test_endpoint_gets_family_of_inherited_socket(family: socket.AddressFamily, name: str) -> None:
    """O5: Twisted demands it, operators need not know it."""
    with socket.socket(family) as handed_over:
        descriptors = {"http": handed_over.fileno()}
        assert f"systemd:domain={name}:name=http" == listen_string("systemd:name=http", descriptors)
        assert os.fstat(handed_over.fileno())  # still open


@pytest.mark.parametrize(
    "endpoint",
    ["tcp:8080:interface=127.0.0.1", "systemd:domain=INET:name=http", "unix:/run/reviewsd/http"],
)
def test_other_endpoints_are_unchanged(endpoint: str) -> None:
    assert endpoint == listen_string(endpoint, {})


@pytest.mark.parametrize(
    ("descriptors", "names"), [({}, "none"), ({"https": 0, "admin": 0}, "https, admin")]
)
def test_socket_not_handed_over_is_an_error(descriptors: dict[str, int], names: str) -> None:
    with pytest.raises(StartError) as error:
        listen_string("systemd:name=http", descriptors)
    assert 1 == error.value.code
    assert f"no socket of this name was handed over by systemd (got: {names})" in str(error.value)


# -- the admin socket's file


def refusal(path: Path) -> str:
    with pytest.raises(StartError) as error:
        free_path(path)
    assert 1 == error.value.code
    return str(error.value)


def test_socket_of_another_daemon_is_refused_even_if_it_is_busy(place: Path) -> None:
    path = place / "admin.sock"
    with contextlib.ExitStack() as stack:
        alive = stack.enter_context(opened(socket.AF_UNIX))
        alive.bind(str(path))
        alive.listen(0)
        assert f"admin_socket {path}: another daemon answers there" == refusal(path)
        for _ in range(2):
            client = stack.enter_context(opened(socket.AF_UNIX))
            client.settimeout(0)
            client.connect_ex(str(path))
        assert refusal(path).startswith(f"admin_socket {path}: ")
        assert path.is_socket()


@pytest.mark.parametrize("kind", ["file", "directory", "link to a socket"])
def test_file_that_is_no_socket_is_never_removed(place: Path, kind: str) -> None:
    path = place / "admin.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(place / "other"))
    match kind:
        case "file":
            path.write_text("precious")
        case "directory":
            path.mkdir()
        case _:
            path.symlink_to(place / "other")
    assert f"admin_socket {path} exists and is no socket" == refusal(path)
    assert os.path.lexists(path)


# -- the end of listening


class Silence(Protocol):
    """Says nothing."""


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True


@pytest.mark.parametrize("missing", [False, True])
async def test_stop_removes_the_socket_file_if_it_exists(place: Path, *, missing: bool) -> None:
    path = place / "admin.sock"
    port = await serverFromString(reactor, f"unix:{path}:lockfile=0").listen(
        Factory.forProtocol(Silence)
    )
    assert connects(path)
    if missing:
        path.unlink()
    await stop_listening(port)
    assert [] == os.listdir(place)  # noqa: PTH208  pathlib's way counts as blocking
    port.socket.close()


# -- UNIX sockets of systemd's socket units


@pytest.fixture
def unit_socket(place: Path) -> Iterator[socket.socket]:
    """A listening socket as a socket unit makes it: mode 0660 and, made by root, another owner's."""
    path = place / "admin.sock"
    with opened(socket.AF_UNIX) as unit:
        unit.bind(str(path))
        path.chmod(0o660)
        if os.geteuid() == 0:
            os.chown(path, 12_345, 12_346)
        unit.listen(128)
        yield unit


def adopt(unit: socket.socket) -> AdoptedUnixPort:
    """Adopt a copy, as the daemon does: systemd keeps the original."""
    factory = Factory.forProtocol(Silence)
    return AdoptedUnixPort.adopt(reactor, os.dup(unit.fileno()), factory)  # type: ignore[arg-type] # a module


async def test_adopted_socket_keeps_mode_and_owner(place: Path, unit_socket: socket.socket) -> None:
    """The mode is the door of the admin socket; and only its owner may change it (O5)."""
    before = (place / "admin.sock").stat()
    port = adopt(unit_socket)
    after = (place / "admin.sock").stat()
    await stop_listening(port)
    assert (before.st_mode, before.st_uid, before.st_gid) == (
        after.st_mode,
        after.st_uid,
        after.st_gid,
    )


async def test_adopted_socket_keeps_its_backlog(place: Path, unit_socket: socket.socket) -> None:
    """``Backlog=`` of the unit counts: listening again would make it Twisted's 50."""
    port = adopt(unit_socket)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            client = stack.enter_context(opened(socket.AF_UNIX))
            client.settimeout(0)
            client.connect(str(place / "admin.sock"))
    await stop_listening(port)


async def test_adopted_socket_outlives_its_port(place: Path, unit_socket: socket.socket) -> None:
    """Clients wait in it for the next daemon (O14)."""
    path = place / "admin.sock"
    port = adopt(unit_socket)
    await stop_listening(port)
    assert path.is_socket()
    assert connects(path)


# -- the process that has a port


def test_process_of_another_user_is_not_named(tmp_path: Path) -> None:
    """Its descriptors cannot be read, as with a process that has just ended."""
    (tmp_path / "net").mkdir()
    row = "0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1"
    (tmp_path / "net/tcp").write_text(f"sl local_address\n{row}\n")
    (tmp_path / "7").mkdir()
    assert port_holder(80, tmp_path) is None
    (tmp_path / "7/fd").mkdir()
    (tmp_path / "7/fd/3").symlink_to("socket:[4711]")
    (tmp_path / "7/comm").write_text("nginx\n")
    assert "nginx (pid 7)" == port_holder(80, tmp_path)


def test_missing_tables_of_the_kernel_are_no_error(tmp_path: Path) -> None:
    assert port_holder(80, tmp_path) is None
