"""What may be a mistake, put to the operator before anything is written.

Reviews that ``--replace`` removes are listed, and on a terminal asked about. The export of another
business is a question everywhere.
"""

from reviewsctl.importing.business import same_name
from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.locations import titles_left
from reviewsctl.importing.merge import MergeResult
from reviewsctl.importing.order import Order, Outcome, Talk, reviews
from reviewsctl.importing.staging import Staging
from reviewsctl.importing.values import shown


def agree(order: Order, staged: Staging, outcome: Outcome, talk: Talk) -> None:
    """Has the operator look at what may be a mistake, before anything is written.

    Raises:
        SayMoreError: Nobody can be asked.
        ImportRefusedError: The operator does not want it.
    """
    result = outcome.result
    if result.removed:
        more = result.removed - len(result.leaving)
        verb = "would be" if order.dry_run else "to be"
        what = f"{verb} removed, as the export does not have them: {reviews(result.removed)}"
        rest = [f"  and {more:,} more"] if more else []
        talk.say([what, *(f"  {each}" for each in result.leaving), *rest])
        if talk.confirm is not None and not (order.yes or order.dry_run):
            _confirmed("Remove them?", talk)
    doubt = _doubt(order, staged, result)
    if not doubt or order.yes:
        return
    if order.dry_run:
        outcome.notes.append(f"{doubt} (without --dry-run this is a question; --yes answers it)")
    elif talk.confirm is None:
        raise SayMoreError(doubt, "If it is the same business all the same: --yes")
    else:
        talk.say([doubt])
        _confirmed("Import it all the same?", talk)


def _confirmed(question: str, talk: Talk) -> None:
    assert talk.confirm is not None  # noqa: S101  # who calls knows
    if not talk.confirm(question):
        raise ImportRefusedError("not wanted", "Nothing was written.")


def _doubt(order: Order, staged: Staging, result: MergeResult) -> str:
    """Why the export may be that of another business, or nothing."""
    titles = titles_left(order, staged)
    if result.name and titles:
        if any(same_name(result.name, title) for title in titles):
            return ""
        return f"{order.target.name} is of {shown(result.name)}, the export of {shown(titles[0])}"
    for source in {place.source for place in result.places}:
        there = {place.name for place in result.places if place.source == source}
        here = {place.name for place in staged.places() if place.source == source} - {""}
        if here and there.isdisjoint(here):
            return (
                f"{order.target.name} has reviews of location {_some(there)} at {shown(source)}, the "
                f"export of {_some(here)}"
            )
    return ""


def _some(names: set[str]) -> str:
    return ", ".join(map(shown, sorted(names)[:3]))
