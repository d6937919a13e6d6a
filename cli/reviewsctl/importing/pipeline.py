"""One import from beginning to end: open, recognize, read, stage, merge, ask, replace, report."""

import contextlib
import dataclasses
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import structs

from reviewsctl.corrections.imports import KnownCorrections
from reviewsctl.corrections.notes import corrected_notes
from reviewsctl.files.folders import Draft, Folder, opened
from reviewsctl.importing import import_log, report
from reviewsctl.importing.business import OF_PLACES, Declared, Facts, business_in, key_of, listing
from reviewsctl.importing.consent import agree, losses
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.exports import check_options, described, opened_exports
from reviewsctl.importing.import_log import Change, ImportLog, recorded
from reviewsctl.importing.locations import keep_location, notes_of_other_places, notes_of_places
from reviewsctl.importing.merge import Merge
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.personal_data import notes_of_contacts, notes_of_replies
from reviewsctl.importing.platforms import own
from reviewsctl.importing.questions import notes, older_places, questions
from reviewsctl.importing.readers.json_file import DOWNLOAD, Document
from reviewsctl.importing.readers.parts import BROKEN
from reviewsctl.importing.recognize import Export
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.review import SHORTENED
from reviewsctl.importing.review_merge import stamp
from reviewsctl.importing.reviews_file import identified, replace, rewrite
from reviewsctl.importing.rows import RowCounts, check_replaceable, check_usable, read_rows
from reviewsctl.importing.same_place import same_places
from reviewsctl.importing.short_names import short_names
from reviewsctl.importing.source_name import named_source, notes_of_verified, origin_of
from reviewsctl.importing.staging import Place, Staging, places_of
from reviewsctl.importing.values import encoded, without_surrogates, word
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
    except BROKEN as fault:
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
        remedy = to_write(folder, "ask the owner of the folder.", fault)
        raise ImportRefusedError(
            f"{fault.filename or folder}: {fault.strerror or fault}",
            f"Nothing was written. {remedy}",
        ) from fault


def _import(options: ImportOptions, prompts: Prompts, exports: Sequence[Export]) -> ImportResult:
    check_options(options, exports)
    place = options.target.parent
    if not (options.dry_run or os.access(place, os.W_OK)):
        raise ImportRefusedError(f"you may not write to {place}", to_write(place, "ask its owner."))
    staged = Staging()
    with _opened(options) as (folder, new):
        corrections = KnownCorrections(place)
        document = corrections.read(folder, options.target.name, options.now)
        business = business_in(document)
        declared = Declared(business.get("locations"))
        there = places_of(review for review, _ in identified(document)) if document else set()
        known = {place.source for place in there}
        places = frozenset(map(key_of, declared.names()))
        settings = dataclasses.replace(options.settings, places=places)
        options = dataclasses.replace(options, settings=settings)
        prompts.described.extend(line for export in exports for line in described(export, options))
        options = named_source(options, exports, prompts, known)
        is_own = any(export.format.name == own.NAME for export in exports)
        log, faults = import_log.load(folder)
        options = _in_zone(options, prompts, log)
        rows = read_rows(options, exports, staged, prompts, corrections, log.ids)
        check_usable(options, staged, rows)
        listings = _listings(exports)
        name, chosen = word(business.get("name")) or "", options.settings.location
        same = same_places(declared, name, rows.titles, listings, chosen)
        declared = Declared(declared.listed, same)
        rows.elsewhere = keep_location(options, rows.titles, staged, prompts, declared)
        if options.replace:
            check_replaceable(options, exports, rows)
        titles = {place.name: rows.titles.get(place.name, "") for place in staged.places()}
        sources = {place.source for place in staged.places()}
        names = short_names(log, options.settings, sources, known, by_owner=is_own)
        changed = staged.shorten(names.shortened)
        if options.settings.names is None:
            rows.notes[SHORTENED] = changed
        log = structs.replace(log, short_names=names.remembered)
        newest = _newest(options, staged, exports)
        plan = MergePlan(
            options=options,
            staged=staged,
            rows=rows,
            facts=_facts(options, titles, listings, declared),
            titles=titles,
            listings=listings,
            declared=declared,
            replaced=_replaced(options, exports, rows, staged, there, declared),
            newest=newest,
            log=log,
            older=import_log.older_than(newest, log),
            exports=exports,
            origin=origin_of(exports, options.settings),
            corrections=corrections,
        )
        merge = _merged(plan, prompts, document, new)
    if names.shortened or is_own or merge.count(Fate.SHORT_NAME):
        merge.corrected += notes_of_replies(merge.naming_replies)
    merge.corrected += names.notes(merge)
    return ImportResult(
        formats=list(dict.fromkeys(export.format for export in exports)),
        files=sum(len(export.sources) for export in exports),
        rows=rows,
        merge=merge,
        notes=_notes(plan, merge, faults),
    )


