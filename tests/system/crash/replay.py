"""A disk that loses power, in the manner of ALICE (Pillai et al., OSDI 2014).

What was synced is there. Of what was written since, the disk may keep nothing, all, any part in any
order, and of a single write any of its sectors. A name that was made or removed is certain only once
its directory is synced. After an fdatasync that failed the kernel takes the file's pages for clean:
what they hold never reaches the disk unless it is written again ("fsyncgate", PostgreSQL 2018).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from tests.system.crash.tracing import Call, note
from tests.system.crash.writer import LOG

SECTOR = 512

Files = dict[str, bytes]
Change = tuple[int, bytes] | int
"""A write at an offset, or the length that a file was cut to."""


class Kept(Enum):
    """The part of the unsynced data that the disk has written."""

    NOTHING = "nothing"
    ALL = "all"
    SOME = "some writes"
    TORN = "some sectors of writes"


@dataclass
class File:
    """A file, under any name."""

    synced: bytes = b""
    unsynced: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        """Now the disk has it all."""
        self.synced = _changed(self.synced, self.unsynced)
        self.unsynced.clear()

    def lose(self) -> None:
        """Drop the unsynced data, which a failed sync leaves in the kernel's memory only."""
        self.unsynced.clear()

    def after_power_loss(self, kind: Kept, rng: random.Random) -> bytes:
        """Return the content after a power loss."""
        return _changed(self.synced, _kept(self.unsynced, kind, rng))


class Disk:
    """The store's directory."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}
        self._names: dict[str, File] = {}  # as the disk has them
        self._renamed: list[tuple[str, File | None]] = []

    def apply(self, call: Call) -> None:
        """Let a call of the writer happen."""
        if call.name in {"fdatasync", "fsync"}:
            self._sync(call)
        elif call.failed:
            return
        elif call.name == "openat":
            if "O_CREAT" in call.rest and call.file not in self._files:
                self._name(call.file, File())
        elif call.name == "unlink":
            self._name(call.file, None)
        elif call.name == "pwrite64":
            self._files[call.file].unsynced.append((call.number, call.data))
        elif call.name == "ftruncate":
            self._files[call.file].unsynced.append(call.number)
        else:
            raise ValueError(f"the model knows no {call.name}")

    def _sync(self, call: Call) -> None:
        if not call.file:
            if not call.failed:
                self._names = _named(self._names, self._renamed)
                self._renamed.clear()
            return
        file = self._files[call.file]
        if call.failed:
            file.lose()
        else:
            file.sync()

    def _name(self, name: str, file: File | None) -> None:
        self._renamed.append((name, file))
        self._files = _named(self._files, [(name, file)])

    def after_power_loss(self, kind: Kept, rng: random.Random) -> Files:
        """Return the files after a power loss now."""
        sure = {Kept.NOTHING: 0, Kept.ALL: len(self._renamed)}
        renamed = self._renamed[: sure.get(kind, rng.randint(0, len(self._renamed)))]
        names = _named(self._names, renamed)
        return {name: file.after_power_loss(kind, rng) for name, file in names.items()}


@dataclass(frozen=True, slots=True)
class Loss:
    """The files after a power loss."""

    acknowledged: int
    """Transactions; -1 while the store had not been opened."""
    files: Files


def losses(calls: Sequence[Call], kinds: Sequence[Kept]) -> Iterator[Loss]:
    """Let the power fail after each call; what looks the same comes once."""
    rng = random.Random(0)
    disk, acknowledged = Disk(), -1
    digests: set[int] = set()
    for call in calls:
        if call.file == LOG:
            if call.name == "write":
                transactions = note(call.data.decode()).acknowledged
                acknowledged = acknowledged if transactions is None else transactions
            continue
        disk.apply(call)
        for kind in kinds:
            loss = Loss(acknowledged, disk.after_power_loss(kind, rng))
            state = hash((acknowledged, tuple(sorted(loss.files.items()))))
            if state not in digests:
                digests.add(state)
                yield loss


def _changed(content: bytes, changes: Sequence[Change]) -> bytes:
    changed = bytearray(content)
    for change in changes:
        if isinstance(change, int):
            del changed[change:]
            changed.extend(bytes(change - len(changed)))
        else:
            start, data = change
            changed.extend(bytes(max(0, start - len(changed))))
            changed[start : start + len(data)] = data
    return bytes(changed)


def _kept(changes: Sequence[Change], kind: Kept, rng: random.Random) -> list[Change]:
    if kind is Kept.NOTHING:
        return []
    if kind is Kept.ALL:
        return list(changes)
    if kind is Kept.TORN:
        changes = [part for change in changes for part in _sectors(change)]
    return [change for change in changes if rng.random() < 0.5]


def _sectors(change: Change) -> Iterator[Change]:
    """A write, cut where the sectors of the disk are."""
    if isinstance(change, int):
        yield change
        return
    start, data = change
    while data:
        length = SECTOR - start % SECTOR
        yield start, data[:length]
        start, data = start + length, data[length:]


def _named(names: dict[str, File], renamed: Sequence[tuple[str, File | None]]) -> dict[str, File]:
    changed = dict(names)
    for name, file in renamed:
        if file is None:
            changed.pop(name, None)
        else:
            changed[name] = file
    return changed
