"""What runs: the daemon behind its socket, its hub, the service of systemd."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from reviewsctl.daemon.errors import DaemonError
from reviewsctl.daemon.units import install_command, start_command
from reviewsctl.doctor.verdict import Diagnosis, fail, ok, skip, warn
from reviewsctl.terminal.words import counted
from reviewsd.api.status import Status

BOOTED: Final = Path("/run/systemd/system")
"""There where systemd runs the machine: sd_booted(3)."""

_SECONDS: Final = 3.0  # for a program of systemd
_RESTARTS: Final = 3  # since it was started; more is no accident


def socket(answer: Status | DaemonError, path: Path, own: str | None) -> Diagnosis:
    """Whether the daemon answers, and to us."""
    name = "admin socket"
    if isinstance(answer, DaemonError):
        return fail(name, answer.detail or answer.title, answer.remedy)
    if own is not None and own != answer.version:
        said = f"reviewsd {answer.version} answers, this is reviewsctl {own}"
        return warn(name, said, "After an upgrade: sudo systemctl restart reviewsd")
    return ok(name, f"reviewsd {answer.version} answers on {path}")


def serving(answer: Status | DaemonError) -> Diagnosis:
    """Whether the newest data is what is served."""
    name = "serving"
    if isinstance(answer, DaemonError):
        return skip(name, "the daemon does not answer")
    reason = f": {answer.data.problems[0]}" if answer.data.problems else ""
    if answer.snapshot is None:
        return fail(
            name, f"nothing yet, it is {answer.data.state}{reason}", "See it: reviewsctl status"
        )
    count = counted(answer.snapshot.review_count, "review")
    if answer.data.state == "ok":
        newest = answer.snapshot.newest_review
        age = "" if newest is None else f", the newest of {newest}"
        return ok(name, f"{count} of {answer.data.dir}{age}")
    return fail(name, f"{count}, but not the newest{reason}", "See it: reviewsctl status")


def hub(answer: Status | DaemonError) -> Diagnosis:
    """Whether subscribers are told."""
    name = "hub"
    if isinstance(answer, DaemonError) or answer.hub is None:
        return skip(name, "the daemon does not answer")
    found = answer.hub
    if found.store != "ok":
        return fail(name, f"the store cannot be used: {found.store}", "journalctl -u reviewsd")
    if found.paused:
        return warn(name, "it is paused, nothing is sent", "reviewsctl hub resume")
    return ok(name, f"{counted(found.active, 'subscription')}, {found.due:,} of them behind")


def same_configuration(answer: Status | DaemonError, base_url: str, data_dir: str) -> Diagnosis:
    """Whether the daemon that answers goes by this configuration."""
    name = "in effect"
    if isinstance(answer, DaemonError):
        return skip(name, "the daemon does not answer")
    for key, here, there in (
        ("base_url", base_url, answer.base_url),
        ("data_dir", data_dir, answer.data.dir),
    ):
        if here != there:
            said = f"{key} is {here} in the file, the daemon has {there}"
            remedy = "Restart it, or name its configuration with --config"
            return warn(name, said, remedy)
    return ok(name, "the daemon goes by this configuration")


def systemd(unit: str = "reviewsd.service") -> Diagnosis:
    """How systemd sees the service."""
    name = "systemd"
    if not BOOTED.is_dir():
        return skip(name, "this machine does not run it")
    wanted = "LoadState,ActiveState,SubState,Result,NRestarts,UnitFileState"
    shown = _output_of("systemctl", "show", unit, f"--property={wanted}")
    if shown is None:
        return skip(name, "systemctl does not answer")
    state = dict(line.partition("=")[::2] for line in shown.splitlines())
    if state.get("LoadState") == "not-found":
        remedy = f"To have it run after a reboot: {install_command()}"
        return warn(name, f"there is no {unit}", remedy)
    said = f"{unit} is {state.get('ActiveState')} ({state.get('SubState')})"
    if state.get("ActiveState") == "failed":
        remedy = f"Why: journalctl -u {unit} -n 20; then: {start_command()}"
        return fail(name, f"{said}: {state.get('Result')}", remedy)
    if state.get("ActiveState") != "active":
        return warn(name, said, f"Start it: {start_command()}")
    if int(state.get("NRestarts") or 0) > _RESTARTS:
        said = f"{said}, restarted {state['NRestarts']} times"
        return warn(name, said, f"Why: journalctl -u {unit}")
    if state.get("UnitFileState") == "disabled":
        return warn(name, f"{said}, but not after a reboot", f"sudo systemctl enable {unit}")
    return ok(name, said)


def synchronised() -> Diagnosis:
    """Whether something sets the clock."""
    name = "time service"
    if not BOOTED.is_dir():
        return skip(name, "this machine does not run systemd")
    shown = _output_of("timedatectl", "show", "--property=NTPSynchronized", "--value")
    if shown is None:
        return skip(name, "timedatectl does not answer")
    if shown.strip() != "yes":
        return warn(name, "the clock is not synchronised", "sudo timedatectl set-ntp true")
    return ok(name, "the clock is synchronised")


def _output_of(*command: str) -> str | None:
    """What a program says, or None if it says nothing in time."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  # systemd's own, without anybody's input
            [program, *command[1:]],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
