"""The files and optional packages that a valid configuration needs at a start."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from twisted.internet.base import ReactorBase
from twisted.internet.task import Clock

from reviewsd.app.store import make_store
from reviewsd.config.schema import Config, NotifyTarget
from reviewsd.notices.sender import load_services
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.state_dir import StartError
from reviewsd.store.keys import Secrets
from reviewsd.websub.outbound.tls import Tls


def files_fault(
    config: Config, environ: Mapping[str, str], *, by_daemon: bool = False
) -> str | None:
    """Return the fault in a file or an optional package that the configuration needs, or None.

    Args:
        config: The configuration.
        environ: Names the credentials of systemd.
        by_daemon: Whether the daemon asks, before its next start. Else addresses of notices that only it
            can read are not looked at.
    """
    ca_file = config.hub.callbacks.ca_file
    if ca_file is not None:
        try:
            Tls(Clock(), Path(ca_file))
        except ValueError as error:
            return f"hub.callbacks.ca_file: {error}"
    try:
        # Only its settings are checked: a store uses its reactor once it is opened
        make_store(cast("ReactorBase", Clock()), config, Secrets(()), Counters())
        if config.notify:
            targets = [
                target
                for target in config.notify
                if (target.url_file is not None if by_daemon else _can_read(target, environ))
            ]
            load_services(targets, environ)
    except StartError as error:
        return str(error)
    return None


def unread_addresses(config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the targets of notices whose addresses only the daemon can read."""
    return tuple(target.name for target in config.notify if not _can_read(target, environ))


def _can_read(target: NotifyTarget, environ: Mapping[str, str]) -> bool:
    """Return whether this process may look at the address of a target, as the daemon will."""
    if target.url_file is None:
        return "CREDENTIALS_DIRECTORY" in environ
    file = target.url_file
    if not os.access(Path(file).parent, os.X_OK):
        return False
    return os.access(file, os.R_OK) or not os.path.lexists(file)
