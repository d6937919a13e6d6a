"""Files that others reach the daemon by, or that its next start needs: looked after while it runs.

Each of them can be deleted or replaced under a daemon that has it open, and nobody would notice before a
restart: the lock that keeps a second daemon away, the keys, the file of a UNIX socket, the link to what
is served. What can be put back is put back, and the log says so. (The state store looks after itself.)
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from reviewsd.runtime.state_dir import StartError
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.store.kept import KeptFile

LOOK_SECONDS = 2.0
"""Between two looks."""

Fate = Callable[[], str | None]
"""What has become of something, to go on after its name; None while it is as it should be."""

Mend = Callable[[str], Awaitable[str]]
"""Puts right what has become so; returns what was done. Raises OSError or StartError where it cannot."""


@dataclass(slots=True)
class _Guarded:
    name: str
    fate: Fate
    mend: Mend
    logged: str | None = None
    """What the log knows."""


class FileGuard:
    """Looks after files from ``start`` to ``stop``."""

    _log = Logger()

    def __init__(self) -> None:
        self._guarded: dict[str, _Guarded] = {}
        self._tasks = TaskSet()

    def add(self, name: str, fate: Fate, mend: Mend) -> None:
        """Look after something, in the place of what had this name."""
        self._guarded[name] = _Guarded(name, fate, mend)

    def keep(self, path: Path, mend: Mend) -> None:
        """Look after the file that is at a path now; what ``mend`` puts there is the one from then on.

        Raises:
            OSError: There is none.
        """
        file = KeptFile(path)
        file.note()

        async def mended(fate: str) -> str:
            done = await mend(fate)
            file.note()
            return done

        self.add(str(path), file.fate, mended)

    def start(self, clock: IReactorTime) -> None:
        """Begin to look."""
        self._tasks.start("look after files", every(clock, LOOK_SECONDS, self.look))

    async def stop(self) -> None:
        """Look no more."""
        await self._tasks.stop()

    async def look(self) -> None:
        """Look at all of them, and mend what is wrong."""
        for each in tuple(self._guarded.values()):
            fate = each.fate()
            if fate is None:
                each.logged = None
                continue
            tell = self._log.warn
            try:
                done = await each.mend(fate)
            except (OSError, StartError) as error:
                tell, done = self._log.error, f"which could not be mended ({error})"
            text = f"{each.name} {fate}: {done}"
            if text != each.logged:
                tell("{text}", text=text)
                each.logged = text
