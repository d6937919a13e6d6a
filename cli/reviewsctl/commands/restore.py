"""``reviewsctl restore``: puts a backup on a machine (security-and-operations.md D12)."""

import datetime
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import in_folder
from reviewsctl.daemon import units
from reviewsctl.daemon.session import Json, Quiet, Session
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.output import NOTHING_WRITTEN, echo, json_line
from reviewsd.api.disk import is_full
from reviewsd.api.places import KEPT_FOLDER, SYSTEM, absolute
from reviewsd.api.texts import counted

if TYPE_CHECKING:
    from reviewsctl.backups.archive import Manifest
    from reviewsctl.backups.restoring import Action, Places

_STOP: Final = (
    "Stop it, and its sockets, first (Ctrl-C where it runs in a terminal): "
    "systemctl stop reviewsd.socket reviewsd-admin.socket reviewsd"
)
_ELSEWHERE: Final = "to restore it elsewhere: reviewsctl init NEW-FOLDER, and here --config NEW-FOLDER/reviewsd.yaml --force"

_DONE: Final = {
    "write": "wrote",
    "replace": "replaced",
    "merge": "merged",
    "keep": "kept",
    "skip": "skipped",
}

EPILOG: Final = """\b
    Examples:
      reviewsctl restore /var/backups/reviewsd.tar.gz --dry-run
      reviewsctl restore /var/backups/reviewsd.tar.gz
      reviewsctl init trial
      reviewsctl restore reviewsd.tar.gz --config trial/reviewsd.yaml --force"""


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
            callback=in_folder,
            help="Restore for this configuration. One that exists says where reviews and state go. One that "
            "does not is written, where all files of the backup were in the folder of the old one, and go "
            "into its folder.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace existing data and state.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only list what would be written and kept."),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Puts a backup back: data, configuration, state of the hub.

    Everything goes where it was. A configuration that is here (./reviewsd.yaml) or named is kept, and
    says where reviews and state go. The daemon must not run. What you have hidden or erased since the
    backup stays so. Files that the configuration names and the backup does not have are listed:
    addresses of notices, secrets, certificates, templates, exports of sources. --dry-run says all
    that before, and whether --force would be needed.
    """
    from reviewsctl.backups import restoring  # msgspec, see main
    from reviewsctl.importing import history

    erased = 0
    new_files: list[Path] = []
    try:
        with file.open("rb") as archive:
            contents = restoring.list_files(archive)
            places = _places(contents.manifest, config)
            plan = {name: restoring.action(name, places) for name in contents.names}
            existing = [places.target(name) for name in plan if plan[name] == "replace"]
            missing = restoring.missing_files(contents, places)
            merged = restoring.restored_corrections(contents, places)
            is_undoable = "data/reviews.json" in plan and restoring.can_be_undone(places)
            refusals = list(_refusals(ctx.obj, places, [] if force else existing))
            if not dry_run:
                _check(refusals)
                now = datetime.datetime.now(datetime.UTC)
                log = restoring.restored_log(contents, file.name, now) if is_undoable else None
                new_files.extend(restoring.restore(archive, plan, places, merged, log))
                erased = _take_out_erased(places)
    except OSError as fault:
        title, remedy = _failure(fault, len(new_files))
        detail = f"{fault.filename or file}: {fault.strerror or fault}"
        raise CommandError(title, detail, remedy) from fault
    actions = {str(places.target(name)): action for name, action in plan.items()}
    made_at = contents.manifest.made_at
    if as_json:
        document = {
            "dry_run": dry_run,
            "files": [path for path, action in actions.items() if action not in {"keep", "skip"}],
            "actions": actions,
            "missing": [str(named.path) for named in missing],
            "made_at": str(made_at),
            "erased": erased,
        }
        typer.echo(json_line(document))
        return
    if quiet:
        return
    if places.config == Path(contents.manifest.config):
        typer.echo(f"this backup goes back to {places.config.parent}; {_ELSEWHERE}")
    for action, what in _files(actions, places.data / KEPT_FOLDER / history.FOLDER):
        typer.echo(f"{f'would {action}' if dry_run else _DONE[action]} {what}")
    if erased:
        typer.echo(f"not restored, as they were erased since: {counted(erased, 'review')}")
    typer.echo(f"the backup is of {made_at:%Y-%m-%d %H:%M} UTC")
    for named in missing:
        when = "the sync" if named.is_export else "the start"
        typer.echo(f"note: not restored: {named.path} ({named.key}); put it there before {when}")
    if dry_run:
        echo(
            *(f"it would be refused: {it.detail}. {it.remedy}" for it in refusals), NOTHING_WRITTEN
        )
    else:
        echo(*_next_steps(contents.manifest, places, config, is_undoable=is_undoable))


def _next_steps(
    manifest: "Manifest", places: "Places", config: Path | None, *, is_undoable: bool
) -> Iterator[str]:
    from reviewsctl.commands.import_ import undo_command

    if is_undoable:
        yield f"to take the restored reviews back: {undo_command(None, config)}"
    option = "" if config is None else f" --config {shlex.quote(str(config))}"
    old = manifest.config
    if old and old != str(places.config) and os.access(old, os.F_OK):
        yield f"next: reviewsctl check{option}"
        yield (
            f"do not start reviewsd here while that of {old} runs, as subscribers would hear from both"
        )
        return
    yield f"next: reviewsctl check{option}, then {start_of(places.config)}"


def _failure(fault: OSError, written: int) -> tuple[str, str]:
    """Return the title and the remedy of a fault after which so many files are written."""
    remedy = "Make room." if is_full(fault) else "Run it as root."
    if not written:
        return "not restored", remedy
    title = f"restored in part, {counted(written, 'file')}"
    return title, f"{remedy} Then run it again with --force, which replaces what is there."


def _take_out_erased(places: "Places") -> int:
    from reviewsctl.backups.restoring import take_out_erased

    try:
        return take_out_erased(places, datetime.datetime.now(datetime.UTC))
    except ImportRefusedError as error:
        title = "restored, but what was erased may be in it again"
        raise CommandError(title, error.detail, error.remedy) from error


def _files(actions: "Mapping[str, Action]", kept: Path) -> "Iterator[tuple[Action, str]]":
    """Yield the files with their actions, and the number of kept versions for each action."""
    versions: Counter[Action] = Counter()
    for path, action in actions.items():
        if Path(path).parent == kept:
            versions[action] += 1
        else:
            yield action, path
    for action, count in versions.items():
        yield action, f"{counted(count, 'file')} in {kept}"


def _refusals(
    session: Session, places: "Places", existing: Sequence[Path]
) -> Iterator[ImportRefusedError]:
    """Yield the refusals of a restore below a running daemon, or over existing files."""
    if _runs(session, places):
        yield ImportRefusedError("the daemon runs", _STOP)
    if existing:
        replaced = counted(len(existing), "existing file")
        remedy = f"Replace {replaced} with --force; {_ELSEWHERE}"
        yield ImportRefusedError(f"{existing[0]} exists already", remedy)


def _check(refusals: Sequence[ImportRefusedError]) -> None:
    if refusals:
        raise refusals[0]


def _places(manifest: "Manifest", config: Path | None) -> "Places":
    """Return the targets of an existing configuration, else the old ones, or those below a new one.

    Raises:
        ImportRefusedError: There is no such configuration, and the backup was not in one folder: it would go back over
            what is served, wherever the new one is.
    """
    from reviewsctl.backups.restoring import Places
    from reviewsctl.daemon import default_paths

    target = absolute(config or default_paths.configuration(os.environ) or Path(manifest.config))
    old = Path(manifest.config).parent

    def moved(place: str) -> Path:
        """Return the new path: one below the folder of the configuration moves with that folder."""
        path = Path(place)
        if manifest.config and path.is_relative_to(old):
            return target.parent / path.relative_to(old)
        return path

    data, state, keys = map(moved, (manifest.data_dir, manifest.state_dir, manifest.keys_dir))
    if not target.exists():
        if target != Path(manifest.config) and not _is_in_one_folder(manifest):
            raise ImportRefusedError(
                f"there is no {target}, and without it reviews and state would go back to {data} and {state}",
                f"To restore it elsewhere: reviewsctl init {shlex.quote(str(target.parent))}, and then this "
                "with --force. Without --config it goes back to where it was.",
            )
    else:
        data = default_paths.data_dir(target, os.environ) or data
        keys = state = default_paths.state_dir(target, os.environ)
    return Places(config=target, data=data, state=state.absolute(), keys=keys.absolute())


def start_of(config: Path) -> str:
    """Return how to start the daemon of a configuration; on a new machine the service is not installed yet."""
    if config != SYSTEM:
        return "start the daemon"
    return units.start_command() if units.is_installed() else units.install_command()


def _is_in_one_folder(manifest: "Manifest") -> bool:
    """Return whether data, state and keys were in the folder of the configuration."""
    folder = Path(manifest.config).parent
    places = (manifest.data_dir, manifest.state_dir, manifest.keys_dir)
    return bool(manifest.config) and all(Path(at).is_relative_to(folder) for at in places)


def _runs(session: Session, places: "Places") -> bool:
    """Return whether a daemon runs that has this configuration, or this state by another one."""
    from reviewsctl.backups import restoring
    from reviewsctl.daemon.errors import Unreachable  # 25 ms, see main

    answer = Session(session.named_socket, places.config).quick_status()
    return not isinstance(answer, Unreachable) or restoring.is_in_use(places)
