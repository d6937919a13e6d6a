"""The hub: hears of new snapshots, and keeps verifications and deliveries going.

    a new Snapshot wakes it -> it compares each topic's digest with the stored one (H10)
    a new version wakes the deliveries -> they compare each subscription's version with the topic's

So nothing is lost that nobody saw: at the start every loop is woken once, and a change made while
the daemon was down is a difference like any other (D2). A store that does not work delays all of it
and stops nothing else (D9).
"""

from collections.abc import Awaitable, Callable
from functools import partial

from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.logger import Logger

from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.store import claims, topics, upkeep
from reviewsd.store.clock import put_right
from reviewsd.store.deliveries import DeliveryOutcome
from reviewsd.store.intents import IntentClaim, Verified
from reviewsd.store.interface import Store
from reviewsd.store.topics import Topic
from reviewsd.store.transactions import SqlCursor, StoreError
from reviewsd.websub.context import Context
from reviewsd.websub.delivery import Deliverer, Delivery, contents, digests
from reviewsd.websub.operator_state import OperatorState
from reviewsd.websub.scheduler import STORE_RETRY_SECONDS, Scheduler
from reviewsd.websub.verification import CLAIM

SWEEP_SECONDS = 60.0
"""Between two looks for leases and requests that are over (W13)."""

SETTLE_SECONDS = 600.0
"""After a start, in which none of them is ended: a clock that is wrong then is set in this time."""

FOLLOW_SECONDS = 1.0
"""Between two looks for what other nodes have changed."""

DRAIN_SECONDS = 20.0
"""What deliveries under way may take to end when the daemon stops (O4)."""


Follower = Callable[[], Awaitable[object]]
"""Looks for what other nodes have changed; raises StoreError where that cannot be said."""


