"""Finds what may be a mistake in an import: the operator is asked, or a note says it."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from reviewsctl.importing.business import Likeness, likeness
from reviewsctl.importing.consent import line
from reviewsctl.importing.locations import leaving, mistyped, mixed_up
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.options import Question
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.settings import NO_SOURCE
from reviewsctl.importing.source_name import options_of
from reviewsctl.importing.staging import Place
from reviewsctl.importing.values import listed, shown
from reviewsd.api.platforms import PLATFORMS
from reviewsd.api.spelling import nearest
from reviewsd.api.texts import counted, first_of, printable

MAX_LOSS: Final = 10
"""The percentage of a location's reviews that may go without a question."""

_FEW, _FEW_PERCENT = 5, 20
"""The percentage is larger where so few reviews are missing."""

_MIN_LOSS: Final = 3  # reviews; two may always go
_MIN_OTHERS: Final = 3  # reviews
_MIN_DOUBLES: Final = 3
"""Reviews of a source that the file has; fewer are of customers who write to two sites."""

_KNOWN: Final = frozenset((NO_SOURCE, *PLATFORMS))
_ALIKE: Final = 0.8  # how alike the names of two sources are that are one
_SHOWN: Final = 3  # reviews in a note


def questions(plan: MergePlan, result: MergeResult, *, can_ask: bool) -> Iterator[Question]:
    """Yield what may be a mistake; where the operator can be asked, all that is removed is."""
    yield from plan.corrections.doubts(plan.options, plan.staged, result.sources)
    for find in _FINDERS:
        yield from find(plan, result)
    yield from _loss(plan, result, can_ask=can_ask)


def notes(plan: MergePlan, result: MergeResult) -> Iterator[str]:
    """Yield what is no question, as it is mostly right."""
    if _is_as_written(plan):
        yield from _damage(plan, result)
    for text, is_alike in _new_sources(plan, result):
        if plan.options.synced or not is_alike:
            yield text


def is_loss(absent: int, total: int, percent: int) -> bool:
    """Return whether so many reviews are missing that a person has to look.

    A small source, too, may be cut, or be another one.
    """
    limit = percent if absent > _FEW else max(percent, _FEW_PERCENT)
    return absent >= _MIN_LOSS and absent * 100 > limit * total


def older_places(older: frozenset[Place], result: MergeResult) -> frozenset[Place]:
    """Return the locations whose reviews an older export would change.

    An export that has no review that is there, such as that of an earlier year, is no older version.
    """
    changes = any(map(result.count, (Fate.NEW, Fate.CHANGED, Fate.REMOVED)))
    return older & result.met if changes else frozenset()


