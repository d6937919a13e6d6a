"""The locations of an export: the one that is taken, names that may be mistyped, and reviews without one."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from reviewsctl.importing.business import Declared, key_of
from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.options import ImportOptions, Prompts, Question
from reviewsctl.importing.outcomes import MAX_NAMED, Fate, MergeResult
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.importing.values import listed, shown
from reviewsd.api.spelling import nearest_location
from reviewsd.api.texts import counted, first_of, printable

ALL: Final = "all"
"""The value of ``location`` for all locations of an export."""

_MAX_NAMED: Final = 3  # reviews in a note
_MIN_PLACES: Final = 2  # with one location nothing changes
_MIN_MOVES: Final = 3  # reviews of a table; fewer are corrected rows


def keep_location(
    options: ImportOptions,
    titles: Mapping[str, str],
    staged: Staging,
    prompts: Prompts,
    declared: Declared,
) -> int:
    """Forget all reviews but those of one location of each source, unless all are wanted or declared.

    Reviews of an export that does not tell locations apart get the declared one that is named.

    Returns:
        How many were forgotten.

    Raises:
        SayMoreError: It is open which one, or there is none of that name.
    """
    counts, location = staged.places(), options.settings.location
    if location == ALL or (location is None and "location" in options.settings.columns):
        return 0
    if location is not None:
        location_id = declared.find(location)
        if location_id is not None and not any(place.name for place in counts):
            staged.locate(location_id)
            return 0
        return _keep(location, counts, titles, staged, declared)
    elsewhere = 0
    for source in dict.fromkeys(place.source for place in counts):
        own = {place: count for place, count in counts.items() if place.source == source}
        if len(own) > 1 and not all(declared.find(place.name) for place in own if place.name):
            location = _chosen(options, own, titles, prompts)
            if location == ALL:
                break
            elsewhere += _keep(location, own, titles, staged, declared)
    return elsewhere


def _chosen(
    options: ImportOptions, own: Mapping[Place, int], titles: Mapping[str, str], prompts: Prompts
) -> str:
    described = {
        place.name: f"{titles.get(place.name) or 'without a title'} ({place.name}, {counted(count, 'review')})"
        for place, count in own.items()
    }
    if prompts.choose is None:
        names = ", ".join(described.values())
        raise SayMoreError(
            f"it holds the reviews of {len(own):,} locations: {printable(names)}",
            f"Choose one with {options.setting('location', 'ID')}, or take all of them with "
            f"{options.setting('location', ALL)}",
        )
    return prompts.choose(described | {ALL: "all of them"})


def _keep(
    location: str,
    counts: Mapping[Place, int],
    titles: Mapping[str, str],
    staged: Staging,
    declared: Declared,
) -> int:
    """Forget the other locations of each source that has this one."""
    location_id, name = declared.find(location), location.strip().casefold()
    places = [
        place
        for place in counts
        if name in (place.name.casefold(), titles.get(place.name, "").strip().casefold())
        or (location_id is not None and declared.find(place.name) == location_id)
    ]
    if not places or len({place.source for place in places}) < len(places):
        there = listed(
            [f"{place.name} ({titles.get(place.name, '')})" for place in counts if place.name]
        )
        remedy = f"There are: {there}" if there else "This export does not tell locations apart."
        if declared.listed and not there:
            remedy = f"{remedy} reviews.json declares: {listed(declared.described())}"
        raise SayMoreError(
            f'--set location: {"several are" if places else "none is"} called "{printable(location)}"',
            remedy,
        )
    return sum(map(staged.keep, places))


def mistyped(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find a location of the owner's table that is new, and like a known one.

    Of two new ones that are alike that of fewer reviews is mistyped, or the first.
    """
    counts = Counter(place.name for place in plan.staged.places().elements())
    names = [*sorted(place.name for place in result.places), *plan.declared.names()]
    keys = {*map(key_of, names)}
    for name, count in counts.items() if plan.has_typed_ids else ():
        if not name or key_of(name) in keys:
            continue
        new = [
            other for other in counts if counts[other] >= count and key_of(other) != key_of(name)
        ]
        if hint := nearest_location(name, [*names, *new]):
            yield Question(
                f"{shown(name)} is a new place, of {counted(count, 'review')}{hint}",
                f"Correct it in the table; if it is a place of its own: {plan.options.consent}",
            )
            return


