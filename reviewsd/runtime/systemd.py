"""Notifies systemd of the daemon's state, and finds its credentials (sd_notify(3), interfaces.md 1.6, O1-O4).

A message is one datagram to the socket that ``$NOTIFY_SOCKET`` names; without it nothing is sent. If
systemd cannot be reached, the service goes on; only the first failure is logged.
"""

import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from twisted.logger import Logger

from reviewsd.api.texts import printable

_SEND_TIMEOUT = 1.0  # seconds, which block the reactor; systemd reads a datagram at once
_MICROSECONDS = 1_000_000
_INTERVAL = re.compile("[0-9]{1,18}")


class Notifier:
    """Sends messages to the service manager.

    Args:
        address: The value of ``$NOTIFY_SOCKET``: a path, or an abstract name after ``@``.
    """

    _log = Logger()

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._has_warned = False

    def ready(self) -> None:
        """Report that the start or a reload has ended."""
        self._send("READY=1")

    def reloading(self) -> None:
        """Report the beginning of a reload; ``ready`` reports its end.

        Without the time in the same datagram ``Type=notify-reload`` would wait for ever (O2).
        """
        moment = int(time.monotonic() * _MICROSECONDS)
        self._send(f"RELOADING=1\nMONOTONIC_USEC={moment}")

    def stopping(self) -> None:
        """Report that the daemon is stopping."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """Set the line that ``systemctl status`` shows."""
        self._send("STATUS=" + printable(" ".join(text.split())))  # a line break ends the field

    def extend(self, seconds: float) -> None:
        """Extend the time-out of the start or the stop, from now."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * _MICROSECONDS)}")

    def watchdog(self) -> None:
        """Report that the daemon is alive."""
        self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        # "@" stands for the NUL byte of an abstract address, unix(7)
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(_SEND_TIMEOUT)
                sender.sendto(message.encode(errors="replace"), address)
        except (OSError, ValueError) as error:  # ValueError: the address is invalid
            if not self._has_warned:
                self._has_warned = True
                warning = "cannot notify systemd at {address}: {error}"
                self._log.warn(warning, address=self._address, error=str(error))


def watchdog_interval(environ: Mapping[str, str], pid: int) -> float | None:
    """Return the seconds between two notifications: a third of systemd's time-out (O3).

    None if systemd expects no notifications from process ``pid``, by ``WATCHDOG_USEC`` and
    ``WATCHDOG_PID`` (sd_watchdog_enabled(3)).
    """
    timeout = environ.get("WATCHDOG_USEC", "")
    if not _INTERVAL.fullmatch(timeout) or int(timeout) == 0:
        return None
    if environ.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    return int(timeout) / _MICROSECONDS / 3


def credential(environ: Mapping[str, str], *names: str) -> Path | None:
    """Return the first of some files that exists in ``$CREDENTIALS_DIRECTORY`` (systemd.exec(5))."""
    folder = Path(environ.get("CREDENTIALS_DIRECTORY", "/nonexistent"))
    return next((folder / name for name in names if (folder / name).exists()), None)
