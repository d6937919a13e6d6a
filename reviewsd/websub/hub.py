"""The WebSub hub: its parts, and the loop that follows the data.

    a new snapshot wakes the hub -> it compares each topic's digest with the stored one (H10)
    a new version wakes the deliveries -> they compare each subscription's version with the topic's

A lost signal does no harm: everything is compared once at the start, so a change that was made while the
daemon was down is delivered too (D2). A failing store delays the hub and affects nothing else (D9).
"""

import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from secrets import token_urlsafe

from twisted.internet.defer import Deferred
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from twisted.web.iweb import IAgent

from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import Addresses
from reviewsd.domain.subscription import CAPS, Caps
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.store import deliveries, rows
from reviewsd.store.deliveries import Topic
from reviewsd.store.keys import Secrets
from reviewsd.store.transactions import Store, StoreError
from reviewsd.store.upkeep import Expiry
from reviewsd.websub.context import Context
from reviewsd.websub.delivery import Deliverer, contents_of, digests_of
from reviewsd.websub.operator import Operator
from reviewsd.websub.outbound.agent import CallbackAgent
from reviewsd.websub.outbound.client import CallbackClient
from reviewsd.websub.rate_limits import Backoffs
from reviewsd.websub.requests import HubRequests
from reviewsd.websub.scheduler import (
    MAX_PAUSE,
    SHARED_MAX_PAUSE,
    STORE_RETRY_SECONDS,
    Scheduler,
)
from reviewsd.websub.slots import DELIVERIES, VERIFICATIONS, SlotLimits, Slots
from reviewsd.websub.verification import MAX_DENIALS, Denials, Verifier

SWEEP_SECONDS = 60.0
"""Interval at which waits are bounded, and expired leases and requests ended (W13)."""

FOLLOW_SECONDS = 1.0
"""Interval at which a node checks for changes of other nodes."""

