"""Everything an operator can set: the only list of keys, defaults and bounds (contract.md 6).

``config/reviewsd.yaml`` explains each key to the operator; a test holds the two together. Durations
are seconds, sizes bytes. ``config.load`` makes a Config from a file; ``extra["expected"]`` is how
its findings name a rule.
"""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from reviewsd.config.source_schema import END, ConfigSection, NonEmptyText, Percentage, ReviewSource

SQLITE = "sqlite"
"""``hub.store``: a file in the state directory."""

Age = Annotated[int, Meta(ge=0, le=31_536_000)]
LeaseTime = Annotated[int, Meta(ge=1, le=2_592_000)]
RetryDelay = Annotated[float, Meta(ge=0, le=86_400)]
Timeout = Annotated[float, Meta(ge=0.1, le=60)]
"""Of a request to a callback; below the 90 s for which a delivery is claimed (D5)."""
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
"""Who mints the ids of a feed (RFC 4151 2.1)."""
Accent = Annotated[
    str, Meta(pattern=r"^#[0-9a-fA-F]{6}" + END, extra={"expected": 'a colour such as "#0b6e6e"'})
]

TargetName = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9-]{1,40}" + END, extra={"expected": "a name of a-z, 0-9 and -"}),
]


class Data(ConfigSection, frozen=True, kw_only=True):
    """How the data directory is watched and guarded (R1, R2, R3, R5)."""

    poll_interval: Annotated[float, Meta(ge=0.05, le=3600)] = 1.0
    settle: Annotated[float, Meta(ge=0.01, le=60)] = 0.25
    """Time between the three equal polls after which a change is complete."""
    max_bytes: Annotated[int, Meta(ge=1024, le=2**40)] = 2**30
    max_shrink: Percentage | None = None
    insights: Literal["auto", "file"] = "auto"
    """Whether insights are made where there is no insights.json (insights.md 1)."""


class Cache(ConfigSection, frozen=True, kw_only=True):
    """The Cache-Control header of all reads (S11)."""

    max_age: Age = 60
    stale_while_revalidate: Age = 300
    stale_if_error: Age = 86_400


class Feeds(ConfigSection, frozen=True, kw_only=True):
    """The ids of feeds and their entries (data-model.md, RFC 4151)."""

    authority: Authority | None = None
    year: Annotated[int, Meta(ge=1985, le=9999)] = 2025


class Lease(ConfigSection, frozen=True, kw_only=True):
    """How long a subscription lasts (contract.md 5)."""

    default: LeaseTime = 864_000
    min: LeaseTime = 300
    max: LeaseTime = 2_592_000


class Deliveries(ConfigSection, frozen=True, kw_only=True):
    """POSTs to subscribers."""

    retry_delays: tuple[RetryDelay, RetryDelay] = (60.0, 1800.0)
    """After the first and second failure; the third removes the subscription (seed 3)."""
    jitter: Annotated[float, Meta(ge=0, le=1)] = 0.2
    timeout: Timeout = 30.0
    concurrency: Annotated[int, Meta(ge=1, le=1024)] = 64
    per_host: Annotated[int, Meta(ge=1, le=1024)] = 16
    per_address: Annotated[int, Meta(ge=1, le=1024)] = 16
    """Of one address network, IPv4 /24 or IPv6 /48 (H8)."""


class Verification(ConfigSection, frozen=True, kw_only=True):
    """The GET that confirms a subscription."""

    timeout: Timeout = 15.0
    per_host: Annotated[int, Meta(ge=1, le=1024)] = 8
    per_address: Annotated[int, Meta(ge=1, le=1024)] = 16


