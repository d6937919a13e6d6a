"""``reviewsctl subs``: the subscriptions of the WebSub hub (security-and-operations.md H7)."""

import datetime
import re
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal.columns import show_fields
from reviewsctl.terminal.output import EXIT_FAILED, echo, steps

if TYPE_CHECKING:
    from reviewsctl.daemon.client import Client
    from reviewsctl.daemon.transport import Answer
    from reviewsd.api.hub import Listing

_ID: Final = re.compile("p?[0-9]+")

app = typer.Typer(
    name="subs",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Shows and changes the subscriptions to the feeds.

    Subscribers are programs that are notified of changes (WebSub); most shops never need this. A
    subscription is named by its id. A callback names all its subscriptions, one for each topic.""",
    epilog="""\b
    Examples:
      reviewsctl subs list
      reviewsctl subs show 12""",
)


class State(Enum):
    """The values of ``--state``."""

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
"""The names of the admin API."""


def _named(which: str) -> str:
    if _ID.fullmatch(which) is None and "://" not in which:
        raise typer.BadParameter(
            f"'{which}' is neither an id (12, p7) nor a callback (https://...); "
            "list them: reviewsctl subs list"
        )
    return which


def _named_or_all(which: str) -> str:
    return _named(which) if which else which


Which = Annotated[
    str,
    typer.Argument(
        metavar="ID|CALLBACK",
        callback=_named,
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
            help="Only of this topic: its path or whole address.",
        ),
    ] = "",
    state: Annotated[
        State | None, typer.Option(help="Only in this state.", show_default=False)
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="At most N subscriptions.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Lists the subscriptions.

    The states: pending (the callback has not confirmed the subscription yet), active, renewing
    (active, a renewal is pending), removal (active, an unsubscription is pending), ended (the lease
    has expired). "behind" means that the current content is not delivered yet. With --json each
    subscription is a line, with everything that "subs show" shows.
    """
    session: Session = ctx.obj
    state_name = "" if state is None else _STATES[state]
    with session.daemon(as_json=as_json) as daemon:
        pages = daemon.subscriptions(topic=topic, state=state_name, limit=limit)
        if as_json:
            for page in pages:
                _print(page)
            return
        listings = [answer.value for page in pages for answer in page]
    if not listings:
        empty = "no subscription matches" if topic or state else "there are no subscriptions"
        typer.echo(empty)
        return
    from reviewsctl.terminal.hub_views import subscription_lines  # msgspec, see main

    typer.echo("\n".join(subscription_lines(listings, _now())))


@app.command(
    "show",
    epilog="""\b
    Examples:
      reviewsctl subs show 12
      reviewsctl subs show https://subscriber.example.com/callback
      reviewsctl subs show 12 --json | jq .last_failure""",
)
def show_(ctx: typer.Context, which: Which, *, as_json: Json = False) -> None:
    """Shows everything about a subscription.

    It shows the lease, the last delivery, the last failure and its reason, the next attempt, and
    requests that the callback has not confirmed. It shows whether deliveries are signed, but never
    the secret. With --json each subscription is a line.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        answers = _matching(daemon, which)
    if as_json:
        _print(answers)
        return
    from reviewsctl.terminal.hub_views import subscription_fields  # msgspec, see main

    for number, answer in enumerate(answers):
        if number:
            typer.echo()
        show_fields(subscription_fields(answer.value, _now()))


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
        str,
        typer.Option(metavar="TEXT", help="The reason for the subscriber; 200 characters at most."),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be removed.")
    ] = False,
) -> None:
    """Ends a subscription, and notifies its subscriber once.

    With a callback, all its subscriptions end. It can subscribe again, unless it is blocked: see
    "reviewsctl hub block".
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        for answer in _matching(daemon, which):
            listing = answer.value
            if not dry_run:
                daemon.remove(listing.id, reason)
            action = "would remove" if dry_run else "removed"
            echo(f"{action} {listing.id}: {listing.topic} for {listing.callback}")


@app.command(
    epilog="""\b
    Examples:
      reviewsctl subs push
      reviewsctl subs push --topic /feed.xml
      reviewsctl subs push 12"""
)
def push(
    ctx: typer.Context,
    which: Annotated[
        str,
        typer.Argument(
            metavar="[ID|CALLBACK]",
            callback=_named_or_all,
            show_default=False,
            help="Only to this subscription or callback.",
        ),
    ] = "",
    *,
    topic: Annotated[
        str,
        typer.Option(
            metavar="TOPIC",
            help="Only to subscribers of this topic: its path or whole address.",
        ),
    ] = "",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Delivers the current content to all subscribers, or to one, now.

    The hub sends each change by itself; a push is for a subscriber that has lost the content. It
    also reaches subscribers that have the content, and does not wait for the next scheduled
    attempt. The command ends when each subscriber had one attempt. The exit code is 1 if one of
    them did not answer 2xx, which counts as a failed delivery. Ctrl-C stops the waiting, not the
    push. With --json every event is a line, the last of type "result".
    """
    session: Session = ctx.obj
    if which and topic:
        raise typer.BadParameter(
            "--topic cannot be combined with a subscription, which has one topic"
        )
    with session.daemon(as_json=as_json, quiet=quiet) as daemon:
        recipients: dict[str, str | list[str]] = {"topic": topic}
        if which:
            is_id = _ID.fullmatch(which)
            recipients = {"id": [which] if is_id else _verified(_matching(daemon, which))}
        with steps("push", "reviewsctl hub status", quiet=quiet, as_json=as_json) as step:
            answer = daemon.push(recipients, step)
    reached = answer.value.delivered == answer.value.total
    if as_json:
        if not quiet:
            typer.echo(answer.text)
    elif not (reached and quiet):
        from reviewsctl.terminal.hub_views import push_text  # msgspec, see main

        typer.echo(push_text(answer.value), err=not reached)
    if not reached:
        raise typer.Exit(EXIT_FAILED)


def _matching(daemon: "Client", which: str) -> "list[Answer[Listing]]":
    """Return the subscription of an id, or all of a callback."""
    if _ID.fullmatch(which):
        return [daemon.subscription(which)]
    answers = [answer for page in daemon.subscriptions(callback=which) for answer in page]
    if not answers:
        from reviewsctl.daemon.errors import Missing

        raise Missing(
            "no such subscription",
            f"the callback {which} has none, or it has ended",
            remedy="List them: reviewsctl subs list",
        )
    return answers


def _verified(answers: "list[Answer[Listing]]") -> list[str]:
    """Return the ids of verified subscriptions; without any, all ids, which the daemon refuses."""
    listings = [answer.value for answer in answers]
    verified = [listing.id for listing in listings if listing.verified_at is not None]
    return verified or [listing.id for listing in listings]


def _print(answers: "list[Answer[Listing]]") -> None:
    for answer in answers:
        typer.echo(answer.text)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
