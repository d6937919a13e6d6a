"""``reviewsctl service``: have systemd run the daemon (interfaces.md 1.1, 1.6)."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from reviewsctl.commands.import_ import ConfigFile
from reviewsctl.terminal.output import EXIT_FAILED, complain, failing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.files.installation import Programs, Step, Wanted

_ROOT: Final = Path("/")
_CREDENTIALS: Final = "etc/credstore"  # where systemd looks for what LoadCredential= names
_KEYS: Final = ("reviewsd.hub-secret-key", "reviewsd.mcp-session-key")
_AGAIN: Final = "Mend it, then run this again: what is done is not done twice."
_MOST: Final = 5  # faults that are told

app = typer.Typer(
    name="service",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Has systemd run the daemon, now and after a reboot.",
    epilog="""\b
    Examples:
      reviewsctl service install --dry-run
      sudo reviewsctl service install""",
)


@app.callback()
def _group() -> None:
    """Has systemd run the daemon, now and after a reboot."""


@app.command(
    epilog="""\b
    Examples:
      reviewsctl service install --dry-run
      sudo reviewsctl service install --config shop/reviewsd.yaml
      reviewsctl service install --print-unit | systemd-analyze security --offline=true /dev/stdin"""
)
def install(
    *,
    config: ConfigFile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be done.")
    ] = False,
    print_unit: Annotated[
        bool, typer.Option("--print-unit", help="Only print the unit of the service.")
    ] = False,
    root: Annotated[
        Path,
        typer.Option(
            metavar="DIR", show_default=False, help="Of an image, instead of this system."
        ),
    ] = _ROOT,
) -> None:
    """Installs the service: group, folders, units, manual pages, completion, and starts it.

    The daemon runs as a user of its own, which systemd makes; members of the group reviewsd-admin
    may use reviewsctl without sudo. A configuration that is not /etc/reviewsd/reviewsd.yaml yet is
    copied there, with the paths of a service, and data that lies beside it or in a home directory
    to /srv/reviews. What is there already stays. Manual pages and completion for bash, zsh and fish
    go to /usr/local/share. Run it again after an upgrade. --dry-run shows the steps, and of files the
    lines that would change.
    """
    wanted = _wanted(config, root)
    from reviewsctl.files.installation import (
        CopyFile,
        WriteFile,
        data_dir,
        read,
        service_unit,
    )

    if print_unit:
        typer.echo(service_unit(wanted.programs, data_dir(wanted)), nl=False)
        return
    if not dry_run:
        _refuse_if_impossible(root)
    _refuse_what_others_can_change(wanted)
    steps = _planned(wanted, root)
    if dry_run:
        for step in steps:
            typer.echo(step.preview(root) if isinstance(step, WriteFile) else str(step))
        return
    import subprocess  # see main

    os.umask(0o022)
    try:
        for step in steps:  # before anything is done
            if isinstance(step, CopyFile):
                with read(step.source):
                    pass
        for step in steps:
            typer.echo(str(step))
            step.do(root)
    except OSError as fault:
        _refuse(f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault), _AGAIN)
    except subprocess.SubprocessError as fault:
        _refuse(str(fault), _AGAIN)
    typer.echo(
        "\nnext:\n"
        "  sudo usermod -aG reviewsd-admin $USER   then log in again: reviewsctl without sudo\n"
        "  reviewsctl doctor                       whether the world can reach it"
    )


def _planned(wanted: "Wanted", root: Path) -> "list[Step]":
    """The steps of an installation."""
    from reviewsctl.files.installation import plan
    from reviewsctl.manual.shares import shares  # it reads all commands

    try:
        return list(plan(replace(wanted, shares=shares()), root))
    except OSError as fault:
        _refuse(f"{fault.filename}: {fault.strerror}" if fault.filename else str(fault), _AGAIN)


def _wanted(config: Path | None, root: Path) -> "Wanted":
    from reviewsctl.daemon import program  # 25 ms, see main
    from reviewsctl.files.installation import CONFIG, Wanted

    there = root / CONFIG.relative_to("/")
    with failing(as_json=False):
        shown = program.settings(there if there.exists() else config).value
    if not there.exists() and "***" in shown.text("hub.store"):
        remedy = (
            "Take it out and put it into libpq's password file, or write the file there yourself."
        )
        _refuse(
            f"hub.store of {shown.file} has a password, and the copy is for all to read", remedy
        )
    listen = shown.value("listen")
    config, keys = Path(shown.file), ("mcp.session_key_file", "hub.callbacks.ca_file")
    named = [Path(shown.text(key)) for key in keys if shown.value(key) is not None]
    return Wanted(
        programs=_programs(),
        config=None if there.exists() else config,
        data_dir=Path(shown.text("data_dir")),
        listen=tuple(map(str, listen)) if isinstance(listen, list) else (),
        files=(config, *named, *(root / _CREDENTIALS / name for name in _KEYS)),
    )


def _programs() -> "Programs":
    from reviewsctl.files.installation import Programs  # see main

    found = []
    for name in ("reviewsd", "reviewsctl"):
        beside = Path(sys.executable).with_name(name)
        other = shutil.which(name)
        if not beside.exists() and other is None:
            _refuse(f"there is no {beside}", "Install it: uv tool install reviewsd, or pipx.")
        found.append(beside if beside.exists() else Path(str(other)).absolute())
    if ".cache" in found[0].parts:
        remedy = "Install it for good: uv tool install reviewsd"
        _refuse(f"{found[0]} is temporary, as uvx makes them", remedy)
    return Programs(
        reviewsd=found[0],
        reviewsctl=found[1],
        needs=tuple(dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix).resolve()))),
        files=(*found, Path(sys.executable), Path(sys.prefix) / "pyvenv.cfg", *_mapped()),
        # without the first: the folder of the program, which is no module's, or the current one
        trees=tuple(Path(each) for each in sys.path[0 if sys.flags.safe_path else 1 :]),
    )


def _mapped() -> "Iterator[Path]":
    """The files whose code is in the memory of this process: Python and its libraries."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123
        lines = [line.rstrip("\n").split(maxsplit=5) for line in maps]
    yield from dict.fromkeys(
        Path(line[5]) for line in lines if "x" in line[1] and line[5:] and line[5].startswith("/")
    )


