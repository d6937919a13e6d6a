"""How the daemon is: ``GET /v1/status``, ``/v1/ping``, and what a backup holds (interfaces.md 1.5)."""

from typing import Literal

from msgspec import Struct

from reviewsd.api.hub import HubState
from reviewsd.api.jobs import ConfigChanges, InsightsOrigin, LastReload
from reviewsd.api.times import Instant


class Pong(Struct, frozen=True, kw_only=True):
    """``GET /v1/ping``."""

    pong: bool
    version: str


START_FAILURE = "start-failure.json"
"""The file in ``state_dir`` that holds a ``StartFailure``; there is none after a good start."""


class StartFailure(Struct, frozen=True, kw_only=True):
    """Why the last start failed."""

    at: Instant
    code: int
    """The exit code."""
    reason: str


class SnapshotStatus(Struct, frozen=True, kw_only=True):
    """What is served."""

    revision: str
    published_at: Instant
    review_count: int
    updated_at: Instant | None
    """The date that the data gives itself."""
    insights: bool
    insights_origin: InsightsOrigin | None = None
    """None where there are none and none were to be made."""


DataState = Literal["ok", "degraded", "starting", "failing", "waiting"]
"""``degraded``: the last good data is served, because newer data cannot be. Nothing is served yet in the
other three: ``starting`` during the first publication, ``failing`` when that failed and is tried again,
``waiting`` with ``--wait-for-data`` and without valid data."""


class DataStatus(Struct, frozen=True, kw_only=True):
    """The data directory, and how its loading goes."""

    dir: str
    state: DataState
    last_reload: LastReload | None
    failing_since: Instant | None
    retry_at: Instant | None = None
    """When a publication that failed is tried again."""
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
    """None while nothing is served yet."""
    data: DataStatus
    config: ConfigChanges = ConfigChanges()
    hub: HubState | None = None
    unknown_parameters: dict[str, int] = {}
    """Of searches, by name: they were ignored."""


class BackupContents(Struct, frozen=True, kw_only=True):
    """What is in a backup: the header field ``Reviewsd-Backup`` of ``POST /v1/backup``."""

    bytes: int
    schema: int = 0
    subscriptions: int
    signed: int
    """Of the subscriptions: without the key their deliveries cannot be signed."""
    requests: int
    """For a subscription or its end, not confirmed yet."""
    blocks: int
    sessions_ended: int
    """MCP sessions that were ended before their time."""
    keys: tuple[str, ...] = ()
    """Where the keys are that belong to it."""
