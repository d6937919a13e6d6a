"""The section ``hub`` of the configuration."""

from typing import Annotated, Literal

from msgspec import Meta

from reviewsd.config.source_schema import ConfigSection, NonEmptyText
from reviewsd.domain.subscription import MAX_LEASE, MIN_LEASE

SQLITE = "sqlite"
"""``hub.store``: a file in the state directory."""

RetryDelay = Annotated[float, Meta(ge=0, le=86_400)]


class Lease(ConfigSection, frozen=True, kw_only=True):
    """The duration of subscriptions."""

    default: Annotated[
        int,
        Meta(
            ge=MIN_LEASE,
            le=MAX_LEASE,
            description="Seconds that a subscription lasts if its subscriber names no time. A "
            "subscriber may name 5 minutes to 30 days.",
        ),
    ] = 864_000


class Deliveries(ConfigSection, frozen=True, kw_only=True):
    """The requests that deliver content to subscribers."""

    retry_delays: Annotated[
        tuple[RetryDelay, RetryDelay],
        Meta(
            description="Seconds before the second and the third attempt, each varied by a fifth. "
            "The third failure in a row ends the subscription."
        ),
    ] = (60.0, 1800.0)


class HubLimitsConfig(ConfigSection, frozen=True, kw_only=True):
    """Limits for subscribers."""

    requests_per_minute: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Requests per minute that are accepted from one client network (an IPv4 "
            "address or an IPv6 /64), and for callbacks at one host.",
        ),
    ] = 120
    active_per_host: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000_000,
            description="Subscriptions with callbacks at one host. Raise it for a service that "
            "subscribes for many users.",
        ),
    ] = 100


class Callbacks(ConfigSection, frozen=True, kw_only=True):
    """The addresses that the hub may call."""

    allow_networks: Annotated[
        tuple[str, ...],
        Meta(
            description="Networks that callbacks may be in besides public addresses, such as "
            "10.0.0.0/8. Clients of the hub can have it call any https server there."
        ),
    ] = ()
    ca_file: Annotated[
        NonEmptyText | None,
        Meta(
            description="A PEM file with certificate authorities that are trusted besides those of "
            "this machine."
        ),
    ] = None
    nat64_prefixes: Annotated[
        tuple[str, ...],
        Meta(
            description="Prefixes of the NAT64 translator where names resolve by DNS64, such as "
            "64:ff9b::/96. Their addresses are judged by the IPv4 address inside."
        ),
    ] = ()


class HubConfig(ConfigSection, frozen=True, kw_only=True):
    """The WebSub hub, which delivers changes to subscribers."""

    store: Annotated[
        str,
        Meta(
            description="Where subscriptions are kept: sqlite, a file in state_dir, or "
            "postgresql://user@host/database, which several nodes share and which needs "
            "reviewsd[postgres]. Keep the password in libpq's password file or in $PGPASSWORD."
        ),
    ] = SQLITE
    min_interval: Annotated[
        float,
        Meta(
            ge=0,
            le=3600,
            description="Seconds between two versions of a topic. Changes in between are delivered "
            "together.",
        ),
    ] = 5.0
    signature_method: Annotated[
        Literal["sha1", "sha256", "sha384", "sha512"],
        Meta(
            description="The hash of X-Hub-Signature. sha1 is weak; it is for subscribers that "
            "support nothing else."
        ),
    ] = "sha256"
    lease: Lease = Lease()
    delivery: Deliveries = Deliveries()
    limits: HubLimitsConfig = HubLimitsConfig()
    callbacks: Callbacks = Callbacks()

    @property
    def shared(self) -> bool:
        """Whether several nodes may use the store."""
        return self.store != SQLITE
