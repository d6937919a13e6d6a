"""Writes reviews.json again; unchanged parts stay byte for byte as they are.

``replace`` is the one writer: every command that changes reviews or business puts the new file in place by it.
"""

import contextlib
import datetime
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
from msgspec import UNSET, Raw

from reviewsctl.files.folders import Draft, Folder
from reviewsctl.importing import history, import_log
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.import_log import ImportLog
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.values import encoded, members
from reviewsctl.terminal.interruption import uninterrupted
from reviewsd.api.places import KEPT_FOLDER

FIX: Final = "Fix it, or move it away to start over; what is wrong: reviewsctl check"

REVIEWS: Final = "reviews"
_members = msgspec.json.Decoder(dict[str, Raw])


_shipped = json.loads((Path(__file__).parent.parent / "shipped" / "reviews.json").read_bytes())

EXAMPLES: Final = frozenset(review["id"] for review in _shipped["reviews"])
"""The ids of the reviews that ``reviewsctl init`` writes; they are of no customer, so an import leaves them out."""

NO_NAME: Final = str(_shipped["business"]["name"])
"""The name of the business until the operator sets one."""


def read(folder: Folder, name: str) -> Document | None:
    """Read a reviews.json of a folder; return None if it is not there.

    Raises:
        ImportRefusedError: It is no JSON.
    """
    if folder.look(name) is None:
        return None
    with folder.open(name) as file:
        return Document(file.read(), name, FIX)


def rewrite(
    out: BinaryIO,
    document: Document,
    reviews: Iterable[Raw],
    changes: Mapping[str, object],
    now: str | None,
) -> None:
    """Write a file again.

    Args:
        out: The new file.
        document: The old one.
        reviews: Those of the new file.
        changes: Other members that have another value; ``UNSET`` leaves one out.
        now: The ``updated_at`` of a file that has one; None leaves it as it is.

    Raises:
        ImportRefusedError: It is no JSON object, or a member is not UTF-8.
    """
    members: dict[str, object] = {**document.members, REVIEWS: reviews, **changes}
    there = {name: document.member(name) for name in document.members if name != REVIEWS}
    if now is not None and there.get("updated_at") is not None:
        members["updated_at"] = now
    before = b"{\n"
    for name, value in members.items():
        if value is not UNSET:
            out.write(before + encoded(name) + b": ")
            out.writelines(_in_lines(reviews) if name == REVIEWS else [encoded(value)])
            before = b",\n"
    out.write(b"\n}\n")


def _in_lines(elements: Iterable[object], indent: bytes = b"") -> Iterator[bytes]:
    yield b"["
    between = b"\n"
    for element in elements:
        yield between + indent + encoded(element)
        between = b",\n"
    yield b"\n" + indent[:-2] + b"]"


def reviews_of(document: Document) -> Iterator[Mapping[str, object]]:
    """Iterate over the reviews of a file.

    Raises:
        ImportRefusedError: It is no JSON object, or its reviews are no array.
    """
    return (members(document.value(review)) for review in document.elements(REVIEWS))


def identified(document: Document) -> Iterator[tuple[Mapping[str, object], str]]:
    """Iterate over the reviews of the file with their ids, without the examples."""
    for review in reviews_of(document):
        identifier = review.get("id")
        if isinstance(identifier, str) and identifier not in EXAMPLES:
            yield review, identifier


def updated(text: Raw, changes: Mapping[str, object]) -> Raw:
    """Return an object of JSON with some members changed, and all others as they are written."""
    return Raw(encoded({**_members.decode(text), **changes}))


def updated_in_lines(text: Raw, changes: Mapping[str, object]) -> Raw:
    """Return an object of JSON with some members changed, and all others as they are written.

    Each member has a line of its own, and each element of a list that changes, as people edit it.
    """
    lines = [
        b"  "
        + encoded(name)
        + b": "
        + (b"".join(_in_lines(value, b"    ")) if isinstance(value, list) else encoded(value))
        for name, value in {**_members.decode(text), **changes}.items()
    ]
    return Raw(b"{\n" + b",\n".join(lines) + b"\n}")


_MODE = 0o644  # of a new file: the daemon runs as another user, and the data are public


def check(new: Draft) -> None:
    """Check that the file that a draft replaces is the one that was there at the beginning.

    Raises:
        ImportRefusedError: Another program wrote it meanwhile.
    """
    if _signature(new.folder.look(new.name)) != _signature(new.before):
        raise ImportRefusedError(
            f"{new.folder.path / new.name} was changed by another program meanwhile; it is as "
            "that left it",
            "Run the command again.",
        )


def commit(new: Draft, keep: Callable[[], object] = lambda: None) -> None:
    """Put a draft in the place of its file, with the owner and mode of that.

    Args:
        new: The draft.
        keep: Called before, where there is a file to be replaced.

    Raises:
        ImportRefusedError: Another program wrote the file meanwhile.
    """
    check(new)
    if new.before is None:
        new.put(_MODE)
        return
    keep()
    new.give(new.before.st_uid, new.before.st_gid)
    new.put(new.before.st_mode & 0o777)


def replace(
    new: Draft,
    log: ImportLog,
    now: datetime.datetime,
    *,
    is_change: bool = True,
    first: Callable[[], object] = lambda: None,
    last: Callable[[], object] = lambda: None,
) -> Path | None:
    """Put a new reviews.json in place with its import log, and keep the versions before and after for an undo.

    No signal stops it once something is written.

    Args:
        new: The draft of the file.
        log: Its import log.
        now: When it is replaced.
        is_change: Whether the file is replaced; else the log alone.
        first: Called before anything is written, but for the drafts.
        last: Called when the file is in place.

    Returns:
        The version that was there, in the history; None if there was none, or it stays.

    Raises:
        ImportRefusedError: Another program wrote the file meanwhile.
    """
    folder, name = new.folder, new.name
    with contextlib.ExitStack() as stack:
        own_folder = stack.enter_context(folder.folder(KEPT_FOLDER, make=True))
        new_log = stack.enter_context(import_log.draft(own_folder, log))
        keeping = None
        if is_change:
            keeping = stack.enter_context(history.keeping(folder, name, new, new_log, now))
        with uninterrupted():
            check(new)
            first()
            if keeping is not None:
                commit(new, keeping.put_old)
            import_log.put(new_log, folder.look(name))
            last()
            if keeping is not None:
                keeping.put_new()
    return None if keeping is None else keeping.path


def _signature(facts: os.stat_result | None) -> tuple[int, ...] | None:
    if facts is None:
        return None
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)
