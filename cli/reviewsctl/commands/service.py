"""``reviewsctl service``: have systemd run the daemon, or no longer (interfaces.md 1.1, 1.6)."""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile
from reviewsctl.daemon.units import (
    BOOTED,
    OWN,
    ROOT,
    SERVICE,
    SOCKETS,
    SYNC_UNITS,
    UNITS,
    below,
    folder,
    install_command,
    is_packaged,
    output_of,
    sudo_reviewsctl,
)
from reviewsctl.terminal.errors import CommandError
from reviewsctl.terminal.output import NOTHING_WRITTEN
from reviewsd.api.places import HERE, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reviewsctl.files.requested import Installation
    from reviewsctl.files.steps import Step

_AGAIN: Final = "Fix it and run the command again; finished steps are skipped."
_JOURNAL_LINES: Final = 12
_LEFT: Final = {
    "/etc/reviewsd": "the configuration, and the files that came with it",
    "data_dir": "the reviews; /srv/reviews, unless the configuration names another folder",
    "/var/lib/reviewsd": "the state: subscriptions, keys, the last good snapshot",
    "/var/lib/reviewsd-sync": "logins of sources, if there are any",
    "reviewsd-admin": "the group: sudo groupdel reviewsd-admin",
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
    service reads these copies alone. What is there already stays. --dry-run shows each step, and
    each line that would change. Run it again after an upgrade, with --restart.

    The daemon runs as a user of its own, which systemd makes; members of the group reviewsd-admin
    may use reviewsctl without sudo. The files that the configuration names are copied too:
    certificates and templates that lie beside it or in a home directory, and secrets (addresses of
    notices, keys, secrets of sources), which only root can read then; systemd hands them over, so
    the copy does not name them. Other files stay, and the copy has their whole paths. Manual pages
    and completion for bash, zsh and fish go to /usr/local/share.

    If the configuration has sources, a timer runs reviewsctl sync as the user that owns the data
    directory; a directory of root is given to the user reviewsd-sync.
    """
    if not print_unit:
        _refuse_if_packaged(root)
    from reviewsctl.files.installation import plan, restart_steps
    from reviewsctl.files.requested import requested
    from reviewsctl.files.steps import CopyFile, WriteFile, read
    from reviewsctl.files.unit_text import unit

    installation = requested(config, root)
    if print_unit:
        typer.echo(unit(installation, SERVICE), nl=False)
        return
    if not dry_run:
        _refuse_if_impossible(root, "service install", "not installed")
    _refuse_what_others_can_change(installation, root)
    from reviewsctl.manual.shares import shared_files  # it reads all commands

    failed = _service_is("failed", root)
    with _faults():
        steps = list(plan(installation, root, shared_files(), failed=failed))
    restarting = restart_steps(steps) if _service_is("active", root) else ()
    if restart:
        steps.extend(restarting)
    if dry_run:
        previews = (step.preview() if isinstance(step, WriteFile) else str(step) for step in steps)
        typer.echo("\n".join(dict.fromkeys(previews)))
        _explain_sync(installation, root)
        typer.echo(NOTHING_WRITTEN)
        return
    with _faults():
        for step in steps:  # before anything is done
            if isinstance(step, CopyFile):
                with read(step.source):
                    pass
        _do(steps, root)
    if restarting and not restart:
        commands = " && ".join(f"sudo {step}" for step in restarting)
        typer.echo(f"\nnote: reviewsd was running and goes on as before until: {commands}")
    _explain_sync(installation, root)
    typer.echo("\nnext:")
    if os.path.lexists(HERE):  # ours, which is not the service's
        typer.echo(
            "  cd                                      here reviewsctl asks for ./reviewsd.yaml"
        )
    typer.echo(
        "  sudo usermod -aG reviewsd-admin $USER   then log in again: reviewsctl without sudo\n"
        "  reviewsctl doctor                       whether the world can reach it"
    )


@app.command(
    epilog="""\b
    Examples:
      reviewsctl service uninstall --dry-run
      sudo "$(command -v reviewsctl)" service uninstall"""
)
def uninstall(*, dry_run: DryRun = False, root: Root = ROOT) -> None:
    """Stops the service and removes what service install wrote.

    Units, manual pages and completion go. The configuration, the reviews, the state with its keys,
    and the group reviewsd-admin stay, and the last lines say where they are. Drop-ins of yours stay
    too. The Debian package is removed by apt instead.
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

    steps = list(removal(root))
    if dry_run:
        typer.echo("\n".join(map(str, steps)))
    else:
        with _faults():
            _do(steps, root)
    typer.echo("\nleft, for you to keep or remove:")
    for place, content in _LEFT.items():
        typer.echo(f"  {place:<24}{content}")
    if dry_run:
        typer.echo(NOTHING_WRITTEN)


def _service_is(state: str, root: Path) -> bool:
    """Whether systemd has the service in this state; in an image it has none."""
    if root != ROOT or not BOOTED.is_dir():
        return False
    return output_of("systemctl", f"is-{state}", SERVICE) is not None


def _do(steps: "Sequence[Step]", root: Path) -> None:
    """Do steps; those with the same line are shown once."""
    os.umask(0o022)
    line = ""
    for step in steps:
        if str(step) != line:
            line = str(step)
            typer.echo(line)
        step.do(root)


@contextlib.contextmanager
def _faults() -> "Iterator[None]":
    """End the command where a file or a command of the block fails."""
    began = time.time()
    try:
        yield
    except OSError as fault:
        detail = f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault)
        raise CommandError("not installed", detail, _AGAIN) from fault
    except subprocess.CalledProcessError as fault:
        journal = _journal(began) if SERVICE in fault.cmd else ""
        detail = f"{shlex.join(fault.cmd)}: exit code {fault.returncode}{journal}"
        raise CommandError("not installed", detail, _AGAIN) from fault


