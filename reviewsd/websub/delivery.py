"""Distribution of content: each active subscriber is sent the current version (seed 6, WebSub 7).

What is sent is what a GET returns, byte for byte. A change while a delivery waits or runs coalesces:
the next attempt carries the version that is current then, so nobody sees an older one after a newer
one, and nobody is sent what he has (contract.md 5, H9, H10).
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from twisted.logger import Logger

from reviewsd.domain.callback import stored
from reviewsd.domain.subscription import Delivered, Failed, Gone
from reviewsd.http1 import retry_after as retry
from reviewsd.http1 import urls
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.store import deliveries
from reviewsd.store.claims import DEADLY, MAX_DEATHS
from reviewsd.store.deliveries import DeliveryClaim, DeliveryOutcome, EndedSubscription
from reviewsd.store.intents import Due
from reviewsd.store.interface import Store
from reviewsd.store.secrets import SealError, Secrets
from reviewsd.websub.context import Client, Context
from reviewsd.websub.outbound.outcomes import Answered, Push, Throttled, Unanswered
from reviewsd.websub.slots import Slot, Slots
from reviewsd.websub.verification import CLAIM

GONE = 410

RESULTS = {Delivered: "delivered", Failed: "failed", Gone: "gone"}
"""What comes of an attempt; so they are counted (O9)."""

SIGNED_AT_ONCE = 2**20
"""Bytes; the HMAC of more is left to a thread: a megabyte takes half a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What is sent of a topic."""

    sha256: str
    headers: bytes
    """Lines that are the same for all subscribers."""
    body: tuple[Buffer, ...]


def contents(snapshot: Snapshot, base_url: str) -> dict[str, Content]:
    """The content of each topic, by path, as a GET without Accept-Encoding has it (W14, W15)."""
    sha256s = {document.path: document.sha256 for document in snapshot.manifest.documents}
    found = {}
    for path in urls.TOPICS:
        identity = snapshot.documents[path].identity
        # The topic first: a widespread client library compares only the first link with its topic
        link = f'<{base_url}{path}>; rel="self", <{base_url}{urls.HUB}>; rel="hub"'
        lines = (
            b"Content-Type: " + identity.media_type,
            b"Content-Length: %d" % sum(map(len, identity.parts)),
            b"Link: " + link.encode(),
            b"ETag: " + identity.etag,
        )
        found[path] = Content(
            sha256=sha256s[path],
            headers=b"".join(line + b"\r\n" for line in lines),
            body=identity.parts,
        )
    return found


def digests(current: Mapping[str, Content]) -> dict[str, str]:
    """Of each topic's content, by path, the sha256."""
    return {path: content.sha256 for path, content in current.items()}


