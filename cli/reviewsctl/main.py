"""reviewsctl: the operator's tool (interfaces.md 1.1-1.4).

Here is the root; each command is a file of ``commands``, named like it. It takes ``Session`` from
``ctx.obj``, and is added to ``app`` below.

A command does four things: ask the ``Client``, print the daemon's JSON under ``--json``, else print
a renderable of ``tables`` or ``listings`` (``columns``, where it may be long), and let ``Session.daemon`` end it on errors. rich,
``http.client`` and ``importlib.metadata`` are imported where they are used: together they would add
40 ms to the 60 of ``reviewsctl --help`` and of shell completion.
"""

import io
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from reviewsctl.commands import (
    backup,
    check,
    config,
    doctor,
    export,
    hub,
    init,
    insights,
    mcp,
    metrics,
    paths,
    ping,
    push,
    reload,
    service,
    status,
    subs,
    tail,
    version,
)
from reviewsctl.commands import import_ as imports
from reviewsctl.commands import open_ as opening
from reviewsctl.daemon.session import Session

DEFAULT_SOCKET: Final = Path("/run/reviewsd/admin.sock")  # interfaces.md 1.5

app = typer.Typer(
    name="reviewsctl",
    no_args_is_help=True,
    # Plain help and usage errors: they are read in journals and pipes, and rich's cost 60 ms.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="""\b
    Exit codes:
      0    ok
      1    failed or refused
      2    wrong usage
      3    the daemon is not running, or you may not use its socket
      4    no such thing
      5    a check found problems
      130  interrupted

    \b
    Examples:
      reviewsctl init shop
      reviewsctl doctor
      reviewsctl --socket /tmp/demo/admin.sock status --json""",
)


@app.callback()
def root(
    ctx: typer.Context,
    *,
    socket: Annotated[
        Path,
        typer.Option(
            envvar="REVIEWSD_ADMIN_SOCKET",
            metavar="PATH",
            readable=False,  # Typer's own check would end as wrong usage, without the remedy
            help="The daemon's admin socket. Stands before the command.",
        ),
    ] = DEFAULT_SOCKET,
    no_pager: Annotated[
        bool,
        typer.Option(
            "--no-pager", help="Never show long lists through $PAGER. Stands before the command."
        ),
    ] = False,
) -> None:
    """Looks after reviewsd: its files, its service, and the daemon while it runs.

    The daemon is asked through its admin socket, which is open to root and the group
    reviewsd-admin. To begin: reviewsctl init.

    Data goes to stdout, errors go to stderr and name the remedy. Reading commands take --json.
    """
    ctx.obj = Session(socket, pager=not no_pager)


app.command(epilog=status.EPILOG)(status.status)
app.command(epilog=ping.EPILOG)(ping.ping)
app.command("open", epilog=opening.EPILOG)(opening.open_)
app.command(epilog=metrics.EPILOG)(metrics.metrics)
app.command(epilog=version.EPILOG)(version.version)
app.command(epilog=reload.EPILOG)(reload.reload)
app.command(epilog=push.EPILOG)(push.push)
app.command("import", epilog=imports.EPILOG)(imports.import_)
app.command(epilog=export.EPILOG)(export.export)
app.command(epilog=tail.EPILOG)(tail.tail)
app.command(epilog=backup.EPILOG)(backup.backup)
app.add_typer(subs.app)
app.add_typer(hub.app)
app.command(epilog=init.EPILOG)(init.init)
app.command(epilog=check.EPILOG)(check.check)
app.command(epilog=insights.EPILOG)(insights.insights)
app.add_typer(config.app)
app.command(epilog=paths.EPILOG)(paths.paths)
app.command(epilog=doctor.EPILOG)(doctor.doctor)
app.add_typer(service.app)
app.add_typer(mcp.app)


def main() -> None:
    """The console script ``reviewsctl``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name in a review must not end in a traceback
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="reviewsctl")


if __name__ == "__main__":
    main()
