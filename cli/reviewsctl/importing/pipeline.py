"""One import from beginning to end: recognise, read, stage, merge, replace."""

import contextlib
import datetime
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from reviewsctl.files.folders import Folder, opened
from reviewsctl.importing import notes
from reviewsctl.importing.bounds import MAX_USELESS, MEMORY
from reviewsctl.importing.consent import agree
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.format import Reader, Row
from reviewsctl.importing.identifiers import identifiers
from reviewsctl.importing.locations import located, titles_left
from reviewsctl.importing.merge import Merge, MergeResult
from reviewsctl.importing.order import Order, Outcome, Talk
from reviewsctl.importing.platforms import own
from reviewsctl.importing.platforms.columns import listed
from reviewsctl.importing.readers.archive import DAMAGED
from reviewsctl.importing.readers.json_file import DOWNLOAD, OWN_VALUE, Document
from reviewsctl.importing.readers.parts import Part, parts_of
from reviewsctl.importing.readers.watching import WORTH_SHOWING, Reading
from reviewsctl.importing.recognize import Recognised, chosen
from reviewsctl.importing.review import RowRefusedError, RowSkippedError, RowWithdrawnError
from reviewsctl.importing.scales import unsettled
from reviewsctl.importing.staging import Staging, signals_deferred, staging
from reviewsctl.importing.writing import Draft, draft
from reviewsd.api.jobs import Step

_MAX_SPARING = 50  # sources among which the reviews of rows that are not taken are looked for
MAX_LISTED = 10_000  # refused rows that are kept for --verbose

_MEND = "Mend it, or move it away to begin anew; what is wrong: reviewsctl check"


def run(order: Order, talk: Talk) -> Outcome:
    """Imports.

    Raises:
        ImportRefusedError: It cannot be done; nothing was written.
        SayMoreError: The operator has to decide something first; nothing was written.
    """
    named = ", ".join(map(str, order.exports))
    try:
        return _run(order, talk)
    except DAMAGED as fault:
        raise ImportRefusedError(
            f"{named} is damaged: {fault}", "Download or export it again."
        ) from fault
    except RecursionError as fault:
        raise ImportRefusedError(f"{named}: nested too deeply", DOWNLOAD) from fault
    except MemoryError as fault:
        raise ImportRefusedError(
            f"{named} takes more than {MEMORY // 1024**2} MB of memory: that is no export",
            "Nothing was written.",
        ) from fault
    except sqlite3.Error as fault:
        raise ImportRefusedError(
            f"the reviews could not be put aside in {order.target.parent}: {fault}",
            "Nothing was written. Is there room? It takes three times the size of the reviews.",
        ) from fault
    except OSError as fault:
        raise ImportRefusedError(
            f"{fault.filename or order.target.parent}: {fault.strerror or fault}",
            "Nothing was written. Is there room, and may you write there? Try sudo.",
        ) from fault


@dataclass(frozen=True, slots=True)
class _Export:
    """One of the files that were named."""

    path: Path
    kind: Recognised


def _run(order: Order, talk: Talk) -> Outcome:
    parts: list[Part] = []
    try:
        exports = []
        for path in order.exports:
            own = parts_of(path)
            parts += own
            exports.append(_Export(path, _chosen(order, own)))
        return _import(order, talk, exports)
    finally:
        for part in parts:
            part.close()


def _chosen(order: Order, parts: Sequence[Part]) -> Recognised:
    """What an export is; of several, ``--map`` is for those that nobody knows."""
    mapped = bool(order.rules.columns.mapped)
    if mapped:
        with contextlib.suppress(ImportRefusedError):
            found = chosen(parts, order.wanted)
            if not found.format.generic and (found.format.tabular or len(order.exports) > 1):
                return found
    return chosen(parts, order.wanted, mapped=mapped)


