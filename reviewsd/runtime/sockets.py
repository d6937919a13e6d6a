"""Listening sockets: endpoint strings, sockets inherited from systemd, and the file of the admin socket.

Twisted's endpoint string needs the family of an inherited socket, which operators need not know:
``systemd:name=http`` becomes ``systemd:domain=INET:name=http`` (O5, F21).
"""

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from twisted.internet import tcp, unix
from twisted.internet.endpoints import AdoptedStreamServerEndpoint, _SystemdParser, serverFromString
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IListeningPort, IProtocolFactory
from twisted.internet.posixbase import PosixReactorBase
from twisted.python.failure import Failure

from reviewsd.runtime.state_dir import StartError

ADMIN_NAME = "admin"
"""``FileDescriptorName=`` of the inherited socket that takes the place of ``admin_socket``."""

_TCP_LISTEN = "0A"  # in /proc/net/tcp


def inherited() -> dict[str, int]:
    """Return the descriptors of the sockets that systemd hands over, by name.

    The import of Twisted's endpoints removes ``LISTEN_FDS`` from the environment, so that no socket is
    adopted twice: only its parser still has them.
    """
    return _SystemdParser._sddaemon.inheritedNamedDescriptors()  # noqa: SLF001  pinned by a test


def listen_string(endpoint: str, descriptors: Mapping[str, int]) -> str:
    """Return an endpoint string with the family of an inherited socket.

    Raises:
        StartError: systemd handed over no socket of this name.
    """
    options = dict(part.split("=", 1) for part in endpoint.split(":") if "=" in part)
    if not endpoint.startswith("systemd:") or "domain" in options:
        return endpoint
    descriptor = descriptors.get(options.get("name", ""))
    if descriptor is None:
        names = ", ".join(descriptors) or "none"
        raise StartError(
            f"listen: {endpoint}: no socket of this name was handed over by systemd (got: {names}); "
            "start reviewsd.socket, or listen on tcp:",
            1,
        )
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        family = copy.family.name.removeprefix("AF_")
    return endpoint.replace("systemd:", f"systemd:domain={family}:", 1)


def free_path(path: Path) -> None:
    """Remove the socket file of a daemon that was killed (A4).

    Raises:
        StartError: Another daemon listens there, or the file is no socket.
    """
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise StartError(f"admin_socket {path} exists and is no socket", 1)
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            probe.connect(str(path))
    except FileNotFoundError:
        return
    except ConnectionRefusedError:
        path.unlink()
        return
    except OSError as error:
        raise StartError(f"admin_socket {path}: {error.strerror}", 1) from error
    raise StartError(f"admin_socket {path}: another daemon answers there", 1)


class AdoptedUnixPort(unix.Port):
    """A listening UNIX socket of a socket unit of systemd, used as it is.

    Twisted's own port sets the mode of the file to 0666, which fails where the file belongs to another
    user and opens the admin socket to all users where it does not; it listens again with a backlog
    of its own; and it removes the file when it stops. All three belong to the socket unit (O5, O14).
    """

    _shouldShutdown = False  # systemd and the next daemon listen on the same socket

    @classmethod
    def adopt(
        cls, reactor: PosixReactorBase, descriptor: int, factory: IProtocolFactory
    ) -> "AdoptedUnixPort":
        """Accept connections on a descriptor of systemd; it is closed, because the port has a copy."""
        os.set_blocking(descriptor, False)
        port: AdoptedUnixPort = cls._fromListeningDescriptor(reactor, descriptor, factory)
        os.close(descriptor)
        port.startListening()
        return port

    def startListening(self) -> None:  # noqa: D102  Twisted's
        tcp._reservedFD.reserve()  # noqa: SLF001  as Twisted's ports do
        self.factory.doStart()  # type: ignore[union-attr]  # it is set from the start
        self.socket, self._preexistingSocket = self._preexistingSocket, None
        self.fileno = self.socket.fileno  # type: ignore[method-assign, union-attr]  # as Twisted does
        self.connected = True
        self.numberAccepts = 100  # as Twisted's ports do
        self.startReading()

    def connectionLost(self, reason: Failure) -> None:  # noqa: D102  Twisted's
        tcp.Port.connectionLost(self, reason)


async def listen(
    reactor: PosixReactorBase, description: str, factory: IProtocolFactory
) -> IListeningPort:
    """Listen on an endpoint of Twisted.

    Raises:
        StartError: The endpoint cannot be used.
    """
    endpoint = serverFromString(reactor, description)
    is_adopted = isinstance(endpoint, AdoptedStreamServerEndpoint)
    try:
        if is_adopted and endpoint.addressFamily == socket.AF_UNIX:
            return AdoptedUnixPort.adopt(reactor, endpoint.fileno, factory)
        return await endpoint.listen(factory)  # type: ignore[no-any-return]  # it is not annotated
    except CannotListenError as error:
        raise StartError(f"cannot listen on {description}: {_reason(error)}", 1) from error
    except OSError as error:
        raise StartError(f"cannot listen on {description}: {error.strerror}", 1) from error


async def stop_listening(port: IListeningPort) -> None:
    """Accept no more connections.

    A UNIX port of Twisted fails to stop if its file is missing. So it only stops accepting, and its file is
    removed here; its descriptor is closed with the process.
    """
    if isinstance(port, unix.Port) and not isinstance(port, AdoptedUnixPort):
        port.stopReading()
        with contextlib.suppress(OSError):  # the next start calls ``free_path``
            os.unlink(port.getHost().name)  # noqa: PTH108  the name is bytes
        return
    stopped = port.stopListening()
    if stopped is not None:
        await stopped


def _reason(error: CannotListenError) -> str:
    """Return why a port cannot be listened on, with the name of the process that uses it."""
    fault = error.socketError
    if fault.errno != errno.EADDRINUSE or not isinstance(error.port, int):
        return str(fault.strerror or fault)
    holder = port_holder(error.port) or "another program"
    return f"{holder} already listens there; end it, or change listen in the configuration"


def port_holder(port: int, proc: Path = Path("/proc")) -> str | None:
    """Return the process that listens on a TCP port, e.g. ``nginx (pid 123)`` (proc(5)).

    None if it is no process that this user may inspect.
    """
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port, proc)}
    for process in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            for file in (process / "fd").iterdir():
                if str(file.readlink()) in sockets:
                    name = (process / "comm").read_text().strip()
                    return f"{name} (pid {process.name})"
    return None


def _listening_inodes(port: int, proc: Path) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue  # a kernel without IPv6 has no tcp6
        for fields in map(str.split, lines):
            local_port = int(fields[1].rpartition(":")[2], 16)
            if local_port == port and fields[3] == _TCP_LISTEN:
                yield fields[9]
