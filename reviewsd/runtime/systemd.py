"""Tells systemd how the daemon is (sd_notify(3), interfaces.md 1.6, O1-O4).

A message is one datagram to the socket that ``$NOTIFY_SOCKET`` names; without that, nothing is
sent. Losing systemd's attention must not end the service: a socket that cannot be reached is
logged once.
"""

import re
import socket
import time
from collections.abc import Callable, Mapping

from twisted.logger import Logger

from reviewsd.runtime.printing import printable

_SEND_TIMEOUT = 1.0  # seconds; systemd normally takes a datagram at once, and the reactor waits
_MICROSECONDS = 1_000_000
_INTERVAL = re.compile("[0-9]{1,18}")


class Notifier:
    """The connection to the service manager.

    Args:
        address: The value of ``$NOTIFY_SOCKET``: a path, or an abstract name after ``@``.
        monotonic: CLOCK_MONOTONIC in seconds.
    """

    _log = Logger()

    def __init__(
        self, address: str | None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._address = address
        self._monotonic = monotonic
        self._complained = False

    def ready(self) -> None:
        """Everything is up, or a reload is over."""
        self._send("READY=1")

    def reloading(self) -> None:
        """A reload begins; ``ready`` ends it.

        The time is in the same datagram: without it ``Type=notify-reload`` waits for ever (O2).
        """
        moment = int(self._monotonic() * _MICROSECONDS)
        self._send(f"RELOADING=1\nMONOTONIC_USEC={moment}")

    def stopping(self) -> None:
        """The daemon is on its way out."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """The line that ``systemctl status`` shows."""
        self._send("STATUS=" + printable(" ".join(text.split())))  # a line break ends the field

    def extend(self, seconds: float) -> None:
        """Starting or stopping goes on: wait this much longer, from now."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * _MICROSECONDS)}")

    def watchdog(self) -> None:
        """The daemon is alive."""
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
        except (OSError, ValueError) as error:  # ValueError: no possible address
            if not self._complained:
                self._complained = True
                self._log.warn(
                    "cannot notify systemd at {address}: {error}",
                    address=self._address,
                    error=str(error),
                )


def watchdog_interval(environ: Mapping[str, str], pid: int) -> float | None:
    """Seconds between two signs of life: a third of what systemd waits for (O3).

    Args:
        environ: Environment with ``WATCHDOG_USEC`` and ``WATCHDOG_PID``, sd_watchdog_enabled(3).
        pid: The process that asks.

    Returns:
        None when no watchdog waits for this process.
    """
    timeout = environ.get("WATCHDOG_USEC", "")
    if not _INTERVAL.fullmatch(timeout) or int(timeout) == 0:
        return None
    if environ.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    return int(timeout) / _MICROSECONDS / 3
