"""``reviewsctl restore``: puts a backup on a machine (security-and-operations.md D12)."""

import datetime
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.daemon.session import Json, Session
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.terminal.output import fail, json_line
from reviewsctl.terminal.words import counted

if TYPE_CHECKING:
    from reviewsctl.backups.archive import Manifest
    from reviewsctl.backups.restoring import Places

EPILOG: Final = """\b
    Examples:
      reviewsctl restore /var/backups/reviewsd.tar.gz --dry-run
      reviewsctl restore /var/backups/reviewsd.tar.gz"""


def restore(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            exists=True,
            dir_okay=False,
            help="A file of reviewsctl backup.",
        ),
    ],
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            show_default=False,
            help="The place of the configuration, if it is not the old one. An existing configuration "
            "is not replaced, and its places of data and state are used.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace existing data and state.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only list the files that would be written or replaced."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Puts a backup back: data, configuration, state of the hub.

    The daemon must not run. corrections.json is merged: the later decision about each review
    counts, and reviews that were erased since the backup do not return.
    """
    from reviewsctl.backups import restoring  # msgspec, see main

    now, erased = datetime.datetime.now(datetime.UTC), 0
    try:
        with file.open("rb") as archive:
            manifest, names = restoring.list_files(archive)
            places = _places(manifest, config)
            if places.config.exists():
                names = [name for name in names if not name.startswith("config/")]
            existing = restoring.existing(names, places)
            if not dry_run:
                _check(ctx.obj, places.config, [] if force else existing)
                erased = restoring.restore(archive, names, places, now)
    except OSError as fault:
        detail = f"{fault.filename or file}: {fault.strerror or fault}"
        fail("not restored", detail, "Is there room? Run it as root.", as_json=as_json)
    paths = [str(places.target(name)) for name in names]
    if as_json:
        typer.echo(json_line({"files": paths, "made_at": str(manifest.made_at), "erased": erased}))
        return
    for path in paths:
        verb = "would replace" if Path(path) in existing else "would write"
        typer.echo(f"{verb if dry_run else 'wrote'} {path}")
    if erased:
        typer.echo(f"not restored, as they were erased since: {counted(erased, 'review')}")
    typer.echo(f"the backup is of {manifest.made_at:%Y-%m-%d %H:%M} UTC")
    if not dry_run:
        typer.echo("next: reviewsctl check, then start the daemon")


def _check(session: Session, config: Path, existing: Sequence[Path]) -> None:
    """Refuse to restore below a running daemon, or over existing files.

    Raises:
        ImportRefusedError: It would.
    """
    if _runs(session, config):
        raise ImportRefusedError(
            "the daemon runs",
            "Stop it, and its sockets, first (Ctrl-C where it runs in a terminal): "
            "systemctl stop reviewsd.socket reviewsd-admin.socket reviewsd",
        )
    if existing:
        raise ImportRefusedError(
            f"{existing[0]} exists already", "Replace existing files with --force."
        )


def _places(manifest: "Manifest", config: Path | None) -> "Places":
    """Return the targets of an existing configuration, else the old ones."""
    from reviewsctl.backups.restoring import Places
    from reviewsctl.daemon import default_paths

    target = config or default_paths.configuration(os.environ) or Path(manifest.config)
    old = Path(manifest.config).parent

    def moved(place: str) -> Path:
        """Return the new path: one below the folder of the configuration moves with that folder."""
        path = Path(place)
        if manifest.config and path.is_relative_to(old):
            return target.absolute().parent / path.relative_to(old)
        return path

    data, state, keys = map(moved, (manifest.data_dir, manifest.state_dir, manifest.keys_dir))
    if target.exists():
        environ = {**os.environ, "REVIEWSD_CONFIG": str(target)}
        data = default_paths.data_dir(target, environ) or data
        keys = state = default_paths.state_dir(environ)
    return Places(config=target.absolute(), data=data, state=state.absolute(), keys=keys.absolute())


def _runs(session: Session, config: Path) -> bool:
    """Return whether the daemon of a configuration answers."""
    from reviewsctl.daemon import client, default_paths, errors  # 25 ms, see main

    environ = {**os.environ, "REVIEWSD_CONFIG": str(config)}
    socket = session.named_socket or default_paths.admin_socket(environ)
    return not isinstance(client.quick_status(socket), errors.Unreachable)