def _other_origin(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find an owner's table with the columns of a platform, and a new source of another name."""
    sources = _sources(plan)
    new = sorted(sources - result.sources - {NO_SOURCE})
    if plan.options.synced or not plan.origin or plan.origin in sources or not new:
        return
    yield Question(
        f"a table with the columns of {PLATFORMS[plan.origin]}, of which the reviews would be of "
        f"{listed([*map(shown, new)])}",
        f"If they were written there: {options_of(plan.origin)}; if not: {plan.options.consent}",
    )


def _without_ids(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find an owner's table without ids, while all reviews of the source that are there have some.

    Tools that read platforms have ids of their own, or none.
    """
    with_ids = {entry.source for entry in plan.staged if entry.has_own_id}
    without = sorted(_sources(plan) - with_ids - {*PLATFORMS})
    without_own = [source for source in without if result.own_ids.get(source)]
    if without_own and plan.has_typed_ids:
        yield Question(
            f"the reviews of {listed([*map(shown, without_own)])} have the ids of a table, and these rows have none: one "
            "that was corrected since may be there twice, and shown although it is hidden",
            "Name the column that has them, such as "
            f"{plan.options.setting('map', 'id=Number')}; if the table has none any more: {plan.options.consent}",
        )


def _other_business(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find the export of another business or location.

    A location of which the file has a review is no question.
    """
    places = [
        place
        for place in plan.staged.places()
        if place not in result.places
        and place not in result.met
        and place.name not in plan.declared
    ]
    target, remedy = plan.options.target.name, "If it is the same business all the same: "
    remedy += plan.options.consent
    titles = {plan.titles.get(place.name, "") for place in places} - {""} if result.name else set()
    kinds = {likeness(result.name, title): title for title in sorted(titles)}
    if other := kinds.get(Likeness.OTHER):
        yield Question(f"{target} is of {shown(result.name)}, the export of {shown(other)}", remedy)
    elif (related := kinds.get(Likeness.RELATED)) and result.count(Fate.KEPT):
        yield Question(
            f"{target} is of {shown(result.name)}, the export of {shown(related)}: that may be "
            "another location",
            remedy,
        )
    else:
        for source in dict.fromkeys(place.source for place in places if place.name):
            there = {place.name for place in result.places if place.source == source}
            here = {place.name for place in places if place.source == source} - {""}
            if there and here:
                yield Question(
                    f"{target} has reviews of location {listed([*map(plan.titled, sorted(there))])} at {shown(source)}, "
                    f"the export of {listed([*map(plan.titled, sorted(here))])}",
                    remedy,
                )
                return


def _undeclared(plan: MergePlan, _result: MergeResult) -> Iterator[Question]:
    """Find a location of a platform beside declared ones that is none of these, by its name."""
    declared, options = plan.declared, plan.options
    new = [name for name in filter(plan.titles.get, plan.titles) if name and name not in declared]
    if declared.listed and options.settings.location is None and new:
        yield Question(
            f"{plan.titled(new[0])} would become a place of its own beside {listed(declared.described())}",
            f"If it is one of these: {options.setting('location', 'ID')}, or write {shown(new[0])} into its aliases; if "
            f"it is a place of its own: {options.consent}",
        )


def _older(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find an export that is older than the last import."""
    if places := older_places(plan.older, result):
        place = max(places, key=lambda place: plan.log.newest[place])
        yield Question(
            f"the export is older than the last import of {_named(plan, place)}: its newest review is of "
            f"{plan.newest[place]}, the last import's of {plan.log.newest[place]}; it may take "
            "edits back, and bring back what was removed",
            f"If it is what the platform has now: {plan.options.consent}",
        )


def _others(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find ids that may be row numbers."""
    count = result.count(Fate.ANOTHER)
    total = result.count(Fate.CHANGED) + result.count(Fate.UNCHANGED)
    if count >= _MIN_OTHERS and count * 10 > total:
        yield Question(
            f"{count:,} of {total:,} reviews that are there would get another author, day and text: the ids "
            "of this export may be the numbers of its rows",
            f"To make ids of what the rows say: {plan.options.setting('map', 'id=')}; if these are the same reviews: "
            f"{plan.options.consent}",
        )


def _is_as_written(plan: MergePlan) -> bool:
    """Return whether a sync has the texts from a platform, where a customer may have written them so."""
    return not (plan.has_typed_ids or plan.by_owner or plan.options.synced is None)


def _damaged(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find texts that have lost letters to an encoding."""
    for damage in () if _is_as_written(plan) else _damage(plan, result):
        yield Question(
            damage,
            'Save it again as "CSV UTF-8" or as a spreadsheet, from where they are right; if they are meant: '
            f"{plan.options.consent}",
        )


def _damage(plan: MergePlan, result: MergeResult) -> Iterator[str]:
    changes = result.changes[Fate.DAMAGED]
    if plan.options.synced:  # which writes to the journal
        changes = [replace(change, review=change.without_author) for change in changes]
    if changes:
        which = first_of((line(Fate.DAMAGED, change) for change in changes), _SHOWN)
        count = counted(result.count(Fate.DAMAGED), "review")
        yield f"letters of {count} are damaged by an encoding ({which})"


def _other_stars(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find that most ratings would change, which customers do not do."""
    count = result.changed["rating"]
    total = result.count(Fate.CHANGED) + result.count(Fate.UNCHANGED)
    if count >= _MIN_OTHERS and count * 2 > total and result.count(Fate.ANOTHER) < count:
        yield Question(
            f"{count:,} of {total:,} reviews that are there would get other stars: is the scale another one?",
            f"Say the scale as before, such as {plan.options.setting('scale', '10')}; if the ratings were wrong "
            f"until now: {plan.options.consent}",
        )


def _misnamed(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find new sources whose names are like those of others; a sync is not asked."""
    for text, is_alike in () if plan.options.synced else _new_sources(plan, result):
        if is_alike:
            remedy = "If it is one of these, name it so; if it is another one: "
            yield Question(text, f"{remedy}{plan.options.consent}")


def _new_sources(plan: MergePlan, result: MergeResult) -> Iterator[tuple[str, bool]]:
    """Yield a text on each source that is new beside others, and no platform, and whether it is like one of them."""
    is_first = plan.options.settings.earlier_source or not result.sources
    there = listed(sorted(result.sources))
    for source in () if is_first else sorted(_sources(plan) - result.sources - _KNOWN):
        hint = nearest(source, {*result.sources, *PLATFORMS}, _ALIKE)
        yield f"{shown(source)} is a new source; there are reviews of {there}{hint}", bool(hint)


def _doubles(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find reviews that would count twice, unless the owner has added such before."""
    doubles, new = result.doubles, result.count(Fate.NEW)
    count, is_new = doubles.total(), not _sources(plan) <= result.sources
    least = 1 if is_new else _MIN_DOUBLES
    if count < least or count * 2 < new or result.old_doubles >= _MIN_DOUBLES:
        return
    names = [shown(source) for source, _ in doubles.most_common()]
    remedy, undo = "If they are the same reviews, leave this export out", ""
    if len(doubles) > 1 or plan.options.settings.earlier_source:
        undo = "; if their import was the mistake: reviewsctl reviews undo, then import again"
    else:
        (source,) = map(printable, doubles)
        earlier = shlex.quote(f"earlier_source={source}")
        remedy += (
            f"; or name the source of a table: {plan.options.setting('source', source)}; or, to give those the new "
            f"source: --set {earlier}"
        )
    yield Question(
        f"{count:,} of {new:,} new reviews {'is' if count == 1 else 'are'} there already, with the same author, date, "
        f"stars and text, from the source{'s' * (len(names) > 1)} {listed(names)}: {'it' if count == 1 else 'they'} "
        "would count twice",
        f"{remedy}; to add them all the same: {plan.options.consent}{undo}",
    )


def _loss(plan: MergePlan, result: MergeResult, *, can_ask: bool) -> Iterator[Question]:
    """Find that more would go than is meant, or anything where the operator can be asked; a sync has ``max_loss``."""
    losses = [
        f"{removed:,} of {result.there[place]:,} reviews of {_named(plan, place)}"
        for place, removed in result.removed.items()
        if removed and (can_ask or is_loss(removed, result.there[place], MAX_LOSS))
    ]
    if losses and not plan.options.synced:
        yield Question(
            f"{listed(losses)} would be removed: is this export all that the platform has?",
            f"If they are to go: {plan.options.consent}; else see why the export does not show them: --dry-run -v",
        )


_FINDERS: Final = (
    mistyped,
    _other_origin,
    leaving,
    mixed_up,
    _without_ids,
    _other_business,
    _undeclared,
    _older,
    _others,
    _damaged,
    _other_stars,
    _misnamed,
    _doubles,
)


def _sources(plan: MergePlan) -> set[str]:
    return {place.source for place in plan.staged.places()}


def _named(plan: MergePlan, place: Place | None) -> str:
    if place is None:
        return "no source"
    source = shown(place.source)
    return f"{source}, location {plan.titled(place.name)}" if place.name else source
