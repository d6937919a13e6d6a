"""What can be told without a daemon: configuration, data, directories, disk and clock."""

import os
import pwd
import shutil
import stat
import time
from pathlib import Path
from typing import Final

from reviewsctl.doctor.verdict import Diagnosis, fail, ok, skip, warn
from reviewsctl.terminal.remedies import as_root
from reviewsctl.terminal.words import counted
from reviewsd.api.diagnostic import Diagnostic
from reviewsd.api.files import CheckReport

_FUTURE: Final = 5.0  # seconds that clocks of file servers may be ahead
_FILES: Final = ("reviews.json", "insights.json", "insights.yaml")
_LITTLE: Final = 100 * 1024 * 1024  # bytes; below it a disk is full for a database too
_BUILT: Final = 1_767_225_600.0  # 2026-01-01: this program is younger, and so is the time


def configuration(report: CheckReport) -> Diagnosis:
    """Whether the configuration is valid."""
    name = "configuration"
    problems = [each for each in report.problems if not _is_data(report, each)]
    if problems:
        return fail(name, _first(problems), "All that is wrong: reviewsctl check")
    if report.config is None:
        return skip(name, "there is none")
    warnings = [each for each in report.warnings if not _is_data(report, each)]
    if warnings:
        return warn(name, _first(warnings), "Do what it says.")
    return ok(name, f"{report.config} is valid")


def data(report: CheckReport) -> Diagnosis:
    """Whether the data is valid."""
    name = "data"
    if report.data_dir is None:
        return skip(name, "the configuration does not say where it is")
    problems = [each for each in report.problems if _is_data(report, each)]
    if problems:
        return fail(name, _first(problems), "All that is wrong: reviewsctl check")
    facts = report.facts
    count = 0 if facts is None else facts.reviews
    if report.warning_count:
        said = f"{counted(count, 'review')}, valid, with {counted(report.warning_count, 'warning')}"
        return warn(name, said, "See them: reviewsctl check")
    return ok(name, f"{counted(count, 'review')}, valid")


def directory(report: CheckReport, *, served: bool = False) -> Diagnosis:
    """Who may read the data, and who may write it.

    Args:
        report: Names the folder.
        served: A daemon that answers serves what is there, so it may read it.
    """
    name = "data directory"
    if report.data_dir is None:
        return skip(name, "the configuration does not say where it is")
    folder = Path(report.data_dir)
    try:
        found = folder.stat()
        files = [folder / each for each in _FILES if (folder / each).exists()]
        modes = [each.stat().st_mode for each in files]
    except FileNotFoundError:
        remedy = f"Make it, or name another as data_dir: {as_root(f'mkdir -p {folder}')}"
        return fail(name, f"there is no {folder}", remedy)
    except OSError as fault:
        remedy = f"Make it readable: {as_root(f'chmod o+rx {folder}')}"
        return fail(name, f"{folder}: {fault.strerror}", remedy)
    owner = f"{folder} belongs to {_user(found.st_uid)}"
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        remedy = as_root(f"chmod o-w {folder}")
        return fail(name, f"{owner}, and everybody may replace the files in it", remedy)
    closed = _closed(folder)
    if closed is None and not all(mode & stat.S_IROTH for mode in modes):
        closed = folder
    if served:
        return ok(name, f"{owner}, and the daemon may read it")
    if closed is not None:
        where = "it" if closed == folder else f"what is in {closed}"
        said = f"{owner}, and others may not read {where}; the service has a user of its own"
        readable = as_root(" ".join(("chmod o+r", *map(str, files))))
        files_too = f" && {readable}" if closed == folder else ""
        return warn(name, said, f"{as_root(f'chmod o+rx {closed}')}{files_too}")
    linked = "links, which are swapped" if _linked(folder, files) else "files, which are renamed"
    return ok(name, f"{owner}, everybody may read it; {linked} or rewritten")


def disk(state: Path, report: CheckReport) -> Diagnosis:
    """Whether there is room for the next snapshot, which is written beside the last one."""
    name = "disk"
    place = next(each for each in (state, *state.parents) if _looked_at(each) is not None)
    free = shutil.disk_usage(place).free
    folder = Path(report.data_dir or "/nonexistent")
    found = [facts for each in _FILES if (facts := _looked_at(folder / each)) is not None]
    needed = max(_LITTLE, 3 * sum(facts.st_size for facts in found))
    said = f"{_bytes(free)} free at {place}"
    if free < needed:
        return fail(name, said, f"Make room: a change of the data needs up to {_bytes(needed)}.")
    return ok(name, said)


def clock(report: CheckReport, now: float) -> Diagnosis:
    """Whether the time can be true: leases, certificates and "since" need it."""
    name = "clock"
    said = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < _BUILT:
        return fail(name, f"it says {said}", f"Set it: {as_root('timedatectl set-ntp true')}")
    folder = Path(report.data_dir or "/nonexistent")
    for path in (folder / each for each in _FILES):
        facts = _looked_at(path)
        if facts is not None and facts.st_mtime > now + _FUTURE:
            ahead = facts.st_mtime - now
            remedy = f"If the clock is right: touch {path}. Nodes that share a store go by it."
            return warn(name, f"{path} was written {ahead:,.0f} s in the future", remedy)
    return ok(name, f"{said}, no file is younger")


def _closed(folder: Path) -> Path | None:
    """The folder on the way to the data, itself included, that others may not pass; the first."""
    way = (*reversed(folder.resolve().parents), folder)
    return next((each for each in way if not each.stat().st_mode & stat.S_IXOTH), None)


def _looked_at(path: Path) -> os.stat_result | None:
    """What a file is; None where there is none, or we may not look."""
    try:
        return path.stat()
    except OSError:
        return None


def _is_data(report: CheckReport, problem: Diagnostic) -> bool:
    folder = report.data_dir
    return folder is not None and problem.file.startswith(folder)


def _first(found: list[Diagnostic]) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return found[0].lines[0] + more


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _linked(folder: Path, files: list[Path]) -> bool:
    return any(os.path.realpath(each) != str(each.absolute()) for each in (folder, *files))


def _bytes(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:  # noqa: PLR2004  # that is what the units are
            return f"{count:,.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"
