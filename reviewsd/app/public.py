"""Builds the public site."""

from twisted.internet.interfaces import IProtocolFactory

from reviewsd.app.context import DaemonContext
from reviewsd.app.descriptors import fitted, raise_limit
from reviewsd.app.mcp import build_mcp
from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import neighbourhood
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.responses import Responses
from reviewsd.monitoring.readiness import Readiness
from reviewsd.runtime.turns import CooperativeScheduler
from reviewsd.server.connections import ConnectionLimits, Connections
from reviewsd.server.listener import ConnectionFactory
from reviewsd.server.site import PublicSite
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.web.budgets import Budgets, MemoryBudget, TimeBudget
from reviewsd.web.clients import ClientNetworks
from reviewsd.web.feeds import FeedReads
from reviewsd.web.index import RouteIndex
from reviewsd.web.pages import PageReads
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from reviewsd.web.websub import HubRoute
from reviewsd.websub.hub import Hub

STALE = "stale-while-revalidate=300, stale-if-error=86400"
"""Seconds for which caches may serve an old response, while they fetch one or the service fails (S11)."""

PROXIED = "haproxy:"
"""Prefix of an endpoint that accepts connections from a proxy with the PROXY protocol (S6)."""


def factory_for(endpoint: str, public: ConnectionFactory) -> IProtocolFactory:
    """Return the factory for the connections of a public endpoint."""
    if endpoint.startswith(PROXIED):
        return ConnectionFactory(public.site, public.connections, proxied=True)
    return public


def build_public(
    context: DaemonContext,
    snapshots: Snapshots,
    hub: Hub,
    ended: EndedSessions,
    readiness: Readiness,
) -> ConnectionFactory:
    """Build the factory of the public connections.

    Args:
        context: The daemon.
        snapshots: The data that is served.
        hub: Accepts the requests of subscribers.
        ended: The MCP sessions that were ended.
        readiness: Answers ``/readyz``, if ``server.readyz`` is set.

    Raises:
        StartError: The key file of MCP cannot be used.
    """
    config, counters = context.config, context.counters
    responses, budgets = _responses(config), _budgets(context)
    reads = Reads(snapshots, responses, budgets)
    answerers = (
        reads,
        FeedReads(reads),
        PageReads(reads),
        HubRoute(hub.requests, responses, context.requests, budgets.time.networks),
        build_mcp(context, snapshots, ended, responses, budgets),
        Probes(responses, readiness if config.server.readyz else None),
    )
    routes = RouteIndex(answerers, responses, budgets.time if budgets.time.is_limited else None)
    server = fitted(config, raise_limit()).server
    limits = ConnectionLimits(idle=server.idle, connections=server.max_connections)
    connections = Connections(context.reactor, limits, convert.trusted(config))
    snapshots.observe(lambda _: connections.snapshot_changed())
    hosts = Hosts(config.base_url, convert.allowed_hosts(config))
    site = PublicSite(routes, responses, hosts)
    counters.include(reads.unknown.counts)
    counters.include(connections.counts)
    counters.include(site.counts)
    return ConnectionFactory(site, connections)


def _responses(config: Config) -> Responses:
    return Responses(config.base_url, f"public, max-age={config.cache.max_age}, {STALE}")


def _budgets(context: DaemonContext) -> Budgets:
    """Return the budgets of time and memory that clients share."""
    config, clock = context.config, context.reactor
    networks, limit = ClientNetworks(convert.trusted(config)), config.server.read_limit
    scheduler = CooperativeScheduler(clock, group=neighbourhood)
    time = TimeBudget(scheduler, networks, clock.seconds, limit.per_second)
    memory = MemoryBudget(networks)
    context.counters.include(time.counts)
    context.counters.include(memory.counts)
    return Budgets(time, memory)
