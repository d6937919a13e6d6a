"""How the public site is put together: a part of the composition root, and nothing but that."""

from twisted.internet.interfaces import IReactorTime

from reviewsd.config.load import convert as policies
from reviewsd.config.load.schema import Config
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.runtime.counters import Tally
from reviewsd.web.clients import ClientNetworks
from reviewsd.runtime.cooperative import CooperativeScheduler
from reviewsd.web.websub import HubRoute
from reviewsd.web.lane import fast_lane
from reviewsd.web.mcp import McpRoute
from reviewsd.web.memory import AnswerMemory
from reviewsd.http1.hosts import Hosts
from reviewsd.web.public import PublicSite
from reviewsd.monitoring.readiness import Readiness
from reviewsd.web.reads import Reads
from reviewsd.http1.responses import Replies
from reviewsd.server.server import HandOver, Limits, PublicServer
from reviewsd.web.workload import Workload

MIN_CONNECTIONS = 16
"""That each process may have."""


def build_replies(config: Config) -> Replies:
    """What all answers are made of."""
    cache = config.cache
    return Replies(
        config.base_url,
        f"public, max-age={cache.max_age}, "
        f"stale-while-revalidate={cache.stale_while_revalidate}, "
        f"stale-if-error={cache.stale_if_error}",
    )


def build_workload(clock: IReactorTime, config: Config, tally: Tally) -> Workload:
    """What computes answers in this process."""
    workload = Workload(
        CooperativeScheduler(clock),
        AnswerMemory(config.mcp.max_held // config.workers),
        ClientNetworks(policies.trusted(config)),
    )
    tally.include(workload.counts)
    return workload


def build_public(
    clock: IReactorTime,
    config: Config,
    snapshots: Snapshots,
    reads: Reads,
    hub: HubRoute | None,
    mcp: McpRoute,
    hand_over: HandOver | None = None,
    readiness: Readiness | None = None,
) -> PublicServer:
    """Build the factory of the public connections.

    Args:
        clock: What everything runs on.
        config: What the operator wants.
        snapshots: Where the data is.
        reads: Answers reads.
        hub: Answers at the hub's address.
        mcp: Answers MCP.
        hand_over: For requests that another process answers.
        readiness: Told to everybody, if ``server.readyz`` says so.
    """
    server, replies = config.server, reads.replies
    public = PublicServer(
        PublicSite(reads, replies, hub, mcp, readiness if server.readyz else None).resource(),
        replies,
        clock,
        Limits(
            header=server.header_deadline,
            body=server.body_deadline,
            idle=server.idle,
            requests=server.requests_per_connection,
            connections=max(MIN_CONNECTIONS, server.max_connections // config.workers),
            per_client=server.per_client,
            drain_rate=server.min_drain_rate,
            mcp_body=server.max_body.mcp,
        ),
        Hosts(config.base_url, policies.allowed_hosts(config)),
        fast_lane(reads, mcp) if server.fast_lane else None,
        policies.trusted(config),
        hand_over,
    )
    snapshots.observe(lambda _: public.changed())
    return public
