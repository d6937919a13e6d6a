"""``reviewsctl ping``: a sign of life (interfaces.md 1.1)."""

import typer

from reviewsctl.daemon.session import Json, Session

EPILOG = """\b
Examples:
  reviewsctl ping
  reviewsctl ping --json"""


def ping(ctx: typer.Context, *, as_json: Json = False) -> None:
    """Asks the daemon for a sign of life.

    Prints "pong" when the daemon answers, exits 3 when it does not. It tells nothing about the
    data: for that, see status.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        answer = daemon.ping()
    typer.echo(answer.text if as_json else "pong")
