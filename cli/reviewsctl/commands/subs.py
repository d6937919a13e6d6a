"""``reviewsctl subs``: the subscriptions of the WebSub hub (security-and-operations.md H7)."""

import datetime
import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

import typer

from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal.columns import show_fields
from reviewsctl.terminal.output import EXIT_FAILED, NOTHING_WRITTEN, echo, steps

_ID: Final = re.compile("p?[0-9]+")

app = typer.Typer(
    name="subs",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Shows and changes the subscriptions to the feeds.

    Subscribers are programs that are notified of changes (WebSub); most shops never need this. A
    subscription is named by its id.""",
    epilog="""\b
    Examples:
      reviewsctl subs list
      reviewsctl subs show 12""",
)


State = Literal["pending", "active", "renewing", "removal"]

_STATES: Final[Mapping[State, str]] = {
    "pending": "pending verification",
    "active": "active",
    "renewing": "active (renewing)",
    "removal": "removal pending",
}
"""The names of the admin API."""


def _checked(identifier: str) -> str:
    if identifier and _ID.fullmatch(identifier) is None:
        raise typer.BadParameter(
            f"'{identifier}' is no id, such as 12 or p7; list them: reviewsctl subs list"
        )
    return identifier


Id = Annotated[
    str, typer.Argument(metavar="ID", callback=_checked, show_default=False, help="Its id.")
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
    as_json: Json = False,
) -> None:
    """Lists the subscriptions.

    The states: pending (the callback has not confirmed the subscription yet), active, renewing
    (active, a renewal is pending), removal (active, an unsubscription is pending). "behind" means
    that the current content is not delivered yet. With --json each subscription is a line, with
    everything that "subs show" shows.
    """
    session: Session = ctx.obj
    state_name = "" if state is None else _STATES[state]
    with session.daemon(as_json=as_json) as daemon:
        answers = daemon.subscriptions(topic=topic, state=state_name)
        if as_json:
            for answer in answers:
                typer.echo(answer.text)
            return
        listings = [answer.value for answer in answers]
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
      reviewsctl subs show 12 --json | jq .last_failure""",
)
def show_(ctx: typer.Context, identifier: Id, *, as_json: Json = False) -> None:
    """Shows everything about a subscription.

    It shows the lease, the last delivery, the last failure and its reason, the next attempt, and
    requests that the callback has not confirmed. It shows whether deliveries are signed, but never
    the secret.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        answer = daemon.subscription(identifier)
    if as_json:
        typer.echo(answer.text)
        return
    from reviewsctl.terminal.hub_views import subscription_fields  # msgspec, see main

    show_fields(subscription_fields(answer.value, _now()))


@app.command(
    epilog="""\b
    Examples:
      reviewsctl subs remove 12 --dry-run
      reviewsctl subs remove 12 --reason "The callback loops\""""
)
def remove(
    ctx: typer.Context,
    identifier: Id,
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

    The hub sends it nothing any more. The subscriber can subscribe again, unless it is blocked: see
    "reviewsctl hub block".
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        listing = daemon.subscription(identifier).value
        if not dry_run:
            daemon.remove(listing.id, reason)
    action = "would remove" if dry_run else "removed"
    echo(
        f"{action} {listing.id}: {listing.topic} for {listing.callback}",
        *([NOTHING_WRITTEN] if dry_run else []),
    )


@app.command(
    epilog="""\b
    Examples:
      reviewsctl subs push
      reviewsctl subs push --topic /feed.xml
      reviewsctl subs push 12"""
)
def push(
    ctx: typer.Context,
    identifier: Annotated[
        str,
        typer.Argument(
            metavar="[ID]", callback=_checked, show_default=False, help="Only to this subscription."
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
    if identifier and topic:
        raise typer.BadParameter(
            "--topic cannot be combined with a subscription, which has one topic"
        )
    with (
        session.daemon(as_json=as_json, quiet=quiet) as daemon,
        steps("push", "reviewsctl status", quiet=quiet, as_json=as_json) as step,
    ):
        answer = daemon.push(step, id=identifier, topic=topic)
    reached = answer.value.delivered == answer.value.total
    if as_json:
        typer.echo(answer.text)
    elif not (reached and quiet):
        from reviewsctl.terminal.hub_views import push_text  # msgspec, see main

        typer.echo(push_text(answer.value), err=not reached)
    if not reached:
        raise typer.Exit(EXIT_FAILED)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
