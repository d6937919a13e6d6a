"""``reviewsctl service``: have systemd run the daemon, or no longer (interfaces.md 1.1, 1.6)."""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.units import (
    BOOTED,
    OWN,
    ROOT,
    SERVICE,
    below,
    folder,
    install_command,
    is_packaged,
    output_of,
    sudo_reviewsctl,
)
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.output import NOTHING_WRITTEN
from reviewsd.api.places import HERE, SYSTEM, caller

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reviewsctl.files.requested import Installation
    from reviewsctl.files.steps import Step

_AGAIN: Final = "Fix it and run the command again; finished steps are skipped."
_RESTART: Final = ("systemctl", "restart", SERVICE)
_LEFT: Final = {
    "/etc/reviewsd": "the configuration, and the files that came with it",
    "data_dir": "the reviews; /srv/reviews, unless the configuration names another folder",
    "/var/lib/reviewsd": "the state: subscriptions, keys, the last good snapshot",
    "/var/lib/reviewsd-sync": "logins of sources, if there are any",
    "reviewsd-admin": "the group: sudo groupdel reviewsd-admin",
    "reviewsd-sync": "the user of reviewsctl sync: sudo userdel reviewsd-sync",
}

Root = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        show_default=False,
        resolve_path=True,
        help="The root of an image, instead of this system.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")]

app = typer.Typer(
    name="service",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Has systemd run the daemon, now and after a reboot.",
    epilog="""\b
    Examples:
      reviewsctl service install --dry-run
      sudo "$(command -v reviewsctl)" service install""",
)


@app.command(
    epilog="""\b
    Examples:
      reviewsctl service install --dry-run
      sudo "$(command -v reviewsctl)" service install --config shop/reviewsd.yaml
      reviewsctl service install --print-unit | systemd-analyze security --offline=true /dev/stdin"""
)
def install(
    *,
    config: ConfigFile = None,
    dry_run: DryRun = False,
    print_unit: Annotated[
        bool, typer.Option("--print-unit", help="Only print the unit of the service.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Restart the service if it runs already.")
    ] = False,
    root: Root = ROOT,
) -> None:
    """Installs the service, and starts it.

    Your configuration is copied to /etc/reviewsd/reviewsd.yaml, and reviews that lie beside it or in
    a home directory to /srv/reviews, with the versions that are kept of them. From then on the
    service reads these copies alone. What is there already stays, which a note says of a configuration. Run it again after an upgrade,
    with --restart.

    The daemon runs as a user of its own, which systemd makes; members of the group reviewsd-admin
    may use reviewsctl without sudo. The files that the configuration names are copied too:
    certificates and templates that lie beside it or in a home directory, and secrets (addresses of
    notices, keys, secrets of sources), which only root can read then; systemd hands them over, so
    the copy does not name them. Other files stay, and the copy has their whole paths.

    If the configuration has sources, a timer runs reviewsctl sync as the user reviewsd-sync, to which
    a data directory of root is given.
    """
    if not print_unit:
        _refuse_if_packaged(root)
    from reviewsctl.files.installation import plan
    from reviewsctl.files.requested import requested
    from reviewsctl.files.steps import Run
    from reviewsctl.files.unit_text import unit

    installation = requested(config, root)
    if print_unit:
        typer.echo(unit(installation, SERVICE), nl=False)
        return
    if not dry_run:
        _refuse_if_impossible(root, "service install", "not installed")
    _refuse_what_others_can_change(installation, root)
    is_active = _service_is("active", root)
    with _faults():
        steps = list(plan(installation, root, failed=_service_is("failed", root)))
    if restart and is_active:
        steps.append(Run(_RESTART))
    _do(steps, root, dry_run=dry_run)
    if is_active and not restart:
        command = f"sudo {shlex.join(_RESTART)}"
        typer.echo(f"note: reviewsd was running and goes on as before until: {command}")
    for note in _notes(installation, root):
        typer.echo(f"note: {note}")
    typer.echo(NOTHING_WRITTEN if dry_run else _next_steps())


@app.command(
    epilog="""\b
    Examples:
      reviewsctl service uninstall --dry-run
      sudo "$(command -v reviewsctl)" service uninstall"""
)
def uninstall(*, dry_run: DryRun = False, root: Root = ROOT) -> None:
    """Stops the service and removes what service install wrote.

    The configuration, the reviews, the state with its keys, users and groups stay, and the last lines
    say where they are. Drop-ins of yours stay too. The Debian package is removed by apt instead.
    """
    if is_packaged(root) and folder(root) != OWN:
        detail = "the Debian package has installed the service"
        raise CommandError("not removed", detail, "Remove it: sudo apt-get remove reviewsd")
    if not os.path.lexists(below(root, OWN) / SERVICE):
        detail = f"there is no {OWN / SERVICE}"
        raise CommandError("not removed", detail, "Nothing is to be done.")
    if not dry_run:
        _refuse_if_impossible(root, "service uninstall", "not removed")
    from reviewsctl.files.installation import removal

    _do(removal(root), root, dry_run=dry_run)
    typer.echo("\nleft, for you to keep or remove:")
    for place, content in _LEFT.items():
        typer.echo(f"  {place:<24}{content}")
    if dry_run:
        typer.echo(NOTHING_WRITTEN)


