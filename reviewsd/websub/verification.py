"""Verification of intent: one GET that the callback must echo (seed 4.8, WebSub 5.3, H2 to H4, H12)."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from hmac import compare_digest
from urllib.parse import urlencode

from twisted.logger import Logger

from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import stored
from reviewsd.domain.subscription import Confirmed, Intent, Mode, NotConfirmed, Unreachable
from reviewsd.store import intents
from reviewsd.store.claims import DEADLY, MAX_DEATHS
from reviewsd.store.intents import Due, IntentClaim, Verified
from reviewsd.store.interface import Store
from reviewsd.websub.context import Client, Context
from reviewsd.websub.outbound.outcomes import Answered, Throttled, Unanswered
from reviewsd.websub.rate_limits import Backoffs
from reviewsd.websub.slots import Slot, Slots

Conclusion = Confirmed | NotConfirmed | Unreachable

RESULTS = {Confirmed: "confirmed", NotConfirmed: "not-confirmed", Unreachable: "unreachable"}
"""What comes of an attempt; so they are counted (O9)."""

CLAIM = 90_000
"""Milliseconds for which an attempt is claimed; longer than any attempt takes (D5)."""


class Verifier:
    """Attempts to have Intents confirmed.

    Args:
        database: Where they are.
        client: Sends the requests.
        timeout: Seconds until a callback must have responded.
        slots: Records how an attempt ended.
        context: Time and chance.
        addresses: Tells which are third parties.
        backoffs: Hosts that are left in peace; told of every outcome.
        confirmed: Called after a confirmation is in the store.
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
        addresses: Addresses,
        backoffs: Backoffs,
        confirmed: Callable[[], None],
    ) -> None:
        self._database = database
        self._client = client
        self._timeout = timeout
        self._slots = slots
        self._context = context
        self._addresses = addresses
        self._backoffs = backoffs
        self._confirmed = confirmed

    async def find_due(
        self, limit: int, excluded_hosts: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """See ``Work``."""
        now = self._context.now()
        found, following = await self._database.run(
            partial(intents.due, now=now, limit=limit, without=excluded_hosts)
        )
        return found, None if following is None else (following - now) / 1000

    async def settle_and_claim(
        self, results: Sequence[Verified], due: Sequence[Due]
    ) -> Sequence[IntentClaim]:
        """See ``Work``."""
        now = self._context.now()
        claims = await self._database.run(
            partial(
                intents.turn,
                results=results,
                wanted=due,
                token=self._context.token(),
                now=now,
                claim_until=now + CLAIM,
            )
        )
        if any(isinstance(result.event, Confirmed) for result in results):
            self._confirmed()
        return claims

    async def run(self, claim: IntentClaim, slot: Slot) -> Verified:
        """See ``Work``."""
        if claim.deaths >= MAX_DEATHS:
            return self._concluded(claim, NotConfirmed(), DEADLY, None)
        callback = stored(claim.pair.callback).adding(_question(claim.intent))
        answer = await self._client.verify(callback, timeout=self._timeout, slot=slot)
        match answer:
            case Throttled():
                return self.release(claim)  # as for a delivery
            case Answered(status=status, body=body):
                right = compare_digest(body, claim.intent.challenge.encode())
                confirmed = answer.successful and right
                event: Conclusion
                event = Confirmed() if confirmed else NotConfirmed()
                said = "confirmed" if confirmed else f"answered {status}"
                if answer.successful and not right:
                    said += _difference(body, claim.intent.challenge.encode())
            case Unanswered(reason=reason):
                event, said = Unreachable(), reason
        self._slots.record(slot, answered=isinstance(answer, Answered))
        return self._concluded(claim, event, said, answer.address)

    def _concluded(
        self, claim: IntentClaim, event: Conclusion, said: str, address: str | None
    ) -> Verified:
        """Note and tell what has come of an attempt."""
        self._note(claim, event, address)
        self._context.counters.count("verification_total", RESULTS[type(event)])
        self._log.info(
            "{mode} at {callback_host}: {said}",
            mode=claim.intent.mode.value,
            callback_host=claim.host,
            said=said,
            type="verify",
        )
        return Verified(claim, event)

    def release(self, claim: IntentClaim) -> Verified:
        """See ``Work``."""
        return Verified(claim, None)

    def _note(self, claim: IntentClaim, event: Conclusion, address: str | None) -> None:
        """Tell the back-offs, but of no failure that hurts no third party (H3)."""
        if isinstance(event, Confirmed):
            self._backoffs.record_success(claim.host)
        elif not claim.active and not (address and self._addresses.opened(address)):
            self._backoffs.record_failure(claim.host, self._context.clock.seconds())


def _difference(body: bytes, challenge: bytes) -> str:
    """Return how a body differs from the challenge, for the log; its own text is not told."""
    if not body:
        return " without a body"
    before, found, after = body.partition(challenge)
    if not found:
        return " without the challenge"
    parts = [
        f"{_kind(text)} {place}" for text, place in ((before, "before"), (after, "after")) if text
    ]
    return f" with the challenge, but it has {' and '.join(parts)} it"


def _kind(text: bytes) -> str:
    """Return in words what stands beside the challenge."""
    if not text.strip(b"\r\n"):
        return "a line break"
    if not text.strip():
        return "a blank"
    return _KINDS.get(text, "other text")


_KINDS = {b"\xef\xbb\xbf": "a byte order mark", b'"': "a quotation mark", b"'": "a quotation mark"}


def _question(intent: Intent) -> str:
    """The parameters of the verification (WebSub 5.3)."""
    parameters: dict[str, str | bytes] = {
        "hub.mode": intent.mode.value,
        "hub.topic": intent.topic_given,
        "hub.challenge": intent.challenge,
    }
    if intent.mode is Mode.SUBSCRIBE:
        parameters["hub.lease_seconds"] = str(intent.lease_seconds)
    if intent.verify_token is not None:
        parameters["hub.verify_token"] = intent.verify_token
    return urlencode(parameters)
