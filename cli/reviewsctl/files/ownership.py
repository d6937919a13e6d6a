"""Who can change a file: judged at every folder and link on the way to it.

What the service runs and reads is as good as the worst of those: who owns a folder above a program
can put another in its place, and who may write in ``lib`` can add a module that Python finds first.
"""

import os
import pwd
import shlex
import stat
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAX_LINKS: Final = 40
"""As many as the kernel follows, path_resolution(7)."""

UV_LOCK: Final = ".lock"
"""Of an environment: for all to write, and read by nobody. Other hidden files count: ``.pth``, for one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A file, folder or link that somebody else can change."""

    path: Path
    reason: str
    remedy: str
    """A command."""


def caller(environ: Mapping[str, str]) -> int:
    """The user that runs this, also through sudo."""
    given = environ.get("SUDO_UID", "")
    return int(given) if os.geteuid() == 0 and given.isascii() and given.isdigit() else os.geteuid()


def user_name(uid: int) -> str:
    """The name of a user, as far as there is one."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def faults(
    files: Iterable[Path], trees: Iterable[Path], trusted: Collection[int]
) -> Iterator[Fault]:
    """What others than the trusted can change of files, and of folders with all that is in them.

    A folder with a fault is not gone into: who can change it can change the rest.

    Args:
        files: Programs, configuration, keys; those that are not there count for nothing.
        trees: Folders from which whatever lies there is used.
        trusted: Uids.
    """
    judged: dict[Path, Fault | None] = {}
    for path in files:
        yield from _on_the_way(path, trusted, judged)
    for top in trees:
        yield from _on_the_way(top, trusted, judged)
        if all(judged[each] is None for each, _ in steps(top)):
            yield from _within(Path(os.path.realpath(top)), trusted, judged)


def steps(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Each folder, link and file that the kernel looks at to find one; it ends where one is missing."""
    todo, here, links = deque(path.absolute().parts[1:]), Path("/"), 0
    yield here, here.lstat()
    while todo:
        name = todo.popleft()
        if name == "..":
            here = here.parent
            continue
        each = here / name
        try:
            facts = each.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return
        yield each, facts
        if not stat.S_ISLNK(facts.st_mode):
            here = each
            continue
        links += 1
        if links > MAX_LINKS:
            return
        target = each.readlink()
        if target.is_absolute():
            here = Path("/")
        todo.extendleft(reversed(target.parts[target.is_absolute() :]))


def _on_the_way(
    path: Path, trusted: Collection[int], judged: dict[Path, Fault | None]
) -> Iterator[Fault]:
    for each, facts in steps(path):
        if each not in judged:
            fault = judged[each] = _fault(each, facts, trusted)
            if fault is not None:
                yield fault


def _within(
    top: Path, trusted: Collection[int], judged: dict[Path, Fault | None]
) -> Iterator[Fault]:
    """What is in a folder, and below it; in the folders a new file would count as well."""
    folders = [(top, top.lstat())] if top.is_dir() else []
    while folders:
        folder, facts = folders.pop()
        if fault := _fault(folder, facts, trusted, listed=True):
            yield fault
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                path, facts = Path(entry.path), entry.stat(follow_symlinks=False)
                if entry.name == UV_LOCK and stat.S_ISREG(facts.st_mode):
                    continue
                if stat.S_ISDIR(facts.st_mode):
                    folders.append((path, facts))
                elif stat.S_ISLNK(facts.st_mode):
                    yield from _on_the_way(path, trusted, judged)
                elif fault := _fault(path, facts, trusted):
                    yield fault


def _fault(
    path: Path, facts: os.stat_result, trusted: Collection[int], *, listed: bool = False
) -> Fault | None:
    word, mode = shlex.quote(str(path)), facts.st_mode
    if facts.st_uid not in trusted:
        return Fault(path, f"belongs to {user_name(facts.st_uid)}", f"sudo chown -h root: {word}")
    sticky = stat.S_ISDIR(mode) and mode & stat.S_ISVTX and not listed
    if stat.S_ISLNK(mode) or sticky:  # sticky: nobody removes or renames what others have there
        return None
    if mode & stat.S_IWOTH:
        return Fault(path, "everybody may write there", f"sudo chmod go-w {word}")
    if mode & stat.S_IWGRP and facts.st_gid != 0:
        return Fault(path, "its group may write there", f"sudo chmod g-w {word}")
    return None
