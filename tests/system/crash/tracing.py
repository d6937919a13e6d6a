"""Writers under strace: what they ask of the kernel, and what the kernel does to them."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.daemon import until
from tests.support.fork_server import fork
from tests.support.programs import run_program
from tests.system.crash import writer
from tests.system.crash.writer import GO, LOG, READY, STORE

STRACE = shutil.which("strace")

CALLS = ("openat", "pwrite64", "fdatasync", "fsync", "ftruncate", "unlink")
"""All that SQLite and we do to change files; the shared-memory index is not used."""

_TRACED = (*CALLS, "write", "rename", "fallocate", "pwritev", "mmap")
"""These calls and those that the model of the disk does not know."""

_LINE = re.compile(
    r'(?P<thread>\d+) +(?P<name>\w+)\((?:AT_FDCWD<[^>]*>, )?(?:\d+<(?P<open>[^>]*)>)?(?:"(?P<path>[^"]*)")?'
    r'(?:, "(?P<data>[^"]*)")?(?:, )?(?P<rest>[^)"]*)\) += (?P<result>-?\d+|\?)'
)

_UNFINISHED = " <unfinished ...>"
_RESUMED = re.compile(r"\d+ +<\.\.\. \w+ resumed>(, )?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A system call on a file of the store, its directory, or the log."""

    thread: int
    name: str
    file: str
    """Its name; "" for the directory."""
    data: bytes
    rest: str
    """The arguments after the data, as strace writes them."""
    failed: bool

    @property
    def number(self) -> int:
        """The last argument: where a write begins, or what a file is cut to."""
        return int(self.rest.rpartition(", ")[2])


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the log."""

    acknowledged: int | None
    """The number of transactions; None if the store failed."""
    outcome: str
    """The digest of the rows, or why it failed."""


def trace(place: Path, *options: str, traced: int = 0, weak: bool = False) -> list[Call]:
    """Run a writer in an empty place, with all that it writes noted."""
    text = _run(
        place,
        *("-xx", "-s", "1000000", "-e", f"trace={','.join(_TRACED)}"),
        *_paths([*_files(place), place / LOG]),
        *options,
        traced=traced,
        weak=weak,
    )
    return [_call(line, place) for line in _whole(text.splitlines()) if "+++" not in line]


def hurt(place: Path, injection: str, traced: int = 0) -> bool:
    """Run a writer in an empty place with something done to its calls; whether it was.

    Args:
        place: The empty place.
        injection: As strace wants it; ``when`` counts the calls of the traced life.
        traced: The life.
    """
    call, _, _ = injection.partition(":")
    options = ["-e", f"trace={call}", "-e", f"inject={injection}", *_paths(_files(place))]
    text = _run(place, *options, traced=traced, weak=False)
    return "INJECTED" in text or "killed by SIGKILL" in text


def _run(place: Path, *options: str, traced: int, weak: bool) -> str:
    """Run a writer until it ends; returns strace's output."""
    (place / STORE).parent.mkdir()
    assert STRACE is not None
    arguments = (str(place), str(traced), "weak" if weak else "full")
    with (place / "output").open("wb") as log:
        child = fork(writer.__name__, arguments, os.environ, log)
    until((place / READY).exists, "the writer")
    output = place / "strace"
    command = [STRACE, "-f", "-y", "-o", str(output), *options, "-p", str(child.pid)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr is not None
        assert "attached" in strace.stderr.readline()
        (place / GO).touch()
        strace.stderr.read()
    child.wait(60)
    return output.read_text()


def obstacle() -> str:
    """Why nothing can be traced here; "" when it can."""
    if STRACE is None:
        return "strace is not installed"
    done = run_program([STRACE, "-o", os.devnull, "true"])
    return f"strace may not trace here: {done.stderr.strip()}" if done.returncode else ""


def notes(place: Path) -> list[Note]:
    """Return the lines of a writer's log."""
    return [note(line) for line in (place / LOG).read_text().splitlines()]


def note(line: str) -> Note:
    """A line of the log."""
    first, _, rest = line.partition(" ")
    return Note(None, rest) if first == "!" else Note(int(first), rest)


def _files(place: Path) -> list[Path]:
    store = place / STORE
    beside = [store.with_name(store.name + suffix) for suffix in ("-wal", "-journal", "-shm")]
    return [store.parent, store, *beside]


def _paths(paths: Sequence[Path]) -> list[str]:
    return [word for path in paths for word in ("-P", str(path))]


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """Each call as one line, where it ended: strace breaks those that another thread interrupts."""
    begun = {}
    for line in lines:
        thread = line.partition(" ")[0]
        if line.endswith(_UNFINISHED):
            begun[thread] = line.removesuffix(_UNFINISHED)
        elif (resumed := _RESUMED.match(line)) is not None:
            yield begun.pop(thread) + line[resumed.end() :]
        else:
            yield line


def _call(line: str, place: Path) -> Call:
    match = _LINE.match(line)
    if match is None:
        raise ValueError(f"what does strace say here? {line[:300]}")
    path = Path(_bytes(match["open"] or match["path"]).decode().removesuffix(" (deleted)"))
    return Call(
        thread=int(match["thread"]),
        name=match["name"],
        file="" if path == (place / STORE).parent else path.name,
        data=_bytes(match["data"] or ""),
        rest=match["rest"],
        failed=match["result"] in {"-1", "?"},
    )


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))
