"""Tests that need no daemon: configuration, data, directories, disk and clock."""

import os
import shlex
import shutil
import stat
import time
from pathlib import Path
from typing import Final

from reviewsctl.daemon.units import BOOTED, output_of
from reviewsctl.doctor.verdict import Diagnosis, fail, ok, skip, warn
from reviewsctl.files.ownership import user_name
from reviewsd.api.disk import size
from reviewsd.api.files import CheckReport, Diagnostic
from reviewsd.api.places import DATA_FILES, KEPT_FOLDER
from reviewsd.api.texts import counted

_FUTURE: Final = 5.0  # seconds that clocks of file servers may be ahead
_SHOWN: Final = 5  # files that a remedy names
_MIN_FREE: Final = 100 * 1024 * 1024  # bytes; a database needs as much


def configuration(report: CheckReport) -> Diagnosis:
    """Test whether the configuration is valid."""
    problems = [problem for problem in report.problems if not _is_data(report, problem)]
    if problems:
        return fail(_first(problems), "See all: reviewsctl check")
    if report.config is None:
        return skip("there is none")
    warnings = [warning for warning in report.warnings if not _is_data(report, warning)]
    if warnings:
        return warn(_first(warnings), "See all: reviewsctl check")
    return ok(f"{report.config} is valid")


def notices(report: CheckReport) -> Diagnosis:
    """Say which addresses of notices the test of the configuration could not read."""
    return skip(f"{report.unread}; test them: reviewsctl notify test")


def data(report: CheckReport) -> Diagnosis:
    """Test whether the data is valid."""
    if report.data_dir is None:
        return skip("the configuration does not say where it is")
    problems = [problem for problem in report.problems if _is_data(report, problem)]
    if problems:
        return fail(_first(problems), "See all: reviewsctl check")
    facts = report.facts
    count = 0 if facts is None else facts.reviews
    if report.warning_count:
        detail = (
            f"{counted(count, 'review')}, valid, with {counted(report.warning_count, 'warning')}"
        )
        return warn(detail, "See them: reviewsctl check")
    return ok(f"{counted(count, 'review')}, valid")


def directory(report: CheckReport, *, served: bool = False) -> Diagnosis:
    """Test the permissions of the data directory.

    A running daemon by which the data is served proves that it can read it.
    """
    if report.data_dir is None:
        return skip("the configuration does not say where it is")
    folder = Path(report.data_dir)
    typed = shlex.quote(str(folder))
    try:
        facts = folder.stat()
        files = [folder / file for file in DATA_FILES if (folder / file).exists()]
        modes = [file.stat().st_mode for file in files]
    except FileNotFoundError:
        remedy = f"Make it, or name another as data_dir: sudo mkdir -p {typed}"
        return fail(f"there is no {folder}", remedy)
    except OSError as fault:
        remedy = f"Make it readable: sudo chmod o+rx {typed}"
        return fail(f"{folder}: {fault.strerror}", remedy)
    owner = f"{folder} belongs to {user_name(facts.st_uid)}"
    if facts.st_mode & stat.S_IWOTH and not facts.st_mode & stat.S_ISVTX:
        remedy = f"sudo chmod o-w {typed}"
        return fail(f"{owner}, and every user can replace the files in it", remedy)
    closed = _closed(folder)
    if closed is None and not all(mode & stat.S_IROTH for mode in modes):
        closed = folder
    if served:
        return ok(f"{owner}, and the daemon can read it")
    if closed is not None:
        where = "it" if closed == folder else f"what is in {closed}"
        detail = f"{owner}, and other users, as that of the service, cannot read {where}"
        readable = shlex.join(("sudo", "chmod", "o+r", *map(str, files)))
        files_too = f" && {readable}" if closed == folder else ""
        return warn(detail, f"sudo chmod o+rx {shlex.quote(str(closed))}{files_too}")
    return ok(f"{owner}, and every user can read it")


def ownership(report: CheckReport) -> Diagnosis:
    """Test whether the files of the data belong to the owner of their folder.

    An import and a sync run as that user: it cannot read what is private to another one, or write to a log.
    """
    folder = Path(report.data_dir or "/nonexistent")
    try:
        owner = folder.stat()
        own_folder = folder / KEPT_FOLDER
        files = [*folder.iterdir(), *(own_folder.iterdir() if own_folder.is_dir() else ())]
        facts = {file: file.lstat() for file in sorted(files)}
    except OSError:
        return skip("the data directory cannot be listed")
    foreign = {
        file: entry.st_uid
        for file, entry in facts.items()
        if entry.st_uid != owner.st_uid and not stat.S_ISLNK(entry.st_mode)
    }
    if not foreign:
        return ok(f"all belong to {user_name(owner.st_uid)}")
    file, uid = next(iter(foreign.items()))
    more = f" (and {len(foreign) - 1} more)" if len(foreign) > 1 else ""
    detail = f"{file} belongs to {user_name(uid)}{more}, the folder to {user_name(owner.st_uid)}"
    names = " ".join(shlex.quote(str(file)) for file in list(foreign)[:_SHOWN])
    return warn(detail, f"sudo chown -h --reference={shlex.quote(str(folder))} {names}")


def disk(state: Path, report: CheckReport) -> Diagnosis:
    """Test whether the disk has room for the next snapshot, which is written beside the last one."""
    place = next(path for path in (state, *state.parents) if _stat(path) is not None)
    free = shutil.disk_usage(place).free
    folder = Path(report.data_dir or "/nonexistent")
    sizes = [facts.st_size for file in DATA_FILES if (facts := _stat(folder / file)) is not None]
    needed = max(_MIN_FREE, 3 * sum(sizes))
    detail = f"{size(free)} free at {place}"
    if free < needed:
        return fail(detail, f"Make room: a change of the data needs up to {size(needed)}.")
    return ok(detail)


def clock(report: CheckReport, now: float) -> Diagnosis:
    """Test whether the time is after that of the data, and set by a time service; leases, certificates and "since" depend on it."""
    detail = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    folder = Path(report.data_dir or "/nonexistent")
    for path in (folder / file for file in DATA_FILES):
        facts = _stat(path)
        if facts is not None and facts.st_mtime > now + _FUTURE:
            ahead = facts.st_mtime - now
            remedy = f"If the clock is right: touch {path}"
            return warn(f"{path} was written {ahead:,.0f} s in the future", remedy)
    if BOOTED.is_dir():
        state = output_of("timedatectl", "show", "--property=NTPSynchronized", "--value") or ""
        if state.strip() == "no":
            return warn("the clock is not synchronized", "sudo timedatectl set-ntp true")
    return ok(f"{detail}, no file is newer")


def _closed(folder: Path) -> Path | None:
    """Return the first folder, from the root to the data, that other users cannot enter."""
    path = (*reversed(folder.resolve().parents), folder)
    return next((part for part in path if not part.stat().st_mode & stat.S_IXOTH), None)


def _stat(path: Path) -> os.stat_result | None:
    """Return the facts of a file, or None where it is missing or out of reach."""
    try:
        return path.stat()
    except OSError:
        return None


def _is_data(report: CheckReport, problem: Diagnostic) -> bool:
    folder = report.data_dir
    return folder is not None and problem.file.startswith(folder)


def _first(problems: list[Diagnostic]) -> str:
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return problems[0].lines[0] + more
