"""``reviewsctl hub``: the operator's controls of the WebSub hub (security-and-operations.md H7)."""

from typing import Annotated

import typer

from reviewsctl.daemon.session import Json, Session

app = typer.Typer(
    name="hub",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Controls the hub, which delivers new content.

    A pause and blocks last over a restart of the daemon. "reviewsctl status" shows how the hub is, and
    "reviewsctl subs" shows and changes the subscriptions.""",
    epilog="""\b
    Examples:
      reviewsctl hub pause
      reviewsctl hub block bad.example.com --dry-run""",
)

Value = Annotated[
    str,
    typer.Argument(
        metavar="HOST|NETWORK",
        show_default=False,
        help="A host, which stands for all names below it too, or a network such as 203.0.113.0/24.",
    ),
]


@app.command(
    epilog="""\b
    Examples:
      reviewsctl hub pause"""
)
def pause(ctx: typer.Context) -> None:
    """Stops the hub from sending anything, until it is resumed.

    Requests are answered 503, since their callbacks cannot be verified. Changes of the content are
    delivered after "reviewsctl hub resume". Leases keep running. A second pause changes nothing.
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        daemon.pause()
    typer.echo("paused; resume with: reviewsctl hub resume")


@app.command(
    epilog="""\b
    Examples:
      reviewsctl hub resume"""
)
def resume(ctx: typer.Context) -> None:
    """Lets a paused hub send again.

    Subscribers that missed a change get the newest content at once. A hub that is not paused stays
    as it is.
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        daemon.resume()
    typer.echo("resumed; see: reviewsctl status")


@app.command(
    epilog="""\b
    Examples:
      reviewsctl hub block bad.example.com --dry-run
      reviewsctl hub block 203.0.113.0/24 --note "floods us, ticket 812\""""
)
def block(
    ctx: typer.Context,
    value: Value,
    *,
    note: Annotated[
        str, typer.Option(metavar="TEXT", help='The reason, for "reviewsctl hub blocks".')
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be removed.")
    ] = False,
) -> None:
    """Refuses a host or network, and removes its subscriptions.

    The hub removes its subscriptions and requests without a notification, sends it nothing, and
    answers its requests 403. A callback whose name resolves to a blocked network is not contacted
    either, and its subscriptions end as unreachable.
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        answer = daemon.block(value, note, dry_run=dry_run)
    from reviewsctl.terminal.hub_views import blocked_text  # msgspec, see main

    typer.echo(blocked_text(answer.value, dry_run=dry_run))


@app.command(
    epilog="""\b
    Examples:
      reviewsctl hub unblock bad.example.com"""
)
def unblock(ctx: typer.Context, value: Value) -> None:
    """Accepts a blocked host or network again.

    Its subscribers have to subscribe again. The exit code is 4 if it was not blocked.
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        daemon.unblock(value)
    typer.echo(f"unblocked {value}")


@app.command(
    epilog="""\b
    Examples:
      reviewsctl hub blocks
      reviewsctl hub blocks --json | jq -r .blocks[].value"""
)
def blocks(ctx: typer.Context, *, as_json: Json = False) -> None:
    """Lists the blocked hosts and networks, with time and reason.

    The block of a host includes all names below it. "reviewsctl hub unblock" takes a value of this
    list.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        answer = daemon.blocks()
    if as_json:
        typer.echo(answer.text)
        return
    from reviewsctl.terminal.hub_views import block_lines  # msgspec, see main

    blocks = answer.value.blocks
    typer.echo("\n".join(block_lines(blocks)) if blocks else "nothing is blocked")
