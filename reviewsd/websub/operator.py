"""The hub's operations for ``reviewsctl subs`` and ``hub`` (H7, interfaces.md 1.1)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from twisted.internet.task import deferLater
from twisted.logger import Logger

from reviewsd.api.hub import Block, HubState, Listing, TopicState
from reviewsd.api.jobs import PushResult, Step
from reviewsd.domain.addresses import Addresses, blocked_networks, hits, read_block
from reviewsd.store import listing, upkeep
from reviewsd.store.deliveries import DeliveryClaim, DeliveryOutcome
from reviewsd.store.intents import IntentClaim, VerificationOutcome
from reviewsd.store.transactions import Purpose, SqlCursor, Store, StoreError
from reviewsd.websub.context import Context
from reviewsd.websub.requests import HubRequests
from reviewsd.websub.scheduler import Scheduler
from reviewsd.websub.verification import REMOVED, Denials

PUSH_POLL_SECONDS = 0.5
"""Interval at which a push queries the store for attempts."""


@dataclass(eq=False, kw_only=True)
class Operator:
    """Shows the hub to the operator; pauses it, blocks hosts and pushes content.

    A StoreError of any method but ``state`` is answered 503.
    """

    _log = Logger()

    context: Context
    store: Store
    requests: HubRequests
    verification_scheduler: Scheduler[IntentClaim, VerificationOutcome]
    delivery_scheduler: Scheduler[DeliveryClaim, DeliveryOutcome]
    denials: Denials
    addresses: Addresses
    opened_networks: tuple[str, ...]
    """``hub.callbacks.allow_networks``."""

    def __post_init__(self) -> None:
        self._blocks: Sequence[Block] = ()
        self._topics: Sequence[TopicState] = ()
        self._pending = 0

    async def load(self) -> None:
        """Load the pause and the blocks, at the start and when another node has changed them.

        Raises:
            StoreError: They cannot be read.
        """

        def read(cursor: SqlCursor) -> tuple[bool, Sequence[Block]]:
            return upkeep.paused(cursor), upkeep.blocks(cursor)

        paused, blocks = await self.store.run(read)
        self._set_blocks(blocks)
        self._set_paused(paused=paused)

    async def pause(self) -> None:
        """Stop sending until ``resume``, across restarts."""
        await self.store.run(partial(upkeep.pause, now=self.context.now()))
        self._set_paused(paused=True)

    async def resume(self) -> None:
        """Start sending again."""
        await self.store.run(upkeep.resume)
        self._set_paused(paused=False)

    async def blocks(self) -> Sequence[Block]:
        """Return all blocks."""
        return self._blocks

    async def block(self, value: str, note: str, dry_run: bool) -> int:  # noqa: FBT001 - a seam
        """Block a host or network; return how many subscriptions and requests that removes.

        Raises:
            ValueError: The value is neither.
        """
        value = read_block(value)
        removed = await self.store.run(
            partial(upkeep.block, value=value, note=note, now=self.context.now(), dry_run=dry_run)
        )
        if not dry_run:
            self._set_blocks(await self.store.run(upkeep.blocks))
            self._log.info(
                "the block of {value} has ended subscriptions and requests: {count}",
                value=value,
                count=removed,
                type="drop",
            )
        return removed

    async def unblock(self, value: str) -> bool:
        """End a block; return whether there was one.

        Raises:
            ValueError: The value is neither a host nor a network.
        """
        value = read_block(value)
        removed = await self.store.run(partial(upkeep.unblock, value=value))
        self._set_blocks(await self.store.run(upkeep.blocks))
        return removed

    def _set_paused(self, *, paused: bool) -> None:
        if paused == self.requests.paused:
            return
        self.requests.paused = paused
        for scheduler in (self.verification_scheduler, self.delivery_scheduler):
            if paused:
                scheduler.pause()
            else:
                scheduler.resume()

    def _set_blocks(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        values = [block.value for block in blocks]
        self.requests.is_blocked = hits(values)
        self.addresses.block(blocked_networks(values))

    async def listing(
        self,
        topic: str | None,
        state: str | None,
        callback: str | None,
        after: str | None,
        limit: int,
    ) -> Sequence[Listing]:
        """Return a page of subscriptions and pending requests, in a stable order.

        None is any topic (a path), state or callback (a URL). The page begins behind the id ``after``; its
        entry may be gone.
        """
        entries: list[Listing] = []
        while len(entries) < limit:
            page = await self.store.run(
                partial(listing.page, topic=topic, callback=callback, after=after, limit=limit)
            )
            entries += [entry for entry in page if state is None or entry.state == state]
            if len(page) < limit:
                break
            after = page[-1].id
        return entries[:limit]

    async def find(self, identifier: str) -> Listing | None:
        """Return the subscription or pending request with an id."""
        if not listing.is_id(identifier):
            return None
        return await self.store.run(partial(listing.find, name=identifier))

    async def remove(self, identifier: str, reason: str) -> bool:
        """Remove a subscription or request and notify its callback; return whether there was one."""
        if not listing.is_id(identifier):
            return False
        removed = await self.store.run(
            partial(listing.remove, name=identifier, reason=reason, now=self.context.now())
        )
        if removed is None:
            return False
        pair, topic, active = removed
        self._log.info(
            "the subscription of {callback_host} to {topic} was removed by the operator",
            callback_host=pair.host,
            topic=topic,
            subscription_id=identifier,
            type="drop",
        )
        if active and not self.requests.paused:
            self.denials.send(pair, topic, reason or REMOVED)
        return True

    async def push(
        self,
        ids: Sequence[str] | None,
        topic: str | None,
        progress: Callable[[Step], None],
    ) -> PushResult:
        """Deliver the current content again; return when each subscription had one attempt.

        ``ids`` and ``topic`` (a path) select the subscriptions; None is all. ``progress`` is called with
        each step.
        """
        since = self.context.now()
        waiting = await self.push_later(ids, topic)
        total, counts = len(waiting), Counter[str]()
        progress(Step("pushing", 0, total, 0))
        while waiting:
            await deferLater(self.context.clock, PUSH_POLL_SECONDS)
            results = await self._push_results(waiting, since)
            if not results:
                continue
            counts.update(results.values())
            waiting = [number for number in waiting if number not in results]
            unsuccessful = counts["failed"] + counts["removed"]
            progress(Step("pushing", total - len(waiting), total, unsuccessful))
        return PushResult(
            total=total,
            delivered=counts["delivered"],
            failed=counts["failed"],
            removed=counts["removed"],
        )

    async def push_later(self, ids: Sequence[str] | None, topic: str | None) -> list[int]:
        """Let the current content be delivered again; return the ids of the subscriptions."""
        names = None if ids is None else [name for name in ids if listing.is_id(name)]
        now = self.context.now()
        numbers = await self.store.run(partial(listing.make_due, names=names, topic=topic, now=now))
        self.delivery_scheduler.wake()
        return numbers

    async def _push_results(self, ids: Sequence[int], since: int) -> Mapping[int, str]:
        """Return the results of those subscriptions that had an attempt, on any node, or are gone."""
        try:
            attempts = await self.store.run(partial(listing.delivery_results, ids=ids, since=since))
        except StoreError as error:  # read again after the interval
            self._log.warn("push: {error}", error=str(error))
            return {}
        names = {True: "delivered", False: "failed"}
        results = {
            number: names[success] for number, success in attempts.items() if success is not None
        }
        return results | dict.fromkeys(set(ids) - set(attempts), "removed")

    async def state(self) -> HubState:
        """Return the state of the hub; while the store fails, with the last known counts."""
        store = "ok"
        try:
            await self.store.run(lambda _: None, Purpose.PROBE)
        except StoreError as error:
            store = str(error)
        now = self.context.now()

        def read(cursor: SqlCursor) -> tuple[Sequence[TopicState], int]:
            return listing.topic_states(cursor, now), listing.count_pending(cursor, now)

        with suppress(StoreError):  # a store that accepts no writes may still be read
            self._topics, self._pending = await self.store.run(read)
        return HubState(
            paused=self.requests.paused,
            active=sum(topic.subscriptions for topic in self._topics),
            pending=self._pending,
            due=sum(topic.due for topic in self._topics),
            in_flight=self.delivery_scheduler.running,
            oldest_due_at=min(
                (topic.changed_at for topic in self._topics if topic.due), default=None
            ),
            topics=tuple(self._topics),
            blocks=len(self._blocks),
            opened_networks=self.opened_networks,
            store=store,
        )
