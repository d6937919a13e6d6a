"""The steps of ``reviewsctl service install`` as values: planned first, then done or only shown.

The units are those of ``systemd/``, with the real place of the programs and of the data. Sources:
interfaces.md 1.6, security-and-operations.md O5, O6, O14.
"""

import contextlib
import difflib
import errno
import os
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from reviewsctl.daemon.units import (
    ENABLE,
    NODE_SERVICE,
    NODE_SOCKETS,
    OWN,
    SERVICE,
    SOCKETS,
    UNITS,
)
from reviewsctl.files.folders import opened
from reviewsctl.files.ownership import user_name
from reviewsctl.manual.keys import SHIPPED, with_values
from reviewsctl.terminal.words import counted

CONFIG: Final = Path("/etc/reviewsd/reviewsd.yaml")
DATA: Final = Path("/srv/reviews")
SHARE: Final = Path("/usr/local/share")

_SERVICES: Final = (SERVICE, NODE_SERVICE)
_PUBLIC_SOCKETS: Final = (SOCKETS[0], NODE_SOCKETS[0])
_PLACES: Final = {  # of the service; the units have them
    "state_dir": "/var/lib/reviewsd",
    "admin_socket": "/run/reviewsd/admin.sock",
}
_HIDDEN: Final = ("/home", "/root", "/run/user")  # by ProtectHome=
_TCP: Final = re.compile(r"tcp:(port=)?(?P<port>[0-9]+)(:interface=(?P<host>[0-9.]+))?")


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """A folder that is to be there."""

    path: Path

    def __str__(self) -> str:
        return f"install -d -m 755 {self.path}"

    def do(self, root: Path) -> None:
        """Does it below a root."""
        with opened(self.path, root=root, make=True):
            pass


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A file that is to say just this."""

    path: Path
    text: str
    base: str | None = None
    """The text it is derived from; the preview of a new file shows only the difference."""

    def __str__(self) -> str:
        return f"write {self.path}, mode 644"

    def preview(self, root: Path) -> str:
        """Return what it would change below a root: nothing, some lines, or that the file is new."""
        try:
            there = self._there(root)
        except (OSError, UnicodeDecodeError):
            return f"{self}: what is there cannot be read"
        if there == self.text:
            return f"keep {self.path}, it is as it should be"
        if there is None and self.base in {None, self.text}:
            return f"{self}: new, {counted(len(self.text.splitlines()), 'line')}"
        changed = "".join(f"\n    {line}" for line in _changed(there or self.base or "", self.text))
        return f"{self}: {'new, ' if there is None else ''}changed lines:{changed}"

    def changes(self, root: Path) -> bool:
        """Return whether the file is there below a root and has another text."""
        return self._there(root) not in {None, self.text}

    def _there(self, root: Path) -> str | None:
        try:
            return _below(root, self.path).read_text()
        except FileNotFoundError:
            return None

    def do(self, root: Path) -> None:
        """Does it below a root."""
        with opened(self.path.parent, root=root, make=True) as folder:
            folder.write(self.path.name, self.text.encode(), 0o644)


@contextlib.contextmanager
def read(source: Path) -> Iterator[BinaryIO]:
    """A file that becomes one for all to read, for the block.

    Raises:
        OSError: It is a link, or a second name of a file that is not for all to read: what is made of
            it would be.
    """
    with opened(source.parent) as folder, folder.open(source.name) as file:
        facts = os.fstat(file.fileno())
        if facts.st_uid != folder.facts.st_uid and not facts.st_mode & stat.S_IROTH:
            text = f"it is {user_name(facts.st_uid)}'s, and not for all to read"
            raise PermissionError(errno.EACCES, text, str(source))
        yield file


@dataclass(frozen=True, slots=True)
class CopyFile:
    """A file that is to be somewhere else too."""

    source: Path
    path: Path

    def __str__(self) -> str:
        return f"install -m 644 {self.source} {self.path}"

    def do(self, root: Path) -> None:
        """Does it below a root."""
        with read(self.source) as source, opened(self.path.parent, root=root) as folder:
            if folder.look(self.path.name) is None:
                with folder.draft(self.path.name) as new:
                    shutil.copyfileobj(source, new.file)
                    new.put(0o644)


@dataclass(frozen=True, slots=True)
class Run:
    """A command of the system, or of ours."""

    command: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(self.command)

    def do(self, root: Path) -> None:
        """Does it; what it says is shown as it comes."""
        del root  # it is in the command
        subprocess.run(self.command, check=True)  # noqa: S603  # planned here


Step: TypeAlias = "MakeFolder | WriteFile | CopyFile | Run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The paths of the installed programs."""

    reviewsd: Path
    reviewsctl: Path
    needs: tuple[Path, ...]
    """Folders without which they do not run: the environment, and its Python."""
    files: tuple[Path, ...] = ()
    """The files that are executed: both programs, and Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The service to install."""

    programs: Programs
    config: Path | None
    """The configuration to begin with; None where the service has one."""
    data_dir: Path
    listen: Sequence[str]
    files: tuple[Path, ...] = ()
    """The files that the service reads and trusts: configuration and keys, whether they exist or not."""
    shares: Mapping[str, str] = field(default_factory=dict)
    """Manual pages and completion, by their paths below ``SHARE``."""
    failed: bool = False
    """The service has failed, perhaps too often for systemd to start it again."""


