"""The text of units: as they are shipped, with the places of programs and data filled in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reviewsctl.daemon.units import SERVICE, SYNC_SERVICE
from reviewsctl.files.named_files import NOTICES
from reviewsctl.manual.keys import SHIPPED

_HIDDEN: Final = ("/home", "/root", "/run/user")  # by ProtectHome=
_LAST_KEY: Final = "LoadCredential=reviewsd.mcp-session-key\n"
_TCP: Final = re.compile(r"tcp6?:(port=)?(?P<port>[0-9]+)(:interface=(?P<host>([0-9a-f.]|\\:)+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The paths of the installed programs."""

    reviewsd: Path
    reviewsctl: Path
    needs: tuple[Path, ...]
    """Folders without which they do not run: the environment, and its Python."""
    files: tuple[Path, ...] = ()
    """The files that are executed: both programs, and Python."""


def shipped(name: str) -> str:
    """Return a unit as it is shipped."""
    return (SHIPPED / name).read_text()


def is_hidden(path: Path) -> bool:
    """Return whether a service cannot see a path unless it is bound."""
    return any(path.is_relative_to(folder) for folder in _HIDDEN)


def service_unit(
    programs: Programs, data: Path, name: str = SERVICE, *, has_notices: bool = False
) -> str:
    """Return the unit of the service, or of a node, for programs and data where they are.

    With notices, systemd hands over their addresses.
    """
    text = _with_programs(shipped(name), programs)
    if has_notices:
        text = text.replace(_LAST_KEY, f"{_LAST_KEY}LoadCredential=notify:{NOTICES}\n")
    text = text.replace("ReadOnlyPaths=-/srv/reviews", f"ReadOnlyPaths=-{_word(data)}")
    return _with_folders(text, [*programs.needs, data])


def socket_unit(listen: Sequence[str], name: str) -> str:
    """Return the unit of a public listener, with the address of the configuration where it is plain."""
    text = shipped(name)
    match = _TCP.fullmatch(listen[0]) if listen else None
    if match is None:
        return text
    host = (match["host"] or "").replace("\\:", ":")
    host = f"[{host}]" if ":" in host else host
    address = f"{host}:{match['port']}" if host else match["port"]
    return text.replace("ListenStream=127.0.0.1:8080", f"ListenStream={address}")


def sync_unit(
    programs: Programs, data: Path, sources: Sequence[Path], user: str, group: str
) -> str:
    """Return the unit of ``reviewsctl sync``, which runs as the owner of the data directory.

    It reads the files and folders of ``sources``.
    """
    text = _with_programs(shipped(SYNC_SERVICE), programs)
    text = text.replace("=/srv/reviews\n", f"={_word(data)}\n")
    text = text.replace("User=reviewsd-sync\n", f"User={user}\n")
    text = text.replace("Group=reviewsd-data\n", f"Group={group}\n")
    return _with_folders(text, [*programs.needs, *sources], [data])


def _with_programs(text: str, programs: Programs) -> str:
    text = text.replace("/usr/bin/reviewsd ", f"{_word(programs.reviewsd)} ")
    return text.replace("/usr/bin/reviewsctl ", f"{_word(programs.reviewsctl)} ")


def _with_folders(text: str, readable: Sequence[Path], writable: Sequence[Path] = ()) -> str:
    """Return a unit with those paths bound that are hidden from it."""
    lines = [
        f"{key}={' '.join(map(_word, hidden))}"
        for key, paths in (("BindReadOnlyPaths", readable), ("BindPaths", writable))
        if (hidden := list(filter(is_hidden, paths)))
    ]
    protection = "\n".join(["ProtectHome=tmpfs" if lines else "ProtectHome=yes", *lines])
    return text.replace("\nProtectHome=yes\n", f"\n{protection}\n")


def _word(path: Path) -> str:
    """Return a path as units have it (systemd.syntax(7))."""
    text = str(path).replace("\\", "\\\\").replace("%", "%%").replace('"', '\\"')
    return f'"{text}"' if re.search(r"\s", text) else text
