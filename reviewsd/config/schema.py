"""The keys of the configuration, with their defaults and bounds (contract.md 6).

The descriptions are for operators: ``docs/configuration.md``, reviewsd.yaml(5) and the JSON Schema have
them from here. Durations are seconds. ``config.load`` reads a Config from a file; ``extra["expected"]`` names a
rule in its faults.
"""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from reviewsd.config.hub_schema import HubConfig
from reviewsd.config.source_schema import END, ConfigSection, NonEmptyText, Percentage, ReviewSource

ExpiryTime = Annotated[
    datetime.datetime,
    Meta(tz=True, extra={"expected": 'a time such as "2027-06-30T00:00:00Z"'}),
]
Authority = Annotated[
    str,
    Meta(
        pattern=r"^([a-z0-9._-]+@)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?" + END,
        extra={"expected": "a domain or e-mail address in lower case"},
    ),
]
"""The authority of the ids in a feed (RFC 4151 2.1)."""

Accent = Annotated[
    str, Meta(pattern=r"^#[0-9a-fA-F]{6}" + END, extra={"expected": 'a color such as "#0b6e6e"'})
]
TargetName = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9-]{1,40}" + END, extra={"expected": "a name of a-z, 0-9 and -"}),
]


class Data(ConfigSection, frozen=True, kw_only=True):
    """The watch over the data, and its guards."""

    poll_interval: Annotated[
        float,
        Meta(
            ge=0.05,
            le=3600,
            description="Seconds between two looks at the files. Raise it on a network file system.",
        ),
    ] = 1.0
    max_shrink: Annotated[
        Percentage | None,
        Meta(
            description="New data that has lost more than this part of the reviews is refused, such "
            "as 50%; null: never."
        ),
    ] = None
    insights: Annotated[
        Literal["auto", "file"],
        Meta(
            description="auto makes insights from the reviews where there is no insights.json; file "
            "serves only those of the file."
        ),
    ] = "auto"


class Cache(ConfigSection, frozen=True, kw_only=True):
    """The header Cache-Control of reads."""

    max_age: Annotated[
        int,
        Meta(
            ge=0,
            le=31_536_000,
            description="Seconds for which caches may serve a response without asking again.",
        ),
    ] = 60


class Feeds(ConfigSection, frozen=True, kw_only=True):
    """The ids of feeds and entries: tag:AUTHORITY,YEAR:review:ID. Readers know an entry by its id."""

    authority: Annotated[
        Authority | None,
        Meta(
            description="A domain or e-mail address that was yours in that year; null: the host of "
            "base_url. Set it before a move to another domain, and never change it again."
        ),
    ] = None
    year: Annotated[
        int, Meta(ge=1985, le=9999, description="A year in which the authority was yours.")
    ] = 2025


class ReadLimitConfig(ConfigSection, frozen=True, kw_only=True):
    """The limit of reads of one client network."""

    per_second: Annotated[
        float,
        Meta(
            ge=0,
            le=1_000_000,
            description="Documents per second and client network, after the first 100; a search or "
            "an MCP message counts as 5. Beyond that the answer is 429. 0: no limit.",
        ),
    ] = 0.0


class ServerConfig(ConfigSection, frozen=True, kw_only=True):
    """The public listeners."""

    allowed_hosts: Annotated[
        tuple[str, ...],
        Meta(
            description="Host names that are served besides that of base_url, without ports; * "
            "allows all."
        ),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(
            description="Networks of proxies whose X-Forwarded-For is believed. A client in them can "
            "claim any address."
        ),
    ] = ("127.0.0.0/8", "::1/128")
    idle: Annotated[
        float,
        Meta(
            ge=0.1,
            le=3600,
            description="Seconds after which an idle connection is closed. Proxies must close theirs "
            "earlier.",
        ),
    ] = 60.0
    max_connections: Annotated[
        int,
        Meta(
            ge=16,
            le=1_000_000,
            description="Connections at the same time; fewer where the limit of open files is lower. "
            "The connection that was idle longest makes room for a new one.",
        ),
    ] = 4_096
    read_limit: ReadLimitConfig = ReadLimitConfig()
    readyz: Annotated[
        bool,
        Meta(description="Whether /readyz is public, for load balancers. /healthz always is."),
    ] = False


class Mcp(ConfigSection, frozen=True, kw_only=True):
    """The MCP endpoint."""

    allowed_origins: Annotated[
        tuple[str, ...],
        Meta(
            description="Origins of pages that may call it from a browser, besides base_url, such as "
            "https://app.example.com or app://obsidian.md; * allows all."
        ),
    ] = ()
    session_key_file: Annotated[
        NonEmptyText | None,
        Meta(
            description="A file with the keys of session ids, one a line, for nodes that accept each "
            "other's sessions: the first signs, all are accepted. null: mcp.key in state_dir."
        ),
    ] = None
    registry_auth: Annotated[
        str | None,
        Meta(
            description="The line that /.well-known/mcp-registry-auth serves for mcp-publisher; "
            "null: none."
        ),
    ] = None


