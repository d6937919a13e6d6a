"""The hub's door: a POST to subscribe or unsubscribe, answered before anybody is contacted.

202 means that the request is on the disk (D1). What the answer says never depends on the callback
beyond its spelling, nor on whether it is subscribed (WebSub 5.1, E14).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import assert_never

from twisted.logger import Logger

from reviewsd.domain.addresses import neighbourhood
from reviewsd.domain.subscription import Caps, Intent
from reviewsd.http1 import urls
from reviewsd.store import intents
from reviewsd.store.intents import Asking
from reviewsd.store.interface import Store
from reviewsd.store.secrets import Secrets
from reviewsd.store.thread import Purpose
from reviewsd.websub.context import Context
from reviewsd.websub.form import FormRules, HubAnswer, HubRequest, HubRequestError, read_form
from reviewsd.websub.operator_state import OperatorState
from reviewsd.websub.rate_limits import Backoffs, TokenBuckets

FULL_WAIT = 600
"""Seconds after which to ask again where the hub has as much as it takes."""

PAUSE_WAIT = 300
"""Seconds after which to ask again while the hub is paused."""

START_WAIT = 5
"""Seconds after which to ask again while the hub of an empty state does not know its topics yet."""

PER_CLIENT, PER_HOST = "requests-per-minute", "requests-per-minute-and-host"
_LIMITS = {
    Asking.CROWDED_HOST: PER_HOST,
    Asking.BACKING_OFF: "backoff",
    Asking.TOO_MANY: "active",
    Asking.TOO_MANY_FOR_HOST: "active-per-host",
    Asking.TOO_MANY_PENDING: "pending",
}
LIMITS = (PER_CLIENT, *_LIMITS.values())
"""What a request may run into; so they are counted (O9)."""

_ACCEPTED = HubAnswer(status=202, text="accepted; the callback is asked to confirm it now")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is asked of every request."""

    rules: FormRules
    caps: Caps
    """How much the hub takes on."""
    pending_time: int
    """Seconds in which a request must be confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What depends on who asks, and for whom."""

    requests: TokenBuckets
    """Of client networks (H1)."""
    host_limits: TokenBuckets
    """Of the address networks that these are in (H1)."""
    hosts: TokenBuckets
    """Of callback hosts (H2)."""
    backoffs: Backoffs
    """Hosts whose verifications are held back (H3)."""


