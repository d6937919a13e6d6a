"""Accepts requests to subscribe and unsubscribe; no callback is contacted before the response.

Forms are parsed strictly (WebSub 5.1; H16 to H18). The text of a refusal is one line for the developer of
the subscriber that names the field and the rule, and repeats nothing of the request. 202 means that the
intent is on disk (D1). A response depends on the callback only by its spelling, and not on whether it is
subscribed (WebSub 5.1, E14); but at a limit a renewal is accepted where a new subscription is not (H5).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from posixpath import normpath
from urllib.parse import parse_qsl

from twisted.logger import Logger

from reviewsd.api.texts import counted
from reviewsd.config import convert
from reviewsd.config.schema import Config
from reviewsd.domain.addresses import hits, neighborhood
from reviewsd.domain.callback import (
    Callback,
    CallbackPolicy,
    CallbackRefusedError,
    Refusal,
    parse_callback,
)
from reviewsd.domain.subscription import MAX_LEASE, MIN_LEASE, Caps, Intent, Mode
from reviewsd.http1 import problems, urls
from reviewsd.store import intents
from reviewsd.store.intents import RequestOutcome
from reviewsd.store.keys import Secrets
from reviewsd.store.transactions import Purpose, Store
from reviewsd.websub.context import Context
from reviewsd.websub.rate_limits import Backoffs, TokenBuckets

MAX_FIELDS = 32
"""Fields of a form, of which the hub reads six (H16)."""

MAX_SECRET = 199
"""Bytes of UTF-8; WebSub 5.1 has "less than 200"."""

MAX_VERIFY_TOKEN = 255
"""Bytes of UTF-8; a longer one is ignored (W4)."""

MEDIA_TYPE = b"application/x-www-form-urlencoded"

FULL_SECONDS, PAUSED_SECONDS, STARTING_SECONDS = 600, 300, 5
"""Retry-After while the hub is full, is paused, or has no topics yet."""

PENDING_MILLISECONDS = 600_000
"""Time for which a request waits for its verification (H5)."""

NEIGHBORHOOD = 4
"""The rate of a whole /24 or /48, as a multiple of one client network's (H1)."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRequest:
    """A request that is well-formed and allowed."""

    mode: Mode
    topic: str
    """The path, one of ``urls.TOPICS``."""
    requested_topic: str
    """``hub.topic`` byte for byte; the verification returns it (H17)."""
    callback: Callback
    lease_seconds: int
    """The lease that is granted; without meaning for unsubscribe."""
    secret: bytes | None
    """None without a secret, and for unsubscribe."""
    verify_token: bytes | None
    """``hub.verify_token``, which the verification returns to subscribers of PubSubHubbub 0.3 (W4)."""


class HubRequestError(Exception):
    """A refused request: status, one line for the developer, and the reason if it is the callback."""

    def __init__(self, status: int, text: str, refusal: Refusal | None = None) -> None:
        self.status = status
        self.text = text
        self.refusal = refusal
        super().__init__(f"{status} {text}")


_ACCEPTED = HubResponse(status=202, text="accepted; the callback is asked to confirm it now")


@dataclass(eq=False, kw_only=True)
class HubRequests:
    """Accepts requests to subscribe and unsubscribe."""

    _log = Logger()

    config: Config
    store: Store
    secrets: Secrets
    context: Context
    backoffs: Backoffs
    own_ports: AbstractSet[int]
    """Ports of ``base_url`` and of the listeners, which are added as they open (E1)."""
    caps: Caps
    on_accepted: Callable[[], None]
    """Called when an intent is stored."""
    paused: bool = False
    """Whether the hub is paused."""

    def __post_init__(self) -> None:
        self.is_blocked: Callable[[str], bool] = hits(())
        """Whether a callback host is blocked by its name or its address."""
        self.reload(self.config)

    def reload(self, config: Config) -> None:
        """Apply ``hub.lease`` and ``hub.limits`` of a configuration to all further requests."""
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
        wait = wait or self._neighborhood_buckets.take(neighborhood(client), now)
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
        if self.is_blocked(request.callback.host):
            return HubResponse(status=403, text=RequestOutcome.BLOCKED.value)
        if self.paused:
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
            self.on_accepted()
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
            requested_topic=request.requested_topic,
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
    text = f"{reason}; try again in {counted(wait, 'second')}"
    return HubResponse(status=status, text=text, retry_after=wait)


