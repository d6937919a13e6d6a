"""The state of the daemon and of the sources, the summary of a backup, and tests of notices (interfaces.md 1.5)."""

from datetime import date, datetime
from typing import Final, Literal

from msgspec import Struct

from reviewsd.api.hub import HubState
from reviewsd.api.jobs import ConfigChanges, InsightsOrigin, Instant, LastReload

START_FAILURE = "start-failure.json"  # in ``state_dir``; there is none after a good start


SOURCES_FILE: Final = "sources.json"  # in ``places.KEPT_FOLDER``; ``reviewsctl sync`` writes it
SOURCES_VERSION: Final = 1  # of the file's format


class SourceCondition(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The condition of one source; the file has more of it."""

    state: str = "new"
    """``new``, ``ok``, ``warn`` (read, but rows were refused), ``failed`` or ``stopped``."""
    detail: str = ""
    """Why it failed or is stopped, or which rows were refused."""
    remedy: str = ""
    read_at: datetime | None = None  # the last complete read
    confirmed_at: datetime | None = None
    """The last run that read it, or found it unchanged."""
    failing_since: datetime | None = None
    """The first failure after that in a run of a timer; a person sees the failures of others."""
    failures: int = 0
    """Runs in a row that did not succeed."""
    reviews: int = 0
    """Reviews of the last complete read."""


class StartFailure(Struct, frozen=True, kw_only=True):
    """Why the last start failed."""

    at: Instant
    code: int
    reason: str


class SnapshotStatus(Struct, frozen=True, kw_only=True):
    """The data that is served."""

    revision: str
    published_at: Instant
    review_count: int
    newest_review: date | None = None
    updated_at: Instant | None  # the date in the data
    insights: bool
    insights_origin: InsightsOrigin | None = None


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
    problems: tuple[str, ...]
    """One line each, in the form of data-model.md 5."""


class Status(Struct, frozen=True, kw_only=True):
    """``GET /v1/status``."""

    api: int = 1
    version: str
    installed_at: Instant | None = None
    """When the program was installed that runs; None of an older daemon."""
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


class BackupContents(Struct, frozen=True, kw_only=True):
    """The summary of a backup: the header field ``Reviewsd-Backup`` of ``POST /v1/backup``."""

    bytes: int
    schema: int = 0
    subscriptions: int
    signed: int
    """Number of subscriptions with a secret, which need the key."""
    requests: int
    blocks: int
    sessions_ended: int
    keys: tuple[str, ...] = ()  # their locations


class NoticeTest(Struct, frozen=True, kw_only=True):
    """A test message to one target of ``notify``."""

    target: str
    problem: str  # why it failed; empty where it was sent


class NoticeTests(Struct, frozen=True, kw_only=True):
    """``POST /v1/notify/test``: a test message to each target."""

    tests: tuple[NoticeTest, ...]
