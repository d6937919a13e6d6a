"""``reviewsctl version``: the versions of the tool and of the daemon (interfaces.md 1.1)."""

import sys

import typer

from reviewsctl.daemon.session import Json, Session, own_version
from reviewsctl.terminal.output import json_line

EPILOG = """\b
Examples:
  reviewsctl version
  reviewsctl version --json"""


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
