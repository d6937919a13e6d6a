"""The files below ``share``: manual pages, and completion for bash, zsh and fish.

``python -m reviewsctl.manual.shares DIR`` writes them there, for packages; ``reviewsctl service
install`` writes them to ``/usr/local/share``.
"""

import sys
from pathlib import Path
from typing import Final

import typer
from typer._completion_shared import get_completion_script

from reviewsctl.manual.pages import pages

_PROGRAM: Final = "reviewsctl"
_VARIABLE: Final = "_REVIEWSCTL_COMPLETE"  # as Typer reads it
_COMPLETIONS: Final = {  # the default place of each shell
    "bash": "bash-completion/completions/reviewsctl",
    "zsh": "zsh/site-functions/_reviewsctl",
    "fish": "fish/vendor_completions.d/reviewsctl.fish",
}


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, text in shares().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        typer.echo(path)


def shares() -> dict[str, str]:
    """Return the files by their paths below ``share``."""
    files = {f"man/man{name.rpartition('.')[2]}/{name}": text for name, text in pages().items()}
    for shell, path in _COMPLETIONS.items():
        script = get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=shell)
        files[path] = script.rstrip("\n") + "\n"
    return files


if __name__ == "__main__":
    main()