def leaving(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find reviews that leave declared locations for some that the import declares.

    Such a one is another name of a declared one, if the owner has renamed that in his table.
    """
    after = Declared(result.filled.get("locations", plan.declared.listed))
    moves = {
        (old, new): count
        for (old, new), count in result.moves.items()
        if old in plan.declared and (after.find(new) or "") not in plan.declared
    }
    if moves:
        is_one = len({new for _, new in moves}) == 1
        old, new = next(iter(moves))
        place = plan.declared.name_of(plan.declared.find(old) or old)
        own = "it is a place of its own" if is_one else "they are places of their own"
        no_places = f"; if the column has no places: {plan.options.setting('map', 'location=')}"
        by_column = no_places if plan.has_typed_ids else ""
        yield Question(
            f"{_moves(plan, moves)}: new place{'s' * (not is_one)}",
            f"If you have renamed {shown(place)}: write {shown(new)} into its aliases in reviews.json; if {own}: "
            f"{plan.options.consent}{by_column}",
        )


def mixed_up(plan: MergePlan, result: MergeResult) -> Iterator[Question]:
    """Find reviews that leave places for others that are known, as in the file of the wrong one.

    A table is corrected row by row; two customers of one day without a name may share an id.
    """
    find, key = plan.declared.find, plan.declared.key
    moves = {
        (old, new): count
        for (old, new), count in result.moves.items()
        if (find(old) is None) == (find(new) is None)  # else ``leaving``, or it is declared since
        and key(old) != key(new)
    }
    is_of_many = plan.options.settings.location is None
    least, share = (_MIN_MOVES, 10) if is_of_many else (1, 2)
    count = sum(moves.values())
    if count >= least and count * share > result.moves.total():
        (old, _), _ = max(moves.items(), key=lambda move: move[1])
        place = printable(find(old) or old)
        remedy = (
            "Correct the table"
            if is_of_many
            else f"If this export is of {place}: {plan.options.setting('location', place)}"
        )
        yield Question(
            _moves(plan, moves), f"{remedy}; if they are to move: {plan.options.consent}"
        )


def _moves(plan: MergePlan, moves: Mapping[tuple[str, str], int]) -> str:
    """Return how many reviews would leave which locations for which."""
    (first, count), *rest = moves.items()
    parts = [
        f"{counted(count, 'review')} of {shown(first[0])} would move to {plan.titled(first[1])}"
    ]
    parts += [f"{count:,} of {shown(old)} to {plan.titled(new)}" for (old, new), count in rest]
    return listed(parts)


def notes_of_places(plan: MergePlan, result: MergeResult) -> list[str]:
    """Return a note on the reviews of an export that no page of a location has."""
    unplaced = result.count(Fate.UNPLACED)
    if not unplaced or len(plan.declared.listed) < _MIN_PLACES:
        return []
    text = f"{counted(unplaced, 'review')} without a place, on the page of none"
    if not any(plan.titles):
        return [
            f"{text}: {plan.options.setting('location', 'ID')}; there are {listed(plan.declared.described())}"
        ]
    changes = result.changes[Fate.UNPLACED]
    names = (each.without_author if plan.options.synced else each.review for each in changes)
    return [f"{text}: fill in the table ({first_of(names, MAX_NAMED)})"]


def notes_of_other_places(plan: MergePlan, result: MergeResult) -> list[str]:
    """Return a note on the reviews that ``--replace`` keeps since no row of their source has their place."""
    sources = {place.source for place in plan.staged.places()}
    kept = [
        place for place in result.kept if place.source in sources and place not in plan.replaced
    ]
    if not plan.replaced or not kept:
        return []
    names = listed([place.name or "no place" for place in kept])
    first = first_of((name for place in kept for name in result.first_kept[place]), _MAX_NAMED)
    count = counted(sum(result.kept[place] for place in kept), "review")
    return [f"kept, as no row is of the same place ({names}): {count} ({first})"]
