"""``reviewsctl subs``: the subscriptions of the WebSub hub (security-and-operations.md H7)."""

import datetime
import re
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.daemon import completion
from reviewsctl.daemon.pushing import push as push_to
from reviewsctl.daemon.session import Json, Quiet, Session, Wait
from reviewsctl.terminal.output import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.daemon.client import Client
    from reviewsctl.daemon.transport import Answer
    from reviewsd.api.hub import Listing

_ID: Final = re.compile("p?[0-9]+")

app = typer.Typer(
    name="subs",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Shows and changes who is subscribed to the feeds.

    A subscription is named by its id, or by its callback: that are all the subscriptions of the
    callback, one for each topic it has subscribed to.""",
    epilog="""\b
    Examples:
      reviewsctl subs list
      reviewsctl subs show 12""",
)


class State(Enum):
    """What ``--state`` takes."""

    PENDING = "pending"
    ACTIVE = "active"
    RENEWING = "renewing"
    REMOVAL = "removal"


_STATES: Final = {
    State.PENDING: "pending verification",
    State.ACTIVE: "active",
    State.RENEWING: "active (renewing)",
    State.REMOVAL: "removal pending",
}
"""As the daemon names them."""


def _named(which: str) -> str:
    if _ID.fullmatch(which) is None and "://" not in which:
        raise typer.BadParameter(
            f"'{which}' is neither an id (12, p7) nor a callback (https://...); "
            "those there are: reviewsctl subs list"
        )
    return which


def _named_or_all(which: str) -> str:
    return _named(which) if which else which


Which = Annotated[
    str,
    typer.Argument(
        metavar="ID|CALLBACK",
        callback=_named,
        autocompletion=completion.subscriptions,
        show_default=False,
        help="Its id, or its callback.",
    ),
]


@app.command(
    "list",
    epilog="""\b
    Examples:
      reviewsctl subs list
      reviewsctl subs list --topic /feed.xml --state pending
      reviewsctl subs list --json | jq -r 'select(.consecutive_failures > 0).callback'""",
)
def list_(
    ctx: typer.Context,
    *,
    topic: Annotated[
        str,
        typer.Option(
            metavar="TOPIC",
            autocompletion=completion.topics,
            help="Only of this topic: its path or whole address.",
        ),
    ] = "",
    state: Annotated[
        State | None, typer.Option(help="Only in this state.", show_default=False)
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most so many.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Lists the subscriptions.

    The states: pending (asked for, the callback has not confirmed yet), active, renewing (active,
    and asked for again), removal (active, the end is asked for), ended (the lease is over). "behind" says that the current
    content is still to be delivered. With --json each subscription is a line of its own, with all
    that "subs show" knows.
    """
    session: Session = ctx.obj
    wanted = "" if state is None else _STATES[state]
    with session.daemon(as_json=as_json) as daemon:
        pages = daemon.subscriptions(topic=topic, state=wanted, limit=limit)
        if not as_json:
            from reviewsctl.terminal.paging import show_lines  # subprocess, see main

            named = any((topic, state))
            show_lines(_lines(pages, filtered=named), pager=session.pager)
            return
        for page in pages:
            _print(page)


@app.command(
    "show",
    epilog="""\b
    Examples:
      reviewsctl subs show 12
      reviewsctl subs show https://subscriber.example.com/callback
      reviewsctl subs show 12 --json | jq .last_failure""",
)
def show_(ctx: typer.Context, which: Which, *, as_json: Json = False) -> None:
    """Shows all there is to know of a subscription.

    The lease, what was delivered, when and why the last failure was, when the next attempt is due,
    and what waits for the callback's confirmation. Whether deliveries are signed is shown, the
    secret never. With --json each subscription is a line of its own.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        found = _found(daemon, which)
    if as_json:
        _print(found)
        return
    from reviewsctl.terminal.hub_views import render_one  # rich, see main

    for number, answer in enumerate(found):
        if number:
            typer.echo()
        show(render_one(answer.value, _now()))


@app.command(
    epilog="""\b
    Examples:
      reviewsctl subs remove 12 --dry-run
      reviewsctl subs remove 12 --reason "The callback loops"
      reviewsctl subs remove https://subscriber.example.com/callback"""
)
def remove(
    ctx: typer.Context,
    which: Which,
    *,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why, for the subscriber; 200 characters at most.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
) -> None:
    """Ends a subscription, and tells its subscriber once.

    A callback ends all its subscriptions. It may subscribe again: to keep it out, see "reviewsctl
    hub block".
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        from reviewsctl.terminal.escaping import printable  # loaded by now

        for answer in _found(daemon, which):
            found = answer.value
            if not dry_run:
                daemon.remove(found.id, reason)
            done = "would remove" if dry_run else "removed"
            typer.echo(printable(f"{done} {found.id}: {found.topic} for {found.callback}"))


@app.command(
    epilog="""\b
    Examples:
      reviewsctl subs push
      reviewsctl subs push --topic /feed.xml --no-wait
      reviewsctl subs push 12"""
)
def push(
    ctx: typer.Context,
    which: Annotated[
        str,
        typer.Argument(
            metavar="[ID|CALLBACK]",
            callback=_named_or_all,
            autocompletion=completion.subscriptions,
            show_default=False,
            help="Only to this subscription or callback.",
        ),
    ] = "",
    *,
    topic: Annotated[
        str,
        typer.Option(
            metavar="TOPIC",
            autocompletion=completion.topics,
            help="Only to subscribers of this topic: its path or whole address.",
        ),
    ] = "",
    wait: Wait = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Delivers the current content to all subscribers, or to one, now.

    The hub sends each change by itself: this is for a subscriber that has lost the content. It
    is sent even to those that have it, without waiting for the next attempt that is due. The
    command ends when each has had its attempt; the exit code is 1 if one of them did not answer
    2xx, which counts as a failed delivery. Ctrl-C stops the waiting, not the push. With --json
    every event is one line, the last of type "result".
    """
    session: Session = ctx.obj
    if which and topic:
        raise typer.BadParameter("a subscription has one topic: leave --topic out")
    with session.daemon(as_json=as_json, quiet=quiet) as daemon:
        recipients: dict[str, str | list[str]] = {"topic": topic}
        if which:
            one = _ID.fullmatch(which)
            recipients = {"id": [which] if one else _verified(_found(daemon, which))}
        push_to(daemon, recipients, wait=wait, quiet=quiet, as_json=as_json)


