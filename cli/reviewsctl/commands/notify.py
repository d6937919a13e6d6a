"""``reviewsctl notify``: test messages to the targets of notices (notices.md 5)."""

from typing import Annotated

import typer

from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsd.api.texts import printable

app = typer.Typer(
    name="notify",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Tests the targets that are notified of new reviews.

    They are the list "notify" of the configuration; their addresses are in separate files, see
    docs/how-to/notices.md.""",
    epilog="""\b
    Examples:
      reviewsctl notify test""",
)


@app.command(
    "test",
    epilog="""\b
    Examples:
      reviewsctl notify test
      reviewsctl notify test owner --json""",
)
def send_tests(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(metavar="[NAME]", show_default=False, help="Only the target of this name."),
    ] = "",
    *,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Sends a test message to each target now.

    It goes to the addresses that the daemon read when it started. The exit code is 1 if one cannot
    be sent. Only the recipient can see whether it arrives.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json, quiet=quiet) as daemon:
        answer = daemon.test_notices(name)
    if as_json:
        typer.echo(answer.text)
    else:
        width = max(len(test.target) for test in answer.value.tests)
        for test in answer.value.tests:
            if quiet and not test.problem:
                continue
            outcome = f"failed: {printable(test.problem)}" if test.problem else "sent"
            typer.echo(f"{printable(test.target):{width}}  {outcome}")
    if any(test.problem for test in answer.value.tests):
        raise typer.Exit(1)
