"""``reviewsctl backup``: the daemon's state as a file (security-and-operations.md D12)."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal.output import EXIT_FAILED, EXIT_INTERRUPTED, complain, json_line

if TYPE_CHECKING:
    from reviewsd.api.status import BackupContents

EPILOG = """\b
    Examples:
      reviewsctl backup /var/backups/reviewsd-$(date +%F).sqlite
      reviewsctl backup --force state-backup.sqlite --json | jq .subscriptions"""


def backup(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False, help="Where to write it.")
    ],
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Writes a copy of the daemon's state to a file of yours.

    It is consistent, and the daemon goes on meanwhile. In it are the subscriptions, pending requests, blocks, the pause, and which MCP sessions have
    ended. FILE is written whole or not at all, for your eyes only.

    The keys are not in it, so that the copy alone reveals no subscriber's secret: keep secret.key and
    mcp.key of the state directory once, and apart. To restore: stop the daemon, put FILE in the place
    of state.sqlite, remove state.sqlite-wal, put the keys beside it, all owned by the daemon's user,
    and start it. What is served is not in it either: that is made of your data directory.
    """
    session: Session = ctx.obj
    try:
        with session.daemon(as_json=as_json, quiet=quiet) as daemon, _new(file, force) as out:
            answer = daemon.backup(out.write)
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except OSError as fault:
        detail = f"{file}: {fault.strerror or fault}"
        members = {"title": "the backup was not written", "detail": detail}
        if isinstance(fault, FileExistsError):
            members["remedy"] = "Give another name, or replace it with --force."
        complain("error", members, as_json=as_json)
        raise typer.Exit(EXIT_FAILED) from fault
    if as_json:
        typer.echo(json_line({"file": str(file), **_members(answer)}))
    elif not quiet:
        from reviewsctl.terminal.escaping import printable_lines  # see main

        typer.echo(printable_lines(_described(file, answer)))


def _members(contents: "BackupContents") -> dict[str, object]:
    from msgspec.structs import asdict  # see main

    return {name: value for name, value in asdict(contents).items() if name != "schema"}


def _described(file: Path, contents: "BackupContents") -> str:
    from reviewsctl.terminal.words import counted  # see main

    parts = (
        f"{counted(contents.subscriptions, 'subscription')} ({contents.signed:,} with a secret)",
        counted(contents.requests, "pending request"),
        counted(contents.blocks, "block"),
        counted(contents.sessions_ended, "ended MCP session"),
    )
    keys = "".join(f"\n  {key}" for key in contents.keys)
    return (
        f"wrote {file}: {', '.join(parts)}; {contents.bytes:,} bytes\n"
        f"The keys that belong to it are not in it. Keep a copy of them, apart from it:{keys}"
    )


@contextlib.contextmanager
def _new(path: Path, force: bool) -> Iterator[BinaryIO]:  # noqa: FBT001  ours
    """A new file for the block: whole, private, and on the disk afterwards; or none at all."""
    from reviewsctl.files.folders import opened  # see main

    _check(path, force)
    with opened(path.parent) as folder, folder.draft(path.name) as new:
        yield new.file
        _check(path, force)
        new.put(0o600)


def _check(path: Path, force: bool) -> None:  # noqa: FBT001  ours
    if path.is_dir():
        raise IsADirectoryError(None, "is a directory")
    if os.path.lexists(path) and not force:
        raise FileExistsError(None, "is there already")
