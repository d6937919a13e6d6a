"""Where output goes: data to stdout, errors and progress to stderr (interfaces.md 1.2)."""

import contextlib
import json
import os
from typing import TYPE_CHECKING, Final, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import Console, RenderableType

    from reviewsctl.daemon.transport import Answer
    from reviewsd.api.jobs import Step

PIPE_WIDTH: Final = 10_000  # columns where no terminal says: a line of output stays one line

EXIT_FAILED: Final = 1  # interfaces.md 1.4; 2 is Typer's, 3 and 4 come with the DaemonError
EXIT_FOUND: Final = 5
EXIT_INTERRUPTED: Final = 130


@contextlib.contextmanager
def steps(
    job: str, outcome: str, *, quiet: bool, as_json: bool
) -> "Iterator[Callable[[Answer[Step]], None]]":
    """Shows the steps of a long job while the block runs, in the way that fits the reader.

    The events themselves under ``--json``, nothing under ``--quiet``. Ctrl-C ends the command, but
    not the job.

    Args:
        job: What it is called.
        outcome: The command that tells later how it ended.
        quiet: Show nothing.
        as_json: Print the events.
    """
    try:
        with telling(quiet=quiet, as_json=as_json) as step:
            yield step
    except KeyboardInterrupt:
        detail = f"the daemon goes on with the {job}; how it ends: {outcome}"
        complain("error", {"title": "detached", "detail": detail}, as_json=as_json)
        raise typer.Exit(EXIT_INTERRUPTED) from None


@contextlib.contextmanager
def failing(*, as_json: bool) -> "Iterator[None]":
    """What goes wrong in the block, as a DaemonError, ends the command."""
    from reviewsctl.daemon import errors  # msgspec, see main

    try:
        yield
    except errors.DaemonError as error:
        complain("error", error.members(), as_json=as_json)
        raise typer.Exit(error.exit_code) from error


@contextlib.contextmanager
def telling(*, quiet: bool, as_json: bool) -> "Iterator[Callable[[Answer[Step]], None]]":
    """Shows the steps of work that ends with this command, as ``steps`` does."""
    if quiet:
        yield lambda _: None
    elif as_json:
        yield lambda answer: typer.echo(answer.text)
    else:
        from reviewsctl.terminal import progress  # rich, see main

        with progress.shown(console(err=True)) as tell:
            yield lambda answer: tell(answer.value)


def console(*, err: bool) -> "Console":
    """A rich console for text that is not markup; NO_COLOR means no attributes either."""
    from rich.console import Console  # rich, see main

    return Console(
        stderr=err,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )


def painted(text: str, colour: str | None) -> str:
    """Text in a colour, where stdout is a terminal that is to have colours."""
    if colour is None or os.environ.get("NO_COLOR"):
        return text
    return typer.style(text, fg=colour)  # echo takes it away again where there is no terminal


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
    from reviewsctl.terminal.escaping import printable_lines  # see main
    from reviewsctl.terminal.words import folded

    said = ": ".join(str(members[name]) for name in ("title", "detail") if name in members)
    text = f"{kind.capitalize()}: {said}"
    if "remedy" in members:
        text += f"\n{members['remedy']}"
    for line in printable_lines(text).split("\n"):
        indent = len(line) - len(line.lstrip())
        typer.echo(folded(line, indent=indent, err=True), err=True)


def json_line(document: "Mapping[str, object]") -> str:
    """Our own JSON: one line of ASCII."""
    return json.dumps(document, separators=(",", ":")).replace("\x7f", "\\u007f")
