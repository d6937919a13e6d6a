"""The states of sources in ``.reviewsctl/sources.json`` beside reviews.json; it has no secrets."""

import contextlib
import datetime
import fcntl
from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from reviewsctl.files.folders import Folder
from reviewsctl.terminal.errors import CommandError
from reviewsd.api.places import KEPT_FOLDER
from reviewsd.api.status import SOURCES_FILE, SOURCES_VERSION, SourceCondition

LOCK: Final = "sources.lock"
MODE: Final = 0o664  # others read the states, as the daemon does

_MAX_BYTES: Final = 64 * 1024 * 1024


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """A review that complete reads do not have."""

    count: int
    """Those reads."""
    at: datetime.datetime
    """The last of them that was counted."""


class SourceState(SourceCondition, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a source."""

    state: Literal["new", "ok", "warn", "failed", "stopped"] = "new"
    tried_at: datetime.datetime | None = None
    next_at: datetime.datetime | None = None
    look: str = ""
    """Digests or entity tags, by which the next run finds a source unchanged."""
    settings: str = ""
    """The digest of the settings of its imports; others read it again, as if it had changed."""
    places: tuple[tuple[str, str], ...] = ()
    """The locations of its reviews, each with its source before."""
    missing: Mapping[str, Missing] = {}
    """By merge key."""
    day: str = ""
    """The day that ``requests`` are of."""
    requests: int = 0

    @property
    def is_read(self) -> bool:
        """Whether the last run read it, or found it unchanged."""
        return self.state in ("ok", "warn")


class _File(msgspec.Struct, kw_only=True):
    version: int
    sources: dict[str, SourceState]


class StateUnreadableError(CommandError):
    """sources.json cannot be read."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "not synced",
            f"{KEPT_FOLDER}/{SOURCES_FILE} {reason}",
            "Move it away to start over; the next sync reads all sources completely.",
        )


def load(folder: Folder) -> dict[str, SourceState]:
    """Read the states by the names of the sources; none where there is no file.

    Raises:
        StateUnreadableError: It cannot be read, or another version of reviewsctl wrote it.
    """
    try:
        with folder.folder(KEPT_FOLDER) as own, own.open(SOURCES_FILE) as file:
            decoded = msgspec.json.decode(file.read(_MAX_BYTES), type=_File)
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise StateUnreadableError(f"cannot be read: {reason}") from fault
    if decoded.version != SOURCES_VERSION:
        raise StateUnreadableError("is of another version of reviewsctl")
    return decoded.sources


def save(folder: Folder, states: Mapping[str, SourceState]) -> None:
    """Replace the file; its mode is that of the folder, without execution."""
    content = msgspec.json.format(
        msgspec.json.encode(_File(version=SOURCES_VERSION, sources=dict(states))), indent=1
    )
    with folder.folder(KEPT_FOLDER, make=True) as own:
        own.write(SOURCES_FILE, content + b"\n", own.facts.st_mode & MODE)


class BusyError(CommandError):
    """Another sync is running."""


@contextlib.contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Hold the lock of the sources for the block.

    Raises:
        BusyError: Another sync has it.
    """
    with folder.folder(KEPT_FOLDER, make=True) as own, own.journal(LOCK, MODE) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError("not synced", "a sync is running") from None
        yield
