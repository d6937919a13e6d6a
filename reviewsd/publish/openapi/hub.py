"""The hub in the OpenAPI document, and what it asks of those who subscribe (contract 5, seed 4.8).

What the hub sends to a callback, the verification GET and the notification POST, is described as
OpenAPI callbacks: the document tells a subscriber's author what to serve, not only what to ask.
"""

from reviewsd.http1 import problems, urls
from reviewsd.publish.openapi import responses
from reviewsd.publish.openapi.schemas import Json, reference

TAG = "hub"

ATOM = "application/atom+xml"
FORM = "application/x-www-form-urlencoded"
TEXT = "text/plain"

_CALLBACK = "{$request.body#/hub.callback}"

_SUBSCRIBE = """\
Asks for the full content of a topic to be sent to a callback whenever it changes, or for no more \
of it. A form with one value for each field; fields that are not named here are ignored.

The answer is 202 before the callback is contacted: whether it confirms does not show here. To renew \
a subscription, subscribe again before its lease is over; what was agreed before holds until the \
callback has confirmed.

After three deliveries in a row that no 2xx answered, the subscription is removed: sooner than \
WebSub has it, which would keep it to the end of its lease."""

_VERIFY = """\
The callback confirms with any 2xx and the value of `hub.challenge` as the whole body, byte for byte. \
Every other answer, a redirect too, leaves things as they were. A callback that cannot be reached is \
asked once more.

With `hub.mode=denied` the hub tells that a subscription was refused or removed, with the reason; \
then there is no challenge, and the answer does not matter."""

_NOTIFY = """\
The full content of the topic, the bytes that a GET of it answers. Any 2xx acknowledges; the body of \
the answer is not read. Redirects are not followed. After the first and the second failure in a row \
the hub tries again, about one minute and half an hour later; the third removes the subscription. \
Changes that happen meanwhile come together, as the current content. The same content may come \
twice, and has the same `ETag` then."""

# The callback grammar of domain/callback.py, as far as policy has no say
_LABEL = "[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_PORT = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
_URL = (
    rf"^[Hh][Tt][Tt][Pp][Ss]://(?=[^/?:]{{1,253}}([/?:]|$))({_LABEL}\.)*{_LABEL}\.?(:({_PORT}))?"
    "([/?]([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$"
)

_MODE: Json = {"type": "string", "enum": ["subscribe", "unsubscribe"]}
_RETRY_AFTER: Json = {
    "Retry-After": {
        "description": "Seconds after which it may be tried again",
        "schema": {"type": "integer", "minimum": 0},
    }
}
_SIGNATURE = "sha256=1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f53"


def path_item(base_url: str) -> Json:
    """What the hub's address answers.

    Args:
        base_url: Origin of the topics, without a slash at its end.
    """
    return {"get": _explain(), "post": _subscribe(base_url)}


def _explain() -> Json:
    return {
        "operationId": "getHub",
        "tags": [TAG],
        "summary": "How to subscribe",
        "description": "For people who come here with a browser.",
        "responses": {
            "200": _told("What to POST", "This is a WebSub hub. ...\n"),
            "413": _too_large(),
            "421": _misdirected(),
        },
    }


def _subscribe(base_url: str) -> Json:
    return {
        "operationId": "subscribe",
        "tags": [TAG],
        "summary": "Subscribe to a topic, or unsubscribe",
        "description": _SUBSCRIBE,
        "requestBody": {"required": True, "content": {FORM: _form(base_url)}},
        "responses": {
            "202": _told(
                "It is asked of the callback next",
                "accepted; the callback is asked to confirm it now\n",
            ),
            "400": _told(
                "A field is missing, doubled or malformed, or the topic is none",
                "hub.mode: must be subscribe or unsubscribe\n",
            ),
            "403": _told(
                "The callback is none that this hub calls",
                "hub.callback: the host must be a name, not an address\n",
            ),
            "413": _too_large(),
            "415": _told("The body is no form", f"Content-Type must be {FORM}\n"),
            "421": _misdirected(),
            "429": _told(
                "A limit is reached",
                "too many requests from your network; try again in 12 seconds\n",
                _RETRY_AFTER,
            ),
            "503": _told(
                "No request is taken now",
                "the hub is paused by its operator; try again in 300 seconds\n",
                _RETRY_AFTER,
            ),
        },
        "callbacks": {
            "verification": {_CALLBACK: {"get": _verify(base_url)}},
            "notification": {_CALLBACK: {"post": _notify(base_url)}},
        },
    }


