"""How the public site is put together: a part of the composition root, and nothing but that."""

from twisted.internet.interfaces import IProtocolFactory, IReactorTime

from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import neighbourhood
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.responses import Responses
from reviewsd.monitoring.readiness import Readiness
from reviewsd.runtime.cooperative import CooperativeScheduler
from reviewsd.runtime.counters import Counters
from reviewsd.server.connections import ConnectionLimits, Connections
from reviewsd.server.listener import ConnectionFactory
from reviewsd.server.site import PublicSite
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.budgets import Budgets, MemoryBudget, TimeBudget
from reviewsd.web.clients import ClientNetworks
from reviewsd.web.feeds import FeedReads
from reviewsd.web.index import RouteIndex
from reviewsd.web.mcp import McpRoute
from reviewsd.web.pages import PageReads
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from reviewsd.web.websub import HubRoute

PROXIED = "haproxy:"
"""How an endpoint begins whose connections come from a proxy that says who the client is (S6)."""


def factory_for(endpoint: str, public: ConnectionFactory) -> IProtocolFactory:
    """What takes the connections of a public endpoint."""
    return public.proxied() if endpoint.startswith(PROXIED) else public


def build_replies(config: Config) -> Responses:
    """What all answers are made of."""
    cache = config.cache
    return Responses(
        config.base_url,
        f"public, max-age={cache.max_age}, "
        f"stale-while-revalidate={cache.stale_while_revalidate}, "
        f"stale-if-error={cache.stale_if_error}",
    )


def build_budgets(clock: IReactorTime, config: Config, counters: Counters) -> Budgets:
    """Build what shares time and memory among clients."""
    networks, limit = ClientNetworks(convert.trusted(config)), config.server.read_limit
    scheduler = CooperativeScheduler(clock, group=neighbourhood)
    time = TimeBudget(scheduler, networks, clock.seconds, limit.per_second, limit.burst)
    memory = MemoryBudget(networks, config.mcp.max_held)
    counters.include(time.counts)
    counters.include(memory.counts)
    return Budgets(time, memory)


def build_reads(
    snapshots: Snapshots,
    replies: Responses,
    budgets: Budgets,
    counters: Counters,
) -> Reads:
    """What answers reads."""
    reads = Reads(snapshots, replies, budgets)
    counters.include(reads.unknown.counts)
    return reads


def build_public(
    clock: IReactorTime,
    config: Config,
    snapshots: Snapshots,
    reads: Reads,
    hub: HubRoute,
    mcp: McpRoute,
    readiness: Readiness | None = None,
) -> ConnectionFactory:
    """Build the factory of the public connections.

    Args:
        clock: What everything runs on.
        config: What the operator wants.
        snapshots: Where the data is.
        reads: Answers reads.
        hub: Answers at the hub's address.
        mcp: Answers MCP.
        readiness: Told to everybody, if ``server.readyz`` says so.
    """
    server, replies = config.server, reads.responses
    probes = Probes(replies, readiness if server.readyz else None)
    answerers = (reads, FeedReads(reads), PageReads(reads), hub, mcp, probes)
    routes = RouteIndex(answerers, replies, reads.time if reads.time.is_limited else None)
    connections = Connections(
        clock,
        ConnectionLimits(
            header=server.header_deadline,
            body=server.body_deadline,
            idle=server.idle,
            requests=server.requests_per_connection,
            connections=server.max_connections,
            per_client=server.per_client,
            drain_rate=server.min_drain_rate,
        ),
        convert.trusted(config),
    )
    snapshots.observe(lambda _: connections.snapshot_changed())
    hosts = Hosts(config.base_url, convert.allowed_hosts(config))
    return ConnectionFactory(PublicSite(routes, replies, hosts, server.max_body.mcp), connections)
