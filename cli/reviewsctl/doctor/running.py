"""Tests of the running daemon: its socket, its hub, the service of systemd."""

from pathlib import Path
from typing import Final

from reviewsctl.daemon.errors import DaemonError
from reviewsctl.daemon.units import (
    BOOTED,
    SERVICE,
    install_command,
    output_of,
    restart_remedy,
    start_command,
)
from reviewsctl.doctor.verdict import Diagnosis, fail, ok, skip, warn
from reviewsctl.terminal.times import moment
from reviewsd.api.files import EffectiveConfig
from reviewsd.api.jobs import instant
from reviewsd.api.status import Status
from reviewsd.api.texts import counted

_RESTARTS: Final = 3  # since its start; more of them point to a fault


def socket(
    answer: Status | DaemonError, path: Path, own: str | None, installed_at: float
) -> Diagnosis:
    """Test whether the daemon answers, and is of this version and of this installation."""
    if isinstance(answer, DaemonError):
        return fail(answer.detail or answer.title, answer.remedy)
    if own is not None and own != answer.version:
        detail = f"the daemon is reviewsd {answer.version}, this is reviewsctl {own}"
        return warn(detail, "After an upgrade: sudo systemctl restart reviewsd")
    before = answer.installed_at
    if before is not None and before < instant(installed_at):
        newer = moment(instant(installed_at))
        detail = f"the daemon's program was installed {moment(before)}, this one {newer}"
        return warn(detail, restart_remedy())
    return ok(f"reviewsd {answer.version} answers on {path}")


def serving(answer: Status | DaemonError) -> Diagnosis:
    """Test whether the newest data is served."""
    if isinstance(answer, DaemonError):
        return skip("the daemon does not answer")
    reason = f": {answer.data.problems[0]}" if answer.data.problems else ""
    if answer.snapshot is None:
        if answer.data.state == "starting":
            return warn("nothing yet, it has just started", "Run doctor again in a minute.")
        return fail(
            f"nothing yet, the state is {answer.data.state}{reason}", "See: reviewsctl status"
        )
    count = counted(answer.snapshot.review_count, "review")
    if answer.data.state == "ok":
        newest = answer.snapshot.newest_review
        age = "" if newest is None else f", the newest of {newest}"
        return ok(f"{count} of {answer.data.dir}{age}")
    return fail(f"{count}, but not the newest{reason}", "See: reviewsctl status")


def hub(answer: Status | DaemonError) -> Diagnosis:
    """Test whether subscribers are notified."""
    if isinstance(answer, DaemonError) or answer.hub is None:
        return skip("the daemon does not answer")
    state = answer.hub
    if state.store != "ok":
        return fail(f"the store cannot be used: {state.store}", "journalctl -u reviewsd")
    if state.paused:
        return warn("it is paused, nothing is sent", "reviewsctl hub resume")
    return ok(f"{counted(state.active, 'subscription')}, {state.due:,} of them behind")


def same_configuration(answer: Status | DaemonError, settings: EffectiveConfig) -> Diagnosis:
    """Test whether the running daemon uses this configuration, as it was at its last start or reload."""
    if isinstance(answer, DaemonError):
        return skip("the daemon does not answer")
    for key, there in (("base_url", answer.base_url), ("data_dir", answer.data.dir)):
        here = settings.text(key)
        if here != there:
            detail = f"{key} is {here} in the file and {there} in the daemon"
            remedy = f"{restart_remedy()}, or name its configuration with --config"
            return warn(detail, remedy)
    if answer.config.problems:
        detail = f"at the last reload it had a fault: {answer.config.problems[0]}"
        return warn(detail, "Fix it, then: reviewsctl reload")
    if answer.config.restart:
        return warn(
            f"changed, and not in effect: {', '.join(answer.config.restart)}", restart_remedy()
        )
    return ok("the daemon uses it as it was at the last start or reload")


def systemd() -> Diagnosis:
    """Test the state of the service in systemd."""
    if not BOOTED.is_dir():
        return skip("this machine does not run systemd")
    properties = "LoadState,ActiveState,SubState,Result,NRestarts,UnitFileState"
    output = output_of("systemctl", "show", SERVICE, f"--property={properties}")
    if output is None:
        return skip("systemctl does not answer")
    state = dict(line.partition("=")[::2] for line in output.splitlines())
    if state.get("LoadState") == "not-found":
        remedy = f"To start it at boot: {install_command()}"
        return warn(f"there is no {SERVICE}", remedy)
    detail = f"{SERVICE} is {state.get('ActiveState')} ({state.get('SubState')})"
    if state.get("ActiveState") == "failed":
        remedy = f"Why: journalctl -u {SERVICE} -n 20; then: {start_command()}"
        return fail(f"{detail}: {state.get('Result')}", remedy)
    if state.get("ActiveState") != "active":
        return warn(detail, f"Start it: {start_command()}")
    if int(state.get("NRestarts") or 0) > _RESTARTS:
        detail = f"{detail}, restarted {state['NRestarts']} times"
        return warn(detail, f"Why: journalctl -u {SERVICE}")
    if state.get("UnitFileState") == "disabled":
        return warn(f"{detail}, but not after a reboot", f"sudo systemctl enable {SERVICE}")
    return ok(detail)