def _form(base_url: str) -> Json:
    topics = [f"{origin}{path}" for origin in (base_url, "") for path in urls.TOPICS]
    return {
        "schema": {
            "type": "object",
            "properties": {
                "hub.callback": {
                    "type": "string",
                    "format": "uri",
                    "description": "Where to deliver: an https URL with a public name, port 443 or "
                    "1024 and above. Its own query is kept.",
                    "maxLength": 2048,
                    "pattern": _URL,
                },
                "hub.mode": {**_MODE, "description": "What is wanted."},
                "hub.topic": {
                    "type": "string",
                    "enum": topics,
                    "description": "The topic: its URL, or a reference relative to this service.",
                },
                "hub.lease_seconds": {
                    "description": "For how long; 10 days where it is left out. What is granted "
                    "lies within the hub's bounds, and is told in the verification. Ignored to "
                    "unsubscribe.",
                },
                "hub.secret": {
                    "type": "string",
                    "maxLength": 199,
                    "description": "A key to sign deliveries with, of at most 199 bytes in UTF-8.",
                },
            },
            "required": ["hub.callback", "hub.mode", "hub.topic"],
            "if": {"properties": {"hub.mode": {"const": "subscribe"}}},
            "then": {"properties": {"hub.lease_seconds": {"type": "integer", "minimum": 1}}},
        },
        "example": {
            "hub.callback": "https://subscriber.example.org/reviews?id=7",
            "hub.mode": "subscribe",
            "hub.topic": f"{base_url}{urls.ATOM_FEED}",
            "hub.lease_seconds": 864_000,
            "hub.secret": "dJ0mW3qLk5Tn",
        },
    }


def _verify(base_url: str) -> Json:
    challenge = "yQnJ3b7Jm0Qx5W2cVhT8LzAk4rGfUe1sPd9oXiBtN6M"
    return {
        "operationId": "verify",
        "tags": [TAG],
        "summary": "The hub asks whether that is really wanted",
        "description": _VERIFY,
        "parameters": [
            _sent(
                "hub.mode",
                "What was asked for, or `denied`.",
                "subscribe",
                schema={"type": "string", "enum": ["subscribe", "unsubscribe", "denied"]},
                required=True,
            ),
            _sent(
                "hub.topic",
                "As it was given.",
                f"{base_url}{urls.ATOM_FEED}",
                required=True,
            ),
            _sent("hub.challenge", "A random string, for this request only.", challenge),
            _sent(
                "hub.lease_seconds",
                "The seconds that are granted, from the confirmation on; to subscribe.",
                864_000,
                schema={"type": "integer", "minimum": 1},
            ),
            _sent(
                "hub.reason", "Why it is denied, for people.", "three deliveries in a row failed"
            ),
        ],
        "responses": {
            "2XX": {
                "description": "Confirmed, if the body is the challenge",
                "content": {TEXT: {"schema": {"type": "string"}, "example": challenge}},
            },
            "4XX": {"description": "Not confirmed, like everything else that is not 2xx"},
        },
    }


def _notify(base_url: str) -> Json:
    hub, topic = f"{base_url}{urls.HUB}", f"{base_url}{urls.ATOM_FEED}"
    return {
        "operationId": "notify",
        "tags": [TAG],
        "summary": "The hub delivers the topic",
        "description": _NOTIFY,
        "parameters": [
            _sent(
                "Link",
                "The topic, by its absolute URL, and the hub, in this order.",
                f'<{topic}>; rel="self", <{hub}>; rel="hub"',
                place="header",
                required=True,
            ),
            _sent(
                "ETag",
                "Entity tag of the content; that of a GET.",
                '"nYk3b7Jm0Qx5W2cVhT8LzA"',
                place="header",
            ),
            _sent(
                "X-Hub-Signature",
                "The method and the hexadecimal HMAC of the body; sent where a secret was given.",
                _SIGNATURE,
                place="header",
            ),
        ],
        "requestBody": {
            "required": True,
            "content": {
                responses.JSON: {
                    "schema": {"anyOf": [reference("ReviewsDataset"), reference("JsonFeed")]}
                },
                ATOM: {"schema": {"type": "string"}},
            },
        },
        "responses": {
            "2XX": {"description": "Taken"},
            "410": {"description": "Nobody is here any more; the subscription is removed"},
            "4XX": {"description": "A failure, like everything else that is not 2xx"},
        },
    }


def _sent(
    name: str,
    description: str,
    example: object,
    *,
    place: str = "query",
    schema: Json | None = None,
    required: bool = False,
) -> Json:
    """A parameter that the hub sends to a callback."""
    return {
        "name": name,
        "in": place,
        "required": required,
        "description": description,
        "schema": schema or {"type": "string"},
        "example": example,
    }


def _told(description: str, example: str, headers: Json | None = None) -> Json:
    """A response in plain text that no cache may keep."""
    content: Json = {TEXT: {"schema": {"type": "string"}, "example": example}}
    return responses.no_store(description, content, headers)


def _misdirected() -> Json:
    return _told("`Host` is no name of this service", f"{problems.HUB_MISDIRECTED.detail}\n")


def _too_large() -> Json:
    return _told("The body is too large", f"{problems.HUB_CONTENT_TOO_LARGE.detail}\n")