def _import(order: Order, talk: Talk, exports: Sequence[_Export]) -> Outcome:
    formats = list(dict.fromkeys(each.kind.format for each in exports))
    sources = [source for each in exports for source in each.kind.sources]
    outcome = Outcome(formats=formats, files=len(sources))
    _fitting(order, exports)
    for each in exports:
        outcome.says += _recognised(order, each)
    readers = [
        (each.kind.format.name, source, each.kind.format.reader(source.head, order.rules))
        for each in exports
        for source in each.kind.sources
    ]
    talk.say(outcome.says)
    place = order.target.parent
    writable = os.access(place, os.W_OK)
    if not (writable or order.dry_run):
        raise ImportRefusedError(f"you may not write to {place}", "Use sudo, or ask its owner.")
    with opened(place) as folder, staging(place if writable and folder.private else None) as staged:
        reading = Reading("reading", sum(source.part.size for source in sources), talk.tell)
        for name, source, read in readers:
            prefix = f"{source.part.name}: " if len(sources) > 1 else ""
            for where, row in source.rows(reading.watched(source.part)):
                outcome.rows[name] += 1
                taken = _stage(staged, outcome, f"{prefix}{where}", read, row)
                if order.replace and not taken:
                    staged.pass_over(identifiers(row, order.rules.columns))
        outcome.twice = staged.added - staged.count()
        unsettled(order.rules.counts, outcome.refusals)
        order.rules.publicity.settle()
        located(order, staged, outcome, talk)
        _usable(order, staged, outcome)
        kinds = [each.kind for each in exports]
        if order.replace:
            _replaceable(order, staged, outcome, kinds)
        notes.read(order, outcome, kinds, staged.count())
        _merge(order, folder, staged, outcome, talk, exports)
    return outcome


def _stage(staged: Staging, outcome: Outcome, where: str, read: Reader, row: Row) -> bool:
    """Add one row, or note why it is none.

    Returns:
        False where a review that is there may be of this row all the same.
    """
    reason, withdrawn = row.fault, False
    if not reason:
        try:
            staged.add(read(row))
        except RowRefusedError as refusal:
            reason = str(refusal)
        except RowSkippedError as skip:
            outcome.skipped[str(skip)] += 1
            if outcome.skipped.total() <= MAX_LISTED:
                outcome.skips.append((where, str(skip)))
            withdrawn = isinstance(skip, RowWithdrawnError)
        else:
            return True
    if reason:
        outcome.refused += 1
        if len(outcome.refusals) < MAX_LISTED:
            outcome.refusals.append((where, reason))
    useless = outcome.refused + outcome.skipped.total()
    if useless > max(MAX_USELESS, 9 * staged.added):
        raise _useless(outcome, f"not one in ten of its first {useless + staged.added:,} rows")
    return withdrawn


def _fitting(order: Order, exports: Sequence[_Export]) -> None:
    """What the operator says of columns is for tables whose columns are read by their names."""
    rules, kinds = order.rules, [each.kind.format for each in exports]
    generic = any(each.generic for each in kinds)
    said = {
        "--map": (rules.columns.mapped, generic or any(each.tabular for each in kinds)),
        "--source": (rules.columns.source, generic),
        "--scale": (rules.scale.best, generic),
    }
    for option, (value, fits) in said.items():
        if value and not fits:
            raise SayMoreError(
                f"{option} is for tables of nobody in particular; this is {kinds[0].title}",
                f"Leave it out; or read it as a table all the same: --from csv {option} ...",
            )
    partial = next((each.partial for each in kinds if each.partial), "")
    if order.replace and partial:
        raise ImportRefusedError(
            f"--replace would remove the reviews that this export leaves out: {partial}",
            "Import it without --replace.",
        )


def _recognised(order: Order, export: _Export) -> list[str]:
    kind, sources = export.kind.format, export.kind.sources
    writing = sources[0].writing
    files = f", {len(sources):,} files" if len(sources) > 1 else ""
    manner = f" ({writing}{files})" if writing else f" ({files[2:]})" if files else ""
    says = [f"{export.path.name}: {kind.title}{manner}"]
    if export.kind.second is not None:
        second = export.kind.second
        says.append(f"it looks like {second.title} too (--from {second.name})")
    says += kind.says_columns(sources[0].head, order.rules)
    if kind.leaves:
        says.append(f"not taken: {kind.leaves}")
    if kind.verification and not kind.generic:
        says.append(f"verified: {kind.verification}")
    if left := [f"{source.part.name}: {each}" for source in sources for each in source.left]:
        says.append(f"not read: {listed(left)}")
    if ignored := export.kind.ignored:
        more = f" and {len(ignored) - 3:,} more" if len(ignored) > 3 else ""  # noqa: PLR2004
        says.append(f"other files, left alone: {', '.join(ignored[:3])}{more}")
    return says


def _usable(order: Order, staged: Staging, outcome: Outcome) -> None:
    if staged.count():
        return
    if count := order.rules.counts["unrated"]:
        raise SayMoreError(
            f"its {count:,} recommendations have no stars",
            "Say --recommended to take them as 5, or as 1 where it is not recommended",
        )
    if outcome.refused:
        raise _useless(outcome, f"none of its {outcome.refused:,} rows")
    if order.replace:
        raise ImportRefusedError(
            "it holds no reviews, and --replace would leave none", "Nothing was written."
        )


