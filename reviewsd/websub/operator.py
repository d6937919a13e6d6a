"""The hub's side of ``reviewsctl subs``, ``push`` and ``hub`` (H7, interfaces.md 1.1)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from reviewsd.api.hub import Block, HubState, Listing, TopicState
from reviewsd.api.jobs import PushResult, Step
from reviewsd.api.times import instant
from reviewsd.domain.subscription import Delivered
from reviewsd.store import listing
from reviewsd.store.deliveries import DeliveryOutcome, EndedSubscription
from reviewsd.store.interface import Store
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import StoreError
from reviewsd.websub.context import Context
from reviewsd.websub.delivery import Deliverer, Delivery
from reviewsd.websub.denial import REMOVED, Denials
from reviewsd.websub.hub import Hub
from reviewsd.websub.operator_state import OperatorState
from reviewsd.websub.scheduler import Scheduler

SILENCE = 2.0
"""Seconds without an outcome, after which a push looks who is left at all."""


class _Push:
    """A push under way: who is still to have an attempt."""

    def __init__(self, ids: Sequence[int], since: int, progress: Callable[[Step], None]) -> None:
        self.total = len(ids)
        self.since = since
        self.waiting = set(ids)
        self.delivered = self.failed = self.removed = 0
        self.ended: Deferred[None] = Deferred()
        self._progress = progress

    def settled(
        self, results: Sequence[DeliveryOutcome], ended: Sequence[EndedSubscription]
    ) -> None:
        gone = {id(end.pair) for end in ended}
        denied = len(self.waiting)
        for result in results:
            if result.event is None or result.claim.id not in self.waiting:
                continue
            self.waiting.remove(result.claim.id)
            if isinstance(result.event, Delivered):
                self.delivered += 1
            elif id(result.claim.pair) in gone:
                self.removed += 1
            else:
                self.failed += 1
        if len(self.waiting) != denied:
            self.tell()

    def look(self, attempted: Mapping[int, bool | None]) -> None:
        """Wait no more for those who are gone, or whose attempt was another node's."""
        for each in sorted(self.waiting):
            if each not in attempted:
                self.removed += 1
            elif attempted[each] is None:
                continue
            elif attempted[each]:
                self.delivered += 1
            else:
                self.failed += 1
            self.waiting.remove(each)
        self.tell()

    def tell(self) -> None:
        done = self.total - len(self.waiting)
        self._progress(Step("pushing", done, self.total, self.failed + self.removed))
        if not self.waiting and not self.ended.called:
            self.ended.callback(None)


