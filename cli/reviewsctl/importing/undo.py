"""``reviewsctl reviews undo``: reviews.json as it was before a command replaced it.

The version that is there takes the place of the older one in the history, so that an undo can be undone. A version is
named by the change that made it, which holds in whatever order versions are kept.
"""

import contextlib
import datetime
import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from msgspec import UNSET

from reviewsctl.corrections import files
from reviewsctl.corrections.imports import KnownCorrections
from reviewsctl.files.folders import Folder, opened
from reviewsctl.importing import history, reviews_file
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.history import Version, checksum
from reviewsctl.importing.import_log import Change
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.review_merge import CHANGED, STAMPS, stamp
from reviewsctl.importing.reviews_file import (
    EXAMPLES,
    REVIEWS,
    read,
    reviews_of,
    rewrite,
    updated,
)
from reviewsctl.importing.values import elements, members
from reviewsctl.terminal.output import NOTHING_WRITTEN
from reviewsctl.terminal.remedies import to_write
from reviewsd.api.places import KEPT_FOLDER
from reviewsd.api.texts import counted
from reviewsd.domain.removed import removed_member

_REMEDY: Final = "The version is damaged; reviewsctl reviews undo --dry-run lists the others."

_UNKNOWN: Final = Change(
    at=datetime.datetime.min.replace(tzinfo=datetime.UTC), text="a change that was not logged"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The result of an undo."""

    at: datetime.datetime
    """When the version that reviews.json is now was kept."""
    total: int
    """Reviews in it."""
    back: int
    """Reviews that were not there before."""
    changed: int
    """Reviews that differ."""
    gone: int
    """Reviews that were there before."""
    corrected: int
    """Reviews that are hidden or anonymous all the same."""
    taken_out: int
    """Erased reviews that the file that was there had again."""
    sources: Sequence[str]
    """The sources whose syncs it takes back."""
    change: str
    """The change that made the version that reviews.json is now."""
    change_before: str
    """The change that made the version that it was."""

    def lines(self, target: Path, number: int, command: str) -> Iterator[str]:
        """Yield it for people, with the number of versions it went back, and its command."""
        line = (
            f"{target} is the version kept {stamp(self.at)}, with {counted(self.total, 'review')}"
        )
        further = command.replace(" undo", f" undo {number + 1}", 1)
        yield f"{line}: {self.back:,} back, {self.changed:,} changed, {self.gone:,} gone"
        yield f"it is as after {self.change}"
        yield f"it was as after {self.change_before}"
        if self.corrected:
            stay = "stays" if self.corrected == 1 else "stay"
            yield (
                f"{counted(self.corrected, 'review')} {stay} hidden or anonymous, as undo takes no such decision back; "
                "to see them: reviewsctl reviews list --hidden"
            )
        yield from files.erased_note(self.taken_out)
        yield f"to take that back: {command}; to go back further: {further}"
        for source in self.sources:
            yield (
                f"note: the source {source} does the same again at its next complete read; enabled: false prevents "
                "that, and reviews hide takes single reviews off the page"
            )

    def document(self, target: Path) -> dict[str, object]:
        """Return it for ``--json``."""
        return {"type": "result", "target": str(target), **asdict(self), "at": stamp(self.at)}


class Versions(NamedTuple):
    """The versions that an undo can go back to."""

    change: Change
    """The change that made the file that is there."""
    earlier: Sequence[tuple[Version, Change]]
    """The versions that differ from it, the newest first, each with the change that made it."""


def listing(target: Path) -> tuple[dict[str, object], list[str]]:
    """Return the versions that an undo can go back to, for ``--json`` and as lines for people.

    Raises:
        ImportRefusedError: They cannot be read.
    """
    with _opened(target) as (data, folder):
        versions = _versions(data, folder, target.name)
    there = list(enumerate(versions.earlier, start=1))
    entries = [
        {"number": n, "at": stamp(version.at), "bytes": version.size, "change": change.text}
        for n, (version, change) in there
    ]
    lines = [f"now  after {versions.change.text}"] if there else []
    lines += [f"{number:>3}  after {change.text}" for number, (_, change) in there]
    return (
        {
            "type": "result",
            "target": str(target),
            "change": versions.change.text,
            "versions": entries,
        },
        [*(lines or [f"there is no earlier version of {target}"]), NOTHING_WRITTEN],
    )


def _versions(data: Folder, folder: Folder | None, name: str) -> Versions:
    if folder is None:
        return Versions(_UNKNOWN, [])
    versions = history.versions(folder)
    here = None if data.look(name) is None else checksum(data, name)
    earlier = [
        (version, history.kept_log(folder, version).change or _UNKNOWN)
        for version in versions
        if not version.is_same(here)
    ]
    return Versions(history.log_of(data, folder, versions, here).change or _UNKNOWN, earlier)


def undo(
    target: Path, number: int, now: datetime.datetime, *, is_unpublished: bool = False
) -> Undone:
    """Put an earlier version of reviews.json, so many versions back, in its place.

    Args:
        target: The path of reviews.json.
        number: How many versions.
        now: When.
        is_unpublished: Whether nobody can have a copy, so that ``removed`` lists no review that goes.

    Raises:
        ImportRefusedError: There is no such version, or it cannot be read; nothing was written.
    """
    with _opened(target) as (data, folder):
        change_before, there = _versions(data, folder, target.name)
        if folder is None or not 1 <= number <= len(there):
            raise ImportRefusedError(
                f"there is no version {number:,} of {target} to go back to; versions: {len(there):,}",
                "List them: reviewsctl reviews undo --dry-run",
            )
        version, change = there[number - 1]
        undone = [change_before, *(passed for _, passed in there[: number - 1])]
        taken_out = _take_out_erased(target, now)
        corrections = KnownCorrections(target.parent)
        with folder.open(version.file) as file:
            document = Document(gzip.decompress(file.read()), version.file, _REMEDY)
        after, before = (
            _content(document, corrections),
            _content_there(data, target.name, corrections),
        )
        with data.draft(target.name) as new:
            back, changed, gone = _rewrite(
                new.file, document, after, before, now, is_unpublished=is_unpublished
            )
            log = history.kept_log(folder, version)
            reviews_file.replace(new, log, now, last=partial(history.remove, folder, version))
    return Undone(
        at=version.at,
        total=len(after.reviews),
        back=back,
        changed=changed,
        gone=gone,
        corrected=sum(bool(corrections.action(review)) for review in after.reviews.values()),
        taken_out=taken_out,
        sources=sorted({later.source for later in undone if later.at > change.at} - {""}),
        change=change.text,
        change_before=change_before.text,
    )


def check_last(target: Path) -> None:
    """Refuse an undo of no number where a review was hidden or anonymized since reviews.json was written.

    Raises:
        ImportRefusedError: It would take back what was done before that.
    """
    with contextlib.suppress(FileNotFoundError):
        written = datetime.datetime.fromtimestamp(target.stat().st_mtime, datetime.UTC)
        decided = KnownCorrections(target.parent).decided_since(written)
        if decided is not None:
            review_id, state = decided
            raise ImportRefusedError(
                f"what was done last is no change of {target}: {review_id} is {state} since",
                f"To show it again: reviewsctl reviews restore {review_id}; to take back the change of the file before "
                "that, which reviewsctl reviews undo --dry-run names: reviewsctl reviews undo 1",
            )


def _take_out_erased(target: Path, now: datetime.datetime) -> int:
    """Remove erased reviews that a valid reviews.json has again, as it becomes a kept version; return their number."""
    try:
        reviews = files.read(target)
    except ImportRefusedError:  # it is replaced because it is broken, or missing
        return 0
    return files.take_out_erased(target, reviews, now)


@contextlib.contextmanager
def _opened(target: Path) -> Iterator[tuple[Folder, Folder | None]]:
    """Open the data folder, and its history, if there is one."""
    try:
        with contextlib.ExitStack() as stack:
            data = stack.enter_context(opened(target.parent))
            folder = None
            with contextlib.suppress(FileNotFoundError):
                own_folder = stack.enter_context(data.folder(KEPT_FOLDER))
                folder = stack.enter_context(own_folder.folder(history.FOLDER))
            yield data, folder
    except (OSError, EOFError, zlib.error) as fault:
        reason = getattr(fault, "strerror", None) or fault
        remedy = to_write(target.parent, "ask the owner of the folder.", fault)
        raise ImportRefusedError(
            f"{getattr(fault, 'filename', None) or target.parent}: {reason}",
            f"Nothing was written. {remedy}",
        ) from fault


class _Content(NamedTuple):
    """The parts of a version of reviews.json that are compared."""

    reviews: Mapping[str, Mapping[str, object]]
    """The reviews that are neither erased nor examples of ``init``, by their ids, without the times of imports."""
    removed: Mapping[str, object]
    """The entries of ``removed``, by their ids."""


def _content(document: Document, corrections: KnownCorrections) -> _Content:
    reviews = {
        str(review.get("id")): {name: review[name] for name in review if name not in STAMPS}
        for review in reviews_of(document)
        if review.get("id") not in EXAMPLES and not corrections.is_erased(review)
    }
    removed = elements(document.member("removed"))
    return _Content(reviews, {str(members(entry).get("id")): entry for entry in removed})


def _content_there(data: Folder, name: str, corrections: KnownCorrections) -> _Content | None:
    """Return the content of reviews.json; None if it is gone, or cannot be read."""
    try:
        document = read(data, name)
        return None if document is None else _content(document, corrections)
    except ImportRefusedError:
        return None


def _rewrite(
    out: BinaryIO,
    document: Document,
    after: _Content,
    before: _Content | None,
    now: datetime.datetime,
    *,
    is_unpublished: bool,
) -> tuple[int, int, int]:
    """Write a version in place of the file that is there, and return how many reviews are back, changed and gone.

    A review that differs gets the time as ``changed_at``, and one that goes an entry in ``removed``, as copies of the
    reviews are kept up to date by these. If the file cannot be read, the version stays as it is.
    """
    there = before or _Content({}, {})
    different = {
        name for name, review in after.reviews.items() if review != there.reviews.get(name)
    }
    absent = [name for name in there.reviews if name not in after.reviews]

    reviews = []
    for raw in document.elements(REVIEWS):
        name = str(members(document.value(raw)).get("id"))
        if name in after.reviews:
            is_changed = name in different and before is not None
            reviews.append(updated(raw, {CHANGED: stamp(now)}) if is_changed else raw)
    if before is None:
        rewrite(out, document, reviews, {}, None)
    else:
        ids = there.reviews.keys() | after.reviews.keys()
        entries = {**there.removed, **after.removed}
        listed = [entry for name, entry in entries.items() if name not in ids]
        removed = [] if is_unpublished else absent
        changes = {"removed": UNSET, **removed_member(listed, removed, now)}
        rewrite(out, document, reviews, changes, stamp(now))
    back = len(different - there.reviews.keys())
    return back, len(different) - back, len(absent)
