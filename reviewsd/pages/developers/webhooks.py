"""WebSub for those who subscribe, from the hub's part of the OpenAPI document (contract 5)."""

from typing import Final

from reviewsd.http1 import urls
from reviewsd.pages.developers import schemas
from reviewsd.pages.developers.api import parameters_table
from reviewsd.pages.developers.blocks import (
    Code,
    ContentBlock,
    DeveloperPage,
    Items,
    Link,
    Paragraph,
    Section,
    Table,
    prose,
)
from reviewsd.pages.developers.openapi import Description, Operation

_FORM: Final = "application/x-www-form-urlencoded"


def page(description: Description, base_url: str) -> DeveloperPage:
    """The page.

    Args:
        description: The document.
        base_url: Origin of hub and topics.
    """
    subscribe = description.paths[urls.HUB]["post"]
    return DeveloperPage(
        path=urls.DEVELOPERS_WEBHOOKS,
        title="Notifications (WebSub)",
        description="How to be sent new reviews: topics, subscribing, verification, signatures.",
        blocks=(
            Paragraph(
                "This service is a WebSub hub (W3C). Register an https address, the callback, for a "
                "topic, and it is sent the whole new content of the topic whenever that changes."
            ),
            Code(f"{base_url}{urls.HUB}"),
        ),
        sections=(
            Section(
                "topics",
                "Topics",
                (
                    Items(tuple(Link(f"`{path}`", path) for path in urls.TOPICS)),
                    Paragraph(
                        'Each names the hub and itself in `Link`, with `rel="hub"` and `rel="self"`.'
                    ),
                ),
            ),
            Section("subscribe", "Subscribe", _subscribe(subscribe, base_url)),
            *(
                Section(name, title, _called(subscribe, name))
                for name, title in (
                    ("verification", "Confirm"),
                    ("notification", "Receive"),
                )
            ),
            Section("signatures", "Check the signature", _signatures()),
            Section("leases", "Renew the lease", _leases()),
            Section("limits", "Limits", _limits()),
        ),
    )


def _subscribe(operation: Operation, base_url: str) -> tuple[ContentBlock, ...]:
    form = operation.body.content[_FORM]
    fields = tuple(
        (
            f"`{name}`",
            "yes" if name in form.schema.required else "no",
            schemas.notes(field).replace("https URL", "`https` URL"),
        )
        for name, field in form.schema.properties.items()
    )
    return (
        *prose(operation.description),
        Code(
            f"""\
curl {base_url}{urls.HUB} \\
  -d hub.mode=subscribe \\
  -d hub.topic={base_url}{urls.ATOM_FEED} \\
  -d hub.callback=https://subscriber.example.org/callback \\
  --data-urlencode 'hub.secret=a long random string'""",
            "sh",
        ),
        Table("Fields of the form", ("Field", "Required", "Notes"), fields),
        Table(
            "Answers of the hub",
            ("Status", "Meaning"),
            tuple((status, each.description) for status, each in operation.responses.items()),
        ),
        Paragraph("Every refusal is a line of text that names the field and the rule."),
    )


def _called(operation: Operation, name: str) -> tuple[ContentBlock, ...]:
    """What the hub asks of the callback."""
    ((_, methods),) = operation.callbacks[name].items()
    ((method, called),) = methods.items()
    return (
        Paragraph(f"{called.summary}, by `{method.upper()}` to the callback."),
        *prose(called.description),
        parameters_table(f"What the hub sends: {called.summary}", called.parameters),
        Table(
            f"What the callback answers: {called.summary}",
            ("Status", "Meaning"),
            tuple((status, each.description) for status, each in called.responses.items()),
        ),
    )


def _signatures() -> tuple[ContentBlock, ...]:
    return (
        Paragraph(
            "Where a `hub.secret` was given, a delivery has `X-Hub-Signature`: the method, `=`, and the "
            "HMAC of the body in hexadecimal. Compare in constant time. Answer a wrong one with 2xx "
            "too, and ignore it."
        ),
        Code(
            """\
import hashlib
import hmac

def is_genuine(body: bytes, signature: str, secret: bytes) -> bool:
    method, _, given = signature.partition("=")
    if method not in {"sha256", "sha384", "sha512"}:
        return False
    return hmac.compare_digest(hmac.new(secret, body, method).hexdigest(), given)""",
            "python",
        ),
    )


def _leases() -> tuple[ContentBlock, ...]:
    return (
        Paragraph(
            "A subscription lasts as long as the verification says in `hub.lease_seconds`, 10 days unless "
            "you ask for another time. To renew it, or to change the secret, send the same request again "
            "before it ends; what was agreed before holds until the callback has confirmed."
        ),
    )


def _limits() -> tuple[ContentBlock, ...]:
    return (
        Items(
            (
                (
                    "Callbacks have a public address, a host name and `https`, on port 443 or one from 1024 "
                    "up, with a certificate that is publicly trusted."
                ),
                (
                    "A client network, and a host of callbacks, may ask and hold only so much: beyond that "
                    "the answer is 429, and `Retry-After` says when to try again."
                ),
                (
                    "After the third failure in a row a subscription ends, and after a 410 at once. The hub "
                    "tells the callback once, with `hub.mode=denied`."
                ),
                (
                    "Older content never comes after newer content. The same content may come twice: ignore "
                    "an `ETag` that you have."
                ),
            )
        ),
    )
