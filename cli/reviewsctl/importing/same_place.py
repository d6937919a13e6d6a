"""Matches locations of an export to declared ones by title, street, city or phone, where no alias does."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from reviewsctl.importing.business import Declared, Facts, Likeness, likeness, name_words
from reviewsctl.importing.values import members, word

_LAST_DIGITS: Final = 8  # of a phone number, with or without the code of its country


@dataclass(frozen=True, slots=True)
class SamePlaces:
    """Declared locations that an export names otherwise: their ids, by the names in the export."""

    certain: Mapping[str, str] = field(default_factory=dict)
    possible: Mapping[str, str] = field(default_factory=dict)
    """Locations that may be the same; the operator is asked."""


def same_places(
    declared: Declared,
    business: str,
    titles: Mapping[str, str],
    listings: Mapping[str, Facts],
    chosen: str | None,
) -> SamePlaces:
    """Find the declared locations of an export.

    One that two locations of the export may be is certain of neither, but of the only one with its name, unless that is
    in another city: all shops of a chain may have one title.

    Args:
        declared: The locations that reviews.json declares.
        business: The name of the business there.
        titles: The titles of the export's locations, by their names there; empty where it has none.
        listings: The locations as the export describes them (``business.listing``), by the same names.
        chosen: The location that the operator named; used if the export has a single one.
    """
    certain: dict[str, str] = {}
    likely: dict[str, str] = {}
    possible: dict[str, str] = {}
    count = Counter(title.strip().casefold() for title in titles.values())
    for name, title in titles.items():
        if not name or name in declared:
            continue
        facts = listings.get(name, {})
        if same := declared.find(title or name):
            is_only = not title or count[title.strip().casefold()] == 1
            is_certain = is_only and not _is_elsewhere(declared, same, facts)
            (certain if is_certain else possible)[name] = same
        elif len(ids := {*_likely(declared, business, title or name, facts)}) == 1:
            (likely[name],) = ids
        elif title and (same := next(_possible(declared, business, title, facts), "")):
            possible[name] = same
    claims = Counter(
        [*likely.values(), *certain.values(), *filter(None, map(declared.find, titles))]
    )
    for name, same in likely.items():
        (certain if claims[same] == 1 else possible)[name] = same
    if chosen and len(titles) == 1 and not certain and (same := declared.find(chosen)):
        certain = {name: same for name in titles if name and name not in declared}
    return SamePlaces(certain, possible)


def _likely(declared: Declared, business: str, title: str, facts: Facts) -> Iterator[str]:
    """Yield the ids of locations whose name is the rest of the title after the business's name, or whose street is the same.

    If the title is only the business's name, the city is used.
    """
    own_words = _words(title, business) or _words(_city(facts))
    is_same = likeness(business, title) is not Likeness.OTHER  # two businesses may share a door
    for location in _identified(declared):
        names = (_words(location.get("name"), business), _words(location.get("id"), business))
        is_at_door = is_same and _street(facts) == _street(location) != ()
        if own_words and (own_words in names or is_at_door):
            yield str(location.get("id"))


def _possible(declared: Declared, business: str, title: str, facts: Facts) -> Iterator[str]:
    """Yield the ids of locations whose name is part of the title, or that share its city or phone."""
    own_words, city = _words(title, business), _words(_city(facts))
    for location in _identified(declared):
        name = _words(location.get("name"), business)
        is_named = bool(name) and name <= own_words
        is_near = bool(city) and city in (name, _words(_city(location)))
        if is_named or is_near or _phone(facts) == _phone(location) != "":
            yield str(location.get("id"))


def _identified(declared: Declared) -> Iterator[Facts]:
    """Yield the declared locations with an id; the owner may have forgotten that of one."""
    return (location for location in declared.listed if isinstance(location.get("id"), str))


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


def _street(facts: Facts) -> tuple[frozenset[str], ...]:
    """Return the words of street and city; empty where one is missing."""
    parts = (_words(members(facts.get("address")).get("street")), _words(_city(facts)))
    return parts if all(parts) else ()


def _phone(facts: Facts) -> str:
    return "".join(filter(str.isdecimal, word(facts.get("phone")) or ""))[-_LAST_DIGITS:]
