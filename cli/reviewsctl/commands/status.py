"""``reviewsctl status``: what the daemon serves and how its data is (interfaces.md 1.1)."""

import datetime
from pathlib import Path
from typing import Annotated

import typer

from reviewsctl.daemon.session import Json, Session
from reviewsctl.terminal.columns import show_fields
from reviewsctl.terminal.errors import CommandError

EPILOG = """\b
Examples:
  reviewsctl status
  reviewsctl status --quiet && echo serving
  reviewsctl status --json | jq .data.state"""


def status(
    ctx: typer.Context,
    *,
    quiet: Annotated[
        bool,
        typer.Option(
            "-q",
            "--quiet",
            help="Print errors only; exit 1 if no reviews are served yet.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Shows what the daemon serves and how its data is.

    When the newest data was refused or could not be loaded, the state is "degraded": the last good
    data keeps serving, and each problem is listed with its file, JSON path and reason. It is "unready"
    while the store of the hub fails. The exit code is 0 all the same; scripts read .data.state and
    .hub.store of the JSON. For health checks there is --quiet: 0 if the daemon serves reviews, also
    while the store fails, 1 if it has none to serve yet, 3 if it does not answer.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json, quiet=quiet) as daemon:
        answer = daemon.status()
    if quiet:
        if answer.value.snapshot is None:
            detail = f"the state is {answer.value.data.state}; see: reviewsctl status"
            raise CommandError("no reviews are served yet", detail)
        return
    if as_json:
        typer.echo(answer.text)
        return
    from reviewsctl.sources import overview
    from reviewsctl.terminal.status_views import status_fields

    now, data = datetime.datetime.now(datetime.UTC), Path(answer.value.data.dir)
    show_fields(status_fields(answer.value, now, overview.line(data, now)))
