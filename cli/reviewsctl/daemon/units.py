"""The systemd units of the daemon: where they are, and the commands that start it.

The Debian package has its units in /usr/lib. Units in /etc, where ``service install`` writes them, would
replace those for good, and no upgrade of the package would change them.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

SERVICE: Final = "reviewsd.service"
SOCKETS: Final = ("reviewsd.socket", "reviewsd-admin.socket")
NODE_SERVICE: Final = "reviewsd@.service"
NODE_SOCKETS: Final = ("reviewsd@.socket", "reviewsd-admin@.socket")
UNITS: Final = (
    *(SERVICE, *SOCKETS, "reviewsd-failed.target"),
    *(NODE_SERVICE, *NODE_SOCKETS, "reviewsd-failed@.target"),
)

SYNC_SERVICE: Final = "reviewsd-sync.service"
SYNC_TIMER: Final = "reviewsd-sync.timer"
SYNC_UNITS: Final = (SYNC_SERVICE, SYNC_TIMER)

OWN: Final = Path("/etc/systemd/system")
"""The folder of the operator's units, and of those of ``service install``."""

PACKAGED: Final = Path("/usr/lib/systemd/system")
"""The folder of the Debian package's units."""

ENABLE: Final = ("systemctl", "enable", "--now", *SOCKETS, SERVICE)
START: Final = "sudo systemctl reset-failed reviewsd && sudo systemctl start reviewsd"
"""Starts the service also where it has failed too often for systemd to start it again."""

ROOT: Final = Path("/")
BOOTED: Final = Path("/run/systemd/system")
"""The folder that exists where systemd is the init system: sd_booted(3)."""

SUDO_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Debian's ``secure_path``, in which sudo looks for commands."""

_SECONDS: Final = 3.0  # to wait for a program of systemd


def is_packaged(root: Path = ROOT) -> bool:
    """Return whether the units of the Debian package are installed."""
    return (below(root, PACKAGED) / SERVICE).exists()


def is_installed(root: Path = ROOT) -> bool:
    """Return whether systemd has the unit of the service."""
    return (below(root, folder(root)) / SERVICE).exists()


def folder(root: Path = ROOT) -> Path:
    """Return the folder of the units that systemd uses, or would use once they are installed."""
    own = (below(root, OWN) / SERVICE).exists()
    return PACKAGED if is_packaged(root) and not own else OWN


def start_command(root: Path = ROOT) -> str:
    """Return the command that starts the service."""
    enabled = os.path.lexists(below(root, OWN) / "multi-user.target.wants" / SERVICE)
    return START if enabled or not is_packaged(root) else f"sudo {' '.join(ENABLE)}"


def restart_remedy(root: Path = ROOT) -> str:
    """Return how to restart the daemon with a changed configuration.

    The port of the metrics stands in the units too, which ``service install`` writes.
    """
    if not is_installed(root):
        return "Restart it: Ctrl-C in its terminal, then reviewsd (or docker compose restart)"
    if is_packaged(root):
        return "Restart it: sudo systemctl restart reviewsd"
    return f"Restart it: {sudo_reviewsctl()} service install --restart"


def install_command(root: Path = ROOT) -> str:
    """Return the command that has systemd run the daemon, now and after a reboot."""
    if is_packaged(root):
        return f"sudo {' '.join(ENABLE)}"
    return f"{sudo_reviewsctl()} service install"


def sudo_reviewsctl(search_path: str = SUDO_PATH) -> str:
    """Return how to run this program as root: sudo does not find what is in a home directory."""
    program = shutil.which("reviewsctl", path=search_path)
    return "sudo reviewsctl" if program else 'sudo "$(command -v reviewsctl)"'


def output_of(*command: str) -> str | None:
    """Return the output of a program of systemd; None if it fails or takes too long."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        completed = subprocess.run(  # noqa: S603  # a program of systemd with arguments of ours
            [program, *command[1:]],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return completed.stdout


def below(root: Path, path: Path) -> Path:
    """Return the place of an absolute path below a root."""
    return root / path.relative_to("/")
