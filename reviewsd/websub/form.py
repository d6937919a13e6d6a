"""Parses requests to the hub strictly (WebSub 5.1; H16 to H18).

Each refusal is a HubRequestError. Its text is one line for the developer of the subscriber that names the
field and the rule, and repeats nothing of the request.
"""

import re
from dataclasses import dataclass
from posixpath import normpath
from urllib.parse import parse_qsl

from reviewsd.domain.callback import (
    Callback,
    CallbackPolicy,
    CallbackRefusedError,
    Refusal,
    parse_callback,
)
from reviewsd.domain.subscription import MAX_LEASE, MIN_LEASE, Mode
from reviewsd.http1 import problems, urls

MAX_FIELDS = 32
"""Fields of a form, of which the hub reads six (H16)."""

MAX_SECRET = 199
"""Bytes of UTF-8; WebSub 5.1 has "less than 200"."""

MAX_VERIFY_TOKEN = 255
"""Bytes of UTF-8; a longer one is ignored (W4)."""

MEDIA_TYPE = b"application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRequest:
    """A request that is well-formed and allowed."""

    mode: Mode
    topic: str
    """The path, one of ``urls.TOPICS``."""
    topic_given: str
    """``hub.topic`` byte for byte; the verification returns it (H17)."""
    callback: Callback
    lease_seconds: int
    """The lease that is granted; without meaning for unsubscribe."""
    secret: bytes | None
    """None without a secret, and for unsubscribe."""
    verify_token: bytes | None
    """``hub.verify_token``, which the verification returns to subscribers of PubSubHubbub 0.3 (W4)."""


class HubRequestError(Exception):
    """A request is refused.

    Attributes:
        status: HTTP status: 400, 403, 413 or 415.
        text: One line for the developer.
        refusal: The reason, if the callback is refused.
    """

    def __init__(self, status: int, text: str, refusal: Refusal | None = None) -> None:
        self.status = status
        self.text = text
        self.refusal = refusal
        super().__init__(f"{status} {text}")


def parse_request(
    body: bytes, content_type: bytes | None, base_url: str, lease: int, callbacks: CallbackPolicy
) -> HubRequest:
    """Parse a request to the hub; unsubscribe ignores lease (W25) and secret.

    Args:
        body: The form as received.
        content_type: The value of the field; None if it is absent or repeated.
        base_url: Origin of the topics, without a slash at its end.
        lease: ``hub.lease.default``.
        callbacks: Decides which callbacks are allowed.

    Raises:
        HubRequestError: 415 for another media type, 413 for more than 8 KiB, 403 for a callback
            that policy forbids, 400 for everything else.
    """
    if content_type is None or content_type.partition(b";")[0].strip(b" \t").lower() != MEDIA_TYPE:
        raise HubRequestError(415, f"Content-Type must be {MEDIA_TYPE.decode()}")
    if len(body) > problems.HUB_MAX_BODY:
        too_large = problems.HUB_CONTENT_TOO_LARGE
        raise HubRequestError(too_large.status, too_large.detail)
    form = _Form(body)
    mode = _parse_mode(form.required("hub.mode"))
    topic_given = form.required("hub.topic")
    topic = _parse_topic(topic_given, base_url)
    lease_seconds = lease
    if mode is Mode.SUBSCRIBE:
        lease_seconds = _parse_lease(form.optional("hub.lease_seconds"), lease)
    secret = _parse_secret(form.optional("hub.secret"))
    verify_token = form.optional("hub.verify_token").encode()
    return HubRequest(
        mode=mode,
        topic=topic,
        topic_given=topic_given,
        callback=_parse_callback(form.required("hub.callback"), callbacks),
        lease_seconds=lease_seconds,
        secret=secret if mode is Mode.SUBSCRIBE else None,
        verify_token=verify_token if 0 < len(verify_token) <= MAX_VERIFY_TOKEN else None,
    )


class _Form:
    """The fields of a form, all of them decoded.

    Args:
        body: The form in the encoding of browsers, as UTF-8.

    Raises:
        HubRequestError: 400; the form is malformed.
    """

    def __init__(self, body: bytes) -> None:
        if _BROKEN_ESCAPE.search(body) is not None:
            raise HubRequestError(400, "the form has a broken percent-escape")
        if body.count(b"&") >= MAX_FIELDS:
            raise HubRequestError(400, f"the form must have at most {MAX_FIELDS} fields")
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
        except UnicodeDecodeError:
            raise HubRequestError(400, "the form must be UTF-8") from None
        self._fields: dict[str, list[str]] = {}
        for name, value in pairs:
            self._fields.setdefault(name, []).append(value)

    def optional(self, name: str) -> str:
        """Return the value of a field, or an empty text."""
        values = self._fields.get(name, [""])
        if len(values) > 1:
            raise HubRequestError(400, f"{name}: must be given once")
        return values[0]

    def required(self, name: str) -> str:
        """Return the value of a field that must be present."""
        if name not in self._fields:
            raise HubRequestError(400, f"{name}: must be given")
        return self.optional(name)


_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


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


def _parse_callback(text: str, policy: CallbackPolicy) -> Callback:
    try:
        return parse_callback(text, policy)
    except CallbackRefusedError as error:
        status = 403 if error.forbidden else 400
        text = f"hub.callback: {error.detail}"
        raise HubRequestError(status, text, error.refusal) from None


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


def _parse_secret(text: str) -> bytes | None:
    """Return the key of signatures; an empty one would sign nothing, and counts as none (H11)."""
    secret = text.encode()
    if len(secret) > MAX_SECRET:
        raise HubRequestError(
            400, f"hub.secret: must have at most {MAX_SECRET} bytes, counted in UTF-8"
        )
    return secret or None
