"""Replaces reviews.json by what it and an export are together."""

import contextlib
import os
from dataclasses import dataclass
from typing import BinaryIO, Final

from msgspec import structs

from reviewsctl.files.folders import Folder
from reviewsctl.importing import history, import_log
from reviewsctl.importing.consent import agree, losses, older_places, questions
from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.import_log import ImportLog, PastImport, recorded
from reviewsctl.importing.merge import Merge, MergePlan
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.reviews_file import draft
from reviewsctl.importing.staging import Staging
from reviewsctl.importing.values import encoded, without_surrogates
from reviewsctl.terminal.interruption import uninterrupted
from reviewsd.api.places import KEPT_FOLDER

_MAX_FILES: Final = 3  # names of exports in the import log

FIX: Final = "Fix it, or move it away to start over; what is wrong: reviewsctl check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Replaces reviews.json by what it and the export are together."""

    options: ImportOptions
    prompts: Prompts
    folder: Folder
    staged: Staging
    log: ImportLog
    plan: MergePlan

    def write(self) -> MergeResult:
        """Merge, ask what may be a mistake, and put the new file in place if it says something else."""
        if self.options.dry_run:
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # no file
                merge = self._merge(nowhere)
            self._ask(merge)
            return merge
        folder, name = self.folder, self.options.target.name
        with draft(folder, name) as new, contextlib.ExitStack() as stack:
            merge = self._merge(new.file)
            self._ask(merge)
            own_folder = stack.enter_context(folder.folder(KEPT_FOLDER, make=True))
            log = stack.enter_context(import_log.draft(own_folder, self._recorded(merge)))
            keeping = None
            if merge.is_different or folder.look(name) is None:
                now = self.options.now
                keeping = stack.enter_context(history.keeping(folder, name, new.draft, log, now))
                merge.is_written, merge.backup = True, keeping.path
            with uninterrupted():
                if keeping is None:
                    new.check()
                else:
                    new.commit(keeping.put_old)
                import_log.put(log, folder.look(name))
                if keeping is not None:
                    keeping.put_new()
        return merge

    def _ask(self, merge: MergeResult) -> None:
        if self.options.synced is not None:
            self.options.synced.check(merge, self.plan.replaced)
        self.prompts.show(list(losses(self.options, merge)))
        can_ask = self.prompts.confirm is not None and not self.options.dry_run
        doubts = questions(self.options, self.plan, self.staged, self.log, merge, can_ask=can_ask)
        merge.notes += agree(self.options, doubts, self.prompts)

    def _recorded(self, merge: MergeResult) -> ImportLog:
        """Return the import log with this import; what the owner exported says nothing of a platform."""
        log = structs.replace(self.log, reviews=merge.written)
        if self.plan.by_owner:
            return log
        current = PastImport(
            at=self.options.now.replace(microsecond=0),
            places=tuple(self.staged.places())[: import_log.MAX_PLACES],
            files=_names(self.options),
            synced=self.options.synced is not None,
            new=merge.count(Fate.NEW),
            changed=merge.count(Fate.CHANGED),
            removed=merge.count(Fate.REMOVED),
        )
        agreed = older_places(self.plan.older, merge)
        return recorded(log, self.plan.newest, current=current, agreed=agreed)

    def _merge(self, out: BinaryIO) -> MergeResult:
        name = self.options.target.name
        if self.folder.look(name) is None:
            content = encoded(self._members())
        else:
            with self.folder.open(name) as file:
                content = file.read()
        return Merge(self.staged, out, self.plan).run(Document(content, name, FIX))

    def _members(self) -> dict[str, object]:
        """Return the members of a new file beside the reviews."""
        if self.plan.around:
            return dict(self.plan.around)
        if not self.plan.facts.get("name"):
            raise SayMoreError(
                f"there is no {self.options.target} yet, and the export does not say what the business is "
                "called",
                'Say it with --set "name=Acme Plumbing"',
            )
        return {"business": {}}  # the merge fills it


def _names(options: ImportOptions) -> tuple[str, ...]:
    """Return the names of the first exports, or that of a source."""
    if options.synced is not None:
        return (options.synced.name,)
    return tuple(str(without_surrogates(path.name)) for path in options.exports[:_MAX_FILES])
