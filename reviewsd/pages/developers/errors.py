"""Every error of HTTP, where the ``type`` of a problem leads (RFC 9457, contract 2)."""

from collections.abc import Mapping
from typing import Final

from reviewsd.http1 import problems, urls
from reviewsd.http1.problems import Problem
from reviewsd.pages.developers import schemas
from reviewsd.pages.developers.blocks import (
    Code,
    ContentBlock,
    DeveloperPage,
    Items,
    Link,
    Paragraph,
    Section,
    Table,
)
from reviewsd.pages.developers.data_model import PLACES
from reviewsd.pages.developers.openapi import Description

_REMEDIES: Final[Mapping[str, str]] = {
    "bad-request": "Send well-formed HTTP/1.1 with a path, its percent-escapes complete and UTF-8.",
    "invalid-query": "Correct every parameter that `issues` names; nothing is searched until all fit.",
    "forbidden": "This address is for programs on the machine of the operator.",
    "not-found": "Look the address up; it is exact, a slash at its end makes another one.",
    "no-review": "Take the id from a search, a feed or `/reviews.json`; the review may have been removed.",
    "not-published": "Do without the insights, or ask the business for them.",
    "method-not-allowed": "Use one of the methods in `Allow`.",
    "not-acceptable": "Let `Accept-Encoding` allow `gzip` or `identity`.",
    "timeout": "Send the whole request at once, and try again.",
    "precondition-failed": "Fetch the resource anew, without `If-Match` and `If-Unmodified-Since`.",
    "content-too-large": "Send less: a read takes no body.",
    "uri-too-long": "Shorten the address: a search has 200 characters of text at most.",
    "misdirected": "Ask by the host name of this service.",
    "too-many-connections": "Close connections that are idle, or use one for several requests.",
    "too-many-requests": "Wait as long as `Retry-After` says, then send fewer at once.",
    "header-fields-too-large": "Send fewer or shorter header fields, cookies first of all.",
    "internal": "Try again later. The operator's log says what happened.",
    "not-implemented": "Use `GET` or `HEAD`; `POST` only where it is documented.",
    "no-room": "Try again in a moment.",
    "unavailable": "Try again as `Retry-After` says.",
}
"""What a client does about each kind."""

OPERATORS: Final[Mapping[str, str]] = {
    "no-subscription": "there is no subscription of this id",
    "no-topic": "there is no such topic",
    "no-block": "neither a host nor a network of this name is blocked",
    "unverified": "the callback has not confirmed this subscription yet",
    "paused": "the hub is paused",
    "shared-store": "the state is in PostgreSQL, which has tools of its own for backups",
    "too-many": "too many others listen to the events already",
}
"""What only ``reviewsctl`` is told, on the operator's socket."""


def kinds() -> dict[str, list[Problem]]:
    """Every kind of problem that is answered with JSON, in the order of statuses."""
    found: dict[str, list[Problem]] = {}
    defined = (each for each in vars(problems).values() if isinstance(each, Problem))
    for each in sorted(defined, key=lambda problem: problem.status):
        if not each.plain:
            found.setdefault(each.kind, []).append(each)
    return found


def page(description: Description, base_url: str) -> DeveloperPage:
    """The page.

    Args:
        description: Has the members of a problem.
        base_url: Origin of the addresses in examples.
    """
    linked = schemas.described(PLACES, urls.DEVELOPERS_ERRORS)
    found = kinds()
    return DeveloperPage(
        path=urls.DEVELOPERS_ERRORS,
        title="Errors",
        description="Every error that the service answers with, and what to do about it.",
        blocks=_blocks(description, base_url),
        sections=(
            *(_section(kind, same) for kind, same in found.items()),
            *(
                schemas.section(name, schemas.schema_of(description, name), linked, title)
                for name, title in (
                    ("Problem", "Members of a problem"),
                    ("Issue", "Members of an issue"),
                )
            ),
            Section("operators", "On the operator's socket", (_operators(),)),
            *(
                Section(kind, kind, (Paragraph(f"{described.capitalize()}."),), level=3)
                for kind, described in OPERATORS.items()
            ),
        ),
    )


def _blocks(description: Description, base_url: str) -> tuple[ContentBlock, ...]:
    invalid = description.components.responses["InvalidParameters"]
    example = invalid.content["application/json"].example
    return (
        Paragraph(
            "An error is one JSON object (RFC 9457), sent as `application/json`, or as "
            "`application/problem+json` where `Accept` prefers it. Its `type` is the address of a "
            "section of this page: programs may switch on it, people can follow it."
        ),
        Code(f"curl '{base_url}{urls.SEARCH}?rating=7&limit=500'", "sh"),
        Code(schemas.indented(example), "json"),
        Items(
            (
                "Errors are never cached, and may be read from any origin (CORS).",
                "Those with `Retry-After` are worth trying again after so many seconds.",
                (
                    "The hub answers in lines of plain text: see ",
                    Link("notifications", urls.DEVELOPERS_WEBHOOKS),
                    ". MCP answers with errors of JSON-RPC: see ",
                    Link("MCP", f"{urls.DEVELOPERS_MCP}#errors"),
                    ".",
                ),
            )
        ),
        Table(
            "All kinds of errors",
            ("Kind", "Status", "Title"),
            tuple(
                (Link(f"`{kind}`", f"#{kind}"), str(same[0].status), same[0].title)
                for kind, same in kinds().items()
            ),
        ),
    )


def _section(kind: str, same: list[Problem]) -> Section:
    details = tuple(dict.fromkeys(each.detail for each in same))
    return Section(
        kind,
        f"{same[0].status} {same[0].title}",
        (
            Paragraph(f"Type: `{kind}`. What to do: {_REMEDIES[kind]}"),
            Paragraph("What `detail` may say:"),
            Items(details),
        ),
    )


def _operators() -> ContentBlock:
    return Paragraph(
        "These are told to `reviewsctl` alone, by the administration socket. Nobody meets them at "
        "public urls."
    )