def _replaceable(
    order: Order, staged: Staging, outcome: Outcome, kinds: Sequence[Recognised]
) -> None:
    """What is on another page, or in the export and not taken, is not gone."""
    if why := notes.missing(outcome, kinds):
        raise ImportRefusedError(
            f"--replace would remove the reviews of pages that are not here: {why[0]}",
            "Name all pages in one command; or import these without --replace.",
        )
    untaken = outcome.refused + outcome.skipped.total()
    sources = {place.source for place in staged.places()}
    if untaken and (order.rules.counts["no-id"] or len(sources) > _MAX_SPARING):
        raise ImportRefusedError(
            f"--replace could remove reviews that the export has: {untaken:,} of its rows cannot be "
            "taken, and nothing says which reviews they are",
            "Import it without --replace; or mend these rows first, which --verbose then lists.",
        )
    staged.spare(sources)


def _useless(outcome: Outcome, rows: str) -> ImportRefusedError:
    why = [f"{where}: {reason}" for where, reason in outcome.refusals[:3]] or outcome.skipped
    return ImportRefusedError(
        f"{rows} can be imported ({'; '.join(why)})",
        "Was it recognised as what it is? --from NAME says so; for a table see --map.",
    )


def _merge(  # one step of one import
    order: Order,
    folder: Folder,
    staged: Staging,
    outcome: Outcome,
    talk: Talk,
    exports: Sequence[_Export],
) -> None:
    """Writes the new file, and puts it in place if it says something else."""
    count = staged.count()
    facts = _facts(order, staged, exports)

    def step(done: int) -> None:
        if count * 100 >= WORTH_SHOWING:  # some 100 bytes each at least
            talk.tell(Step(stage="writing", done=done, total=count))

    def merge(out: BinaryIO) -> MergeResult:
        merging = Merge(
            staged,
            out,
            step,
            replaced=staged.places() if order.replace else (),
            facts=facts,
            updated_at=order.now.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        there = folder.look(name)
        if there is None:
            members = _members(order, facts, exports)
            merging.anew(members)
            if members.keys() == {"business"}:
                merging.result.filled = {name: facts[name] for name in facts if facts[name]}
            return merging.result
        with Reading("merging", there.st_size, talk.tell).file(folder.open(name)) as file:
            merging.onto(Document(file, name, _MEND, OWN_VALUE))
        return merging.result

    name = order.target.name
    if order.dry_run:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # no file
            outcome.result = merge(nowhere)
        agree(order, staged, outcome, talk)
    else:
        with draft(folder, name) as new:
            outcome.result = merge(new.file)
            agree(order, staged, outcome, talk)
            if outcome.result.different or folder.look(name) is None:
                try:
                    _commit(order, new, outcome)
                except KeyboardInterrupt:  # too late, once it is done
                    if not outcome.written:
                        raise
    notes.merged(outcome)


def _commit(order: Order, new: Draft, outcome: Outcome) -> None:
    with signals_deferred():
        backup = new.commit()
        outcome.backup = None if backup is None else order.target.with_name(backup)
        outcome.written = True


def _facts(order: Order, staged: Staging, exports: Sequence[_Export]) -> dict[str, object]:
    """What the exports say of the business, where it has one location."""
    names = {each.name for each in staged.places()}
    facts: dict[str, object] = {}
    for export in exports:
        for source in export.kind.sources:
            said = export.kind.format.describes(source.head)
            if source.head.place in ("", *names) and len(names) <= 1:
                facts = {**said, **{name: value for name, value in facts.items() if value}}
    listed = (source.head.title for each in exports for source in each.kind.sources)
    titles = titles_left(order, staged) or list(dict.fromkeys(filter(None, listed)))
    name = order.name or (titles[0] if len(titles) == 1 else facts.get("name"))
    return {**facts, "name": name}


def _members(
    order: Order, facts: dict[str, object], exports: Sequence[_Export]
) -> dict[str, object]:
    """What a new file has beside the reviews."""
    ours = [
        source for each in exports if each.kind.format is own.FORMAT for source in each.kind.sources
    ]
    for source in ours:
        if isinstance(source.head.around.get("business"), dict):
            return dict(source.head.around)
    if not facts.get("name"):
        raise SayMoreError(
            f"there is no {order.target} yet, and the export does not say what the business is "
            "called",
            'Say it with --name "Acme Plumbing"',
        )
    return {"business": {name: value for name, value in facts.items() if value}}
