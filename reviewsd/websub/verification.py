"""The hub's GETs to callbacks: verifications of intent, and denials.

A verification has a challenge that the callback must return (seed 4.8). A denial reports the end of a
subscription with ``hub.mode=denied`` (WebSub 5.2, H7). Internal details such as addresses and errors of this
host are only for the operator, in the log and in ``reviewsctl subs``. The subscriber receives one of the
reasons below, or a reason that the operator gave.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hmac import compare_digest
from itertools import count
from urllib.parse import urlencode

from twisted.logger import Logger

from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import parse_stored
from reviewsd.domain.subscription import Confirmed, Intent, Mode, NotConfirmed, Unreachable
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store import intents
from reviewsd.store.intents import IntentClaim, VerificationOutcome
from reviewsd.store.rows import DEADLY, Due, Pair
from reviewsd.store.transactions import Store
from reviewsd.websub.context import Context
from reviewsd.websub.outbound.client import CallbackClient, CallbackRequest
from reviewsd.websub.outbound.connection import SUCCESS
from reviewsd.websub.outbound.response_parser import NetworkFullError, NoResponseError
from reviewsd.websub.rate_limits import Backoffs
from reviewsd.websub.slots import Slot, Slots

RESULTS = {Confirmed: "confirmed", NotConfirmed: "not-confirmed", Unreachable: "unreachable"}
"""Labels of ``verification_total`` (O9)."""

TIMEOUT = 15.0
"""Seconds in which a callback must respond (E12)."""

FAILED = "three deliveries in a row failed"
REMOVED = "removed by the operator of the hub"

MAX_DENIALS = 16
"""Most denials at the same time; a further one is not sent, because it is optional."""


@dataclass(slots=True, eq=False, kw_only=True)
class Verifier:
    """Verifies intents; implements the ``Work`` of a Scheduler."""

    _log = Logger()

    store: Store
    client: CallbackClient
    slots: Slots
    context: Context
    addresses: Addresses
    backoffs: Backoffs
    on_confirmed: Callable[[], None]
    """Called after confirmations were stored."""

    async def find_due(
        self, limit: int, excluded_hosts: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """Return intents that are due, and the seconds until the next one is."""
        now = self.context.now()
        return await self.store.run(
            partial(intents.find_due, now=now, limit=limit, without=excluded_hosts)
        )

    async def settle_and_claim(
        self, results: Sequence[VerificationOutcome], due: Sequence[Due]
    ) -> Sequence[IntentClaim]:
        """Store results and claim intents."""
        claims = await self.store.run(
            partial(
                intents.settle_and_claim,
                outcomes=results,
                due=due,
                token=self.context.token(),
                now=self.context.now(),
            )
        )
        if any(isinstance(result.event, Confirmed) for result in results):
            self.on_confirmed()
        return claims

    async def run(self, claim: IntentClaim, slot: Slot) -> VerificationOutcome:
        """Send the challenge and judge the response (H12)."""
        if claim.deadly:
            return self._conclude(claim, NotConfirmed(), DEADLY)
        callback = parse_stored(claim.pair.callback).with_parameters(_query(claim.intent))
        request = CallbackRequest(method="GET", callback=callback, slot=slot)
        try:
            response = await self.client.send(request, TIMEOUT)
            body = await response.content()
        except NetworkFullError:
            return self.release(claim)  # not sent: its network, known only now, has no free slot
        except NoResponseError as error:
            self.slots.record(slot, answered=False)
            return self._conclude(claim, Unreachable(), error.reason, slot.address)
        self.slots.record(slot, answered=True)
        challenge, result = claim.intent.challenge.encode(), f"answered {response.code}"
        if response.code not in SUCCESS:
            return self._conclude(claim, NotConfirmed(), result, slot.address)
        if not compare_digest(body, challenge):
            result += _difference(body, challenge)
            return self._conclude(claim, NotConfirmed(), result, slot.address)
        return self._conclude(claim, Confirmed(), "confirmed", slot.address)

    def release(self, claim: IntentClaim) -> VerificationOutcome:
        """Return the result of a claim that was not attempted."""
        return VerificationOutcome(claim, None)

    def _conclude(
        self,
        claim: IntentClaim,
        event: Confirmed | NotConfirmed | Unreachable,
        result: str,
        address: str | None = None,
    ) -> VerificationOutcome:
        """Count and log a result.

        A failure counts for the back-off of the host, unless the pair is an active subscription or the
        address is in an opened network, where it harms no third party (H3).
        """
        if isinstance(event, Confirmed):
            self.backoffs.record_success(claim.pair.host)
        elif not claim.active and not (address and self.addresses.opened(address)):
            self.backoffs.record_failure(claim.pair.host, self.context.clock.seconds())
        self.context.counters.count("verification_total", RESULTS[type(event)])
        self._log.info(
            "{mode} at {callback_host}: {result}",
            mode=claim.intent.mode.value,
            callback_host=claim.pair.host,
            result=result,
            type="verify",
        )
        return VerificationOutcome(claim, event)


def _difference(body: bytes, challenge: bytes) -> str:
    """Return how a body differs from the challenge, for the log, without any of its text."""
    if not body:
        return " without a body"
    before, match, after = body.partition(challenge)
    if not match:
        return " without the challenge"
    parts = [
        f"{_describe(text)} {place}"
        for text, place in ((before, "before"), (after, "after"))
        if text
    ]
    return f" with {' and '.join(parts)} the challenge"


def _describe(text: bytes) -> str:
    """Return the kind of a text beside the challenge."""
    if not text.strip(b"\r\n"):
        return "a line break"
    if not text.strip():
        return "white space"
    return _KINDS.get(text, "other text")


_KINDS = {b"\xef\xbb\xbf": "a byte order mark", b'"': "a quotation mark", b"'": "a quotation mark"}


def _query(intent: Intent) -> str:
    """Return the parameters of a verification (W11)."""
    parameters: dict[str, str | bytes] = {
        "hub.mode": intent.mode.value,
        "hub.topic": intent.requested_topic,
        "hub.challenge": intent.challenge,
    }
    if intent.mode is Mode.SUBSCRIBE:
        parameters["hub.lease_seconds"] = str(intent.lease_seconds)
    if intent.verify_token is not None:
        parameters["hub.verify_token"] = intent.verify_token
    return urlencode(parameters)


@dataclass(slots=True, eq=False, kw_only=True)
class Denials:
    """Sends denials, without retries."""

    _log = Logger()

    client: CallbackClient
    slots: Slots
    base_url: str
    _ids: Iterator[int] = field(default_factory=count, init=False)
    _tasks: TaskSet = field(default_factory=TaskSet, init=False)

    def send(self, pair: Pair, topic: str, reason: str) -> None:
        """Notify a callback that its subscription to a topic, given by its path, has ended."""
        self._tasks.start("denial", self._send(pair, topic, reason))

    async def stop(self) -> None:
        """Cancel all denials."""
        await self._tasks.stop()
        self.slots.stop()

    async def _send(self, pair: Pair, topic: str, reason: str) -> None:
        due = Due(id=next(self._ids), host=pair.host, active=True)
        slot = self.slots.try_enter(due) if self.slots.has_place else None
        if slot is None:
            return
        parameters = {
            "hub.mode": "denied",
            "hub.topic": self.base_url + topic,
            "hub.reason": reason,
        }
        callback = parse_stored(pair.callback).with_parameters(urlencode(parameters))
        self.slots.begin(slot)
        try:
            request = CallbackRequest(method="GET", callback=callback, slot=slot)
            await self.client.send(request, TIMEOUT)
            answered = True
        except (NoResponseError, NetworkFullError):
            answered = False
        finally:
            self.slots.leave(slot)
        self._log.info(
            "notified {callback_host} that its subscription to {topic} has ended: {result}",
            callback_host=pair.host,
            topic=topic,
            result="it answered" if answered else "it did not answer",
        )
