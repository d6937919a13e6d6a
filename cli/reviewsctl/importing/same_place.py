"""Matches locations of an export to declared ones by their names and cities, where no alias does."""

from collections import Counter
from collections.abc import Mapping

from reviewsctl.importing.business import Declared, Facts, name_words
from reviewsctl.importing.values import members, word


def same_places(
    declared: Declared,
    business: str,
    titles: Mapping[str, str],
    listings: Mapping[str, Facts],
    chosen: str | None,
) -> dict[str, str]:
    """Return the ids of the declared locations of an export, by their names there.

    One that two locations of the export may be is neither, but the only one with its name, unless that is in another
    city: all shops of a chain may have one title.

    Args:
        declared: The locations that reviews.json declares.
        business: The name of the business there.
        titles: The titles of the export's locations, by their names there; empty where it has none.
        listings: The locations as the export describes them (``business.listing``), by the same names.
        chosen: The location that the operator named; used if the export has a single one.
    """
    named: dict[str, str] = {}
    likely: dict[str, str] = {}
    count = Counter(title.strip().casefold() for title in titles.values())
    for name, title in titles.items():
        if not name or name in declared:
            continue
        facts, same = listings.get(name, {}), declared.find(title or name)
        is_only = not title or count[title.strip().casefold()] == 1
        if same and _is_elsewhere(declared, same, facts):
            continue
        if same and is_only:
            named[name] = same
        elif len(ids := _likely(declared, business, title or name, facts)) == 1:
            (likely[name],) = ids
    claims = Counter([*likely.values(), *named.values(), *filter(None, map(declared.find, titles))])
    same_ids = named | {name: same for name, same in likely.items() if claims[same] == 1}
    if chosen and len(titles) == 1 and not same_ids and (same := declared.find(chosen)):
        return {name: same for name in titles if name and name not in declared}
    return same_ids


def _likely(declared: Declared, business: str, title: str, facts: Facts) -> set[str]:
    """Return the ids of the locations whose name or id is the rest of a title after the name of the business.

    Of a name that adds nothing the city is used.
    """

    def own_words(name: object, place: Facts) -> frozenset[str]:
        return _words(name, business) or _words(_city(place))

    own = own_words(title, facts)
    return {
        str(place["id"])
        for place in declared.listed
        if isinstance(place.get("id"), str)  # the owner may have forgotten that of one
        and own
        and own in (own_words(place.get("name"), place), _words(place["id"], business))
    }


def _is_elsewhere(declared: Declared, location_id: str, facts: Facts) -> bool:
    """Return whether a declared location is in another city than one of the export."""
    places = [each for each in declared.listed if each.get("id") == location_id]
    cities = [_words(_city(each)) for each in (*places, facts)]
    return all(cities) and cities[0] != cities[-1]


def _words(name: object, business: str = "") -> frozenset[str]:
    """Return the words of a name that the business does not have."""
    return frozenset(name_words(word(name) or "")) - {*name_words(business)}


def _city(facts: Facts) -> object:
    return members(facts.get("address")).get("city")