class Pages(ConfigSection, frozen=True, kw_only=True):
    """The pages for people."""

    enabled: Annotated[
        bool, Meta(description="Whether there are pages; the API and the feeds always are.")
    ] = True
    accent: Annotated[
        Accent,
        Meta(description="The color of the pages. reviewsd --check warns if it is hard to read."),
    ] = "#0b6e6e"
    jsonld_reviews: Annotated[
        bool,
        Meta(description="Whether the structured data (schema.org) has ratings and reviews."),
    ] = True
    templates_dir: Annotated[
        NonEmptyText | None,
        Meta(
            description="A folder of templates that replace the shipped ones of the same name; it is "
            "watched like the data."
        ),
    ] = None


class Security(ConfigSection, frozen=True, kw_only=True):
    """The contents of /.well-known/security.txt (RFC 9116); without a contact there is none."""

    contact: Annotated[
        tuple[str, ...],
        Meta(
            description="Addresses for reports of vulnerabilities, such as "
            "mailto:security@example.com; the preferred one first."
        ),
    ] = ()
    expires: Annotated[
        ExpiryTime | None,
        Meta(
            description="When the file expires, such as 2027-06-30T00:00:00Z; needed with a contact."
        ),
    ] = None


class MetricsConfig(ConfigSection, frozen=True, kw_only=True):
    """Metrics for Prometheus. The admin socket always has them."""

    listen: Annotated[
        str | None,
        Meta(
            description="An endpoint that serves /metrics to everyone who reaches it, such as "
            "tcp:9090:interface=127.0.0.1; null: none."
        ),
    ] = None


class NotifyTarget(ConfigSection, frozen=True, kw_only=True):
    """A target of notices, and the events that are reported to it."""

    name: Annotated[TargetName, Meta(description="The name, as logs and commands show it.")]
    url_file: Annotated[
        NonEmptyText | None,
        Meta(description="The file with the address; without it, a systemd credential has it."),
    ] = None
    stars: Annotated[
        Annotated[int, Meta(ge=1, le=5)] | None,
        Meta(description="Reports new reviews of at most so many stars."),
    ] = None
    unanswered_days: Annotated[
        Annotated[int, Meta(ge=1, le=365)] | None,
        Meta(description="Reports new reviews that have no reply after so many days."),
    ] = None
    sources: Annotated[bool, Meta(description="Reports sources that are stopped.")] = False
    data: Annotated[bool, Meta(description="Reports data that is refused.")] = False


class Config(ConfigSection, frozen=True, kw_only=True):
    """The configuration. Paths are absolute, and ``base_url`` is in normal form."""

    base_url: Annotated[
        str,
        Meta(
            description="The public address: scheme and host as clients see them. All links begin "
            "with it."
        ),
    ]
    data_dir: Annotated[
        Path,
        Meta(description="The folder of reviews.json and insights.json. It is only read."),
    ]
    state_dir: Annotated[
        Path,
        Meta(
            description="The folder of the state and the keys. It belongs to the user of the service "
            "and needs about six times the size of the data."
        ),
    ] = Path("/var/lib/reviewsd")
    listen: Annotated[
        tuple[str, ...],
        Meta(
            description="Twisted endpoints to listen on. haproxy: before one expects the PROXY "
            "protocol; then only proxies may reach it."
        ),
    ] = ("tcp:8080:interface=127.0.0.1",)
    admin_socket: Annotated[
        Path,
        Meta(
            description="The UNIX socket of reviewsctl, at most 107 bytes, mode 0660: its group may "
            "operate the service. A socket named admin of systemd replaces it."
        ),
    ] = Path("/run/reviewsd/admin.sock")
    data: Data = Data()
    cache: Cache = Cache()
    feeds: Feeds = Feeds()
    server: ServerConfig = ServerConfig()
    hub: HubConfig = HubConfig()
    mcp: Mcp = Mcp()
    pages: Pages = Pages()
    crawlers: Annotated[
        Literal["all", "no-training", "no-ai", "none"],
        Meta(
            description="What robots.txt allows: all; no-training refuses agents that collect texts "
            "for training; no-ai refuses all agents of AI products; none refuses search engines too."
        ),
    ] = "all"
    security: Security = Security()
    metrics: MetricsConfig = MetricsConfig()
    notify: Annotated[
        tuple[NotifyTarget, ...],
        Meta(
            description="Targets of notices about new reviews and failures (docs/notices.md). They "
            "need reviewsd[notify]."
        ),
    ] = ()
    sources: Annotated[
        tuple[ReviewSource, ...],
        Meta(
            description="Platforms that reviewsctl sync downloads reviews from "
            "(docs/keeping-current.md). The daemon does not read them."
        ),
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
