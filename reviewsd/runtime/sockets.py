"""Listening: endpoint strings, sockets inherited from systemd, the admin socket's file.

An inherited socket's family must be named in Twisted's endpoint string; operators need not know it:
``systemd:name=http`` becomes ``systemd:domain=INET:name=http`` (O5, F21).
"""

import contextlib
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path

from twisted.internet.endpoints import _SystemdParser
from twisted.internet.interfaces import IListeningPort
from twisted.internet.unix import Port

from reviewsd.runtime.state_dir import StartError

ADMIN_NAME = "admin"
"""``FileDescriptorName=`` of the inherited socket that takes the place of ``admin_socket``."""


def inherited() -> dict[str, int]:
    """The sockets that systemd hands over, by name.

    Twisted takes ``LISTEN_FDS`` out of the environment when its endpoints are imported, so that
    nobody adopts a socket twice: its own parser is the only one that still knows them.
    """
    return _SystemdParser._sddaemon.inheritedNamedDescriptors()  # noqa: SLF001  pinned by a test


def listen_string(endpoint: str, descriptors: Mapping[str, int]) -> str:
    """The endpoint string with the family of an inherited socket filled in.

    Raises:
        StartError: systemd handed over no socket of that name.
    """
    before, colon, rest = endpoint.rpartition("systemd:")
    if not colon or "domain=" in rest:
        return endpoint
    name = dict(part.split("=", 1) for part in rest.split(":") if "=" in part).get("name")
    if name is None or name not in descriptors:
        known = ", ".join(descriptors) or "none"
        raise StartError(
            f"listen: {endpoint}: no socket of this name was handed over by systemd (got: {known}); "
            "start reviewsd.socket, or listen on tcp:",
            1,
        )
    return f"{before}systemd:domain={_family(descriptors[name])}:{rest}"


def _family(descriptor: int) -> str:
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        return copy.family.name.removeprefix("AF_")


def free_path(path: Path) -> None:
    """Remove a socket that a daemon left behind when it was killed (A4).

    Raises:
        StartError: Somebody answers there, or it is no socket.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise StartError(f"admin_socket {path}: {error.strerror}", 1) from error
    if not stat.S_ISSOCK(mode):
        raise StartError(f"admin_socket {path} exists and is no socket", 1)
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise StartError(f"admin_socket {path}: {error.strerror}", 1) from error
    raise StartError(f"admin_socket {path}: another daemon answers there", 1)


async def stop_listening(port: IListeningPort, *, handed_over: bool) -> None:
    """Take no more connections.

    A UNIX port of Twisted removes its file when it stops, also one that belongs to systemd's
    socket unit and has to stay (O14), and fails when the file is gone already. So it is only
    told to accept no more; its descriptor goes with the process.

    Args:
        port: What listens.
        handed_over: By systemd.
    """
    if isinstance(port, Port):
        port.stopReading()
        if not handed_over:
            with contextlib.suppress(OSError):  # at the next start ``free_path`` looks again
                os.unlink(port.getHost().name)  # noqa: PTH108  the name is bytes
        return
    stopped = port.stopListening()
    if stopped is not None:
        await stopped