def _next_steps() -> str:
    lines = [
        "\nnext:",
        "  sudo usermod -aG reviewsd-admin $USER   then log in again: reviewsctl without sudo",
        "  reviewsctl doctor                       whether the world can reach it",
    ]
    if os.path.lexists(HERE):  # ours, which is not the service's
        lines[1:1] = [
            "  cd                                      here reviewsctl asks for ./reviewsd.yaml"
        ]
    return "\n".join(lines)


def _service_is(state: str, root: Path) -> bool:
    """Whether systemd has the service in this state; in an image it has none."""
    if root != ROOT or not BOOTED.is_dir():
        return False
    return output_of("systemctl", f"is-{state}", SERVICE) is not None


def _do(steps: "Iterable[Step]", root: Path, *, dry_run: bool) -> None:
    """Print each step, and do it unless ``dry_run``; none is done if a file must not be copied."""
    from reviewsctl.files.steps import CopyFile, grouped, read

    os.umask(0o022)
    with _faults():
        todo = list(steps)
        for step in todo:
            if isinstance(step, CopyFile):
                with read(step.source):
                    pass
        for text, group in grouped(todo):
            typer.echo(text)
            for step in () if dry_run else group:
                step.do(root)


@contextlib.contextmanager
def _faults() -> "Iterator[None]":
    """End the command where a file or a command of the block fails."""
    try:
        yield
    except OSError as fault:
        detail = f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault)
        raise CommandError("not installed", detail, _AGAIN) from fault
    except subprocess.CalledProcessError as fault:
        detail = f"{shlex.join(fault.cmd)}: exit code {fault.returncode}"
        why = f"Why a service does not start: {sudo_reviewsctl()} doctor"
        raise CommandError("not installed", detail, f"{_AGAIN} {why}") from fault


def _notes(installation: "Installation", root: Path) -> "Iterator[str]":
    """Yield which configuration is not read, whose the data has to be for the sync, and which exports stay in the folder of a trial."""
    from reviewsctl.files.installation import SYNC_OWNER, SYNC_USER  # see main
    from reviewsctl.files.ownership import user_name

    data, unread = installation.data.copy, installation.unread
    if unread is not None:
        there = below(root, SYSTEM)
        yield (
            f"{there} was there and is kept: neither {unread} nor the reviews of its data_dir were copied. "
            f"What you have changed in it belongs into {there}; then: {sudo_reviewsctl()} check, and "
            f"{sudo_reviewsctl()} service install --restart"
        )
    if installation.has_sources and root != ROOT:
        yield (
            "when the system runs, give the reviews to the user of the sync: "
            f"chown -R {SYNC_OWNER} {shlex.quote(str(data))}"
        )
    elif installation.has_sources and data.exists():
        owner = user_name(data.stat().st_uid)
        if owner not in {"root", SYNC_USER}:
            yield (
                f"{data} belongs to {owner}, so reviewsd-sync.service has to run as that user: "
                f"User={owner} below [Service], by sudo systemctl edit reviewsd-sync.service"
            )
    if installation.config is None:
        return
    left = Path(os.path.abspath(installation.config)).parent  # noqa: PTH100  # ".." leads out of it
    exports = [
        f"{file.path} ({file.key})"
        for file in installation.files
        if file.is_export and file.path.is_relative_to(left)
    ]
    if exports:
        what = "it and change its path" if len(exports) == 1 else "them and change their paths"
        yield (
            f"reviewsctl sync goes on reading {', '.join(exports)}: before you delete {left}, "
            f"move {what} in {SYSTEM}"
        )


def _refuse_what_others_can_change(installation: "Installation", root: Path) -> None:
    """Refuse programs, configuration and keys that others than root and the installing user can change."""
    from reviewsctl.files.named_files import KEYS
    from reviewsctl.files.ownership import faults, user_name

    installer = caller(os.environ)
    programs = (installation.reviewsd, installation.reviewsctl, Path(sys.executable))
    named = [file.path for file in installation.files if not file.key.startswith("sources.")]
    config = installation.config or below(root, SYSTEM)
    files = (*programs, config, *named, *(below(root, key) for key in KEYS))
    problems = list(faults(files, {0, installer}))
    if problems:
        listed = "\n".join(f"  {fault.path}: {fault.reason}" for fault in problems)
        remedies = "\n".join(f"  {fault.remedy}" for fault in problems)
        raise CommandError(
            "not installed",
            f"others than root can change what the service runs or reads\n{listed}",
            f"Fix it, or install the program where only root can write:\n{remedies}",
        )
    if installer != 0 and any(faults(programs, {0})):
        name = user_name(installer)
        typer.echo(f"note: {name} can change the programs of the service; root never runs them")


def _refuse_if_packaged(root: Path) -> None:
    """Units in /etc would mask those of the package for good."""
    if is_packaged(root):
        remedy = f"Use them: {install_command(root)}"
        if folder(root) == OWN:
            uninstall = f"{sudo_reviewsctl()} service uninstall"
            remedy = f"Remove those in {OWN}, which take their place: {uninstall}\n{remedy}"
        detail = "the Debian package has installed the units of the service"
        raise CommandError("not installed", detail, remedy)


def _refuse_if_impossible(root: Path, command: str, title: str) -> None:
    if shutil.which("systemctl") is None or (root == ROOT and not BOOTED.is_dir()):
        raise CommandError(
            title,
            "this machine does not run systemd",
            "Have its own init, or your container, run: reviewsd --config /etc/reviewsd/reviewsd.yaml",
        )
    if os.geteuid() != 0:
        raise CommandError(title, "only root may do this", f"{sudo_reviewsctl()} {command}")
