"""One import from beginning to end: open, recognize, read, stage, merge, ask, replace, report."""

import os
from collections.abc import Collection, Mapping, Sequence

from reviewsctl.corrections.imports import KnownCorrections
from reviewsctl.files.folders import opened
from reviewsctl.importing import import_log, report
from reviewsctl.importing.consent import keep_location
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.exports import check_options, described, opened_exports
from reviewsctl.importing.locations import declared_in
from reviewsctl.importing.merge import IsGone, MergePlan
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.outcomes import MergeResult
from reviewsctl.importing.platforms import own
from reviewsctl.importing.readers.json_file import DOWNLOAD
from reviewsctl.importing.readers.parts import DAMAGED
from reviewsctl.importing.recognize import Export
from reviewsctl.importing.replacement import FIX, Replacement
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.rows import (
    RowCounts,
    check_replaceable,
    check_usable,
    read_rows,
    readers_of,
)
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.terminal.remedies import to_write


def run(options: ImportOptions, prompts: Prompts) -> ImportResult:
    """Import.

    Raises:
        ImportRefusedError: It cannot be done; nothing was written.
        SayMoreError: The operator has to decide something first; nothing was written.
    """
    exports = ", ".join(map(str, options.exports))
    folder = options.target.parent
    try:
        return _import(options, prompts, opened_exports(options))
    except DAMAGED as fault:
        raise ImportRefusedError(
            f"{exports} is damaged: {fault}", "Download or export it again."
        ) from fault
    except RecursionError as fault:
        raise ImportRefusedError(f"{exports}: nested too deeply", DOWNLOAD) from fault
    except MemoryError as fault:
        raise ImportRefusedError(
            f"{exports} takes more memory than an import may have: that is no export",
            "Nothing was written.",
        ) from fault
    except OSError as fault:
        remedy = to_write(folder, "ask the owner of the folder.")
        raise ImportRefusedError(
            f"{fault.filename or folder}: {fault.strerror or fault}",
            f"Nothing was written. Is there room, and may you write there? {remedy}",
        ) from fault


def _import(options: ImportOptions, prompts: Prompts, exports: Sequence[Export]) -> ImportResult:
    check_options(options, exports)
    lines = [line for export in exports for line in described(export, options)]
    readers = readers_of(options, exports)
    prompts.show(lines)
    place = options.target.parent
    if not (options.dry_run or os.access(place, os.W_OK)):
        raise ImportRefusedError(f"you may not write to {place}", to_write(place, "ask its owner."))
    staged = Staging()
    with opened(place) as folder:
        corrections = KnownCorrections(place)
        rows = read_rows(readers, staged, prompts, corrections)
        twice = staged.added - len(staged)
        check_usable(options, staged, rows)
        declared = declared_in(folder, options.target.name, FIX)
        elsewhere = keep_location(options, rows.titles, staged, prompts, declared)
        log, faults = import_log.load(folder)
        if options.replace:
            check_replaceable(options, exports, rows)
        titles = {place.name: rows.titles.get(place.name, "") for place in staged.places()}
        newest = _newest(options, staged, exports)
        own_exports = [export for export in exports if export.format.name == own.NAME]
        plan = MergePlan(
            now=options.now,
            facts=_facts(options, titles, exports),
            titles=titles,
            replaced=_replaced(options, exports, rows, staged, twice),
            is_gone=_is_gone(options, rows),
            newest=newest,
            older=import_log.older_than(newest, log),
            written=log.reviews,
            full_names=options.settings.names == "full",
            by_owner=bool(own_exports),
            around=own.around(source.head for export in own_exports for source in export.sources),
        )
        notes = report.notes_of_rows(exports, rows, twice=twice, elsewhere=elsewhere)
        step = Replacement(
            options=options, prompts=prompts, folder=folder, staged=staged, log=log, plan=plan
        )
        merge = step.write()
    notes += [*faults, *merge.notes, *corrections.notes()]
    return ImportResult(
        formats=list(dict.fromkeys(export.format for export in exports)),
        files=sum(len(export.sources) for export in exports),
        rows=rows,
        merge=merge,
        twice=twice,
        elsewhere=elsewhere,
        notes=[*notes, *report.notes_of_merge(merge)],
    )


def remove(options: ImportOptions, prompts: Prompts, places: Collection[Place]) -> MergeResult:
    """Remove the reviews of some locations, without an export.

    Raises:
        ImportRefusedError: They are not to be removed, or the file cannot be written.
    """
    place = options.target.parent
    staged = Staging()
    with opened(place) as folder:
        log, _ = import_log.load(folder)
        step = Replacement(
            options=options,
            prompts=prompts,
            folder=folder,
            staged=staged,
            log=log,
            plan=MergePlan(
                now=options.now, replaced=dict.fromkeys(places, ""), written=log.reviews
            ),
        )
        return step.write()


def _is_gone(options: ImportOptions, rows: RowCounts) -> IsGone | None:
    """Return what decides about reviews that the export does not have: none is gone if a refused row may be of it."""
    if rows.refused:
        return lambda _: False
    return None if options.synced is None else options.synced.is_gone


def _newest(options: ImportOptions, staged: Staging, exports: Sequence[Export]) -> dict[Place, int]:
    """Return the newest time in the rows of each location; an excerpt says nothing of its age."""
    is_current = options.synced is not None and options.synced.is_current
    if is_current or any(export.format.partial for export in exports):
        return {}
    extents = staged.extents(int(options.now.timestamp() * 1000))
    return {place: extent.newest for place, extent in extents.items() if extent.newest}


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


def _facts(
    options: ImportOptions, titles: Mapping[str, str], exports: Sequence[Export]
) -> dict[str, object]:
    """Return what the exports say of the business, where it has one location.

    Args:
        options: The options of the import.
        titles: The titles of the locations that are imported, by their names.
        exports: The exports.
    """
    facts: dict[str, object] = {}
    heads = [source.head for export in exports for source in export.sources]
    for export in exports:
        for source in export.sources:
            described = export.format.describes(source.head)
            if source.head.place in ("", *titles) and len(titles) <= 1:
                facts = {**described, **{name: value for name, value in facts.items() if value}}
    used = {*filter(None, titles.values())} or {*filter(None, (head.title for head in heads))}
    name = options.settings.name or (used.pop() if len(used) == 1 else facts.get("name"))
    return {**facts, "name": name}
