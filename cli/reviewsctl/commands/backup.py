"""``reviewsctl backup``: all that an owner would miss, in one archive (security-and-operations.md D12)."""

import datetime
import os
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Final, cast

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.output import json_line, printable_lines
from reviewsd.api.places import REVIEWS_FILE, absolute
from reviewsd.api.texts import counted

if TYPE_CHECKING:
    from reviewsctl.daemon.client import Client
    from reviewsctl.daemon.errors import NotRunning
    from reviewsd.api.status import BackupContents

_REFUSED: Final = "the backup was not written"

EPILOG = """\b
    Examples:
      reviewsctl backup /var/backups/reviewsd-$(date +%F).tar.gz
      reviewsctl backup --force /var/backups/reviewsd.tar.gz --json | jq .subscriptions"""


def backup(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False, help="Where to write it.")
    ],
    *,
    config: ConfigFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Writes all that you would miss into one archive of yours.

    In it are reviews.json with its kept versions, corrections.json, insights.yaml, insights.json and the labels, the
    configuration, and the state of the hub with the keys that belong to it: subscriptions, pending requests, blocks,
    the pause, and which MCP sessions have ended. It is consistent, whether the daemon runs or not. FILE is written
    whole or not at all, for your eyes only: with the keys in it, it opens the secrets of subscribers.

    The way back: reviewsctl restore FILE. Not in it: credentials of sources, addresses of
    notices, templates, and a PostgreSQL store,
    which pg_dump backs up.
    """
    del config  # of the session
    session: Session = ctx.obj
    from reviewsctl.files.folders import opened  # see main

    _check_free(file, force=force)
    try:
        with (
            session.daemon(as_json=as_json, quiet=quiet) as daemon,
            opened(file.parent) as folder,
            folder.draft(file.name) as new,
        ):
            report = _write(daemon, new.file, session.configuration)
            _check_free(file, force=force)  # it may have taken long
            new.put(0o600)
    except OSError as fault:
        is_forbidden = isinstance(fault, PermissionError)
        place = (fault.filename if is_forbidden else None) or file
        remedy = "Run it as root, or as the user of the daemon." if is_forbidden else ""
        raise CommandError(_REFUSED, f"{place}: {fault.strerror or fault}", remedy) from fault
    if as_json:
        typer.echo(json_line({"file": str(file), **report}))
    elif not quiet:
        typer.echo(printable_lines(_described(file, report)))


def _check_free(file: Path, *, force: bool) -> None:
    if file.is_dir():
        raise CommandError(_REFUSED, f"{file}: is a folder", "Name a file in it.")
    if os.path.lexists(file) and not force:
        remedy = "Choose another name, or replace it with --force."
        raise CommandError(_REFUSED, f"{file}: is there already", remedy)


def _write(daemon: "Client", out: BinaryIO, config: Path | None) -> dict[str, object]:
    """Write the archive, and return what is in it."""
    from reviewsctl.backups import archive  # msgspec, see main
    from reviewsctl.daemon.errors import NotRunning

    with tempfile.TemporaryFile() as store:
        try:
            state = _live(daemon, config, store)
        except NotRunning as absence:
            if config is None:
                raise
            state = _stopped(config, store, absence)
        keys = [] if state.contents is None else list(map(Path, state.contents.keys))
        manifest = archive.Manifest(
            made_at=datetime.datetime.now(datetime.UTC),
            config="" if config is None else str(absolute(config)),
            data_dir=str(state.data),
            state_dir=str(state.folder),
            keys_dir=str(keys[0].parent if keys else state.folder),
        )
        with archive.writing(out, manifest) as writer:
            if config is not None:
                writer.add_file(archive.CONFIG, config)
            writer.add_data(state.data)
            if state.contents is not None:
                size = store.tell()
                store.seek(0)
                writer.add(archive.STORE, store, size)
            missing = [key for key in keys if not writer.add_file(f"keys/{key.name}", key)]
    notes = [*state.notes, *(f"not in it, keep it apart: {key}" for key in missing)]
    reviews = {} if (count := _reviews(state.data)) is None else {"reviews": count}
    return {**reviews, **_members(state.contents), "files": writer.names, "notes": notes}


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """The state of the daemon, with a copy of it in a file."""

    data: Path
    folder: Path
    contents: "BackupContents | None"
    """The summary of the copy; None without one."""
    notes: tuple[str, ...] = ()


def _live(daemon: "Client", config: Path | None, store: BinaryIO) -> _State:
    """Copy the state of a running daemon."""
    from reviewsctl.daemon import default_paths
    from reviewsctl.daemon.errors import Refused

    data = Path(daemon.status().value.data.dir)
    folder = default_paths.state_dir(config, os.environ)
    try:
        contents = daemon.backup(store.write)
    except Refused as error:  # the store is in PostgreSQL
        return _State(data=data, folder=folder, contents=None, notes=(error.detail,))
    return _State(data=data, folder=folder, contents=contents)


def _stopped(config: Path, store: BinaryIO, absence: "NotRunning") -> _State:
    """Copy the state of a daemon that does not run."""
    from reviewsctl.daemon import local  # 25 ms, see main

    state = local.state(config)
    if state.store is not None:
        with state.store as copy:
            shutil.copyfileobj(copy, store)
    notes = (f"read without the daemon: {absence.detail}", state.fault)
    return _State(
        data=state.settings.data_dir,
        folder=state.settings.state_dir,
        contents=state.contents,
        notes=tuple(filter(None, notes)),
    )


def _reviews(data: Path) -> int | None:
    """Return the number of reviews in reviews.json; None if it cannot be read."""
    import msgspec  # see main

    try:
        document = msgspec.json.decode(
            (data / REVIEWS_FILE).read_bytes(), type=dict[str, msgspec.Raw]
        )
        return len(msgspec.json.decode(document["reviews"], type=list[msgspec.Raw]))
    except (OSError, KeyError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _members(contents: "BackupContents | None") -> dict[str, object]:
    from msgspec.structs import asdict  # see main

    if contents is None:
        return {}
    return {
        name: value for name, value in asdict(contents).items() if name not in {"schema", "keys"}
    }


def _described(file: Path, report: dict[str, object]) -> str:
    words = {
        "reviews": "review",
        "files": "file",
        "subscriptions": "subscription",
        "requests": "pending request",
        "blocks": "block",
        "sessions_ended": "ended MCP session",
    }
    names, notes = cast("list[str]", report["files"]), cast("list[str]", report["notes"])
    counts = {**report, "files": len(names)}
    parts = [
        counted(value, word)
        for name, word in words.items()
        if isinstance(value := counts.get(name), int) and (value or name == "reviews")
    ]
    has_keys = any(name.startswith("keys/") for name in names)
    lines = [
        f"wrote {file}: {', '.join(parts)}",
        *(f"note: {note}" for note in notes),
        *(["it holds keys: keep it where nobody else can read it"] if has_keys else []),
        f"the way back: reviewsctl restore {shlex.quote(str(file))}",
    ]
    return "\n".join(lines)
