"""Writes corrections.json, and removes erased reviews from all files of the data directory."""

import contextlib
import datetime
import getpass
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from reviewsctl.files.folders import Folder, opened
from reviewsctl.importing import history, import_log
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.reviews_file import commit
from reviewsctl.terminal.interruption import uninterrupted
from reviewsctl.terminal.remedies import writing
from reviewsd.api.places import (
    CORRECTIONS_FILE,
    CORRECTIONS_LOG,
    INSIGHTS_FILE,
    KEPT_FOLDER,
    LABELS_FILE,
    REVIEWS_FILE,
)
from reviewsd.api.texts import counted

if TYPE_CHECKING:
    from reviewsd.domain.corrections import Corrections
    from reviewsd.offline.corrections import ReviewsWithCorrections

CACHES: Final = (f"{INSIGHTS_FILE}.bak", f"{REVIEWS_FILE}.bak")
"""Copies that may contain an erased review, and can be made again."""

_PRIVATE: Final = 0o600
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.Encoder().encode


def read(target: Path) -> "ReviewsWithCorrections":
    """Read the reviews with their corrections; ``target`` is reviews.json.

    Raises:
        ImportRefusedError: A file is missing or invalid.
    """
    from reviewsd.domain.data_errors import DataError  # 0.1 s, see main
    from reviewsd.offline import corrections
    from reviewsd.publish.sources import Unsettled

    try:
        with faults(target):
            return corrections.read(target.parent, own_ids(target))
    except DataError as error:
        first, *rest = error.lines()
        raise ImportRefusedError(first, "\n".join([*rest, "See all: reviewsctl check"])) from error
    except Unsettled as error:
        raise ImportRefusedError("the data files are being written", "Try again.") from error


@contextlib.contextmanager
def parsing(remedy: str) -> Iterator[None]:
    """Raise faults of corrections.json in the block as ``ImportRefusedError``."""
    from reviewsd.domain.data_errors import DataError  # see ``read``

    try:
        yield
    except DataError as error:
        raise ImportRefusedError("; ".join(error.lines()), remedy) from error


def faults(target: Path) -> contextlib.AbstractContextManager[None]:
    """Raise faults of the file system as ``ImportRefusedError``."""
    return writing(target.parent, "ask the owner of the folder.")


def own_ids(target: Path) -> set[str]:
    """Return the merge keys of reviews whose ids are not made of their content, by the import log."""
    with opened(target.parent) as folder:
        log, _ = import_log.load(folder)
    return {key for key, row in log.reviews.items() if row.has_own_id}


def write(target: Path, reviews: "ReviewsWithCorrections") -> None:
    """Replace corrections.json.

    Raises:
        ImportRefusedError: Another program has changed it, or it cannot be written.
    """
    with faults(target), opened(target.parent) as folder:
        replace(folder, CORRECTIONS_FILE, lambda _: reviews.encoded())


def erase(target: Path, reviews: "ReviewsWithCorrections", now: datetime.datetime) -> None:
    """Write erasures, and remove the erased reviews; ``reviews`` are all, with the erasures.

    corrections.json is written first: after a crash the reviews are hidden at least.
    """
    write(target, reviews)
    take_out_erased(target, reviews, now)


def take_out_erased(target: Path, reviews: "ReviewsWithCorrections", now: datetime.datetime) -> int:
    """Remove the erased reviews that reviews.json has, as an older copy has them, from every file; return their number.

    It is called by each command that is about to write reviews.json, as a kept version would have them too.

    Raises:
        ImportRefusedError: insights.json is no JSON, and could quote them; or a file cannot be written.
    """
    from reviewsd.offline.corrections import without_erased  # see ``read``

    if not reviews.erased:
        return 0
    corrections = reviews.corrections
    with faults(target), opened(target.parent) as folder, uninterrupted():
        if folder.look(INSIGHTS_FILE) is not None:
            replace(folder, INSIGHTS_FILE, lambda text: _without_erased_words(text, reviews))
        if folder.look(LABELS_FILE) is not None:
            replace(folder, LABELS_FILE, reviews.remaining_labels)
        for name in CACHES:
            folder.remove(name)
        with contextlib.suppress(FileNotFoundError), folder.folder(KEPT_FOLDER) as own:
            own.remove(LABELS_FILE)  # of a run that was killed, or goes on
            _erase_kept(own, corrections, now)
        replace(folder, REVIEWS_FILE, lambda text: without_erased(text, corrections, now)[0])
    return len(reviews.erased)


