"""Output of commands: data to stdout, errors and progress to stderr (interfaces.md 1.2)."""

import contextlib
import json
import os
from typing import TYPE_CHECKING, Final, Literal

import typer

from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.interruption import Stopped
from reviewsd.api.texts import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reviewsctl.daemon.transport import Answer
    from reviewsd.api.jobs import Step

EXIT_FAILED: Final = 1  # interfaces.md 1.4; 2, 3 and 4 come with a CommandError
EXIT_FOUND: Final = 5

NOTHING_WRITTEN: Final = "nothing was written"
"""The last line of a dry run."""


@contextlib.contextmanager
def steps(
    job: str, outcome: str, *, quiet: bool, as_json: bool
) -> "Iterator[Callable[[Answer[Step]], None]]":
    """Show the steps of a long job of the daemon while the block runs.

    ``--json`` prints the events themselves. Ctrl-C ends the command, but not the job.

    Args:
        job: The noun for it in messages.
        outcome: The command that shows its outcome later.
        quiet: Show nothing.
        as_json: Print the events.
    """
    try:
        with telling(quiet=quiet, as_json=as_json) as step:
            yield step
    except Stopped as stopped:
        detail = f"the daemon goes on with the {job}; how it ends: {outcome}"
        raise CommandError("detached", detail, exit_code=stopped.exit_code) from None


@contextlib.contextmanager
def telling(*, quiet: bool, as_json: bool) -> "Iterator[Callable[[Answer[Step]], None]]":
    """Show the steps of this command's own work while the block runs, as ``steps`` does."""
    if quiet:
        yield lambda _: None
    elif as_json:
        yield lambda answer: typer.echo(answer.text)
    else:
        from reviewsctl.terminal.progress import Progress  # msgspec, see main

        with contextlib.closing(Progress()) as progress:
            yield lambda answer: progress.show(answer.value)


def printable_lines(text: str) -> str:
    """Return a text with each of its lines printable."""
    return "\n".join(map(printable, text.split("\n")))


def echo(*lines: str, err: bool = False) -> None:
    """Print lines with foreign text, each of them printable."""
    if lines:
        typer.echo("\n".join(map(printable, lines)), err=err)


def colored(text: str, color: str | None) -> str:
    """Return a text in a color, such as ``bold red``, or ``dim``.

    ``typer.echo`` removes it where the output is no terminal.
    """
    if color is None or os.environ.get("NO_COLOR"):
        return text
    if color == "dim":
        return typer.style(text, dim=True)
    bold, _, name = color.rpartition(" ")
    return typer.style(text, fg=name, bold=True if bold else None)


def complain(
    kind: Literal["error", "warning"], members: "Mapping[str, object]", *, as_json: bool
) -> None:
    """Print an error or a warning on stderr.

    Args:
        kind: Its first word, or the only member of the JSON object.
        members: ``title``, ``detail`` and ``remedy``; empty ones are left out.
        as_json: Print a JSON object instead of lines for people.
    """
    members = {name: value for name, value in members.items() if value != ""}
    if as_json:
        typer.echo(json_line({kind: members}), err=True)
        return
    message = ": ".join(str(members[name]) for name in ("title", "detail") if name in members)
    text = f"{kind.capitalize()}: {message}"
    if "remedy" in members:
        text += f"\n{members['remedy']}"
    typer.echo(printable_lines(text), err=True)


def json_line(document: "Mapping[str, object]") -> str:
    """Return a document as one line of ASCII."""
    return json.dumps(document, separators=(",", ":")).replace("\x7f", "\\u007f")
