"""Replaces reviews.json by what it and an export are together."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from reviewsctl.files.folders import Folder
from reviewsctl.importing import history, import_log
from reviewsctl.importing.consent import agree, losses, older_places, questions
from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.exports import part_numbers
from reviewsctl.importing.import_log import ImportLog, Past, PastImport, recorded
from reviewsctl.importing.merge import Merge, MergePlan
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.platforms import own
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.recognize import Export
from reviewsctl.importing.reviews_file import draft
from reviewsctl.importing.rows import WORTH_SHOWING
from reviewsctl.importing.staging import Staging
from reviewsctl.importing.values import encoded, without_surrogates
from reviewsctl.terminal.interruption import uninterrupted
from reviewsd.api.jobs import Step
from reviewsd.api.places import KEPT_FOLDER

_MAX_FILES: Final = 3  # names of exports in the import log

FIX: Final = "Fix it, or move it away to start over; what is wrong: reviewsctl check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """The outcome for reviews.json."""

    merge: MergeResult
    notes: Sequence[str]
    is_written: bool = False
    backup: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Replaces reviews.json by what it and the export are together."""

    options: ImportOptions
    prompts: Prompts
    folder: Folder
    staged: Staging
    log: ImportLog
    plan: MergePlan
    past: Past = field(default_factory=Past)
    exports: Sequence[Export] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of the export's locations, by their ids."""

    def write(self) -> Replaced:
        """Merge, ask what may be a mistake, and put the new file in place if it says something else."""
        if self.options.dry_run:
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # no file
                merge = self._merge(nowhere)
            return Replaced(merge=merge, notes=self._ask(merge))
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
        return Replaced(
            merge=merge,
            notes=answers,
            is_written=is_new,
            backup=None if keeping is None else keeping.path,
        )

    def _ask(self, merge: MergeResult) -> list[str]:
        if self.options.synced is not None:
            self.options.synced.check(merge, self.plan.replaced)
        self.prompts.show(list(losses(self.options, merge)))
        doubts = questions(self.options, self.titles, self.staged, self.past, merge)
        return agree(self.options, list(doubts), self.prompts)

    def _recorded(self, merge: MergeResult) -> ImportLog:
        """Return the import log with this import; what the owner exported says nothing of a platform."""
        if self.plan.by_owner:
            return self.log
        takeouts = part_numbers(self.options.exports)
        current = PastImport(
            at=self.options.now.replace(microsecond=0),
            places=tuple(self.staged.places())[: import_log.MAX_PLACES],
            fingerprint=self.staged.fingerprint,
            takeouts={takeout: tuple(sorted(parts)) for takeout, parts in takeouts.items()},
            files=_names(self.options),
            synced=self.options.synced is not None,
            new=merge.count(Fate.NEW),
            changed=merge.count(Fate.CHANGED),
            removed=merge.count(Fate.REMOVED),
        )
        agreed = older_places(self.past, merge)
        return recorded(self.log, self.past, current=current, agreed=agreed)

    def _merge(self, out: BinaryIO) -> MergeResult:
        options, name, count = self.options, self.options.target.name, self.staged.count()

        def step(done: int) -> None:
            if count * 100 >= WORTH_SHOWING:  # some 100 bytes each at least
                self.prompts.progress(Step(stage="writing", done=done, total=count))

        if self.folder.look(name) is None:
            content = encoded(_members(options, self.plan.facts, self.exports))
        else:
            with self.folder.open(name) as file:
                content = file.read()
        return Merge(self.staged, out, step, self.plan).run(Document(content, name, FIX))


def _names(options: ImportOptions) -> tuple[str, ...]:
    """Return the names of the first exports, or that of a source."""
    if options.synced is not None:
        return (options.synced.name,)
    return tuple(str(without_surrogates(path.name)) for path in options.exports[:_MAX_FILES])


def _members(
    options: ImportOptions, facts: Mapping[str, object], exports: Sequence[Export]
) -> dict[str, object]:
    """Return the members of a new file beside the reviews."""
    heads = [
        source.head
        for export in exports
        if export.format.name == own.NAME
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
    return {"business": {}}  # the merge fills it
