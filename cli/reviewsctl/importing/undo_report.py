"""The output of ``reviewsctl reviews undo``."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from reviewsctl.importing.history import Version
from reviewsctl.importing.options import reviews
from reviewsctl.importing.review_merge import stamp
from reviewsctl.importing.undo import Undone, undo, versions


@dataclass(frozen=True, slots=True)
class UndoReport:
    """The result of an undo."""

    lines: Sequence[str]
    """For people."""
    document: Mapping[str, object]
    """For ``--json``."""


def undone(
    target: Path, number: int, now: datetime.datetime, *, dry_run: bool, command: str
) -> UndoReport:
    """Go back to an earlier version of reviews.json, or list them all.

    Args:
        target: reviews.json.
        number: How many versions to go back.
        now: The time of the undo.
        dry_run: Whether the versions are listed instead.
        command: The command that does it.

    Raises:
        ImportRefusedError: There is no such version, or it cannot be read; nothing was written.
    """
    if dry_run:
        return _list(target, versions(target))
    result = undo(target, number, now)
    document = {"type": "result", "target": str(target), **_fields(result)}
    return UndoReport(_lines(target, number, result, command), document)


def _list(target: Path, there: Sequence[Version]) -> UndoReport:
    entries = [
        {"number": number, "at": stamp(version.at), "bytes": version.size}
        for number, version in enumerate(there, start=1)
    ]
    lines = [
        f"{entry['number']:>3}  kept {entry['at']}  ({entry['bytes']:,} bytes, packed)"
        for entry in entries
    ] or [f"there is no earlier version of {target}"]
    return UndoReport(lines, {"type": "result", "target": str(target), "versions": entries})


def _fields(result: Undone) -> dict[str, object]:
    fields = asdict(result)
    del fields["version"]
    return {"at": stamp(result.version.at), **fields}


def _lines(target: Path, number: int, result: Undone, command: str) -> list[str]:
    lines = [
        (
            f"{target} is the version kept {stamp(result.version.at)}, with {reviews(result.total)}: "
            f"{result.back:,} are back, {result.changed:,} changed, {result.gone:,} gone"
        )
        if result.is_valid
        else f"{target} is the version kept {stamp(result.version.at)}, with {reviews(result.total)}"
    ]
    if result.is_valid:
        lines.append(
            f"to take that back: {command}; to go back further: "
            + command.replace(" undo", f" undo {number + 1}", 1)
        )
    return lines