def _notes(plan: MergePlan, merge: MergeResult, faults: Sequence[str]) -> list[str]:
    """Return all notes of an import, with the faults of its log."""
    options, corrections = plan.options, plan.corrections
    others_are = options.settings.source in merge.verified
    is_table = any(export.format.tabular for export in plan.exports)
    return [
        *report.notes_of_rows(plan.exports, plan.rows, dry_run=options.dry_run),
        *faults,
        *merge.notes,
        *corrected_notes(merge),
        *merge.corrected,
        *notes_of_verified(plan.rows.notes["unsaid"], plan.origin, others_are=others_are),
        *notes_of_contacts(filter(corrections.will_show_words, merge.contacts)),
        *notes_of_other_places(plan, merge),
        *notes_of_places(plan, merge),
        *report.notes_of_merge(plan, merge, may_remove=is_table and not options.replace),
    ]


def _in_zone(options: ImportOptions, prompts: Prompts, log: ImportLog) -> ImportOptions:
    """Return the options with the time zone of earlier imports, unless this one has its own."""
    settings = options.settings.in_zone(log.timezone, options.now)
    if settings.timezone is options.settings.timezone:
        return options
    prompts.described.append(f"days: those of {log.timezone}, as before (--set timezone)")
    return dataclasses.replace(options, settings=settings)


def remove(options: ImportOptions, prompts: Prompts, places: Collection[Place]) -> MergeResult:
    """Remove the reviews of some locations, without an export.

    Raises:
        ImportRefusedError: They are not to be removed, or the file cannot be written.
    """
    with _opened(options) as (folder, new):
        corrections = KnownCorrections(options.target.parent)
        plan = MergePlan(
            options=options,
            replaced=dict.fromkeys(places, ""),
            log=import_log.load(folder)[0],
            corrections=corrections,
        )
        there = corrections.read(folder, options.target.name, options.now)
        return _merged(plan, prompts, there, new)


def _newest(options: ImportOptions, staged: Staging, exports: Sequence[Export]) -> dict[Place, str]:
    """Return the newest day of the reviews of each location, by which an export is older than another.

    An excerpt says nothing of its age, and neither does the table that its owner keeps: he may have removed the newest
    row.
    """
    is_table = all(export.format.generic for export in exports)
    synced = options.synced
    is_current = synced is not None and (synced.is_current or (is_table and synced.is_one_file))
    if is_current or any(export.format.partial for export in exports):
        return {}
    return staged.newest(options.now.date().isoformat())


def _replaced(
    options: ImportOptions,
    exports: Sequence[Export],
    rows: RowCounts,
    staged: Staging,
    there: Collection[Place],
    declared: Declared,
) -> dict[Place, str]:
    """Return the locations that ``--replace`` follows, each with the day before which it removes nothing.

    The export may begin there, unless the platform's own total says that it is complete. A location of the export is
    followed by all names that the file has for it.
    """
    if not options.replace:
        return {}

    def key(place: Place) -> Place:
        return Place(place.source, declared.key(place.name))

    oldest: dict[Place, str] = {}
    for place, day in staged.oldest().items():
        oldest[key(place)] = min(day, oldest.get(key(place), day))
    is_current = options.synced is not None and options.synced.is_current
    if is_current or (
        len(oldest) == 1
        and all(
            _is_complete(export, rows.rows[export.format.name] - rows.twice) for export in exports
        )
    ):
        oldest = dict.fromkeys(oldest, "")
    places = dict.fromkeys((*staged.places(), *sorted(there)))
    return {place: oldest[key(place)] for place in places if key(place) in oldest}


def _is_complete(export: Export, count: int) -> bool:
    total = export.format.total([source.head for source in export.sources])
    return total is not None and count >= total


def _listings(exports: Sequence[Export]) -> dict[str, Facts]:
    """Return the locations as the exports describe them, by their names there."""
    locations = [source.head.location for export in exports for source in export.sources]
    listings: dict[str, Facts] = {}
    for location in locations:
        earlier = listings.get(location.id, {})
        listings[location.id] = {
            **listing(location.listing),
            **{name: value for name, value in earlier.items() if value},
        }
    return listings


