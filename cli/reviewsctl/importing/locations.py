"""Several locations of a business in one export: one of them is taken, or all."""

from collections.abc import Mapping, Sequence

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.order import ALL, Order, Outcome, Talk, reviews
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.terminal.escaping import printable

_SHOWN, _LONG = 20, 200  # locations in a message, and characters of each


def located(order: Order, staged: Staging, outcome: Outcome, talk: Talk) -> None:
    """Leaves the reviews of one location of each source, or of all.

    Raises:
        SayMoreError: Nobody said which, or there is none of that name.
    """
    counts = staged.places()
    titles = order.rules.places
    if order.location == ALL:
        return
    if order.location is not None:
        _keep(order.location, counts, titles, staged, outcome)
        return
    for source in dict.fromkeys(place.source for place in counts):
        own = {place: count for place, count in counts.items() if place.source == source}
        if len(own) > 1:
            wanted = _chosen(own, titles, talk)
            if wanted == ALL:
                return
            _keep(wanted, own, titles, staged, outcome)


def titles_left(order: Order, staged: Staging) -> list[str]:
    """What the locations are called that reviews are taken of, each once."""
    titles = (order.rules.places.get(place.name, "") for place in staged.places())
    return list(dict.fromkeys(filter(None, titles)))


def _chosen(own: Mapping[Place, int], titles: Mapping[str, str], talk: Talk) -> str:
    described = {
        place.name: f"{titles.get(place.name) or 'without a title'} ({reviews(count)})"
        for place, count in own.items()
    }
    if talk.ask is None:
        lines = "\n".join(_first([f"  {place}  {text}" for place, text in described.items()]))
        raise SayMoreError(
            f"it holds the reviews of {len(own):,} locations:\n{lines}",
            f"Choose one with --location ID, or take all of them with --location {ALL}",
        )
    return talk.ask(described)


def _keep(
    wanted: str,
    counts: Mapping[Place, int],
    titles: Mapping[str, str],
    staged: Staging,
    outcome: Outcome,
) -> None:
    """Forget the other locations of each source that has the one that is wanted."""
    name = wanted.strip().casefold()
    found = [
        place
        for place in counts
        if name in (place.name.casefold(), titles.get(place.name, "").strip().casefold())
    ]
    if not found or len({place.source for place in found}) < len(found):
        there = ", ".join(
            _first([f"{each.name} ({titles.get(each.name, '')})" for each in counts if each.name])
        )
        raise SayMoreError(
            f'--location: {"several are" if found else "none is"} called "{printable(wanted)}"',
            f"There are: {there}" if there else "This export does not tell locations apart.",
        )
    for place in found:
        outcome.elsewhere += staged.keep(place)


def _first(items: Sequence[str]) -> list[str]:
    """The first of many for a message, and how many more there are."""
    more = [f"  and {len(items) - _SHOWN:,} more"] if len(items) > _SHOWN else []
    return [*(printable(item[:_LONG]) for item in items[:_SHOWN]), *more]
