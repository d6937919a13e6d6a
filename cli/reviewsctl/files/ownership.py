"""Finds programs that other users can change: by their file, or by replacing it in its folder."""

import os
import pwd
import shlex
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """A file or folder that another user can change."""

    path: Path
    reason: str
    remedy: str
    """The command that fixes it."""


def user_name(uid: int) -> str:
    """Return the name of a user; its uid if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def faults(files: Iterable[Path], trusted: Collection[int]) -> Iterator[Fault]:
    """Yield what untrusted uids can change of files, with links resolved, and of their folders.

    A file that does not exist has no fault.
    """
    paths: dict[Path, None] = {}
    for file in files:
        real = file.resolve()
        if real.exists():
            paths |= {real.parent: None, real: None}
    for path in paths:
        if fault := _fault(path, path.stat(), trusted):
            yield fault


def _fault(path: Path, facts: os.stat_result, trusted: Collection[int]) -> Fault | None:
    word, mode = shlex.quote(str(path)), facts.st_mode
    if facts.st_uid not in trusted:
        return Fault(path, f"belongs to {user_name(facts.st_uid)}", f"sudo chown root: {word}")
    if stat.S_ISDIR(mode) and mode & stat.S_ISVTX:  # only the owner can replace a file in it
        return None
    if mode & stat.S_IWOTH:
        return Fault(path, "every user can write there", f"sudo chmod go-w {word}")
    if mode & stat.S_IWGRP and facts.st_gid != 0:
        return Fault(path, "its group can write there", f"sudo chmod g-w {word}")
    return None
