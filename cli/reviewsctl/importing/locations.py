"""Several locations of a business in one export: one of them is taken, or all."""

from collections.abc import Mapping, Sequence

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.options import ALL, ImportOptions, Prompts, reviews
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.terminal.escaping import printable

_SHOWN, _LONG = 20, 200  # locations in a message, and characters of each


def keep_location(options: ImportOptions, staged: Staging, prompts: Prompts) -> int:
    """Forget all reviews but those of one location of each source, unless all are wanted.

    Returns:
        How many were forgotten.

    Raises:
        SayMoreError: It is open which one, or there is none of that name.
    """
    counts = staged.places()
    titles = options.rules.places
    if options.location == ALL:
        return 0
    if options.location is not None:
        return _keep(options.location, counts, titles, staged)
    elsewhere = 0
    for source in dict.fromkeys(place.source for place in counts):
        own = {place: count for place, count in counts.items() if place.source == source}
        if len(own) > 1:
            location = _chosen(own, titles, prompts)
            if location == ALL:
                break
            elsewhere += _keep(location, own, titles, staged)
    return elsewhere


def titles_left(options: ImportOptions, staged: Staging) -> list[str]:
    """Return the titles of the locations that are imported, each once."""
    titles = (options.rules.places.get(place.name, "") for place in staged.places())
    return list(dict.fromkeys(filter(None, titles)))


def _chosen(own: Mapping[Place, int], titles: Mapping[str, str], prompts: Prompts) -> str:
    described = {
        place.name: f"{titles.get(place.name) or 'without a title'} ({reviews(count)})"
        for place, count in own.items()
    }
    if prompts.choose is None:
        lines = "\n".join(_first([f"  {place}  {text}" for place, text in described.items()]))
        raise SayMoreError(
            f"it holds the reviews of {len(own):,} locations:\n{lines}",
            f"Choose one with --set location=ID, or take all of them with --set location={ALL}",
        )
    return prompts.choose(described)


def _keep(
    location: str, counts: Mapping[Place, int], titles: Mapping[str, str], staged: Staging
) -> int:
    """Forget the other locations of each source that has this one."""
    name = location.strip().casefold()
    places = [
        place
        for place in counts
        if name in (place.name.casefold(), titles.get(place.name, "").strip().casefold())
    ]
    if not places or len({place.source for place in places}) < len(places):
        there = ", ".join(
            _first(
                [f"{place.name} ({titles.get(place.name, '')})" for place in counts if place.name]
            )
        )
        raise SayMoreError(
            f'--set location: {"several are" if places else "none is"} called "{printable(location)}"',
            f"There are: {there}" if there else "This export does not tell locations apart.",
        )
    return sum(map(staged.keep, places))


def _first(items: Sequence[str]) -> list[str]:
    """Return the first of many for a message, and how many more there are."""
    more = [f"  and {len(items) - _SHOWN:,} more"] if len(items) > _SHOWN else []
    return [*(printable(item[:_LONG]) for item in items[:_SHOWN]), *more]
