"""Delivery of content to active subscribers (seed 6, WebSub 7).

The content of a topic is what a GET without Accept-Encoding returns (W14). Changes while a delivery waits or
runs are coalesced: the next attempt carries the version that is current then. So no subscriber receives an
older version after a newer one, or the same version twice (H9, H10).
"""

import hmac
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from twisted.logger import Logger

from reviewsd.api.texts import counted
from reviewsd.domain.callback import parse_stored
from reviewsd.domain.subscription import DeliveryFailed, DeliveryGone, DeliverySucceeded
from reviewsd.http1 import urls
from reviewsd.http1.preconditions import parse_http_date
from reviewsd.http1.representation import Buffer
from reviewsd.snapshot.snapshots import Snapshot
from reviewsd.store import deliveries
from reviewsd.store.deliveries import DeliveryClaim, DeliveryOutcome, EndedSubscription
from reviewsd.store.keys import SealError, Secrets
from reviewsd.store.rows import DEADLY, Due
from reviewsd.store.transactions import Store
from reviewsd.websub.context import Context
from reviewsd.websub.outbound.client import CallbackClient, CallbackRequest
from reviewsd.websub.outbound.connection import SUCCESS
from reviewsd.websub.outbound.response_parser import NetworkFullError, NoResponseError
from reviewsd.websub.slots import Slot, Slots
from reviewsd.websub.verification import FAILED, Denials

TIMEOUT = 30.0
"""Seconds of an attempt; below the 90 s for which a delivery is claimed (E12, D5)."""

JITTER = 0.2
"""Part by which the wait before a retry is lengthened or shortened (H14)."""

GONE = 410
DELAYING = (429, 503)
"""Statuses with a Retry-After that counts (H14)."""

RESULTS = {DeliverySucceeded: "delivered", DeliveryFailed: "failed", DeliveryGone: "gone"}
"""Labels of ``delivery_attempts_total`` (O9)."""

MAX_SIGNED_IN_REACTOR = 2**20
"""Bytes; more are signed in a thread, because a megabyte takes half a millisecond."""

MAX_RETRY_AFTER = 3_600_000
"""Longest delay in milliseconds that a callback may request."""

_DIGITS = 10  # of a Retry-After; more exceed the longest delay


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of one topic, prepared once for all subscribers."""

    sha256: str
    headers: bytes
    """Header lines that are the same for all subscribers, each ended with CRLF."""
    body: Buffer


def contents_of(snapshot: Snapshot, base_url: str) -> dict[str, Content]:
    """Return the content of each topic by its path (W15)."""
    digests = {document.path: document.sha256 for document in snapshot.manifest.documents}
    contents = {}
    for path in urls.TOPICS:
        document = snapshot.documents[path]
        # The topic comes first because a widespread client library checks only the first link
        link = f'<{base_url}{path}>; rel="self", <{base_url}{urls.HUB}>; rel="hub"'
        lines = (
            b"Content-Type: " + document.media_type,
            b"Content-Length: %d" % len(document.body),
            b"Link: " + link.encode(),
            b"ETag: " + document.etag,
        )
        contents[path] = Content(
            sha256=digests[path],
            headers=b"".join(line + b"\r\n" for line in lines),
            body=document.body,
        )
    return contents


def digests_of(contents: Mapping[str, Content]) -> dict[str, str]:
    """Return the sha256 of each topic's content by its path."""
    return {path: content.sha256 for path, content in contents.items()}


