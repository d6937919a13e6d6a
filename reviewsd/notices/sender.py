"""Sends messages by apprise, the one library that knows the addresses of a hundred services.

It is imported only where there are targets: it is an extra, and takes 45 MB. Sending blocks, so it has threads
of its own; one that hangs delays no publication, and not the end of the process. An address is a secret.
"""

import logging
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Final

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorFromThreads

from reviewsd.config.schema import NotifyTarget
from reviewsd.notices.messages import Message
from reviewsd.runtime.daemon_threads import DaemonThreads
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.systemd import credential

if TYPE_CHECKING:
    from apprise import Apprise

THREADS = 8
"""Messages that are sent at the same time."""

_MAX_BYTES = 8_192
_LIBRARIES = ("apprise", "urllib3", "requests")
_STATUS = "error="  # apprise's warnings go on with the status of the response


class TargetError(StartError):
    """A target cannot be used. The message has the reason, and never quotes an address."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"notify: {reason}", EX_CONFIG)


class AppriseSender:
    """Sends messages to targets.

    Args:
        reactor: Receives the results.
        targets: The targets.
        environ: ``CREDENTIALS_DIRECTORY`` names systemd's credentials.

    Raises:
        TargetError: apprise is not installed, or an address cannot be used.
    """

    def __init__(
        self,
        reactor: IReactorFromThreads,
        targets: Sequence[NotifyTarget],
        environ: Mapping[str, str],
    ) -> None:
        self._services = load_services(targets, environ)
        self._threads = DaemonThreads(reactor, "notices", THREADS)

    def send(self, target: str, message: Message) -> Deferred[str]:
        """Send a message; returns why it failed, without the address, or "" where it was sent."""
        service = self._services[target]
        return self._threads.call(self._send, service, message)

    def stop(self) -> None:
        """End the threads; one that is sending ends after it, or with the process."""
        self._threads.stop()

    def _send(self, service: "Apprise", message: Message) -> str:
        _STATUSES.thread.status = "the service was not reached, or refused it"
        if service.notify(title=message.title, body=message.body, body_format="text"):
            return ""
        return str(_STATUSES.thread.status)


class _Statuses(logging.Handler):
    """Keeps the status of the last response that each thread was warned of, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = local()

    def emit(self, record: logging.LogRecord) -> None:
        """Read the status from a warning."""
        _, separator, rest = record.getMessage().rpartition(_STATUS)
        if separator and rest[:3].isdecimal():
            self.thread.status = f"status {rest[:3]}"


_STATUSES: Final = _Statuses()


def load_services(
    targets: Sequence[NotifyTarget], environ: Mapping[str, str]
) -> "dict[str, Apprise]":
    """Load the addresses of targets; returns the services by the names of the targets.

    From then on no line of the libraries reaches our log, as they have addresses.

    Raises:
        TargetError: apprise is not installed, or an address cannot be used.
    """
    try:
        import apprise  # noqa: F401, PLC0415  an extra
    except ImportError as error:
        remedy = f"{sys.prefix}/bin/pip install apprise (docs/how-to/notices.md)"
        raise TargetError(f"needs apprise, which cannot be used ({error}): {remedy}") from error
    for name in _LIBRARIES:
        logging.getLogger(name).propagate = False
        logging.getLogger(name).handlers = [_STATUSES]
    return {target.name: _service(target, environ) for target in targets}


def _service(target: NotifyTarget, environ: Mapping[str, str]) -> "Apprise":
    import apprise  # noqa: PLC0415  an extra

    # Without a time-out apprise sends in the thread that calls it, else in threads that the exit waits for
    asset = apprise.AppriseAsset(
        app_id="reviewsd", app_desc="reviewsd", app_url="", service_timeout=0
    )
    address = _address(target, environ)
    plugin = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if plugin is None:
        is_web = address.casefold().startswith(("http://", "https://"))
        own = "for a program of yours write json:// for http://, jsons:// for https://; " * is_web
        services = "https://appriseit.com/services/"
        raise TargetError(f"{target.name}: no address that apprise knows; {own}see {services}")
    if not plugin.verify_certificate:
        raise TargetError(f"{target.name}: verify=no is refused, certificates are checked")
    service = apprise.Apprise(asset=asset)
    service.add(plugin)
    return service


def _address(target: NotifyTarget, environ: Mapping[str, str]) -> str:
    """Load the address of a target from ``url_file``, else from the credential of its name.

    systemd joins the names of a directory credential by "_"; others keep the directory.
    """
    name = f"notify_{target.name}.url"
    path = credential(environ, name, f"notify/{target.name}.url")
    if target.url_file is not None:
        path = Path(target.url_file)
    if path is None:
        raise TargetError(f"{target.name}: there is no url_file, or the systemd credential {name}")
    try:
        mode, content = path.stat().st_mode, path.read_bytes()[:_MAX_BYTES]
    except FileNotFoundError as error:
        raise TargetError(f"{target.name}: there is no {path}") from error
    except OSError as error:
        raise TargetError(f"{target.name}: {path} cannot be read: {error.strerror}") from error
    if mode & stat.S_IRWXO:
        raise TargetError(
            f"{target.name}: {path} is open to all users; run: chmod o= {shlex.quote(str(path))}"
        )
    lines = [line.strip() for line in content.decode(errors="replace").splitlines()]
    addresses = [line for line in lines if line and not line.startswith("#")]
    if len(addresses) != 1:
        raise TargetError(f"{target.name}: {path} has {len(addresses)} addresses, not one")
    return addresses[0]
