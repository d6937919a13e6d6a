"""One import from beginning to end: recognize, read, stage, merge, ask, replace."""

import contextlib
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from reviewsctl.corrections.imports import KnownCorrections
from reviewsctl.files.folders import Folder, opened
from reviewsctl.importing import history, import_log, report
from reviewsctl.importing.bounds import MEMORY
from reviewsctl.importing.consent import (
    agree,
    keep_location,
    losses,
    older_places,
    questions,
    titles_of,
)
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.exports import (
    Export,
    check_options,
    opened_exports,
    part_numbers,
)
from reviewsctl.importing.import_log import (
    Age,
    ImportLog,
    Past,
    compare,
    newest_days,
    past_import,
    recorded,
)
from reviewsctl.importing.merge import Merge, MergePlan
from reviewsctl.importing.options import ImportOptions, ImportResult, Prompts, RowCounts
from reviewsctl.importing.outcomes import MergeResult
from reviewsctl.importing.platforms import own
from reviewsctl.importing.readers.json_file import DOWNLOAD, OWN_VALUE, Document
from reviewsctl.importing.readers.parts import DAMAGED
from reviewsctl.importing.readers.watching import WORTH_SHOWING, Reading
from reviewsctl.importing.reviews_file import draft
from reviewsctl.importing.rows import check_replaceable, check_usable, read_rows, readers_of
from reviewsctl.importing.staging import Place, Staging, staging
from reviewsctl.terminal.interruption import uninterrupted
from reviewsctl.terminal.remedies import to_write
from reviewsd.api.jobs import Step
from reviewsd.api.places import KEPT_FOLDER

FIX: Final = "Fix it, or move it away to start over; what is wrong: reviewsctl check"


def run(options: ImportOptions, prompts: Prompts) -> ImportResult:
    """Import.

    Raises:
        ImportRefusedError: It cannot be done; nothing was written.
        SayMoreError: The operator has to decide something first; nothing was written.
    """
    exports = ", ".join(map(str, options.exports))
    folder = options.target.parent
    try:
        with opened_exports(options) as opened_:
            return _import(options, prompts, opened_)
    except DAMAGED as fault:
        raise ImportRefusedError(
            f"{exports} is damaged: {fault}", "Download or export it again."
        ) from fault
    except RecursionError as fault:
        raise ImportRefusedError(f"{exports}: nested too deeply", DOWNLOAD) from fault
    except MemoryError as fault:
        raise ImportRefusedError(
            f"{exports} takes more than {MEMORY // 1024**2} MB of memory: that is no export",
            "Nothing was written.",
        ) from fault
    except sqlite3.Error as fault:
        raise ImportRefusedError(
            f"the reviews could not be put aside in {folder}: {fault}",
            "Nothing was written. Is there room? It takes three times the size of the reviews.",
        ) from fault
    except OSError as fault:
        remedy = to_write(folder, "ask the owner of the folder.")
        raise ImportRefusedError(
            f"{fault.filename or folder}: {fault.strerror or fault}",
            f"Nothing was written. Is there room, and may you write there? {remedy}",
        ) from fault


