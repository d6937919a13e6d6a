"""One run of one source: look, read, guard, import, and what is known of it afterwards (sources.md 3)."""

import contextlib
import dataclasses
import datetime
import glob
import hashlib
import itertools
import shlex
import shutil
import signal
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from reviewsctl.corrections.notes import corrected_notes
from reviewsctl.importing.consent import unannounced
from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError, SayMoreError
from reviewsctl.importing.options import ImportOptions, Prompts, SyncedRead
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.pipeline import remove, run
from reviewsctl.importing.questions import is_loss
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.rows import RowCounts
from reviewsctl.importing.settings import SETTINGS, parsed
from reviewsctl.importing.staging import Place
from reviewsctl.sources import schedule
from reviewsctl.sources.faults import FileGrowsError, ReadFailedError, SourceStoppedError
from reviewsctl.sources.local_files import QUIET_SECONDS
from reviewsctl.sources.paging import Download, SourceReader
from reviewsctl.sources.state import SourceState
from reviewsd.api.texts import counted, first_of
from reviewsd.config.source_schema import ReviewSource

MAX_SECONDS: Final = 1800
"""For the reading of one source."""

_NAMED: Final = 3  # refused rows in the state
_CORRECT: Final = "Correct such rows where they are written, if they are yours; a review of one that was imported before stays as it is."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of ``reviewsctl sync`` for each source."""

    due: bool = False
    """Only sources that are due, for a timer; else a person runs it."""
    full: bool = False
    dry_run: bool = False
    accept_loss: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a run."""

    name: str
    state: SourceState
    is_unchanged: bool = False
    waiting: str = ""
    """Why it is not read yet, though nothing is wrong."""
    merge: MergeResult | None = None
    result: ImportResult | None = None
    """The whole result; None where there was no import."""
    shown: Sequence[str] = ()
    """Lines of a dry run: how its files are read."""
    removed_for_age: int = 0
    """Reviews that left since the source could not be read for too long."""
    removal_at: datetime.datetime | None = None
    """The time after which a read removes the reviews that are missing."""
    warning: str = ""
    requests: int = 0

    @property
    def is_notable(self) -> bool:
        """Whether the operator is told of it even with ``--quiet``; refused rows are told when they are read."""
        if self.waiting:
            return False
        is_fault = not self.state.is_read or (self.state.state == "warn" and not self.is_unchanged)
        return is_fault or bool(self.warning or self.notes)

    @property
    def notes(self) -> Sequence[str]:
        """Notes on corrections that pass to edited reviews (corrections.md C25 to C27), and on what an import shows before."""
        merge = self.merge
        if merge is None:
            return ()
        edited = corrected_notes(merge) if merge.edited_corrected else ()
        return [*edited, *merge.corrected, *unannounced(merge)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRun:
    """One run.

    A fault of the source ends in the state, a fault of ours is raised.
    """

    source: ReviewSource
    before: SourceState
    target: Path
    """reviews.json."""
    spool: Path
    """A folder of its own, deleted in the end."""
    options: RunOptions
    now: datetime.datetime
    max_seconds: float = MAX_SECONDS

    def run(self, reader: SourceReader) -> Outcome:
        """Read the source and import what it has."""
        full = (
            self.options.full
            or self.before.settings != self._settings()
            or (
                self.source.type != "file"
                and schedule.is_full_due(self.source, self.before, self.now)
            )
        )
        look = "" if self.before.read_at is None else self.before.look
        shutil.rmtree(self.spool, ignore_errors=True)
        self.spool.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.spool.mkdir(mode=0o700)
        try:
            with _time_limit(self.max_seconds):
                download = reader.read(self.spool, look, full=full)
            if download is None:
                before = self.before
                refused = (before.detail, before.remedy) if before.state == "warn" else ("", "")
                unchanged = self._succeeded(before, None, refused)
                return dataclasses.replace(unchanged, is_unchanged=True)
            return self._imported(download)
        except FileGrowsError as fault:
            again = self.now + datetime.timedelta(seconds=QUIET_SECONDS)
            after = replace(self.before, tried_at=self.now, next_at=again)
            return Outcome(name=self.source.name, state=after, waiting=fault.detail)
        except ReadFailedError as fault:
            return self.failed(fault)
        finally:
            shutil.rmtree(self.spool, ignore_errors=True)

    def _imported(self, download: Download) -> Outcome:
        """Import a download.

        Raises:
            ReadFailedError: A guard holds it up.
        """
        if download.rows == 0:
            return self._empty(download)
        min_misses = self.source.gone if isinstance(self.source.gone, int) else 1
        rule = schedule.GoneRule(
            min_misses, self.before.missing, self.now, at_once=self.options.accept_loss
        )
        places: list[Place] = []

        def check(result: MergeResult, in_export: Collection[Place]) -> None:
            """Refuse an import, before it is written, that would lose more than the source may."""
            places.extend(in_export)
            rule.keep(result.missing)
            total = sum(result.there.get(place, 0) for place in in_export)
            absent = sum(result.removed.values()) + len(rule.missing)
            is_or_are = "is" if absent == 1 else "are"
            if not self.options.accept_loss and is_loss(
                absent, total, int(self.source.max_loss.rstrip("%"))
            ):
                raise SourceStoppedError(
                    f"{absent:,} of {counted(total, 'review')} {is_or_are} missing, more than max_loss"
                    f" ({self.source.max_loss})",
                    f"If that is right: reviewsctl sync {self.source.name} --accept-loss",
                )

        synced = SyncedRead(
            name=self.source.name,
            is_current=download.is_current,
            is_one_file=self.source.path is not None and not glob.has_magic(self.source.path),
            by_hand=self._by_hand(download.origin),
            is_gone=rule,
            check=check,
        )
        options = self._import_options(download.files, synced)
        prompts = _silent()
        try:
            result = run(options, prompts)
        except NoReviewsError:
            return self._empty(download)
        except SayMoreError as fault:
            raise SourceStoppedError(fault.detail, fault.remedy) from fault
        except ImportRefusedError as fault:
            raise ReadFailedError(fault.detail, fault.remedy) from fault
        merge = result.merge
        count = sum(map(merge.count, (Fate.NEW, Fate.CHANGED, Fate.UNCHANGED)))
        after = replace(
            self.before,
            look=download.look,
            settings=self._settings(),
            reviews=count,
            places=tuple((place.source, place.name) for place in places),
            missing=rule.missing,
            read_at=self.now,
        )
        refused = _refused(result.rows, may_remove=options.replace)
        succeeded = self._succeeded(after, merge, refused)
        shown = prompts.described if options.dry_run else ()
        return dataclasses.replace(succeeded, result=result, shown=shown)

    def _import_options(self, exports: Sequence[Path], synced: SyncedRead | None) -> ImportOptions:
        """Return the options of the import of files.

        Raises:
            SourceStoppedError: The configuration has an option that means nothing.
        """
        section = self.source.import_
        pairs, columns = self._pairs()
        try:
            settings = parsed(pairs, self.now, columns=columns, source=section.source)
        except ImportRefusedError as fault:
            raise SourceStoppedError(f"import: {fault.detail}", fault.remedy) from fault
        return ImportOptions(
            exports=exports,
            target=self.target,
            format_name=section.from_,
            settings=settings,
            replace=self.source.gone != "keep",
            yes=False,
            dry_run=self.options.dry_run,
            now=self.now,
            synced=synced,
        )

    def _pairs(self) -> tuple[list[str], list[str]]:
        """Return the options of its imports: the values of ``--set`` and of ``--map``."""
        section = self.source.import_
        words = {True: "yes", False: "no"}
        pairs = [
            f"{name}={words.get(value, value)}"
            for name in SETTINGS
            if (value := getattr(section, name)) is not None
        ]
        pairs += [f"public={column}={value}" for column, value in section.public.items()]
        return pairs, [f"{name}={column}" for name, column in section.map.items()]

    def _settings(self) -> str:
        """Return the digest of the settings of its imports."""
        section = self.source.import_
        settings = (section.from_, section.source, *self._pairs())
        return hashlib.blake2b(msgspec.json.encode(settings), digest_size=8).hexdigest()

    def _by_hand(self, file: str) -> str:
        """Return the command that imports a file as a run would."""
        section = self.source.import_
        pairs, columns = self._pairs()
        options = [("--from", section.from_)] if section.from_ != "auto" else []
        options += [("--source", section.source)] if section.source else []
        options += [("--map", column) for column in columns] + [("--set", pair) for pair in pairs]
        options.append(("--data", str(self.target.parent)))
        return shlex.join(["reviewsctl", "import", file, *itertools.chain(*options)])

    def _empty(self, download: Download) -> Outcome:
        """A read without reviews: right for a new source, else a loss that a person has to accept."""
        places = [Place(*place) for place in self.before.places]
        merge = None
        if self.before.reviews or places:
            if not self.options.accept_loss:
                raise SourceStoppedError(
                    f"it has no reviews any more, and had {self.before.reviews:,}",
                    f"If that is right: reviewsctl sync {self.source.name} --accept-loss",
                )
            merge = self._remove(places)
        after = replace(
            self.before,
            look=download.look,
            settings=self._settings(),
            reviews=0,
            places=(),
            missing={},
            read_at=self.now,
        )
        return self._succeeded(after, merge)

    def _remove(self, places: Collection[Place]) -> MergeResult:
        """Remove all reviews of the source, as its settings or the operator want it."""
        options = dataclasses.replace(self._import_options((), None), yes=True)
        try:
            return remove(options, _silent(), places)
        except ImportRefusedError as fault:
            raise ReadFailedError(fault.detail, fault.remedy) from fault

    def _succeeded(
        self,
        after: SourceState,
        merge: MergeResult | None,
        refused: tuple[str, str] = ("", ""),
    ) -> Outcome:
        """Return the outcome of a run that has read the source; ``refused`` are the detail and the remedy of rows."""
        detail, remedy = refused
        after = replace(
            after,
            state="warn" if detail else "ok",
            detail=detail,
            remedy=remedy,
            failures=0,
            failing_since=None,
            tried_at=self.now,
            confirmed_at=self.now,
        )
        removal_at = schedule.removal_time(self.source, after)
        return dataclasses.replace(self._outcome(after), merge=merge, removal_at=removal_at)

    def failed(self, fault: ReadFailedError) -> Outcome:
        """Return the outcome of a failed run; reviews that are too old leave."""
        after = replace(
            self.before,
            state="stopped" if fault.is_stop else "failed",
            # which rows were refused is known only if it is read again
            look="" if self.before.state == "warn" else self.before.look,
            detail=fault.detail,
            remedy=fault.remedy,
            failures=max(1, self.before.failures + self.options.due),
            failing_since=self.before.failing_since or (self.now if self.options.due else None),
            tried_at=self.now,
        )
        if not schedule.is_expired(self.source, after, self.now):
            return self._outcome(after)
        try:
            removed = self._remove([Place(*place) for place in after.places])
        except ReadFailedError as second:
            return self._outcome(replace(after, detail=f"{after.detail}; {second.detail}"))
        after = replace(after, reviews=0, places=(), missing={}, look="")
        return dataclasses.replace(
            self._outcome(after), removed_for_age=removed.count(Fate.REMOVED)
        )

    def _outcome(self, after: SourceState) -> Outcome:
        next_at = self.before.next_at
        is_put_off = self.options.due or not after.failures  # not by a failure by hand
        if is_put_off or next_at is None or next_at <= self.now:
            next_at = schedule.next_run(self.source, after, self.now)
        after = replace(after, next_at=next_at)
        return Outcome(
            name=self.source.name,
            state=after,
            warning=schedule.age_warning(self.source, after, self.now),
        )


def _silent() -> Prompts:
    """Return prompts that show and ask nothing; what would be lost is in the list of reviews."""
    return Prompts(progress=lambda _: None, show=lambda _: None, choose=None)


def _refused(rows: RowCounts, *, may_remove: bool) -> tuple[str, str]:
    """Return which rows were refused with what follows, and the remedy; both empty where none was."""
    if not rows.refused:
        return "", ""
    named = first_of((f"{where}: {reason}" for where, reason in rows.refusals), _NAMED)
    was_or_were = "was" if rows.refused == 1 else "were"
    removal = ", so no review is removed" if may_remove and rows.unidentified else ""
    return (
        f"{rows.refused:,} of {counted(rows.rows.total(), 'row')} {was_or_were} refused{removal} ({named})",
        _CORRECT,
    )


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """End a read that takes too long, also one whose server sends a byte now and then.

    Raises:
        ReadFailedError: The block took so many seconds.
    """

    def stop(*_: object) -> None:
        raise ReadFailedError(f"it could not be read within {seconds / 60:.0f} minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