def _facts(
    options: ImportOptions,
    titles: Mapping[str, str],
    listings: Mapping[str, Facts],
    declared: Declared,
) -> dict[str, object]:
    """Return what the exports say of the business, where they have one location.

    Its address and phone are those of the business unless that declares several.

    The titles are those of the locations that are imported, by their names.
    """
    own = [listings.get(name, {}) for name in titles]
    categories = {facts.get("category") for facts in own}
    facts = (
        own[0]
        if len(own) == 1
        else {"category": categories.pop() if len(categories) == 1 else None}
    )
    if len(declared.listed) > 1:
        facts = {name: value for name, value in facts.items() if name not in OF_PLACES}
    used = {*filter(None, titles.values())} or {
        name for each in listings.values() if isinstance(name := each.get("name"), str)
    }
    name = options.settings.name or (used.pop() if len(used) == 1 else facts.get("name"))
    return {**facts, "name": name}


_MAX_FILES: Final = 3  # names of exports in the import log


@contextlib.contextmanager
def _opened(options: ImportOptions) -> Iterator[tuple[Folder, Draft | None]]:
    """Open the data folder, with a draft of reviews.json; None for a dry run."""
    with opened(options.target.parent) as folder, contextlib.ExitStack() as stack:
        draft = folder.draft(options.target.name)
        yield folder, None if options.dry_run else stack.enter_context(draft)


def _merged(
    plan: MergePlan, prompts: Prompts, there: Document | None, new: Draft | None
) -> MergeResult:
    """Merge, ask what may be a mistake, and put the new file in place if it says something else."""
    target, now = plan.options.target, plan.options.now
    document = there or Document(encoded(_members(plan)), target.name)
    merge = Merge(plan).run(document)
    _ask(plan, prompts, merge)
    if new is None:
        return merge
    rewrite(new.file, document, merge.records, merge.members, stamp(now))
    is_taken_out = plan.corrections.take_out_erased(target, new, now)
    is_change = merge.is_different or new.before is None
    merge.is_written = is_change or is_taken_out
    merge.backup = replace(
        new,
        _recorded(plan, merge, is_change=is_change),
        now,
        is_change=is_change,
        # first: after a crash between both, the new rows are hidden at least
        first=partial(plan.corrections.write, new.folder, target, now),
    )
    return merge


def _members(plan: MergePlan) -> dict[str, object]:
    """Return the members of a new file beside the reviews."""
    exports = (export for export in plan.exports if export.format.name == own.NAME)
    if around := own.around(source.head for export in exports for source in export.sources):
        return dict(around)
    if not plan.facts.get("name"):
        raise SayMoreError(
            f"there is no {plan.options.target} yet, and the export does not say what the business is called",
            'Say it with --set "name=Acme Plumbing"',
        )
    return {"business": {}}  # the merge fills it


def _ask(plan: MergePlan, prompts: Prompts, merge: MergeResult) -> None:
    options = plan.options
    if options.synced is not None:
        options.synced.check(merge, plan.replaced)
    prompts.show(list(losses(options, merge)))
    can_ask = prompts.confirm is not None and not options.dry_run
    merge.notes += agree(options, questions(plan, merge, can_ask=can_ask), prompts)
    merge.notes += notes(plan, merge)
    merge.corrected = plan.corrections.pass_on(merge)


def _recorded(plan: MergePlan, merge: MergeResult, *, is_change: bool) -> ImportLog:
    """Return the import log with this import; what the owner exported says nothing of a platform."""
    log = structs.replace(
        plan.log,
        reviews=merge.log_rows,
        ids={**plan.log.ids, **plan.rows.ids, **merge.ids},
        timezone=str(plan.options.settings.timezone or plan.log.timezone),
        change=_change(plan, merge) if is_change else plan.log.change,
    )
    return (
        log if plan.by_owner else recorded(log, plan.newest, agreed=older_places(plan.older, merge))
    )


def _change(plan: MergePlan, merge: MergeResult) -> Change:
    """Return what this import changes, for the list of what can be undone."""
    synced, now = plan.options.synced, plan.options.now
    names = [str(without_surrogates(path.name)) for path in plan.options.exports[:_MAX_FILES]]
    sources = ", ".join(sorted({place.source for place in plan.staged.places()}))
    exports = ", ".join(names) if synced is None else synced.name
    counts = ((Fate.NEW, "new"), (Fate.CHANGED, "changed"), (Fate.REMOVED, "removed"))
    parts = [", ".join(f"{merge.count(fate):,} {word}" for fate, word in counts)]
    parts += [f"your business: {', '.join(sorted(merge.filled))}"] if merge.filled else []
    return Change(
        at=now,
        text=f"the {'import' if synced is None else 'sync'} of {exports}"
        f"{sources and f' ({sources})'}, {stamp(now)}: {'; '.join(parts)}",
        source="" if synced is None else synced.name,
    )