class Operator:
    """What the operator may see and do.

    A StoreError of any method but ``state`` is answered 503.

    Args:
        context: Time and chance.
        database: What the hub remembers.
        operator_state: What the operator has ordered.
        hub: Is paused and resumed.
        denials: Tell subscribers that they were removed.
        distribution: Tells outcomes.
        delivering: The deliveries under way.
        opened_networks: ``hub.callbacks.allow_networks``.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        context: Context,
        database: Store,
        operator_state: OperatorState,
        hub: Hub,
        denials: Denials,
        distribution: Deliverer,
        delivering: Scheduler[Delivery, DeliveryOutcome],
        opened_networks: tuple[str, ...],
    ) -> None:
        self._context = context
        self._database = database
        self._operator_state = operator_state
        self._hub = hub
        self._denials = denials
        self._delivering = delivering
        self._opened_networks = opened_networks
        self._counts: tuple[int, int, int, datetime | None] = (0, 0, 0, None)
        self._pushes: set[_Push] = set()
        distribution.observe(self._settled)

    async def listing(
        self,
        topic: str | None,
        state: str | None,
        callback: str | None,
        after: str | None,
        limit: int,
    ) -> Sequence[Listing]:
        """Subscriptions, and requests for one, that pass the filters; in an order that lasts.

        Args:
            topic: Path.
            state: One of the four; it is looked for page by page.
            callback: The whole of it, as it is stored.
            after: Only what comes after this id, which may be gone.
            limit: At most so many.
        """
        found: list[Listing] = []
        while len(found) < limit:
            page = await self._database.run(
                partial(listing.page, topic=topic, callback=callback, after=after, limit=limit)
            )
            found += [each for each in page if state is None or each.state == state]
            if len(page) < limit:
                break
            after = page[-1].id
        return found[:limit]

    async def one(self, identifier: str) -> Listing | None:
        """The subscription, or the request for one, with this id; None if there is none."""
        if not listing.is_id(identifier):
            return None
        return await self._database.run(partial(listing.one, name=identifier))

    async def remove(self, identifier: str, reason: str) -> bool:
        """Remove a subscription or request and tell its callback; whether there was one."""
        if not listing.is_id(identifier):
            return False
        removed = await self._database.run(
            partial(listing.remove, name=identifier, reason=reason, now=self._context.now())
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
        if active and not self._operator_state.paused:
            self._denials.send(pair, topic, reason or REMOVED)
        return True

    async def push(
        self,
        ids: Sequence[str] | None,
        topic: str | None,
        progress: Callable[[Step], None],
    ) -> PushResult:
        """Deliver the current content again; ends when each has had one attempt or is gone.

        Args:
            ids: To these; None for all.
            topic: Of this path; None for all three.
            progress: Told of each step.
        """
        now = self._context.now()
        push = _Push(await self._forget(ids, topic, now), now, progress)
        self._pushes.add(push)
        self._delivering.wake()
        try:
            push.tell()
            while push.waiting:
                await self._some_outcomes(push)
        finally:
            self._pushes.discard(push)
        return PushResult(
            total=push.total,
            delivered=push.delivered,
            failed=push.failed,
            removed=push.removed,
        )

    async def push_later(self, ids: Sequence[str] | None, topic: str | None) -> None:
        """Deliver the current content again, while nobody waits for it."""
        await self._forget(ids, topic, self._context.now())
        self._delivering.wake()

    async def _forget(self, ids: Sequence[str] | None, topic: str | None, now: int) -> list[int]:
        known = None if ids is None else [each for each in ids if listing.is_id(each)]
        return await self._database.run(partial(listing.push, names=known, topic=topic, now=now))

    async def _some_outcomes(self, push: _Push) -> None:
        """Wait until the push has ended, or for a while; then see who is left."""
        left = len(push.waiting)
        timer = self._context.clock.callLater(SILENCE, push.ended.callback, None)
        try:
            await push.ended
        finally:
            if timer.active():
                timer.cancel()
        push.ended = Deferred()
        if len(push.waiting) == left and not self._operator_state.paused:
            try:
                attempted = await self._database.run(
                    partial(listing.attempted, ids=tuple(push.waiting), since=push.since)
                )
            except StoreError as error:  # the next silence asks again
                self._log.warn("push: {error}", error=str(error))
            else:
                push.look(attempted)

    def _settled(
        self, results: Sequence[DeliveryOutcome], ended: Sequence[EndedSubscription]
    ) -> None:
        for push in tuple(self._pushes):
            push.settled(results, ended)

    async def topics(self) -> Sequence[TopicState]:
        """The topics, and how far their subscribers are."""
        return await self._database.run(partial(listing.topic_states, now=self._context.now()))

    async def state(self) -> HubState:
        """How the hub is; while the store fails, with the last counts known."""
        store = "ok"
        try:
            await self._database.run(lambda _: None, Purpose.PROBE)
        except StoreError as error:
            store = str(error)
        with suppress(StoreError):  # one that takes on nothing new may still say how much there is
            self._counts = await self._database.run(
                partial(listing.counts, now=self._context.now())
            )
        active, pending, behind, oldest = self._counts
        return HubState(
            paused=self._operator_state.paused,
            active=active,
            pending=pending,
            due=behind,
            in_flight=self._delivering.running,
            oldest_due_at=oldest,
            blocks=len(self._operator_state.blocks),
            opened_networks=self._opened_networks,
            store=store,
        )

    async def pause(self) -> None:
        """Send nothing to anybody until ``resume``."""
        await self._hub.pause()

    async def resume(self) -> None:
        """End the pause."""
        await self._hub.resume()

    async def blocks(self) -> Sequence[Block]:
        """All blocks."""
        return [
            Block(value=block.value, note=block.note, created_at=instant(block.created_at / 1000))
            for block in self._operator_state.blocks
        ]

    async def block(self, value: str, note: str, dry_run: bool) -> int:  # noqa: FBT001 - a seam
        """Block a host or network; how many subscriptions and requests that removes.

        Raises:
            ValueError: It is neither.
        """
        removed = await self._operator_state.block(value, note, dry_run=dry_run)
        if not dry_run:
            self._log.info(
                "the block of {value} has ended subscriptions and requests: {count}",
                value=value,
                count=removed,
                type="drop",
            )
        return removed

    async def unblock(self, value: str) -> bool:
        """Take a block back; whether there was one.

        Raises:
            ValueError: It is neither a host nor a network.
        """
        return await self._operator_state.unblock(value)
