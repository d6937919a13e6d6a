"""Delivery of content to active subscribers (seed 6, WebSub 7).

A change while a delivery waits or runs coalesces with it: the next attempt carries the version that is
current then. So no subscriber receives an older version after a newer one, or one that it has (H9, H10).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from twisted.logger import Logger

from reviewsd.config.schema import Deliveries
from reviewsd.domain.subscription import Delivered, Failed, Gone
from reviewsd.http1 import retry_after
from reviewsd.store import deliveries
from reviewsd.store.claims import DEADLY, MAX_DEATHS
from reviewsd.store.deliveries import DeliveryClaim, DeliveryOutcome, EndedSubscription
from reviewsd.store.intents import Due
from reviewsd.store.interface import Store
from reviewsd.store.secrets import SealError, Secrets
from reviewsd.websub.content import Content, digests_of, signature_header
from reviewsd.websub.context import Context
from reviewsd.websub.outbound.client import CallbackClient, Payload
from reviewsd.websub.outbound.connection import SUCCESS
from reviewsd.websub.outbound.errors import NetworkFullError, NoResponseError
from reviewsd.websub.slots import Slot, Slots
from reviewsd.websub.verification import CLAIM_MILLISECONDS

GONE = 410
DELAYING = (429, 503)
"""Statuses whose Retry-After counts (H14)."""

RESULTS = {Delivered: "delivered", Failed: "failed", Gone: "gone"}
"""Labels of ``delivery_attempts_total`` (O9)."""

MAX_SIGNED_IN_REACTOR = 2**20
"""Bytes; more are signed in a thread, because a megabyte takes half a millisecond."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A claim, and the content that it was made for."""

    claim: DeliveryClaim
    content: Content

    @property
    def id(self) -> int:
        """The id of the subscription."""
        return self.claim.id


OutcomeObserver = Callable[[Sequence[DeliveryOutcome], Sequence[EndedSubscription]], None]


class Deliverer:
    """Delivers the current content.

    Args:
        store: Holds the subscriptions.
        client: Sends the requests.
        slots: Records how attempts end.
        context: Clocks, random numbers, threads, counters.
        secrets: Opens the sealed secrets that sign.
        signature_method: ``hub.signature_method``.
        settings: ``hub.delivery``.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        store: Store,
        client: CallbackClient,
        slots: Slots,
        context: Context,
        secrets: Secrets,
        signature_method: str,
        settings: Deliveries,
    ) -> None:
        self._store = store
        self._client = client
        self._slots = slots
        self._context = context
        self._secrets = secrets
        self._signature_method = signature_method
        self._settings = settings
        self._observers: list[OutcomeObserver] = []
        self._contents: Mapping[str, Content] = {}

    @property
    def max_retry_milliseconds(self) -> int:
        """The longest time for which a failed delivery waits."""
        delay = max(self._settings.retry_delays) * (1 + self._settings.jitter)
        return max(round(delay * 1000), retry_after.MAX_RETRY_AFTER)

    def observe(self, observer: OutcomeObserver) -> None:
        """Call an observer with each batch of stored outcomes and the subscriptions they ended."""
        self._observers.append(observer)

    def publish(self, contents: Mapping[str, Content]) -> None:
        """Deliver these contents from now on; the store has their versions already.

        The old ones are dropped in a thread: to unmap files of a million reviews takes the kernel 50 ms.
        """
        old = [self._contents]
        self._contents = contents
        self._slots.reset_shares()
        self._context.in_thread(old.clear)

    async def find_due(
        self, limit: int, excluded_hosts: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """Return subscriptions that are due, and the seconds until the next one is."""
        now = self._context.now()
        due, next_at = await self._store.run(
            partial(
                deliveries.due,
                contents=digests_of(self._contents),
                now=now,
                limit=limit,
                without=excluded_hosts,
            )
        )
        return due, None if next_at is None else (next_at - now) / 1000

    async def settle_and_claim(
        self, results: Sequence[DeliveryOutcome], due: Sequence[Due]
    ) -> Sequence[Delivery]:
        """Store results and claim subscriptions; call the observers."""
        now, contents = self._context.now(), self._contents
        claims, ended = await self._store.run(
            partial(
                deliveries.turn,
                results=results,
                wanted=due,
                contents=digests_of(contents),
                token=self._context.token(),
                now=now,
                claim_until=now + CLAIM_MILLISECONDS,
            )
        )
        if results:
            self._report(results)
            for observer in self._observers:
                observer(results, ended)
        return [Delivery(claim, contents[claim.topic]) for claim in claims]

    async def run(self, delivery: Delivery, slot: Slot) -> DeliveryOutcome:
        """POST the content to the callback."""
        claim, content = delivery.claim, delivery.content
        if self._contents.get(claim.topic) is not content:
            return self.release(delivery)  # it has changed while the claim waited
        if claim.deaths >= MAX_DEATHS:
            return replace(self._fail(claim, None, DEADLY), deadly=True)
        try:
            signature = await self._signature(claim, content)
        except SealError:
            return self._fail(claim, None, "its secret was sealed with a key that is gone")
        payload = Payload(slot, content.headers + signature, content.body)
        url = claim.pair.callback
        try:
            response = await self._client.send("POST", url, payload, self._settings.timeout)
        except NetworkFullError:
            return self.release(delivery)  # its network is known now: it waits for a place there
        except NoResponseError as error:
            self._slots.record(slot, answered=False)
            return self._fail(claim, None, error.reason)
        self._slots.record(slot, answered=True)
        status: int = response.code
        if status in SUCCESS:
            return DeliveryOutcome(claim=claim, event=Delivered(claim.version), status=status)
        if status == GONE:
            return DeliveryOutcome(claim=claim, event=Gone(), status=status, error="answered 410")
        (delay,) = response.headers.getRawHeaders(b"Retry-After", [None])
        return self._fail(
            claim, status, f"answered {status}", delay if status in DELAYING else None
        )

    def release(self, delivery: Delivery) -> DeliveryOutcome:
        """Return the result of a claim that was not attempted."""
        return DeliveryOutcome(claim=delivery.claim, event=None)

    async def _signature(self, claim: DeliveryClaim, content: Content) -> bytes:
        if claim.secret is None:
            return b""
        secret = self._secrets.unseal(claim.secret, claim.pair.callback, claim.topic)
        sign = partial(signature_header, self._signature_method, secret, content)
        large = content.length > MAX_SIGNED_IN_REACTOR
        return await self._context.in_thread(sign) if large else sign()

    def _report(self, results: Sequence[DeliveryOutcome]) -> None:
        """Count outcomes, and log one line for all subscribers of a version."""
        for result in results:
            if result.event is not None:
                label = RESULTS[type(result.event)]
                self._context.counters.count("delivery_attempts_total", label)
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
            self._settings.retry_delays,
            self._settings.jitter,
            self._context.random,
            retry_after.retry_after(delay, self._context.now()),
        )
        return DeliveryOutcome(claim=claim, event=Failed(waits), status=status, error=error)