def _lines(pages: "Iterator[list[Answer[Listing]]]", *, filtered: bool) -> "Iterator[str]":
    from reviewsctl.terminal import (
        columns,
        paging,
        subscription_rows,  # see main
    )

    table = columns.Columns(
        subscription_rows.SUBSCRIPTIONS, subscription_rows.CALLBACK, paging.screen()
    )
    heading = True
    for page in pages:
        now = _now()
        found = [subscription_rows.subscription(answer.value, now) for answer in page]
        if found:
            yield from table.lines(found, heading=heading)
            heading = False
    if heading:
        yield "no such subscription" if filtered else "there are no subscriptions"


def _found(daemon: "Client", which: str) -> "list[Answer[Listing]]":
    if _ID.fullmatch(which):
        return [daemon.subscription(which)]
    found = [answer for page in daemon.subscriptions(callback=which) for answer in page]
    if not found:
        from reviewsctl.daemon.errors import Missing  # loaded by now

        raise Missing(
            "no such subscription",
            f"the callback {which} has none, or it has ended",
            remedy="Those there are: reviewsctl subs list",
        )
    return found


def _verified(found: "list[Answer[Listing]]") -> list[str]:
    """Whom a push to a callback can reach; if that is nobody, the daemon says why."""
    identifiers = [answer.value.id for answer in found]
    verified = [answer.value.id for answer in found if answer.value.verified_at is not None]
    return verified or identifiers


def _print(answers: "list[Answer[Listing]]") -> None:
    for answer in answers:
        typer.echo(answer.text)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
