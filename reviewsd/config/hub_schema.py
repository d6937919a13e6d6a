"""The section ``hub`` of the configuration."""

from typing import Annotated, Literal

from msgspec import Meta

from reviewsd.config.source_schema import ConfigSection, NonEmptyText
from reviewsd.domain.data_errors import example
from reviewsd.domain.subscription import MAX_LEASE, MIN_LEASE

SQLITE = "sqlite"
"""``hub.store``: a file in the state directory."""

RetryDelay = Annotated[float, Meta(ge=0, le=86_400)]


class Lease(ConfigSection, frozen=True, kw_only=True):
    """The duration of subscriptions."""

    default: Annotated[int, Meta(ge=MIN_LEASE, le=MAX_LEASE)] = 864_000


class Deliveries(ConfigSection, frozen=True, kw_only=True):
    """The requests that deliver content to subscribers."""

    retry_delays: Annotated[tuple[RetryDelay, RetryDelay], example("[60, 1800]")] = (60.0, 1800.0)


class HubLimitsConfig(ConfigSection, frozen=True, kw_only=True):
    """Limits for subscribers."""

    requests_per_minute: Annotated[int, Meta(ge=1, le=1_000_000)] = 120
    active_per_host: Annotated[int, Meta(ge=1, le=10_000_000)] = 100


class Callbacks(ConfigSection, frozen=True, kw_only=True):
    """The addresses that the hub may call."""

    allow_networks: Annotated[tuple[str, ...], example("[10.0.0.0/8]")] = ()
    ca_file: NonEmptyText | None = None
    nat64_prefixes: Annotated[tuple[str, ...], example('["64:ff9b::/96"]')] = ()


class HubConfig(ConfigSection, frozen=True, kw_only=True):
    """The WebSub hub, which delivers changes to subscribers."""

    store: str = SQLITE
    min_interval: Annotated[float, Meta(ge=0, le=3600)] = 5.0
    signature_method: Literal["sha1", "sha256", "sha384", "sha512"] = "sha256"
    lease: Lease = Lease()
    delivery: Deliveries = Deliveries()
    limits: HubLimitsConfig = HubLimitsConfig()
    callbacks: Callbacks = Callbacks()

    @property
    def shared(self) -> bool:
        """Whether several nodes may use the store."""
        return self.store != SQLITE
