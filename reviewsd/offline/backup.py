"""The state for a backup, without a running daemon (D12)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from reviewsd.api.status import BackupContents
from reviewsd.app.store import DATABASE
from reviewsd.config.load import load
from reviewsd.config.schema import Config
from reviewsd.store.backup import IN_POSTGRESQL, of_stopped_daemon
from reviewsd.store.keys import HUB_KEYS, SESSION_KEYS


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedState:
    """The state of a daemon that does not run."""

    settings: Config
    store: BinaryIO | None
    """A copy of the store; None if it is in PostgreSQL, or if the daemon never ran."""
    contents: BackupContents | None
    """Its summary."""
    fault: str = ""
    """Why there is no copy, for the operator."""


def state(config: Path | None, environ: Mapping[str, str]) -> StoppedState:
    """Copy the state that a configuration names.

    Raises:
        ConfigError: The configuration cannot be used.
        StoreError: The store cannot be copied.
        OSError: No copy can be made.
    """
    settings = load(config, environ).config
    if settings.hub.shared:
        return StoppedState(store=None, contents=None, fault=IN_POSTGRESQL, settings=settings)
    if not (settings.state_dir / DATABASE).exists():
        return StoppedState(store=None, contents=None, settings=settings)
    store, contents = of_stopped_daemon(settings.state_dir / DATABASE)
    keys = (
        HUB_KEYS.location(settings.key_folder, environ),
        SESSION_KEYS.location(settings.key_folder, environ, settings.mcp.session_key_file),
    )
    return StoppedState(store=store, contents=replace(contents, keys=keys), settings=settings)