@dataclass(frozen=True, slots=True)
class Delivery:
    """A claimed attempt and what it is to bring."""

    claim: DeliveryClaim
    content: Content

    @property
    def id(self) -> int:
        """The subscription's."""
        return self.claim.id


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long failures are waited out (contract.md 5)."""

    retry_delays: tuple[float, float]
    """Seconds after the first and the second one."""
    jitter: float
    """By which part of itself each wait varies."""

    @property
    def longest(self) -> int:
        """The most that a subscription may have to wait, milliseconds."""
        longest = round(max(self.retry_delays) * (1 + self.jitter) * 1000)
        return max(longest, retry.MAX_RETRY_AFTER)


OutcomeObserver = Callable[[Sequence[DeliveryOutcome], Sequence[EndedSubscription]], None]


class Deliverer:
    """Attempts to deliver.

    Args:
        database: Where the subscriptions are.
        client: Sends the requests.
        timeout: Seconds until a callback must have responded.
        slots: Records how an attempt ended.
        context: Time and chance.
        secrets: Opens the secrets that sign.
        signature_method: Of ``X-Hub-Signature``: sha1, sha256, sha384 or sha512 (WebSub 7.1).
        retry_policy: When failed deliveries are tried again.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        database: Store,
        client: Client,
        timeout: float,
        slots: Slots,
        context: Context,
        secrets: Secrets,
        signature_method: str,
        retry_policy: RetryPolicy,
    ) -> None:
        self._database = database
        self._client = client
        self._timeout = timeout
        self._slots = slots
        self._context = context
        self._secrets = secrets
        self._method = signature_method
        self.retry_policy = retry_policy
        self._observers: list[OutcomeObserver] = []
        self._contents: Mapping[str, Content] = {}

    def observe(self, observer: OutcomeObserver) -> None:
        """Have outcomes told that are in the store, and the subscriptions that ended by them."""
        self._observers.append(observer)

    def publish(self, current: Mapping[str, Content]) -> None:
        """Send this from now on; the store has its versions already.

        To let go of files that are deleted takes the kernel 50 ms at a million reviews.
        """
        old = [self._contents]
        self._contents = current
        self._slots.reset_shares()
        self._context.in_thread(old.clear)

    async def find_due(
        self, limit: int, excluded_hosts: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """See ``Work``."""
        now = self._context.now()
        found, following = await self._database.run(
            partial(
                deliveries.due,
                contents=digests(self._contents),
                now=now,
                limit=limit,
                without=excluded_hosts,
            )
        )
        return found, None if following is None else (following - now) / 1000

    async def settle_and_claim(
        self, results: Sequence[DeliveryOutcome], due: Sequence[Due]
    ) -> Sequence[Delivery]:
        """See ``Work``."""
        now, current = self._context.now(), self._contents
        claims, ended = await self._database.run(
            partial(
                deliveries.turn,
                results=results,
                wanted=due,
                contents=digests(current),
                token=self._context.token(),
                now=now,
                claim_until=now + CLAIM,
            )
        )
        if results:
            self._tell(results)
            for observer in self._observers:
                observer(results, ended)
        return [Delivery(claim, current[claim.topic]) for claim in claims]

    async def run(self, claim: Delivery, slot: Slot) -> DeliveryOutcome:
        """See ``Work``."""
        delivery = claim.claim
        if self._contents.get(delivery.topic) is not claim.content:
            return self.release(claim)  # it has changed while the claim waited
        if delivery.deaths >= MAX_DEATHS:
            return replace(self._failed(delivery, None, DEADLY), deadly=True)
        try:
            signature = await self._signature(delivery, claim.content)
        except SealError:
            return self._failed(delivery, None, "its secret was sealed with a key that is gone")
        content = claim.content
        push = Push(headers=content.headers, body=content.body, signature=signature)
        callback = stored(delivery.pair.callback)
        answer = await self._client.deliver(callback, push, timeout=self._timeout, slot=slot)
        if isinstance(answer, Throttled):
            return self.release(claim)  # its network is known by now: it waits for a place there
        self._slots.record(slot, answered=isinstance(answer, Answered))
        match answer:
            case Unanswered(reason=reason):
                return self._failed(delivery, None, reason)
            case Answered(status=status) if answer.successful:
                return DeliveryOutcome(
                    claim=delivery, event=Delivered(delivery.version), status=status
                )
            case Answered(status=status) if status == GONE:
                return DeliveryOutcome(
                    claim=delivery, event=Gone(), status=status, error="answered 410"
                )
            case Answered(status=status):
                retry_after = answer.headers.get(b"retry-after") if status in {429, 503} else None
                return self._failed(delivery, status, f"answered {status}", retry_after)

    def release(self, claim: Delivery) -> DeliveryOutcome:
        """See ``Work``."""
        return DeliveryOutcome(claim=claim.claim, event=None)

    async def _signature(self, claim: DeliveryClaim, content: Content) -> bytes | None:
        """The value of ``X-Hub-Signature`` (WebSub 7.1)."""
        if claim.secret is None:
            return None
        secret = self._secrets.unseal(claim.secret, claim.pair.callback, claim.topic)
        sign = partial(_hmac, self._method, secret, content.body)
        large = sum(map(len, content.body)) > SIGNED_AT_ONCE
        digest = await self._context.in_thread(sign) if large else sign()
        return f"{self._method}={digest}".encode()

    def _tell(self, results: Sequence[DeliveryOutcome]) -> None:
        """Count them; one line for those who were sent the same; who failed has one of his own."""
        for result in results:
            if result.event is not None:
                self._context.counters.count("delivery_attempts_total", RESULTS[type(result.event)])
        served = Counter(
            (result.claim.topic, result.event.version)
            for result in results
            if isinstance(result.event, Delivered)
        )
        for (topic, version), count in served.items():
            self._log.info(
                "delivered {topic} version {version} to {whom}",
                topic=topic,
                version=version,
                whom="1 subscriber" if count == 1 else f"{count} subscribers",
                count=count,
                type="deliver",
            )

    def _failed(
        self, claim: DeliveryClaim, status: int | None, error: str, retry_after: bytes | None = None
    ) -> DeliveryOutcome:
        self._log.info(
            "delivery of {topic} to {callback_host} (subscription {subscription_id}) failed: {error}",
            topic=claim.topic,
            callback_host=claim.pair.host,
            subscription_id=claim.id,
            error=error,
            type="deliver",
        )
        waits = retry.waits(
            self.retry_policy.retry_delays,
            self.retry_policy.jitter,
            self._context.chance,
            retry.retry_after(retry_after, self._context.now()),
        )
        return DeliveryOutcome(claim=claim, event=Failed(waits), status=status, error=error)


def _hmac(method: str, secret: bytes, body: Sequence[Buffer]) -> str:
    signing = hmac.new(secret, digestmod=getattr(hashlib, method))
    for part in body:
        signing.update(part)
    return signing.hexdigest()
