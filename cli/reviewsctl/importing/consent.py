"""Asks the operator about possible mistakes before anything is written.

What goes or is overwritten is listed. What may be a mistake is a question: ``--yes`` answers all of them, and
without a terminal it is a refusal.
"""

import datetime
import shlex
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from reviewsctl.importing.business import Likeness, likeness
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.locations import leaving, mistyped, mixed_up
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.outcomes import Change, Fate, MergeResult
from reviewsctl.importing.settings import NO_SOURCE
from reviewsctl.importing.source_name import options_of
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.importing.values import listed, shown
from reviewsd.api.platforms import PLATFORMS
from reviewsd.api.spelling import nearest
from reviewsd.api.texts import counted, first_of, printable

MAX_LOSS: Final = 10
"""The percentage of a location's reviews that may go without a question."""

_FEW, _FEW_PERCENT = 5, 20
"""Of so few missing reviews the percentage is larger; two may always be."""

_MIN_OTHERS: Final = 3  # reviews
_MIN_DOUBLES: Final = 3
"""Reviews of a source that the file has; fewer are of customers who write to two sites."""

_ALIKE: Final = 0.8  # how alike the names of two sources are that are one
_LISTED: Final = 20  # removed and returned reviews that are listed
_SHOWN: Final = 3  # reviews in a note


Question = tuple[str, str]
"""A possible mistake, and the way to answer it on the command line; "" if it is no question, but a note."""


def agree(options: ImportOptions, questions: Iterable[Question], prompts: Prompts) -> list[str]:
    """Ask the operator.

    Returns:
        Notes, and those on the questions of a dry run; that of a sync stops as the sync would.

    Raises:
        SayMoreError: There is no terminal to ask at.
        ImportRefusedError: The operator does not want it.
    """
    notes = []
    for text, remedy in questions:
        if not remedy:
            notes.append(text)
            continue
        if options.dry_run and options.synced is None:
            notes.append(f"{text} (without --dry-run this is a question; --yes answers it)")
            continue
        if prompts.confirm is None and not options.yes:
            raise SayMoreError(text, remedy)
        prompts.show([text])
        confirm = None if options.yes else prompts.confirm
        if confirm is not None and not confirm("Import it all the same?"):
            raise ImportRefusedError("you answered no", f"Nothing was written. {remedy}")
    return notes


_LOSSES: Final = {
    Fate.REMOVED: (
        "{verb} removed, as they are not public, or not in the export",
        _LISTED,
    ),
    Fate.REPLY_REMOVED: ("owner replies that the platform no longer has, and that go", None),
    Fate.OVERWRITTEN: ("overwritten, though edited by hand since the last import", None),
    Fate.RETURNED: ("back, though removed by hand since the last import", _LISTED),
}
"""The fates that are shown before anything is written, with the number of reviews that are listed."""


def losses(options: ImportOptions, result: MergeResult) -> Iterator[str]:
    """Yield what goes, is overwritten or comes back, for the operator."""
    verb = "would be" if options.dry_run else "to be"
    for fate, (title, most) in _LOSSES.items():
        if count := result.count(fate):
            changes = result.changes[fate][:most]
            yield f"{title.format(verb=verb)}: {counted(count, 'review')}"
            yield from (f"  {line(fate, change)}" for change in changes)
            if more := count - len(changes):
                yield f"  and {more:,} more"


def unannounced(result: MergeResult) -> Iterator[str]:
    """Yield a note on what is overwritten, comes back or loses its reply, for a sync, which shows nothing before.

    No author is named, as a sync writes notes to the journal.
    """
    for fate, (title, _) in _LOSSES.items():
        if fate is not Fate.REMOVED and (count := result.count(fate)):
            changes = (
                line(fate, replace(change, review=change.without_author))
                for change in result.changes[fate]
            )
            yield f"{title}: {counted(count, 'review')} ({first_of(changes, _SHOWN)})"


def questions(plan: MergePlan, result: MergeResult, *, can_ask: bool) -> Iterator[Question]:
    """Find what may be a mistake; where the operator can be asked, all that is removed is."""
    options, staged = plan.options, plan.staged
    older = older_places(plan.older, result)
    yes = f"once by hand: {options.synced.by_hand} --yes" if options.synced else "--yes"
    replace_ = "gone: 1" if options.synced else "--replace"
    warnings = (
        (
            mistyped(plan, result),
            f"Correct it in the table; if it is a place of its own: {yes}",
        ),
        (
            "" if options.synced else _other_origin(plan, result),
            f"If they were written there: {options_of(plan.origin)}; if not: --yes",
        ),
        leaving(plan, result, yes),
        mixed_up(plan, result, yes),
        (
            _without_ids(plan, result),
            f"Name the column that has them, such as --map id=Number; if the table has none any more: {yes}",
        ),
        (
            _other_business(plan, result),
            f"If it is the same business all the same: {yes}",
        ),
        *_maybe_declared(plan, result, yes),
        (_older(plan, older), f"If it is what the platform has now: {yes}"),
        (
            _others(result),
            f"To make ids of what the rows say: --map id=; if these are the same reviews: {yes}",
        ),
        (
            _damaged(plan, result),
            # of a platform that is synced a customer may have written so
            f'Save it again as "CSV UTF-8" or as a spreadsheet, from where they are right; if they are meant: {yes}'
            if plan.has_typed_ids or plan.by_owner or not options.synced
            else "",
        ),
        (
            _other_stars(result),
            f"Say the same --set scale as before; if the ratings were wrong until now: {yes}",
        ),
        *(() if options.settings.earlier_source else _new_sources(plan, result)),
        (
            _doubles(result, is_new=bool(_sources(staged) - result.sources)),
            f"{_one_source(result)}; to add them all the same: {yes}",
        ),
        (
            _filled_in(result),
            f"If so, and the table has all reviews: {replace_}; if they are other reviews: {yes}",
        ),
        (
            "" if options.synced else _loss(plan, result, can_ask=can_ask),
            "If they are to go: --yes; else see why the export does not show them: --dry-run -v",
        ),
    )
    return (question for question in warnings if question[0])


