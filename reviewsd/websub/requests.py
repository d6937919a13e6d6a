"""Accepts requests to subscribe and unsubscribe; no callback is contacted before the response.

202 means that the intent is on disk (D1). A response depends on the callback only by its spelling, and not
on whether it is subscribed (WebSub 5.1, E14).
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from twisted.logger import Logger

from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import neighbourhood
from reviewsd.domain.subscription import MAX_LEASE, MIN_LEASE, Caps, Intent
from reviewsd.http1 import urls
from reviewsd.store import intents
from reviewsd.store.intents import RequestOutcome
from reviewsd.store.keys import Secrets
from reviewsd.store.transactions import Purpose, Store
from reviewsd.websub.context import Context
from reviewsd.websub.form import HubRequest, HubRequestError, parse_request
from reviewsd.websub.operator import Operator
from reviewsd.websub.rate_limits import Backoffs, TokenBuckets

FULL_SECONDS, PAUSED_SECONDS, STARTING_SECONDS = 600, 300, 5
"""Retry-After while the hub is full, is paused, or has no topics yet."""

PENDING_MILLISECONDS = 600_000
"""Time for which a request waits for its verification (H5)."""

NEIGHBORHOOD = 4
"""Times the rate of a client network that its whole /24 or /48 has (H1)."""

PER_CLIENT = "requests-per-minute"
_LIMITS = {
    RequestOutcome.CROWDED_HOST: "requests-per-minute-and-host",
    RequestOutcome.BACKING_OFF: "backoff",
    RequestOutcome.TOO_MANY: "active",
    RequestOutcome.TOO_MANY_FOR_HOST: "active-per-host",
    RequestOutcome.TOO_MANY_PENDING: "pending",
}
LIMITS = (PER_CLIENT, *_LIMITS.values())
"""Labels of ``ratelimited_total`` (O9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubResponse:
    """A response of the hub: ``text/plain`` (W9)."""

    status: int
    text: str
    """One line, without a line break."""
    retry_after: int | None = None
    """Seconds."""


_ACCEPTED = HubResponse(status=202, text="accepted; the callback is asked to confirm it now")


@dataclass(eq=False, kw_only=True)
class HubRequests:
    """Accepts requests to subscribe and unsubscribe."""

    _log = Logger()

    config: Config
    store: Store
    secrets: Secrets
    operator: Operator
    context: Context
    backoffs: Backoffs
    own_ports: AbstractSet[int]
    """Ports of ``base_url`` and of the listeners, which are added as they open (E1)."""
    caps: Caps
    accepted: Callable[[], None]
    """Called when an intent is stored."""

    def __post_init__(self) -> None:
        self.reload(self.config)

    def reload(self, config: Config) -> None:
        """Apply a configuration to all further requests."""
        self.config = config
        self._callbacks = convert.callback_policy(config, self.own_ports)
        rate = config.hub.limits.requests_per_minute
        self._client_buckets = TokenBuckets(rate)
        self._neighborhood_buckets = TokenBuckets(NEIGHBORHOOD * rate)
        self._host_buckets = TokenBuckets(rate)

    @property
    def help_text(self) -> str:
        """The instructions that a GET returns (W24)."""
        base_url, lease = self.config.base_url, self.config.hub.lease.default
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
            f"A subscription lasts {lease} seconds, or hub.lease_seconds"
            f" ({MIN_LEASE} to {MAX_LEASE}); ask again to renew it.\n"
            "With hub.secret, deliveries carry X-Hub-Signature.\n"
            "Three failed deliveries in a row, or one 410, end a subscription."
            " hub.mode=unsubscribe ends it too."
        )

    async def receive(self, body: bytes, content_type: bytes | None, client: str) -> HubResponse:
        """Accept a request or refuse it.

        Args:
            body: The form as received.
            content_type: The value of the field; None if it is absent or repeated.
            client: The client network (H1).

        Raises:
            StoreError: The intent cannot be stored now.
        """
        now = self.context.clock.seconds()
        wait = self._client_buckets.take(client, now)
        wait = wait or self._neighborhood_buckets.take(neighbourhood(client), now)
        if wait > 0:
            self.context.counters.count("ratelimited_total", PER_CLIENT)
            return _try_later(429, "too many requests from your network", wait)
        try:
            request = parse_request(
                body,
                content_type,
                self.config.base_url,
                self.config.hub.lease.default,
                self._callbacks,
            )
        except HubRequestError as error:
            if error.refusal is not None:
                self.context.counters.count("callback_refused_total", error.refusal.value)
            return HubResponse(status=error.status, text=error.text)
        if self.operator.is_blocked(request.callback.host):
            return HubResponse(status=403, text=RequestOutcome.BLOCKED.value)
        if self.operator.paused:
            return _try_later(503, "the hub is paused by its operator", PAUSED_SECONDS)
        return await self._store_intent(request, client)

    async def _store_intent(self, request: HubRequest, client: str) -> HubResponse:
        host, now = request.callback.host, self.context.clock.seconds()
        # An active pair may renew despite a full bucket or a back-off: strangers may have caused it
        host_wait = self._host_buckets.take(host, now)
        backoff = self.backoffs.seconds_left(host, now)
        result = await self.store.run(
            partial(
                intents.record_request,
                path=request.topic,
                callback=(request.callback.url, host),
                request=self._intent(request, client),
                caps=replace(self.caps, active_per_host=self.config.hub.limits.active_per_host),
                backing_off=backoff > 0,
                crowded=host_wait > 0,
            ),
            Purpose.REQUEST,
        )
        if result in _LIMITS:
            self.context.counters.count("ratelimited_total", _LIMITS[result])
        if result is RequestOutcome.ACCEPTED:
            self._log.info(
                "{mode} of {topic} requested with a callback at {callback_host}",
                mode=request.mode.value,
                topic=request.topic,
                callback_host=host,
                client=client,
                type="subscribe",
            )
            self.accepted()
        if result in {RequestOutcome.ACCEPTED, RequestOutcome.NOTHING_TO_END}:
            return _ACCEPTED  # the same whether or not the callback is subscribed (E14)
        if result is RequestOutcome.BLOCKED:
            return HubResponse(status=403, text=result.value)
        if result is RequestOutcome.NO_TOPIC:
            return _try_later(503, result.value, STARTING_SECONDS)
        waits = {RequestOutcome.CROWDED_HOST: host_wait, RequestOutcome.BACKING_OFF: backoff}
        return _try_later(429, result.value, waits.get(result, FULL_SECONDS))

    def _intent(self, request: HubRequest, client: str) -> Intent:
        now, secret = self.context.now(), request.secret
        if secret is not None:
            secret = self.secrets.seal(secret, request.callback.url, request.topic)
        return Intent(
            mode=request.mode,
            topic_given=request.topic_given,
            secret=secret,
            lease_seconds=request.lease_seconds,
            challenge=self.context.token(),
            verify_token=request.verify_token,
            topic_version=0,  # set in the transaction
            requester=client,
            requested_at=now,
            expires_at=now + PENDING_MILLISECONDS,
            next_attempt_at=now,
        )


def _try_later(status: int, reason: str, seconds: float) -> HubResponse:
    wait = max(1, ceil(seconds))
    text = f"{reason}; try again in {wait} seconds"
    return HubResponse(status=status, text=text, retry_after=wait)