class HubLimitsConfig(ConfigSection, frozen=True, kw_only=True):
    """What an open hub takes on (H1-H8)."""

    requests_per_minute: Annotated[int, Meta(ge=1, le=1_000_000)] = 120
    """Of one client network (H1)."""
    requests_per_minute_and_host: Annotated[int, Meta(ge=1, le=1_000_000)] = 120
    """With callbacks at one host (H2)."""
    active_per_host: Annotated[int, Meta(ge=1, le=10_000_000)] = 100
    active: Annotated[int, Meta(ge=1, le=10_000_000)] = 10_000
    pending: Annotated[int, Meta(ge=1, le=10_000_000)] = 2_000
    pending_per_client: Annotated[int, Meta(ge=1, le=10_000_000)] = 240
    pending_time: Annotated[int, Meta(ge=1, le=86_400)] = 600


class Callbacks(ConfigSection, frozen=True, kw_only=True):
    """Which callbacks are reached, and how much each may cost (E3, E7 to E10, E12)."""

    allow_networks: tuple[str, ...] = ()
    ca_file: NonEmptyText | None = None
    ports: tuple[str, ...] = ("443", "1024-65535")
    nat64_prefixes: tuple[str, ...] = ()
    dns_timeout: Timeout = 5.0
    connect_timeout: Timeout = 10.0
    byte_budget: Annotated[int, Meta(ge=16_384, le=2**24)] = 131_072
    """Received below TLS in one exchange."""
    max_lifetime: Annotated[float, Meta(ge=0.1, le=85)] = 45.0
    """Of a connection; below the 90 s for which a delivery is claimed (D5)."""


class HubConfig(ConfigSection, frozen=True, kw_only=True):
    """The WebSub hub."""

    store: str = SQLITE
    """Or ``postgresql://...``, which other nodes may share."""
    min_interval: Annotated[float, Meta(ge=0, le=3600)] = 5.0
    """Between two versions of a topic (H9)."""
    signature_method: Literal["sha1", "sha256", "sha384", "sha512"] = "sha256"
    lease: Lease = Lease()
    delivery: Deliveries = Deliveries()
    verification: Verification = Verification()
    limits: HubLimitsConfig = HubLimitsConfig()
    callbacks: Callbacks = Callbacks()

    @property
    def shared(self) -> bool:
        """Whether other nodes may use the store too."""
        return self.store != SQLITE


PatienceSeconds = Annotated[float, Meta(ge=0.1, le=3600)]
"""Of the service with a client."""


class MaxBody(ConfigSection, frozen=True, kw_only=True):
    """The greatest request body, counted while it arrives."""

    mcp: Annotated[int, Meta(ge=1024, le=2**24)] = 65_536


class ReadLimitConfig(ConfigSection, frozen=True, kw_only=True):
    """How often one client network may read (S14)."""

    per_second: Annotated[float, Meta(ge=0, le=1_000_000)] = 0.0
    """Documents that it gains; 0: there is no limit."""
    burst: Annotated[int, Meta(ge=5, le=1_000_000)] = 100
    """Documents that it may have at most."""


class ServerConfig(ConfigSection, frozen=True, kw_only=True):
    """The public listeners."""

    allowed_hosts: tuple[str, ...] = ()
    """By which names a listener on loopback may be asked too (mcp.md 7)."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    """Who may say by X-Forwarded-For where a request comes from (S6)."""
    max_body: MaxBody = MaxBody()
    header_deadline: PatienceSeconds = 10.0
    """From a request's first byte to the end of its header (S1)."""
    body_deadline: PatienceSeconds = 20.0
    """From there to the end of its body."""
    idle: PatienceSeconds = 60.0
    """Between two requests of a connection."""
    requests_per_connection: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1_000
    max_connections: Annotated[int, Meta(ge=16, le=1_000_000)] = 4_096
    per_client: Annotated[int, Meta(ge=1, le=1_000_000)] = 256
    """Connections of one client network (S4)."""
    min_drain_rate: Annotated[int, Meta(ge=0, le=2**30)] = 8_192
    """Bytes a second that a client must take of an answer, over 10 s (S5)."""
    read_limit: ReadLimitConfig = ReadLimitConfig()
    readyz: bool = False
    """Whether everybody may ask for ``/readyz`` (O10)."""


