"""What is asked of the hub, read strictly, and what it answers (WebSub 5.1; H16 to H18).

Every refusal is a HubRequestError whose text is for the person who develops the subscriber: one line
that names the field and the rule. It repeats nothing of what was sent.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from reviewsd.domain.callback import (
    Callback,
    CallbackPolicy,
    CallbackRefusedError,
    Refusal,
    parse_callback,
)
from reviewsd.domain.subscription import Mode
from reviewsd.http1 import problems, urls

MAX_FIELDS = 32
"""The hub's own are five; H16."""

MAX_SECRET = 199
"""Bytes of UTF-8; WebSub 5.1 has "less than 200"."""

MAX_VERIFY_TOKEN = 255
"""Bytes of UTF-8; a longer one is ignored (W4)."""

MEDIA_TYPE = b"application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRules:
    """What the operator decides about requests."""

    base_url: str
    """Origin of the topics, without a slash at its end."""
    callbacks: CallbackPolicy
    lease_default: int
    """Seconds, like the two bounds."""
    lease_min: int
    lease_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRequest:
    """A request that is well-formed and allowed."""

    mode: Mode
    topic: str
    """The path, one of ``paths.TOPICS``."""
    topic_given: str
    """As it came; the verification echoes it (H17)."""
    callback: Callback
    lease_seconds: int
    """What is granted; of no meaning for unsubscribe."""
    secret: bytes | None
    """None where there is none, and for unsubscribe."""
    verify_token: bytes | None
    """What the verification gives back to subscribers of PubSubHubbub 0.3 (W4)."""


class HubRequestError(Exception):
    """A request is refused.

    Attributes:
        status: Of HTTP: 400, 403, 413 or 415.
        text: One line for the developer.
        refusal: Why the callback is refused, where that is the reason.
    """

    def __init__(self, status: int, text: str, refusal: Refusal | None = None) -> None:
        self.status = status
        self.text = text
        self.refusal = refusal
        super().__init__(f"{status} {text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAnswer:
    """What the hub answers; ``text/plain`` (W9)."""

    status: int
    text: str
    """One line, without its end."""
    retry_after: int | None = None
    """Seconds."""


def read_form(body: bytes, content_type: bytes | None, rules: FormRules) -> HubRequest:
    """Read a request to the hub.

    On unsubscribe the lease is not looked at (W25), and the secret has no use.

    Args:
        body: As received.
        content_type: The value of the field; None where it is absent, or came twice.
        rules: What the operator decides.

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
    mode = _read_mode(form.required("hub.mode"))
    topic_given = form.required("hub.topic")
    topic = _read_topic(topic_given, rules.base_url)
    lease_seconds = rules.lease_default
    if mode is Mode.SUBSCRIBE:
        lease_seconds = _read_lease(form.optional("hub.lease_seconds"), rules)
    secret = _read_secret(form.optional("hub.secret"))
    verify_token = form.optional("hub.verify_token").encode()
    return HubRequest(
        mode=mode,
        topic=topic,
        topic_given=topic_given,
        callback=_read_callback(form.required("hub.callback"), rules.callbacks),
        lease_seconds=lease_seconds,
        secret=secret if mode is Mode.SUBSCRIBE else None,
        verify_token=verify_token if 0 < len(verify_token) <= MAX_VERIFY_TOKEN else None,
    )


class _Form:
    """The fields of a form, all of them decoded: one that is broken is no form.

    Args:
        body: What browsers make of a form, in UTF-8.

    Raises:
        HubRequestError: 400; it is none.
    """

    def __init__(self, body: bytes) -> None:
        pieces = body.split(b"&", MAX_FIELDS)
        if len(pieces) > MAX_FIELDS:
            raise HubRequestError(400, f"the form must have at most {MAX_FIELDS} fields")
        self._given: dict[str, list[str]] = {}
        for piece in pieces:
            name, _, value = piece.partition(b"=")
            self._given.setdefault(_decoded(name), []).append(_decoded(value))

    def optional(self, name: str) -> str:
        """The value of a field; empty where it is absent."""
        values = self._given.get(name, [""])
        if len(values) > 1:
            raise HubRequestError(400, f"{name}: must be given once")
        return values[0]

    def required(self, name: str) -> str:
        """The value of a field that must be there."""
        if name not in self._given:
            raise HubRequestError(400, f"{name}: must be given")
        return self.optional(name)


_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def _decoded(text: bytes) -> str:
    if _BROKEN_ESCAPE.search(text) is not None:
        raise HubRequestError(400, "the form has a broken percent-escape")
    try:
        return unquote_to_bytes(text.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise HubRequestError(400, "the form must be UTF-8") from None


def _read_mode(text: str) -> Mode:
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


# What a path can be made of here; without a colon, so that no scheme hides in it (RFC 3986 4.2)
_RELATIVE = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=@/-]+")


def _read_topic(text: str, base_url: str) -> str:
    """The path of the topic that a URL or a reference names (H17).

    Not by ``urljoin``: that one takes away line breaks, and an empty query or fragment.
    """
    authority = base_url.partition(":")[2]  # with its two slashes
    path = ""
    if text.startswith((base_url, authority)):
        path = text.partition(authority)[2]
    elif _RELATIVE.fullmatch(text) is not None and not text.startswith("//"):
        path = _without_dots(text)
    if path not in urls.TOPICS:
        topics = ", ".join(base_url + topic for topic in urls.TOPICS)
        raise HubRequestError(400, f"hub.topic: must be one of {topics}")
    return path


def _without_dots(path: str) -> str:
    """A path below the root with its dot segments removed (RFC 3986 5.2.4)."""
    segments = path.removeprefix("/").split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _read_callback(text: str, policy: CallbackPolicy) -> Callback:
    try:
        return parse_callback(text, policy)
    except CallbackRefusedError as error:
        status = 403 if error.forbidden else 400
        text = f"hub.callback: {error.detail}"
        raise HubRequestError(status, text, error.refusal) from None


_DECIMAL = re.compile(r"0*([1-9][0-9]*)")


def _read_lease(text: str, rules: FormRules) -> int:
    """The lease that is granted, in seconds (H18)."""
    if text == "":
        return rules.lease_default
    decimal = _DECIMAL.fullmatch(text)
    if decimal is None:
        raise HubRequestError(
            400, "hub.lease_seconds: must be a positive decimal integer, a number of seconds"
        )
    digits = decimal[1]
    if len(digits) > len(str(rules.lease_max)):  # int() would refuse more than 4,300
        return rules.lease_max
    return min(max(int(digits), rules.lease_min), rules.lease_max)


def _read_secret(text: str) -> bytes | None:
    """The key of the signatures; an empty one would sign nothing, and is none (H11)."""
    secret = text.encode()
    if len(secret) > MAX_SECRET:
        raise HubRequestError(
            400, f"hub.secret: must have at most {MAX_SECRET} bytes, counted in UTF-8"
        )
    return secret or None