def signature_header(method: str, secret: bytes, content: Content) -> bytes:
    """Return the header line that signs a content with a method of ``hub.signature_method`` (W19)."""
    signature = hmac.digest(secret, content.body, method).hex()
    return f"X-Hub-Signature: {method}={signature}\r\n".encode()


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
        return await self.store.run(
            partial(
                deliveries.find_due,
                contents=digests_of(self._contents),
                now=self.context.now(),
                limit=limit,
                without=excluded_hosts,
            )
        )

    async def settle_and_claim(
        self, results: Sequence[DeliveryOutcome], due: Sequence[Due]
    ) -> Sequence[DeliveryClaim]:
        """Store results and claim subscriptions; notify the callbacks of ended subscriptions."""
        claims, ended = await self.store.run(
            partial(
                deliveries.settle_and_claim,
                outcomes=results,
                due=due,
                contents=digests_of(self._contents),
                token=self.context.token(),
                now=self.context.now(),
            )
        )
        self._report(results)
        for subscription in ended:
            self._report_end(subscription)
        return claims

    async def run(self, claim: DeliveryClaim, slot: Slot) -> DeliveryOutcome:
        """POST the content to the callback."""
        content = self._contents[claim.topic.path]
        if content.sha256 != claim.topic.sha256:
            return self.release(claim)  # the topic has changed while the claim waited
        if claim.deadly:
            return self._fail(claim, None, DEADLY)
        try:
            signature = await self._signature(claim, content)
        except SealError:
            return self._fail(claim, None, "its secret was sealed with a key that is gone")
        request = CallbackRequest(
            method="POST",
            callback=parse_stored(claim.pair.callback),
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
            return DeliveryOutcome(
                claim=claim, event=DeliverySucceeded(claim.topic.version), status=status
            )
        if status == GONE:
            return DeliveryOutcome(
                claim=claim, event=DeliveryGone(), status=status, error="answered 410"
            )
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
        secret = self.secrets.unseal(claim.secret, claim.pair.callback, claim.topic.path)
        sign = partial(signature_header, self.signature_method, secret, content)
        large = len(content.body) > MAX_SIGNED_IN_REACTOR
        return await self.context.in_thread(sign) if large else sign()

    def _report(self, results: Sequence[DeliveryOutcome]) -> None:
        """Count outcomes, and log one line for all subscribers of a version."""
        versions = Counter[tuple[str, int]]()
        for result in results:
            if result.event is None:
                continue
            self.context.counters.count("delivery_attempts_total", RESULTS[type(result.event)])
            if isinstance(result.event, DeliverySucceeded):
                versions[result.claim.topic.path, result.event.version] += 1
        for (topic, version), count in versions.items():
            self._log.info(
                "delivered {topic} version {version} to {subscribers}",
                topic=topic,
                version=version,
                subscribers=counted(count, "subscriber"),
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
            topic=claim.topic.path,
            callback_host=claim.pair.host,
            subscription_id=claim.id,
            error=error,
            type="deliver",
        )
        requested = retry_after(delay, self.context.now())
        delays = waits(self.retry_delays, self.context.random, requested)
        return DeliveryOutcome(
            claim=claim, event=DeliveryFailed(delays), status=status, error=error
        )


def waits(
    delays: tuple[float, float], chance: Callable[[], float], requested: int = 0
) -> tuple[int, int]:
    """Return the delays after the first and the second failure, in milliseconds.

    Args:
        delays: Both delays in seconds, before they are varied.
        chance: Returns a random number from 0 to 1.
        requested: The delay that the callback requests, in milliseconds; it only lengthens.
    """

    def wait(delay: float) -> int:
        spread = 1 + JITTER * (2 * chance() - 1)
        return max(round(delay * spread * 1000), requested)

    first, second = delays
    return wait(first), wait(second)


def retry_after(value: bytes | None, now: int) -> int:
    """Return the delay of a Retry-After in milliseconds, at most an hour (RFC 9110 10.2.3).

    An absent or malformed one has no delay. ``now`` is in milliseconds since 1970 UTC.
    """
    if value is None:
        return 0
    if value.isdigit():
        wait = int(value.lstrip(b"0")[:_DIGITS] or b"0") * 1000
    else:
        date = parse_http_date(value, now // 1000)
        wait = 0 if date is None else date * 1000 - now
    return min(max(wait, 0), MAX_RETRY_AFTER)