def plan(installation: Installation, root: Path) -> Iterator[Step]:
    """Yield the steps of an installation in their order.

    Args:
        installation: The service to install.
        root: Of the system, ``/`` for the running one.

    Raises:
        OSError: The configuration cannot be read, or is not for all to read.
    """
    data = data_dir(installation)
    running = root == Path("/")
    yield MakeFolder(CONFIG.parent)
    if installation.config is not None:
        with read(installation.config) as file:
            given = file.read().decode()
        text = with_values(given, {**_PLACES, "data_dir": str(data)}, complete=False)
        yield MakeFolder(data)
        if data != installation.data_dir:
            for name in ("reviews.json", "insights.json", "insights.yaml"):
                source = installation.data_dir / name
                if source.is_file() and not os.path.lexists(_below(root, data / name)):
                    yield CopyFile(source, data / name)
        yield WriteFile(CONFIG, text, given)
    yield WriteFile(Path("/etc/sysusers.d/reviewsd.conf"), _shipped("reviewsd.sysusers.conf"))
    prefix = () if running else (f"--root={root}",)
    yield Run(("systemd-sysusers", *prefix, "reviewsd.conf"))
    yield from _units(installation, data)
    for name, text in installation.shares.items():
        yield WriteFile(SHARE / name, text)
    if running:
        yield Run((str(installation.programs.reviewsctl), "check", "--config", str(CONFIG)))
        yield Run(("systemctl", "daemon-reload"))
        if installation.failed:
            yield Run(("systemctl", "reset-failed", SERVICE))
        yield Run(ENABLE)
    else:
        yield Run(("systemctl", f"--root={root}", "enable", *SOCKETS, SERVICE))


def _units(installation: Installation, data: Path) -> Iterator[WriteFile]:
    texts = {
        **{name: service_unit(installation.programs, data, name) for name in _SERVICES},
        **{name: _socket_unit(installation.listen, name) for name in _PUBLIC_SOCKETS},
    }
    for name in UNITS:
        yield WriteFile(OWN / name, texts.get(name, _shipped(name)), _shipped(name))


def sockets_change(steps: Iterable[Step], root: Path) -> bool:
    """Return whether steps change a socket unit that is there already."""
    return any(
        isinstance(step, WriteFile) and step.path.suffix == ".socket" and step.changes(root)
        for step in steps
    )


def restart_steps(*, sockets_changed: bool) -> Sequence[Run]:
    """Return the steps after which a running service goes by its new units and programs.

    Args:
        sockets_changed: Sockets of changed units are closed and opened; clients are refused meanwhile.
    """
    if not sockets_changed:
        return [Run(("systemctl", "restart", SERVICE))]
    return [
        Run(("systemctl", "stop", *SOCKETS, SERVICE)),
        Run(("systemctl", "start", SERVICE)),  # opens the sockets, too
    ]


def service_unit(programs: Programs, data: Path, name: str = SERVICE) -> str:
    """Return the unit of the service, or of a node, for programs and data where they are."""
    text = _shipped(name)
    text = text.replace("/usr/bin/reviewsd ", f"{_word(programs.reviewsd)} ")
    text = text.replace("ReadOnlyPaths=-/srv/reviews", f"ReadOnlyPaths=-{_word(data)}")
    text = text.replace("/usr/bin/reviewsctl ", f"{_word(programs.reviewsctl)} ")
    hidden = [path for path in (*programs.needs, data) if _is_hidden(path)]
    if hidden:
        bound = " ".join(_word(path) for path in hidden)
        lines = f"ProtectHome=tmpfs\nBindReadOnlyPaths={bound}"
        text = re.sub(r"(?m)^ProtectHome=yes$", lambda _: lines, text)
    return text


def _socket_unit(listen: Sequence[str], name: str) -> str:
    """Return the unit of a public listener, with the address of the configuration where it is plain."""
    text = _shipped(name)
    found = _TCP.fullmatch(listen[0]) if listen else None
    if found is None:
        return text
    address = f"{found['host']}:{found['port']}" if found["host"] else found["port"]
    return text.replace("ListenStream=127.0.0.1:8080", f"ListenStream={address}")


def data_dir(installation: Installation) -> Path:
    """Return the folder of the data: the present one, unless a service cannot or should not read it."""
    data = installation.data_dir.absolute()
    if installation.config is None:
        return data
    beside = data.is_relative_to(installation.config.absolute().parent)
    private = _is_hidden(data) or data.is_relative_to("/tmp")  # noqa: S108  # PrivateTmp=
    return DATA if beside or private else data


def _changed(before: str, after: str) -> Iterator[str]:
    """The lines that differ, those before with a minus and those after with a plus."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return (line for line in lines if not line.startswith(("---", "+++", "@@")))


def _is_hidden(path: Path) -> bool:
    return any(path.is_relative_to(each) for each in _HIDDEN)


def _word(path: Path) -> str:
    """A path as units have it (systemd.syntax(7))."""
    text = str(path).replace("\\", "\\\\").replace("%", "%%").replace('"', '\\"')
    return f'"{text}"' if re.search(r"\s", text) else text


def _below(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def _shipped(name: str) -> str:
    return (SHIPPED / name).read_text()