DRAIN_SECONDS = 20.0
"""Time for deliveries to finish when the daemon stops (O4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubLimits:
    """Limits that are not configured; tests lower them."""

    caps: Caps = CAPS
    deliveries: SlotLimits = DELIVERIES
    verifications: SlotLimits = VERIFICATIONS


DEFAULT_LIMITS = HubLimits()

Follower = Callable[[], Awaitable[object]]
"""Loads changes of other nodes; raises StoreError if they cannot be read."""


class Hub:
    """The hub of a daemon.

    Attributes:
        requests: Accepts requests of subscribers.
        operator: Serves ``reviewsctl``.
        announced: Called when the topics of the first snapshot have their versions.

    Args:
        config: The configuration.
        context: Clocks, random numbers, threads, counters.
        store: Holds subscriptions and intents. If nodes share it (``hub.shared``), their claims stand until
            they lapse, only newer data counts (D8), and a pause or block of one applies to all.
        secrets: Seals ``hub.secret``.
        addresses: Decides which addresses may be dialed.
        agent: Sends requests to callbacks.
        own_listeners: (address, port) of listeners of this service, which the agent never calls.
        limits: Limits that are not configured.
    """

    _log = Logger()

    def __init__(
        self,
        config: Config,
        context: Context,
        store: Store,
        secrets: Secrets,
        addresses: Addresses,
        agent: IAgent,
        own_listeners: set[tuple[str, int]],
        limits: HubLimits = DEFAULT_LIMITS,
    ) -> None:
        hub, clock = config.hub, context.clock
        self._base_url = config.base_url
        self._min_interval = hub.min_interval
        self._context = context
        self._store = store
        self._shared = hub.shared
        self._own_listeners = own_listeners
        self._own_ports = {convert.public_port(config)}
        self.announced: Deferred[None] = Deferred()

        client, backoffs = CallbackClient(agent, clock), Backoffs()
        verifications = limits.verifications
        verification_slots = Slots(clock, *verifications, backoffs, holds_network=True)
        denial_limits = verifications._replace(total=MAX_DENIALS)
        denial_slots = Slots(clock, *denial_limits, backoffs, holds_network=True)
        delivery_slots = Slots(clock, *limits.deliveries, backoffs)
        self._denials = Denials(client=client, slots=denial_slots, base_url=config.base_url)
        self._deliverer = Deliverer(
            store=store,
            client=client,
            slots=delivery_slots,
            context=context,
            secrets=secrets,
            signature_method=hub.signature_method,
            retry_delays=hub.delivery.retry_delays,
            denials=self._denials,
        )
        max_pause = SHARED_MAX_PAUSE if hub.shared else MAX_PAUSE
        offset = context.random if hub.shared else lambda: 0.0
        self._delivery_scheduler = Scheduler(
            "deliveries", clock, self._deliverer, delivery_slots, max_pause, offset
        )
        verifier = Verifier(
            store=store,
            client=client,
            slots=verification_slots,
            context=context,
            addresses=addresses,
            backoffs=backoffs,
            on_confirmed=self._delivery_scheduler.wake,
        )
        self._verification_scheduler = Scheduler(
            "verifications", clock, verifier, verification_slots, max_pause, offset
        )
        self.requests = HubRequests(
            config=config,
            store=store,
            secrets=secrets,
            context=context,
            backoffs=backoffs,
            own_ports=self._own_ports,
            caps=limits.caps,
            on_accepted=self._verification_scheduler.wake,
        )
        self.operator = Operator(
            context=context,
            store=store,
            requests=self.requests,
            verification_scheduler=self._verification_scheduler,
            delivery_scheduler=self._delivery_scheduler,
            denials=self._denials,
            addresses=addresses,
            opened_networks=hub.callbacks.allow_networks,
        )

        self._followers: list[Follower] = [self.operator.load]
        self._behind = False  # whether changes of other nodes are not loaded yet
        self._newest: Snapshot | None = None
        self._signal: Deferred[None] | None = None
        self._expiry = Expiry(store, context.clock, context.now)
        self._tasks = TaskSet()

    @classmethod
    def from_config(
        cls,
        config: Config,
        reactor: PosixReactorBase,
        store: Store,
        secrets: Secrets,
        counters: Counters,
        now: Callable[[], int],
        stack: AsyncExitStack,
    ) -> "Hub":
        """Build the hub of a daemon; the stack closes its sockets and threads.

        Raises:
            StartError: ``hub.callbacks.ca_file`` cannot be used.
        """
        context = Context(
            clock=reactor,
            now=now,
            token=partial(token_urlsafe, 32),
            random=random.random,
            in_thread=deferToThread,
            counters=counters,
        )
        addresses, own_listeners = convert.addresses(config), set[tuple[str, int]]()
        agent = CallbackAgent.from_config(config, reactor, addresses, own_listeners, stack)
        return cls(config, context, store, secrets, addresses, agent, own_listeners)

    def topics_changed(self, snapshot: Snapshot) -> None:
        """Compare the topics with a new snapshot."""
        self._newest = snapshot
        if self._signal is not None and not self._signal.called:
            self._signal.callback(None)

    def add_follower(self, follower: Follower) -> None:
        """Add a follower, which is called when other nodes have changed the store."""
        self._followers.append(follower)

    def add_own_listener(self, address: str, port: int) -> None:
        """Add a listener of this service, which is never called as a callback (E1, E5)."""
        self._own_listeners.add((address, port))
        self._own_ports.add(port)

    def start(self) -> None:
        """Start, first with the rows that are due already."""
        self._tasks.start("hub", self._run())

    async def stop(self) -> None:
        """Stop, after deliveries under way had their time to finish."""
        await self._tasks.stop()
        await self._verification_scheduler.stop(0)
        await self._delivery_scheduler.stop(DRAIN_SECONDS)
        await self._denials.stop()

    async def _run(self) -> None:
        if not self._shared:
            await self._retry(self._release_claims)
        await self._retry(self.operator.load)
        self._verification_scheduler.start()
        self._delivery_scheduler.start()
        self._tasks.every("the sweep of the hub", self._context.clock, SWEEP_SECONDS, self._sweep)
        if self._shared:
            clock, name = self._context.clock, "following other nodes"
            self._tasks.every(name, clock, FOLLOW_SECONDS, self._follow_nodes)
        while True:
            while self._newest is None:
                self._signal = Deferred()
                await self._signal
            await self._retry(self._announce)

    async def _release_claims(self) -> None:
        """Release claims of a process that died, so that their attempts are repeated (D7)."""
        released = await self._store.run(partial(rows.take_over, now=self._context.now()))
        if released:
            self._log.warn(
                "the service died while attempts were under way; they are repeated after a second: {count}",
                count=len(released),
            )
        for host, deaths in released:
            if deaths > 1:
                self._log.warn(
                    "an attempt at {callback_host} was under way when the service died, {deaths} times"
                    " in a row; after {limit} it is not repeated",
                    callback_host=host,
                    deaths=deaths,
                    limit=rows.MAX_DEATHS,
                )

    async def _announce(self) -> None:
        """Store the versions of the newest snapshot's topics, at most once per ``hub.min_interval``."""
        before = await self._store.run(deliveries.topics)
        wait = self._interval_left(before)
        if wait > 0:
            await deferLater(self._context.clock, wait)
        snapshot = self._newest
        if snapshot is None:
            return
        contents = contents_of(snapshot, self._base_url)
        digests, now = digests_of(contents), self._context.now()
        after = await self._store.run(
            partial(
                deliveries.bump,
                digests=digests,
                # not in the future, because no change before that time would count as newer
                data_revision=min(_modified_at(snapshot), now),
                now=now,
                newer_only=self._shared,
            )
        )
        if self._newest is snapshot:
            self._newest = None
        if not self.announced.called:
            self.announced.callback(None)
        self._deliverer.publish(contents)
        self._delivery_scheduler.wake()
        changed = [
            f"{path} version {topic.version}"
            for path, topic in after.items()
            if path not in before or before[path].version != topic.version
        ]
        if changed:
            self._log.info("to be delivered: {changed}", changed=", ".join(changed), type="change")
        outdated = [path for path, digest in digests.items() if after[path].sha256 != digest]
        if outdated:
            self._log.warn(
                "another node has other data that is as new or newer: {topics} are not delivered until this"
                " node has the same data, or newer data",
                topics=", ".join(outdated),
            )

    def _interval_left(self, stored: dict[str, Topic]) -> float:
        """Return the seconds until the topics may change again; a wall clock may have jumped (H9)."""
        if not stored or self._newest is None:
            return 0
        digests = digests_of(contents_of(self._newest, self._base_url))
        if all(topic.sha256 == digests.get(path) for path, topic in stored.items()):
            return 0  # the usual case after a restart
        changed_at = max(topic.changed_at for topic in stored.values())
        remaining = self._min_interval - (self._context.now() - changed_at) / 1000
        return min(max(remaining, 0), self._min_interval)

    async def _sweep(self) -> None:
        try:
            if count := await self._expiry.end():
                self._log.info("expired leases and requests: {count}", count=count, type="drop")
        except StoreError as error:
            self._log.warn("hub: {error}", error=str(error))

    async def _follow_nodes(self) -> None:
        """Load changes of other nodes, such as a pause, and query what is due (H7)."""
        try:
            self._behind = self._behind or await self._store.changed()
            if not self._behind:
                return
            for follower in self._followers:
                await follower()
        except StoreError:
            return  # the schedulers log it
        self._behind = False
        self._verification_scheduler.wake()
        self._delivery_scheduler.wake()

    async def _retry(self, action: Callable[[], Awaitable[object]]) -> None:
        """Repeat an action until the store works."""
        while True:
            try:
                await action()
            except StoreError as error:
                self._log.warn("hub: {error}", error=str(error))
                await deferLater(self._context.clock, STORE_RETRY_SECONDS)
            else:
                return


def _modified_at(snapshot: Snapshot) -> int:
    """Return the time of the newest source file, in milliseconds since 1970 UTC (D8)."""
    fingerprint = snapshot.build.fingerprint
    sources = (fingerprint.reviews, fingerprint.insights, fingerprint.settings)
    files = [file for file in sources if file is not None]
    return max((file.mtime_ns // 1_000_000 for file in files), default=0)
