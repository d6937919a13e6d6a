"""Builds the public site, including the MCP route."""

import os
import time
from pathlib import Path

from twisted.logger import Logger

from reviewsd.app.context import DaemonContext, fitting_connections, raise_file_limit
from reviewsd.config import convert
from reviewsd.domain.addresses import neighborhood
from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.responses import Responses
from reviewsd.mcp.change_streams import MAX_STREAMS, ChangeStreams
from reviewsd.mcp.introduction import Introduction
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.server import McpServer
from reviewsd.mcp.sessions import Sessions
from reviewsd.monitoring.health import Readiness
from reviewsd.runtime.turns import CooperativeScheduler
from reviewsd.server.connections import ConnectionLimits, Connections
from reviewsd.server.listener import ConnectionFactory
from reviewsd.server.site import PublicSite
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.store.keys import SESSION_KEYS
from reviewsd.store.transactions import Store, StoreError
from reviewsd.web.budgets import Budgets, ClientNetworks, MemoryBudget, TimeBudget
from reviewsd.web.embed import EmbedReads
from reviewsd.web.feeds import FeedReads
from reviewsd.web.index import RouteIndex
from reviewsd.web.mcp import AccessRules, McpRoute
from reviewsd.web.pages import PageReads
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from reviewsd.web.websub import HubRoute
from reviewsd.websub.hub import Hub
from reviewsd.websub.rate_limits import TokenBuckets

STALE_DIRECTIVES = "stale-while-revalidate=300, stale-if-error=86400"
"""For how many seconds caches may serve a stale response, while they fetch a new one or the service fails (S11)."""

SESSION_ENDS_PER_DAY = 1_000
"""MCP sessions that one client may end in a day, because each is stored for 30 days and must not fill the store."""

_log = Logger()


async def build_public(
    context: DaemonContext, snapshots: Snapshots, store: Store, hub: Hub, readiness: Readiness
) -> ConnectionFactory:
    """Build the factory for public connections.

    Raises:
        KeyFileError: The file with MCP's session keys cannot be used.
    """
    config, counters, reactor = context.config, context.counters, context.reactor
    trusted = convert.trusted(config)
    responses = Responses(
        config.base_url, f"public, max-age={config.cache.max_age}, {STALE_DIRECTIVES}"
    )
    networks = ClientNetworks(trusted)
    scheduler = CooperativeScheduler(reactor, group=neighborhood)
    read_limit = config.server.read_limit.per_second
    time_budget = TimeBudget(scheduler, networks, reactor.seconds, read_limit)
    budgets = Budgets(time_budget, MemoryBudget(networks))
    reads = Reads(snapshots, responses, budgets)
    pages = PageReads(reads)
    hosts = Hosts(config.base_url, convert.allowed_hosts(config))
    max_connections = fitting_connections(config.server.max_connections, raise_file_limit())
    max_streams = min(MAX_STREAMS, max_connections // 2)  # the other half is for other requests
    answerers = (
        reads,
        FeedReads(reads),
        pages,
        EmbedReads(pages),
        HubRoute(hub.requests, responses, context.tasks, networks),
        await _build_mcp(context, snapshots, store, hub, responses, budgets, hosts, max_streams),
        Probes(responses, readiness if config.server.readyz else None),
    )
    routes = RouteIndex(answerers, responses, time_budget if time_budget.is_limited else None)
    limits = ConnectionLimits(idle=config.server.idle, connections=max_connections)
    connections = Connections(reactor, limits, trusted)
    site = PublicSite(routes, responses, hosts)
    counters.include(time_budget.counts, budgets.memory.counts, connections.counts, site.counts)
    return ConnectionFactory(site, connections)


async def _build_mcp(
    context: DaemonContext,
    snapshots: Snapshots,
    store: Store,
    hub: Hub,
    responses: Responses,
    budgets: Budgets,
    hosts: Hosts,
    max_streams: int,
) -> McpRoute:
    """Build the MCP route, and load the sessions that clients have ended."""
    config, counters = context.config, context.counters
    ended = EndedSessions(store, context.reactor, store.now, counters)
    hub.add_follower(ended.load)
    try:
        await ended.load()
    except StoreError as error:
        _log.error(
            "ended MCP sessions are accepted until the store works: {error}", error=str(error)
        )
    ended.start()
    context.stack.push_async_callback(ended.stop)
    configured = config.mcp.session_key_file
    key_file = None if configured is None else Path(configured)
    keys = SESSION_KEYS.load(config.key_folder, context.environ, key_file)
    introduction = Introduction(context.version)
    streams = ChangeStreams(introduction, budgets.time.networks.of, max_streams)
    snapshots.observe(streams.published)
    methods = Methods(introduction, counters)
    server = McpServer(Sessions(keys, ended.__contains__), methods, streams, os.urandom)
    ends = TokenBuckets(SESSION_ENDS_PER_DAY, 86_400.0)
    rules = AccessRules(
        origins=Origins(config.base_url, convert.allowed_origins(config)),
        hosts=hosts,
        may_end=lambda network: ends.take(network, time.monotonic()),
    )
    route = McpRoute(server, snapshots, ended, rules, responses, budgets, context.tasks, time.time)
    counters.include(streams.counts, lambda: {"mcp_delete_refused_total": route.refused_ends})
    return route