def _import(options: ImportOptions, prompts: Prompts, exports: Sequence[Export]) -> ImportResult:
    check_options(options, exports)
    lines = [line for export in exports for line in export.lines(options)]
    readers = readers_of(options, exports)
    prompts.show(lines)
    place = options.target.parent
    is_writable = os.access(place, os.W_OK)
    if not (is_writable or options.dry_run):
        raise ImportRefusedError(f"you may not write to {place}", to_write(place, "ask its owner."))
    with (
        opened(place) as folder,
        staging(place if is_writable and folder.private else None) as staged,
    ):
        corrections = KnownCorrections(place)
        rows = read_rows(options, readers, staged, prompts, corrections)
        twice = staged.added - staged.count()
        check_usable(options, staged, rows)
        elsewhere = keep_location(options, rows.titles, staged, prompts)
        log = import_log.load(folder, staged.written)
        if options.replace:
            check_replaceable(options, exports, rows, staged, log)
        past = _past(options, folder, staged, log, exports)
        plan = MergePlan(
            now=options.now,
            facts=_facts(options, rows.titles, staged, exports),
            replaced=_replaced(options, exports, rows, staged, twice),
            is_gone=None if options.synced is None else options.synced.is_gone,
            older=past.older,
            full_names=options.settings.names == "full",
            by_owner=any(export.format is own.FORMAT for export in exports),
        )
        of_rows = report.notes_of_rows(
            exports, rows, review_count=staged.count(), twice=twice, elsewhere=elsewhere
        )
        step = _Replacement(
            options=options,
            prompts=prompts,
            exports=exports,
            folder=folder,
            titles=rows.titles,
            staged=staged,
            log=log,
            past=past,
            plan=plan,
        )
        replaced = step.try_out() if options.dry_run else step.write()
    return ImportResult(
        formats=list(dict.fromkeys(export.format for export in exports)),
        files=sum(len(export.sources) for export in exports),
        rows=rows,
        merge=replaced.merge,
        twice=twice,
        elsewhere=elsewhere,
        notes=[
            *of_rows,
            *([log.fault] if log.fault else []),
            *replaced.notes,
            *corrections.notes(),
            *report.notes_of_merge(replaced.merge),
        ],
        is_written=replaced.is_written,
        backup=replaced.backup,
    )


def remove(options: ImportOptions, prompts: Prompts, places: Collection[Place]) -> MergeResult:
    """Remove the reviews of some locations, without an export.

    Raises:
        ImportRefusedError: They are not to be removed, or the file cannot be written.
    """
    place = options.target.parent
    with (
        opened(place) as folder,
        staging(place if folder.private else None) as staged,
    ):
        step = _Replacement(
            options=options,
            prompts=prompts,
            exports=(),
            folder=folder,
            titles={},
            staged=staged,
            log=import_log.load(folder, staged.written),
            past=Past(here={}, there={}),
            plan=MergePlan(now=options.now, replaced=dict.fromkeys(places, "")),
        )
        return (step.try_out() if options.dry_run else step.write()).merge


def _past(
    options: ImportOptions,
    folder: Folder,
    staged: Staging,
    log: ImportLog,
    exports: Sequence[Export],
) -> Past:
    """Compare the export with earlier imports; an excerpt says nothing of its age."""
    if any(export.format.partial for export in exports):
        return Past(here={}, there={})
    if options.synced is not None and options.synced.is_current:
        return Past(here={}, there={})
    extents = staged.extents(int(options.now.timestamp() * 1000))
    files = [path.stat().st_mtime for path in options.exports if path.is_file()]
    file_at = int(max(files, default=0) * 1000)
    here = {
        place: Age(extent.newest, file_at) for place, extent in extents.items() if extent.newest
    }
    name = options.target.name
    ages: Mapping[Place, Age] = {}
    if not here.keys() <= log.ages.keys() and folder.look(name) is not None:
        with folder.open(name) as file:
            ages = newest_days(Document(file, name, FIX, OWN_VALUE), options.now)
    return compare(log, here, staged.fingerprint, ages)


def _replaced(
    options: ImportOptions,
    exports: Sequence[Export],
    rows: RowCounts,
    staged: Staging,
    twice: int,
) -> dict[Place, str]:
    """Return the locations that ``--replace`` follows, each with the day before which it removes nothing.

    The export may begin there, unless the platform's own total says that it is complete.
    """
    if not options.replace:
        return {}
    extents = staged.extents(0)
    if options.synced is not None and options.synced.is_current:
        return dict.fromkeys(extents, "")
    is_complete = len(extents) == 1 and all(
        _is_complete(export, rows.rows[export.format.name] - twice) for export in exports
    )
    return {place: "" if is_complete else extent.oldest for place, extent in extents.items()}