class Hub:
    """The hub's own loop.

    Args:
        context: Time and chance.
        database: What is remembered.
        operator_state: Of the operator.
        distribution: Told what to send.
        verifying: The verifications under way.
        delivering: The deliveries under way.
        base_url: Origin of the topics.
        min_interval: Seconds between two versions of a topic (H9).
        shared: Whether other nodes use the store too: then their claims stand (they lapse), only
            newer data counts (D8), and their operators' orders are followed.
    """

    _log = Logger()

    def __init__(  # noqa: PLR0913 - all that the hub is made of meets here
        self,
        *,
        context: Context,
        database: Store,
        operator_state: OperatorState,
        distribution: Deliverer,
        verifying: Scheduler[IntentClaim, Verified],
        delivering: Scheduler[Delivery, DeliveryOutcome],
        base_url: str,
        min_interval: float,
        shared: bool = False,
    ) -> None:
        self._context = context
        self._database = database
        self._operator_state = operator_state
        self._distribution = distribution
        self._verifying = verifying
        self._delivering = delivering
        self._base_url = base_url
        self._min_interval = min_interval
        self._shared = shared
        self.announced: Deferred[None] = Deferred()
        """Called when the topics of the first snapshot have their versions."""
        self._followers: list[Follower] = []
        self._behind = False  # whether other nodes have changed something that is to be followed
        self._newest: Snapshot | None = None
        self._signal: Deferred[None] | None = None
        self._began = 0.0  # seconds of the clock
        self._tasks = TaskSet()

    def topics_changed(self, snapshot: Snapshot) -> None:
        """There is a new snapshot."""
        self._newest = snapshot
        if self._signal is not None and not self._signal.called:
            self._signal.callback(None)

    def follow(self, follower: Follower) -> None:
        """Have somebody else follow what other nodes change, too."""
        self._followers.append(follower)

    def start(self) -> None:
        """Begin; what is due already is done at once."""
        self._began = self._context.clock.seconds()
        self._tasks.start("hub", self._run())

    async def stop(self) -> None:
        """Let deliveries under way end, for a while, and stop."""
        await self._tasks.stop()
        await self._verifying.stop(0)
        await self._delivering.stop(DRAIN_SECONDS)

    async def pause(self) -> None:
        """Send nothing to anybody until ``resume``, also after a restart (H7)."""
        await self._operator_state.pause()
        self._verifying.pause()
        self._delivering.pause()

    async def resume(self) -> None:
        """End the pause."""
        await self._operator_state.resume()
        self._verifying.resume()
        self._delivering.resume()

    async def _run(self) -> None:
        if not self._shared:
            await self._insist(self._adopt_claims)
        await self._insist(self._operator_state.load)
        if self._operator_state.paused:
            self._verifying.pause()
            self._delivering.pause()
        self._verifying.start()
        self._delivering.start()
        self._tasks.start("sweep", every(self._context.clock, SWEEP_SECONDS, self._sweep))
        if self._shared:
            self._tasks.start(
                "other nodes", every(self._context.clock, FOLLOW_SECONDS, self._follow)
            )
        while True:
            while self._newest is None:
                self._signal = Deferred()
                await self._signal
            await self._insist(self._announce)

    async def _adopt_claims(self) -> None:
        """Have done again what the process before this one was about to do when it died (D7)."""
        left = await self._database.run(partial(claims.take_over, now=self._context.now()))
        if left:
            self._log.warn(
                "the service has died while attempts were under way; these are made again, after a"
                " second: {count}",
                count=len(left),
            )
        for each in left:
            if each.deaths > 1:
                self._log.warn(
                    "an attempt at {callback_host} was under way when the service died, {deaths}"
                    " times in a row; after {most} it is not made again",
                    callback_host=each.host,
                    deaths=each.deaths,
                    most=claims.MAX_DEATHS,
                )

    async def _announce(self) -> None:
        """Give the topics of the newest snapshot their versions, not sooner than they may (H9)."""
        known = await self._database.run(topics.topics)
        wait = self._wait(known)
        if wait > 0:
            await deferLater(self._context.clock, wait)
        snapshot = self._newest
        if snapshot is None:
            return
        current = contents(snapshot, self._base_url)
        sha256s = digests(current)
        now = self._context.now()
        after = await self._database.run(
            partial(
                topics.bump,
                digests=sha256s,
                # never of a time to come: until then no later change would count as newer
                data_revision=min(_revision(snapshot), now),
                now=now,
                newer_only=self._shared,
            )
        )
        if self._newest is snapshot:
            self._newest = None
        if not self.announced.called:
            self.announced.callback(None)
        self._distribution.publish(current)
        self._delivering.wake()
        changed = [
            f"{path} version {topic.version}"
            for path, topic in after.items()
            if path not in known or known[path].version != topic.version
        ]
        if changed:
            self._log.info("to be delivered: {changed}", changed=", ".join(changed), type="change")
        others = [path for path, digest in sha256s.items() if after[path].sha256 != digest]
        if others:
            self._log.warn(
                "another node has other data, as new or newer: nothing is sent of {others} until"
                " this node has the same, or newer",
                others=", ".join(others),
            )

    def _wait(self, known: dict[str, Topic]) -> float:
        """Seconds until the topics may change again; a clock that jumped makes it no longer."""
        if not known or not self._differs(known):
            return 0
        since = (self._context.now() - max(topic.changed_at for topic in known.values())) / 1000
        return min(max(self._min_interval - since, 0), self._min_interval)

    def _differs(self, known: dict[str, Topic]) -> bool:
        """Whether the newest snapshot has other bytes; after a restart it seldom has."""
        if self._newest is None:
            return False
        stored = {path: topic.sha256 for path, topic in known.items()}
        return not digests(contents(self._newest, self._base_url)).items() <= stored.items()

    async def _sweep(self) -> None:
        settled = self._context.clock.seconds() - self._began >= SETTLE_SECONDS

        def sweep(cursor: SqlCursor) -> int:
            now = self._context.now()
            put_right(cursor, now, CLAIM, self._distribution.retry_policy.longest)
            return upkeep.sweep(cursor, now) if settled else 0

        try:
            ended = upkeep.SWEEP
            while ended == upkeep.SWEEP:
                ended = await self._database.run(sweep)
                if ended:
                    self._log.info(
                        "leases and requests that ran out: {count}", count=ended, type="drop"
                    )
        except StoreError as error:
            self._log.warn("hub: {error}", error=str(error))

    async def _follow(self) -> None:
        """Find what other nodes have left to do, and what their operators have ordered (H7)."""
        paused = self._operator_state.paused
        try:
            self._behind = self._behind or await self._database.changed()
            if not self._behind:
                return
            await self._operator_state.load()
            for follower in self._followers:
                await follower()
        except StoreError:
            return  # the attempts say so
        self._behind = False
        if self._operator_state.paused and not paused:
            self._verifying.pause()
            self._delivering.pause()
        elif paused and not self._operator_state.paused:
            self._verifying.resume()
            self._delivering.resume()
        self._verifying.wake()
        self._delivering.wake()

    async def _insist(self, action: Callable[[], Awaitable[object]]) -> None:
        """Do something with the store until it works."""
        while True:
            try:
                await action()
            except StoreError as error:
                self._log.warn("hub: {error}", error=str(error))
                await deferLater(self._context.clock, STORE_RETRY_SECONDS)
            else:
                return


def _revision(snapshot: Snapshot) -> int:
    """When the newest source file was modified, milliseconds since 1970 UTC (D8)."""
    fingerprint = snapshot.seen.fingerprint
    sources = (fingerprint.reviews, fingerprint.insights, fingerprint.settings)
    files = [file for file in sources if file is not None]
    return max((file.mtime_ns // 1_000_000 for file in files), default=0)