def _without_erased_words(insights: bytes, reviews: "ReviewsWithCorrections") -> bytes:
    try:
        return reviews.without_erased_words(insights)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ImportRefusedError(
            f"{INSIGHTS_FILE}, which may quote an erased review, cannot be read: {error}",
            "Fix it, or remove it, then run the command again.",
        ) from error


def erased_note(count: int) -> list[str]:
    """Return the note on erased reviews that ``take_out_erased`` removes; nothing if there are none."""
    is_or_are = "is" if count == 1 else "are"
    note = (
        f"{counted(count, 'erased review')} had come back into reviews.json, as by an older copy of it, and "
        f"{is_or_are} taken out"
    )
    return [note] if count else []


def note(target: Path, now: datetime.datetime, ids: Sequence[str], action: str, why: str) -> None:
    """Append a line to the log of corrections, a JSON object with their note; it is never served."""
    line = {
        "at": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "user": getpass.getuser(),
        "action": action,
        "reviews": list(ids),
        "note": why,
    }
    with (
        faults(target),
        opened(target.parent) as folder,
        folder.folder(KEPT_FOLDER, make=True) as own,
        own.journal(CORRECTIONS_LOG, _PRIVATE) as log,
    ):
        log.write(json.dumps(line).encode() + b"\n")


def replace(folder: Folder, name: str, change: Callable[[bytes], bytes]) -> None:
    """Replace a file by its change, of nothing if it is not there; leave it if both are the same.

    Raises:
        ImportRefusedError: Another program has changed it.
    """
    old = b""
    with folder.draft(name) as new:
        if folder.look(name) is not None:
            with folder.open(name) as file:
                old = file.read()
        text = change(old)
        if text != old:
            new.file.write(text)
            commit(new)


def _erase_kept(own: Folder, corrections: "Corrections", now: datetime.datetime) -> None:
    """Remove reviews from the import log and the kept versions; remove unreadable files.

    The newest version stays the same as reviews.json, so that an undo does not take it for another one.
    """
    from reviewsd.offline.corrections import without_erased  # see ``read``

    def without_rows(text: bytes) -> bytes:
        log = _members.decode(text)
        rows = _members.decode(log["reviews"])
        remaining = {key: row for key, row in rows.items() if key not in corrections.erased}
        return text if len(remaining) == len(rows) else _encode(log | {"reviews": remaining})

    def change(name: str, text: bytes) -> bytes:
        if name.startswith("reviews-"):
            return without_erased(text, corrections, now)[0]
        return without_rows(text)

    if own.look(import_log.FILE) is not None:
        replace(own, import_log.FILE, without_rows)
    own.sweep()
    with contextlib.suppress(FileNotFoundError), own.folder(history.FOLDER) as versions:
        versions.sweep()
        for version in history.versions(versions):
            for name in (version.file, version.log):
                _erase_packed(versions, name, partial(change, name))


def _erase_packed(versions: Folder, name: str, change: Callable[[bytes], bytes]) -> None:
    facts = versions.look(name)
    if facts is None:
        return
    try:
        with versions.open(name) as packed, gzip.GzipFile("", "rb", fileobj=packed) as file:
            old = file.read()
        text = change(old)
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError, KeyError):
        versions.remove(name)
        return
    if text != old:
        with versions.draft(name) as new:
            new.file.write(gzip.compress(text, mtime=0))
            new.give(facts.st_uid, facts.st_gid)
            new.put(_PRIVATE)
