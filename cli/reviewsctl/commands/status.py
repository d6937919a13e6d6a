"""``reviewsctl status``: what the daemon serves and how its data is (interfaces.md 1.1)."""

import datetime

import typer

from reviewsctl.daemon.session import Json, Session
from reviewsctl.terminal.output import show

EPILOG = """\b
Examples:
  reviewsctl status
  reviewsctl status --json | jq .data.state"""


def status(ctx: typer.Context, *, as_json: Json = False) -> None:
    """Shows what the daemon serves and how its data is.

    When the newest data was refused or could not be loaded, the state is "degraded": the last good
    data keeps serving, and each problem is listed with its file, JSON path and reason. That is an
    answer, so the exit code is 0 all the same; scripts read .data.state of the JSON.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        answer = daemon.status()
    if as_json:
        typer.echo(answer.text)
        return
    from reviewsctl.terminal.status_views import render_status  # rich: 40 ms

    show(render_status(answer.value, datetime.datetime.now(datetime.UTC)))