class Mcp(ConfigSection, frozen=True, kw_only=True):
    """The MCP endpoint (mcp.md)."""

    allowed_origins: tuple[str, ...] = ()
    session_key_file: NonEmptyText | None = None
    session_lifetime: Annotated[int, Meta(ge=1, le=31_536_000)] = 2_592_000
    answer_budget: Annotated[int, Meta(ge=4_000, le=10_000_000)] = 40_000
    """Bytes of a tool's text (mcp.md 5.4)."""
    max_resource: Annotated[int, Meta(ge=1024, le=2**30)] = 2**20
    max_held: Annotated[int, Meta(ge=2**20, le=2**40)] = 2**27
    """Bytes of answers that clients have not taken (S5)."""
    server_card: bool = True
    """Whether the server describes itself at an address of its own (mcp.md 8)."""
    registry_auth: str | None = None
    """What ``/.well-known/mcp-registry-auth`` says; None: there is none."""


class Pages(ConfigSection, frozen=True, kw_only=True):
    """The pages for people (pages.md)."""

    enabled: bool = True
    accent: Accent = "#0b6e6e"
    """The one colour of the pages."""
    jsonld_reviews: bool = True
    """Whether the structured data has ratings and reviews."""
    templates_dir: NonEmptyText | None = None
    """Where templates are that come before the shipped ones."""
    sitemap_reviews: Literal["all", "none"] | Annotated[int, Meta(ge=0, le=2**31)] = 50_000
    """How many of the newest reviews the sitemap has."""


class Security(ConfigSection, frozen=True, kw_only=True):
    """What ``/.well-known/security.txt`` says (RFC 9116); without a contact there is none."""

    contact: tuple[str, ...] = ()
    expires: ExpiryTime | None = None
    policy: str | None = None


class MetricsConfig(ConfigSection, frozen=True, kw_only=True):
    """Prometheus metrics outside the admin socket (O9)."""

    listen: str | None = None


class NotifyTarget(ConfigSection, frozen=True, kw_only=True):
    """An address outside, and the events that are reported to it (notices.md 1)."""

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
    """Everything an operator can set. Paths are absolute, ``base_url`` is in normal form."""

    base_url: str
    data_dir: Path
    state_dir: Path = Path("/var/lib/reviewsd")
    keys_dir: NonEmptyText | None = None
    listen: tuple[str, ...] = ("tcp:8080:interface=127.0.0.1",)
    admin_socket: Path = Path("/run/reviewsd/admin.sock")
    data: Data = Data()
    cache: Cache = Cache()
    feeds: Feeds = Feeds()
    server: ServerConfig = ServerConfig()
    hub: HubConfig = HubConfig()
    mcp: Mcp = Mcp()
    pages: Pages = Pages()
    crawlers: Literal["all", "no-training", "no-ai", "none"] = "all"
    """Whom ``/robots.txt`` lets in (pages.md 5)."""
    security: Security = Security()
    metrics: MetricsConfig = MetricsConfig()
    notify: tuple[NotifyTarget, ...] = ()
    """The targets of notices."""
    sources: tuple[ReviewSource, ...] = ()
    """The places that ``reviewsctl sync`` downloads reviews from; the daemon reads none of them."""

    @property
    def key_folder(self) -> Path:
        """The folder of ``secret.key`` and ``mcp.key``."""
        return self.state_dir if self.keys_dir is None else Path(self.keys_dir)

    @property
    def authority(self) -> str:
        """The authority in the ids of feeds: as set, or the host of ``base_url``."""
        return self.feeds.authority or urlsplit(self.base_url).hostname or ""


def keys(kind: type[Struct], prefix: str = "") -> Iterator[str]:
    """All keys, sections included, dotted and in order."""
    for entry in msgspec.structs.fields(kind):
        yield prefix + entry.name
        if isinstance(entry.type, type) and issubclass(entry.type, Struct):
            yield from keys(entry.type, f"{prefix}{entry.name}.")