def _maybe_declared(plan: MergePlan, result: MergeResult, yes: str) -> Iterator[Question]:
    """Yield that a new location of a platform may be a declared one."""
    is_single = len(plan.titles) == 1
    option = "import.location: {}" if plan.options.synced else "--set location={}"
    for name, same in plan.same_places.possible.items():
        if name in plan.titles and name not in result.declared:
            place = result.declared.name_of(same)
            known = f"{option.format(same)}, or write" if is_single else "write"
            yield (
                f"{plan.titled(name)} would become a place of its own, and may be your {shown(place)}",
                f"If so: {known} {shown(name)} into its aliases; if it is a place of its own: {yes}",
            )


def line(fate: Fate, change: Change) -> str:
    """Return a review that is listed: what it is called, and what goes of it or which members have another value."""
    if fate is Fate.REMOVED:
        reply = " (with your reply)" if change.members else ""
        return f"{change.review}, {change.content}{reply}"
    return f"{change.review}: {', '.join(change.members)}" if change.members else change.review


def is_loss(absent: int, total: int, percent: int) -> bool:
    """Return whether so many reviews are missing that a person has to look.

    A small source, too, may be cut, or be another one.
    """
    limit = percent if absent > _FEW else max(percent, _FEW_PERCENT)
    return absent >= _MIN_OTHERS and absent * 100 > limit * total


def _loss(plan: MergePlan, result: MergeResult, *, can_ask: bool) -> str:
    """Return why more may go than is meant; where the operator can be asked, all that is removed is a question."""
    for place, removed in result.removed.items():
        total = result.there[place]
        if (can_ask and removed) or is_loss(removed, total, MAX_LOSS):
            return (
                f"{removed:,} of {total:,} reviews of {_named(plan, place)} would be removed: is this export "
                "all that the platform has?"
            )
    return ""


def _without_ids(plan: MergePlan, result: MergeResult) -> str:
    """Return that the owner's table has no ids, while all reviews that are there have some; empty if it has.

    Tools that read platforms have ids of their own, or none.
    """
    if not plan.has_typed_ids:
        return ""
    with_ids = {entry.source for entry in plan.staged if entry.has_own_id}
    for source in sorted({entry.source for entry in plan.staged} - with_ids - {*PLATFORMS}):
        if result.own_ids.get(source):
            return (
                f"the reviews of {shown(source)} have the ids of a table, and these rows have none (--map id=COLUMN): "
                "one that was corrected since may be there twice, and shown although it is hidden"
            )
    return ""


def _other_origin(plan: MergePlan, result: MergeResult) -> str:
    """Return that the owner's table has the columns of a platform, and a new source of another name; empty if not."""
    sources = _sources(plan.staged)
    new = sorted(sources - result.sources - {NO_SOURCE})
    if not plan.origin or plan.origin in sources or not new:
        return ""
    return (
        f"a table with the columns of {PLATFORMS[plan.origin]}, of which the reviews would be of "
        f"{listed([*map(shown, new)])}"
    )


def older_places(older: frozenset[Place], result: MergeResult) -> frozenset[Place]:
    """Return the locations whose reviews an older export would change.

    An export that has no review that is there, such as that of an earlier year, is no older version.
    """
    changes = any(map(result.count, (Fate.NEW, Fate.CHANGED, Fate.REMOVED)))
    return older & result.met if changes else frozenset()


def _older(plan: MergePlan, places: Collection[Place]) -> str:
    """Return why what the export says may be out of date; empty if it is not."""
    if not places:
        return ""
    place = max(places, key=lambda place: plan.log.newest[place])
    return (
        f"the export is older than the last import of {_named(plan, place)}: its newest review is of "
        f"{_day(plan.newest[place])}, the last import's of {_day(plan.log.newest[place])}; it may take "
        "edits back, and bring back what was removed"
    )


def _others(result: MergeResult) -> str:
    """Return a warning if the ids may be row numbers; else ""."""
    count = result.count(Fate.ANOTHER)
    total = result.count(Fate.CHANGED) + result.count(Fate.UNCHANGED)
    if count < _MIN_OTHERS or count * 10 <= total:
        return ""
    return (
        f"{count:,} of {total:,} reviews that are there would get another author, day and text: the ids "
        "of this export may be the numbers of its rows"
    )


