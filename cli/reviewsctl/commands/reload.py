"""``reviewsctl reload``: configuration and data are read now (interfaces.md 1.1)."""

from typing import Annotated

import typer

from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal.output import EXIT_FAILED, complain, steps

EPILOG = """\b
Examples:
  reviewsctl reload
  reviewsctl reload --quiet || reviewsctl status"""


def reload(
    ctx: typer.Context,
    *,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Publish although many reviews are missing (data.max_shrink)."
        ),
    ] = False,
    without_corrections: Annotated[
        bool,
        typer.Option(
            "--without-corrections",
            help="Publish although corrections.json is missing, and show the hidden reviews again.",
        ),
    ] = False,
    _wait: Annotated[bool, typer.Option("--wait", hidden=True)] = False,  # units of older installs
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Reads configuration and data now, before the daemon notices.

    A configuration with faults, or with which the next start would fail, changes nothing; its
    faults are listed, and the exit code is 1. Of a valid one, crawlers, data.*, hub.lease.*,
    hub.limits.* and security.* take effect at once; the command names the other changed keys,
    which need a restart.

    The new data is validated before it replaces the old. If it has problems, they are listed, the
    last good data keeps serving and the exit code is 1. Ctrl-C stops the waiting, not the reload.
    "systemctl reload reviewsd" does the same. With --json every event is a line, the last of type
    "result".
    """
    lifted = {"force": force, "without_corrections": without_corrections}
    load_now(ctx.obj, quiet=quiet, as_json=as_json, **lifted)


def load_now(
    session: Session, *, quiet: bool = False, as_json: bool = False, **lifted: bool
) -> None:
    """Reload without the guards that are ``lifted``, and print the outcome.

    Raises:
        typer.Exit: The new data or configuration was not applied.
    """
    with (
        session.daemon(as_json=as_json, quiet=quiet) as daemon,
        steps("reload", "reviewsctl status", quiet=quiet, as_json=as_json) as step,
    ):
        answer = daemon.reload(step, **lifted)
    applied = answer.value.outcome in {"published", "unchanged"}
    if as_json:
        typer.echo(answer.text)
        if not applied:
            title, problems = f"reload {answer.value.outcome}", answer.value.problems
            complain("error", {"title": title, "problems": problems}, as_json=True)
    elif not (applied and quiet):
        from reviewsctl.terminal.status_views import reload_text  # msgspec, see main

        typer.echo(reload_text(answer.value), err=not applied)
    if not applied:
        raise typer.Exit(EXIT_FAILED)
