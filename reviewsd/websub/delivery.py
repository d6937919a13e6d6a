"""Delivery of content to active subscribers (seed 6, WebSub 7).

Changes while a delivery waits or runs are coalesced: the next attempt carries the version that is current
then. So no subscriber receives an older version after a newer one, or the same version twice (H9, H10).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from twisted.logger import Logger

from reviewsd.domain.callback import stored
from reviewsd.domain.subscription import Delivered, Failed, Gone
from reviewsd.store import deliveries
from reviewsd.store.deliveries import DeliveryClaim, DeliveryOutcome, EndedSubscription
from reviewsd.store.keys import SealError, Secrets
from reviewsd.store.rows import DEADLY, MAX_DEATHS, Due
from reviewsd.store.transactions import Store
from reviewsd.websub import retry_after
from reviewsd.websub.content import Content, digests_of, signature_header
from reviewsd.websub.context import Context
from reviewsd.websub.denial import FAILED, Denials
from reviewsd.websub.outbound.client import CallbackClient, CallbackRequest
from reviewsd.websub.outbound.connection import SUCCESS
from reviewsd.websub.outbound.response_parser import NetworkFullError, NoResponseError
from reviewsd.websub.slots import Slot, Slots
from reviewsd.websub.verification import CLAIM_MILLISECONDS

TIMEOUT = 30.0
"""Seconds of an attempt; below the 90 s for which a delivery is claimed (E12, D5)."""

JITTER = 0.2
"""Part by which the wait before a retry is lengthened or shortened (H14)."""

GONE = 410
DELAYING = (429, 503)
"""Statuses with a Retry-After that counts (H14)."""

RESULTS = {Delivered: "delivered", Failed: "failed", Gone: "gone"}
"""Labels of ``delivery_attempts_total`` (O9)."""

MAX_SIGNED_IN_REACTOR = 2**20
"""Bytes; more are signed in a thread, because a megabyte takes half a millisecond."""


@dataclass(slots=True, eq=False, kw_only=True)
class Deliverer:
    """Delivers the current content: the Work of a Scheduler."""

    _log = Logger()

    store: Store
    client: CallbackClient
    slots: Slots
    context: Context
    secrets: Secrets
    signature_method: str
    """``hub.signature_method``."""
    retry_delays: tuple[float, float]
    """``hub.delivery.retry_delays``."""
    denials: Denials
    _contents: Mapping[str, Content] = field(default_factory=dict, init=False)

    def publish(self, contents: Mapping[str, Content]) -> None:
        """Deliver these contents from now on; the store has their versions already.

        The old ones are freed in a thread, because unmapping files of a million reviews takes 50 ms.
        """
        old = [self._contents]
        self._contents = contents
        self.context.in_thread(old.clear)

    async def find_due(
        self, limit: int, excluded_hosts: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """Return subscriptions that are due, and the seconds until the next one is."""
        now = self.context.now()
        due, next_at = await self.store.run(
            partial(
                deliveries.find_due,
                contents=digests_of(self._contents),
                now=now,
                limit=limit,
                without=excluded_hosts,
            )
        )
        return due, None if next_at is None else (next_at - now) / 1000

    async def settle_and_claim(
        self, results: Sequence[DeliveryOutcome], due: Sequence[Due]
    ) -> Sequence[DeliveryClaim]:
        """Store results and claim subscriptions; notify callbacks whose subscriptions have ended."""
        now = self.context.now()
        claims, ended = await self.store.run(
            partial(
                deliveries.settle_and_claim,
                outcomes=results,
                due=due,
                contents=digests_of(self._contents),
                token=self.context.token(),
                now=now,
                claim_until=now + CLAIM_MILLISECONDS,
            )
        )
        self._report(results)
        for subscription in ended:
            self._report_end(subscription)
        return claims

    async def run(self, claim: DeliveryClaim, slot: Slot) -> DeliveryOutcome:
        """POST the content to the callback."""
        content = self._contents[claim.topic]
        if content.sha256 != claim.sha256:
            return self.release(claim)  # the topic has changed while the claim waited
        if claim.deaths >= MAX_DEATHS:
            return replace(self._fail(claim, None, DEADLY), deadly=True)
        try:
            signature = await self._signature(claim, content)
        except SealError:
            return self._fail(claim, None, "its secret was sealed with a key that is gone")
        request = CallbackRequest(
            method="POST",
            callback=stored(claim.pair.callback),
            slot=slot,
            headers=content.headers + signature,
            body=content.body,
        )
        try:
            response = await self.client.send(request, TIMEOUT)
        except NetworkFullError:
            return self.release(claim)  # it waits for a place in its network, which is known now
        except NoResponseError as error:
            self.slots.record(slot, answered=False)
            return self._fail(claim, None, error.reason)
        self.slots.record(slot, answered=True)
        status: int = response.code
        if status in SUCCESS:
            return DeliveryOutcome(claim=claim, event=Delivered(claim.version), status=status)
        if status == GONE:
            return DeliveryOutcome(claim=claim, event=Gone(), status=status, error="answered 410")
        (delay,) = response.headers.getRawHeaders(b"Retry-After", [None])
        return self._fail(
            claim, status, f"answered {status}", delay if status in DELAYING else None
        )

    def release(self, claim: DeliveryClaim) -> DeliveryOutcome:
        """Return the result of a claim that was not attempted."""
        return DeliveryOutcome(claim=claim, event=None)

    async def _signature(self, claim: DeliveryClaim, content: Content) -> bytes:
        if claim.secret is None:
            return b""
        secret = self.secrets.unseal(claim.secret, claim.pair.callback, claim.topic)
        sign = partial(signature_header, self.signature_method, secret, content)
        large = content.length > MAX_SIGNED_IN_REACTOR
        return await self.context.in_thread(sign) if large else sign()

    def _report(self, results: Sequence[DeliveryOutcome]) -> None:
        """Count outcomes, and log one line for all subscribers of a version."""
        for result in results:
            if result.event is not None:
                label = RESULTS[type(result.event)]
                self.context.counters.count("delivery_attempts_total", label)
        versions = Counter(
            (result.claim.topic, result.event.version)
            for result in results
            if isinstance(result.event, Delivered)
        )
        for (topic, version), count in versions.items():
            self._log.info(
                "delivered {topic} version {version} to {subscribers}",
                topic=topic,
                version=version,
                subscribers="1 subscriber" if count == 1 else f"{count} subscribers",
                count=count,
                type="deliver",
            )

    def _report_end(self, subscription: EndedSubscription) -> None:
        """Log a subscription that ended by its last outcome, and notify its callback."""
        self._log.warn(
            "the subscription of {callback_host} to {topic} was removed: {reason}",
            callback_host=subscription.pair.host,
            topic=subscription.topic,
            reason=subscription.reason,
            type="drop",
        )
        if not subscription.denied:
            self.denials.send(subscription.pair, subscription.topic, FAILED)

    def _fail(
        self, claim: DeliveryClaim, status: int | None, error: str, delay: bytes | None = None
    ) -> DeliveryOutcome:
        self._log.info(
            "delivery of {topic} to {callback_host} (subscription {subscription_id}) failed: {error}",
            topic=claim.topic,
            callback_host=claim.pair.host,
            subscription_id=claim.id,
            error=error,
            type="deliver",
        )
        waits = retry_after.waits(
            self.retry_delays,
            JITTER,
            self.context.random,
            retry_after.retry_after(delay, self.context.now()),
        )
        return DeliveryOutcome(claim=claim, event=Failed(waits), status=status, error=error)