def _damaged(plan: MergePlan, result: MergeResult) -> str:
    """Return that texts have lost letters to an encoding; empty if they have not."""
    changes = result.changes[Fate.DAMAGED]
    if plan.options.synced:  # which writes to the journal
        changes = [replace(change, review=change.without_author) for change in changes]
    count = counted(result.count(Fate.DAMAGED), "review")
    which = first_of((line(Fate.DAMAGED, change) for change in changes), _SHOWN)
    return f"letters of {count} are damaged by an encoding ({which})" if changes else ""


def _other_stars(result: MergeResult) -> str:
    """Return that most ratings would change, which customers do not do; empty if they would not."""
    count = result.changed["rating"]
    total = result.count(Fate.CHANGED) + result.count(Fate.UNCHANGED)
    if count < _MIN_OTHERS or count * 2 <= total or result.count(Fate.ANOTHER) >= count:
        return ""
    return f"{count:,} of {total:,} reviews that are there would get other stars: is the scale another one?"


def _new_sources(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Yield that a source of the export is new beside others: a question if it is like one of them, else a note.

    Platforms are neither, and a sync is not asked.
    """
    existing = result.sources
    new = _sources(plan.staged) - existing - {NO_SOURCE, *PLATFORMS}
    for source in sorted(new) if existing else ():
        text = f"{shown(source)} is a new source; there are reviews of {listed(sorted(existing))}"
        hint = nearest(source, {*existing, *PLATFORMS}, _ALIKE)
        is_question = hint and not plan.options.synced
        remedy = "If it is one of these, name it so; if it is another one: --yes"
        yield f"{text}{hint}", remedy if is_question else ""


def _sources(staged: Staging) -> set[str]:
    return {place.source for place in staged.places()}


def _doubles(result: MergeResult, *, is_new: bool) -> str:
    """Return why reviews would count twice; empty if they would not, or the owner has added such before.

    Args:
        result: The outcome of the merge.
        is_new: Whether the export has a source that the file has no review of.
    """
    count, new = result.doubles.total(), result.count(Fate.NEW)
    least = 1 if is_new else _MIN_DOUBLES
    if count < least or count * 2 < new or result.old_doubles >= _MIN_DOUBLES:
        return ""
    ((source, _),) = result.doubles.most_common(1)
    return (
        f"{count:,} of {new:,} new reviews {'is' if count == 1 else 'are'} there already, with the same author, date, "
        f"stars and text, from the source {shown(source)}: {'it' if count == 1 else 'they'} would count twice"
    )


def _filled_in(result: MergeResult) -> str:
    """Return why reviews whose texts were filled in would count twice; empty if they would not."""
    count, new = result.filled_in, result.count(Fate.NEW)
    if count < _MIN_DOUBLES or count * 2 < new:
        return ""
    return (
        f"{count:,} of {new:,} new reviews have the author, day and stars of reviews without words that no row has any "
        "more: if their texts were filled in since, they would count twice"
    )


def _one_source(result: MergeResult) -> str:
    """Return what to do if the doubles are the same reviews."""
    names = [shlex.quote(printable(source)) for source, _ in result.doubles.most_common(1)]
    return (
        "If they are the same reviews, leave this export out; or name the source of a table: "
        f"--source {''.join(names)} (import.source of a sync); or, to give those the new source: "
        f"--set earlier_source={''.join(names)}"
    )


def _day(milliseconds: int) -> str:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC).date().isoformat()


def _named(plan: MergePlan, place: Place | None) -> str:
    if place is None:
        return "no source"
    return (
        f"{shown(place.source)}, location {plan.titled(place.name)}"
        if place.name
        else shown(place.source)
    )


def _other_business(plan: MergePlan, result: MergeResult) -> str:
    """Return why the export may be that of another business or location; empty if it is not.

    A location of which the file has a review is no question.
    """
    places = [
        place
        for place in plan.staged.places()
        if place not in result.places
        and place not in result.met
        and place.name not in result.declared
    ]
    target = plan.options.target.name
    if not places:
        return ""
    names = {plan.titles.get(place.name, "") for place in places} - {""}
    for title in sorted(names) if result.name else ():
        match likeness(result.name, title):
            case Likeness.OTHER:
                return f"{target} is of {shown(result.name)}, the export of {shown(title)}"
            case Likeness.RELATED if result.count(Fate.KEPT):
                return (
                    f"{target} is of {shown(result.name)}, the export of {shown(title)}: that may be "
                    "another location"
                )
    for source in dict.fromkeys(place.source for place in places if place.name):
        there = {place.name for place in result.places if place.source == source}
        here = {place.name for place in places if place.source == source} - {""}
        if there and here:
            return (
                f"{target} has reviews of location {listed([*map(plan.titled, sorted(there))])} at {shown(source)}, the export of "
                f"{listed([*map(plan.titled, sorted(here))])}"
            )
    return ""