def _journal(since: float) -> str:
    """The last lines of the service's journal since a POSIX time, indented."""
    output = output_of(
        *("journalctl", f"--unit={SERVICE}", f"--since=@{since:.0f}", f"--lines={_JOURNAL_LINES}"),
        *("--output=cat", "--no-pager", "--quiet"),
    )
    lines = "".join(f"\n  {line}" for line in (output or "").splitlines())
    return f"; the journal of {SERVICE} ends with:{lines}" if lines else ""


def _explain_sync(installation: "Installation", root: Path) -> None:
    """Print whether a timer reads the sources, as which user, and which exports stay in the folder of a trial."""
    from reviewsctl.files.installation import owner  # see main

    if not installation.has_sources:
        typer.echo(
            "\nnote: reviewsd-sync.timer is not installed, since the configuration has no sources; "
            "add one, then run this command again"
        )
        return
    data = installation.data.copy
    user, group, is_owner = owner(data, root)
    typer.echo(f"\nnote: reviewsd-sync.timer runs reviewsctl sync as {user}, the owner of {data}")
    if root != ROOT and not is_owner:
        typer.echo(
            f"note: give that user the folder when the system runs: chown -R {user}:{group} "
            f"{shlex.quote(str(data))}"
        )
    if installation.config is None:
        return
    left = Path(os.path.abspath(installation.config)).parent  # noqa: PTH100  # ".." leads out of it
    for file in installation.files:
        if file.is_export and file.path.is_relative_to(left):
            typer.echo(
                f"note: reviewsctl sync goes on reading {file.path} ({file.key}): before you delete {left}, "
                f"move it and change its path in {SYSTEM}"
            )


def _refuse_what_others_can_change(installation: "Installation", root: Path) -> None:
    """Refuse programs, configuration and keys that others than root and the installing user can change."""
    from reviewsctl.files.named_files import KEYS
    from reviewsctl.files.ownership import caller, faults, user_name

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
            units = " ".join(str(OWN / unit) for unit in (*UNITS, *SYNC_UNITS))
            remedy = (
                f"Remove those in {OWN}, which take their place:\n"
                f"  sudo rm -f {units}\n"
                "  sudo systemctl daemon-reload\n"
                f"  sudo systemctl reenable {' '.join((*SOCKETS, SERVICE))}\n"
                f"  sudo systemctl restart {SERVICE}"
            )
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
