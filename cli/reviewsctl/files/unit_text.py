"""The text of units: as they are shipped, with the places of programs and data filled in."""

import re
from pathlib import Path
from typing import Final

from reviewsctl.daemon.units import SYNC_SERVICE
from reviewsctl.files.requested import Installation, is_hidden
from reviewsctl.manual.keys import SHIPPED

_BIND: Final = "SocketBindDeny=any\n"
_TCP: Final = re.compile(
    r"tcp6?:(port=)?(?P<port>[0-9]+)(:interface=(?P<host>([0-9a-f.]|\\:)+))?(?P<rest>:.*)?"
)
"""A TCP endpoint; its port comes first (``reviewsd.config.syntax``)."""


def shipped(name: str) -> str:
    """Return a unit as it is shipped."""
    return (SHIPPED / name).read_text()


def unit(installation: Installation, name: str) -> str:
    """Return a unit for an installation, by its name, such as ``reviewsd.service``."""
    data = installation.data.copy
    changes = {
        "/usr/bin/reviewsd ": f"{_word(installation.reviewsd)} ",
        "/usr/bin/reviewsctl ": f"{_word(installation.reviewsctl)} ",
        "=-/srv/reviews\n": f"=-{_word(data)}\n",
        "=/srv/reviews\n": f"={_word(data)}\n",
        "ListenStream=127.0.0.1:8080\n": f"ListenStream={_address(installation)}\n",
    }
    readable, writable = [*installation.needs, data], []
    if name == SYNC_SERVICE:
        readable, writable = [*installation.needs, *_of_sources(installation)], [data]
    elif match := _TCP.fullmatch(installation.metrics):
        changes[_BIND] = f"SocketBindAllow=tcp:{match['port']}\n{_BIND}"
    changes["\nProtectHome=yes\n"] = _home(readable, writable)
    text = shipped(name)
    for before, after in changes.items():
        text = text.replace(before, after)
    return text


def _address(installation: Installation) -> str:
    """Return the address of the public listener as systemd.socket(5) has it; the shipped one if it is not plain."""
    match = _TCP.fullmatch(installation.listen[0]) if installation.listen else None
    if match is None or match["rest"]:
        return "127.0.0.1:8080"
    host = (match["host"] or "").replace("\\:", ":")
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{match['port']}" if host else match["port"]


def _of_sources(installation: Installation) -> list[Path]:
    """Return the secrets of sources, and the folders of their exports."""
    return [
        file.copy.parent if file.is_export else file.copy
        for file in installation.files
        if file.key.startswith("sources.")
    ]


def _home(readable: list[Path], writable: list[Path]) -> str:
    """Return the lines that hide home directories, except for the given paths."""
    lines = [
        f"{key}={' '.join(map(_word, hidden))}"
        for key, paths in (("BindReadOnlyPaths", readable), ("BindPaths", writable))
        if (hidden := list(filter(is_hidden, paths)))
    ]
    return "\n".join(["\nProtectHome=tmpfs" if lines else "\nProtectHome=yes", *lines, ""])


def _word(path: Path) -> str:
    """Return a path as units have it (systemd.syntax(7))."""
    text = str(path).replace("\\", "\\\\").replace("%", "%%").replace('"', '\\"')
    return f'"{text}"' if re.search(r"\s", text) else text