class SubscribeEndpoint:
    """Accepts requests.

    Args:
        database: Keeps them.
        secrets: Seals ``hub.secret``.
        operator_state: Of the operator.
        context: Time and chance.
        policy: What is asked of every request.
        limits: What depends on who asks, and for whom.
        accepted: Called when there is something to verify.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        database: Store,
        secrets: Secrets,
        operator_state: OperatorState,
        context: Context,
        policy: Policy,
        limits: RateLimits,
        accepted: Callable[[], None],
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._operator_state = operator_state
        self._context = context
        self._count = context.counters.count
        self._policy = policy
        self._limits = limits
        self._accepted = accepted

    def use(self, policy: Policy, limits: RateLimits) -> None:
        """Ask this of every request from now on."""
        self._policy = policy
        self._limits = limits

    @property
    def help_text(self) -> str:
        """How to subscribe, for who looks at the hub with a browser (W24)."""
        rules = self._policy.rules
        base_url = rules.base_url
        topics = "\n".join(f"  {base_url}{path}" for path in urls.TOPICS)
        return (
            "This is a WebSub hub (https://www.w3.org/TR/websub/). To be sent a topic's content"
            " whenever it changes:\n\n"
            f"  curl {base_url}{urls.HUB} -d hub.mode=subscribe \\\n"
            f"    -d hub.topic={base_url}{urls.TOPICS[0]} \\\n"
            "    --data-urlencode hub.callback=https://you.example.org/callback\n\n"
            f"Topics:\n{topics}\n\n"
            "The callback must be https. It is asked to confirm with one GET: answer 2xx with"
            " exactly the value of hub.challenge.\n"
            f"A subscription lasts {rules.lease_default} seconds, or hub.lease_seconds"
            f" ({rules.lease_min} to {rules.lease_max}); ask again to renew it.\n"
            "With hub.secret, deliveries carry X-Hub-Signature.\n"
            "Three failed deliveries in a row, or one 410, end a subscription."
            " hub.mode=unsubscribe ends it too."
        )

    async def receive(self, body: bytes, content_type: bytes | None, client: str) -> HubAnswer:
        """Accept a request, or say why not.

        Args:
            body: The form, as it came.
            content_type: The header.
            client: The client's network (H1).

        Raises:
            StoreError: Nothing can be kept now.
        """
        now = self._context.clock.seconds()
        wait = self._limits.requests.take(client, now)
        wait = wait or self._limits.host_limits.take(neighbourhood(client), now)
        if wait > 0:
            self._count("ratelimited_total", PER_CLIENT)
            return _later(429, "too many requests from your network", wait)
        try:
            requested = read_form(body, content_type, self._policy.rules)
        except HubRequestError as error:
            if error.refusal is not None:
                self._count("callback_refused_total", error.refusal.value)
            return HubAnswer(status=error.status, text=error.text)
        host = requested.callback.host
        if self._operator_state.blocked(host):
            return HubAnswer(status=403, text=Asking.BLOCKED.value)
        if self._operator_state.paused:
            return _later(503, "the hub is paused by its operator", PAUSE_WAIT)
        return await self._keep(requested, client)

    async def _keep(self, requested: HubRequest, client: str) -> HubAnswer:
        host = requested.callback.host
        # Strangers can use up what a host may have; who is subscribed there must renew all the same.
        wait = self._limits.hosts.take(host, self._context.clock.seconds())
        throttled = self._limits.backoffs.seconds_left(host, self._context.clock.seconds())
        asking = await self._database.run(
            partial(
                intents.ask,
                path=requested.topic,
                callback=(requested.callback.url, host),
                requested=self._intent(requested, client),
                caps=self._policy.caps,
                backing_off=throttled > 0,
                crowded=wait > 0,
            ),
            Purpose.REQUEST,
        )
        if asking in _LIMITS:
            self._count("ratelimited_total", _LIMITS[asking])
        match asking:
            case Asking.ACCEPTED:
                self._log.info(
                    "{mode} of {topic} asked for with a callback at {callback_host}",
                    mode=requested.mode.value,
                    topic=requested.topic,
                    callback_host=host,
                    client=client,
                    type="subscribe",
                )
                self._accepted()
                return _ACCEPTED
            case Asking.NOTHING_TO_END:
                return _ACCEPTED  # as if: who is subscribed is nobody's business (E14)
            case Asking.BLOCKED:
                return HubAnswer(status=403, text=asking.value)
            case Asking.NO_TOPIC:
                return _later(503, asking.value, START_WAIT)
            case Asking.CROWDED_HOST:
                return _later(429, asking.value, wait)
            case Asking.BACKING_OFF:
                return _later(429, asking.value, throttled)
            case Asking.TOO_MANY | Asking.TOO_MANY_FOR_HOST | Asking.TOO_MANY_PENDING:
                return _later(429, asking.value, FULL_WAIT)
        assert_never(asking)

    def _intent(self, requested: HubRequest, client: str) -> Intent:
        now, secret = self._context.now(), requested.secret
        if secret is not None:
            secret = self._secrets.seal(secret, requested.callback.url, requested.topic)
        return Intent(
            mode=requested.mode,
            topic_given=requested.topic_given,
            secret=secret,
            lease_seconds=requested.lease_seconds,
            challenge=self._context.token(),
            verify_token=requested.verify_token,
            topic_version=0,  # known in the transaction
            requester=client,
            requested_at=now,
            expires_at=now + self._policy.pending_time * 1000,
            next_attempt_at=now,
        )


def _later(status: int, reason: str, seconds: float) -> HubAnswer:
    wait = max(1, ceil(seconds))
    text = f"{reason}; try again in {wait} seconds"
    return HubAnswer(status=status, text=text, retry_after=wait)