def parse_request(
    body: bytes, content_type: bytes | None, base_url: str, lease: int, callbacks: CallbackPolicy
) -> HubRequest:
    """Parse a request to the hub; unsubscribe ignores lease (W25) and secret.

    The first two arguments are those of ``HubRequests.receive``, the others come from the configuration.

    Raises:
        HubRequestError: 415 for another media type, 413 for more than 8 KiB, 403 for a callback
            that policy forbids, 400 for everything else.
    """
    if content_type is None or content_type.partition(b";")[0].strip(b" \t").lower() != MEDIA_TYPE:
        raise HubRequestError(415, f"Content-Type must be {MEDIA_TYPE.decode()}")
    if len(body) > problems.HUB_MAX_BODY:
        too_large = problems.HUB_CONTENT_TOO_LARGE
        raise HubRequestError(too_large.status, too_large.detail)
    fields = _parse_form(body)
    mode = _parse_mode(_value(fields, "hub.mode", required=True))
    requested_topic = _value(fields, "hub.topic", required=True)
    topic = _parse_topic(requested_topic, base_url)
    lease_seconds = lease
    if mode is Mode.SUBSCRIBE:
        lease_seconds = _parse_lease(_value(fields, "hub.lease_seconds"), lease)
    secret = _value(fields, "hub.secret").encode()
    if len(secret) > MAX_SECRET:
        text = f"hub.secret: must have at most {MAX_SECRET} bytes, counted in UTF-8"
        raise HubRequestError(400, text)
    verify_token = _value(fields, "hub.verify_token").encode()
    try:
        callback = parse_callback(_value(fields, "hub.callback", required=True), callbacks)
    except CallbackRefusedError as error:
        status = 403 if error.is_forbidden else 400
        raise HubRequestError(status, f"hub.callback: {error.detail}", error.refusal) from None
    return HubRequest(
        mode=mode,
        topic=topic,
        requested_topic=requested_topic,
        callback=callback,
        lease_seconds=lease_seconds,
        # an empty secret would sign nothing, and counts as none (H11)
        secret=secret or None if mode is Mode.SUBSCRIBE else None,
        verify_token=verify_token if 0 < len(verify_token) <= MAX_VERIFY_TOKEN else None,
    )


_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def _parse_form(body: bytes) -> dict[str, list[str]]:
    """Return the values of each field of a form in the encoding of browsers, as UTF-8."""
    if _BROKEN_ESCAPE.search(body) is not None:
        raise HubRequestError(400, "the form has a broken percent-escape")
    if body.count(b"&") >= MAX_FIELDS:
        raise HubRequestError(400, f"the form must have at most {MAX_FIELDS} fields")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise HubRequestError(400, "the form must be UTF-8") from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return fields


def _value(fields: Mapping[str, Sequence[str]], name: str, *, required: bool = False) -> str:
    """Return the value of a field; an empty text if it is absent and not required."""
    values = fields.get(name, ())
    if required and not values:
        raise HubRequestError(400, f"{name}: must be given")
    if len(values) > 1:
        raise HubRequestError(400, f"{name}: must be given once")
    return values[0] if values else ""


def _parse_mode(text: str) -> Mode:
    if text == "publish":
        raise HubRequestError(
            400,
            "hub.mode: must be subscribe or unsubscribe; publish is not needed, this hub "
            "publishes by itself when the data changes",
        )
    try:
        return Mode(text)
    except ValueError:
        raise HubRequestError(400, "hub.mode: must be subscribe or unsubscribe") from None


# A relative path; without a colon, which could end a scheme (RFC 3986 4.2)
_RELATIVE = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=@/-]+")


def _parse_topic(text: str, base_url: str) -> str:
    """Return the path of the topic that a URL or a reference names (H17).

    ``urljoin`` is too lenient: it removes line breaks, and an empty query or fragment.
    """
    authority = base_url.partition(":")[2]  # with the two slashes
    path = ""
    if text.startswith((base_url, authority)):
        path = text.partition(authority)[2]
    elif _RELATIVE.fullmatch(text) and "//" not in text and not text.endswith(("/", "/.", "/..")):
        path = normpath(f"/{text.removeprefix('/')}")  # RFC 3986 5.2.4
    if path not in urls.TOPICS:
        topics = ", ".join(base_url + topic for topic in urls.TOPICS)
        raise HubRequestError(400, f"hub.topic: must be one of {topics}")
    return path


_DECIMAL = re.compile(r"0*([1-9][0-9]*)")


def _parse_lease(text: str, lease: int) -> int:
    """Return the lease that is granted, in seconds (H18)."""
    if text == "":
        return lease
    decimal = _DECIMAL.fullmatch(text)
    if decimal is None:
        raise HubRequestError(
            400, "hub.lease_seconds: must be a positive decimal integer, a number of seconds"
        )
    digits = decimal[1]
    if len(digits) > len(str(MAX_LEASE)):  # int() would refuse more than 4,300
        return MAX_LEASE
    return min(max(int(digits), MIN_LEASE), MAX_LEASE)
