"""The text of units: as they are shipped, with the places of programs and data filled in."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from reviewsctl.manual.keys import SHIPPED

_HIDDEN: Final = ("/home", "/root", "/run/user")  # by ProtectHome=


def shipped(name: str) -> str:
    """Return a unit as it is shipped."""
    return (SHIPPED / name).read_text()


def is_hidden(path: Path) -> bool:
    """Return whether a service cannot see a path unless it is bound."""
    return any(path.is_relative_to(folder) for folder in _HIDDEN)


def with_folders(text: str, read: Sequence[Path], written: Sequence[Path] = ()) -> str:
    """Return a unit with hidden paths that it reads, and those that it writes, bound."""
    lines = ["ProtectHome=tmpfs"] if read or written else ["ProtectHome=yes"]
    if read:
        lines.append(f"BindReadOnlyPaths={' '.join(map(word, read))}")
    if written:
        lines.append(f"BindPaths={' '.join(map(word, written))}")
    return re.sub(r"(?m)^ProtectHome=yes$", lambda _: "\n".join(lines), text)


def word(path: Path) -> str:
    """Return a path as units have it (systemd.syntax(7))."""
    text = str(path).replace("\\", "\\\\").replace("%", "%%").replace('"', '\\"')
    return f'"{text}"' if re.search(r"\s", text) else text