def _refuse_what_others_can_change(wanted: "Wanted") -> None:
    """The programs, and what they read, may be root's or of who installs them; of nobody else."""
    from itertools import islice  # see main

    from reviewsctl.files.ownership import caller, faults, user_name

    programs, installer = wanted.programs, caller(os.environ)
    files = (*programs.files, *wanted.files)
    found = list(islice(faults(files, programs.trees, {0, installer}), _MOST))
    if found:
        listed = "\n".join(f"  {fault.path}: {fault.reason}" for fault in found)
        mending = "\n".join(f"  {fault.remedy}" for fault in found)
        _refuse(
            f"others than root can change what the service runs or reads\n{listed}",
            f"Mend it, or install the program where only root can write:\n{mending}",
        )
    if installer != 0 and any(faults(programs.files, (), {0})):
        name = user_name(installer)
        typer.echo(f"note: {name} can change the programs of the service; root never runs them")


def _refuse_if_impossible(root: Path) -> None:
    if shutil.which("systemctl") is None or (
        root == _ROOT and not Path("/run/systemd/system").is_dir()
    ):
        _refuse(
            "this machine does not run systemd",
            "Have its own init, or your container, run: reviewsd --config /etc/reviewsd/reviewsd.yaml",
        )
    if os.geteuid() != 0:
        _refuse("only root may do this", "sudo reviewsctl service install")


def _refuse(detail: str, remedy: str) -> NoReturn:
    complain("error", {"title": "not installed", "detail": detail, "remedy": remedy}, as_json=False)
    raise typer.Exit(EXIT_FAILED)
