"""``GET /v1/status``, and the summary of a backup (interfaces.md 1.5)."""

from datetime import date
from typing import Literal

from msgspec import Struct

from reviewsd.api.hub import HubState
from reviewsd.api.jobs import ConfigChanges, InsightsOrigin, LastReload
from reviewsd.api.times import Instant

START_FAILURE = "start-failure.json"
"""The file in ``state_dir`` that holds a ``StartFailure``; there is none after a good start."""


class StartFailure(Struct, frozen=True, kw_only=True):
    """Why the last start failed."""

    at: Instant
    code: int
    """The exit code."""
    reason: str


class SnapshotStatus(Struct, frozen=True, kw_only=True):
    """The data that is served."""

    revision: str
    published_at: Instant
    review_count: int
    newest_review: date | None = None
    """The day of the newest review; None without one."""
    updated_at: Instant | None
    """The date in the data."""
    insights: bool
    insights_origin: InsightsOrigin | None = None
    """None if there are no insights, and none are made."""


DataState = Literal["ok", "degraded", "starting", "failing", "waiting"]
"""``degraded``: the last good data is served, because the newer data is invalid. In the other three nothing
is served yet: ``starting`` during the first publication, ``failing`` after its failure until it is
repeated, ``waiting`` with ``--wait-for-data`` and without valid data."""


class DataStatus(Struct, frozen=True, kw_only=True):
    """The data directory, and the state of its loading."""

    dir: str
    state: DataState
    last_reload: LastReload | None
    failing_since: Instant | None
    retry_at: Instant | None = None
    """When a failed publication is repeated."""
    problems: tuple[str, ...]
    """One line each, in the form of data-model.md 5."""


class Status(Struct, frozen=True, kw_only=True):
    """``GET /v1/status``."""

    api: int = 1
    version: str
    base_url: str
    listen: tuple[str, ...]
    data_dir: str = ""
    pid: int
    started_at: Instant
    uptime_seconds: float
    snapshot: SnapshotStatus | None
    """None until something is served."""
    data: DataStatus
    config: ConfigChanges = ConfigChanges()
    hub: HubState | None = None
    unknown_parameters: dict[str, int] = {}
    """Number of ignored parameters of searches, by name."""


class BackupContents(Struct, frozen=True, kw_only=True):
    """The summary of a backup: the header field ``Reviewsd-Backup`` of ``POST /v1/backup``."""

    bytes: int
    schema: int = 0
    subscriptions: int
    signed: int
    """Number of subscriptions with a secret, which need the key."""
    requests: int
    """Number of requests that are not confirmed yet."""
    blocks: int
    sessions_ended: int
    """Number of MCP sessions that were ended before they expired."""
    keys: tuple[str, ...] = ()
    """The locations of its keys."""
