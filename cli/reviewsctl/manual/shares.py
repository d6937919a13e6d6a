"""The files below ``share``: manual pages, and completion for bash, zsh and fish.

``python -m reviewsctl.manual.shares DIR`` writes them there, for packages. The pages are made of the help
of both programs and of the reference of the configuration, from which they cannot differ; reviewsd(8) and
reviewsd.yaml(5) also have words of their own in ``shipped``.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer
from typer._completion_shared import get_completion_script

from reviewsctl.commands.root import app
from reviewsctl.daemon.session import own_version
from reviewsctl.manual.keys import SHIPPED, reference

_COMPLETIONS: Final = {
    "bash": "bash-completion/completions/reviewsctl",
    "zsh": "zsh/site-functions/_reviewsctl",
    "fish": "fish/vendor_completions.d/reviewsctl.fish",
}
"""The path at which each shell looks for completion by default."""

_PROGRAM: Final = "reviewsctl"
_VARIABLE: Final = "_REVIEWSCTL_COMPLETE"  # as Typer reads it
_WIDTH: Final = 72  # columns of the help, so that a page indents it on a terminal of 80


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, text in shared_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        typer.echo(path)


def shared_files() -> dict[str, str]:
    """Return the files by their paths below ``share``."""
    files = {f"man/man{name.rpartition('.')[2]}/{name}": text for name, text in pages().items()}
    for shell, path in _COMPLETIONS.items():
        script = get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=shell)
        files[path] = script.rstrip("\n") + "\n"
    return files


def pages() -> dict[str, str]:
    """Return the manual pages in man(7), by file name."""
    header = f'"" "reviewsd {own_version("reviewsd") or ""}" "Reviews Service"'
    command = [sys.executable, "-P", "-m", "reviewsd", "--help"]
    plain = {**os.environ, "COLUMNS": str(_WIDTH)}  # the same on every terminal
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=plain)  # noqa: S603  # ours
    return {
        "reviewsctl.1": "\n".join(_tool(header)) + "\n",
        "reviewsd.8": _shipped("reviewsd.8", header).replace("@HELP@", _verbatim(done.stdout)),
        "reviewsd.yaml.5": _shipped("reviewsd.yaml.5", header).replace(
            "@KEYS@", "\n".join(_keys())
        ),
    }


def _tool(header: str) -> Iterator[str]:
    # Any: Typer brings a Click of its own, which it does not export
    root: Any = typer.main.get_command(app)
    yield f".TH REVIEWSCTL 1 {header}"
    yield ".SH NAME\nreviewsctl \\- look after reviewsd, the Reviews Service"
    yield ".SH DESCRIPTION"
    yield _verbatim(_help(root, _PROGRAM))
    yield ".SH COMMANDS"
    for name, command in _commands(root, _PROGRAM):
        yield f'.SS "{_escaped(name)}"'
        yield _verbatim(_help(command, name))
    yield '.SH "SEE ALSO"\nreviewsd(8), reviewsd.yaml(5)'


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # see _tool
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield f"{path} {name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")


def _help(command: Any, name: str) -> str:  # noqa: ANN401  # see _tool
    context = typer.Context(command, info_name=name, terminal_width=_WIDTH)
    text: str = command.get_help(context)
    return text


def _shipped(name: str, header: str) -> str:
    return (SHIPPED / name).read_text().replace("@HEADER@", header)


def _keys() -> Iterator[str]:
    for key, default, text in reference():
        value = default if default == "required" else f"default {default}"
        yield f'.TP\n.B "{_escaped(key)}"\n{_escaped(f"{text} ({value})")}'


def _verbatim(text: str) -> str:
    """Return lines as they are; none begins like a request of man(7)."""
    lines = [f"\\&{_escaped(line)}" for line in text.rstrip("\n").split("\n")]
    return "\n".join([".nf", *lines, ".fi"])


def _escaped(text: str) -> str:
    # a hyphen that is to be copied is a minus; quotes end an argument
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq")


if __name__ == "__main__":
    main()
