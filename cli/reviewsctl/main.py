"""reviewsctl: the operator's tool (interfaces.md 1.1-1.4).

Here are the root and the commands that ask after the daemon itself. A further group of commands is
a file of its own with a ``typer.Typer()``: it takes ``Session`` from ``ctx.obj``, and ``main`` adds
it to ``app``.

A command does four things: ask the ``Client``, print the daemon's JSON under ``--json``, else print
a renderable of ``tables`` or ``listings``, and let ``Session.daemon`` end it on errors. rich,
``http.client`` and ``importlib.metadata`` are imported where they are used: together they would add
40 ms to the 60 of ``reviewsctl --help`` and of shell completion.
"""

import datetime
import io
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from reviewsctl import (
    agents,
    backup,
    checking,
    completion,
    doctor,
    exports,
    hub,
    imports,
    places,
    scaffold,
    settings,
    subs,
    systemd,
    tail,
)
from reviewsctl.terminal.output import EXIT_FAILED, complain, json_line, show, steps
from reviewsctl.daemon.pushing import push as push_to
from reviewsctl.daemon.session import Json, Quiet, Session, Wait, own_version

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
) -> None:
    """Looks after reviewsd: its files, its service, and the daemon while it runs.

    The daemon is asked through its admin socket, which is open to root and the group
    reviewsd-admin. To begin: reviewsctl init.

    Data goes to stdout, errors go to stderr and name the remedy. Reading commands take --json.
    """
    ctx.obj = Session(socket)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl status
      reviewsctl status --json | jq .data.state"""
)
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
    from reviewsctl.terminal.tables import render_status  # noqa: PLC0415  # rich, see above

    show(render_status(answer.value, datetime.datetime.now(datetime.UTC)))


@app.command(
    epilog="""\b
    Examples:
      reviewsctl ping
      reviewsctl ping --json"""
)
def ping(ctx: typer.Context, *, as_json: Json = False) -> None:
    """Asks the daemon for a sign of life.

    Prints "pong" when the daemon answers, exits 3 when it does not. It tells nothing about the
    data: for that, see status.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json) as daemon:
        answer = daemon.ping()
    typer.echo(answer.text if as_json else "pong")


@app.command(
    epilog="""\b
    Examples:
      reviewsctl metrics
      reviewsctl metrics | grep delivery"""
)
def metrics(ctx: typer.Context) -> None:
    """Prints the daemon's metrics, as Prometheus reads them.

    How many requests, deliveries, errors and much else there were, and how long they took. The
    same can be fetched where "metrics.listen" of the configuration says; RUNBOOK.md tells what to
    make of it.
    """
    session: Session = ctx.obj
    with session.daemon() as daemon:
        typer.echo(daemon.metrics(), nl=False)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl version
      reviewsctl version --json"""
)
def version(ctx: typer.Context, *, as_json: Json = False) -> None:
    """Prints the versions of this tool and the running daemon.

    Python and Twisted are those that reviewsctl itself is installed with. A daemon that does not
    answer is shown as such, with exit code 0. A warning says when tool and daemon differ, as they
    do after an upgrade until the daemon is restarted.
    """
    session: Session = ctx.obj
    running, silence = session.running_version(as_json=as_json)
    versions = {
        "reviewsctl": own_version("reviewsd"),
        "reviewsd": running,
        "python": ".".join(map(str, sys.version_info[:3])),
        "twisted": own_version("twisted"),
    }
    if as_json:
        typer.echo(json_line(versions))
        return
    for name, found in versions.items():
        missing = silence if name == "reviewsd" else "not installed"
        typer.echo(f"{name:<12}{found or missing}")


@app.command(
    epilog="""\b
    Examples:
      reviewsctl reload
      reviewsctl reload --quiet || reviewsctl status
      reviewsctl reload --no-wait"""
)
def reload(
    ctx: typer.Context,
    *,
    wait: Wait = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Reads configuration and data now, before the daemon notices.

    A configuration with faults changes nothing and is told with file, line and column (exit 1). Of
    a good one, data.*, hub.lease.* and hub.limits.* take effect at once; other keys that have
    changed are named, they wait for a restart.

    The new data is checked aside first. If it is good it is published, if it is the same nothing
    happens (both exit 0); if it has problems they are all listed, the last good data keeps serving
    and the exit code is 1. Ctrl-C stops the waiting, not the reload. "systemctl reload reviewsd"
    does the same. With --json every event is one line, the last of type "result".
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json, quiet=quiet) as daemon:
        if not wait:
            accepted = daemon.reload_later()
            if not quiet:
                typer.echo(accepted if as_json else "asked for; how it ends: reviewsctl status")
            return
        with steps("reload", "reviewsctl status", quiet=quiet, as_json=as_json) as step:
            answer = daemon.reload(step)
    applied = answer.value.outcome in {"published", "unchanged"}
    if as_json:
        if not quiet:
            typer.echo(answer.text)
        if not applied:
            title, problems = f"reload {answer.value.outcome}", answer.value.problems
            complain("error", {"title": title, "problems": problems}, as_json=True)
    elif not (applied and quiet):
        from reviewsctl.terminal.tables import render_reload  # noqa: PLC0415  # rich, see above

        show(render_reload(answer.value), err=not applied)
    if not applied:
        raise typer.Exit(EXIT_FAILED)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl push
      reviewsctl push /feed.xml
      reviewsctl push --no-wait"""
)
def push(
    ctx: typer.Context,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="[TOPIC]",
            autocompletion=completion.topics,
            show_default=False,
            help="Only to its subscribers: a path or whole address.",
        ),
    ] = "",
    *,
    wait: Wait = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Delivers the current content to all subscribers now.

    Those that have it already get it again; the hub tells them of each change by itself, so this
    is for when one of them has lost it. It ends when each has had its attempt; the exit code is 1
    if not all of them took it. Ctrl-C stops the waiting, not the push. With --json every event is
    one line, the last of type "result". For one subscriber: reviewsctl subs push.
    """
    session: Session = ctx.obj
    with session.daemon(as_json=as_json, quiet=quiet) as daemon:
        push_to(daemon, {"topic": topic}, wait=wait, quiet=quiet, as_json=as_json)


app.command("import", epilog=imports.EPILOG)(imports.import_)
app.command(epilog=exports.EPILOG)(exports.export)
app.command(epilog=tail.EPILOG)(tail.tail)
app.command(epilog=backup.EPILOG)(backup.backup)
app.add_typer(subs.app)
app.add_typer(hub.app)
app.command(epilog=scaffold.EPILOG)(scaffold.init)
app.command(epilog=checking.EPILOG)(checking.check)
app.add_typer(settings.app)
app.command(epilog=places.EPILOG)(places.paths)
app.command(epilog=doctor.EPILOG)(doctor.doctor)
app.add_typer(systemd.app)
app.add_typer(agents.app)


def main() -> None:
    """The console script ``reviewsctl``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name in a review must not end in a traceback
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="reviewsctl")


if __name__ == "__main__":
    main()