def _is_complete(export: Export, count: int) -> bool:
    total = export.format.total([source.head for source in export.sources])
    return total is not None and count >= total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replaced:
    """The outcome for reviews.json."""

    merge: MergeResult
    notes: Sequence[str]
    is_written: bool = False
    backup: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replacement:
    """Replaces reviews.json by what it and the export are together."""

    options: ImportOptions
    prompts: Prompts
    exports: Sequence[Export]
    folder: Folder
    titles: Mapping[str, str]
    """The titles of the export's locations, by their ids."""
    staged: Staging
    log: ImportLog
    past: Past
    plan: MergePlan

    def try_out(self) -> _Replaced:
        """Merge, and write nothing."""
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # no file
            merge = self._merge(nowhere)
        return _Replaced(merge=merge, notes=self._ask(merge))

    def write(self) -> _Replaced:
        """Merge, ask what may be a mistake, and put the new file in place if it says something else."""
        folder, name = self.folder, self.options.target.name
        with draft(folder, name) as new, contextlib.ExitStack() as stack:
            merge = self._merge(new.file)
            answers = self._ask(merge)
            is_new = merge.is_different or folder.look(name) is None
            own_folder = stack.enter_context(folder.folder(KEPT_FOLDER, make=True))
            rows = self.staged.written.in_file()
            log = stack.enter_context(import_log.draft(own_folder, self._recorded(merge), rows))
            keeping = None
            if is_new:
                now = self.options.now
                keeping = stack.enter_context(history.keeping(folder, name, new.draft, log, now))
            with uninterrupted():
                if keeping is None:
                    new.check()
                else:
                    new.commit(keeping.put_old)
                import_log.put(log, folder.look(name))
                if keeping is not None:
                    keeping.put_new()
        return _Replaced(
            merge=merge,
            notes=answers,
            is_written=is_new,
            backup=None if keeping is None else keeping.path,
        )

    def _ask(self, merge: MergeResult) -> list[str]:
        if self.options.synced is not None:
            self.options.synced.check(merge, self.plan.replaced)
        self.prompts.show(losses(self.options, merge))
        doubts = questions(self.options, self.titles, self.staged, self.past, merge)
        return agree(self.options, list(doubts), self.prompts)

    def _recorded(self, merge: MergeResult) -> ImportLog:
        """Return the import log with this import; what the owner exported says nothing of a platform."""
        if self.plan.by_owner:
            return self.log
        current = past_import(
            self.options.now,
            self.staged.places().keys(),
            self.staged.fingerprint,
            part_numbers(self.options.exports),
        )
        agreed = older_places(self.past, merge)
        return recorded(self.log, self.past, current=current, agreed=agreed)

    def _merge(self, out: BinaryIO) -> MergeResult:
        options, name, count = self.options, self.options.target.name, self.staged.count()

        def step(done: int) -> None:
            if count * 100 >= WORTH_SHOWING:  # some 100 bytes each at least
                self.prompts.progress(Step(stage="writing", done=done, total=count))

        merging = Merge(self.staged, out, step, self.plan)
        there = self.folder.look(name)
        if there is None:
            return merging.create(_members(options, self.plan.facts, self.exports))
        reading = Reading("merging", there.st_size, self.prompts.progress)
        with reading.file(self.folder.open(name)) as file:
            return merging.update(Document(file, name, FIX, OWN_VALUE))


def _facts(
    options: ImportOptions,
    titles: Mapping[str, str],
    staged: Staging,
    exports: Sequence[Export],
) -> dict[str, object]:
    """Return what the exports say of the business, where it has one location."""
    names = {place.name for place in staged.places()}
    facts: dict[str, object] = {}
    for export in exports:
        for source in export.sources:
            described = export.format.describes(source.head)
            if source.head.place in ("", *names) and len(names) <= 1:
                facts = {**described, **{name: value for name, value in facts.items() if value}}
    listed = (source.head.title for export in exports for source in export.sources)
    used = titles_of(titles, staged) or list(dict.fromkeys(filter(None, listed)))
    name = options.settings.name or (used[0] if len(used) == 1 else facts.get("name"))
    return {**facts, "name": name}


def _members(
    options: ImportOptions, facts: Mapping[str, object], exports: Sequence[Export]
) -> dict[str, object]:
    """Return the members of a new file beside the reviews."""
    heads = [
        source.head
        for export in exports
        if export.format is own.FORMAT
        for source in export.sources
    ]
    for head in heads:
        if isinstance(head.around.get("business"), dict):
            return dict(head.around)
    if not facts.get("name"):
        raise SayMoreError(
            f"there is no {options.target} yet, and the export does not say what the business is "
            "called",
            'Say it with --set "name=Acme Plumbing"',
        )
    return {"business": {name: value for name, value in facts.items() if value}}
