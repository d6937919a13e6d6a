"""reviewsctl: the operator's tool (interfaces.md 1.1-1.4).

Here are the root, the options every command shares, and the commands that ask after the daemon
itself. A further group of commands is a file of its own with a ``typer.Typer()``: it takes
``Session`` from ``ctx.obj`` and ``Json`` from here, and ``main`` adds it to ``app``.

A command does four things: ask the ``Client``, print the daemon's JSON under ``--json``, else print
a renderable of ``tables``, and let ``Session.daemon`` end it on errors. rich, ``http.client`` and
``importlib.metadata`` are imported where they are used: together they would add 40 ms to the 60 of
``reviewsctl --help`` and of shell completion.
"""

import contextlib
import datetime
import io
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import Console, RenderableType

    from reviewsctl.client import Answer, Client, Peer, Progress

DEFAULT_SOCKET: Final = Path("/run/reviewsd/admin.sock")  # interfaces.md 1.5
VERSION_SECONDS: Final = 2.0  # version is asked when things are broken: it must not hang
PIPE_WIDTH: Final = 10_000  # columns where no terminal says: a line of output stays one line

EXIT_FAILED: Final = 1  # interfaces.md 1.4; 2 is Typer's, 3 and 4 come with the DaemonError
EXIT_INTERRUPTED: Final = 130

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
      reviewsctl status
      reviewsctl --socket /tmp/demo/admin.sock status --json""",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, errors on stderr included.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")]


@dataclass(frozen=True, slots=True)
class Session:
    """One run of reviewsctl: the global options. Commands get it as ``ctx.obj``."""

    socket: Path

    @contextlib.contextmanager
    def daemon(
        self, *, as_json: bool = False, quiet: bool = False, seconds: float | None = None
    ) -> "Iterator[Client]":
        """A client for the block; what goes wrong with the daemon in it ends the command.

        Args:
            as_json: Errors and warnings are JSON.
            quiet: No warning when versions differ.
            seconds: How long an immediate answer may take, if not as long as usual.
        """
        from reviewsctl import client  # noqa: PLC0415  # costs 25 ms, see above

        def observe(peer: "Peer") -> None:
            warning = client.mismatch(own_version("reviewsd"), peer)
            if warning is not None and not quiet:
                complain(
                    "warning", {"title": "versions differ", "detail": warning}, as_json=as_json
                )

        answer_seconds = client.ANSWER_SECONDS if seconds is None else seconds
        try:
            yield client.Client(self.socket, answer_seconds=answer_seconds, observe=observe)
        except client.DaemonError as error:
            complain("error", error.members(), as_json=as_json)
            raise typer.Exit(error.exit_code) from error

    def running_version(self, *, as_json: bool) -> tuple[str | None, str]:
        """The daemon's version, or None; and why it is not known."""
        from reviewsctl import client  # noqa: PLC0415  # costs 25 ms, see above

        with self.daemon(as_json=as_json, seconds=VERSION_SECONDS) as daemon:
            try:
                return client.printable(daemon.ping().value.version), ""
            except client.DaemonError as error:
                return None, f"no answer: {error.detail or error.title}"


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
    """Looks after a running reviewsd through its admin socket.

    The socket is open to root and the group reviewsd-admin.

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
    from reviewsctl.tables import render_status  # noqa: PLC0415  # rich, see above

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
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the outcome, or only ask.")
    ] = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Loads the data now, before the daemon notices.

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
        try:
            with steps(quiet=quiet, as_json=as_json) as step:
                answer = daemon.reload(step)
        except KeyboardInterrupt:
            detail = "the daemon goes on with the reload; how it ends: reviewsctl status"
            complain("error", {"title": "detached", "detail": detail}, as_json=as_json)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    applied = answer.value.outcome in {"published", "unchanged"}
    if as_json:
        if not quiet:
            typer.echo(answer.text)
        if not applied:
            title, problems = f"reload {answer.value.outcome}", answer.value.problems
            complain("error", {"title": title, "problems": problems}, as_json=True)
    elif not (applied and quiet):
        from reviewsctl.tables import render_reload  # noqa: PLC0415  # rich, see above

        show(render_reload(answer.value), err=not applied)
    if not applied:
        raise typer.Exit(EXIT_FAILED)


@contextlib.contextmanager
def steps(*, quiet: bool, as_json: bool) -> "Iterator[Callable[[Answer[Progress]], None]]":
    """Shows the steps of a long job while the block runs, in the way that fits the reader.

    A bar for each stage on a terminal, one line per 10 % in a journal or pipe, both on stderr
    because they are no data; the events themselves under ``--json``; nothing under ``--quiet``.
    """
    if quiet:
        yield lambda _: None
        return
    if as_json:
        yield lambda answer: typer.echo(answer.text)
        return

    from rich import progress as bars  # noqa: PLC0415  # rich, see above

    from reviewsctl import tables  # noqa: PLC0415  # the same
    from reviewsctl.client import printable  # noqa: PLC0415  # loaded by the session already

    screen = console(err=True)
    if not screen.is_interactive:
        shown: set[tuple[str, int]] = set()

        def line(answer: "Answer[Progress]") -> None:
            tenth = tables.percent(answer.value) // 10
            if tenth > 0 and (answer.value.stage, tenth) not in shown:
                shown.add((answer.value.stage, tenth))
                typer.echo(tables.progress_line(answer.value), err=True)

        yield line
        return

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TaskProgressColumn(show_speed=True),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=screen, transient=True) as display:
        tasks: dict[str, bars.TaskID] = {}

        def draw(answer: "Answer[Progress]") -> None:
            stage, step = printable(answer.value.stage), answer.value
            if stage not in tasks:
                tasks[stage] = display.add_task(stage, total=step.total)
            display.update(tasks[stage], completed=step.done, total=step.total)

        yield draw


def console(*, err: bool) -> "Console":
    """A rich console for text that is not markup; NO_COLOR means no attributes either."""
    from rich.console import Console  # noqa: PLC0415  # rich, see above

    return Console(
        stderr=err,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )


def show(renderable: "RenderableType", *, err: bool = False) -> None:
    """Prints a renderable; where no terminal sets a width, nothing is wrapped or padded."""
    screen = console(err=err)
    if screen.is_terminal:
        screen.print(renderable)
        return
    screen.width = PIPE_WIDTH
    with screen.capture() as captured:
        screen.print(renderable)
    typer.echo("\n".join(line.rstrip() for line in captured.get().splitlines()), err=err)


def complain(
    kind: Literal["error", "warning"], members: "Mapping[str, object]", *, as_json: bool
) -> None:
    """One error or warning on stderr.

    Args:
        kind: Which of the two.
        members: ``title`` and, where there is more to say, ``detail`` and ``remedy``.
        as_json: As a JSON object with one member, the kind; otherwise for people.
    """
    if as_json:
        typer.echo(json_line({kind: members}), err=True)
        return
    said = ": ".join(str(members[name]) for name in ("title", "detail") if name in members)
    typer.echo(f"{kind.capitalize()}: {said}", err=True)
    if "remedy" in members:
        typer.echo(members["remedy"], err=True)


def json_line(document: "Mapping[str, object]") -> str:
    """Our own JSON: one line of ASCII."""
    return json.dumps(document, separators=(",", ":")).replace("\x7f", "\\u007f")


def own_version(distribution: str) -> str | None:
    """The version of an installed distribution; None in a tree that is not installed."""
    import importlib.metadata as metadata  # noqa: PLC0415, PLR0402  # costs 15 ms, see above

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def main() -> None:
    """The console script ``reviewsctl``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name in a review must not end in a traceback
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="reviewsctl")


if __name__ == "__main__":
    main()
