"""The keys of the configuration, with their defaults and bounds (contract.md 6).

``docs/reference/configuration.md`` explains each key to the operator. Durations are seconds. ``config.load`` reads a Config
from a file; ``extra["expected"]`` names a rule in its faults.
"""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from reviewsd.config.hub_schema import HubConfig
from reviewsd.config.source_schema import ConfigSection, NonEmptyText, Percentage, ReviewSource
from reviewsd.domain.data_errors import example, spelled

ExpiryTime = Annotated[
    datetime.datetime,
    Meta(tz=True, extra={"expected": 'a time such as "2027-06-30T00:00:00Z"'}),
]
Authority = Annotated[
    str,
    spelled(
        "([a-z0-9._-]+@)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "a domain or e-mail address in lower case"
    ),
]
"""The authority of the ids in a feed (RFC 4151 2.1)."""

Accent = Annotated[str, spelled("#[0-9a-fA-F]{6}", 'a color such as "#0b6e6e"')]
TargetName = Annotated[str, spelled("[a-z0-9-]{1,40}", "a name of a-z, 0-9 and -")]

Crawlers = Literal["all", "no-training", "no-ai", "none"]
"""Policies for crawlers."""

DEFAULT_ACCENT = "#0b6e6e"


class Data(ConfigSection, frozen=True, kw_only=True):
    """The watch over the data, and its guards."""

    poll_interval: Annotated[float, Meta(ge=0.05, le=3600)] = 1.0
    max_shrink: Annotated[Percentage | None, example("50%")] = None
    insights: Literal["auto", "file"] = "auto"


class Cache(ConfigSection, frozen=True, kw_only=True):
    """The header Cache-Control of reads."""

    max_age: Annotated[int, Meta(ge=0, le=31_536_000)] = 60


class Feeds(ConfigSection, frozen=True, kw_only=True):
    """The ids of feeds and entries: tag:AUTHORITY,YEAR:review:ID. Readers know an entry by its id."""

    authority: Authority | None = None
    year: Annotated[int, Meta(ge=1985, le=9999)] = 2025


class ReadLimitConfig(ConfigSection, frozen=True, kw_only=True):
    """The limit of reads of one client network."""

    per_second: Annotated[float, Meta(ge=0, le=1_000_000)] = 0.0


class ServerConfig(ConfigSection, frozen=True, kw_only=True):
    """The public listeners."""

    allowed_hosts: Annotated[tuple[str, ...], example("[www.example.com]")] = ()
    trusted_proxies: Annotated[tuple[str, ...], example("[127.0.0.0/8]")] = (
        "127.0.0.0/8",
        "::1/128",
    )
    idle: Annotated[float, Meta(ge=0.1, le=3600)] = 60.0
    max_connections: Annotated[int, Meta(ge=16, le=1_000_000)] = 4_096
    read_limit: ReadLimitConfig = ReadLimitConfig()
    readyz: bool = False


class Mcp(ConfigSection, frozen=True, kw_only=True):
    """The MCP endpoint."""

    allowed_origins: Annotated[tuple[str, ...], example("[https://app.example.com]")] = ()
    session_key_file: NonEmptyText | None = None
    registry_auth: str | None = None


class Pages(ConfigSection, frozen=True, kw_only=True):
    """The pages for people."""

    enabled: bool = True
    accent: Accent = DEFAULT_ACCENT
    jsonld_reviews: bool = True
    templates_dir: NonEmptyText | None = None


class Security(ConfigSection, frozen=True, kw_only=True):
    """The contents of /.well-known/security.txt (RFC 9116); without a contact there is none."""

    contact: Annotated[tuple[str, ...], example("[mailto:security@example.com]")] = ()
    expires: ExpiryTime | None = None


class MetricsConfig(ConfigSection, frozen=True, kw_only=True):
    """Metrics for Prometheus. The admin socket always has them."""

    listen: Annotated[str | None, example("tcp:9090:interface=127.0.0.1")] = None


class NotifyTarget(ConfigSection, frozen=True, kw_only=True):
    """A target of notices, and the events that are reported to it."""

    name: TargetName
    url_file: NonEmptyText | None = None
    stars: Annotated[int, Meta(ge=1, le=5)] | None = None
    unanswered_days: Annotated[int, Meta(ge=1, le=365)] | None = None
    sources: bool = False
    data: bool = False


class Config(ConfigSection, frozen=True, kw_only=True):
    """The configuration. Paths are absolute, and ``base_url`` is in normal form."""

    base_url: Annotated[str, example("https://reviews.example.com")]
    data_dir: Annotated[Path, example("/srv/reviews")]
    state_dir: Path = Path("/var/lib/reviewsd")
    listen: Annotated[tuple[str, ...], example("[tcp:8080:interface=127.0.0.1]")] = (
        "tcp:8080:interface=127.0.0.1",
    )
    admin_socket: Path = Path("/run/reviewsd/admin.sock")
    data: Data = Data()
    cache: Cache = Cache()
    feeds: Feeds = Feeds()
    server: ServerConfig = ServerConfig()
    hub: HubConfig = HubConfig()
    mcp: Mcp = Mcp()
    pages: Pages = Pages()
    crawlers: Crawlers = "all"
    security: Security = Security()
    metrics: MetricsConfig = MetricsConfig()
    notify: Annotated[
        tuple[NotifyTarget, ...], example("[{name: owner, url_file: owner.url, stars: 2}]")
    ] = ()
    sources: Annotated[
        tuple[ReviewSource, ...], example("[{name: shop, type: file, path: exports/*.csv}]")
    ] = ()

    @property
    def key_folder(self) -> Path:
        """The folder of ``secret.key`` and ``mcp.key``."""
        return self.state_dir

    @property
    def authority(self) -> str:
        """The authority of the ids in feeds: as configured, or the host of ``base_url``."""
        return self.feeds.authority or urlsplit(self.base_url).hostname or ""


def keys(kind: type[Struct], prefix: str = "") -> Iterator[str]:
    """Yield all keys, sections included, dotted and in order."""
    for field in msgspec.structs.fields(kind):
        yield prefix + field.name
        if isinstance(field.type, type) and issubclass(field.type, Struct):
            yield from keys(field.type, f"{prefix}{field.name}.")
